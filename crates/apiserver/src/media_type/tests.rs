//! Headers in, forms out.

use crate::refusal::Refusal;
use crate::resource::Origin;

use super::{Endpoint, Format, MetaVersion, View, body_format, is_pretty, negotiate};

const TABLE: View = View::Table(MetaVersion::V1);
const METADATA: View = View::MetadataList(MetaVersion::V1);
const BUILTIN: Endpoint = Endpoint::Objects(Origin::Builtin);
const CUSTOM: Endpoint = Endpoint::Objects(Origin::Custom);

/// The first is what kubectl sends to read a table.
pub(super) const OBJECTS: [(&str, Option<(Format, View)>); 38] = [
    (
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
        Some((Format::Json, TABLE)),
    ),
    ("", Some((Format::Json, View::Plain))),
    (
        "*/*,application/*;as=Table;v=v1;g=meta.k8s.io;q=0.5",
        Some((Format::Json, TABLE)),
    ),
    ("*/*", Some((Format::Json, View::Plain))),
    ("*", Some((Format::Json, View::Plain))),
    ("application/json", Some((Format::Json, View::Plain))),
    ("application/json, */*", Some((Format::Json, View::Plain))),
    ("application/*", Some((Format::Json, View::Plain))),
    ("application/yaml", Some((Format::Yaml, View::Plain))),
    (
        "application/json;q=0.1,application/yaml;q=0.5",
        Some((Format::Yaml, View::Plain)),
    ),
    ("application/json;q=0", Some((Format::Json, View::Plain))),
    ("application/json;q=abc", Some((Format::Json, View::Plain))),
    (
        "application/json;q=abc,application/yaml;q=0.1",
        Some((Format::Yaml, View::Plain)),
    ),
    (
        "*/*;q=0.9,application/yaml;q=0.1",
        Some((Format::Yaml, View::Plain)),
    ),
    (
        "text/html,application/xhtml+xml,*/*;q=0.8",
        Some((Format::Json, View::Plain)),
    ),
    ("text/*,application/json", Some((Format::Json, View::Plain))),
    (
        "application/json;foo=bar",
        Some((Format::Json, View::Plain)),
    ),
    ("application/json;as=", Some((Format::Json, View::Plain))),
    (
        "application/json;stream=watch",
        Some((Format::Json, View::Plain)),
    ),
    ("application/json;sv=v1", Some((Format::Json, View::Plain))),
    (
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        Some((Format::Json, View::Table(MetaVersion::V1Beta1))),
    ),
    (
        "application/yaml;as=Table;v=v1;g=meta.k8s.io",
        Some((Format::Yaml, TABLE)),
    ),
    (
        "*/*;as=Table;v=v1;g=meta.k8s.io",
        Some((Format::Json, TABLE)),
    ),
    (
        "application/json;as=Table;v=v1;g=meta.k8s.io;q=0.3,application/yaml",
        Some((Format::Yaml, View::Plain)),
    ),
    (
        "application/json ; as = Table ; v = v1 ; g = meta.k8s.io",
        Some((Format::Json, TABLE)),
    ),
    (
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        Some((Format::Json, View::MetadataList(MetaVersion::V1))),
    ),
    (
        "application/json;as=PartialObjectMetadata;v=v2;g=meta.k8s.io,application/yaml",
        Some((Format::Yaml, View::Plain)),
    ),
    ("text/html", None),
    ("*/json", None),
    ("Application/JSON", None),
    ("application/json;as=Table;v=v2;g=meta.k8s.io", None),
    ("application/json;as=Foo;v=v1;g=meta.k8s.io", None),
    ("application/json;as=\"Table\";v=\"v1\";g=meta.k8s.io", None),
    ("application/json;v=v1", None),
    ("application/json;sv=v2", None),
    ("application/json;stream=foo", None),
    (";", None),
    (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        None,
    ),
];

#[test]
fn the_dearest_wish_that_can_be_met_is() {
    for (accept, expected) in OBJECTS {
        let answer = negotiate(accept, CUSTOM).ok();
        assert_eq!(
            answer.map(|answer| (answer.format, answer.view)),
            expected,
            "{accept}"
        );
    }
}

#[test]
fn what_cannot_be_met_is_refused() {
    let refusal = negotiate("text/html", BUILTIN).unwrap_err();
    assert_eq!((refusal.code, refusal.reason), (406, "NotAcceptable"));
    assert_eq!(
        refusal.message,
        "only the following media types are accepted: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf"
    );
}

/// Wishes for protocol buffers, what a built-in kind answers with, and what a custom one does.
type Forms = (&'static str, Option<(Format, View)>, Option<(Format, View)>);

pub(super) const PROTOBUF: [Forms; 9] = [
    (
        "application/vnd.kubernetes.protobuf",
        Some((Format::Protobuf, View::Plain)),
        None,
    ),
    (
        "application/vnd.kubernetes.protobuf,application/json",
        Some((Format::Protobuf, View::Plain)),
        Some((Format::Json, View::Plain)),
    ),
    (
        "application/json,application/vnd.kubernetes.protobuf",
        Some((Format::Json, View::Plain)),
        Some((Format::Json, View::Plain)),
    ),
    (
        "application/vnd.kubernetes.protobuf;stream=watch",
        Some((Format::Protobuf, View::Plain)),
        None,
    ),
    (
        "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
        None,
        None,
    ),
    (
        "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io",
        Some((Format::Json, TABLE)),
        Some((Format::Json, TABLE)),
    ),
    (
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        Some((Format::Protobuf, METADATA)),
        Some((Format::Protobuf, METADATA)),
    ),
    (
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io,application/json",
        Some((Format::Protobuf, View::MetadataList(MetaVersion::V1Beta1))),
        Some((Format::Protobuf, View::MetadataList(MetaVersion::V1Beta1))),
    ),
    (
        "application/vnd.kubernetes.protobuf;q=0.1,application/yaml;q=0.5",
        Some((Format::Yaml, View::Plain)),
        Some((Format::Yaml, View::Plain)),
    ),
];

#[test]
fn built_in_kinds_are_told_in_protocol_buffers_and_metadata_of_all_kinds() {
    for (accept, builtin, custom) in PROTOBUF {
        let form = |endpoint| {
            let answer = negotiate(accept, endpoint).ok()?;
            Some((answer.format, answer.view))
        };
        assert_eq!((form(BUILTIN), form(CUSTOM)), (builtin, custom), "{accept}");
    }
}

#[test]
fn documents_are_told_in_protocol_buffers_too() {
    let protobuf = "application/vnd.kubernetes.protobuf";
    for endpoint in [Endpoint::Document, Endpoint::DiscoveryRoot] {
        let answer = negotiate(protobuf, endpoint).unwrap();
        assert_eq!(answer.content_type(), protobuf);
    }
    let aggregated =
        "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let answer = negotiate(aggregated, Endpoint::DiscoveryRoot).unwrap();
    assert_eq!(answer.content_type(), aggregated);
}

#[test]
fn discovery_is_aggregated_for_those_who_know_it() {
    let kubectl = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    let answer = negotiate(kubectl, Endpoint::DiscoveryRoot).unwrap();
    assert_eq!(answer.view, View::AggregatedDiscovery);
    assert_eq!(
        answer.content_type(),
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    let plain = negotiate(kubectl, Endpoint::Document).unwrap();
    assert_eq!(
        (plain.view, plain.content_type().as_str()),
        (View::Plain, "application/json")
    );
    let old = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    assert!(negotiate(old, Endpoint::DiscoveryRoot).is_err());
    assert!(
        negotiate(
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            Endpoint::DiscoveryRoot
        )
        .is_err()
    );
    assert!(negotiate("application/json;sv=v1", Endpoint::Document).is_err());
}

#[test]
fn watches_speak_json_and_protocol_buffers() {
    let negotiate_stream = |accept| super::negotiate_stream(accept, Origin::Builtin);
    let plain = negotiate_stream("").unwrap();
    assert_eq!(plain.view, View::Plain);
    assert_eq!(plain.format.stream_type(), "application/json");
    let protobuf = negotiate_stream("application/vnd.kubernetes.protobuf").unwrap();
    assert_eq!(
        protobuf.format.stream_type(),
        "application/vnd.kubernetes.protobuf;stream=watch"
    );
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    assert_eq!(negotiate_stream(table).unwrap().view, TABLE);
    assert!(negotiate_stream("application/json;stream=watch").is_ok());
    let refusal = negotiate_stream("application/yaml").unwrap_err();
    assert_eq!(
        refusal.message,
        "only the following media types are accepted: application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch"
    );
    for accept in ["application/yaml;stream=watch", "text/html"] {
        let refusal = negotiate_stream(accept).unwrap_err();
        assert_eq!(refusal, Refusal::not_acceptable(), "{accept}");
    }
}

#[test]
fn people_get_indented_json() {
    assert!(
        negotiate("application/json;pretty=1", BUILTIN)
            .unwrap()
            .pretty
    );
    assert!(
        !negotiate("application/json;pretty=true", BUILTIN)
            .unwrap()
            .pretty
    );
    assert!(is_pretty(Some("true"), "kubectl"));
    assert!(is_pretty(Some("1"), ""));
    assert!(!is_pretty(Some("yes"), "curl/8"));
    assert!(!is_pretty(Some("false"), "curl/8"));
    assert!(is_pretty(None, "curl/8"));
    assert!(is_pretty(Some(""), "Mozilla/5.0 (X11)"));
    assert!(!is_pretty(None, "kubectl/v1.36"));
}

#[test]
fn bodies_are_json_yaml_or_protocol_buffers() {
    for (content_type, expected) in [
        ("", Some(Format::Json)),
        ("application/json", Some(Format::Json)),
        ("APPLICATION/JSON", Some(Format::Json)),
        ("application/json; charset=utf-8", Some(Format::Json)),
        ("application/json;", Some(Format::Json)),
        ("application/yaml", Some(Format::Yaml)),
        ("application/json;;", None),
        ("application/json;x", None),
        ("text/plain", None),
        ("foo", None),
        (
            "application/vnd.kubernetes.protobuf",
            Some(Format::Protobuf),
        ),
    ] {
        assert_eq!(body_format(content_type).ok(), expected, "{content_type}");
    }
    let refusal = body_format("text/plain").unwrap_err();
    assert_eq!(
        (refusal.code, refusal.reason),
        (415, "UnsupportedMediaType")
    );
    assert_eq!(
        refusal.message,
        "the body of the request was in an unknown format - accepted media types include: application/json, \
         application/yaml, application/vnd.kubernetes.protobuf"
    );
}
