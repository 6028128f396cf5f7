//! Resolvers that are believed.

use super::*;

fn resolver(address: &str, records: &str) -> String {
    format!("{address} serves .\n{records}\n{address} is resolving\n")
}

async fn told_by(resolvers: &[&str], world: &str) -> String {
    let resolvers = Sources::Resolvers(sources(resolvers));
    let looked = look_at(world, &resolvers, &[CHALLENGE]).await;
    looked.finding.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_resolver_is_asked_to_ask_others_and_believed_wherever_it_is() {
    // V5.
    let world = resolver("10.0.0.1", "  _c.example.com. TXT proof");
    let resolvers = Sources::Resolvers(sources(&["10.0.0.1"]));
    let looked = look_at(&world, &resolvers, &[CHALLENGE]).await;
    assert_eq!(looked.finding.to_string(), "found at _c.example.com.");
    let asked = looked.world.asked.lock().unwrap();
    assert!(asked.iter().all(|(_, question)| question.recursive));
}

#[tokio::test(start_paused = true)]
async fn all_resolvers_have_to_answer_and_to_agree() {
    let with = resolver("10.0.0.1", "  _c.example.com. TXT proof");
    let both = ["10.0.0.1", "10.0.0.2"];
    let same = with.clone() + &resolver("10.0.0.2", "  _c.example.com. TXT proof");
    assert_eq!(told_by(&both, &same).await, "found at _c.example.com.");
    let other = with.clone() + &resolver("10.0.0.2", "");
    let words =
        "the name servers of _c.example.com. do not agree yet: 10.0.0.1:53 and not 10.0.0.2:53";
    assert_eq!(told_by(&both, &other).await, words);
    let silent = with + "10.0.0.2 is silent";
    let words = "cannot look at _c.example.com. now: 10.0.0.2:53: no answer within 3s";
    assert_eq!(told_by(&both, &silent).await, words);
}

#[tokio::test(start_paused = true)]
async fn an_alias_is_asked_for_again() {
    let records = "  _c.example.com. CNAME proof.example.net.\n  proof.example.net. TXT proof";
    let world = resolver("10.0.0.1", records);
    let words = "found at _c.example.com. (an alias of proof.example.net.)";
    assert_eq!(told_by(&["10.0.0.1"], &world).await, words);
}

#[tokio::test(start_paused = true)]
async fn a_wildcard_is_no_proof_from_a_resolver_either() {
    let world = resolver("10.0.0.1", "  *.example.com. TXT proof");
    let words = "a wildcard answers for _c.example.com., which proves nothing; create the record at that very name";
    assert_eq!(told_by(&["10.0.0.1"], &world).await, words);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_only_points_elsewhere_is_no_resolver() {
    let world = "10.0.0.1 serves .\n  com. NS ns.com.\n";
    let words =
        "cannot look at _c.example.com. now: 10.0.0.1:53: does not speak for _c.example.com.";
    assert_eq!(told_by(&["10.0.0.1"], world).await, words);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_speaks_for_the_domain_will_do() {
    let world = "10.0.0.1 serves example.com.\n  _c.example.com. TXT proof\n";
    assert_eq!(
        told_by(&["10.0.0.1"], world).await,
        "found at _c.example.com."
    );
}

#[tokio::test(start_paused = true)]
async fn without_anybody_to_ask_nothing_follows() {
    let words = "cannot look at _c.example.com. now: there is nobody to ask";
    assert_eq!(told_by(&[], "").await, words);
    let looked = look_at("", &Sources::Roots(Vec::new()), &[CHALLENGE]).await;
    assert_eq!(looked.finding.to_string(), words);
}
