//! The same patches, sent to the real API server.

#![expect(
    clippy::needless_pass_by_value,
    reason = "data reads better without a reference before each piece of it"
)]

use serde_json::{Value, json};

use super::oracle::{Oracle, into_object};
use super::{PatchKind, apply};
use crate::object::{Object, ObjectExt};
use crate::resource::Origin;
use crate::schema::Schema;

/// Applies each patch here and there, and compares objects and refusals. Those that are accepted
/// build on each other.
async fn check(
    oracle: &Oracle,
    schema: &Schema,
    path: &str,
    object: Value,
    patches: &[(PatchKind, Value)],
) {
    let mut current = oracle.create(path, &object).await;
    let path = format!("{path}/{}", current.name());
    for (kind, patch) in patches {
        let ours = match apply(*kind, schema, &current, patch) {
            Ok(object) => Value::Object(comparable(object)),
            Err(refusal) => refusal.status(),
        };
        let theirs = oracle.ask("PATCH", &path, kind.media_type(), patch).await;
        if theirs["kind"] == "Status" {
            assert_eq!(ours, theirs, "{kind:?} {patch:#}");
        } else {
            current = into_object(theirs);
            assert_eq!(
                ours,
                Value::Object(comparable(current.clone())),
                "{kind:?} {patch:#}"
            );
        }
    }
}

/// Without what the server counts and, if the kind is built in, without what is empty: that is
/// nothing there.
fn comparable(mut object: Object) -> Object {
    for field in ["managedFields", "resourceVersion", "generation"] {
        object.metadata_mut().remove(field);
    }
    let is_custom = object.api_version().ends_with(".example.com/v1");
    if is_custom {
        object
    } else {
        into_object(filled(Value::Object(object)))
    }
}

fn filled(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name, filled(value)));
            fields
                .filter(|(_, value)| ![json!(null), json!({}), json!([])].contains(value))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(filled).collect(),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => scalar,
    }
}

fn all(kind: PatchKind, patches: impl IntoIterator<Item = Value>) -> Vec<(PatchKind, Value)> {
    patches.into_iter().map(|patch| (kind, patch)).collect()
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/{ns}/configmaps";
const SERVICES: &str = "/api/v1/namespaces/{ns}/services";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/{ns}/deployments";
const INGRESSES: &str = "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses";

fn config_map() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "a",
            "labels": { "l": "1", "example.com/l": "2" },
            "finalizers": ["example.com/a", "example.com/b"],
        },
        "data": { "a": "1", "b": "2" },
    })
}

#[tokio::test]
async fn json_patches_do_what_they_do_there() {
    let oracle = Oracle::new("json-patch").await;
    let test = |path: &str, value: Value| json!([{ "op": "test", "path": path, "value": value }]);
    let patches = [
        test("/data/a", json!("1")),
        test("/data/a", json!("2")),
        test("/data/a", json!(null)),
        test("/data/nothing", json!(null)),
        test("/data/nothing", json!("x")),
        test("/nothing/nothing", json!(null)),
        test("/metadata/labels/example.com~1l", json!("2")),
        test("ignored/data/a", json!("1")),
        test("/metadata/finalizers/-1", json!("example.com/b")),
        test("/metadata/finalizers/-3", json!("example.com/b")),
        test("/metadata/finalizers/+1", json!("example.com/b")),
        test("/metadata/finalizers/2", json!(null)),
        json!([{ "op": "test", "path": "/data/nothing" }]),
        json!([{ "op": "test", "path": "/data/a" }]),
        json!([{ "op": "add", "path": "/data/c", "value": "3" }]),
        json!([{ "op": "add", "path": "/data/c/d", "value": "3" }]),
        json!([{ "op": "add", "path": "/immutable/d", "value": "3" }]),
        json!([{ "op": "add", "path": "", "value": {} }]),
        json!([{ "op": "add", "path": "/binaryData" }]),
        json!([{ "op": "add", "value": "3" }]),
        json!([{ "op": "replace", "path": "/data/d", "value": "4" }]),
        json!([{ "op": "replace", "path": "/nothing/d", "value": "4" }]),
        json!([{ "op": "replace", "path": "", "value": 3 }]),
        json!([{ "op": "replace", "path": "", "value": [] }]),
        json!([{ "op": "remove", "path": "/data/c" }]),
        json!([{ "op": "remove", "path": "/data/c" }]),
        json!([{ "op": "remove", "path": "" }]),
        json!([{ "op": "move", "from": "/data/d", "path": "/data/e" }]),
        json!([{ "op": "move", "from": "/data/d", "path": "/data/e" }]),
        json!([{ "op": "move", "path": "/data/e" }]),
        json!([{ "op": "move", "from": "/data", "path": "/data/e" }]),
        json!([{ "op": "copy", "from": "/data/e", "path": "/data/f" }]),
        json!([{ "op": "copy", "from": "/nothing/e", "path": "/data/f" }]),
        json!([{ "op": "copy", "from": "/metadata/annotations", "path": "/binaryData" }]),
        json!([{ "op": "copy", "path": "/data/f" }]),
        json!([{ "op": "add", "path": "/metadata/finalizers/-", "value": "example.com/d" }]),
        json!([{ "op": "add", "path": "/metadata/finalizers/-2", "value": "example.com/c" }]),
        json!([{ "op": "add", "path": "/metadata/finalizers/5", "value": "example.com/x" }]),
        json!([{ "op": "add", "path": "/metadata/finalizers/x", "value": "example.com/x" }]),
        json!([{ "op": "replace", "path": "/metadata/finalizers/-1", "value": "example.com/z" }]),
        json!([{ "op": "replace", "path": "/metadata/finalizers/4", "value": "example.com/z" }]),
        json!([{ "op": "replace", "path": "/metadata/finalizers/-", "value": "example.com/z" }]),
        json!([{ "op": "remove", "path": "/metadata/finalizers/-4" }]),
        json!([{ "op": "remove", "path": "/metadata/finalizers/-" }]),
        json!([{ "op": "jump", "path": "/data/f" }]),
        json!([{}]),
        json!([null]),
        json!([]),
        json!(null),
        json!({}),
        json!("x"),
        json!([1]),
        json!([{ "op": 1 }]),
        json!([{ "op": "add", "path": {} }]),
        json!([{ "op": "move", "path": "/data/a", "from": [] }]),
        vec![json!({ "op": "test", "path": "/kind", "value": "ConfigMap" }); 10_000].into(),
        vec![json!({ "op": "test", "path": "/kind", "value": "ConfigMap" }); 10_001].into(),
    ];
    check(
        &oracle,
        &Schema::default(),
        CONFIG_MAPS,
        config_map(),
        &all(PatchKind::Json, patches),
    )
    .await;
}

#[tokio::test]
async fn copies_are_limited_there_too() {
    let oracle = Oracle::new("copies").await;
    let mut object = config_map();
    object["data"] = json!({ "a": "x".repeat(200_000) });
    let copy = |index: usize| json!({ "op": "copy", "from": "/data/a", "path": format!("/metadata/annotations/{index}") });
    let copies = |count: usize| {
        let mut operations =
            vec![json!({ "op": "add", "path": "/metadata/annotations", "value": {} })];
        operations.extend((0..count).map(copy));
        operations.push(json!({ "op": "remove", "path": "/metadata/annotations" }));
        Value::from(operations)
    };
    // 15 copies of 200,002 bytes are less than 3 MiB, 16 are more.
    let patches = all(PatchKind::Json, [copies(15), copies(16)]);
    check(&oracle, &Schema::default(), CONFIG_MAPS, object, &patches).await;
}

#[tokio::test]
async fn merge_patches_do_what_they_do_there() {
    let oracle = Oracle::new("merge-patch").await;
    let patches = [
        json!({ "data": { "a": "2", "c": "3" } }),
        json!({ "data": { "a": null, "nothing": null } }),
        json!({ "metadata": { "labels": null, "annotations": { "a": "1", "b": null } } }),
        json!({ "metadata": { "finalizers": ["example.com/c"] } }),
        json!({ "binaryData": { "x": "AAAA", "y": null } }),
        json!({}),
        json!(null),
        json!([]),
        json!(3),
        json!(true),
    ];
    check(
        &oracle,
        &Schema::default(),
        CONFIG_MAPS,
        config_map(),
        &all(PatchKind::Merge, patches),
    )
    .await;
}

#[tokio::test]
async fn nulls_in_lists_of_merge_patches_go_as_they_go_there() {
    let oracle = Oracle::new("merge-nulls").await;
    let spec = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    oracle.install(definition("nulls", spec)).await;
    let object = json!({
        "apiVersion": "patch.example.com/v1",
        "kind": "Nulls",
        "metadata": { "name": "a" },
        "spec": { "list": [1], "map": { "a": 1 }, "scalar": 1 },
    });
    let holes =
        json!([{ "a": 1, "x": null, "b": { "c": 2, "d": [{ "e": 3, "f": null }] } }, null, 1]);
    let patches = all(
        PatchKind::Merge,
        [
            json!({ "spec": { "list": holes, "scalar": holes, "new": holes } }),
            json!({ "spec": { "map": holes, "deep": { "new": { "list": holes, "x": null } } } }),
            json!({ "spec": { "list": { "a": null, "b": 1 }, "scalar": { "a": { "b": null } } } }),
        ],
    );
    let path = "/apis/patch.example.com/v1/namespaces/{ns}/nulls";
    check(&oracle, &Schema::default(), path, object, &patches).await;
    let expected =
        PatchKind::negotiate(PatchKind::StrategicMerge.media_type(), Origin::Custom).unwrap_err();
    let media_type = PatchKind::StrategicMerge.media_type();
    let answer = oracle
        .ask("PATCH", &format!("{path}/a"), media_type, &json!({}))
        .await;
    assert_eq!(expected.status(), answer);
    let expected = PatchKind::negotiate("application/json", Origin::Builtin).unwrap_err();
    let answer = oracle
        .ask(
            "PATCH",
            &format!("{CONFIG_MAPS}/a"),
            "application/json",
            &json!({}),
        )
        .await;
    assert_eq!(expected.status(), answer);
}

#[tokio::test]
async fn strategic_patches_of_plain_lists_and_maps_do_what_they_do_there() {
    let oracle = Oracle::new("strategic").await;
    let schema = oracle
        .published("api/v1", "io.k8s.api.core.v1.ConfigMap")
        .await
        .schema();
    let patches = [
        json!({}),
        json!(null),
        json!([]),
        json!({ "data": { "a": "2", "c": "3", "b": null } }),
        json!({ "metadata": { "finalizers": ["example.com/c", "example.com/a"] } }),
        json!({ "metadata": { "finalizers": ["example.com/e", "example.com/d", "example.com/e"] } }),
        json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": ["example.com/a", "nothing"] } }),
        json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": "example.com/d" } }),
        json!({ "metadata": { "$setElementOrder/finalizers": ["example.com/d", "example.com/b"] } }),
        json!({ "metadata": {
            "$setElementOrder/finalizers": ["example.com/f", "example.com/c", "example.com/e"],
            "$deleteFromPrimitiveList/finalizers": ["example.com/d"],
            "finalizers": ["example.com/f"],
        } }),
        json!({ "metadata": { "$setElementOrder/finalizers": ["example.com/f"], "finalizers": ["example.com/g"] } }),
        json!({ "metadata": { "$setElementOrder/finalizers": [], "finalizers": ["example.com/e", "example.com/b"] } }),
        json!({ "metadata": { "$setElementOrder/ownerReferences": [{ "uid": "x" }] } }),
        json!({ "metadata": { "finalizers": ["a", 1] } }),
        json!({ "metadata": { "finalizers": [1] } }),
        json!({ "metadata": { "finalizers": [["a"]] } }),
        json!({ "metadata": { "finalizers": [null] } }),
        json!({ "metadata": { "finalizers": [{ "a": ["b", 1, true, null] }] } }),
        json!({ "metadata": { "$setElementOrder/finalizers": 3 } }),
        json!({ "metadata": { "$setElementOrder/finalizers": 3.5 } }),
        json!({ "metadata": { "$setElementOrder/finalizers": "x" } }),
        json!({ "metadata": { "$setElementOrder/finalizers": true } }),
        json!({ "metadata": { "$setElementOrder/finalizers": {} } }),
        json!({ "metadata": { "$setElementOrder/finalizers": null } }),
        json!({ "metadata": { "$setElementOrder": [] } }),
        json!({ "metadata": { "$deleteFromPrimitiveList": [] } }),
        json!({ "data": { "$retainKeys": 3 } }),
        json!({ "data": { "$retainKeys": ["a"], "b": "x" } }),
        json!({ "data": { "$retainKeys": ["a", "c"], "a": "x", "b": null } }),
        json!({ "data": { "$patch": "replace", "z": "1" } }),
        json!({ "data": { "$patch": "delete" } }),
        json!({ "data": { "$patch": "merge", "a": "1" } }),
        json!({ "data": { "$patch": "jump", "n": 1, "f": 1.5, "b": false, "l": ["a", { "x": null }] } }),
        json!({ "metadata": { "labels": { "$patch": "replace", "new": "1" } } }),
        json!({ "metadata": { "annotations": { "$patch": "replace", "new": "1" } } }),
        json!({ "metadata": { "annotations": { "a": "1", "b": null } } }),
        json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": null } }),
    ];
    check(
        &oracle,
        &schema,
        CONFIG_MAPS,
        config_map(),
        &all(PatchKind::StrategicMerge, patches),
    )
    .await;
}

#[tokio::test]
async fn strategic_patches_of_ports_do_what_they_do_there() {
    let oracle = Oracle::new("strategic-ports").await;
    let schema = oracle
        .published("api/v1", "io.k8s.api.core.v1.Service")
        .await
        .schema();
    let port = |name: &str, port: u16| json!({ "name": name, "port": port, "protocol": "TCP", "targetPort": port });
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "a" },
        "spec": { "ports": [port("a", 1), port("b", 2), port("c", 3)], "selector": { "a": "b" } },
    });
    let ports = |ports: Value| json!({ "spec": { "ports": ports } });
    let patches = [
        ports(json!([{ "port": 2, "name": "bb" }])),
        ports(json!([port("d", 4), { "port": 1, "targetPort": 11 }])),
        ports(json!([{ "port": 3, "$patch": "delete" }, { "port": 99, "$patch": "delete" }])),
        ports(json!([{ "name": "x" }])),
        ports(json!([{ "name": "x", "$patch": "delete" }])),
        ports(json!([{ "port": 1, "$patch": "merge" }])),
        ports(json!([{ "port": 1, "$patch": "jump" }])),
        ports(json!([1])),
        ports(json!([[1]])),
        json!({ "spec": {
            "$setElementOrder/ports": [{ "port": 1 }, { "port": 5 }, { "port": 2 }],
            "ports": [port("e", 5), { "port": 4, "$patch": "delete" }],
        } }),
        json!({ "spec": { "$setElementOrder/ports": [{ "port": 1 }], "ports": [{ "port": 2 }] } }),
        json!({ "spec": { "$setElementOrder/ports": [{ "port": 2 }, { "port": 1 }], "ports": [{ "port": 1 }, { "port": 2 }] } }),
        json!({ "spec": { "$setElementOrder/ports": [{ "name": "a" }], "ports": [{ "port": 2 }] } }),
        json!({ "spec": { "$setElementOrder/ports": [1], "ports": [{ "port": 2 }] } }),
        json!({ "spec": { "$setElementOrder/ports": [{ "port": 2 }, { "port": 1 }] } }),
        json!({ "spec": { "$setElementOrder/ports": [], "ports": [{ "port": 2 }, { "port": 5 }] } }),
        json!({ "spec": { "$deleteFromPrimitiveList/ports": [{ "port": 2, "name": "deleted" }] } }),
        json!({ "spec": { "selector": { "$patch": "replace", "c": "d" } } }),
        ports(json!([{ "$patch": "replace" }, port("z", 9), port("y", 8)])),
        ports(json!([])),
        ports(json!([{ "port": 9, "appProtocol": "http" }, { "port": 9, "appProtocol": "https" }])),
        json!({ "spec": { "externalIPs": ["10.0.0.1"], "externalTrafficPolicy": "Cluster", "loadBalancerSourceRanges": null } }),
        json!({ "spec": { "externalIPs": ["10.0.0.2"] } }),
    ];
    check(
        &oracle,
        &schema,
        SERVICES,
        service,
        &all(PatchKind::StrategicMerge, patches),
    )
    .await;
}

#[tokio::test]
async fn strategic_patches_of_deployments_do_what_they_do_there() {
    let oracle = Oracle::new("strategic-deploy").await;
    let schema = oracle
        .published("apis/apps/v1", "io.k8s.api.apps.v1.Deployment")
        .await
        .schema();
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "a" },
        "spec": {
            "selector": { "matchLabels": { "a": "b" } },
            "template": {
                "metadata": { "labels": { "a": "b" }, "finalizers": ["example.com/a"] },
                "spec": {
                    "containers": [
                        { "name": "one", "image": "a", "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }] },
                        { "name": "two", "image": "b", "args": ["x", "y"], "ports": [{ "containerPort": 80 }] },
                    ],
                    "volumes": [{ "name": "v", "emptyDir": {} }],
                    "tolerations": [{ "key": "k", "operator": "Exists" }],
                },
            },
        },
    });
    let pod = |spec: Value| json!({ "spec": { "template": { "spec": spec } } });
    let patches = [
        pod(json!({ "containers": [{ "name": "two", "image": "c", "args": ["z"] }] })),
        pod(json!({ "containers": [{ "name": "one", "env": [
            { "name": "B", "$patch": "delete" }, { "name": "C", "value": "3" }, { "name": "A", "value": null },
        ] }] })),
        pod(json!({
            "$setElementOrder/containers": [{ "name": "three" }, { "name": "two" }, { "name": "one" }],
            "containers": [
                { "name": "three", "image": "d", "env": [{ "name": "Z", "value": null }] },
                { "name": "one", "$setElementOrder/env": [{ "name": "C" }, { "name": "A" }] },
            ],
        })),
        pod(
            json!({ "volumes": [{ "name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": { "path": "/x" } }] }),
        ),
        pod(
            json!({ "volumes": [{ "name": "v", "$retainKeys": ["name"], "hostPath": { "path": "/x" } }] }),
        ),
        pod(
            json!({ "volumes": [{ "name": "w", "emptyDir": {} }, { "name": "v", "$patch": "delete" }] }),
        ),
        pod(json!({ "tolerations": [{ "key": "other", "operator": "Exists" }] })),
        pod(json!({ "containers": [{ "image": "x" }] })),
        json!({ "spec": { "strategy": { "$retainKeys": ["type"], "type": "Recreate" } } }),
        json!({ "spec": { "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": "10%" } } } }),
        json!({ "spec": { "template": { "metadata": { "finalizers": ["example.com/b"] } } } }),
        json!({ "spec": { "template": { "metadata": { "annotations": { "a": "1" }, "labels": { "c": "d" } } } } }),
        json!({ "spec": { "replicas": 3, "paused": true } }),
        json!({ "spec": { "replicas": null, "paused": null } }),
        pod(json!({ "containers": [{ "$patch": "replace" }, { "name": "new", "image": "n" }] })),
    ];
    // Defaults are not ours to fill in.
    let patches: Vec<Value> = patches.into_iter().map(with_defaults).collect();
    check(
        &oracle,
        &schema,
        DEPLOYMENTS,
        deployment,
        &all(PatchKind::StrategicMerge, patches),
    )
    .await;
}

/// The patch with what the server would fill in, so that both ends agree about it.
fn with_defaults(mut patch: Value) -> Value {
    let containers = patch
        .pointer_mut("/spec/template/spec/containers")
        .and_then(Value::as_array_mut);
    for container in containers
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        let is_new = ["three", "new"]
            .iter()
            .any(|name| container.get("name") == Some(&json!(name)));
        if is_new {
            container.insert("imagePullPolicy".to_owned(), json!("Always"));
            container.insert("resources".to_owned(), json!({}));
            container.insert(
                "terminationMessagePath".to_owned(),
                json!("/dev/termination-log"),
            );
            container.insert("terminationMessagePolicy".to_owned(), json!("File"));
        }
    }
    if let Some(path) = patch.pointer_mut("/spec/template/spec/volumes/0/hostPath") {
        path["type"] = json!("");
    }
    if patch.pointer("/spec/replicas") == Some(&json!(null)) {
        patch["spec"]["replicas"] = json!(1);
    }
    patch
}

#[tokio::test]
async fn strategic_patches_of_ingresses_replace_rules_as_there() {
    let oracle = Oracle::new("strategic-ingress").await;
    let schema = oracle
        .published(
            "apis/networking.k8s.io/v1",
            "io.k8s.api.networking.v1.Ingress",
        )
        .await
        .schema();
    let rule = |host: &str| {
        let backend = json!({ "service": { "name": "s", "port": { "number": 80 } } });
        json!({ "host": host, "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": backend }] } })
    };
    let ingress = json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": { "name": "a" },
        "spec": { "rules": [rule("a.example"), rule("b.example")], "tls": [{ "hosts": ["a.example"] }] },
    });
    let patches = [
        json!({ "spec": { "rules": [rule("c.example")] } }),
        json!({ "spec": { "tls": [{ "hosts": ["c.example"], "secretName": "s" }] } }),
        json!({ "spec": { "tls": null } }),
        json!({ "spec": { "$setElementOrder/tls": [], "tls": [] } }),
    ];
    check(
        &oracle,
        &schema,
        INGRESSES,
        ingress,
        &all(PatchKind::StrategicMerge, patches),
    )
    .await;
}

fn definition(plural: &str, spec: Value) -> Value {
    let kind = format!("{}{}", plural[..1].to_uppercase(), &plural[1..]);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.patch.example.com") },
        "spec": {
            "group": "patch.example.com",
            "scope": "Namespaced",
            "names": { "plural": plural, "singular": plural, "kind": kind, "listKind": format!("{kind}List") },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec } } },
            }],
        },
    })
}
