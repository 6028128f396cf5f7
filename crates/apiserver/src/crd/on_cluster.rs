//! The same definitions, judged by kube-apiserver.

use std::collections::BTreeSet;
use std::time::Duration;

use http::Request;
use jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use testkit::control_plane::{Identity, shared};
use testkit::wait::eventually;

use super::tests::{definition, version};
use super::*;
use crate::refusal::{Refusal, Subject};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PATIENCE: Duration = Duration::from_secs(30);

/// Judges each definition here and there. They are made of apples by a merge patch.
async fn check(cases: &[(&str, Value)]) {
    let client = shared().await.client(Identity::Admin);
    for (what, change) in cases {
        let definition = definition(change);
        let theirs = send(
            &client,
            "POST",
            &format!("{PATH}?dryRun=All"),
            &Value::Object(definition.clone()),
        )
        .await;
        let errors = validate(&definition, None);
        let ours = if errors.is_empty() {
            Value::Object(definition)
        } else {
            refused(&definition, &errors)
        };
        assert_eq!(verdict(&ours), verdict(&theirs), "{what}: {theirs:#}");
    }
}

fn refused(definition: &Object, errors: &[FieldError]) -> Value {
    let name = definition["metadata"]["name"].as_str().unwrap();
    let subject = Subject {
        group: "apiextensions.k8s.io",
        what: "CustomResourceDefinition",
        name,
    };
    Refusal::invalid(subject, errors).status()
}

/// What was made of a definition, or the causes of its refusal.
fn verdict(answer: &Value) -> Vec<Value> {
    match answer["details"]["causes"].as_array() {
        Some(causes) => causes.iter().cloned().map(without_versions).collect(),
        None => vec![answer["spec"].clone(), answer["status"].clone()],
    }
}

/// Where kube-apiserver shows a whole schema, we do not.
fn without_versions(mut cause: Value) -> Value {
    let message = cause["message"].as_str().unwrap_or_default().to_owned();
    let shows_schema = message.contains("{\"ID\"")
        || message.contains("\"Name\"")
        || message.contains("fields are allowed at the root");
    if cause["field"] == "spec.versions" || shows_schema {
        cause["message"] = message.rsplit(": ").next().unwrap_or_default().into();
    }
    cause
}

async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Value {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", "application/json")
        .body(serde_json::to_vec(body).unwrap())
        .unwrap();
    match client.request::<Value>(request).await {
        Ok(answer) => answer,
        Err(kube::Error::Api(status)) => serde_json::to_value(status).unwrap(),
        Err(error) => panic!("{error}"),
    }
}

/// A definition with one version that is changed by a merge patch.
fn with_version(change: &Value) -> Value {
    let mut only = version("v1", true);
    json_patch::merge(&mut only, change);
    json!({ "spec": { "versions": [only] } })
}

/// A definition with two versions that differ in their schemas.
fn with_versions(first: &Value, second: &Value) -> Value {
    let (mut v1, mut v2) = (version("v1", true), version("v2", false));
    v2["schema"]["openAPIV3Schema"]["description"] = "newer".into();
    json_patch::merge(&mut v1, first);
    json_patch::merge(&mut v2, second);
    json!({ "spec": { "versions": [v1, v2] } })
}

fn in_group(group: &str, annotation: &str) -> Value {
    let annotations = match annotation {
        "" => json!({}),
        text => json!({ "api-approved.kubernetes.io": text }),
    };
    json!({
        "metadata": { "name": format!("apples.{group}"), "annotations": annotations },
        "spec": { "group": group },
    })
}

#[tokio::test]
async fn definitions_are_defaulted_alike() {
    check(&[
        ("as short as can be", json!({})),
        ("all names", json!({ "spec": { "names": { "singular": "fruit", "listKind": "Apples", "shortNames": ["ap"], "categories": ["all"] } } })),
        ("an explicit false", json!({ "spec": { "preserveUnknownFields": false } })),
        ("a status that is not its own", json!({ "status": { "storedVersions": ["v9"] } })),
        ("two versions", with_versions(&json!({}), &json!({}))),
        ("a version that is not served", with_version(&json!({ "served": false }))),
    ])
    .await;
}

#[tokio::test]
async fn names_and_groups_are_judged_alike() {
    let long = "a".repeat(64);
    check(&[
        ("no spec", json!({ "spec": null })),
        ("another name", json!({ "metadata": { "name": "pears.fruit.example" } })),
        ("no group", json!({ "spec": { "group": null } })),
        ("group in capitals", json!({ "spec": { "group": "Fruit" } })),
        ("group without a dot", json!({ "metadata": { "name": "apples.fruit" }, "spec": { "group": "fruit" } })),
        ("no scope", json!({ "spec": { "scope": null } })),
        ("unknown scope", json!({ "spec": { "scope": "Global" } })),
        ("no kind", json!({ "spec": { "names": { "kind": null } } })),
        ("long plural", json!({ "metadata": { "name": format!("{long}.fruit.example") }, "spec": { "names": { "plural": long } } })),
        ("long kind", json!({ "spec": { "names": { "kind": long } } })),
        ("bad names", json!({ "spec": { "names": { "plural": "Apples", "singular": "APPLE", "kind": "A_b", "listKind": "A_b", "shortNames": ["A", "b"], "categories": ["all", "A_L"] } } })),
        ("empty short name", json!({ "spec": { "names": { "shortNames": [""] } } })),
    ])
    .await;
}

#[tokio::test]
async fn lists_of_versions_are_judged_alike() {
    let (v1, v2) = (version("v1", true), version("v2", true));
    check(&[
        ("no versions", json!({ "spec": { "versions": null } })),
        ("empty versions", json!({ "spec": { "versions": [] } })),
        (
            "one name twice",
            json!({ "spec": { "versions": [v1, v1] } }),
        ),
        (
            "two storage versions",
            json!({ "spec": { "versions": [v1, v2] } }),
        ),
        (
            "no storage version",
            json!({ "spec": { "versions": [version("v1", false)] } }),
        ),
        (
            "bad version names",
            with_versions(&json!({ "name": "1v" }), &json!({ "name": "V2" })),
        ),
        (
            "only the second name is bad",
            with_versions(&json!({}), &json!({ "name": "V2" })),
        ),
        ("no schema", with_version(&json!({ "schema": null }))),
        (
            "empty schema",
            with_version(&json!({ "schema": { "openAPIV3Schema": null } })),
        ),
        (
            "second without schema",
            with_versions(&json!({}), &json!({ "schema": null })),
        ),
        (
            "warning without deprecation",
            with_version(&json!({ "deprecationWarning": "x" })),
        ),
        (
            "warning",
            with_version(&json!({ "deprecated": true, "deprecationWarning": "old – use v2" })),
        ),
        (
            "long warning",
            with_version(&json!({ "deprecated": true, "deprecationWarning": "a".repeat(257) })),
        ),
        (
            "longest warning",
            with_version(&json!({ "deprecated": true, "deprecationWarning": "a".repeat(256) })),
        ),
        (
            "empty warning",
            with_version(&json!({ "deprecated": true, "deprecationWarning": "" })),
        ),
        (
            "warning of two lines",
            with_version(&json!({ "deprecated": true, "deprecationWarning": "é\nb" })),
        ),
        (
            "warning with a space that is none",
            with_version(&json!({ "deprecated": true, "deprecationWarning": "a\u{a0}b" })),
        ),
        (
            "preserving unknown fields",
            json!({ "spec": { "preserveUnknownFields": true } }),
        ),
    ])
    .await;
}

#[tokio::test]
async fn schemas_at_the_root_are_judged_alike() {
    let schema = |change: Value| json!({ "schema": { "openAPIV3Schema": change } });
    let with_status = |change: Value| json!({ "subresources": { "status": {} }, "schema": { "openAPIV3Schema": change } });
    check(&[
        (
            "nullable",
            with_version(&schema(json!({ "nullable": true }))),
        ),
        (
            "a text",
            with_version(&schema(json!({ "type": "string", "properties": null }))),
        ),
        (
            "a text with a status",
            with_version(&with_status(
                json!({ "type": "string", "properties": null }),
            )),
        ),
        (
            "status",
            with_version(&with_status(
                json!({ "description": "a", "required": ["spec"], "maxLength": 1 }),
            )),
        ),
        (
            "keyword lost with a status",
            with_version(&with_status(json!({ "x-kubernetes-map-type": "atomic" }))),
        ),
        (
            "only one version has a status",
            with_versions(
                &with_status(json!({ "maxProperties": 1 })),
                &schema(json!({ "maxProperties": 2 })),
            ),
        ),
        (
            "a version of two is nullable",
            with_versions(&json!({}), &schema(json!({ "nullable": true }))),
        ),
    ])
    .await;
}

#[tokio::test]
async fn columns_and_subresources_are_judged_alike() {
    let columns = json!({ "additionalPrinterColumns": [
        { "name": "", "type": "", "jsonPath": "" },
        { "name": "a", "type": "text", "format": "huge", "jsonPath": "spec" },
        { "name": "b", "type": "string", "jsonPath": "." },
        { "name": "b", "type": "date", "format": "date-time", "jsonPath": ".a[?(@.b==1)]", "priority": 1 },
    ] });
    let scale = |spec: &str, status: &str, selector: &str| {
        json!({ "subresources": { "scale": {
        "specReplicasPath": spec, "statusReplicasPath": status, "labelSelectorPath": selector,
    } } })
    };
    check(&[
        ("columns", with_version(&columns)),
        (
            "columns of one of two versions",
            with_versions(&columns, &json!({})),
        ),
        (
            "the same columns in both",
            with_versions(&columns, &columns),
        ),
        (
            "scale",
            with_version(&scale(".spec.a", ".status.a", ".status.b")),
        ),
        (
            "scale with a selector in the spec",
            with_version(&scale(".spec.a", ".status.a", ".spec.b")),
        ),
        ("scale without paths", with_version(&scale("", "", ""))),
        (
            "scale elsewhere",
            with_version(&scale("spec.a", ".spec.a", ".x.a")),
        ),
        (
            "scale the other way round",
            with_versions(&scale(".status.a", "status.a", "spec.a"), &json!({})),
        ),
    ])
    .await;
}

#[tokio::test]
async fn selectable_fields_are_judged_alike() {
    let fields = |paths: &[&str]| {
        let paths: Vec<Value> = paths
            .iter()
            .map(|path| json!({ "jsonPath": path }))
            .collect();
        json!({ "selectableFields": paths })
    };
    let color = fields(&[".spec.color"]);
    let mut nine = fields(&[
        ".spec.tags.a",
        ".spec.tags.b",
        ".spec.tags.c",
        ".spec.tags.d",
        ".spec.tags.e",
        ".spec.tags.f",
        ".spec.tags.g",
        ".spec.tags.h",
    ]);
    let eight = nine.clone();
    nine["selectableFields"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "jsonPath": ".spec.color" }));
    let same_schema = json!({ "schema": { "openAPIV3Schema": { "description": null } } });
    let mut colored = same_schema.clone();
    json_patch::merge(&mut colored, &color);
    let metadata = json!({ "schema": { "openAPIV3Schema": { "properties": { "metadata": { "type": "object", "properties": { "name": { "type": "string" } } } } } } });
    let mut of_metadata = fields(&[".metadata.name"]);
    json_patch::merge(&mut of_metadata, &metadata);
    let mut bare = color.clone();
    bare["schema"] = Value::Null;
    check(&[
        (
            "good ones",
            with_version(&fields(&[".spec.color", ".spec.size", ".spec.tags.a"])),
        ),
        (
            "nothing there",
            with_version(&fields(&[
                "",
                ".spec.nope",
                ".metadata.name",
                ".spec.color.x",
            ])),
        ),
        (
            "twice",
            with_version(&fields(&[".spec.color", ".spec.color"])),
        ),
        (
            "wrong types",
            with_version(&fields(&[".spec", ".spec.weight", ".spec.tags"])),
        ),
        (
            "wrong words",
            with_version(&fields(&[
                "spec.color",
                ".spec.",
                ".spec..color",
                ".spec.tags['a']",
                "[0]",
                "]",
                ".",
            ])),
        ),
        ("in the metadata", with_version(&of_metadata)),
        ("eight", with_version(&eight)),
        ("nine", with_version(&nine)),
        (
            "different in different versions",
            with_versions(&color, &fields(&[".spec.size"])),
        ),
        (
            "the same in different versions",
            with_versions(&color, &color),
        ),
        (
            "different in the same versions",
            with_versions(&color, &same_schema),
        ),
        (
            "the same in the same versions",
            with_versions(&color, &colored),
        ),
        ("without a schema", with_version(&bare)),
        (
            "without a schema in one version",
            with_versions(&json!({}), &bare),
        ),
    ])
    .await;
}

#[tokio::test]
async fn conversions_and_approvals_are_judged_alike() {
    let webhook = json!({ "conversionReviewVersions": ["v1"], "clientConfig": { "url": "https://a.example" } });
    check(&[
        (
            "none",
            json!({ "spec": { "conversion": { "strategy": "None" } } }),
        ),
        ("empty", json!({ "spec": { "conversion": {} } })),
        (
            "unknown",
            json!({ "spec": { "conversion": { "strategy": "Magic" } } }),
        ),
        (
            "a webhook for nothing",
            json!({ "spec": { "conversion": { "strategy": "None", "webhook": webhook } } }),
        ),
        ("not approved", in_group("x.k8s.io", "")),
        ("badly approved", in_group("x.kubernetes.io", "maybe")),
        ("approved by a path", in_group("k8s.io", "/pull/1")),
        (
            "approved",
            in_group("x.k8s.io", "https://example.com/pull/1"),
        ),
        (
            "not approved, with a reason",
            in_group("kubernetes.io", "unapproved, a test"),
        ),
        ("not of the community", in_group("xk8s.io", "")),
    ])
    .await;
}

#[tokio::test]
async fn statuses_are_settled_alike() {
    let client = shared().await.client(Identity::Admin);
    let mut ours: Vec<Object> = Vec::new();
    for change in [
        json!({ "spec": { "names": { "shortNames": ["ap"], "categories": ["all"] } } }),
        json!({ "spec": { "names": { "plural": "pears", "kind": "Apple" } } }),
        json!({ "spec": { "names": { "plural": "plums", "kind": "Plum", "singular": "apple" } } }),
        json!({ "spec": { "names": { "plural": "figs", "kind": "Fig", "shortNames": ["ap", "apples", "f"] } } }),
        json!({ "spec": { "names": { "plural": "kiwis", "kind": "Kiwi" } } }),
    ] {
        let mut definition = definition(&change);
        settle_in(&mut definition, "settled.k8s.io");
        send(&client, "POST", PATH, &Value::Object(definition.clone())).await;
        let name = format!(
            "{PATH}/{}",
            definition["metadata"]["name"].as_str().unwrap()
        );
        let theirs = eventually(PATIENCE, "names to be judged", async || {
            let status = untimed(&send(&client, "GET", &name, &Value::Null).await["status"]);
            if is_settled(&status) {
                Ok(status)
            } else {
                Err(status.to_string())
            }
        });
        let theirs = theirs.await.unwrap();
        let taken = Taken::by_definitions("settled.k8s.io", &ours);
        settle(&mut definition, &taken, Timestamp::UNIX_EPOCH);
        assert_eq!(untimed(&definition["status"]), theirs);
        ours.push(definition);
    }
}

#[tokio::test]
async fn changes_are_judged_alike() {
    let client = shared().await.client(Identity::Admin);
    let old = created(&client, "changed.k8s.io", "unapproved, a test", &json!({})).await;
    let mut later = version("v2", true);
    later["schema"]["openAPIV3Schema"]["description"] = "newer".into();
    for (what, change) in [
        ("nothing", json!({})),
        (
            "all that cannot",
            json!({ "spec": { "scope": "Cluster", "group": "changed.example", "names": { "kind": "Pear", "plural": "pears" } } }),
        ),
        (
            "other names",
            json!({ "spec": { "names": { "singular": "pomme", "listKind": "Pommes", "shortNames": ["a"], "categories": ["all"] } } }),
        ),
        (
            "another version only",
            json!({ "spec": { "versions": [later] } }),
        ),
        (
            "another version to store",
            json!({ "spec": { "versions": [version("v1", false), later] } }),
        ),
        (
            "not approved any more",
            json!({ "metadata": { "annotations": null } }),
        ),
        (
            "approved otherwise",
            json!({ "metadata": { "annotations": { "api-approved.kubernetes.io": "unapproved, still" } } }),
        ),
    ] {
        let mut new = Value::Object(old.clone());
        json_patch::merge(&mut new, &change);
        let path = format!("{PATH}/apples.changed.k8s.io?dryRun=All");
        let theirs = send(&client, "PUT", &path, &new).await;
        let mut new = new.as_object().cloned().unwrap();
        default(&mut new);
        prepare(&mut new, Some(&old));
        let errors = validate(&new, Some(&old));
        let ours = if errors.is_empty() {
            Value::Object(new)
        } else {
            refused(&new, &errors)
        };
        assert_eq!(verdict(&ours), verdict(&theirs), "{what}: {theirs:#}");
    }
}

#[tokio::test]
async fn writers_are_warned_alike() {
    let client = shared().await.client(Identity::Admin);
    let of = |kind: &str, formats: &[&str]| -> Value {
        let named = formats.iter().map(|format| {
            (
                (*format).to_owned(),
                json!({ "type": kind, "format": format }),
            )
        });
        json!({ "type": "object", "properties": named.collect::<serde_json::Map<_, _>>() })
    };
    let texts = of(
        "string",
        &[
            "bsonobjectid",
            "byte",
            "cidr",
            "credit-card",
            "date",
            "date-time",
            "datetime",
            "duration",
            "email",
            "hexcolor",
            "hostname",
            "ipv4",
            "ipv6",
            "isbn",
            "isbn10",
            "isbn13",
            "k8s-long-name",
            "k8s-short-name",
            "mac",
            "password",
            "rgbcolor",
            "ssn",
            "uri",
            "uuid",
            "uuid3",
            "uuid4",
            "uuid5",
            "time",
            "int32",
            "URI",
        ],
    );
    let integers = of("integer", &["int32", "int64", "uint32", "float"]);
    let numbers = of("number", &["float", "double", "int64"]);
    let others = of("boolean", &["flag"]);
    let deep = json!({
        "type": "array",
        "items": { "type": "object", "additionalProperties": { "type": "string", "format": "deep" } },
        "anyOf": [{ "items": { "format": "any" } }],
        "not": { "format": "never" },
    });
    let change = with_version(&json!({ "schema": { "openAPIV3Schema": { "properties": {
        "texts": texts, "integers": integers, "numbers": numbers, "others": others, "deep": deep,
    } } } }));
    let definition = definition(&change);
    let theirs = warned(&client, "POST", &format!("{PATH}?dryRun=All"), &definition).await;
    let ours: BTreeSet<String> = warnings(&definition, None).into_iter().collect();
    assert_eq!(ours, theirs);
    assert_eq!(
        warnings(&definition, Some(&definition)),
        Vec::<String>::new()
    );
}

/// The warnings in the answer.
async fn warned(client: &Client, method: &str, path: &str, body: &Object) -> BTreeSet<String> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", "application/json")
        .body(kube::client::Body::from(serde_json::to_vec(body).unwrap()))
        .unwrap();
    let answer = client.send(request).await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    let headers = answer.headers().get_all("Warning").iter();
    let texts = headers.map(|header| header.to_str().unwrap().trim_start_matches("299 - "));
    texts
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

#[tokio::test]
async fn deletion_is_marked_alike() {
    let client = shared().await.client(Identity::Admin);
    let mut ours = created(
        &client,
        "deleted.k8s.io",
        "https://example.com/1",
        &json!({}),
    )
    .await;
    let path = format!("{PATH}/apples.deleted.k8s.io?dryRun=All");
    let theirs = send(&client, "DELETE", &path, &json!({})).await;
    mark_for_deletion(&mut ours, Timestamp::UNIX_EPOCH);
    assert_eq!(
        ours["metadata"]["finalizers"],
        theirs["metadata"]["finalizers"]
    );
    assert_eq!(untimed(&ours["status"]), untimed(&theirs["status"]));
}

#[tokio::test]
async fn columns_are_described_alike() {
    let client = shared().await.client(Identity::Admin);
    let wide = with_version(&json!({ "additionalPrinterColumns": [
        { "name": "Color", "type": "string", "jsonPath": ".spec.color" },
        { "name": "Size", "type": "integer", "format": "int32", "description": "How big.", "priority": 1, "jsonPath": ".spec.size" },
    ] }));
    for (group, change) in [("narrow.k8s.io", json!({})), ("wide.k8s.io", wide)] {
        let definition = created(&client, group, "unapproved, a test", &change).await;
        let ours = resources(&definition).unwrap();
        let ours: Vec<Value> = ours[0].columns.iter().map(described).collect();
        let table = eventually(PATIENCE, "the kind to be served", async || {
            table(&client, group).await
        })
        .await
        .unwrap();
        assert_eq!(ours, table["columnDefinitions"].as_array().unwrap()[1..]);
    }
}

fn described(column: &Column) -> Value {
    let Column {
        name,
        kind,
        format,
        description,
        priority,
        source: _,
    } = column;
    json!({ "name": name, "type": kind, "format": format, "description": description, "priority": priority })
}

async fn table(client: &Client, group: &str) -> Result<Value, String> {
    let request = Request::get(format!("/apis/{group}/v1/apples"))
        .header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(Vec::new())
        .unwrap();
    client
        .request(request)
        .await
        .map_err(|error| error.to_string())
}

/// Creates a definition of apples in a group of the test's own, and returns it once it is settled.
async fn created(client: &Client, group: &str, approval: &str, change: &Value) -> Object {
    let mut definition = Value::Object(definition(change));
    json_patch::merge(&mut definition, &in_group(group, approval));
    send(client, "POST", PATH, &definition).await;
    let path = format!("{PATH}/apples.{group}");
    let settled = eventually(PATIENCE, "the definition to be settled", async || {
        let found = send(client, "GET", &path, &Value::Null).await;
        let status = untimed(&found["status"]);
        if is_settled(&status) {
            Ok(found)
        } else {
            Err(status.to_string())
        }
    });
    settled.await.unwrap().as_object().cloned().unwrap()
}

/// Whether all three conditions of a definition in a group of the community are there to stay.
fn is_settled(status: &Value) -> bool {
    let kinds = [
        "NamesAccepted",
        "Established",
        "KubernetesAPIApprovalPolicyConformant",
    ];
    let conditions: Vec<&Value> = status["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let stays = |kind: &str| {
        conditions
            .iter()
            .any(|one| one["type"] == kind && one["reason"] != "Installing")
    };
    kinds.into_iter().all(stays)
}

/// Moves a definition to a group of the community, where it has one more condition.
fn settle_in(definition: &mut Object, group: &str) {
    let name = format!(
        "{}.{group}",
        definition["spec"]["names"]["plural"].as_str().unwrap()
    );
    definition["spec"]["group"] = group.into();
    definition["metadata"] = json!({ "name": name, "annotations": { "api-approved.kubernetes.io": "unapproved, a test" } });
}

/// A status without times, its conditions in the order of their types.
fn untimed(status: &Value) -> Value {
    let mut status = status.clone();
    if let Some(conditions) = status["conditions"].as_array_mut() {
        for condition in conditions.iter_mut() {
            condition["lastTransitionTime"] = Value::Null;
        }
        conditions.sort_by_key(|condition| condition["type"].to_string());
    }
    status
}
