//! Reading with all mistakes, and printing what reads back.

use super::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[track_caller]
fn problems(text: &str, expected: &[&str]) -> Option<(Zone, Serial)> {
    let reading = parse(text, None);
    let shown: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expected);
    reading.zone
}

const HEAD: &str =
    "$ORIGIN example.org.\n$TTL 300\n@ IN SOA ns noc 2026111500 86400 7200 3600000 360\n";

#[test]
fn a_zone_file_with_all_its_liberties_is_read() {
    let text = "\
; a comment
$ORIGIN example.org.
$TTL 300
@   IN SOA ns noc ( 2026111500 ; serial
        86400 7200
        3600000 360 )
    IN NS ns
ns  60 A 192.0.2.1
    AAAA 2001:db8::1
WWW IN 120 CNAME ns
txt TXT \"semi;colon\" \"par(en\" unquoted
$ORIGIN sub.example.org.
a   A 192.0.2.2 ; last line without newline";
    let (zone, serial) = problems(text, &[]).unwrap();
    assert_eq!(serial, Serial(2_026_111_500));
    assert_eq!(
        print(&zone, serial),
        "\
$ORIGIN example.org.
$TTL 300
@ 300 IN SOA ns.example.org. noc.example.org. 2026111500 86400 7200 3600000 360
@ 300 IN NS ns.example.org.
ns 60 IN A 192.0.2.1
ns 300 IN AAAA 2001:db8::1
a.sub 300 IN A 192.0.2.2
txt 300 IN TXT \"semi;colon\" \"par(en\" \"unquoted\"
www 120 IN CNAME ns.example.org.
"
    );
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let text = format!(
        "{HEAD}\
ok  A 192.0.2.1
bad A 300.1.1.1
    AAAA 2001:db8::1
open TXT \"no end
two A 192.0.2.2
paren TXT )
$INCLUDE other.zone
$GENERATE 1-3 a A 1.2.3.$
out.of.zone. A 192.0.2.3
@ CNAME ok
ok CNAME two
ttl 60 A 192.0.2.4
ttl 90 A 192.0.2.5
ch CH TXT x
three A 192.0.2.6
"
    );
    let (zone, _) = problems(
        &text,
        &[
            "line 5: A needs an IPv4 address such as 192.0.2.1: expected IPv4 address: got \"bad A 300.1.1.1\"",
            "line 7: a double quote is not closed on its line: got \"open TXT \\\"no end\"",
            "line 9: a closing parenthesis has no partner: got \"paren TXT )\"",
            "line 10: $INCLUDE is not supported: put everything into one file: got \"$INCLUDE other.zone\"",
            "line 11: $GENERATE is no directive of RFC 1035 or RFC 2308: got \"$GENERATE 1-3 a A 1.2.3.$\"",
            "line 12: out.of.zone. is not in zone example.org.: got \"out.of.zone. 300 IN A 192.0.2.3\"",
            "line 13: example.org. has SOA, so it cannot also have CNAME: a CNAME stands alone (RFC 1034 §3.6.2): got \"example.org. 300 IN CNAME ok.example.org.\"",
            "line 14: ok.example.org. has A, so it cannot also have CNAME: a CNAME stands alone (RFC 1034 §3.6.2): got \"ok.example.org. 300 IN CNAME two.example.org.\"",
            "line 16: TTL 90 is lowered to 60, the lowest of its set: got \"ttl.example.org. 90 IN A 192.0.2.5\"",
            "line 17: class CH is not supported, only IN: got \"ch CH TXT x\"",
        ],
    )
    .unwrap();
    let owners: Vec<String> = zone.sets().map(|(key, _)| key.to_string()).collect();
    assert_eq!(
        owners,
        [
            "bad.example.org. AAAA",
            "ok.example.org. A",
            "three.example.org. A",
            "ttl.example.org. A",
            "two.example.org. A"
        ]
    );
}

/// A record never ends up under a name it was not written under.
#[test]
fn entries_inherit_the_owner_of_a_bad_entry_or_none() {
    let text = format!(
        "{HEAD}good A 192.0.2.1\nbad A 1\n  AAAA 2001:db8::1\nwor..se A 192.0.2.2\n  ; no entry\n\n  AAAA 2001:db8::2\nfine A 192.0.2.3\n"
    );
    let (zone, _) = problems(
        &text,
        &[
            "line 5: A needs an IPv4 address such as 192.0.2.1: expected IPv4 address: got \"bad A 1\"",
            "line 7: a name must not have an empty label (two dots in a row, or a dot at the start): got \"wor..se A 192.0.2.2\"",
            "line 10: there is no owner that it could inherit: got \"AAAA 2001:db8::2\"",
        ],
    )
    .unwrap();
    let keys: Vec<String> = zone.sets().map(|(key, _)| key.to_string()).collect();
    assert_eq!(
        keys,
        [
            "bad.example.org. AAAA",
            "fine.example.org. A",
            "good.example.org. A"
        ]
    );
}

/// A zone file and a manifest mean the same by the same text.
#[test]
fn names_and_data_follow_the_rules_of_manifests() {
    let text = format!("{HEAD}bücher A 192.0.2.1\nmail MX 10 @\nalias CNAME @\n");
    let (zone, serial) = problems(&text, &[]).unwrap();
    assert_eq!(
        print(&zone, serial).lines().skip(3).collect::<Vec<_>>(),
        [
            "alias 300 IN CNAME example.org.",
            "mail 300 IN MX 10 example.org.",
            "xn--bcher-kva 300 IN A 192.0.2.1",
        ]
    );
    let doubled = "the relative name already ends in the zone's name and would become www.example.org.example.org.; \
                   end it with a dot if it is meant as it stands";
    problems(
        &format!("{HEAD}a..b A 192.0.2.1\nb CNAME \"\"\nwww.example.org A 192.0.2.1\n"),
        &[
            "line 4: a name must not have an empty label (two dots in a row, or a dot at the start): got \"a..b A 192.0.2.1\"",
            "line 5: CNAME needs one name such as www.example.org.: a name must not be empty; write \"@\" for the zone itself: got \"b CNAME \\\"\\\"\"",
            &format!("line 6: {doubled}: got \"www.example.org A 192.0.2.1\""),
        ],
    );
}

/// A name that would look as if its final dot was forgotten is printed whole.
#[test]
fn a_name_that_repeats_the_zone_survives_printing() {
    let text = format!("{HEAD}www.example.org.example.org. A 192.0.2.1\n");
    let (zone, serial) = problems(&text, &[]).unwrap();
    let printed = print(&zone, serial);
    assert!(
        printed.contains("\nwww.example.org.example.org. 300 IN A"),
        "{printed}"
    );
    assert_eq!(parse(&printed, None).zone, Some((zone, serial)));
}

#[test]
fn ttls_come_from_the_record_the_directive_or_the_record_before() {
    let text = "\
a.example. 60 IN A 192.0.2.1
b.example. IN A 192.0.2.1
$TTL 1h
c.example. A 192.0.2.1
d.example. IN 30s A 192.0.2.1
e.example. A 192.0.2.1
";
    let (read, found) = records(text, None);
    assert_eq!(found, []);
    let ttls: Vec<u32> = read.iter().map(|record| record.ttl.as_secs()).collect();
    assert_eq!(ttls, [60, 60, 3_600, 30, 3_600]);
    let (_, found) = records(
        "a.example. IN A 192.0.2.1\nb A 192.0.2.1\n  A 192.0.2.1\n",
        None,
    );
    let messages: Vec<&str> = found
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "it has no TTL: write one, or a $TTL line above",
            "a relative name needs an $ORIGIN line above",
            "there is no owner that it could inherit",
        ]
    );
}

#[test]
fn a_file_without_a_usable_soa_is_no_zone() {
    assert!(
        problems(
            "$ORIGIN example.org.\n@ 60 IN A 192.0.2.1\n",
            &["the zone has no SOA record"]
        )
        .is_none()
    );
    let reading = parse(HEAD, Some(&name("example.com.")));
    assert!(reading.zone.is_none());
    assert!(
        reading.problems[0]
            .to_string()
            .starts_with("line 3: the SOA belongs to the zone itself, example.com.")
    );
}

#[test]
fn a_minimum_that_is_no_ttl_is_told() {
    let text = "example.org. 60 IN SOA ns noc 1 2 3 4 4294967295\n";
    let (zone, _) = problems(
        text,
        &["line 1: the SOA's minimum is no TTL, 2147483647 is used instead: got \"example.org. 60 IN SOA ns.example.org. noc.example.org. 1 2 3 4 4294967295\""],
    )
    .unwrap();
    assert_eq!(zone.soa().minimum, Ttl::MAX);
}

#[test]
fn the_timers_of_an_soa_may_be_written_with_units() {
    let text = "example.org. 60 IN SOA ns noc (1\n 4h 1h30m ; refresh, retry\n 2W 300)\n";
    let (zone, serial) = problems(text, &[]).unwrap();
    let printed = print(&zone, serial);
    let soa = "@ 60 IN SOA ns.example.org. noc.example.org. 1 14400 5400 1209600 300\n";
    assert!(printed.ends_with(soa), "{printed}");
    let text = "example.org. 60 IN SOA ns noc 1h 2 3 4 5\n";
    let serial = parse(text, None);
    assert!(serial.zone.is_none(), "a serial is no time");
    let text = "example.org. 60 IN SOA ns noc 1 2 3 4 5x\n";
    assert!(parse(text, None).zone.is_none());
}

#[test]
fn an_soa_in_generic_form_has_no_timers_to_convert() {
    let text = r"example.org. 60 IN SOA \# 22 00 00 00 1d 00 2d 0000000200000003 0000000400000005";
    let (zone, serial) = problems(text, &[]).unwrap();
    assert_eq!(serial, Serial(0x1d_002d));
    assert_eq!(zone.soa().refresh, 2);
}

#[test]
fn a_transfer_may_be_read_that_ends_as_it_began() {
    let soa = "example.org. 60 IN SOA ns noc 1 2 3 4 5\n";
    let text = format!("{soa}www.example.org. 60 IN A 192.0.2.1\n{soa}");
    let (zone, _) = problems(&text, &[]).unwrap();
    assert_eq!(zone.record_count(), 1);
}

#[test]
fn a_second_soa_is_refused_and_the_first_stands() {
    let text = format!("{HEAD}@ IN SOA ns noc 7 1 1 1 1\n");
    let (_, serial) = problems(
        &text,
        &["line 4: a zone has one SOA record, this is another: got \"example.org. 300 IN SOA ns.example.org. noc.example.org. 7 1 1 1 1\""],
    )
    .unwrap();
    assert_eq!(serial, Serial(2_026_111_500));
}

/// S2, R2: whatever the data holds, a printed record is one line that reads
/// back as the same record.
#[test]
fn data_cannot_leave_its_line() {
    let hostile: [&[u8]; 6] = [
        b"\n@ 1 IN A 6.6.6.6\n",
        b"\"\n$INCLUDE /etc/passwd\n\"",
        b"\\",
        b") ; (",
        b"\0\r\x7f\xff",
        b"\" \" \"",
    ];
    for octets in hostile {
        let mut wire = vec![u8::try_from(octets.len()).unwrap()];
        wire.extend_from_slice(octets);
        one_line_both_ways(
            &name("a.example.org."),
            &Rdata::from_wire(Rtype::TXT, &wire).unwrap(),
        );
        wire.push(0);
        let hostile_name = Name::from_wire(&wire).unwrap();
        one_line_both_ways(
            &hostile_name,
            &Rdata::from_wire(Rtype::A, &[192, 0, 2, 1]).unwrap(),
        );
        one_line_both_ways(
            &name("a.example.org."),
            &Rdata::from_wire(Rtype::CNAME, &wire).unwrap(),
        );
        one_line_both_ways(
            &name("a.example.org."),
            &Rdata::from_wire(Rtype::from_int(65_280), &wire).unwrap(),
        );
    }
}

#[track_caller]
fn one_line_both_ways(owner: &Name, data: &Rdata) {
    let line = print_record(owner, Ttl::ZERO, data);
    assert_eq!(line.matches('\n').count(), 1, "{line:?}");
    let (records, problems) = records(&line, None);
    assert_eq!(problems, []);
    assert_eq!(
        records,
        [FileRecord {
            line: 1,
            name: owner.clone(),
            ttl: Ttl::ZERO,
            data: data.clone()
        }]
    );
}

#[test]
fn utf_8_in_strings_is_kept() {
    let (records, problems) = records("a.example. 60 IN TXT \"grüße\"\n", None);
    assert_eq!(problems, []);
    assert_eq!(records[0].data.as_wire(), b"\x07gr\xc3\xbc\xc3\x9fe");
}

#[test]
fn a_ttl_beyond_the_bound_is_refused() {
    let (records, problems) = records(
        "a.example. 2147483648 IN A 192.0.2.1\na.example. 4294967296 IN A 192.0.2.1\n",
        None,
    );
    assert_eq!(records, []);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].to_string().contains("from 0 to 2147483647"),
        "{problems:?}"
    );
}
