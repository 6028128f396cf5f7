//! Applying, as data: who applies what to what, and what comes of it.

mod properties;

pub(super) use properties::specs;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::{Change, FieldSet, Others, Versions, record};
use super::{Application, ApplyError, apply};
use crate::object::{Object, ObjectExt as _};
use crate::patch::oracle::{into_object, read_schema};
use crate::schema::Schema;

const VERSION: &str = "example.com/v1";

fn schema() -> Schema {
    read_schema(&open_schema())
}

/// Every way in which lists and maps merge.
pub(super) fn open_schema() -> Value {
    let entry = json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string" }, "port": { "type": "integer", "default": 80 }, "value": { "type": "string" },
    } });
    let text = json!({ "type": "string" });
    let map = json!({ "type": "object", "additionalProperties": text });
    json!({ "type": "object", "properties": {
        "spec": { "type": "object", "properties": {
            "text": text, "other": text, "count": { "type": "integer" }, "flag": { "type": "boolean" },
            "time": { "type": "string", "format": "date-time" },
            "granular": map,
            "atomic": { "type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": text },
            "plain": { "type": "array", "items": text },
            "set": { "type": "array", "items": text, "x-kubernetes-list-type": "set" },
            "map": {
                "type": "array", "items": entry,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"],
            },
            "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        } },
        "status": { "type": "object", "properties": { "ready": { "type": "boolean" } } },
    } })
}

/// An object of which only the spec is told.
fn object(spec: Value) -> Value {
    let mut object = json!({ "apiVersion": VERSION, "kind": "Thing", "metadata": { "name": "a" } });
    if !spec.is_null() {
        object["spec"] = spec;
    }
    object
}

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Somebody who applies a spec at a time; forcing if they mean it.
struct Applier {
    manager: &'static str,
    second: i64,
    force: bool,
}

fn by(manager: &'static str, second: i64) -> Applier {
    let force = false;
    Applier {
        manager,
        second,
        force,
    }
}

impl Applier {
    fn forcing(self) -> Self {
        Self {
            force: true,
            ..self
        }
    }

    fn apply(&self, live: Option<&Object>, applied: Value) -> Result<Object, ApplyError> {
        let schema = schema();
        let versions = Versions::new([(VERSION.to_owned(), &schema)], Others::Refused);
        let mut beyond = FieldSet::default();
        beyond.insert_fields(&["status"]);
        let application = Application {
            change: change(self.manager, self.second),
            force: self.force,
            beyond: &beyond,
            versions: &versions,
            blank: &into_object(json!({ "apiVersion": VERSION, "kind": "Thing" })),
        };
        apply(live, &into_object(applied), &application)
    }

    /// Applies a spec where nobody is in the way.
    fn spec(&self, live: Option<&Object>, spec: Value) -> Object {
        let mut new = self.apply(live, object(spec)).unwrap();
        new.metadata_mut().insert("uid".to_owned(), "u".into());
        new
    }
}

fn change(manager: &str, second: i64) -> Change<'_> {
    Change {
        manager,
        api_version: VERSION,
        subresource: "",
        now: time(second),
    }
}

/// What is written by somebody who does not apply.
fn update(live: &Object, spec: Value, manager: &str, second: i64) -> Object {
    let mut new = live.clone();
    new.insert("spec".to_owned(), spec);
    record(&schema(), Some(live), &mut new, &change(manager, second));
    new
}

fn spec(object: &Object) -> Value {
    object.get("spec").cloned().unwrap_or_default()
}

/// Who owns which fields of the spec since when.
fn owners(object: &Object) -> Vec<(String, Value, Value)> {
    let entries = object
        .metadata()
        .and_then(|metadata| metadata.get("managedFields"));
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    let owner = |entry: &Value| {
        let fields = entry["fieldsV1"]["f:spec"].clone();
        let who = format!("{} {}", entry["manager"], entry["operation"]).replace('"', "");
        (who, entry["time"].clone(), fields)
    };
    entries.map(owner).collect()
}

fn owner(who: &str, second: i64, fields: Value) -> (String, Value, Value) {
    let time = time(second).to_string();
    (who.to_owned(), time.into(), fields)
}

fn message(result: Result<Object, ApplyError>) -> String {
    result.expect_err("it is refused").to_string()
}

#[test]
fn whoever_applies_owns_what_they_mention() {
    let found = by("one", 1).spec(
        None,
        json!({
            "text": "a", "granular": { "a": "b" }, "atomic": { "a": "b" }, "plain": ["a"], "set": ["a"],
            "map": [{ "name": "a", "value": "x" }], "free": { "a": { "b": [1] } }, "time": null,
        }),
    );
    let fields = json!({
        "f:text": {}, "f:time": {}, "f:granular": { "f:a": {} }, "f:atomic": {}, "f:plain": {}, "f:set": { "v:\"a\"": {} },
        "f:map": { "k:{\"name\":\"a\",\"port\":80}": { ".": {}, "f:name": {}, "f:value": {} } },
        "f:free": { "f:a": { ".": {}, "f:b": {} } },
    });
    assert_eq!(owners(&found), [owner("one Apply", 1, fields)]);
}

#[test]
fn what_is_empty_is_owned_only_if_it_is_a_map_or_null() {
    let found = by("one", 1).spec(
        None,
        json!({ "granular": {}, "set": [], "map": [], "plain": [], "free": null }),
    );
    let fields = json!({ "f:granular": {}, "f:plain": {}, "f:free": {} });
    assert_eq!(owners(&found), [owner("one Apply", 1, fields)]);
}

#[test]
fn what_is_no_longer_applied_goes() {
    let first = by("one", 1).spec(
        None,
        json!({ "text": "a", "granular": { "a": "b", "c": "d" }, "set": ["a", "b"], "map": [{ "name": "a" }, { "name": "b" }] }),
    );
    let second = by("one", 2).spec(
        Some(&first),
        json!({ "granular": { "c": "d" }, "set": ["b"], "map": [{ "name": "b" }] }),
    );
    assert_eq!(
        spec(&second),
        json!({ "granular": { "c": "d" }, "set": ["b"], "map": [{ "name": "b" }] })
    );
    let third = by("one", 3).spec(Some(&second), Value::Null);
    assert_eq!(third.get("spec"), None);
    assert_eq!(owners(&third), []);
}

#[test]
fn what_somebody_else_owns_stays() {
    let first = by("one", 1).spec(
        None,
        json!({ "text": "a", "set": ["a"], "granular": { "a": "b" } }),
    );
    let second = by("two", 2).spec(Some(&first), json!({ "text": "a", "set": ["a"] }));
    let third = by("one", 3).spec(Some(&second), Value::Null);
    assert_eq!(spec(&third), json!({ "text": "a", "set": ["a"] }));
    let updated = update(
        &first,
        json!({ "text": "b", "set": ["a"], "granular": { "a": "b" } }),
        "three",
        2,
    );
    let left = by("one", 3).spec(Some(&updated), Value::Null);
    assert_eq!(spec(&left), json!({ "text": "b" }));
}

#[test]
fn another_value_of_an_owned_field_is_a_conflict() {
    let live = by("one", 1).spec(None, json!({ "text": "a", "set": ["a"] }));
    assert_eq!(
        message(by("two", 2).apply(Some(&live), object(json!({ "text": "b" })))),
        "Apply failed with 1 conflict: conflict with \"one\": .spec.text"
    );
    let live = update(
        &live,
        json!({ "text": "a", "set": ["a"], "map": [{ "name": "a", "value": "x" }], "other": "x" }),
        "two",
        2,
    );
    let applied = object(
        json!({ "map": [{ "name": "a", "port": 80, "value": "y" }], "other": "y", "text": "b" }),
    );
    assert_eq!(
        message(by("three", 3).apply(Some(&live), applied)),
        "Apply failed with 3 conflicts: conflicts with \"one\":\n- .spec.text\n\
         conflicts with \"two\" using example.com/v1:\n- .spec.other\n- .spec.map[name=\"a\",port=80].value"
    );
}

#[test]
fn force_takes_fields_from_their_owners() {
    let live = by("one", 1).spec(None, json!({ "text": "a", "other": "b" }));
    let found = by("two", 2)
        .forcing()
        .spec(Some(&live), json!({ "text": "b" }));
    assert_eq!(spec(&found), json!({ "text": "b", "other": "b" }));
    let expected = [
        owner("one Apply", 1, json!({ "f:other": {} })),
        owner("two Apply", 2, json!({ "f:text": {} })),
    ];
    assert_eq!(owners(&found), expected);
}

#[test]
fn atomic_values_have_one_owner() {
    let live = by("one", 1).spec(None, json!({ "atomic": { "a": "b" }, "plain": ["a"] }));
    let applied = object(json!({ "atomic": { "c": "d" }, "plain": ["b"] }));
    assert!(message(by("two", 2).apply(Some(&live), applied)).contains("2 conflicts"));
    let found = by("two", 2).forcing().spec(
        Some(&live),
        json!({ "atomic": { "c": "d" }, "plain": ["b"] }),
    );
    assert_eq!(
        spec(&found),
        json!({ "atomic": { "c": "d" }, "plain": ["b"] })
    );
}

#[test]
fn shared_entries_are_in_the_order_of_whoever_applies_last() {
    let check = |live: &[&str], applied: &[&str], expected: &[&str]| {
        let first = by("one", 1).spec(None, json!({ "set": live }));
        let second = by("two", 2).spec(Some(&first), json!({ "set": applied }));
        assert_eq!(
            spec(&second)["set"],
            json!(expected),
            "{live:?} {applied:?}"
        );
    };
    check(&["a", "b", "c"], &["c", "a"], &["b", "c", "a"]);
    check(&["a", "b", "c"], &["d"], &["a", "b", "c", "d"]);
    check(
        &["a", "b", "c"],
        &["c", "x", "b", "y", "a"],
        &["c", "x", "b", "y", "a"],
    );
    check(&["a", "x", "b"], &["b", "n", "a"], &["x", "b", "n", "a"]);
    check(&["a", "x"], &["n", "a"], &["n", "a", "x"]);
}

#[test]
fn an_application_that_changes_nothing_moves_no_time() {
    let first = by("one", 1).spec(None, json!({ "text": "a" }));
    assert_eq!(
        by("one", 2).spec(Some(&first), json!({ "text": "a" })),
        first
    );
    // Whoever only agrees has never changed anything.
    let second = by("two", 2).spec(Some(&first), json!({ "text": "a" }));
    let agrees = ("two Apply".to_owned(), Value::Null, json!({ "f:text": {} }));
    assert_eq!(
        owners(&second),
        [agrees, owner("one Apply", 1, json!({ "f:text": {} }))]
    );
}

#[test]
fn what_was_there_before_anybody_applied_has_an_owner() {
    let live = into_object(object(json!({ "text": "a", "other": "b" })));
    assert_eq!(
        message(by("one", 1).apply(Some(&live), object(json!({ "text": "b" })))),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using example.com/v1: .spec.text"
    );
    let found = by("one", 1)
        .forcing()
        .spec(Some(&live), json!({ "text": "b" }));
    let expected = [
        owner("one Apply", 1, json!({ "f:text": {} })),
        owner(
            "before-first-apply Update",
            1,
            json!({ ".": {}, "f:other": {} }),
        ),
    ];
    assert_eq!(owners(&found), expected);
}

#[test]
fn what_is_out_of_reach_is_neither_refused_nor_owned() {
    let mut applied = object(json!({ "text": "a" }));
    applied["status"] = json!({ "ready": true });
    let found = by("one", 1).apply(None, applied).unwrap();
    assert!(
        !found["metadata"]["managedFields"]
            .to_string()
            .contains("status")
    );
}

#[test]
fn what_does_not_have_the_shape_of_its_kind_is_refused() {
    for (spec, expected) in [
        (json!({ "x": 1 }), ".spec.x: field not declared in schema"),
        (
            json!({ "text": 5 }),
            ".spec.text: expected string, got &value.valueUnstructured{Value:5}",
        ),
        (
            json!({ "text": { "a": [1, "b", null] } }),
            ".spec.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\"a\":[]interface {}{1, \"b\", interface {}(nil)}}}",
        ),
        (
            json!({ "count": "x" }),
            ".spec.count: expected numeric (int or float), got string",
        ),
        (
            json!({ "flag": "x" }),
            ".spec.flag: expected boolean, got &{x}",
        ),
        (
            json!({ "time": ["x"] }),
            ".spec.time: expected any scalar, got &{[x]}",
        ),
        (
            json!({ "granular": "x" }),
            ".spec.granular: expected map, got &{x}",
        ),
        (
            json!({ "plain": { "a": 1 } }),
            ".spec.plain: expected list, got &{map[a:1]}",
        ),
        (
            json!({ "plain": ["a", 1] }),
            ".spec.plain[1]: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            json!({ "set": ["a", "a"] }),
            ".spec.set: duplicate entries for key [=\"a\"]",
        ),
        (
            json!({ "set": [null] }),
            ".spec.set: element 0: associative list without keys has an element that's an explicit null",
        ),
        (
            json!({ "map": ["a"] }),
            ".spec.map: element 0: associative list with keys may not have non-map elements",
        ),
        (
            json!({ "map": [{ "name": "a" }, { "name": "a", "port": 80 }] }),
            ".spec.map: duplicate entries for key [name=\"a\",port=80]",
        ),
        (
            json!({ "granular": { "a": 1, "b": 2 } }),
            "errors:\n  .spec.granular.a: expected string, got &value.valueUnstructured{Value:1}\n  .spec.granular.b: expected string, got &value.valueUnstructured{Value:2}",
        ),
    ] {
        assert_eq!(message(by("one", 1).apply(None, object(spec))), expected);
    }
    // What may be anything is not looked at.
    by("one", 1).spec(
        None,
        json!({ "time": 5, "free": { "a": [1, "x", {}] }, "text": null }),
    );
}

#[test]
fn twins_that_are_stored_become_one_that_is_applied() {
    let mut live = into_object(object(json!({ "set": ["a", "b", "a"] })));
    record(&schema(), None, &mut live, &change("zero", 0));
    let found = by("one", 1)
        .forcing()
        .spec(Some(&live), json!({ "set": ["a"] }));
    assert_eq!(spec(&found), json!({ "set": ["a", "b"] }));
}

#[test]
fn versions_that_nobody_serves_are_refused_or_forgotten() {
    let schema = schema();
    let live = by("one", 1).spec(None, json!({ "text": "a" }));
    let text = Value::Object(live)
        .to_string()
        .replace(VERSION, "example.com/v0");
    let mut live = into_object(serde_json::from_str(&text).unwrap());
    live.insert("apiVersion".to_owned(), VERSION.into());
    for (others, expected) in [
        (
            Others::Refused,
            Err("request to convert CR to an invalid group/version: example.com/v0"),
        ),
        (Others::Forgotten, Ok("b")),
    ] {
        let versions = Versions::new([(VERSION.to_owned(), &schema)], others);
        let application = Application {
            change: change("two", 2),
            force: false,
            beyond: &FieldSet::default(),
            versions: &versions,
            blank: &Object::new(),
        };
        let found = apply(
            Some(&live),
            &into_object(object(json!({ "text": "b" }))),
            &application,
        );
        let found = found.map(|found| spec(&found)["text"].clone());
        let found = found.map_err(|error| error.to_string());
        assert_eq!(found, expected.map(Value::from).map_err(str::to_owned));
    }
}

#[test]
fn kubectl_takes_what_its_annotation_remembers() {
    let annotated = |text: &str, last: &str| {
        let mut object = object(json!({ "text": text, "other": "b" }));
        let last = object_text(json!({ "text": last }));
        object["metadata"]["annotations"] =
            json!({ "kubectl.kubernetes.io/last-applied-configuration": last });
        let mut object = into_object(object);
        record(
            &schema(),
            None,
            &mut object,
            &change("kubectl-client-side-apply", 1),
        );
        object
    };
    let unchanged = annotated("a", "a");
    assert!(
        by("other", 2)
            .apply(Some(&unchanged), object(json!({ "text": "b" })))
            .is_err()
    );
    let found = by("kubectl", 2).spec(Some(&unchanged), json!({ "text": "<b>" }));
    let annotation =
        &found["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
    let expected = object_text(json!({ "text": "<b>" }))
        .replace('<', "\\u003c")
        .replace('>', "\\u003e");
    assert_eq!(annotation, &json!(format!("{expected}\n")));
    // What somebody has changed since, and what was never applied, is theirs.
    let changed = annotated("c", "a");
    let refused =
        by("kubectl", 2).apply(Some(&changed), object(json!({ "text": "b", "other": "x" })));
    assert!(message(refused).contains("2 conflicts"));
    let refused = by("kubectl", 2).apply(
        Some(&unchanged),
        object(json!({ "text": "b", "other": "x" })),
    );
    assert!(message(refused).ends_with(".spec.other"));
}

fn object_text(spec: Value) -> String {
    object(spec).to_string()
}
