//! Selectors as people write them, and what becomes of them.

use serde_json::{Value, json};

use super::{FieldSelector, LabelSelector, text_at};
use crate::resource::{Origin, Resource};
use crate::table::fixtures;

/// Good selectors, with labels that they select and labels that they do not.
pub(super) const LABELS: [(&str, &str, &str); 23] = [
    ("a=,b", r#"{"a":"","b":""}"#, r#"{"a":",b"}"#),
    ("a", r#"{"a":""}"#, r#"{"b":"1"}"#),
    ("!a", r#"{"b":"1"}"#, r#"{"a":""}"#),
    ("a=1", r#"{"a":"1"}"#, r#"{"a":"2"}"#),
    ("a==1", r#"{"a":"1"}"#, "{}"),
    ("a!=1", "{}", r#"{"a":"1"}"#),
    ("a!=1", r#"{"a":"2"}"#, r#"{"a":"1"}"#),
    ("a=", r#"{"a":""}"#, "{}"),
    ("a in (1,2)", r#"{"a":"2"}"#, r#"{"a":"3"}"#),
    ("a in (1,2)", r#"{"a":"1"}"#, "{}"),
    ("a in ()", r#"{"a":""}"#, r#"{"a":"3"}"#),
    ("a in (,1)", r#"{"a":""}"#, r#"{"a":"3"}"#),
    ("a in (1,)", r#"{"a":""}"#, r#"{"a":"3"}"#),
    ("a in (1,,2)", r#"{"a":""}"#, r#"{"a":"3"}"#),
    ("a notin (1,2)", r#"{"a":"3"}"#, r#"{"a":"2"}"#),
    ("a notin (1,2)", "{}", r#"{"a":"1"}"#),
    ("a>5", r#"{"a":"6"}"#, r#"{"a":"5"}"#),
    ("a<5", r#"{"a":"-4"}"#, r#"{"a":"5"}"#),
    ("a<5", r#"{"a":"4"}"#, r#"{"a":"x"}"#),
    ("a<5", r#"{"a":"4"}"#, "{}"),
    ("a=1,b", r#"{"a":"1","b":""}"#, r#"{"a":"1"}"#),
    (" a = 1 , !b ", r#"{"a":"1"}"#, r#"{"a":"1","b":""}"#),
    ("in in (in,notin)", r#"{"in":"notin"}"#, r#"{"in":"x"}"#),
];

/// Selectors that are no selectors, asked of the real API too.
pub(super) const BAD_LABELS: [&str; 46] = [
    "a in (b",
    "a=b=c",
    "a in b",
    "a,,b",
    ",a",
    "a,",
    "!a=b",
    "!a in (x)",
    "a>x",
    "a!b",
    "a~b",
    "a b",
    "-a",
    "a/b/c",
    "/a",
    "a/",
    "A..b/c",
    "a=-b",
    "a in (-b,c!)",
    "a notin (b c)",
    "(a)",
    "a=(b)",
    "a=!b",
    "!!a",
    "!",
    "=a",
    "a=>b",
    "a<1.5",
    "a in (b=c)",
    "a>5,b<x",
    "a in (b,(",
    "a in =",
    "a in (=",
    "a<>5",
    "a in (b)c",
    "a!==b",
    "ü",
    "a=ü",
    "a>=5",
    "a>",
    "a<-5",
    "a>-x",
    "a>99999999999999999999",
    "a in (-1,-2,3)",
    ".a/b",
    "a in (,=",
];

/// Fields that may be compared; all of them select the gadget in the test.
pub(super) const GOOD_FIELDS: [&str; 10] = [
    "",
    ",",
    "=",
    "!=",
    r"metadata.name=a\=b\,c",
    "metadata.namespace==n",
    "metadata.namespace!=m,spec.color=red",
    "spec.size=3",
    "spec.lit=true",
    "spec.size!=4",
];

/// Selectors of fields that are none.
pub(super) const BAD_FIELDS: [&str; 11] = [
    "metadata.name",
    "spec.x=1",
    "metadata.name=a=b",
    r"metadata.name=a\x",
    r"metadata.name=a\",
    "=a",
    "metadata.uid=x",
    "a!=",
    "metadata.name!=a=",
    "spec.y=1,spec.x=2",
    "x,metadata.name=b",
];

fn labels(selector: &str, labels: &Value) -> bool {
    let selector = LabelSelector::parse(selector).unwrap();
    selector.matches(|key| labels.get(key)?.as_str())
}

fn fields(selector: &str, object: &Value) -> bool {
    let selector = FieldSelector::parse(selector, &gadgets()).unwrap();
    selector.matches(|field| text_at(object.as_object().unwrap(), field))
}

pub(super) fn gadgets() -> Resource {
    let mut resource = fixtures::resource("views.example.org", "v1", "Gadget", "gadgets");
    resource.selectable_fields = ["spec.color", "spec.size", "spec.lit"]
        .map(str::to_owned)
        .into();
    resource
}

pub(super) fn label_refusal(selector: &str) -> String {
    LabelSelector::parse(selector).unwrap_err().message
}

#[test]
fn a_label_selector_selects_what_it_says() {
    for (selector, yes, no) in LABELS {
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(
            labels(selector, &parsed(yes)),
            "{selector} should select {yes}"
        );
        assert!(
            !labels(selector, &parsed(no)),
            "{selector} should not select {no}"
        );
    }
}

#[test]
fn an_empty_label_selector_selects_everything() {
    for selector in ["", "  ", "\t\n"] {
        assert!(LabelSelector::parse(selector).unwrap().is_empty());
        assert!(labels(selector, &json!({})));
        assert!(labels(selector, &Value::Null));
    }
    assert!(!LabelSelector::parse("a").unwrap().is_empty());
}

#[test]
fn bad_label_selectors_are_refused_in_the_real_words() {
    for (selector, message) in [
        (
            "a in (b",
            "unable to parse requirement: found '', expected: ',' or ')'",
        ),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        (
            "a in b",
            "unable to parse requirement: found 'b' expected: '('",
        ),
        ("a,,b", "found ',', expected: identifier after ','"),
        (
            ",a",
            "found ',', expected: !, identifier, or 'end of string'",
        ),
        (
            "a>x",
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        (
            "/a",
            "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty",
        ),
    ] {
        assert_eq!(label_refusal(selector), message, "{selector}");
    }
    for selector in BAD_LABELS {
        let refusal = LabelSelector::parse(selector).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.reason),
            (400, "BadRequest"),
            "{selector}"
        );
    }
}

#[test]
fn names_and_values_are_bounded() {
    let just = "x".repeat(63);
    assert!(LabelSelector::parse(&format!("{just}={just}")).is_ok());
    assert!(label_refusal(&format!("{just}x")).contains("name part must be no more than 63 bytes"));
    assert!(label_refusal(&format!("a={just}x")).ends_with("must be no more than 63 bytes"));
    let prefix = format!("{just}.{just}.{just}.{}", "x".repeat(61));
    assert!(LabelSelector::parse(&format!("{prefix}/a")).is_ok());
    let refusal = label_refusal(&format!("{prefix}x/a"));
    assert!(
        refusal.contains("prefix part must be no more than 253 bytes"),
        "{refusal}"
    );
}

#[test]
fn a_field_selector_compares_named_fields() {
    let object = json!({
        "metadata": {"name": "a=b,c", "namespace": "n"},
        "spec": {"color": "red", "size": 3, "lit": true},
    });
    for selector in GOOD_FIELDS {
        assert!(fields(selector, &object), "{selector}");
    }
    for selector in [
        "metadata.name=a",
        "spec.size!=3",
        "spec.lit=1",
        "spec.color=red,spec.size=4",
    ] {
        assert!(!fields(selector, &object), "{selector}");
    }
    assert!(
        fields("spec.color=,metadata.name!=x", &json!({})),
        "missing is empty"
    );
    assert!(
        fields("spec.color=", &json!({"spec": "text"})),
        "no object, no field"
    );
}

#[test]
fn bad_field_selectors_are_refused_in_the_real_words() {
    for selector in BAD_FIELDS {
        assert!(
            FieldSelector::parse(selector, &gadgets()).is_err(),
            "{selector}"
        );
    }
    let mut resource = gadgets();
    let message = |selector: &str, resource: &Resource| {
        FieldSelector::parse(selector, resource)
            .unwrap_err()
            .message
    };
    assert_eq!(
        message("spec.x=1", &resource),
        "field label not supported: spec.x"
    );
    assert_eq!(
        message("metadata.name=a=b", &resource),
        "invalid field selector: unescaped character in value: 61"
    );
    assert_eq!(
        message("spec.y=1,spec.x=2", &resource),
        "field label not supported: spec.x"
    );
    resource.scope = crate::resource::Scope::Cluster;
    assert_eq!(
        message("metadata.namespace=x", &resource),
        "field label not supported: metadata.namespace"
    );
    resource.origin = Origin::Builtin;
    assert!(FieldSelector::parse("metadata.namespace=x", &resource).is_ok());
    assert_eq!(message("x=1", &resource), "field label not supported: x");
    resource.selectable_fields = [].into();
    assert_eq!(
        message("x=1", &resource),
        "\"x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
}
