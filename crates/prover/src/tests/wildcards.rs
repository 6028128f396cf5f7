//! What is said about every name proves nothing about one.

use super::*;

const SYNTHESISED: &str = "a wildcard answers for _c.example.com., which proves nothing; create the record at that very name";

#[tokio::test(start_paused = true)]
async fn a_wildcard_is_no_proof() {
    let net = "192.0.2.6 serves example.net.\n  proof.example.net. TXT proof\n";
    let cases = [
        ("  *.example.com. TXT proof", SYNTHESISED),
        ("  *.example.com. CNAME proof.example.net.", SYNTHESISED),
        // Nobody can tell these from the wildcard's own.
        (
            "  *.example.com. TXT proof\n  _c.example.com. TXT proof",
            SYNTHESISED,
        ),
        (
            "  *.example.com. TXT other\n  _c.example.com. TXT proof",
            "found at _c.example.com.",
        ),
        (
            "  *.example.com. CNAME proof.example.net.\n  _c.example.com. TXT proof",
            "found at _c.example.com.",
        ),
        (
            "  *.example.com. TXT proof\n  _c.example.com. CNAME proof.example.net.",
            "found at _c.example.com. (an alias of proof.example.net.)",
        ),
    ];
    for (records, words) in cases {
        let world = both(records) + net;
        assert_eq!(told_of_challenge(&world).await, words, "{records}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_server_with_a_wildcard_is_enough() {
    let world = format!(
        "{ABOVE}192.0.2.3 serves example.com.\n  _c.example.com. TXT proof\n192.0.2.4 serves example.com.\n  *.example.com. TXT proof\n"
    );
    assert_eq!(told_of_challenge(&world).await, SYNTHESISED);
}

#[tokio::test(start_paused = true)]
async fn a_wildcard_further_up_speaks_for_names_that_nobody_wrote() {
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    for (records, words) in [
        (
            "  *.example.com. TXT proof",
            "a wildcard answers for _c.shop.example.com., which proves nothing; create the record at that very name",
        ),
        // The domain exists, and hides the wildcard from the names below it.
        (
            "  *.example.com. TXT proof\n  shop.example.com. A 192.0.2.9\n  _c.shop.example.com. TXT proof",
            "found at _c.shop.example.com.",
        ),
    ] {
        let looked = look_at(&both(records), &roots, &["_c.shop.example.com."]).await;
        assert_eq!(looked.finding.to_string(), words);
    }
}

#[tokio::test(start_paused = true)]
async fn the_apex_of_a_zone_is_itself_and_is_not_compared() {
    let records = "  *.example.com. TXT proof\n  example.com. TXT proof";
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let looked = look_at(&both(records), &roots, &[DOMAIN]).await;
    assert_eq!(looked.finding.to_string(), "found at example.com.");
    let asked = looked.world.asked.lock().unwrap();
    let is_strange = |name: &Name| name.to_string().starts_with("stranger.");
    assert!(!asked.iter().any(|(_, question)| is_strange(&question.name)));
}

#[tokio::test(start_paused = true)]
async fn a_domain_below_the_apex_is_compared_like_any_name() {
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let records = "  *.example.com. TXT proof";
    let looked = look_at(&both(records), &roots, &["shop.example.com."]).await;
    assert!(matches!(looked.finding, Finding::Synthesised { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_name_without_room_beside_it_is_not_believed() {
    let label = "a".repeat(60);
    let parent = format!("{label}.{label}.{label}.{}.example.com.", "a".repeat(52));
    let name = format!("b.{parent}");
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let world = both(&format!("  {name} TXT proof"));
    let looked = look_at(&world, &roots, &[&name]).await;
    let words =
        format!("cannot look at {name} now: too long to tell its answer from that of a wildcard");
    assert_eq!(looked.finding.to_string(), words);
}
