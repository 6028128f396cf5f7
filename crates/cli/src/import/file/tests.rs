//! What counts in a zone file, and what is said about the rest.

use jiff::civil::date;

use dns::SetKey;

use super::*;

const HEAD: &str =
    "$ORIGIN example.org.\n$TTL 60\n@ SOA ns noc 1 2 3 4 5\n@ NS ns\nns A 192.0.2.53\n";
const TODAY: Date = date(2026, 11, 16);

fn read(tail: &str) -> ZoneFile {
    let (file, problems) = ZoneFile::read(&format!("{HEAD}{tail}"), None);
    assert_eq!(problems, []);
    file.unwrap()
}

fn problems(text: &str) -> Vec<LineProblem> {
    ZoneFile::read(text, None).1
}

fn notes(file: &ZoneFile) -> Vec<String> {
    file.notes(TODAY).iter().map(ToString::to_string).collect()
}

#[test]
fn lines_are_remembered() {
    let file = read("\nwww A ( 192.0.2.1 )\n    A 192.0.2.2\n");
    let name = Name::parse("www.example.org.").unwrap();
    let set = file.zone.get(&SetKey::new(name.clone(), Rtype::A)).unwrap();
    let lines: Vec<usize> = set
        .data()
        .iter()
        .map(|data| file.line(&name, data))
        .collect();
    assert_eq!((file.soa_line(), lines), (3, vec![7, 8]));
}

#[test]
fn signatures_are_left_out_with_a_reason() {
    let signature = |covered: &str, ttl: u32| {
        format!(
            "www {ttl} RRSIG {covered} 13 3 {ttl} 20271101000000 20261101000000 1 example.org. AAAA\n"
        )
    };
    // Signatures of two types have two TTLs: they are no set, and nothing is wrong with that.
    let file = read(&format!(
        "www 60 A 192.0.2.1\nwww 300 TXT a\n{}{}www NSEC example.org. A TXT\n",
        signature("A", 60),
        signature("TXT", 300)
    ));
    assert_eq!(file.zone.len(), 4);
    assert_eq!(
        notes(&file),
        [
            "note: left out 2 RRSIG, 1 NSEC: they sign this one version of the zone and would be wrong about the next; \
             whoever serves the zone signs it anew"
        ]
    );
}

#[test]
fn a_broken_signature_is_a_mistake_like_any_other() {
    let problems = problems(&format!("{HEAD}www RRSIG nonsense\n"));
    assert_eq!(
        problems
            .iter()
            .map(|problem| problem.line)
            .collect::<Vec<_>>(),
        [6]
    );
}

/// A transfer ends with the SOA that it began with.
#[test]
fn the_soa_at_the_end_of_a_transfer_is_no_mistake() {
    assert_eq!(read("@ SOA ns noc 1 2 3 4 5\n").zone, read("").zone);
    for other in [
        "@ SOA ns noc 2 2 3 4 5",
        "@ 61 SOA ns noc 1 2 3 4 5",
        "www SOA ns noc 1 2 3 4 5",
    ] {
        let problems = problems(&format!("{HEAD}{other}\n"));
        assert_eq!(problems[0].line, 6, "{other}");
    }
}

#[test]
fn a_file_that_does_not_say_what_the_zone_is_called_needs_to_be_told() {
    let text = "$TTL 60\n@ SOA ns noc 1 2 3 4 5\nwww A 192.0.2.1\n";
    let found = problems(text);
    let last = &found.last().unwrap().message;
    assert!(last.ends_with("give it with --origin"), "{found:?}");
    let origin = Name::parse("example.org.").unwrap();
    assert_eq!(
        ZoneFile::read(text, Some(&origin)).0.unwrap().zone.origin(),
        &origin
    );
    let problems = problems("$ORIGIN example.org.\nwww 60 A nonsense\n");
    assert!(
        !problems
            .iter()
            .any(|problem| problem.message.contains("--origin")),
        "{problems:?}"
    );
}

#[test]
fn what_would_be_answered_badly_is_told_with_its_line() {
    let file = read("mail MX 10 alias\nalias CNAME ns\n");
    assert_eq!(
        notes(&file),
        [
            "warning: line 6: mail.example.org. MX: points at alias.example.org., which is a CNAME: MX needs a name with \
             addresses (RFC 2181 §10.3)"
        ]
    );
    let many = (0..30).map(|number| format!("m{number} MX 10 nobody"));
    let notes = notes(&read(&many.collect::<Vec<_>>().join("\n")));
    assert_eq!(
        (notes.len(), notes.last().unwrap().as_str()),
        (NOTES_MAX + 1, "warning: and 10 more of this kind")
    );
}

/// Z7.
#[test]
fn a_serial_ahead_of_the_calendar_is_told() {
    let with_serial = |serial: u32| {
        let text = HEAD.replace("noc 1 2", &format!("noc {serial} 2"));
        notes(&ZoneFile::read(&text, None).0.unwrap())
    };
    for behind in [0, 1, 2_026_111_599, u32::MAX] {
        assert_eq!(with_serial(behind), Vec::<String>::new(), "{behind}");
    }
    for ahead in [2_026_111_600, 2_026_111_601, 4_000_000_000] {
        let notes = with_serial(ahead);
        assert!(
            notes[0].starts_with(&format!("note: the serial {ahead} is not taken over")),
            "{notes:?}"
        );
    }
}
