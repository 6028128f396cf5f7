//! What counts as the answer, and how it is shown.

use std::str::FromStr as _;

use domain::base::iana::Rcode;
use domain::base::message_builder::AnswerBuilder;
use domain::base::{Record, Ttl};
use domain::rdata::{A, Mx, Soa};

use super::*;

const ID: u16 = 4711;

fn asked(name: &str, rtype: Rtype) -> Asked {
    Asked::new(Name::parse(name).unwrap(), rtype, ID)
}

fn wire_name(text: &str) -> WireName<Vec<u8>> {
    WireName::from_str(text).unwrap()
}

/// An answer to `asked`, filled by `fill`, on the wire.
fn answer(
    asked: &Asked,
    rcode: Rcode,
    fill: impl FnOnce(AnswerBuilder<Vec<u8>>) -> Vec<u8>,
) -> Vec<u8> {
    let question = Message::from_slice(asked.octets()).unwrap();
    fill(
        MessageBuilder::new_vec()
            .start_answer(question, rcode)
            .unwrap(),
    )
}

fn record<D>(owner: &str, data: D) -> Record<WireName<Vec<u8>>, D> {
    Record::new(wire_name(owner), Class::IN, Ttl::from_secs(60), data)
}

#[test]
fn a_question_has_recursion_and_edns() {
    let asked = asked("www.example.org.", Rtype::AAAA);
    let message = Message::from_slice(asked.octets()).unwrap();
    assert_eq!((message.header().id(), message.header().rd()), (ID, true));
    assert_eq!(message.opt().unwrap().udp_payload_size(), UDP_OCTETS_MAX);
    let question = message.sole_question().unwrap();
    assert_eq!(question.to_string(), "www.example.org.\tAAAA\tIN");
}

#[test]
fn every_section_becomes_lines_of_a_zone_file() {
    let asked = asked("example.org.", Rtype::MX);
    let soa = Soa::new(
        wire_name("ns.example.org"),
        wire_name("noc.example.org"),
        domain::base::Serial(7),
        Ttl::from_secs(1),
        Ttl::from_secs(2),
        Ttl::from_secs(3),
        Ttl::from_secs(4),
    );
    let octets = answer(&asked, Rcode::NOERROR, |mut message| {
        message.header_mut().set_aa(true);
        message
            .push(record(
                "Example.ORG",
                Mx::new(10, wire_name("Mail.Example.org")),
            ))
            .unwrap();
        let mut message = message.authority();
        message.push(record("example.org", soa)).unwrap();
        let mut message = message.additional();
        message
            .push(record("mail.example.org", A::from_octets(192, 0, 2, 1)))
            .unwrap();
        message.opt(|_| Ok(())).unwrap();
        message.finish()
    });
    let reply = asked.read(&octets).unwrap();
    let shown = |lines: &[Line]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (reply.rcode.as_str(), &reply.flags[..]),
        ("NOERROR", &["qr", "aa", "rd"][..])
    );
    assert_eq!(
        shown(&reply.answer),
        ["example.org. 60 IN MX 10 mail.example.org."]
    );
    assert_eq!(
        shown(&reply.authority),
        ["example.org. 60 IN SOA ns.example.org. noc.example.org. 7 1 2 3 4"]
    );
    assert_eq!(
        shown(&reply.additional),
        ["mail.example.org. 60 IN A 192.0.2.1"]
    );
}

#[test]
fn data_of_a_type_that_nobody_knows_is_shown_in_the_generic_form() {
    let asked = asked("example.org.", Rtype::from_int(65_280));
    let octets = answer(&asked, Rcode::NOERROR, |mut message| {
        let rtype = domain::base::Rtype::from_int(65_280);
        let data = UnknownRecordData::from_octets(rtype, b"\xab\xcd".as_slice()).unwrap();
        message.push(record("example.org", data)).unwrap();
        message.finish()
    });
    let reply = asked.read(&octets).unwrap();
    assert_eq!(
        reply.answer[0].to_string(),
        "example.org. 60 IN TYPE65280 \\# 2 ab cd"
    );
}

/// Everything that is no answer to the question is told apart, and none of it is believed.
#[test]
fn an_answer_has_our_id_and_our_question() {
    let ours = asked("www.example.org.", Rtype::A);
    let good = answer(&ours, Rcode::NXDOMAIN, AnswerBuilder::finish);
    assert_eq!(ours.read(&good).unwrap().rcode, "NXDOMAIN");

    let altered = |change: fn(&mut Vec<u8>)| {
        let mut octets = good.clone();
        change(&mut octets);
        octets
    };
    let other_name = asked("other.example.org.", Rtype::A);
    let other_type = asked("www.example.org.", Rtype::MX);
    for (octets, unfit) in [
        (good[..11].to_vec(), Unfit::Short),
        (altered(|octets| octets[0] ^= 1), Unfit::Id),
        (altered(|octets| octets[2] ^= 0x80), Unfit::NoResponse),
        (altered(|octets| octets[2] |= 0x28), Unfit::NoResponse),
        (
            answer(&other_name, Rcode::NOERROR, AnswerBuilder::finish),
            Unfit::Question,
        ),
        (
            answer(&other_type, Rcode::NOERROR, AnswerBuilder::finish),
            Unfit::Question,
        ),
    ] {
        assert_eq!(ours.read(&octets), Err(unfit));
    }
    assert!(matches!(ours.read(&good[..20]), Err(Unfit::Malformed(_))));
}

#[test]
fn a_server_that_could_not_read_the_question_may_leave_it_out() {
    let ours = asked("www.example.org.", Rtype::A);
    let without_question = |rcode: Rcode| {
        let mut message = MessageBuilder::new_vec();
        message.header_mut().set_id(ID);
        message.header_mut().set_qr(true);
        message.header_mut().set_rcode(rcode);
        message.finish()
    };
    assert_eq!(
        ours.read(&without_question(Rcode::FORMERR)).unwrap().rcode,
        "FORMERR"
    );
    assert_eq!(
        ours.read(&without_question(Rcode::NOERROR)),
        Err(Unfit::Question)
    );
}

#[test]
fn case_does_not_tell_questions_apart() {
    let ours = asked("www.example.org.", Rtype::A);
    let mut octets = answer(&ours, Rcode::NOERROR, AnswerBuilder::finish);
    octets[13].make_ascii_uppercase();
    assert!(ours.read(&octets).is_ok());
}
