//! A server that misbehaves: never a short zone, always an error that says what happened.

use domain::base::iana::Rcode;
use provider::{Attempt, Error, Provider as _};

use crate::fake::{Fake, Reply};
use crate::stage::{APEX, batch, change, provider, tsig, zone_id};
use dns::Rtype;

const SOA: &str = "example.org. 300 IN SOA ns.example.org. hostmaster.example.org. 1 2 3 4 5\n";
const LATER: &str = "example.org. 300 IN SOA ns.example.org. hostmaster.example.org. 2 2 3 4 5\n";
const WWW: &str = "www.example.org. 300 IN A 192.0.2.1\n";

/// What a read says that is replied to like this.
async fn read(reply: Reply) -> Error {
    let fake = Fake::start([reply]).await;
    let provider = provider(fake.address(), &tsig(), APEX);
    provider.read(&zone_id()).await.unwrap_err()
}

async fn check_unclear(reply: Reply, story: &str) {
    let error = read(reply.clone()).await;
    assert!(matches!(error, Error::Unclear(_)), "{reply:?}: {error:?}");
    let expected = format!("there was no clear answer: {story}");
    assert_eq!(error.story(), expected, "{reply:?}");
}

fn messages<const N: usize>(messages: [&[&str]; N]) -> Vec<String> {
    messages.map(<[&str]>::concat).into()
}

#[tokio::test]
async fn a_transfer_that_is_cut_off_is_no_zone() {
    // D22, and external-dns takes such a zone for whole.
    for sent in [
        messages([]),
        messages([&[SOA]]),
        messages([&[SOA, WWW]]),
        messages([&[SOA], &[WWW], &[WWW]]),
    ] {
        let story = "the connection to the name server broke: unexpected end of file";
        check_unclear(Reply::Cut(sent), story).await;
    }
}

#[tokio::test]
async fn a_transfer_that_does_not_end_as_it_began_is_no_zone() {
    let rows: [(&[&str], &str); 4] = [
        (
            &[WWW, SOA],
            "the transfer does not begin with the zone's SOA",
        ),
        (
            &[SOA, WWW, LATER],
            "the zone changed while it was transferred",
        ),
        (&[SOA, LATER], "the zone changed while it was transferred"),
        (&[SOA, WWW, SOA, WWW], "the transfer goes on after its end"),
    ];
    for (records, story) in rows {
        check_unclear(Reply::Messages(messages([records])), story).await;
    }
}

#[tokio::test]
async fn a_transfer_without_end_is_given_up() {
    let text = format!("\"{}\" ", "x".repeat(255)).repeat(250);
    let records = format!("txt.example.org. 300 IN TXT {text}");
    let story = "the name server sent more than 134217728 octets";
    check_unclear(Reply::Endless(records), story).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_longer_than_the_deadline() {
    let story = "the name server did not finish its answer within 60 seconds";
    for sent in [messages([]), messages([&[SOA, WWW]])] {
        check_unclear(Reply::Messages(sent), story).await;
    }
    let fake = Fake::start([Reply::Messages(Vec::new())]).await;
    let provider = provider(fake.address(), &tsig(), APEX);
    let www = batch([change("www.example.org.", Rtype::A, &[], &["192.0.2.1"])]);
    let error = provider.write(&zone_id(), &www).await.unwrap_err();
    assert_eq!(error.attempt(), Attempt::Unclear, "{error:?}");
}

#[tokio::test]
async fn octets_that_are_no_answer_are_no_answer() {
    let no_answer = "what the name server sent is no answer";
    let header = |id: u8, flags: u8| {
        let mut octets = vec![0, id, flags, 0];
        octets.resize(12, 0);
        octets
    };
    for octets in [
        b"HTTP/1.1 400".to_vec(),
        Vec::new(),
        vec![0; 11],
        // A question; the answer to another one; to an update; truncated.
        header(0, 0),
        header(1, 0x80),
        header(0, 0xa8),
        header(0, 0x82),
    ] {
        check_unclear(Reply::Octets(octets), no_answer).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_not_signed_is_not_believed() {
    let unsigned = "the name server answers NOERROR, and does not sign it";
    check_unclear(Reply::Unsigned(Rcode::NOERROR), unsigned).await;
    let unsigned = "the name server answers YXRRSET, and does not sign it";
    check_unclear(Reply::Unsigned(Rcode::YXRRSET), unsigned).await;
    let forged = Reply::Forged([SOA, WWW, SOA].concat());
    let story = "the signature of the answer does not hold: bad signature";
    check_unclear(forged, story).await;
}

#[tokio::test]
async fn clocks_that_differ_are_named() {
    // D22: BADTIME.
    let error = read(Reply::Ahead).await;
    assert!(matches!(error, Error::Denied(_)), "{error:?}");
    assert!(error.story().contains("clocks"), "{}", error.story());
}

#[tokio::test]
async fn a_no_is_believed_signed_or_not() {
    for reply in [Reply::Code, Reply::Unsigned] {
        let failed = reply(Rcode::SERVFAIL);
        check_unclear(failed, "the name server answers SERVFAIL").await;
        let error = read(reply(Rcode::REFUSED)).await;
        assert!(matches!(error, Error::Denied(_)), "{error:?}");
        let error = read(reply(Rcode::NOTAUTH)).await;
        assert!(matches!(error, Error::Missing), "{error:?}");
        let error = read(reply(Rcode::NOTIMP)).await;
        assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_zone_that_is_refused_is_missing_only_if_it_is_not_there() {
    let rows = [
        (Rcode::NOTAUTH, "there is no such zone"),
        (
            Rcode::REFUSED,
            "access is denied: the name server answers REFUSED: its rules do not let this key transfer or \
         update the zone",
        ),
        (
            Rcode::NOERROR,
            "access is denied: the name server answers REFUSED: its rules do not let this key transfer or \
         update the zone",
        ),
    ];
    for (probe, story) in rows {
        let fake = Fake::start([Reply::Code(Rcode::REFUSED), Reply::Code(probe)]).await;
        let provider = provider(fake.address(), &tsig(), APEX);
        let error = provider.zones().await.unwrap_err();
        assert_eq!(error.story(), story, "{probe}");
        assert_eq!(fake.asked(), ["SOA", "UPDATE"]);
    }
}
