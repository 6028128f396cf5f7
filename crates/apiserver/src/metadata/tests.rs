//! What holds for metadata, without a server: mostly changes, which a real server prepares first.

use serde_json::{Value, json};

use super::*;
use crate::builtin;

fn object(metadata: &Value) -> Object {
    json!({ "metadata": metadata }).as_object().unwrap().clone()
}

fn resource(kind: &str) -> Resource {
    let mut all = builtin::resources().into_iter();
    all.find(|resource| resource.names.kind == kind).unwrap()
}

/// What is said of a new object.
fn created(kind: &str, metadata: &Value) -> Vec<String> {
    let errors = validate(&resource(kind), &object(metadata));
    errors.iter().map(ToString::to_string).collect()
}

/// What is said of a change.
fn changed(old: &Value, new: &Value) -> Vec<String> {
    let errors = validate_change(&object(new), &object(old));
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn a_name_or_its_beginning_must_be_given() {
    let said = created("ConfigMap", &json!({ "namespace": "a" }));
    assert_eq!(
        said,
        ["metadata.name: Required value: name or generateName is required"]
    );
}

#[test]
fn the_beginning_of_a_name_may_end_with_a_dash() {
    for prefix in ["a-", "a.b-", "a.-"] {
        let metadata = json!({ "namespace": "a", "name": "a", "generateName": prefix });
        assert_eq!(created("ConfigMap", &metadata), [""; 0], "{prefix}");
    }
    let metadata = json!({ "namespace": "a", "name": "a", "generateName": "-" });
    assert_eq!(created("ConfigMap", &metadata).len(), 1);
}

#[test]
fn namespaces_are_for_kinds_that_live_in_them() {
    let said = created("ConfigMap", &json!({ "name": "a" }));
    assert_eq!(said, ["metadata.namespace: Required value"]);
    let said = created("Node", &json!({ "name": "a", "namespace": "b" }));
    assert_eq!(
        said,
        ["metadata.namespace: Forbidden: not allowed on this type"]
    );
    let said = created("ConfigMap", &json!({ "name": "a", "namespace": "a.b" }));
    assert_eq!(
        said,
        ["metadata.namespace: Invalid value: \"a.b\": must not contain dots"]
    );
}

#[test]
fn annotations_have_a_limit_together() {
    let value = "x".repeat(MOST_ANNOTATIONS - 1);
    let fits = json!({ "name": "a", "annotations": { "a": value } });
    assert_eq!(created("Node", &fits), [""; 0]);
    let beyond = json!({ "name": "a", "annotations": { "ab": value } });
    let said = created("Node", &beyond);
    assert_eq!(
        said,
        ["metadata.annotations: Too long: may not be more than 262144 bytes"]
    );
}

#[test]
fn a_negative_generation_is_refused() {
    let said = created("Node", &json!({ "name": "a", "generation": -1 }));
    let wanted = "metadata.generation: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(said, [wanted]);
}

#[test]
fn managed_fields_have_a_form() {
    let long = "x".repeat(300);
    let entry = json!({
        "operation": "A", "fieldsType": "B", "manager": long, "subresource": long
    });
    let said = created("Node", &json!({ "name": "a", "managedFields": [entry] }));
    assert_eq!(
        said,
        [
            "metadata.managedFields[0].operation: Invalid value: \"A\": must be `Apply` or `Update`",
            "metadata.managedFields[0].fieldsType: Invalid value: \"B\": must be `FieldsV1`",
            "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
            "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
        ]
    );
}

#[test]
fn what_the_api_gave_an_object_stays() {
    let old = json!({
        "name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1", "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z"
    });
    assert_eq!(changed(&old, &old), [""; 0]);
    for (field, value, said) in [
        (
            "name",
            json!("c"),
            "metadata.name: Invalid value: \"c\": field is immutable",
        ),
        (
            "namespace",
            json!("c"),
            "metadata.namespace: Invalid value: \"c\": field is immutable",
        ),
        (
            "uid",
            json!("c"),
            "metadata.uid: Invalid value: \"c\": field is immutable",
        ),
        (
            "creationTimestamp",
            json!("2027-01-01T00:00:00Z"),
            "metadata.creationTimestamp: Invalid value: \"2027-01-01T00:00:00Z\": field is immutable",
        ),
        (
            "deletionTimestamp",
            json!("2027-01-01T00:00:00Z"),
            "metadata.deletionTimestamp: Invalid value: \"2027-01-01T00:00:00Z\": field is immutable",
        ),
        (
            "deletionGracePeriodSeconds",
            json!(3),
            "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable",
        ),
        (
            "resourceVersion",
            json!(""),
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
        ),
        (
            "generation",
            json!(1),
            "metadata.generation: Invalid value: 1: must not be decremented",
        ),
    ] {
        let mut new = old.clone();
        new[field] = value;
        assert_eq!(changed(&old, &new), [said]);
    }
}

#[test]
fn an_object_that_goes_away_gets_no_new_finalizer() {
    let with = |finalizers: &[&str]| {
        json!({
            "name": "a", "resourceVersion": "1", "deletionTimestamp": "2027-01-01T00:00:00Z",
            "finalizers": finalizers
        })
    };
    assert_eq!(changed(&with(&["a/b", "c/d"]), &with(&["c/d"])), [""; 0]);
    let said = changed(&with(&["a/b"]), &with(&["z/b", "a/b", "c/d"]));
    assert_eq!(
        said,
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being \
             deleted, found new finalizers []string{\"c/d\", \"z/b\"}"
        ]
    );
}

#[test]
fn a_finalizer_with_a_bad_name_is_told_at_every_change() {
    let metadata = json!({ "name": "a", "resourceVersion": "1", "finalizers": ["a/"] });
    let errors = validate_update(
        &resource("ConfigMap"),
        &object(&metadata),
        &object(&metadata),
    );
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        said[1],
        "metadata.finalizers: Invalid value: \"a/\": name part must be non-empty"
    );
}
