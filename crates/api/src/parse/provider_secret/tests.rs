use serde_json::json;

use super::*;

fn secret(kind: &str, data: &[(&str, &str)]) -> Secret {
    let data: BTreeMap<_, _> = data.iter().copied().collect();
    serde_json::from_value(json!({ "type": kind, "stringData": data })).unwrap()
}

const PLACE: [(&str, &str); 2] = [
    ("ZONE_ID", "example.org"),
    ("DOMAIN_NAME", "*.a.example.org"),
];
const RFC2136: [(&str, &str); 3] = [
    ("SERVER", "192.0.2.53:5353"),
    ("TSIG_NAME", "update-key"),
    ("TSIG_SECRET", "c2VjcmV0"),
];

fn with(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    PLACE.iter().chain(more).copied().collect()
}

/// The fields that are refused.
fn refused(kind: &str, data: &[(&str, &str)]) -> Vec<String> {
    let problems = parse(&secret(kind, data), false).unwrap_err();
    let fields = problems.iter().map(|problem| problem.field.clone());
    fields.collect()
}

#[test]
fn a_secret_says_which_zone_which_names_and_how_to_get_in() {
    let all = parse(&secret("kuadrant.io/rfc2136", &with(&RFC2136)), false).unwrap();
    let place = all.place.unwrap();
    assert_eq!(place.zone, "example.org");
    assert_eq!(place.domain.to_string(), "*.a.example.org.");
    let Credentials::Rfc2136(access) = all.credentials else {
        panic!("another provider");
    };
    assert_eq!((access.host.as_str(), access.port), ("192.0.2.53", 5353));
    assert_eq!(access.key.name.to_string(), "update-key.");
    assert_eq!(access.key.algorithm, TsigAlgorithm::Sha256);
}

#[test]
fn a_domain_allows_itself_and_below_a_wildcard_only_below() {
    // P2.
    let name = |text: &str| Name::parse(text).unwrap();
    let plain = read_domain("a.b.com").unwrap();
    let wild = read_domain("*.a.b.com").unwrap();
    let cases = [
        ("a.b.com.", true, false),
        ("x.a.b.com.", true, true),
        ("*.a.b.com.", true, true),
        ("y.x.a.b.com.", true, true),
        ("b.com.", false, false),
        ("xa.b.com.", false, false),
    ];
    for (text, at, below) in cases {
        assert_eq!(plain.contains(&name(text)), at, "{text}");
        assert_eq!(wild.contains(&name(text)), below, "{text}");
    }
}

#[test]
fn every_missing_field_is_named_at_once() {
    // P2, G45.
    assert_eq!(
        refused("kuadrant.io/rfc2136", &[("SERVER", "  ")]),
        [
            "data.ZONE_ID",
            "data.DOMAIN_NAME",
            "data.SERVER",
            "data.TSIG_NAME",
            "data.TSIG_SECRET"
        ]
    );
    assert_eq!(
        refused("kuadrant.io/aws", &[("AWS_ACCESS_KEY_ID", "AK")]),
        [
            "data.ZONE_ID",
            "data.DOMAIN_NAME",
            "data.AWS_SECRET_ACCESS_KEY"
        ]
    );
}

#[test]
fn malformed_fields_are_named_at_once() {
    // G48, G50.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: [Case<'_>; 7] = [
        (
            "kuadrant.io/rfc2136",
            &[
                ("ZONE_ID", "exa mple"),
                ("DOMAIN_NAME", "a..b"),
                ("SERVER", "http://ns1"),
                ("TSIG_NAME", "a..b"),
                ("TSIG_SECRET", "not base64"),
                ("TSIG_ALGORITHM", "md5"),
            ],
            &[
                "data.ZONE_ID",
                "data.DOMAIN_NAME",
                "data.SERVER",
                "data.TSIG_NAME",
                "data.TSIG_SECRET",
                "data.TSIG_ALGORITHM",
            ],
        ),
        (
            "kuadrant.io/aws",
            &[
                ("ZONE_ID", "../Z1"),
                ("DOMAIN_NAME", "b.com"),
                ("AWS_REGION", "eu west"),
            ],
            &["data.ZONE_ID", "data.AWS_REGION"],
        ),
        (
            "kuadrant.io/aws",
            &[
                ("ZONE_ID", "Z1"),
                ("DOMAIN_NAME", "b.com"),
                ("AWS_ACCESS_KEY_ID", "AK"),
                ("AWS_SECRET_ACCESS_KEY", "s"),
                ("AWS_ENDPOINT_URL", "http://user@169.254.169.254/latest"),
            ],
            &["data.AWS_ENDPOINT_URL"],
        ),
        // The identity of the process goes to nobody else (H13).
        (
            "kuadrant.io/aws",
            &[
                ("ZONE_ID", "Z1"),
                ("DOMAIN_NAME", "b.com"),
                ("AWS_ENDPOINT_URL", "https://example.org"),
            ],
            &["data.AWS_ENDPOINT_URL"],
        ),
        (
            "kuadrant.io/zone",
            &[("ZONE_ID", "a/b/c"), ("DOMAIN_NAME", "b.com")],
            &["data.ZONE_ID"],
        ),
        (
            "kuadrant.io/gcp",
            &[("ZONE_ID", "z"), ("DOMAIN_NAME", "b.com")],
            &["type"],
        ),
        (
            "Opaque",
            &[("ZONE_ID", "z"), ("DOMAIN_NAME", "b.com")],
            &["type"],
        ),
    ];
    for (kind, data, fields) in cases {
        assert_eq!(refused(kind, data), fields, "{kind}");
    }
}

#[test]
fn spaces_and_line_ends_around_a_value_are_not_part_of_it() {
    // G45.
    let data = [
        ("ZONE_ID", "\u{feff}Z1\r\n"),
        ("DOMAIN_NAME", " b.com \n"),
        ("AWS_ACCESS_KEY_ID", "AK\n"),
        ("AWS_SECRET_ACCESS_KEY", "s3cret\r\n"),
    ];
    let octets: BTreeMap<_, _> = data
        .iter()
        .map(|(key, text)| {
            (
                (*key).to_owned(),
                k8s_openapi::ByteString(text.as_bytes().to_vec()),
            )
        })
        .collect();
    let secret = Secret {
        type_: Some("kuadrant.io/aws".into()),
        data: Some(octets),
        ..Secret::default()
    };
    let read = parse(&secret, false).unwrap();
    assert_eq!(read.place.unwrap().zone, "Z1");
    let Credentials::Aws(aws) = read.credentials else {
        panic!("another provider");
    };
    let keys = aws.keys.unwrap();
    assert_eq!((keys.id.as_str(), keys.secret.expose()), ("AK", "s3cret"));
    assert_eq!(aws.region, "us-east-1");
}

#[test]
fn a_secret_without_place_is_whole_where_zones_are_discovered() {
    let bare = secret("kuadrant.io/inmemory", &[]);
    assert_eq!(parse(&bare, true).unwrap().place, None);
    assert!(parse(&bare, false).is_err());
    let half = secret("kuadrant.io/inmemory", &[("ZONE_ID", "example.org")]);
    assert!(parse(&half, true).is_err(), "one of the two");
}

#[test]
fn what_is_confidential_is_never_shown() {
    // H25.
    let data = with(&RFC2136);
    let read = parse(&secret("kuadrant.io/rfc2136", &data), false).unwrap();
    assert!(!format!("{read:?}").contains("c2VjcmV0"));
    let mut bad = data.clone();
    bad.push(("TSIG_SECRET", "s3cret!"));
    let problems = parse(&secret("kuadrant.io/rfc2136", &bad), false).unwrap_err();
    assert!(!format!("{problems:?}").contains("s3cret!"));
}
