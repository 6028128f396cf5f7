//! The prover and real name servers on this machine: a root, a top level, and domains in every state of proof.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stage;
mod stub;

use std::fmt::Write as _;
use std::net::{Ipv6Addr, SocketAddr};

use egress::Egress;
use prover::{Finding, Prover, Sources};
use testkit::name_server::Software;

use stage::{BIND, Net, PROOF, Stage, look};
use stub::{Behaviour, Stub};

/// The root at 1 and the top level at 2; who serves the domains is said where they are.
const ROOT: &str = ". NS a.root.\na.root. A ~.1\ntest. NS ns.nic.test.\nns.nic.test. A ~.2\n";

/// A domain in the top level: its name, and the last octets of its servers.
fn delegated(domain: &str, servers: &[u8]) -> String {
    let mut text = String::new();
    for server in servers {
        let host = format!("ns{server}.{domain}.test.");
        writeln!(text, "{domain}.test. NS {host}\n{host} A ~.{server}").unwrap();
    }
    text
}

fn top(delegations: &[String]) -> String {
    let delegations = delegations.concat();
    format!("test. NS ns.nic.test.\nns.nic.test. A ~.2\n{delegations}")
}

/// A zone of both servers of a domain.
fn zone(domain: &str, records: &str) -> (String, String) {
    let apex = format!("{domain}.test.");
    let text = format!("$ORIGIN {apex}\n@ NS ns3\n@ NS ns4\nns3 A ~.3\nns4 A ~.4\n{records}\n");
    (apex, text.replace("PROOF", &format!("\"{PROOF}\"")))
}

fn borrowed(zones: &[(String, String)]) -> Vec<(&str, &str)> {
    let zones = zones.iter();
    zones
        .map(|(apex, text)| (apex.as_str(), text.as_str()))
        .collect()
}

/// Starts the whole tree: these domains at 3 (BIND) and at 4 (NSD), `other.test` at 5 (Knot), with more below the top.
async fn tree(net: Net, at_3: &[(&str, &str)], at_4: &[(&str, &str)], more: &str) -> Stage {
    let mut delegations: Vec<String> = at_3.iter().map(|(it, _)| delegated(it, &[3, 4])).collect();
    delegations.push(delegated("other", &[5]));
    delegations.push(more.to_owned());
    let top = top(&delegations);
    let zones = |of: &[(&str, &str)]| -> Vec<(String, String)> {
        of.iter()
            .map(|(domain, records)| zone(domain, records))
            .collect()
    };
    let (at_3, at_4) = (zones(at_3), zones(at_4));
    let other = format!(
        "$ORIGIN other.test.\n@ NS ns5\nns5 A ~.5\nproof TXT \"{PROOF}\"\n_c.renamed TXT \"{PROOF}\"\n"
    );
    let cut = format!(
        "@ NS ns5.other.test.\n@ TXT \"{}\" \"{}\"\n",
        &PROOF[..4],
        &PROOF[4..]
    );
    let glueless = format!("@ NS ns5.other.test.\n@ TXT \"  {PROOF} \"\n");
    Stage::start(
        net,
        &[
            (1, Software::Nsd, &[(".", ROOT)]),
            (2, Software::Knot, &[("test.", &top)]),
            (BIND, Software::Bind, &borrowed(&at_3)),
            (4, Software::Nsd, &borrowed(&at_4)),
            (
                5,
                Software::Knot,
                &[
                    ("other.test.", &other),
                    ("_c.cut.test.", &format!("$ORIGIN _c.cut.test.\n{cut}")),
                    (
                        "glueless.test.",
                        &format!("$ORIGIN glueless.test.\n{glueless}"),
                    ),
                ],
            ),
        ],
    )
    .await
}

/// Records beyond what a datagram takes.
fn crowd() -> String {
    let mut text = String::from("_c TXT PROOF\n");
    for index in 0..60 {
        writeln!(text, "_c TXT \"{index:060}\"").unwrap();
    }
    text
}

#[tokio::test]
async fn every_state_of_proof_is_told_from_the_others() {
    // V5, V9.
    let net = Net::new();
    let crowd = crowd();
    let same = [
        ("challenge", "_c TXT PROOF"),
        ("bare", "@ TXT PROOF\n@ TXT \"v=spf1 -all\""),
        ("absent", "www A ~.9"),
        (
            "taken",
            "_c TXT \"another\"\n@ TXT \"v=spf1 -all\"\n@ TXT \"x\"",
        ),
        ("crowded", crowd.as_str()),
        ("alias", "_c CNAME proof.other.test."),
        ("dangling", "_c CNAME nothing.other.test."),
        ("wild", "* TXT PROOF"),
        ("wildalias", "* CNAME proof.other.test."),
        ("renamed", "shop DNAME renamed.other.test."),
        ("looped", "_c CNAME a\na CNAME b\nb CNAME a"),
        ("cut", "_c NS ns5.other.test."),
    ];
    let with = |last: &'static str| [&same[..], &[("behind", last)]].concat();
    let more = [
        "glueless.test. NS ns5.other.test.\n",
        &delegated("lame", &[5]),
        "inside.test. NS ns.inside.test.\nns.inside.test. A 10.0.0.1\n",
        "nowhere.test. NS ns.nowhere.invalid.\n",
    ]
    .concat();
    let _stage = tree(net, &with("_c TXT PROOF"), &with("_c TXT \"old\""), &more).await;
    let three = net.at(3);
    let cases = [
        ("challenge.test", "found at _c.challenge.test."),
        ("bare.test", "found at bare.test."),
        (
            "absent.test",
            "no TXT record at _c.absent.test.; no TXT record at absent.test.",
        ),
        (
            "taken.test",
            "another TXT record at _c.taken.test.; 2 other TXT records at taken.test.",
        ),
        ("crowded.test", "found at _c.crowded.test."),
        (
            "alias.test",
            "found at _c.alias.test. (an alias of proof.other.test.)",
        ),
        (
            "dangling.test",
            "no TXT record at _c.dangling.test. (an alias of nothing.other.test.); no TXT record at dangling.test.",
        ),
        (
            "wild.test",
            "a wildcard answers for _c.wild.test., which proves nothing; create the record at that very name",
        ),
        (
            "wildalias.test",
            "a wildcard answers for _c.wildalias.test., which proves nothing; create the record at that very name",
        ),
        (
            "shop.renamed.test",
            "found at _c.shop.renamed.test. (an alias of _c.renamed.other.test.)",
        ),
        (
            "looped.test",
            "cannot look at _c.looped.test. now: alias a.looped.test. leads back to itself",
        ),
        ("cut.test", "found at _c.cut.test."),
        ("glueless.test", "found at glueless.test."),
        (
            "lame.test",
            "cannot look at _c.lame.test. now: ~.5: answered REFUSED",
        ),
        (
            "inside.test",
            "the name servers of _c.inside.test. cannot be asked: 10.0.0.1 is not a public address; the operator can allow it with --allow-address",
        ),
        (
            "nowhere.test",
            "the name servers of _c.nowhere.test. cannot be asked: ns.nowhere.invalid has no address",
        ),
        (
            "unknown.test",
            "no TXT record at _c.unknown.test.; no TXT record at unknown.test.",
        ),
        (
            "behind.test",
            "the name servers of _c.behind.test. do not agree yet: ~.3 and not ~.4",
        ),
    ];
    let prover = net.prover();
    for (domain, words) in cases {
        let words = words.replace("~.3", &three.to_string());
        let words = words.replace("~.4", &net.at(4).to_string());
        let words = words.replace("~.5", &net.at(5).to_string());
        assert_eq!(look(&prover, domain).await.to_string(), words);
    }
}

#[tokio::test]
async fn a_prover_that_may_ask_nobody_inside_asks_only_the_root() {
    let net = Net::new();
    let _stage = tree(
        net,
        &[("challenge", "_c TXT PROOF")],
        &[("challenge", "")],
        "",
    )
    .await;
    let strict = Prover::new(Sources::Roots(vec![net.at(1)]), Egress::default());
    let finding = look(&strict.with_port(net.at(1).port()), "challenge.test").await;
    let why = egress::EgressError::Address(net.at(2).ip());
    assert!(
        matches!(&finding, Finding::Refused { why: it, .. } if *it == why),
        "{finding}"
    );
}

#[tokio::test]
async fn servers_can_be_named_instead_of_walked_to() {
    let net = Net::new();
    let zones = [("challenge", "_c TXT PROOF"), ("wild", "* TXT PROOF")];
    let _stage = tree(net, &zones, &zones, "").await;
    let named = |servers: &[SocketAddr]| {
        Prover::new(Sources::Resolvers(servers.to_vec()), Egress::default())
    };
    let both = named(&[net.at(3), net.at(4)]);
    let told = look(&both, "challenge.test").await.to_string();
    assert_eq!(told, "found at _c.challenge.test.");
    let finding = look(&both, "wild.test").await;
    assert!(matches!(finding, Finding::Synthesised { .. }), "{finding}");
    let dead = named(&[net.at(3), net.at(9)]);
    let told = look(&dead, "challenge.test").await.to_string();
    let words = format!(
        "cannot look at _c.challenge.test. now: {}: nobody listens there",
        net.at(9)
    );
    assert_eq!(told, words);
}

#[tokio::test]
async fn a_server_of_ipv6_is_asked() {
    let at = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), Net::new().at(BIND).port());
    let _server = Stub::start(at, Behaviour::Confused, "_c.six.test.").await;
    let prover = Prover::new(Sources::Resolvers(vec![at]), Egress::default());
    let told = tokio::spawn(async move { look(&prover, "six.test").await.to_string() });
    assert_eq!(told.await.unwrap(), "found at _c.six.test.");
}

/// What is told of a domain with a good server and a bad one, or with a bad one alone.
async fn told_with(behaviour: Behaviour, servers: &[u8]) -> String {
    let net = Net::new();
    let zones = [("challenge", "_c TXT PROOF")];
    let more = delegated("bad", servers);
    let _stage = tree(net, &zones, &zones, &more).await;
    let _good = Stub::start(net.at(7), Behaviour::Confused, "_c.bad.test.").await;
    let _bad = Stub::start(net.at(8), behaviour, "_c.bad.test.").await;
    let told = look(&net.prover(), "bad.test").await.to_string();
    told.replace(&net.at(8).to_string(), "~.8")
}

#[tokio::test]
async fn a_server_that_never_answers_does_not_stand_in_the_way_of_one_that_does() {
    let told = told_with(Behaviour::Silent, &[8, 7]).await;
    assert_eq!(told, "found at _c.bad.test.");
    let told = told_with(Behaviour::Silent, &[8]).await;
    assert_eq!(
        told,
        "cannot look at _c.bad.test. now: ~.8: no answer within 3s"
    );
}

#[tokio::test]
async fn a_slow_server_is_waited_for() {
    let told = told_with(Behaviour::Slow, &[8]).await;
    assert_eq!(told, "found at _c.bad.test.");
}

#[tokio::test]
async fn only_what_answers_our_question_is_an_answer() {
    let told = told_with(Behaviour::Confused, &[8]).await;
    assert_eq!(told, "found at _c.bad.test.");
    let told = told_with(Behaviour::Elsewhere, &[8]).await;
    assert_eq!(
        told,
        "cannot look at _c.bad.test. now: ~.8: no answer within 3s"
    );
    let told = told_with(Behaviour::Garbled, &[8]).await;
    assert_eq!(
        told,
        "cannot look at _c.bad.test. now: ~.8: an answer that cannot be read"
    );
}
