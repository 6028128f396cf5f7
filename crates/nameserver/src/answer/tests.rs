//! Answers as tables: zones in, a query as words, the answer as lines. Filed by RFC.

mod malformed;
mod rfc1034;
mod rfc2181;
mod rfc2308;
mod rfc4592;
mod rfc5936;
mod rfc6672;
mod rfc6891;
mod rfc7871;
mod rfc8020;
mod rfc8482;
mod rfc8906;
mod rfc9471;
mod routing;

use std::fmt::Write as _;
use std::sync::LazyLock;

use dns::{Publication, Version, zonefile};
use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message_builder::MessageBuilder;
use domain::base::wire::ParseError;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt as _};
use domain::base::{Message, Name, ParsedRecord};
use domain::rdata::AllRecordData;

use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::*;

/// What most tests ask: a zone with one of everything, a zone below it that is ours too, and one elsewhere.
const ZONES: &[&str] = &[
    include_str!("tests/example.org.zone"),
    include_str!("tests/child.example.org.zone"),
    include_str!("tests/example.net.zone"),
];

/// The usual zones, read once.
static USUAL: LazyLock<Zones> = LazyLock::new(|| zones(ZONES));

fn zones(texts: &[&str]) -> Zones {
    let publications: Vec<_> = texts
        .iter()
        .map(|text| {
            let reading = zonefile::parse(text, None);
            assert_eq!(reading.problems, []);
            let (zone, serial) = reading.zone.unwrap();
            Publication::Version(Version { zone, serial })
        })
        .collect();
    Zones::new().with(&publications)
}

/// Asks the usual zones. The query is a name and a type, then words: `rd`, `ad`, `cd`, `tcp`, `edns=<payload>`, `do`,
/// `subnet=<address>/<bits>`, or a class. The answer is its code and flags, then its records.
#[track_caller]
fn check(query: &str, expected: &[&str]) {
    check_with(&USUAL, query, expected);
}

/// As `check`, in zones of the test's own.
#[track_caller]
fn check_in(texts: &[&str], query: &str, expected: &[&str]) {
    check_with(&zones(texts), query, expected);
}

#[track_caller]
fn check_with(zones: &Zones, query: &str, expected: &[&str]) {
    let transport = if query.contains(" tcp") {
        Transport::Tcp
    } else {
        Transport::Udp
    };
    let octets = compose(query);
    let answer = ask(&octets, transport, zones).expect("an answer");
    assert!(answer.len() <= 65_535 && (transport == Transport::Tcp || answer.len() <= 1232));
    assert_eq!(show(&answer), expected, "{query}");
    let question = 12..octets.len().min(12 + question_octets(&octets));
    assert_eq!(
        answer[question.clone()],
        octets[question],
        "the question is repeated as it was, letter for letter"
    );
}

fn ask(octets: &[u8], transport: Transport, zones: &Zones) -> Option<Vec<u8>> {
    ask_from("192.0.2.53", octets, transport, zones, &mut NoChance)
}

/// Chance where nothing should be left to it.
struct NoChance;

impl RngCore for NoChance {
    fn next_u32(&mut self) -> u32 {
        panic!("nothing here is drawn by chance")
    }

    fn next_u64(&mut self) -> u64 {
        panic!("nothing here is drawn by chance")
    }

    fn fill_bytes(&mut self, _: &mut [u8]) {
        panic!("nothing here is drawn by chance")
    }
}

fn ask_from(
    address: &str,
    octets: &[u8],
    transport: Transport,
    zones: &Zones,
    chance: &mut dyn RngCore,
) -> Option<Vec<u8>> {
    let mut buffer = b"what was here before".to_vec();
    let client = Client {
        address: address.parse().unwrap(),
        transport,
    };
    let outcome = answer(octets, client, zones, chance, &mut buffer)?;
    let message = Message::from_slice(&buffer).unwrap();
    assert_eq!(outcome.rcode, message.opt_rcode());
    assert_eq!(outcome.truncated, message.header().tc());
    Some(buffer)
}

fn compose(query: &str) -> Vec<u8> {
    let mut words = query.split_whitespace();
    let name: Name<Vec<u8>> = words.next().unwrap().parse().unwrap();
    let rtype: Rtype = words.next().unwrap().parse().unwrap();
    let words: Vec<&str> = words.collect();
    let class = words.iter().find_map(|word| word.parse::<Class>().ok());
    let has = |word: &str| words.contains(&word);
    let mut builder = MessageBuilder::new_vec();
    let header = builder.header_mut();
    header.set_id(0x1234);
    header.set_rd(has("rd"));
    header.set_ad(has("ad"));
    header.set_cd(has("cd"));
    let mut question = builder.question();
    question
        .push((name, rtype, class.unwrap_or(Class::IN)))
        .unwrap();
    let mut additional = question.additional();
    let payload = words.iter().find_map(|word| word.strip_prefix("edns="));
    if let Some(payload) = payload {
        additional
            .opt(|opt| {
                opt.set_udp_payload_size(payload.parse().unwrap());
                opt.set_dnssec_ok(has("do"));
                if let Some(subnet) = words.iter().find_map(|word| word.strip_prefix("subnet=")) {
                    let (address, bits) = subnet.split_once('/').unwrap();
                    opt.client_subnet(bits.parse().unwrap(), 0, address.parse().unwrap())?;
                }
                Ok(())
            })
            .unwrap();
    }
    additional.finish()
}

fn question_octets(query: &[u8]) -> usize {
    let message = Message::from_slice(query).unwrap();
    let mut section = message.question();
    section.next().unwrap().unwrap();
    section.pos() - 12
}

/// An answer as lines: code and flags, then `an`, `au` and `ad` with the records of the sections.
fn show(answer: &[u8]) -> Vec<String> {
    let message = Message::from_slice(answer).unwrap();
    assert_eq!(message.header().id(), 0x1234);
    assert!(message.header().qr());
    let mut lines = vec![first_line(message)];
    let (_, an, au, ad) = message.sections().unwrap();
    for (label, section) in [("an", an), ("au", au), ("ad", ad)] {
        lines.extend(section.filter_map(|record| show_record(label, &record)));
    }
    lines
}

fn first_line(message: &Message<[u8]>) -> String {
    let header = message.header();
    let mut line = message.opt_rcode().to_string();
    let flags = [
        (header.aa(), " aa"),
        (header.tc(), " tc"),
        (header.rd(), " rd"),
        (header.ra(), " ra"),
        (header.z(), " z"),
        (header.ad(), " ad"),
        (header.cd(), " cd"),
    ];
    line.extend(
        flags
            .into_iter()
            .filter_map(|(set, word)| set.then_some(word)),
    );
    if let Some(opt) = message.opt() {
        write!(line, " edns={}", opt.udp_payload_size()).unwrap();
        assert_eq!(opt.version(), 0);
        line.push_str(if opt.dnssec_ok() { " do" } else { "" });
        if let Some(reason) = opt.opt().extended_error() {
            write!(line, " reason={}", reason.code().to_int()).unwrap();
        }
        if let Some(subnet) = opt.opt().client_subnet() {
            let (source, scope) = (subnet.source_prefix_len(), subnet.scope_prefix_len());
            write!(line, " subnet={}/{source}/{scope}", subnet.addr()).unwrap();
        }
    }
    line
}

fn show_record(label: &str, record: &Result<ParsedRecord<'_, [u8]>, ParseError>) -> Option<String> {
    let record = record
        .as_ref()
        .unwrap()
        .to_record::<AllRecordData<_, _>>()
        .unwrap()
        .unwrap();
    if record.rtype() == Rtype::OPT {
        return None;
    }
    let data = record.data().display_zonefile(DisplayKind::Simple);
    let (owner, ttl, rtype) = (record.owner(), record.ttl().as_secs(), record.rtype());
    Some(format!("{label} {owner}. {ttl} {rtype} {data}").replace(" ..", " ."))
}

#[test]
fn rcodes_are_told_with_their_extension() {
    let octets = compose("example.com. A edns=1232");
    let answer = ask(&octets, Transport::Udp, &USUAL).unwrap();
    let rcode = Message::from_slice(&answer).unwrap().opt_rcode();
    assert_eq!(rcode.rcode(), Rcode::REFUSED);
}
