//! The way down: cuts, hosts without addresses, and addresses that are better not asked.

use std::fmt::Write as _;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_cut_at_the_challenge_is_followed() {
    let world = both("  _c.example.com. NS ns.example.net.\n  _c.example.com. TXT proof")
        + "192.0.2.6 serves example.net.\n  ns.example.net. A 192.0.2.6\n192.0.2.6 serves _c.example.com.\n";
    let words = "no TXT record at _c.example.com.";
    assert_eq!(told_of_challenge(&world).await, words);
    let world = world + "  _c.example.com. TXT proof";
    assert_eq!(told_of_challenge(&world).await, "found at _c.example.com.");
}

#[tokio::test(start_paused = true)]
async fn a_cut_is_not_missed_where_one_server_holds_both_sides() {
    // Both zones are on 192.0.2.3, the lower one also on 192.0.2.6, which says something else.
    let world = format!(
        "{ABOVE}192.0.2.3 serves example.com.
  ns1.example.com. A 192.0.2.3
192.0.2.3 serves _c.example.com.
  _c.example.com. NS ns1.example.com.
  _c.example.com. NS ns._c.example.com.
  ns._c.example.com. A 192.0.2.6
  _c.example.com. TXT proof
192.0.2.6 serves _c.example.com.
"
    );
    let words =
        "the name servers of _c.example.com. do not agree yet: 192.0.2.3:53 and not 192.0.2.6:53";
    assert_eq!(told_of_challenge(&world).await, words);
}

/// A domain whose only server has a name in another one.
fn elsewhere(records: &str, net: &str) -> String {
    format!(
        "192.0.2.1 serves .
  com. NS ns.com.
  ns.com. A 192.0.2.2
  net. NS ns.net.
  ns.net. A 192.0.2.5
192.0.2.2 serves com.
  example.com. NS ns.example.net.
192.0.2.5 serves net.
{net}
192.0.2.3 serves example.com.
{records}
"
    )
}

#[tokio::test(start_paused = true)]
async fn a_host_without_an_address_is_found_first() {
    let records = "  _c.example.com. TXT proof";
    let found = "found at _c.example.com.";
    let nowhere =
        "the name servers of _c.example.com. cannot be asked: ns.example.net has no address";
    let cases = [
        ("  ns.example.net. A 192.0.2.3", found),
        (
            "  ns.example.net. AAAA 2001:db8::1\n  ns.example.net. A 192.0.2.3",
            found,
        ),
        ("  ns.example.net. TXT nothing", nowhere),
        ("", nowhere),
        (
            "  ns.example.net. CNAME other.net.\n  other.net. A 192.0.2.3",
            nowhere,
        ),
    ];
    for (net, words) in cases {
        assert_eq!(
            told_of_challenge(&elsewhere(records, net)).await,
            words,
            "{net}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_server_says_about_hosts_of_others_is_hearsay() {
    let world = elsewhere(
        "  _c.example.com. TXT proof",
        "  ns.example.net. A 192.0.2.3",
    );
    let world = world
        + "192.0.2.2 serves com.\n  ns.example.net. A 192.0.2.66\n192.0.2.66 serves example.com.\n";
    assert_eq!(told_of_challenge(&world).await, "found at _c.example.com.");
}

#[tokio::test(start_paused = true)]
async fn servers_that_can_only_be_found_through_each_other_are_not_found() {
    let world = elsewhere("", "  example.net. NS ns.example.com.");
    let words = "cannot look at _c.example.com. now: the address of name server ns.example.net. can only be asked of itself";
    assert_eq!(told_of_challenge(&world).await, words);
    // A server below its own domain, and nobody says where.
    let world = format!("{ABOVE}192.0.2.2 serves com.\n  other.com. NS ns.other.com.\n");
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let looked = look_at(&world, &roots, &["other.com."]).await;
    let words = "cannot look at other.com. now: the address of name server ns.other.com. can only be asked of itself";
    assert_eq!(looked.finding.to_string(), words);
}

#[tokio::test(start_paused = true)]
async fn hosts_are_not_found_through_hosts_for_ever() {
    let mut net = String::from("  example.net. NS ns.1.net.\n");
    for step in 1..9 {
        writeln!(net, "  {step}.net. NS ns.{}.net.", step + 1).unwrap();
    }
    let words = "cannot look at _c.example.com. now: the address of name server ns.4.net. takes too many others to find";
    assert_eq!(told_of_challenge(&elsewhere("", &net)).await, words);
}

#[tokio::test(start_paused = true)]
async fn only_addresses_that_may_be_asked_are() {
    // V5: name servers that lead inside.
    for (address, rtype) in [
        ("127.0.0.1", "A"),
        ("10.0.0.1", "A"),
        ("169.254.169.254", "A"),
        ("::1", "AAAA"),
        ("::ffff:10.0.0.1", "AAAA"),
    ] {
        let shown = address.trim_start_matches("::ffff:");
        let words = format!(
            "the name servers of _c.example.com. cannot be asked: {shown} is not a public address; the operator can allow it with --allow-address"
        );
        let glue = format!(
            "192.0.2.1 serves .\n  com. NS ns.com.\n  ns.com. A 192.0.2.2\n192.0.2.2 serves com.\n  example.com. NS ns.example.com.\n  ns.example.com. {rtype} {address}\n{address} serves example.com.\n  _c.example.com. TXT proof\n"
        );
        let host = elsewhere("", &format!("  ns.example.net. {rtype} {address}"))
            + &format!("{address} serves example.com.\n  _c.example.com. TXT proof\n");
        for world in [glue, host] {
            let looked = looked(&world).await;
            assert_eq!(looked.finding.to_string(), words);
            let address: std::net::IpAddr = address.parse().unwrap();
            let asked = looked.world.asked.lock().unwrap();
            assert!(asked.iter().all(|(server, _)| server.ip() != address));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn beside_an_address_that_may_not_be_asked_the_others_are() {
    let world = both("  _c.example.com. TXT proof")
        + "192.0.2.2 serves com.\n  example.com. NS ns3.example.com.\n  ns3.example.com. A 10.0.0.1\n10.0.0.1 serves example.com.\n";
    assert_eq!(told(&world).await, "found at _c.example.com.");
}

#[tokio::test(start_paused = true)]
async fn below_a_name_that_does_not_exist_there_is_nothing_and_the_root_says_so() {
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let looked = look_at(ABOVE, &roots, &["_c.shop.example.invalid."]).await;
    let words = "no TXT record at _c.shop.example.invalid.";
    assert_eq!(looked.finding.to_string(), words);
    assert_eq!(looked.questions, 2);
}
