//! Names that are other names.

use std::fmt::Write as _;

use super::*;

/// The other zone, with its records.
fn net(records: &str) -> String {
    format!("192.0.2.6 serves example.net.\n{records}\n")
}

#[tokio::test(start_paused = true)]
async fn an_alias_into_another_zone_is_followed_and_told() {
    let challenge = both("  _c.example.com. CNAME proof.example.net.");
    let found = "found at _c.example.com. (an alias of proof.example.net.)";
    let absent = "no TXT record at _c.example.com. (an alias of proof.example.net.)";
    let other = "another TXT record at _c.example.com. (an alias of proof.example.net.)";
    let cases = [
        ("  proof.example.net. TXT proof", found),
        ("", absent),
        ("  proof.example.net. A 192.0.2.9", absent),
        ("  proof.example.net. TXT other", other),
    ];
    for (records, words) in cases {
        let world = challenge.clone() + &net(records);
        assert_eq!(told_of_challenge(&world).await, words);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_server_says_about_the_end_of_an_alias_elsewhere_is_not_believed() {
    // The servers of the domain also pretend to hold the other zone.
    let lie = "\n192.0.2.3 serves example.net.\n  proof.example.net. TXT proof";
    let world = both("  _c.example.com. CNAME proof.example.net.") + &net("") + lie;
    let words = "no TXT record at _c.example.com. (an alias of proof.example.net.)";
    assert_eq!(told_of_challenge(&world).await, words);
}

#[tokio::test(start_paused = true)]
async fn aliases_that_lead_back_or_too_far_are_given_up() {
    let looped = both("  _c.example.com. CNAME a.example.net.")
        + &net("  a.example.net. CNAME b.example.net.\n  b.example.net. CNAME a.example.net.");
    let words = "cannot look at _c.example.com. now: alias a.example.net. leads back to itself";
    assert_eq!(told_of_challenge(&looped).await, words);
    let itself = both("  _c.example.com. CNAME _c.example.com.");
    let words = "cannot look at _c.example.com. now: alias _c.example.com. leads back to itself";
    assert_eq!(told_of_challenge(&itself).await, words);
    for (length, words) in [
        (7, "found at _c.example.com. (an alias of 7.example.net.)"),
        (
            8,
            "cannot look at _c.example.com. now: more than 8 aliases from one to the next",
        ),
    ] {
        let mut records = format!("  {length}.example.net. TXT proof\n");
        for link in 0..length {
            writeln!(
                records,
                "  {link}.example.net. CNAME {}.example.net.",
                link + 1
            )
            .unwrap();
        }
        let world = both("  _c.example.com. CNAME 0.example.net.") + &net(&records);
        assert_eq!(told_of_challenge(&world).await, words);
    }
}

#[tokio::test(start_paused = true)]
async fn servers_that_disagree_about_the_end_are_told_with_its_name() {
    let world = both("  _c.example.com. CNAME proof.example.net.")
        + "192.0.2.5 serves net.\n  example.net. NS ns2.example.net.\n  ns2.example.net. A 192.0.2.7\n192.0.2.7 serves example.net.\n"
        + &net("  proof.example.net. TXT proof");
    let words = "the name servers of proof.example.net. do not agree yet: 192.0.2.6:53 and not 192.0.2.7:53";
    assert_eq!(told_of_challenge(&world).await, words);
}

#[tokio::test(start_paused = true)]
async fn a_renamed_subtree_is_followed() {
    let world = both("  shop.example.com. DNAME shop.example.net.")
        + &net("  _c.shop.example.net. TXT proof");
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let looked = look_at(&world, &roots, &["_c.shop.example.com."]).await;
    let words = "found at _c.shop.example.com. (an alias of _c.shop.example.net.)";
    assert_eq!(looked.finding.to_string(), words);
}
