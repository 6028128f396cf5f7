//! The same writes, sent to the real API server: its record of them is ours.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, record};
use crate::object::{Object, ObjectExt};
use crate::patch::oracle::{Oracle, into_object, read_schema};
use crate::patch::{PatchKind, apply};
use crate::schema::Schema;

/// A kind under test.
struct Kind {
    schema: Schema,
    /// The empty object that creations of built-in kinds are compared with.
    empty: Option<Object>,
    path: &'static str,
    api_version: &'static str,
    /// Fields of the spec that the server allocates after it has recorded who wrote what.
    allocated: &'static [&'static str],
}

/// One write, by a manager.
enum Write {
    Create(Value),
    /// The object as it is, changed by this merge patch, in a PUT.
    Update(Value),
    UpdateStatus(Value),
    Patch(PatchKind, Value),
}

/// Lets each write happen there, and records it here.
async fn check(oracle: &Oracle, kind: &Kind, writes: Vec<(&str, Write)>) {
    let mut old: Option<Object> = None;
    for (manager, write) in writes {
        let (answer, sent, subresource) =
            perform(oracle, kind, old.as_ref(), manager, &write).await;
        let mut new = answer.clone();
        new.metadata_mut().remove("managedFields");
        if let (None, Some(Value::Object(spec))) = (&old, new.get_mut("spec")) {
            spec.retain(|name, _| !kind.allocated.contains(&name.as_str()));
        }
        if let Some(managed_fields) = sent {
            new.metadata_mut()
                .insert("managedFields".to_owned(), managed_fields);
        }
        let now = time_of(&answer, manager, subresource);
        let change = Change {
            manager,
            api_version: kind.api_version,
            subresource,
            now,
        };
        record(
            &kind.schema,
            old.as_ref().or(kind.empty.as_ref()),
            &mut new,
            &change,
        );
        assert_eq!(
            managed_fields(&new),
            managed_fields(&answer),
            "after {manager}: {answer:#?}"
        );
        old = Some(answer);
    }
}

/// The object that a write made, and the managed fields that were in the request.
async fn perform(
    oracle: &Oracle,
    kind: &Kind,
    old: Option<&Object>,
    manager: &str,
    write: &Write,
) -> (Object, Option<Value>, &'static str) {
    let query = format!("fieldManager={manager}");
    let name = old.map(ObjectExt::name).unwrap_or_default();
    let updated = |patch: &Value| {
        let object = old.expect("updates follow a creation");
        apply(PatchKind::Merge, &Schema::default(), object, patch).unwrap()
    };
    let (method, path, content_type, body, subresource) = match write {
        Write::Create(object) => (
            "POST",
            format!("{}?{query}", kind.path),
            "application/json",
            object.clone(),
            "",
        ),
        Write::Update(patch) => {
            let path = format!("{}/{name}?{query}", kind.path);
            (
                "PUT",
                path,
                "application/json",
                Value::Object(updated(patch)),
                "",
            )
        }
        Write::UpdateStatus(patch) => {
            let path = format!("{}/{name}/status?{query}", kind.path);
            (
                "PUT",
                path,
                "application/json",
                Value::Object(updated(patch)),
                "status",
            )
        }
        Write::Patch(patch_kind, patch) => (
            "PATCH",
            format!("{}/{name}?{query}", kind.path),
            patch_kind.media_type(),
            patch.clone(),
            "",
        ),
    };
    let answer = into_object(oracle.ask(method, &path, content_type, &body).await);
    assert_ne!(answer.kind(), "Status", "{answer:#?}");
    let sent = match write {
        Write::Create(_) | Write::Update(_) | Write::UpdateStatus(_) => {
            body.pointer("/metadata/managedFields").cloned()
        }
        // A patch is applied to the object with everything that is in it.
        Write::Patch(patch_kind, patch) => {
            let patched = apply(
                *patch_kind,
                &kind.schema,
                old.expect("patches follow a creation"),
                patch,
            )
            .unwrap();
            managed_fields(&patched).cloned()
        }
    };
    (answer, sent, subresource)
}

fn managed_fields(object: &Object) -> Option<&Value> {
    object.metadata()?.get("managedFields")
}

/// When the server made this entry; any time will do if there is none.
fn time_of(object: &Object, manager: &str, subresource: &str) -> Timestamp {
    let entries = managed_fields(object)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let is_it = |entry: &&Value| {
        entry["manager"] == manager
            && entry["subresource"].as_str().unwrap_or_default() == subresource
    };
    let time = entries
        .filter(is_it)
        .find_map(|entry| entry["time"].as_str()?.parse().ok());
    time.unwrap_or(Timestamp::UNIX_EPOCH)
}

fn merge(patch: Value) -> Write {
    Write::Patch(PatchKind::Merge, patch)
}

async fn builtin(oracle: &Oracle, document: &str, definition: &str, path: &'static str) -> Kind {
    let published = oracle.published(document, definition).await;
    let api_version = document
        .trim_start_matches("apis/")
        .trim_start_matches("api/");
    let api_version: &'static str = api_version.to_owned().leak();
    Kind {
        schema: published.schema(),
        empty: Some(published.empty()),
        path,
        api_version,
        allocated: &[],
    }
}

#[tokio::test]
async fn config_maps_are_recorded_as_there() {
    let oracle = Oracle::new("managed-config").await;
    let path = "/api/v1/namespaces/{ns}/configmaps";
    let kind = builtin(&oracle, "api/v1", "io.k8s.api.core.v1.ConfigMap", path).await;
    let metadata = json!({
        "name": "a",
        "labels": { "l": "1", "m/n.o": "2" },
        "annotations": { "a": "<&>\u{2028}\"" },
        "finalizers": ["example.com/a"],
        "ownerReferences": [{ "apiVersion": "nobody.example.com/v1", "kind": "Unknown", "name": "n", "uid": "u<&>" }],
    });
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": { "a": "1", "b": "2" } });
    let reset = |value: Value| json!({ "metadata": { "managedFields": value } });
    let writes = vec![
        ("alice", Write::Create(object)),
        ("bob", merge(json!({ "data": { "a": "2", "c": "3" } }))),
        ("bob", merge(json!({ "data": { "a": "2" } }))),
        ("carol", merge(json!({}))),
        (
            "carol",
            merge(json!({ "metadata": { "finalizers": ["example.com/b", "example.com/a"] } })),
        ),
        (
            "carol",
            merge(
                json!({ "metadata": { "finalizers": ["example.com/b"], "labels": { "l": null } } }),
            ),
        ),
        (
            "dave",
            Write::Update(json!({ "data": { "d": "4" }, "metadata": { "managedFields": null } })),
        ),
        ("dave", Write::Update(json!({ "data": { "e": "5" } }))),
        ("dave", merge(json!({ "data": null }))),
        (
            "dave",
            merge(json!({ "metadata": { "ownerReferences": null, "annotations": null } })),
        ),
        (
            "alice",
            merge(json!({ "binaryData": { "x": "AAAA" }, "immutable": false })),
        ),
        (
            "alice",
            Write::Update(reset(
                json!([{ "manager": "mallory", "operation": "Nonsense" }]),
            )),
        ),
        (
            "erin",
            Write::Update(reset(json!([{
                "manager": "frank", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "time": "2020-01-01T00:00:00Z", "fieldsV1": { "f:binaryData": { "f:x": {}, "f:y": {} }, "z:new": {} },
            }]))),
        ),
        (
            "erin",
            merge(json!({ "binaryData": { "x": "BBBB" }, "data": { "f": "1" } })),
        ),
        ("grace", merge(json!({ "binaryData": { "y": "BBBB" } }))),
        ("grace", merge(reset(json!([{}])))),
        ("heidi", merge(json!({ "data": { "g": "1" } }))),
    ];
    check(&oracle, &kind, writes).await;
}

#[tokio::test]
async fn a_reset_on_creation_is_no_reset() {
    let oracle = Oracle::new("managed-reset").await;
    let path = "/api/v1/namespaces/{ns}/secrets";
    let kind = builtin(&oracle, "api/v1", "io.k8s.api.core.v1.Secret", path).await;
    let metadata = json!({ "name": "a", "managedFields": [] });
    let object = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": { "a": "b" } });
    let writes = vec![
        ("alice", Write::Create(object)),
        ("bob", merge(json!({ "data": { "b": "AAAA" } }))),
        ("bob", merge(json!({ "metadata": { "managedFields": [] } }))),
        ("alice", merge(json!({ "data": { "b": "BBBB" } }))),
    ];
    check(&oracle, &kind, writes).await;
}

#[tokio::test]
async fn the_eleventh_updater_makes_the_oldest_ancient_as_there() {
    let oracle = Oracle::new("managed-cap").await;
    let path = "/api/v1/namespaces/{ns}/configmaps";
    let kind = builtin(&oracle, "api/v1", "io.k8s.api.core.v1.ConfigMap", path).await;
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": "1" } });
    let names = ["b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"];
    let mut writes = vec![("a", Write::Create(object))];
    writes.extend(names.map(|name| (name, merge(json!({ "data": { name: "1" } })))));
    check(&oracle, &kind, writes).await;
}

#[tokio::test]
async fn services_are_recorded_as_there() {
    let oracle = Oracle::new("managed-service").await;
    let path = "/api/v1/namespaces/{ns}/services";
    let mut kind = builtin(&oracle, "api/v1", "io.k8s.api.core.v1.Service", path).await;
    kind.allocated = &["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
    let port = |name: &str, port: u16| json!({ "name": name, "port": port, "targetPort": "http" });
    let mut spec = json!({ "ports": [port("a", 1), port("b", 2)], "selector": { "a": "b" } });
    // Node ports would be allocated after the record is made, for each new port.
    spec["type"] = json!("LoadBalancer");
    spec["allocateLoadBalancerNodePorts"] = json!(false);
    let object =
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a" }, "spec": spec });
    let strategic = |patch: Value| Write::Patch(PatchKind::StrategicMerge, patch);
    let ingress =
        json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.1", "ipMode": "VIP" }] } });
    let writes = vec![
        ("alice", Write::Create(object)),
        (
            "bob",
            strategic(json!({ "spec": { "ports": [{ "port": 2, "name": "bb" }, port("c", 3)] } })),
        ),
        (
            "carol",
            strategic(json!({ "spec": { "ports": [{ "port": 1, "$patch": "delete" }] } })),
        ),
        (
            "carol",
            merge(json!({ "spec": { "selector": null, "sessionAffinity": "ClientIP" } })),
        ),
        ("dave", Write::UpdateStatus(json!({ "status": ingress }))),
        (
            "dave",
            Write::UpdateStatus(json!({ "status": { "loadBalancer": { "ingress": null } } })),
        ),
    ];
    check(&oracle, &kind, writes).await;
}

#[tokio::test]
async fn deployments_are_recorded_as_there() {
    let oracle = Oracle::new("managed-deploy").await;
    let path = "/apis/apps/v1/namespaces/{ns}/deployments";
    let kind = builtin(
        &oracle,
        "apis/apps/v1",
        "io.k8s.api.apps.v1.Deployment",
        path,
    )
    .await;
    let object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "a" },
        "spec": {
            "selector": { "matchLabels": { "a": "b" } },
            "template": {
                "metadata": { "labels": { "a": "b" } },
                "spec": { "containers": [
                    { "name": "one", "image": "a", "env": [{ "name": "A", "value": "1" }], "ports": [{ "containerPort": 80 }] },
                ] },
            },
        },
    });
    let strategic = |patch: Value| Write::Patch(PatchKind::StrategicMerge, patch);
    let container = |container: Value| json!({ "spec": { "template": { "spec": { "containers": [container] } } } });
    let condition = json!({
        "type": "Available", "status": "True", "reason": "R", "message": "m",
        "lastTransitionTime": "2020-01-01T00:00:00Z", "lastUpdateTime": "2020-01-01T00:00:00Z",
    });
    let writes = vec![
        ("alice", Write::Create(object)),
        (
            "bob",
            strategic(container(
                json!({ "name": "one", "image": "b", "env": [{ "name": "A", "value": "2" }] }),
            )),
        ),
        (
            "bob",
            strategic(container(
                json!({ "name": "one", "env": [{ "name": "A", "$patch": "delete" }] }),
            )),
        ),
        (
            "carol",
            strategic(
                json!({ "spec": { "replicas": 3, "strategy": { "$retainKeys": ["type"], "type": "Recreate" } } }),
            ),
        ),
        (
            "dave",
            Write::UpdateStatus(json!({ "status": { "replicas": 3, "conditions": [condition] } })),
        ),
        (
            "dave",
            Write::UpdateStatus(json!({ "status": { "replicas": 2 } })),
        ),
        (
            "alice",
            strategic(json!({ "metadata": { "labels": { "x": "y" } } })),
        ),
    ];
    check(&oracle, &kind, writes).await;
}

#[tokio::test]
async fn ingresses_are_recorded_as_there() {
    let oracle = Oracle::new("managed-ingress").await;
    let path = "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses";
    let definition = "io.k8s.api.networking.v1.Ingress";
    let kind = builtin(&oracle, "apis/networking.k8s.io/v1", definition, path).await;
    let rule = |host: &str| {
        let backend = json!({ "service": { "name": "s", "port": { "number": 80 } } });
        json!({ "host": host, "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": backend }] } })
    };
    let spec = json!({ "rules": [rule("a.example")], "ingressClassName": "c" });
    let object = json!({ "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": { "name": "a" }, "spec": spec });
    let writes = vec![
        ("alice", Write::Create(object)),
        (
            "bob",
            merge(json!({ "spec": { "rules": [rule("a.example"), rule("b.example")] } })),
        ),
        (
            "carol",
            merge(
                json!({ "spec": { "tls": [{ "hosts": ["a.example"] }], "ingressClassName": null } }),
            ),
        ),
    ];
    check(&oracle, &kind, writes).await;
}

#[tokio::test]
async fn custom_resources_are_recorded_as_there() {
    let oracle = Oracle::new("managed-custom").await;
    let schema = custom_schema();
    oracle.install(definition(&schema)).await;
    let kind = Kind {
        schema: read_schema(&schema),
        empty: None,
        path: "/apis/managed.example.com/v1/namespaces/{ns}/things",
        api_version: "managed.example.com/v1",
        allocated: &[],
    };
    let object = json!({
        "apiVersion": "managed.example.com/v1",
        "kind": "Thing",
        "metadata": { "name": "a" },
        "spec": {
            "map": [{ "name": "a", "port": 1, "value": { "x": 1 } }, { "name": "b", "value": {} }],
            "set": ["a", "<b>"],
            "numbers": [1, 2.5, 3.0],
            "atomicList": [{ "a": 1 }],
            "atomicMap": { "a": 1 },
            "labels": { "a": "1" },
            "percent": "10%",
            "any": { "a": 1, "list": [{ "b": 1 }], "map": { "c": { "d": null } }, "empty": {}, "none": [] },
            "embedded": { "apiVersion": "v1", "kind": "X", "metadata": { "name": "n", "labels": { "a": "b" } }, "extra": [1] },
            "empty": {},
            "emptyList": [],
        },
        "status": { "phase": "ignored" },
    });
    let spec = |spec: Value| merge(json!({ "spec": spec }));
    let writes = vec![
        ("alice", Write::Create(object)),
        (
            "bob",
            spec(
                json!({ "map": [{ "name": "b", "value": { "y": 1 } }, { "name": "c", "port": 3 }] }),
            ),
        ),
        (
            "bob",
            spec(json!({ "set": ["c", "<b>"], "numbers": [2.5, 4, 1.0] })),
        ),
        (
            "carol",
            spec(json!({ "atomicList": [{ "a": 1, "b": 2 }], "atomicMap": { "b": 2 } })),
        ),
        (
            "carol",
            spec(json!({ "labels": { "a": "2", "b": "3" }, "percent": 5 })),
        ),
        (
            "dave",
            spec(json!({ "any": { "a": { "now": { "a": "map" } }, "list": { "now": "a map" } } })),
        ),
        (
            "dave",
            spec(
                json!({ "any": { "a": [1], "map": "scalar", "empty": { "no": "more" }, "none": [1] } }),
            ),
        ),
        (
            "dave",
            spec(json!({ "any": { "map": { "c": 1 }, "empty": {}, "none": null } })),
        ),
        (
            "erin",
            spec(
                json!({ "embedded": { "metadata": { "labels": { "a": "c" }, "finalizers": ["example.com/x"] } } }),
            ),
        ),
        (
            "erin",
            spec(json!({ "empty": null, "emptyList": ["x"], "map": [], "set": null })),
        ),
        ("erin", spec(json!({ "emptyList": [] }))),
        (
            "frank",
            Write::UpdateStatus(
                json!({ "status": { "phase": "a" }, "spec": { "percent": 1 }, "metadata": { "labels": { "x": "y" } } }),
            ),
        ),
        (
            "frank",
            Write::UpdateStatus(
                json!({ "status": { "phase": "b" }, "metadata": { "managedFields": [] } }),
            ),
        ),
        (
            "alice",
            Write::Update(json!({ "status": { "phase": "c" }, "spec": { "percent": 7 } })),
        ),
        ("alice", Write::Update(json!({}))),
        ("frank", Write::UpdateStatus(json!({ "status": null }))),
        ("grace", spec(json!({ "any": null, "embedded": null }))),
    ];
    check(&oracle, &kind, writes).await;
}

fn custom_schema() -> Value {
    let text = || json!({ "type": "string" });
    let list = |list_type: &str, items: Value| json!({ "type": "array", "x-kubernetes-list-type": list_type, "items": items });
    let free = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let entry = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": text(),
            "port": { "type": "integer", "default": 80 },
            "value": { "type": "object", "additionalProperties": { "type": "integer" } },
        },
    });
    let mut map = list("map", entry);
    map["x-kubernetes-list-map-keys"] = json!(["name", "port"]);
    let mut embedded = free.clone();
    embedded["x-kubernetes-embedded-resource"] = json!(true);
    let spec = json!({
        "type": "object",
        "properties": {
            "map": map,
            "set": list("set", text()),
            "numbers": list("set", json!({ "type": "number" })),
            "emptyList": list("set", text()),
            "atomicList": list("atomic", free.clone()),
            "atomicMap": { "type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": { "type": "integer" } },
            "labels": { "type": "object", "additionalProperties": text() },
            "percent": { "x-kubernetes-int-or-string": true },
            "empty": { "type": "object", "properties": { "a": text() } },
            "any": free,
            "embedded": embedded,
        },
    });
    let status = json!({ "type": "object", "properties": { "phase": text() } });
    json!({ "type": "object", "properties": { "spec": spec, "status": status } })
}

fn definition(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.managed.example.com" },
        "spec": {
            "group": "managed.example.com",
            "scope": "Namespaced",
            "names": { "plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": schema },
            }],
        },
    })
}
