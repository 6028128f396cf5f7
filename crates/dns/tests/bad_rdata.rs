//! Bad record data by table, each beside look-alikes that are fine: R5, G16, G17,
//! G23 to G29 and G32. What is wrong only in a zone is in `bad_zones.rs`.

use dns::{Name, RdataText, Rtype};
use zonewright_dns as dns;

const ORIGIN: &str = "example.org.";

/// Data of one type in the zone `example.org.`: texts with the rule they break,
/// and texts with their canonical form.
#[track_caller]
fn check(rtype: Rtype, refused: &[(&str, &str)], accepted: &[(&str, &str)]) {
    assert!(refused.len() >= 3 && accepted.len() >= 2, "too few rows");
    for (text, rule) in refused {
        assert_eq!(
            data(rtype, text),
            Err((*rule).to_owned()),
            "{rtype} {text:?}"
        );
    }
    for (text, canonical) in accepted {
        assert_eq!(
            data(rtype, text),
            Ok((*canonical).to_owned()),
            "{rtype} {text:?}"
        );
    }
}

fn data(rtype: Rtype, text: &str) -> Result<String, String> {
    let data = RdataText::parse(rtype, text).and_then(|text| text.resolve(&name(ORIGIN)));
    data.map(|data| data.to_string())
        .map_err(|err| err.to_string())
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("test names are well-formed")
}

/// `<type> needs <form>: <why>`.
fn needs(rtype: Rtype, form: &str) -> impl Fn(&str) -> String {
    move |why| format!("{rtype} needs {form}: {why}")
}

/// G16: IPv6, leading zeros, numbers over 255, ranges.
#[test]
fn an_a_record_holds_one_ipv4_address() {
    let needs = needs(Rtype::A, "an IPv4 address such as 192.0.2.1");
    let (no_address, missing, more) = (
        needs("expected IPv4 address"),
        needs("something is missing"),
        needs("there is more than that"),
    );
    check(
        Rtype::A,
        &[
            ("2001:db8::1", &no_address),
            ("192.0.2.01", &no_address),
            ("192.0.2.256", &no_address),
            ("192.0.2.0/24", &no_address),
            ("192.0.2", &no_address),
            ("0xc0000201", &no_address),
            ("www.example.org.", &no_address),
            ("192.0.2.1:80", &no_address),
            ("", &missing),
            ("192.0.2.1 192.0.2.2", &more),
            ("192.0.2.1, 192.0.2.2", &no_address),
            (
                "１92.0.2.1",
                "'１' is not ASCII, which only names and strings may hold",
            ),
            (
                "192.0.2.1 ; web",
                "an unquoted \";\" would start a comment: put the text in double quotes",
            ),
            (r"\# 3 c00002", "not A data: unexpected end of input"),
            (r"\# 5 c000020100", "not A data: 1 octets too many"),
        ],
        &[
            ("192.0.2.1", "192.0.2.1"),
            ("0.0.0.0", "0.0.0.0"),
            ("255.255.255.255", "255.255.255.255"),
            ("( 192.0.2.1 )", "192.0.2.1"),
            (r"\# 4 C0000201", "192.0.2.1"),
        ],
    );
}

/// G17: zone identifiers, IPv4 in disguise, ranges.
#[test]
fn an_aaaa_record_holds_one_ipv6_address() {
    let no_address =
        needs(Rtype::AAAA, "an IPv6 address such as 2001:db8::1")("expected IPv6 address");
    let mapped = "an IPv4-mapped address belongs into an A record";
    check(
        Rtype::AAAA,
        &[
            ("fe80::1%eth0", &no_address),
            ("2001:db8::1/64", &no_address),
            ("[2001:db8::1]", &no_address),
            ("192.0.2.1", &no_address),
            ("2001:db8:::1", &no_address),
            ("2001:db8::12345", &no_address),
            ("::ffff:192.0.2.1", mapped),
            ("::FFFF:c000:201", mapped),
            (r"\# 16 00000000000000000000ffffc0000201", mapped),
        ],
        &[
            ("2001:DB8:0:0::1", "2001:db8::1"),
            ("fe80::1", "fe80::1"),
            ("::1", "::1"),
            // NAT64 and SIIT addresses end in an IPv4 address too, but lead somewhere.
            ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
            ("::ffff:0:192.0.2.1", "::ffff:0:c000:201"),
        ],
    );
}

/// G23: an address in place of a name server's name, or a name that no host has.
#[test]
fn a_name_server_is_a_host() {
    let address = "NS points at a name, not at an address";
    let host = "NS must point at a host name: letters, digits and hyphens";
    check(
        Rtype::NS,
        &[
            ("192.0.2.1", address),
            ("192.0.2.1.", address),
            ("2001:db8::1", address),
            ("192.0.2.256.", address),
            (".", "NS must name a server, not the root"),
            ("ns_1", host),
            ("_ns.example.net.", host),
            ("*", host),
        ],
        &[
            ("ns1", "ns1.example.org."),
            ("@", "example.org."),
            ("192-0-2-1.example.net.", "192-0-2-1.example.net."),
            ("192.0.2.1.sslip.io.", "192.0.2.1.sslip.io."),
            ("ns.1.example.net.", "ns.1.example.net."),
        ],
    );
}

/// G24: an address in place of a mail server's or a service's name.
#[test]
fn a_mail_server_or_service_is_a_host() {
    let needs = needs(
        Rtype::MX,
        "<preference> <mail server> such as 10 mail.example.org.",
    );
    let address = |rtype: &str| format!("{rtype} points at a name, not at an address");
    let host =
        |rtype: &str| format!("{rtype} must point at a host name: letters, digits and hyphens");
    check(
        Rtype::MX,
        &[
            ("10 192.0.2.1", &address("MX")),
            ("10 192.0.2.1.", &address("MX")),
            ("10 2001:db8::1", &address("MX")),
            ("10 mail_1", &host("MX")),
            ("10 *", &host("MX")),
            ("mail", &needs("expected decimal number")),
            ("-1 mail", &needs("expected decimal number")),
            ("65536 mail", &needs("a number is too large")),
            ("10", &needs("something is missing")),
            ("10 a b", &needs("there is more than that")),
            (
                "10 \"\"",
                &needs("a name must not be empty; write \"@\" for the zone itself"),
            ),
            (
                "10 a..b",
                &needs(
                    "a name must not have an empty label (two dots in a row, or a dot at the start)",
                ),
            ),
            (
                "10 mail.example.org",
                &needs(
                    "the relative name already ends in the zone's name and would become \
                        mail.example.org.example.org.; end it with a dot if it is meant as it stands",
                ),
            ),
        ],
        &[
            ("10 mail", "10 mail.example.org."),
            ("010 @", "10 example.org."),
            ("0 .", "0 ."),
            ("10 10.0.0.1.nip.io.", "10 10.0.0.1.nip.io."),
            ("10 Bücher.example.", "10 xn--bcher-kva.example."),
        ],
    );
    check(
        Rtype::SRV,
        &[
            ("0 0 443 192.0.2.1", &address("SRV")),
            ("0 0 443 ::1", &address("SRV")),
            ("0 0 443 _sip._tcp", &host("SRV")),
        ],
        &[
            ("0 0 443 sip", "0 0 443 sip.example.org."),
            ("0 0 0 .", "0 0 0 ."),
        ],
    );
}

/// G25: text that is too long, not closed, or would become something else in a zone file.
#[test]
fn text_stays_text() {
    let needs = needs(
        Rtype::TXT,
        "one or more strings of at most 255 octets such as \"v=spf1 -all\"",
    );
    let control = |shown: &str| {
        format!(r"control character {shown} is not allowed; inside quotes write it as \DDD")
    };
    let escape =
        needs("a backslash is followed by neither one ASCII character nor three digits up to 255");
    let words = "text must be one word, or in double quotes with a quote inside it as \\\": \
                 words beside one another are joined without a space";
    let comment = "an unquoted \";\" would start a comment: put the text in double quotes";
    let (x255, x256) = ("x".repeat(255), "x".repeat(256));
    let chunks = |count: usize| [&*format!("\"{x255}\"")].repeat(count).join(" ");
    let umlauts = "é".repeat(128);
    check(
        Rtype::TXT,
        &[
            (&x256, &needs("a string has more than 255 octets")),
            (
                &format!("\"{x256}\""),
                &needs("a string has more than 255 octets"),
            ),
            (
                &format!("\"{umlauts}\""),
                &needs("a string has more than 255 octets"),
            ),
            (&chunks(256), &needs("it has more than 65535 octets")),
            ("", &needs("something is missing")),
            ("()", &needs("something is missing")),
            (r"\# 0", "not TXT data: it has no string"),
            (r"\# 3 036869", "not TXT data: unexpected end of input"),
            ("\"open", "a double quote is not closed"),
            ("in\"side", "a double quote is not closed"),
            ("\"escaped\\\"", "a double quote is not closed"),
            (r"end\", "a backslash at the end escapes nothing"),
            (r#""\256""#, &escape),
            (r#""\25""#, &escape),
            ("bell\u{7}", &control(r"'\u{7}'")),
            ("\"nul\0\"", &control(r"'\0'")),
            ("\"tab\t\"", &control(r"'\t'")),
            ("next\u{85}line", &control(r"'\u{85}'")),
            ("a\nevil.example.org. A 192.0.2.1", &control(r"'\n'")),
            ("\"a\n$INCLUDE /etc/passwd\"", &control(r"'\n'")),
            ("a\\\n$INCLUDE /etc/passwd", &control(r"'\n'")),
            ("\"a\r\nb\"", &control(r"'\r'")),
            ("a )", "parentheses do not match"),
            ("( a", "parentheses do not match"),
            ("v=DMARC1; p=none", comment),
            ("a ; b", comment),
            ("two words", words),
            ("\"one\" two", words),
            ("k=\"v\"", words),
        ],
        &[
            ("word", r#""word""#),
            (r#""two words""#, r#""two words""#),
            (r#""""#, r#""""#),
            (r#""a" "b""#, r#""a" "b""#),
            (&x255, &format!("\"{x255}\"")),
            (&chunks(255), &chunks(255)),
            (r#""k=\"v\"""#, r#""k=\"v\"""#),
            (r#""v=DMARC1; p=none""#, r#""v=DMARC1; p=none""#),
            (r"a\;b", r#""a;b""#),
            (r#""\000\010\255""#, r#""\000\010\255""#),
            (r#""back\\""#, r#""back\\""#),
            ("\"caf\u{e9}\"", r#""caf\195\169""#),
            (r"\é", r#""\195\169""#),
            ("$INCLUDE", r#""$INCLUDE""#),
            (r#"") $ORIGIN evil.""#, r#"") $ORIGIN evil.""#),
            ("@", r#""@""#),
            (r"\# 3 026869", r#""hi""#),
        ],
    );
}

/// G26: flags and tags of CAA.
#[test]
fn a_caa_record_has_a_known_flag_and_a_plain_tag() {
    let needs = needs(
        Rtype::CAA,
        "<flags> <tag> <value> such as 0 issue \"ca.example.net\"",
    );
    let flags = |flags| format!("CAA flags are 0 or 128 (critical), not {flags}");
    check(
        Rtype::CAA,
        &[
            ("1 issue ca.example.net", &flags(1)),
            ("64 issue ca.example.net", &flags(64)),
            ("255 issue ca.example.net", &flags(255)),
            ("256 issue ca.example.net", &needs("a number is too large")),
            ("-1 issue ca.example.net", &needs("expected decimal number")),
            ("issue ca.example.net", &needs("expected decimal number")),
            (
                "0 is-sue ca.example.net",
                &needs("CAA tag contains invalid character"),
            ),
            (
                "0 issüe ca.example.net",
                &needs("CAA tag contains invalid character"),
            ),
            (
                "0 \"\" ca.example.net",
                "a CAA tag must not be empty; common ones are issue, issuewild, iodef",
            ),
            (
                &format!("0 {} x", "x".repeat(256)),
                &needs("a string has more than 255 octets"),
            ),
            ("0 issue", &needs("something is missing")),
            ("0 issue a b", &needs("there is more than that")),
            (
                "0 issue ;",
                "an unquoted \";\" would start a comment: put the text in double quotes",
            ),
        ],
        &[
            ("0 issue ca.example.net", r#"0 issue "ca.example.net""#),
            (r#"0 issue ";""#, r#"0 issue ";""#),
            (r#"0 issue """#, r#"0 issue """#),
            (
                r#"128 iodef "mailto:a@example.org""#,
                r#"128 iodef "mailto:a@example.org""#,
            ),
            (
                r#"0 issue "ca.example.net; account=1""#,
                r#"0 issue "ca.example.net; account=1""#,
            ),
            ("0 tbs Unknown", r#"0 tbs "Unknown""#),
        ],
    );
}

/// G27: parameters of services that are there twice, missing, or beside an alias.
#[test]
fn a_service_has_each_parameter_once() {
    let needs = needs(
        Rtype::HTTPS,
        "<priority> <target> [<key>=<value>]… such as 1 . alpn=h2",
    );
    check(
        Rtype::HTTPS,
        &[
            ("1 . alpn=h2 alpn=h3", &needs("duplicate SvcParamKey")),
            ("1 . key667=a key667=b", &needs("duplicate SvcParamKey")),
            (
                r"\# 15 0001 00 0001 0002 0168 0001 0002 0168",
                "not HTTPS data: unordered SVCB params",
            ),
            (
                r"\# 16 0001 00 0003 0002 01bb 0001 0003 026832",
                "not HTTPS data: unordered SVCB params",
            ),
            (
                "0 www alpn=h2",
                "priority 0 makes it an alias, which has no parameters",
            ),
            (
                "0 . key667",
                "priority 0 makes it an alias, which has no parameters",
            ),
            (
                "1 . mandatory=port",
                &needs("all SvcParamKeys listed in mandatory MUST appear in SvcParams"),
            ),
            (
                "1 . mandatory=mandatory",
                &needs("the key 'mandatory' MUST NOT appear in the mandatory keys list"),
            ),
            (
                "1 . mandatory=port,port port=1",
                &needs("mandatory contains duplicate keys"),
            ),
            (
                r"\# 9 0001 00 0000 0002 0003",
                "port is mandatory, but not there",
            ),
            ("1 . alpn", &needs("expected at least one alpn-id value")),
            ("1 . alpn=h2,,h3", "alpn lists a protocol without a name"),
            (
                r#"1 . alpn="f\\\\oo\\,bar""#,
                &needs("this implementation does not allow escape sequences in alpn"),
            ),
            (
                "1 . port=http",
                &needs("port value must be a 16-bit unsigned decimal number"),
            ),
            (
                "1 . port=65536",
                &needs("port value must be a 16-bit unsigned decimal number"),
            ),
            ("1 . port=0", "nothing can be reached at port 0"),
            (
                r"\# 8 0001 00 0003 0001 50",
                "port has a value of the wrong form",
            ),
            (
                "1 . ipv4hint=2001:db8::1",
                &needs("invalid ipv4 in ipv4hint param"),
            ),
            (
                "1 . no-default-alpn=1",
                &needs("no-default-alpn takes no values"),
            ),
            ("1 . colour=red", &needs("unknown SvcParamKey")),
            (r"1 . key1=\002h2", "write alpn in place of key1"),
            (
                "1 . key999=x",
                &needs(
                    "a key with other characters than a to y, 0 to 8 and hyphens needs the generic form",
                ),
            ),
            ("1 192.0.2.1", "HTTPS points at a name, not at an address"),
            (". 1", &needs("expected decimal number")),
            ("1", &needs("something is missing")),
        ],
        &[
            ("1 . port=8443 alpn=h2", "1 . alpn=h2 port=8443"),
            (
                "1 . mandatory=port,alpn alpn=h2 port=1",
                "1 . mandatory=alpn,port alpn=h2 port=1",
            ),
            (
                r#"1 . alpn="h2,h3" no-default-alpn"#,
                "1 . alpn=h2,h3 no-default-alpn",
            ),
            ("0 www", "0 www.example.org."),
            ("0 .", "0 ."),
            ("1 _8443._https.www", "1 _8443._https.www.example.org."),
            (
                r#"16 key1 key667="hello\210qoo""#,
                r"16 key1.example.org. key667=hello\210qoo",
            ),
            (r"\# 7 0001 00 ff09 0000", r"\# 7 00 01 00 ff 09 00 00"),
        ],
    );
}

/// G28: ports that are none.
#[test]
fn a_service_has_a_port() {
    let needs = needs(
        Rtype::SRV,
        "<priority> <weight> <port> <target> such as 0 5 5060 sip.example.org.",
    );
    let port = "port 0 is only right for a service that is not offered, with target \".\"";
    check(
        Rtype::SRV,
        &[
            ("0 5 65536 sip", &needs("a number is too large")),
            ("0 5 -1 sip", &needs("expected decimal number")),
            ("0 5 sip sip", &needs("expected decimal number")),
            ("65536 5 5060 sip", &needs("a number is too large")),
            ("0 5060 sip", &needs("expected decimal number")),
            ("0 5 0 sip", port),
            ("0 5 0 @", port),
        ],
        &[
            ("0 5 65535 sip", "0 5 65535 sip.example.org."),
            ("0 5 1 sip", "0 5 1 sip.example.org."),
            ("0 5 5060 @", "0 5 5060 example.org."),
            ("0 0 0 .", "0 0 0 ."),
        ],
    );
    let generic = r"URI data is written in the generic form of RFC 3597, \# <length> <hex>";
    check(
        Rtype::URI,
        &[
            (r#"10 1 "https://example.org:65536/""#, generic),
            (r#"10 65536 "https://example.org/""#, generic),
            ("https://example.org/", generic),
        ],
        &[
            (r"\# 7 000a 0001 613a2f", r"\# 7 00 0a 00 01 61 3a 2f"),
            (r"\# 5 000a 0001 61", r"\# 5 00 0a 00 01 61"),
        ],
    );
}

/// G29: digests of another length than their type's.
#[test]
fn a_digest_has_the_length_of_its_type() {
    let hex = |octets: usize| "AB".repeat(octets);
    let wrong = |what: &str, right: usize, octets: usize| {
        format!("{what} of this type has {right} octets, not {octets}")
    };
    let rows = [
        (
            Rtype::DS,
            "1 13",
            "the DS digest",
            &[(1, 20), (2, 32), (4, 48)][..],
        ),
        (
            Rtype::CDS,
            "1 13",
            "the CDS digest",
            &[(1, 20), (2, 32), (4, 48)],
        ),
        (
            Rtype::TLSA,
            "3 1",
            "the TLSA certificate association",
            &[(1, 32), (2, 64)],
        ),
        (
            Rtype::SSHFP,
            "4",
            "the SSHFP fingerprint",
            &[(1, 20), (2, 32)],
        ),
    ];
    for (rtype, front, what, digests) in rows {
        for (kind, right) in digests {
            let text = |octets: usize| {
                format!("{front} {kind} {}", hex(octets))
                    .trim_end()
                    .to_owned()
            };
            check(
                rtype,
                &[
                    (&text(right - 1), &wrong(what, *right, right - 1)),
                    (&text(right + 1), &wrong(what, *right, right + 1)),
                    (&text(0), &wrong(what, *right, 0)),
                ],
                &[
                    (&text(*right), &text(*right)),
                    (&text(*right).to_lowercase(), &text(*right)),
                ],
            );
        }
    }
    let needs = needs(
        Rtype::DS,
        "<key tag> <algorithm> <digest type> <hex> such as 60485 13 2 d4b7…",
    );
    check(
        Rtype::DS,
        &[
            ("1 13 1 abc", &needs("uneven number of hex digits")),
            ("1 13 1 xyz", &needs("expected hex digits")),
            ("1 13 99", "the DS digest must not be empty"),
            ("1 13", &needs("something is missing")),
            ("65536 13 1 ab", &needs("a number is too large")),
        ],
        // A digest type that nobody knows yet, and the CDS that asks for a DS to be removed.
        &[("1 13 99 ab", "1 13 99 AB"), ("0 0 0 00", "0 0 0 00")],
    );
}

/// G29: keys that are empty or no Base 64.
#[test]
fn a_key_is_not_empty() {
    let needs = needs(
        Rtype::DNSKEY,
        "<flags> 3 <algorithm> <base64> such as 257 3 13 mdsswUyr…",
    );
    check(
        Rtype::DNSKEY,
        &[
            ("257 3 13", "the DNSKEY must not be empty"),
            ("257 3 13 A", &needs("incomplete Base 64 data")),
            ("257 3 13 *", &needs("illegal Base 64 data")),
            ("257 3", &needs("something is missing")),
        ],
        &[
            ("257 3 13 AQ ID", "257 3 13 AQID"),
            ("256 3 253 AA==", "256 3 253 AA=="),
        ],
    );
    let empty = |rtype, text| data(rtype, text).unwrap_err();
    assert_eq!(
        empty(Rtype::CDNSKEY, "0 3 0"),
        "the CDNSKEY must not be empty"
    );
    assert_eq!(
        empty(Rtype::OPENPGPKEY, ""),
        "the OpenPGP key must not be empty"
    );
}

/// G32: the generic form with a length that is not the data's.
#[test]
fn generic_data_has_the_length_it_says() {
    let unknown = Rtype::from_int(65_280);
    let needs = needs(
        unknown,
        r"\# <length in octets> <hex> in the generic form of RFC 3597",
    );
    let length = needs("the length is not that of the data");
    let only = r"TYPE65280 data is written in the generic form of RFC 3597, \# <length> <hex>";
    check(
        unknown,
        &[
            (r"\# 3 abcd", &length),
            (r"\# 1 abcd", &length),
            (r"\# 0 ab", &length),
            (r"\# 2", &length),
            (r"\# 2 abc", &needs("uneven number of hex digits")),
            (r"\# 2 abxy", &needs("expected hex digits")),
            (r"\# 65536 00", &needs("a number is too large")),
            (r"\# -1 00", &needs("expected decimal number")),
            (r"\# ab", &needs("expected decimal number")),
            (r"\#", &needs("something is missing")),
            ("abcd", only),
            ("# 2 abcd", only),
            (r"\#2 abcd", only),
            ("\"\\\\# 2 abcd\"", only),
        ],
        &[
            (r"\# 2 abcd", r"\# 2 ab cd"),
            (r"\# 2 AB cd", r"\# 2 ab cd"),
            (r"\# 0", r"\# 0"),
        ],
    );
}
