//! What the servers of a domain say, together.

use super::*;

#[tokio::test(start_paused = true)]
async fn the_text_is_found_at_each_of_the_names() {
    // V5.
    let cases = [
        ("_c.example.com. TXT proof", "found at _c.example.com."),
        ("example.com. TXT proof", "found at example.com."),
        (
            "example.com. TXT other\n example.com. TXT proof",
            "found at example.com.",
        ),
        ("_c.example.com. TXT   proof  ", "found at _c.example.com."),
    ];
    for (records, words) in cases {
        assert_eq!(told(&both(&format!("  {records}"))).await, words);
    }
}

#[tokio::test(start_paused = true)]
async fn what_stands_there_instead_is_told() {
    let none = "no TXT record at _c.example.com.; no TXT record at example.com.";
    let one = "another TXT record at _c.example.com.; no TXT record at example.com.";
    let two = "no TXT record at _c.example.com.; 2 other TXT records at example.com.";
    let cases = [
        ("", none),
        ("  _c.example.com. A 192.0.2.9", none),
        ("  below._c.example.com. TXT proof", none),
        ("  _c.example.com. TXT Proof", one),
        ("  _c.example.com. TXT proof2", one),
        ("  _c.example.com. TXT proof proof", one),
        ("  example.com. TXT a\n  example.com. TXT b", two),
    ];
    for (records, words) in cases {
        assert_eq!(told(&both(records)).await, words, "{records}");
    }
}

#[tokio::test(start_paused = true)]
async fn servers_that_do_not_agree_are_told_apart() {
    let disagree =
        "the name servers of _c.example.com. do not agree yet: 192.0.2.3:53 and not 192.0.2.4:53";
    let cases = [
        ("TXT proof", "TXT other"),
        ("TXT proof", "A 192.0.2.9"),
        ("TXT proof", "CNAME example.net."),
        ("CNAME example.net.", "TXT other"),
        ("CNAME a.example.net.", "CNAME b.example.net."),
    ];
    for (one, other) in cases {
        let world = format!(
            "{ABOVE}192.0.2.3 serves example.com.\n  _c.example.com. {one}\n192.0.2.4 serves example.com.\n  _c.example.com. {other}\n"
        );
        assert_eq!(told(&world).await, disagree, "{one}, {other}");
    }
}

#[tokio::test(start_paused = true)]
async fn servers_agree_on_the_text_and_not_on_what_stands_beside_it() {
    let world = format!(
        "{ABOVE}192.0.2.3 serves example.com.\n  _c.example.com. TXT proof\n192.0.2.4 serves example.com.\n  _c.example.com. TXT proof\n  _c.example.com. TXT more\n"
    );
    assert_eq!(told(&world).await, "found at _c.example.com.");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_gives_no_answer_does_not_keep_the_others_from_agreeing() {
    for manner in ["silent", "SERVFAIL", "REFUSED", "lame", "garbled"] {
        for (good, bad) in [("192.0.2.3", "192.0.2.4"), ("192.0.2.4", "192.0.2.3")] {
            let world = format!(
                "{ABOVE}{good} serves example.com.\n  _c.example.com. TXT proof\n{bad} serves example.com.\n{bad} is {manner}\n"
            );
            assert_eq!(told(&world).await, "found at _c.example.com.", "{manner}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_any_answer_nothing_follows() {
    // Not even that the text is absent.
    let cases = [
        ("silent", "192.0.2.3:53: no answer within 3s"),
        ("SERVFAIL", "192.0.2.3:53: answered SERVFAIL"),
        ("REFUSED", "192.0.2.3:53: answered REFUSED"),
        ("lame", "192.0.2.3:53: does not speak for example.com."),
        ("garbled", "192.0.2.3:53: an answer that cannot be read"),
    ];
    for (manner, why) in cases {
        let world = format!(
            "{}\n192.0.2.3 is {manner}\n192.0.2.4 is {manner}",
            both("  _c.example.com. TXT proof")
        );
        let words = format!("cannot look at _c.example.com. now: {why}");
        assert_eq!(told(&world).await, words);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_points_upwards_is_no_server_of_the_zone() {
    let world = format!("{ABOVE}192.0.2.3 serves example.org.\n192.0.2.4 serves example.org.\n");
    let words = "cannot look at _c.example.com. now: 192.0.2.3:53: does not speak for example.com.";
    assert_eq!(told(&world).await, words);
}
