//! What is read: whole at first, then by differences.

use std::fmt::Write as _;

use dns::hosted::{Held, Holdings, HostedKey};
use dns::{Rdata, Rtype};
use domain::base::iana::Rcode;
use provider::Provider as _;
use provider::battery::Stage as _;
use testkit::name_server::Software;

use crate::fake::{Fake, Reply, Stranger};
use crate::stage::{APEX, Server, batch, change, name, provider, tsig, zone_id};

/// Records in the form of a zone file, with names below the zone and numbers for SOAs of that serial.
fn records(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        let line = match word.parse::<u32>() {
            Ok(serial) => format!("{APEX} 300 IN SOA ns.{APEX} x.{APEX} {serial} 2 3 4 5"),
            Err(_) => format!("{word}.{APEX} 300 IN A 192.0.2.1"),
        };
        writeln!(text, "{line}").unwrap();
    }
    text
}

fn reply(words: &[&str]) -> Reply {
    Reply::Messages(vec![records(words)])
}

/// The names of everything but the SOA, without the zone's.
fn names(holdings: &Holdings) -> Vec<String> {
    let others = holdings.keys().filter(|key| key.rtype != Rtype::SOA);
    let first = |key: &HostedKey| {
        let label = key.name.labels().next().unwrap_or_default();
        String::from_utf8_lossy(label).into_owned()
    };
    others.map(first).collect()
}

/// Reads as often as names are expected, and compares them and what was asked.
async fn check(replies: &[Reply], expected: &[&[&str]], asked: &[&str]) {
    let fake = Fake::start(replies.iter().cloned()).await;
    let provider = provider(fake.address(), &tsig(), APEX);
    for names_expected in expected {
        let read = provider.read(&zone_id()).await;
        let snapshot = read.unwrap_or_else(|error| panic!("{}", error.story()));
        assert_eq!(names(&snapshot.holdings), *names_expected);
    }
    assert_eq!(fake.asked(), asked);
}

#[tokio::test]
async fn after_the_first_read_only_differences_are_asked_for() {
    let replies = [
        reply(&["1", "a", "b", "1"]),
        // Nothing new; one difference; two at once; the whole zone instead.
        reply(&["1"]),
        reply(&["2", "1", "a", "2", "c", "2"]),
        reply(&["4", "2", "b", "3", "d", "3", "c", "4", "a", "4"]),
        reply(&["5", "e", "5"]),
        reply(&["5"]),
    ];
    let expected: [&[&str]; 6] = [
        &["a", "b"],
        &["a", "b"],
        &["b", "c"],
        &["a", "d"],
        &["e"],
        &["e"],
    ];
    let asked = ["AXFR", "IXFR 1", "IXFR 1", "IXFR 2", "IXFR 4", "IXFR 5"];
    check(&replies, &expected, &asked).await;
}

#[tokio::test]
async fn differences_come_in_as_many_messages_as_the_server_likes() {
    let each =
        |words: &[&str]| Reply::Messages(words.iter().map(|word| records(&[word])).collect());
    let replies = [
        each(&["1", "a", "b", "1"]),
        each(&["2", "1", "a", "2", "c", "2"]),
        each(&["3", "d", "3"]),
    ];
    let expected: [&[&str]; 3] = [&["a", "b"], &["b", "c"], &["d"]];
    check(&replies, &expected, &["AXFR", "IXFR 1", "IXFR 2"]).await;
}

#[tokio::test]
async fn differences_that_do_not_fit_are_not_applied() {
    for odd in [
        // From another version; of a record that is not there; of one that is; a gap; an older version; no answer.
        reply(&["3", "2", "a", "3", "c", "3"]),
        reply(&["2", "1", "x", "2", "c", "2"]),
        reply(&["2", "1", "2", "a", "2"]),
        reply(&["4", "1", "a", "2", "3", "4", "4"]),
        reply(&["0"]),
        Reply::Code(Rcode::NOTIMP),
        Reply::Unsigned(Rcode::NOERROR),
        Reply::Cut(vec![records(&["2", "1", "a"])]),
        Reply::Octets(vec![0; 12]),
    ] {
        let replies = [
            reply(&["1", "a", "1"]),
            odd,
            reply(&["7", "z", "7"]),
            reply(&["7"]),
        ];
        let asked = ["AXFR", "IXFR 1", "AXFR", "IXFR 7"];
        check(&replies, &[&["a"], &["z"], &["z"]], &asked).await;
    }
}

#[tokio::test]
async fn real_servers_send_differences() {
    for software in [Software::Bind, Software::Knot] {
        let server = Server::start(software).await;
        let stranger = Stranger::before(server.address(), false).await;
        let provider = provider(stranger.address(), &tsig(), APEX);
        provider.read(&zone_id()).await.unwrap();
        let www = change("www.example.org.", Rtype::A, &[], &["192.0.2.1"]);
        server.tamper(&www).await;
        let read = provider.read(&zone_id()).await.unwrap().holdings;
        assert_eq!(read.get(&www.key), www.after.map(Held::Set).as_ref());
        let whole = server.provider.read(&zone_id()).await.unwrap().holdings;
        assert_eq!(read, whole, "{software}");
        provider.read(&zone_id()).await.unwrap();
        assert_eq!(stranger.asked(), ["AXFR", "IXFR 1", "IXFR 2"], "{software}");
    }
}

#[tokio::test]
async fn a_zone_changed_behind_its_serial_is_read_anew_when_a_write_meets_it() {
    let www = change("b.example.org.", Rtype::A, &[], &["192.0.2.2"]);
    let fake = Fake::start([
        reply(&["1", "a", "1"]),
        Reply::Code(Rcode::YXRRSET),
        reply(&["1", "a", "b", "1"]),
        reply(&["1"]),
    ])
    .await;
    let provider = provider(fake.address(), &tsig(), APEX);
    provider.read(&zone_id()).await.unwrap();
    let written = provider.write(&zone_id(), &batch([www])).await;
    assert!(
        matches!(written, Err(provider::Error::Stale)),
        "{written:?}"
    );
    let read = provider.read(&zone_id()).await.unwrap();
    assert_eq!(names(&read.holdings), ["a", "b"]);
    assert_eq!(fake.asked(), ["AXFR", "UPDATE", "AXFR", "IXFR 1"]);
}

#[tokio::test]
async fn five_thousand_records_are_read() {
    let mut lines = String::new();
    for index in 0..5_000 {
        writeln!(lines, "h{index} IN A 10.0.{}.{}", index / 250, index % 250).unwrap();
    }
    for software in Software::ALL {
        let server = Server::start_with(software, &lines).await;
        let holdings = server.provider.read(&zone_id()).await.unwrap().holdings;
        // Its SOA, NS and the address of that.
        assert_eq!(holdings.len(), 5_003, "{software}");
        for index in [0, 1, 2_499, 4_999] {
            let key = HostedKey::plain(name(&format!("h{index}.{APEX}")), Rtype::A);
            let address = format!("10.0.{}.{}", index / 250, index % 250);
            let held = crate::stage::set(300, Rtype::A, &[&address]);
            assert_eq!(
                holdings.get(&key),
                Some(&Held::Set(held)),
                "{software} {key}"
            );
        }
    }
}

#[tokio::test]
async fn types_that_nobody_writes_are_held_as_they_are() {
    let lines = [
        r"odd.example.org. 300 IN TYPE65280 \# 3 010203",
        "example.org. 300 IN DNSKEY 257 3 13 AwEAAc8=",
        "example.org. 300 IN NSEC ns.example.org. A NSEC",
        "www.example.org. 300 IN RRSIG A 13 3 300 20270101000000 20260101000000 1 example.org. AwEAAc8=",
        "www.example.org. 60 IN RRSIG AAAA 13 3 60 20270101000000 20260101000000 1 example.org. AwEAAc8=",
        "b.example.org. 300 IN HTTPS 1 . alpn=h2",
        // No address has three octets: it takes its place all the same.
        r"short.example.org. 300 IN A \# 3 010203",
    ];
    let soa = records(&["1"]);
    let zone = format!("{soa}{}\n{soa}", lines.join("\n"));
    let fake = Fake::start([Reply::Messages(vec![zone])]).await;
    let provider = provider(fake.address(), &tsig(), APEX);
    let holdings = provider.read(&zone_id()).await.unwrap().holdings;
    let told: Vec<String> = holdings.iter().map(|(key, held)| told(key, held)).collect();
    let expected = [
        "example.org. SOA 300: ns.example.org. x.example.org. 1 2 3 4 5",
        "example.org. NSEC 300: ns.example.org. A NSEC",
        "example.org. DNSKEY 300: 257 3 13 AwEAAc8=",
        "b.example.org. HTTPS 300: 1 . alpn=h2",
        r"odd.example.org. TYPE65280 300: \# 3 01 02 03",
        "short.example.org. A: records that cannot be read",
        "www.example.org. RRSIG 60: A 13 3 300 1798761600 1767225600 1 example.org. AwEAAc8=, \
         AAAA 13 3 60 1798761600 1767225600 1 example.org. AwEAAc8=",
    ];
    assert_eq!(told, expected);
}

fn told(key: &HostedKey, held: &Held) -> String {
    match held {
        Held::Opaque(words) => format!("{key}: {words}"),
        Held::Set(set) => {
            let data: Vec<String> = set.records.data().iter().map(Rdata::to_string).collect();
            format!("{key} {}: {}", set.records.ttl(), data.join(", "))
        }
    }
}
