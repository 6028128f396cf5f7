//! Objects of any shape in, a decoded one or its problems out.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::Secret;
use kube::core::{DynamicObject, ObjectList, WatchEvent};
use serde_json::json;

use super::*;
use crate::{Record, Zone};

fn record(spec: &Value) -> Value {
    json!({
        "apiVersion": "kubi.zone/v1alpha1",
        "kind": "Record",
        "metadata": { "name": "www", "namespace": "team", "uid": "u1", "generation": 3, "resourceVersion": "7" },
        "spec": spec,
    })
}

fn zone(spec: &Value) -> Value {
    json!({ "metadata": { "name": "zone", "namespace": "team" }, "spec": spec })
}

/// Read as a whole, and in parts if its metadata can be read, an object has the same problems.
fn undecodable<K: Resource + DeserializeOwned + Debug>(object: Value) -> Box<Undecodable> {
    let dynamic = serde_json::from_value::<DynamicObject>(object.clone());
    let read = serde_json::from_value::<Decoded<K>>(object).unwrap();
    let undecodable = read.into_result().unwrap_err();
    if let Ok(dynamic) = dynamic {
        let parts = Decoded::<K>::of_parts(dynamic.metadata, dynamic.data);
        assert_eq!(parts.into_result().unwrap_err(), undecodable);
    }
    undecodable
}

fn problem<K: Resource + DeserializeOwned + Debug>(object: Value) -> String {
    let problems = undecodable::<K>(object).problems;
    assert_eq!(problems.len(), 1);
    problems[0].to_string()
}

// K4, G36
#[test]
fn a_record_of_the_wrong_shape_is_told_the_field() {
    let with = |key: &str, value: Value| {
        let mut spec =
            json!({ "domainName": "www.example.org.", "type": "A", "rdata": "192.0.2.1" });
        spec[key] = value;
        record(&spec)
    };
    let cases = [
        (
            with("rdata", json!(7)),
            "spec.rdata: expected a string: got \"invalid type: integer `7`\"",
        ),
        (
            with("rdata", Value::Null),
            "spec.rdata: expected a string: got \"invalid type: null\"",
        ),
        (
            with("rdata", json!(["a"])),
            "spec.rdata: expected a string: got \"invalid type: sequence\"",
        ),
        (
            with("ttl", json!("60")),
            "spec.ttl: expected u32: got \"invalid type: string \\\"60\\\"\"",
        ),
        (
            with("ttl", json!(-1)),
            "spec.ttl: expected u32: got \"invalid value: integer `-1`\"",
        ),
        (
            with("ttl", json!(4_294_967_296_u64)),
            "spec.ttl: expected u32: got \"invalid value: integer `4294967296`\"",
        ),
        (
            with("ttl", json!(1.5)),
            "spec.ttl: expected u32: got \"invalid type: floating point `1.5`\"",
        ),
        (
            with("class", json!("XX")),
            "spec.class: expected one of `IN`, `CH`, `HS`: got \"unknown variant `XX`\"",
        ),
        (with("zoneRef", json!({})), "spec.zoneRef.name: is required"),
        (
            with("routing", json!({ "setIdentifier": 5 })),
            "spec.routing.setIdentifier: expected a string: got \"invalid type: integer `5`\"",
        ),
        (
            record(&json!({ "domainName": "a.", "type": "A" })),
            "spec.rdata: is required",
        ),
        (
            json!({ "metadata": { "name": "www" } }),
            "spec: is required",
        ),
        (
            json!({ "metadata": { "name": "www" }, "spec": "?" }),
            "spec: expected struct RecordSpec: got \"invalid type: string \\\"?\\\"\"",
        ),
    ];
    for (object, text) in cases {
        assert_eq!(problem::<Record>(object), text);
    }
}

// K4, G36
#[test]
fn a_zone_of_the_wrong_shape_is_told_the_field() {
    let delegations = |records: Value| {
        zone(&json!({ "domainName": "a.", "delegations": [{}, { "records": records }] }))
    };
    let cases = [
        (
            zone(&json!({ "domainName": "a." })),
            "spec.delegations: is required",
        ),
        (
            delegations(json!(["*"])),
            "spec.delegations[1].records[0]: expected struct RecordDelegation: got \"invalid type: string \\\"*\\\"\"",
        ),
        (
            delegations(json!([{}])),
            "spec.delegations[1].records[0].pattern: is required",
        ),
        (
            delegations(json!([{ "pattern": "*", "types": ["A", 5] }])),
            "spec.delegations[1].records[0].types[1]: expected a string: got \"invalid type: integer `5`\"",
        ),
    ];
    for (object, text) in cases {
        assert_eq!(problem::<Zone>(object), text);
    }
}

/// Without these the object could not be told anything.
#[test]
fn metadata_survives() {
    let metadata = undecodable::<Record>(record(&json!({}))).metadata;
    assert_eq!(metadata.name.as_deref(), Some("www"));
    assert_eq!(metadata.namespace.as_deref(), Some("team"));
    assert_eq!(metadata.generation, Some(3));

    let mut object = record(&json!({}));
    object["metadata"]["labels"] = json!("not a map");
    let decoded = serde_json::from_value::<Decoded<Record>>(object).unwrap();
    let metadata = decoded.meta();
    assert_eq!(metadata.name.as_deref(), Some("www"));
    assert_eq!(metadata.namespace.as_deref(), Some("team"));
    assert_eq!(metadata.uid.as_deref(), Some("u1"));
    assert_eq!(metadata.resource_version.as_deref(), Some("7"));
    assert_eq!(metadata.generation, Some(3));
}

// G36
#[test]
fn unknown_fields_are_ignored_and_nulls_are_absent() {
    let object = json!({
        "metadata": { "name": "zone", "invented": 1 },
        "spec": { "domainName": "a.", "delegations": [], "zoneRef": null, "soa": null, "revision": 4 },
        "status": null,
        "extra": {},
    });
    let zone = serde_json::from_value::<Decoded<Zone>>(object)
        .unwrap()
        .into_result()
        .unwrap();
    assert_eq!(zone.spec.domain_name, "a.");
    assert_eq!(
        (zone.spec.zone_ref, zone.spec.soa, zone.status),
        (None, None, None)
    );
}

/// The defaults of the schema and those of a reader without one agree.
#[test]
fn absent_fields_have_the_schemas_defaults() {
    let zone: Zone =
        serde_json::from_value(zone(&json!({ "domainName": "", "delegations": [] }))).unwrap();
    assert_eq!(zone.spec, crate::zone::ZoneSpec::default());
    let spec = json!({ "domainName": "", "type": "", "rdata": "" });
    let record: Record = serde_json::from_value(record(&spec)).unwrap();
    assert_eq!(record.spec, crate::record::RecordSpec::default());
}

// G37
#[test]
fn huge_objects_are_decoded_and_huge_mistakes_are_told_briefly() {
    let condition = |n: usize| {
        json!({
            "type": format!("example.org/C{n}"), "status": "True", "reason": "R", "message": "m",
            "lastTransitionTime": "2026-11-15T00:00:00Z",
        })
    };
    let mut object = zone(&json!({ "domainName": "a.", "delegations": [] }));
    object["metadata"]["annotations"] = json!({ "big": "x".repeat(256 * 1024) });
    object["status"] = json!({ "conditions": (0..5000).map(condition).collect::<Vec<_>>() });
    let decoded = serde_json::from_value::<Decoded<Zone>>(object.clone()).unwrap();
    let zone = decoded.into_result().unwrap();
    assert_eq!(zone.status.unwrap().conditions.len(), 5000);

    object["spec"]["ttl"] = json!("x".repeat(1_400_000));
    let undecodable = undecodable::<Zone>(object);
    assert!(undecodable.problems[0].to_string().len() < 400);
    assert_eq!(
        undecodable.metadata.annotations.unwrap()["big"].len(),
        256 * 1024
    );
}

/// K4: one object stops nobody else, in a list and in a watch.
#[test]
fn a_list_and_a_watch_go_on_past_a_bad_object() {
    let good = record(&json!({ "domainName": "a.", "type": "A", "rdata": "192.0.2.1" }));
    let bad = record(&json!({ "domainName": ["a."], "type": "A", "rdata": "192.0.2.1" }));
    let list = json!({
        "apiVersion": "kubi.zone/v1alpha1", "kind": "RecordList", "metadata": { "resourceVersion": "9" },
        "items": [good, bad, good],
    });
    let list: ObjectList<Decoded<Record>> = serde_json::from_str(&list.to_string()).unwrap();
    let fit: Vec<bool> = list
        .items
        .iter()
        .map(|item| matches!(item, Decoded::Object(_)))
        .collect();
    assert_eq!(fit, [true, false, true]);

    let event = json!({ "type": "ADDED", "object": bad });
    let event: WatchEvent<Decoded<Record>> = serde_json::from_str(&event.to_string()).unwrap();
    assert!(
        matches!(event, WatchEvent::Added(Decoded::Undecodable(_))),
        "{event:?}"
    );
}

/// It stands where the kind itself would, for kube's `Api` and `watcher`.
#[test]
fn it_is_the_kind_it_wraps() {
    assert_eq!(Decoded::<Zone>::api_version(&()), "kubi.zone/v1alpha1");
    assert_eq!(Decoded::<Zone>::kind(&()), "Zone");
    assert_eq!(Decoded::<Zone>::plural(&()), "zones");
    assert_eq!(
        Decoded::<Zone>::url_path(&(), Some("team")),
        Zone::url_path(&(), Some("team"))
    );
    assert_eq!(Decoded::<Secret>::plural(&()), "secrets");
}

#[test]
fn what_is_no_object_at_all_is_an_error() {
    for value in [json!(null), json!(5), json!("a"), json!([])] {
        assert!(serde_json::from_value::<Decoded<Zone>>(value).is_err());
    }
}

proptest::proptest! {
    /// Whatever JSON stands in a spec, decoding neither fails nor loses the name.
    #[test]
    fn any_spec_is_decoded_or_told_apart(text in "\\PC{0,80}", number: i64, float: f64, deep in 0_usize..60) {
        let nested = (0..deep).fold(json!(text), |inner, _| json!({ "a": [inner] }));
        for spec in [json!(text), json!(number), json!(float), nested, json!({ "domainName": number, "ttl": float })] {
            let decoded = serde_json::from_value::<Decoded<Zone>>(zone(&spec)).unwrap();
            proptest::prop_assert_eq!(decoded.meta().name.as_deref(), Some("zone"));
        }
    }
}

#[test]
fn an_object_in_parts_is_the_same_object() {
    let spec = json!({ "domainName": "www.example.org.", "type": "A", "rdata": "192.0.2.1" });
    let object = record(&spec);
    let dynamic: DynamicObject = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(
        Decoded::<Record>::of_parts(dynamic.metadata, dynamic.data),
        serde_json::from_value(object).unwrap()
    );
}
