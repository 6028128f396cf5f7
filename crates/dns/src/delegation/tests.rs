//! Both dialects by table, and any pattern against a brute-force oracle.

use proptest::prelude::*;

use super::*;

const ZONE: &str = "example.org.";

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[track_caller]
fn check(pattern: &str, host: &str, expected: bool) {
    let full = match host {
        "@" => ZONE.to_owned(),
        _ => format!("{host}.{ZONE}"),
    };
    let matches = pattern
        .parse::<Pattern>()
        .unwrap()
        .matches(&name(&full), &name(ZONE));
    assert_eq!(matches, expected, "pattern {pattern:?}, name {full}");
}

/// Z12: the dialect in which patterns are relative to the zone.
#[test]
fn relative_patterns_mean_names_below_the_zone() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("*", &["www", "a.b.c", "*", "*.dev"], &["@"]),
        ("*.dev", &["www.dev", "a.b.dev"], &["dev", "www", "@"]),
        ("sub", &["sub"], &["x.sub", "@", "subb"]),
        (
            "dev*",
            &["dev", "dev-1", "dev-hello"],
            &["de", "www.dev-1", "xdev"],
        ),
        ("*-dev", &["a-dev"], &["-dev.x", "a.b-dev", "dev"]),
        ("*.*", &["a.b", "a.b.c"], &["www", "@"]),
        (
            "*.env-*",
            &["www.env-dev", "a.b.env-x"],
            &["www.other", "env-x"],
        ),
        ("good.", &["good"], &["bad"]),
        ("GOOD", &["good"], &["bad"]),
        ("w*", &["www", "w"], &["*"]),
        ("www", &["www"], &["*"]),
        ("_acme-challenge", &["_acme-challenge"], &["acme-challenge"]),
        ("xn--bcher-kva", &["xn--bcher-kva"], &["bcher"]),
        ("bücher", &["xn--bcher-kva"], &["bcher"]),
    ];
    for (pattern, yes, no) in rows {
        yes.iter().for_each(|host| check(pattern, host, true));
        no.iter().for_each(|host| check(pattern, host, false));
    }
}

/// Z12: the dialect in which patterns are absolute, and `@` is the zone.
#[test]
fn absolute_patterns_mean_the_names_they_spell() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("www.example.org", &["www"], &["@", "x.www"]),
        ("www.example.org.", &["www"], &["@"]),
        ("*.example.org", &["www", "www.test"], &["@"]),
        ("*.example.org.", &["www", "www.test"], &["@"]),
        ("env-*.example.org", &["env-dev"], &["www.env-dev"]),
        ("*.env-*.example.org", &["www.env-dev"], &["env-dev"]),
        ("example.org", &["@"], &["www"]),
        ("example.org.", &["@"], &["www"]),
        (
            "www.*.example.org",
            &["www.test"],
            &["www.subdomain.test", "test"],
        ),
        ("@", &["@"], &["www"]),
        ("ns1.@", &["ns1"], &["@", "ns2"]),
        ("*.@", &["www", "a.b"], &["@"]),
        ("@.", &["@"], &["www"]),
        // Not the zone's own labels: relative, and nothing else.
        ("www.example.com.", &["www.example.com"], &["www"]),
        // A relative reading always stands beside the absolute one.
        ("www.example.org", &["www.example.org"], &[]),
        ("www.example.org.@", &["www.example.org"], &["www"]),
    ];
    for (pattern, yes, no) in rows {
        yes.iter().for_each(|host| check(pattern, host, true));
        no.iter().for_each(|host| check(pattern, host, false));
    }
}

/// B16: an inner star swallowed everything to its left, and the parts around a
/// star could share letters.
#[test]
fn stars_take_neither_foreign_labels_nor_shared_letters() {
    check("foo.*", "foo.bar", true);
    check("foo.*", "bar.baz", false);
    check("foo.*", "x.foo.bar", false);
    check("a*a", "a", false);
    check("a*a", "aa", true);
    check("ab*ba", "aba", false);
    check("ab*ba", "abba", true);
}

#[test]
fn texts_that_are_no_pattern_are_refused_with_the_rule() {
    let rows = [
        ("", "a pattern must not be empty"),
        (".", "a pattern must not be empty"),
        ("@.example", "\"@\" stands for the zone"),
        ("a.@.b", "\"@\" stands for the zone"),
        ("*amp*", "more than one \"*\""),
        ("**", "more than one \"*\""),
        ("a..b", "must not be empty"),
        ("good..", "must not be empty"),
        ("-a", "hyphen"),
        ("a-.b", "hyphen"),
        ("a b", "character ' '"),
        ("a\nb", "character '\\n'"),
        ("bü*", "beyond ASCII"),
        ("a\\.b", "no escapes"),
        ("^www$", "character '^'"),
    ];
    for (text, rule) in rows {
        let message = text.parse::<Pattern>().unwrap_err().to_string();
        assert!(message.contains(rule), "{text:?}: {message}");
    }
    let long = "a".repeat(64);
    assert!(
        long.parse::<Pattern>()
            .unwrap_err()
            .to_string()
            .contains("64 octets")
    );
}

#[test]
fn a_pattern_prints_as_it_was_meant() {
    for (text, printed) in [
        ("*.DEV.", "*.dev"),
        ("@", "@"),
        ("ns1.@", "ns1.@"),
        ("a*z", "a*z"),
    ] {
        assert_eq!(text.parse::<Pattern>().unwrap().to_string(), printed);
    }
}

fn rule(pattern: &str, types: &[Rtype]) -> RecordRule {
    RecordRule {
        pattern: pattern.parse().unwrap(),
        types: types.to_vec(),
    }
}

fn allows(delegations: &[Delegation], host: &str, rtype: Rtype, namespace: &str) -> bool {
    let origin = name(ZONE);
    let judge = Judge {
        origin: &origin,
        namespace: "dns",
        delegations,
    };
    judge.allows_record(Claim {
        name: &name(host),
        rtype,
        namespace,
    })
}

/// Z12: any rule of any delegation is enough; empty lists mean what they say.
#[test]
fn a_record_is_let_in_by_any_rule_for_its_namespace() {
    let delegations = [
        Delegation {
            namespaces: vec!["dev".into()],
            records: vec![rule("*.dev", &[])],
            ..Delegation::default()
        },
        Delegation {
            records: vec![rule("mail", &[Rtype::MX])],
            ..Delegation::default()
        },
        Delegation {
            namespaces: vec!["dev".into()],
            zones: vec!["sub".parse().unwrap()],
            records: vec![],
        },
    ];
    assert!(allows(
        &delegations,
        "www.dev.example.org.",
        Rtype::A,
        "dev"
    ));
    assert!(
        !allows(&delegations, "www.dev.example.org.", Rtype::A, "prod"),
        "another namespace"
    );
    assert!(
        !allows(&delegations, "www.example.org.", Rtype::A, "dev"),
        "another name"
    );
    assert!(
        allows(&delegations, "mail.example.org.", Rtype::MX, "prod"),
        "no namespaces: everybody"
    );
    assert!(
        !allows(&delegations, "mail.example.org.", Rtype::A, "prod"),
        "another type"
    );
    assert!(
        !allows(&delegations, "sub.example.org.", Rtype::A, "dev"),
        "no records: none"
    );
    assert!(
        !allows(&[], "www.example.org.", Rtype::A, "dns"),
        "no delegations: nobody"
    );
}

/// Z12, S4, G31: "all types" does not hand out the zone itself.
#[test]
fn an_empty_list_of_types_leaves_out_what_steers_the_zone() {
    let all = [Delegation {
        records: vec![rule("*", &[]), rule("@", &[])],
        ..Delegation::default()
    }];
    for rtype in [
        Rtype::A,
        Rtype::TXT,
        Rtype::MX,
        Rtype::CAA,
        Rtype::from_int(65_280),
    ] {
        assert!(allows(&all, ZONE, rtype, "tenant"), "{rtype}");
    }
    for rtype in [
        Rtype::SOA,
        Rtype::DNSKEY,
        Rtype::RRSIG,
        Rtype::NSEC,
        Rtype::NSEC3,
        Rtype::DS,
        Rtype::CDS,
    ] {
        assert!(!allows(&all, ZONE, rtype, "tenant"), "{rtype}");
        assert!(
            !allows(&all, ZONE, rtype, "dns"),
            "{rtype} even for the zone's own namespace"
        );
    }
    assert!(!allows(&all, ZONE, Rtype::NS, "tenant"));
    assert!(allows(&all, ZONE, Rtype::NS, "dns"));
    assert!(allows(&all, "sub.example.org.", Rtype::NS, "tenant"));
    let named = [Delegation {
        records: vec![rule("*", &[Rtype::DS])],
        ..Delegation::default()
    }];
    assert!(
        allows(&named, "sub.example.org.", Rtype::DS, "tenant"),
        "named types are meant"
    );
}

#[test]
fn a_name_outside_the_zone_is_never_let_in() {
    let all = [Delegation {
        records: vec![rule("*", &[])],
        ..Delegation::default()
    }];
    assert!(!allows(&all, "badexample.org.", Rtype::A, "dns"));
    assert!(!allows(&all, "www.example.com.", Rtype::A, "dns"));
    assert!(!allows(&all, "org.", Rtype::A, "dns"));
}

#[test]
fn a_zone_is_let_in_below_the_apex_only() {
    let origin = name(ZONE);
    let delegations = [Delegation {
        namespaces: vec!["dev".into()],
        zones: vec!["*".parse().unwrap(), "@".parse().unwrap()],
        records: vec![],
    }];
    let judge = Judge {
        origin: &origin,
        namespace: "dns",
        delegations: &delegations,
    };
    assert!(judge.allows_zone(&name("sub.example.org."), "dev"));
    assert!(!judge.allows_zone(&name("sub.example.org."), "prod"));
    assert!(
        !judge.allows_zone(&origin, "dev"),
        "a zone does not delegate itself"
    );
}

/// The meaning of a pattern, written down without cleverness: try every reading
/// and every number of labels for the star.
mod oracle {
    pub(super) fn matches(pattern: &str, name: &str, origin: &str) -> bool {
        let labels = |text: &str| -> Vec<String> {
            text.trim_end_matches('.')
                .split('.')
                .filter(|label| !label.is_empty())
                .map(Into::into)
                .collect()
        };
        let (name, origin) = (labels(name), labels(origin));
        if !name.ends_with(&origin) {
            return false;
        }
        let segments = labels(&pattern.replace(".@", "").replace('@', ""));
        let relative = [segments.clone(), origin.clone()].concat();
        let absolute = !pattern.contains('@') && segments.ends_with(&origin);
        expand(&relative, name.len(), origin.len())
            .iter()
            .any(|each| same(each, &name))
            || absolute
                && expand(&segments, name.len(), origin.len())
                    .iter()
                    .any(|each| same(each, &name))
    }

    /// The pattern with its leading star repeated 1, 2, … times.
    fn expand(segments: &[String], longest: usize, fixed: usize) -> Vec<Vec<String>> {
        if segments.len() > fixed && segments[0] == "*" {
            (1..=longest)
                .map(|times| [vec!["*".to_owned(); times], segments[1..].to_vec()].concat())
                .collect()
        } else {
            vec![segments.to_vec()]
        }
    }

    fn same(pattern: &[String], name: &[String]) -> bool {
        pattern.len() == name.len()
            && pattern
                .iter()
                .zip(name)
                .all(|(segment, label)| globs(segment, label))
    }

    /// Whether some text in place of the star makes the two equal.
    fn globs(segment: &str, label: &str) -> bool {
        match segment.split_once('*') {
            None => segment == label,
            Some((before, after)) => (0..=label.len()).any(|from| {
                (from..=label.len())
                    .any(|to| format!("{before}{}{after}", &label[from..to]) == label)
            }),
        }
    }
}

fn label() -> impl Strategy<Value = String> {
    "[ab]{1,3}"
}

fn segment() -> impl Strategy<Value = String> {
    prop_oneof![2 => Just("*".to_owned()), 2 => label(), 1 => "[ab]{0,2}\\*[ab]{1,2}", 1 => "[ab]{1,2}\\*[ab]{0,2}"]
}

fn pattern(origin: &str) -> impl Strategy<Value = String> + use<> {
    let end = prop_oneof![
        Just(String::new()),
        Just(".".to_owned()),
        Just(".@".to_owned()),
        Just(format!(".{origin}"))
    ];
    (prop::collection::vec(segment(), 1..4), end)
        .prop_map(|(segments, end)| segments.join(".") + &end)
}

fn case() -> impl Strategy<Value = (String, String, String)> {
    let origin = prop::collection::vec(label(), 1..3).prop_map(|labels| labels.join(".") + ".");
    origin.prop_flat_map(|origin| {
        let below =
            prop::collection::vec(prop_oneof![4 => label(), 1 => Just("*".to_owned())], 0..5);
        let inside = below.prop_map({
            let origin = origin.clone();
            move |labels| [labels, vec![origin.clone()]].concat().join(".")
        });
        let outside =
            prop::collection::vec(label(), 1..5).prop_map(|labels| labels.join(".") + ".");
        (
            pattern(&origin),
            prop_oneof![4 => inside, 1 => outside],
            Just(origin),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_pattern_means_what_the_oracle_says((pattern, name, origin) in case()) {
        let parsed: Pattern = pattern.parse().unwrap();
        let verdict = parsed.matches(&Name::parse(&name).unwrap(), &Name::parse(&origin).unwrap());
        prop_assert_eq!(verdict, oracle::matches(&pattern, &name, &origin), "{} {} {}", pattern, name, origin);
    }

    #[test]
    fn printing_a_pattern_keeps_its_meaning((pattern, name, origin) in case()) {
        let parsed: Pattern = pattern.parse().unwrap();
        let again: Pattern = parsed.to_string().parse().unwrap();
        let (name, origin) = (Name::parse(&name).unwrap(), Name::parse(&origin).unwrap());
        prop_assert_eq!(parsed.matches(&name, &origin), again.matches(&name, &origin));
    }

    #[test]
    fn any_text_is_a_pattern_or_a_refusal(text in ".{0,40}") {
        let _ = text.parse::<Pattern>();
    }
}
