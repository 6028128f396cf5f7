//! Objects of the kinds we share with peers: that reading and writing them loses nothing, and that
//! strange ones are an answer and not an accident (K4, G36, G37, G42).

#![allow(
    clippy::unwrap_used,
    reason = "an object that cannot be read fails the test"
)]

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use zonewright_api::parse;
use zonewright_api::{
    Decoded, DnsHealthCheckProbe, DnsPolicy, DnsRecord, DomainVerification, ServiceRecord,
};

fn object(api_version: &str, kind: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": { "name": "a", "namespace": "b" }, "spec": spec
    })
}

fn dns_record(spec: &Value) -> Value {
    object("kuadrant.io/v1alpha1", "DNSRecord", spec)
}

/// The object after it was read and written back.
fn round_trip<K: DeserializeOwned + Serialize>(object: &Value) -> Value {
    serde_json::to_value(serde_json::from_value::<K>(object.clone()).unwrap()).unwrap()
}

/// Where an object does not have its kind's shape; empty if it does.
fn misfit<K: DeserializeOwned>(object: &Value) -> String {
    match serde_json::from_value::<Decoded<K>>(object.clone()).unwrap() {
        Decoded::Object(_) => String::new(),
        Decoded::Undecodable(undecodable) => undecodable.problems[0].field.clone(),
    }
}

#[test]
fn a_record_with_everything_survives_being_read_and_written() {
    let condition = json!({
        "type": "Ready", "status": "True", "reason": "ProviderSuccess", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1
    });
    let endpoint = json!({
        "dnsName": "app.example.com", "recordType": "A", "recordTTL": 60, "setIdentifier": "a",
        "targets": ["192.0.2.1"], "labels": { "owner": "b" },
        "providerSpecific": [{ "name": "weight", "value": "120" }]
    });
    let mut record = dns_record(&json!({
        "rootHost": "app.example.com", "ownerID": "owner1", "providerRef": { "name": "aws" },
        "endpoints": [endpoint], "delegate": false,
        "healthCheck": {
            "path": "/healthz", "port": 443, "protocol": "HTTPS", "interval": "5m",
            "failureThreshold": 5, "additionalHeadersRef": { "name": "headers" }
        }
    }));
    record["status"] = json!({
        "conditions": [condition], "observedGeneration": 1, "writeCounter": 0,
        "queuedAt": "2026-01-01T00:00:00Z", "queuedFor": "2026-01-01T00:15:00Z",
        "validFor": "14m0s", "endpoints": [endpoint], "relatedEndpoints": [endpoint],
        "healthCheck": {
            "conditions": [condition],
            "probes": [{
                "id": "1", "ipAddress": "192.0.2.1", "host": "app.example.com", "synced": false,
                "conditions": [condition]
            }]
        },
        "ownerID": "owner1", "providerRef": { "name": "aws" }, "domainOwners": ["owner1"],
        "zoneID": "/hostedzone/Z1", "zoneDomainName": "example.com", "group": "g1",
        "activeGroups": "g1,g2",
        "remoteRecordStatuses": { "uid": { "conditions": [], "anything": { "at": ["all"] } } }
    });
    assert_eq!(round_trip::<DnsRecord>(&record), record);
}

#[test]
fn no_field_appears_that_was_not_there() {
    // `delegate: false` must neither come nor go: rules of the schema tell it from absence.
    for spec in [
        json!({ "rootHost": "app.example.com" }),
        json!({ "rootHost": "app.example.com", "delegate": false }),
        json!({ "rootHost": "app.example.com", "endpoints": [{}] }),
    ] {
        assert_eq!(
            round_trip::<DnsRecord>(&dns_record(&spec)),
            dns_record(&spec)
        );
    }
    let policy = object(
        "kuadrant.io/v1",
        "DNSPolicy",
        &json!({
            "targetRef": { "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "a" },
            "providerRefs": [{ "name": "a" }], "delegate": false
        }),
    );
    assert_eq!(round_trip::<DnsPolicy>(&policy), policy);
    let probe = object("kuadrant.io/v1alpha1", "DNSHealthCheckProbe", &json!({}));
    assert_eq!(round_trip::<DnsHealthCheckProbe>(&probe), probe);
    // S1: no endpoint is an empty list, which the schema requires.
    let service = object(
        "connectivity.tanzu.vmware.com/v1alpha1",
        "ServiceRecord",
        &json!({ "fqdn": "app.example.com", "endpoints": [] }),
    );
    assert_eq!(round_trip::<ServiceRecord>(&service), service);
}

#[test]
fn the_status_that_the_design_shows_is_read() {
    // V6: several domains in one list, the reason absent.
    let mut verification = object(
        "kuadrant.dev/v1alpha1",
        "DomainVerification",
        &json!({ "domain": "mydomain.com" }),
    );
    let condition = |domain: &str, status: &str| {
        json!({
            "type": "Verified", "domain": domain, "status": status, "message": "",
            "lastTransitionTime": "2019-10-22T16:29:24Z", "nextVerification": "2019-10-22T16:23:24Z"
        })
    };
    verification["status"] = json!({
        "token": "abc", "proof": "def", "observedGeneration": 1,
        "txtRecord": { "name": "_kuadrant-challenge.mydomain.com.", "value": "abc" },
        "conditions": [condition("mydomain.com", "False"), condition("myotherdomain.com", "True")]
    });
    assert_eq!(
        round_trip::<DomainVerification>(&verification),
        verification
    );
}

#[test]
fn strange_fields_are_named_and_unknown_ones_are_not_minded() {
    // G36: unknown fields, wrong types, null, integer overflow, float.
    let record = |field: &str, value: Value| {
        let mut spec = json!({ "rootHost": "app.example.com" });
        spec[field] = value;
        misfit::<DnsRecord>(&dns_record(&spec))
    };
    let cases = [
        (record("managedZone", json!({ "name": "old" })), ""),
        (record("delegate", Value::Null), ""),
        (record("providerRef", Value::Null), ""),
        (record("rootHost", json!(5)), "spec.rootHost"),
        (record("rootHost", Value::Null), "spec.rootHost"),
        (record("endpoints", json!({})), "spec.endpoints"),
        (
            record("endpoints", json!([{ "recordTTL": 1.5 }])),
            "spec.endpoints[0].recordTTL",
        ),
        (
            record("endpoints", json!([{ "recordTTL": 1e30 }])),
            "spec.endpoints[0].recordTTL",
        ),
        (
            record("endpoints", json!([{}, { "targets": "192.0.2.1" }])),
            "spec.endpoints[1].targets",
        ),
        (record("providerRef", json!({})), "spec.providerRef.name"),
        (record("providerRef", json!("aws")), "spec.providerRef"),
        (
            record("healthCheck", json!({ "port": "443" })),
            "spec.healthCheck.port",
        ),
        (record("delegate", json!("false")), "spec.delegate"),
    ];
    for (index, (found, expected)) in cases.iter().enumerate() {
        assert_eq!(found, expected, "case {index}");
    }
    // A number too large for a port, but not for a number, is a problem with a rule.
    let service = object(
        "connectivity.tanzu.vmware.com/v1alpha1",
        "ServiceRecord",
        &json!({ "fqdn": "app.example.com", "endpoints": [{ "address": "192.0.2.1", "port": 4_294_967_739_i64 }] }),
    );
    assert_eq!(misfit::<ServiceRecord>(&service), "");
    let service = serde_json::from_value(service).unwrap();
    let problems = parse::service_record::parse(&service).unwrap_err();
    assert_eq!(problems[0].field, "spec.endpoints[0].port");
}

#[test]
fn large_objects_are_read() {
    // G37: 256 KiB of annotations, 5000 conditions.
    let condition = |number: usize| {
        json!({
            "type": format!("Type{number}"), "status": "True", "reason": "R", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z"
        })
    };
    let mut record = dns_record(&json!({ "rootHost": "app.example.com" }));
    record["metadata"]["annotations"] = json!({ "a": "b".repeat(256 * 1024) });
    record["status"] = json!({ "conditions": (0..5000).map(condition).collect::<Vec<_>>() });
    let record: DnsRecord = serde_json::from_value(record).unwrap();
    assert_eq!(record.status.unwrap().conditions.len(), 5000);
}

#[test]
fn what_a_user_writes_into_a_status_changes_no_judgement() {
    // G42.
    let spec = json!({ "rootHost": "app.example.com" });
    let honest: DnsRecord = serde_json::from_value(dns_record(&spec)).unwrap();
    let mut forged = dns_record(&spec);
    forged["status"] = json!({
        "ownerID": "someone-else", "zoneID": "theirs", "providerRef": { "name": "theirs" },
        "writeCounter": -5, "validFor": "not a duration", "queuedAt": "2999-01-01T00:00:00Z"
    });
    let forged: DnsRecord = serde_json::from_value(forged).unwrap();
    assert_eq!(
        parse::dns_record::parse(&forged),
        parse::dns_record::parse(&honest)
    );
}
