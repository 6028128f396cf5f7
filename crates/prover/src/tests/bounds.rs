//! Nobody keeps us busy: time and questions come to an end.

use std::fmt::Write as _;

use super::*;
use crate::LOOK_WITHIN;

#[tokio::test(start_paused = true)]
async fn slow_servers_are_waited_for() {
    let world = both("  _c.example.com. TXT proof") + "192.0.2.3 is slow\n192.0.2.4 is slow\n";
    let looked = looked(&world).await;
    assert_eq!(looked.finding.to_string(), "found at _c.example.com.");
    // One after the other: whether there is a cut, the text, and the name beside it.
    assert_eq!(looked.took, Duration::from_millis(3 * 2_900));
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_waited_for_no_longer_than_it_takes() {
    let world = both("  _c.example.com. TXT proof") + "192.0.2.3 is silent\n";
    let looked = looked(&world).await;
    assert_eq!(looked.finding.to_string(), "found at _c.example.com.");
    // When it is asked for cuts, and for the text; about the name beside it only those are asked who spoke.
    assert_eq!(looked.took, Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn everything_together_is_over_in_time() {
    let mut world = both("  example.com. CNAME a.example.net.");
    world += "192.0.2.6 serves example.net.\n192.0.2.6 is slow\n192.0.2.3 is slow\n";
    for link in ["a", "b", "c", "d", "e"] {
        let next = char::from(link.as_bytes()[0] + 1);
        writeln!(
            world,
            "192.0.2.6 serves example.net.\n  {link}.example.net. CNAME {next}.example.net."
        )
        .unwrap();
    }
    let looked = looked(&world).await;
    let words = "cannot look at example.com. now: no result within 15s";
    assert_eq!(looked.finding.to_string(), words);
    assert_eq!(looked.took, LOOK_WITHIN);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_takes_all_the_time_takes_none_from_the_other() {
    let world = both(
        "  example.com. TXT proof\n  _c.example.com. NS ns.dead.example.com.\n  ns.dead.example.com. A 192.0.2.9",
    ) + "192.0.2.9 is silent";
    let looked = looked(&world).await;
    assert_eq!(looked.finding.to_string(), "found at example.com.");
    assert_eq!(looked.took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_hosts_does_not_make_us_ask_for_each() {
    // The NXNS attack: a referral whose hosts all have to be found, somewhere else.
    let mut world = String::from(ABOVE) + "192.0.2.2 serves com.\n";
    for host in 0..200 {
        writeln!(world, "  crowd.com. NS ns{host}.victim.net.").unwrap();
    }
    world += "192.0.2.5 serves net.\n  victim.net. NS ns.victim.net.\n  ns.victim.net. A 192.0.2.6\n192.0.2.6 serves victim.net.\n";
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let looked = look_at(&world, &roots, &["crowd.com."]).await;
    assert!(
        matches!(looked.finding, Finding::Refused { .. }),
        "{}",
        looked.finding
    );
    assert!(looked.questions <= 2 + 16 * 5, "{}", looked.questions);
}

#[tokio::test(start_paused = true)]
async fn questions_come_to_an_end_and_whoever_was_not_asked_has_not_agreed() {
    // Hosts of hosts, sixteen each time.
    let mut world = String::from(
        "192.0.2.1 serves .\n  com. NS ns.com.\n  ns.com. A 192.0.2.2\n192.0.2.2 serves com.\n",
    );
    for level in 0..4 {
        for host in 0..16 {
            writeln!(world, "  {level}.com. NS ns{host}.{}.com.", level + 1).unwrap();
        }
    }
    world += "  0.com. NS ns.0.com.\n  ns.0.com. A 192.0.2.3\n192.0.2.3 serves 0.com.\n  0.com. TXT proof\n";
    let world = world.replacen("  0.com. NS ns15.1.com.\n", "", 1);
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let looked = look_at(&world, &roots, &["0.com."]).await;
    let words = "cannot look at 0.com. now: takes more than 300 questions";
    assert_eq!(looked.finding.to_string(), words);
    assert_eq!(looked.questions, 300);
}
