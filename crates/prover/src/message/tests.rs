//! Messages as they come, and what is read of them.

use domain::base::iana::Rcode;
use domain::base::{Record as WireRecord, Ttl};

use super::*;

const ID: u16 = 7;

fn question() -> Question {
    Question::new(Name::parse("a.example.").unwrap(), Rtype::TXT)
}

fn wire(text: &str) -> WireName<Vec<u8>> {
    text.parse().unwrap()
}

/// An answer to our question with so many texts of two strings each.
fn texts(id: u16, asked: &str, rtype: WireRtype, count: usize) -> Vec<u8> {
    let mut message = MessageBuilder::new_vec();
    let header = message.header_mut();
    header.set_id(id);
    header.set_qr(true);
    header.set_aa(true);
    header.set_rcode(Rcode::NOERROR);
    let mut message = message.question();
    message.push((wire(asked), rtype)).unwrap();
    let mut message = message.answer();
    for _ in 0..count {
        let text = Txt::from_octets(b"\x03one\x04 two".to_vec()).unwrap();
        let record = WireRecord::new(wire("A.Example."), Class::IN, Ttl::ZERO, text);
        message.push(record).unwrap();
    }
    message.finish()
}

fn read(octets: &[u8]) -> Result<Result<Reply, Fault>, Stranger> {
    question().read(ID, octets)
}

#[test]
fn a_question_says_what_it_asks_and_how_much_it_takes() {
    let octets = question().compose(ID);
    let message = Message::from_octets(&octets[..]).unwrap();
    assert_eq!((message.header().id(), message.header().rd()), (ID, false));
    assert_eq!(message.opt().unwrap().udp_payload_size(), 1232);
    let recursive = Question {
        recursive: true,
        ..question()
    };
    let octets = recursive.compose(ID);
    assert!(Message::from_octets(&octets[..]).unwrap().header().rd());
}

#[test]
fn strings_of_one_text_are_joined() {
    let reply = read(&texts(ID, "A.EXAMPLE.", WireRtype::TXT, 2));
    let Ok(Ok(Reply::Whole(answer))) = reply else {
        panic!("{reply:?}");
    };
    let record = Record {
        owner: Name::parse("a.example.").unwrap(),
        data: Data::Text(b"one two".to_vec()),
    };
    assert_eq!(answer.records, [record.clone(), record]);
    assert!(answer.authoritative);
}

#[test]
fn what_answers_another_question_is_no_answer() {
    let not_a_response = question().compose(ID);
    let cases = [
        texts(ID + 1, "a.example.", WireRtype::TXT, 1),
        texts(ID, "b.example.", WireRtype::TXT, 1),
        texts(ID, "a.example.", WireRtype::A, 1),
        not_a_response,
        b"what?".to_vec(),
        Vec::new(),
    ];
    for octets in cases {
        assert_eq!(read(&octets), Err(Stranger));
    }
}

#[test]
fn an_answer_that_breaks_off_is_none_and_one_that_says_so_is_to_be_had_elsewhere() {
    let whole = texts(ID, "a.example.", WireRtype::TXT, 1);
    for length in 30..whole.len() {
        assert_eq!(read(&whole[..length]), Ok(Err(Fault::Garbage)), "{length}");
    }
    let mut truncated = whole;
    truncated[2] |= 2;
    assert_eq!(read(&truncated), Ok(Ok(Reply::Truncated)));
}

#[test]
fn a_crowd_of_records_is_not_read() {
    let octets = texts(ID, "a.example.", WireRtype::TXT, RECORDS_MAX);
    assert!(matches!(read(&octets), Ok(Ok(Reply::Whole(_)))));
    let octets = texts(ID, "a.example.", WireRtype::TXT, RECORDS_MAX + 1);
    assert_eq!(read(&octets), Ok(Err(Fault::Crowded(RECORDS_MAX))));
}
