use serde_json::json;

use super::*;

fn json_of(text: &str) -> Result<Body, String> {
    Body::parse(text.as_bytes(), Language::Json)
}

#[test]
fn json_and_yaml_say_the_same() {
    let json = json_of(r#"{"a": [1, -2, 1.5, "x", null, true]}"#).unwrap();
    let yaml = Body::parse(b"a: [1, -2, 1.5, x, null, true]", Language::Yaml).unwrap();
    assert_eq!(json.value, json!({"a": [1, -2, 1.5, "x", null, true]}));
    assert_eq!(json, yaml);
}

#[test]
fn of_a_field_given_twice_the_last_counts_and_its_path_is_kept() {
    let body = json_of(r#"{"a":[{"b":1,"c":2,"b":3}],"d":{"e":{}},"d":4}"#).unwrap();
    assert_eq!(body.value, json!({"a": [{"b": 3, "c": 2}], "d": 4}));
    assert_eq!(body.duplicates, ["a[0].b", "d"]);
}

#[test]
fn what_is_not_json_is_refused_with_the_reason() {
    for text in ["", "{", "{bad", "{} {}", "nul", "1e999"] {
        assert!(json_of(text).is_err(), "{text:?} was read");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = "[".repeat(100_000);
    assert!(json_of(&deep).unwrap_err().contains("recursion limit"));
    assert!(Body::parse(deep.as_bytes(), Language::Yaml).is_err());
}
