//! What is dropped, what is filled in, and what rules may cost.

use serde_json::{Value, json};

use super::{compile, sorted};

fn pruned(schema: &Value, object: Value) -> (Value, Vec<String>) {
    let schema = compile(schema);
    let mut object = object;
    let unknown = schema.prune(&mut object);
    (object, unknown)
}

fn defaulted(schema: &Value, object: Value) -> Value {
    let schema = compile(schema);
    let mut object = object;
    schema.prune(&mut object);
    schema.default_fields(&mut object);
    object
}

fn of_spec(spec: &Value) -> Value {
    json!({ "type": "object", "properties": { "spec": spec } })
}

#[test]
fn unknown_fields_are_dropped_and_listed_as_strict_validation_does() {
    let schema = of_spec(&json!({
        "type": "object",
        "properties": {
            "ports": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": "string" } } } },
            "labels": { "type": "object", "additionalProperties": { "type": "object" } },
            "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                     "properties": { "known": { "type": "object" } } },
            "template": { "type": "object", "x-kubernetes-embedded-resource": true,
                          "x-kubernetes-preserve-unknown-fields": true },
        },
    }));
    let object = json!({
        "apiVersion": "v1", "kind": "K", "bogus": 1,
        "metadata": { "name": "a", "foo": 1, "ownerReferences": [{ "name": "o", "bar": 1 }] },
        "spec": {
            "ports": [{ "name": "a" }, { "name": "b", "bar": 1 }],
            "labels": { "x": { "y": 1 } },
            "any": { "thing": { "deep": 1 }, "known": { "gone": 1 } },
            "template": { "apiVersion": "v1", "kind": "T", "spec": 1, "metadata": { "name": "t", "foo": 2 } },
            "foo": {},
        },
    });
    let (object, unknown) = pruned(&schema, object);
    assert_eq!(
        unknown,
        [
            "metadata.foo",
            "metadata.ownerReferences[0].bar",
            "bogus",
            "spec.any.known.gone",
            "spec.foo",
            "spec.labels.x.y",
            "spec.ports[1].bar",
            "spec.template.metadata.foo",
        ]
    );
    assert_eq!(
        object,
        json!({
            "apiVersion": "v1", "kind": "K",
            "metadata": { "name": "a", "ownerReferences": [{ "name": "o" }] },
            "spec": {
                "ports": [{ "name": "a" }, { "name": "b" }],
                "labels": { "x": {} },
                "any": { "thing": { "deep": 1 }, "known": {} },
                "template": { "apiVersion": "v1", "kind": "T", "spec": 1, "metadata": { "name": "t" } },
            },
        })
    );
}

#[test]
fn list_that_keeps_unknown_fields_keeps_those_of_its_entries() {
    let schema = of_spec(&json!({
        "type": "array",
        "x-kubernetes-preserve-unknown-fields": true,
        "items": { "type": "object", "properties": { "a": { "type": "object" } } },
    }));
    let (object, unknown) = pruned(&schema, json!({ "spec": [{ "b": 1, "a": { "c": 1 } }] }));
    assert_eq!(unknown, ["spec[0].a.c"]);
    assert_eq!(object, json!({ "spec": [{ "b": 1, "a": {} }] }));
}

#[test]
fn what_additional_properties_allow_is_kept_and_what_is_inside_is_not() {
    let schema = of_spec(&json!({ "type": "object", "additionalProperties": true }));
    let (object, unknown) = pruned(&schema, json!({ "spec": { "a": 1, "b": { "c": 1 } } }));
    assert_eq!(unknown, ["spec.b.c"]);
    assert_eq!(object, json!({ "spec": { "a": 1, "b": {} } }));
}

#[test]
fn defaults_are_filled_in_where_something_is_left_out() {
    let schema = of_spec(&json!({
        "type": "object",
        "properties": {
            "a": { "type": "string", "default": "x" },
            "n": { "type": "string", "nullable": true, "default": "x" },
            "o": { "type": "object", "default": {}, "properties": { "p": { "type": "integer", "default": 1 } } },
            "l": { "type": "array", "items": { "type": "object", "properties": { "q": { "type": "boolean", "default": true } } } },
            "m": { "type": "object", "additionalProperties": { "type": "string", "default": "d" } },
            "s": { "type": "array", "items": { "type": "string", "default": "e" } },
            "z": { "type": "string" },
        },
    }));
    for (spec, filled) in [
        (json!({}), json!({ "a": "x", "n": "x", "o": { "p": 1 } })),
        (
            json!({ "a": "y", "n": null, "o": { "p": 2 } }),
            json!({ "a": "y", "n": null, "o": { "p": 2 } }),
        ),
        (
            json!({ "a": null, "z": null, "l": [{}, { "q": false }], "m": { "k": null }, "s": [null, "f"] }),
            json!({ "a": "x", "n": "x", "o": { "p": 1 }, "l": [{ "q": true }, { "q": false }], "m": { "k": "d" }, "s": ["e", "f"] }),
        ),
    ] {
        let object = defaulted(&schema, json!({ "spec": spec }));
        assert_eq!(object, json!({ "spec": filled }));
    }
}

#[test]
fn field_that_is_left_out_with_its_parent_has_no_default() {
    let schema = of_spec(&json!({
        "type": "object",
        "properties": { "a": { "type": "string", "default": "x" } },
    }));
    assert_eq!(defaulted(&schema, json!({})), json!({}));
}

#[test]
fn rule_that_costs_too_much_is_stopped() {
    let schema = compile(&of_spec(&json!({
        "type": "object",
        "properties": { "l": { "type": "array", "maxItems": 2000, "items": { "type": "integer" } } },
        "x-kubernetes-validations": [
            { "rule": "self.l.all(x, self.l.all(y, x < y + 9999))", "message": "slow" },
            { "rule": "false", "message": "not looked at" },
        ],
    })));
    let list: Vec<u32> = (0..2000).collect();
    let errors = schema.validate(&json!({ "spec": { "l": list } }), None);
    assert_eq!(
        sorted(&errors),
        [
            "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further \
             validation rules will be run due to call cost exceeds limit for rule: slow"
        ]
    );
}

#[test]
fn long_list_is_filtered_in_time_that_grows_with_it() {
    let schema = compile(&of_spec(&json!({
        "type": "object",
        "properties": { "l": { "type": "array", "maxItems": 9999, "items": { "type": "integer" } } },
        "x-kubernetes-validations": [
            { "rule": "self.l.filter(x, x % 2 == 0).map(x, x + 1).size() == 2500", "message": "half" },
        ],
    })));
    let list: Vec<u32> = (0..5000).collect();
    assert_eq!(schema.validate(&json!({ "spec": { "l": list } }), None), []);
}

#[test]
fn status_is_judged_alone_and_named_from_itself() {
    let schema = compile(&json!({
        "type": "object",
        "properties": {
            "spec": { "type": "string", "maxLength": 1 },
            "status": { "type": "object", "properties": { "n": { "type": "integer", "maximum": 5 } } },
        },
        "x-kubernetes-validations": [
            { "rule": "!has(self.status) || self.status.n != 7", "message": "seven" },
        ],
    }));
    let old = json!({ "spec": "long", "status": { "n": 1 } });
    for (status, says) in [
        (json!({ "n": 2 }), vec![]),
        (
            json!({ "n": 6 }),
            vec!["status.n: Invalid value: 6: n in body should be less than or equal to 5"],
        ),
        (
            json!({ "n": 7 }),
            vec![
                "<nil>: Invalid value: seven",
                "status.n: Invalid value: 7: n in body should be less than or equal to 5",
            ],
        ),
        (
            json!({ "n": "x" }),
            vec![
                "<nil>: Invalid value: null: some validation rules were not checked because the object was \
                 invalid; correct the existing errors to complete validation",
                "status.n: Invalid value: \"string\": n in body must be of type integer: \"string\"",
            ],
        ),
    ] {
        let new = json!({ "spec": "long", "status": status });
        assert_eq!(sorted(&schema.validate_status(&new, &old)), says, "{new}");
    }
}

#[test]
fn rule_that_copies_a_large_part_of_the_object_on_every_round_is_stopped() {
    let schema = compile(&of_spec(&json!({
        "type": "object",
        "properties": {
            "l": { "type": "array", "maxItems": 300, "items": { "type": "integer" } },
            "m": { "type": "array", "maxItems": 5000, "items": { "type": "integer" } },
        },
        "x-kubernetes-validations": [
            { "rule": "self.l.all(x, self.m.size() > x)", "message": "copies" },
        ],
    })));
    let of = |count: u32| (0..count).collect::<Vec<_>>();
    let object = |l, m| json!({ "spec": { "l": of(l), "m": of(m) } });
    assert_eq!(schema.validate(&object(300, 1000), None), []);
    assert_eq!(schema.validate(&object(300, 5000), None).len(), 1);
}

#[test]
fn version_and_kind_of_the_object_are_judged_even_if_they_stay() {
    let schema = compile(&json!({
        "type": "object",
        "properties": {
            "kind": { "type": "string", "maxLength": 9, "pattern": "^X$" },
            "spec": { "type": "string", "pattern": "^X$" },
            "apiVersion": {
                "type": "string",
                "maxLength": 9,
                "x-kubernetes-validations": [{ "rule": "self != 'v1'", "message": "old" }],
            },
        },
    }));
    let old = json!({ "apiVersion": "v1", "kind": "Y", "spec": "Y" });
    let mut new = old.clone();
    new["metadata"] = json!({ "generation": 2 });
    assert_eq!(
        sorted(&schema.validate(&new, Some(&old))),
        [
            "apiVersion: Invalid value: \"v1\": old",
            "kind: Invalid value: \"Y\": kind in body should match '^X$'",
        ]
    );
}
