//! Queries from the network: any octets, over both transports, against zones with one of everything.

#![no_main]

use std::sync::LazyLock;

use dns::{Publication, Version, zonefile};
use domain::base::Message;
use domain::rdata::AllRecordData;
use libfuzzer_sys::fuzz_target;
use nameserver::{Client, Transport, UDP_PAYLOAD_MAX, Zones, answer};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// The zones that the tables of answers are about.
static ZONES: LazyLock<Zones> = LazyLock::new(|| {
    let texts = [
        include_str!("../../crates/nameserver/src/answer/tests/example.org.zone"),
        include_str!("../../crates/nameserver/src/answer/tests/child.example.org.zone"),
        include_str!("../../crates/nameserver/src/answer/tests/example.net.zone"),
    ];
    let publications = texts.map(|text| {
        let (zone, serial) = zonefile::parse(text, None).zone.expect("a zone");
        Publication::Version(Version { zone, serial })
    });
    Zones::new().with(&publications)
});

fuzz_target!(|query: &[u8]| {
    check(query, Transport::Udp, usize::from(UDP_PAYLOAD_MAX));
    check(query, Transport::Tcp, 65_535);
});

/// What holds for every answer.
fn check(query: &[u8], transport: Transport, limit: usize) {
    let mut reply = Vec::new();
    let client = Client {
        address: [192, 0, 2, 1].into(),
        transport,
    };
    let mut chance = StdRng::seed_from_u64(0);
    let Some(outcome) = answer(query, client, &ZONES, &mut chance, &mut reply) else {
        assert!(query.len() < 12 || query[2] & 0x80 != 0, "silence");
        assert!(reply.is_empty());
        return;
    };
    assert!(reply.len() <= limit, "{} octets", reply.len());
    let message = Message::from_slice(&reply).expect("an answer has a header");
    let header = message.header();
    assert_eq!(reply[..2], query[..2], "the number is the query's");
    assert!(header.qr() && !header.ra() && !header.ad());
    assert_eq!(
        header.opcode(),
        Message::from_slice(query)
            .expect("a header")
            .header()
            .opcode()
    );
    assert_eq!(message.opt_rcode(), outcome.rcode);
    assert_eq!(header.tc(), outcome.truncated);

    let mut questions = message.question();
    if questions.next().is_some() {
        let end = questions.pos();
        assert_eq!(
            reply[12..end],
            query[12..end],
            "the question is the query's"
        );
    }
    let (_, answers, authority, additional) = message.sections().expect("sections can be read");
    for record in answers.chain(authority).chain(additional) {
        let record = record.expect("a record can be read");
        record
            .to_any_record::<AllRecordData<_, _>>()
            .expect("its data can be read");
    }
}
