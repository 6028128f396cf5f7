//! What the built-in kinds do, without a server: tables of objects that have a status, Events in both
//! forms, and the shape of schemas.

use serde_json::json;

use super::*;
use crate::schema::{ListKind, MapKind, Merge, Schema, Type};

fn find(group: &str, kind: &str) -> Resource {
    let mut all = resources().into_iter();
    all.find(|one| one.names.group == group && one.names.kind == kind)
        .unwrap()
}

fn object(value: Value) -> Object {
    let Value::Object(object) = value else {
        unreachable!("tests write objects");
    };
    object
}

/// The row of an object that is two hours old.
fn row(group: &str, kind: &str, mut value: Value) -> Value {
    value["metadata"] = json!({ "name": "a", "creationTimestamp": "2026-01-01T00:00:00Z" });
    let now = "2026-01-01T02:00:00Z".parse().unwrap();
    cells(&find(group, kind), &object(value), now)
        .unwrap()
        .into()
}

fn field<'a>(schema: &'a Schema, path: &str) -> &'a Schema {
    path.split('.').fold(schema, |schema, step| match step {
        "[]" => schema.items.as_ref().unwrap(),
        step => &schema.properties[step],
    })
}

#[test]
fn services_show_where_they_are() {
    let ports = json!([{ "port": 80, "protocol": "TCP", "nodePort": 30080 }]);
    let service = |kind: &str, more: Value| {
        let mut spec = json!({
            "type": kind, "clusterIPs": ["10.0.0.1"], "ports": ports, "selector": { "b": "c", "a": "b" }
        });
        json_patch::merge(&mut spec, &more);
        spec
    };
    let status = json!({ "loadBalancer": { "ingress": [
        { "hostname": "b.example.com" }, { "ip": "192.0.2.2" }, { "ip": "192.0.2.1" }, {}
    ] } });
    let value = json!({ "spec": service("LoadBalancer", json!({})), "status": status });
    assert_eq!(
        row("", "Service", value),
        json!([
            "a",
            "LoadBalancer",
            "10.0.0.1",
            "192.0.2.1,192.0.2.2,b.example.com",
            "80:30080/TCP",
            "120m",
            "a=b,b=c"
        ])
    );
    for (kind, more, shown) in [
        ("LoadBalancer", json!({}), "<pending>"),
        (
            "LoadBalancer",
            json!({ "externalIPs": ["192.0.2.9"] }),
            "192.0.2.9",
        ),
        ("ClusterIP", json!({}), "<none>"),
        (
            "NodePort",
            json!({ "externalIPs": ["192.0.2.9", "192.0.2.8"] }),
            "192.0.2.9,192.0.2.8",
        ),
        (
            "ExternalName",
            json!({ "externalName": "example.com" }),
            "example.com",
        ),
        ("Other", json!({}), "<unknown>"),
    ] {
        assert_eq!(
            row("", "Service", json!({ "spec": service(kind, more) }))[3],
            shown,
            "{kind}"
        );
    }
}

#[test]
fn ingresses_show_three_hosts_and_count_the_rest() {
    let hosts = |hosts: &[&str]| {
        let rules: Vec<Value> = hosts.iter().map(|host| json!({ "host": host })).collect();
        row(
            "networking.k8s.io",
            "Ingress",
            json!({ "spec": { "rules": rules } }),
        )[2]
        .clone()
    };
    assert_eq!(hosts(&[]), "*");
    assert_eq!(hosts(&["", "a"]), "a");
    assert_eq!(hosts(&["a", "b", "c"]), "a,b,c");
    assert_eq!(hosts(&["a", "b", "c", "d"]), "a,b,c + 1 more...");
    assert_eq!(hosts(&["a", "", "b", "c", ""]), "a,b,c + 2 more...");
}

#[test]
fn deployments_show_how_many_pods_there_are() {
    let status = json!({ "readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 3 });
    let shown = row(
        "apps",
        "Deployment",
        json!({ "spec": { "replicas": 4 }, "status": status }),
    );
    assert_eq!(shown, json!(["a", "1/4", 2, 3, "120m", "", "", ""]));
}

#[test]
fn an_event_is_as_old_as_it_was_last_seen() {
    let shown = |value: Value| {
        let row = row("", "Event", value);
        (row[0].clone(), row[7].clone(), row[8].clone())
    };
    let (early, late) = ("2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z");
    let unknown = json!("<unknown>");
    assert_eq!(shown(json!({})), (unknown.clone(), unknown, json!(1)));
    assert_eq!(
        shown(json!({ "firstTimestamp": early, "lastTimestamp": late, "count": 3 })),
        (json!("60m"), json!("90m"), json!(3))
    );
    assert_eq!(
        shown(json!({ "eventTime": early })),
        (json!("90m"), json!("90m"), json!(1))
    );
    let series = json!({ "eventTime": early, "series": { "count": 7, "lastObservedTime": late } });
    assert_eq!(shown(series), (json!("60m"), json!("90m"), json!(7)));
}

#[test]
fn events_survive_both_conversions() {
    let core = object(json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "name": "a" }, "reason": "b",
        "involvedObject": { "name": "c" }, "message": "d", "source": { "component": "e" },
        "firstTimestamp": null, "lastTimestamp": "2026-01-01T00:00:00Z", "count": 2,
        "reportingComponent": "f", "reportingInstance": "g", "related": { "name": "h" }
    }));
    let events = event::to_events(&core);
    assert_eq!(
        Value::Object(events.clone()),
        json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "a" },
            "reason": "b", "regarding": { "name": "c" }, "note": "d",
            "deprecatedSource": { "component": "e" }, "deprecatedFirstTimestamp": null,
            "deprecatedLastTimestamp": "2026-01-01T00:00:00Z", "deprecatedCount": 2,
            "reportingController": "f", "reportingInstance": "g", "related": { "name": "h" }
        })
    );
    assert_eq!(event::to_core(&events), core);
    assert_eq!(event::to_core(&core), core, "the form that it has already");
    assert_eq!(
        event::to_events(&events),
        events,
        "the form that it has already"
    );
}

#[test]
fn selectors_see_what_is_not_written() {
    let node = object(json!({ "metadata": { "name": "a" } }));
    let value = |field: &str| selected(&find("", "Node"), &node, field);
    assert_eq!(value("spec.unschedulable").as_deref(), Some("false"));
    assert_eq!(value("metadata.name").as_deref(), Some("a"));
    assert_eq!(value("spec.podCIDR"), None);
    let cordoned = object(json!({ "spec": { "unschedulable": true } }));
    let shown = selected(&find("", "Node"), &cordoned, "spec.unschedulable");
    assert_eq!(shown.as_deref(), Some("true"));
    let event = object(json!({ "reportingComponent": "a", "source": {} }));
    assert_eq!(
        selected(&find("", "Event"), &event, "source").as_deref(),
        Some("a")
    );
}

#[test]
fn generations_count_what_is_asked_for() {
    let with = |annotations: Value, spec: i64, status: i64| {
        object(json!({
            "metadata": { "annotations": annotations }, "spec": spec, "status": status,
            "webhooks": spec
        }))
    };
    let old = with(json!({}), 1, 1);
    let counts =
        |group: &str, kind: &str, new: &Object| changes_generation(&find(group, kind), new, &old);
    for (group, kind, annotations, spec) in [
        ("apps", "Deployment", true, true),
        ("networking.k8s.io", "Ingress", false, true),
        ("networking.k8s.io", "IngressClass", false, true),
        ("policy", "PodDisruptionBudget", false, true),
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration",
            false,
            true,
        ),
        ("", "Service", false, false),
        ("", "Secret", false, false),
        ("coordination.k8s.io", "Lease", false, false),
    ] {
        assert_eq!(
            counts(group, kind, &with(json!({ "a": "b" }), 1, 1)),
            annotations,
            "{kind}"
        );
        assert_eq!(counts(group, kind, &with(json!({}), 2, 1)), spec, "{kind}");
        assert!(!counts(group, kind, &with(json!({}), 1, 2)), "{kind}");
    }
}

#[test]
fn schemas_tell_how_lists_merge() {
    let service = find("", "Service");
    let ports = field(&service.schema, "spec.ports");
    assert_eq!(
        ports.list,
        ListKind::Map(vec!["port".to_owned(), "protocol".to_owned()])
    );
    let merge = Merge {
        key: Some("port".to_owned()),
        retain_keys: false,
    };
    assert_eq!(ports.merge, Some(merge));
    assert_eq!(field(ports, "[].protocol").default, Some("TCP".into()));
    assert!(field(ports, "[].targetPort").int_or_string);
    assert_eq!(field(&service.schema, "spec.selector").map, MapKind::Atomic);
    assert_eq!(
        field(&service.schema, "metadata.finalizers").list,
        ListKind::Set
    );
    let fields = field(&service.schema, "metadata.managedFields.[].fieldsV1");
    assert!(fields.preserve_unknown);

    let deployment = find("apps", "Deployment");
    let volumes = field(&deployment.schema, "spec.template.spec.volumes");
    assert_eq!(
        volumes.merge,
        Some(Merge {
            key: Some("name".to_owned()),
            retain_keys: true
        })
    );
    let strategy = field(&deployment.schema, "spec.strategy");
    assert_eq!(
        strategy.merge,
        Some(Merge {
            key: None,
            retain_keys: true
        })
    );
    assert_eq!(
        field(&deployment.schema, "spec.replicas").kind,
        Some(Type::Integer)
    );
}

#[test]
fn a_type_that_contains_itself_is_cut_off() {
    let definition = find("apiextensions.k8s.io", "CustomResourceDefinition");
    let schema = field(
        &definition.schema,
        "spec.versions.[].schema.openAPIV3Schema",
    );
    assert_eq!(field(schema, "type").kind, Some(Type::String));
    assert!(!schema.preserve_unknown);
    let below = field(schema, "properties").additional.as_ref().unwrap();
    assert!(below.preserve_unknown && below.properties.is_empty());
    let anything = field(schema, "default");
    assert!(anything.preserve_unknown && anything.kind.is_none());
}

#[test]
fn kinds_are_described_by_published_types() {
    for resource in resources() {
        let name = published::name(&resource.openapi).unwrap();
        let types = published::types([name]);
        let text = types[name].to_string();
        assert!(text.contains("ObjectMeta"), "{}", resource.names.kind);
        let metadata = &types["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"];
        assert!(metadata.to_string().contains("Name must be unique"));
        assert!(!json!(types).to_string().contains("#/$defs"), "{name}");
    }
}

#[test]
fn data_has_a_limit_of_a_mebibyte() {
    let text = |size: usize| "x".repeat(size);
    let judge = |kind: &str, value: Value| {
        let errors = validate_create(&find("", kind), &object(value));
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let fits = json!({ "data": { "a": text(1 << 19), "b": text(1 << 19) } });
    assert_eq!(judge("ConfigMap", fits), [""; 0]);
    let beyond = json!({ "data": { "a": text((1 << 20) - 2) }, "binaryData": { "b": "YWJj" } });
    let said = "[]: Too long: may not be more than 1048576 bytes";
    assert_eq!(judge("ConfigMap", beyond), [said]);

    let encoded = |size: usize| {
        let mut secret = object(json!({ "stringData": { "a": text(size) } }));
        default(&find("", "Secret"), &mut secret);
        Value::Object(secret)
    };
    assert_eq!(judge("Secret", encoded(1 << 20)), [""; 0]);
    let said = "data: Too long: may not be more than 1048576 bytes";
    assert_eq!(judge("Secret", encoded((1 << 20) + 1)), [said]);
}

#[test]
fn a_service_that_is_written_without_its_address_keeps_it() {
    let service = find("", "Service");
    let old = object(json!({ "spec": {
        "type": "ClusterIP", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"],
        "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"
    } }));
    let mut new = object(json!({ "spec": { "type": "ClusterIP" } }));
    prepare_update(&service, &mut new, &old, None);
    assert_eq!(new, old);
    let mut named = object(json!({ "spec": { "type": "ExternalName" } }));
    prepare_update(&service, &mut named, &old, None);
    assert_eq!(named, object(json!({ "spec": { "type": "ExternalName" } })));

    let mut other = object(json!({ "spec": {
        "type": "ClusterIP", "clusterIP": "10.0.0.2", "clusterIPs": ["10.0.0.2"],
        "ports": [{ "port": 1 }]
    } }));
    prepare_update(&service, &mut other, &old, None);
    let errors = validate_update(&service, &other, &old, None);
    let said: Vec<String> = of_spec(&errors).map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set"]
    );
}

#[test]
fn an_address_that_is_given_is_kept_and_tells_the_family() {
    let spec = |given: Value| {
        let mut service = object(json!({ "spec": given }));
        default(&find("", "Service"), &mut service);
        prepare_create(&find("", "Service"), &mut service);
        let spec = &service["spec"];
        json!([
            spec.get("clusterIP"),
            spec.get("clusterIPs"),
            spec["ipFamilies"],
            spec["ipFamilyPolicy"]
        ])
    };
    assert_eq!(
        spec(json!({})),
        json!([null, null, ["IPv4"], "SingleStack"])
    );
    let given = json!({ "clusterIP": "2001:db8::1" });
    let wanted = json!(["2001:db8::1", ["2001:db8::1"], ["IPv6"], "SingleStack"]);
    assert_eq!(spec(given), wanted);
    let both = ["10.0.0.1", "2001:db8::1"];
    let given = json!({ "clusterIP": both[0], "clusterIPs": both });
    let wanted = json!([both[0], both, ["IPv4", "IPv6"], "RequireDualStack"]);
    assert_eq!(spec(given), wanted);
    let none = json!({ "clusterIP": "None" });
    assert_eq!(
        spec(none),
        json!(["None", ["None"], ["IPv4", "IPv6"], "RequireDualStack"])
    );
}

#[test]
fn a_second_address_may_come_and_go_but_the_first_stays() {
    let with = |addresses: &[&str]| {
        object(json!({ "spec": {
            "type": "ClusterIP", "clusterIP": addresses[0], "clusterIPs": addresses,
            "ports": [{ "port": 1 }]
        } }))
    };
    let said = |old: &[&str], new: &[&str]| {
        let errors = validate_update(&find("", "Service"), &with(new), &with(old), None);
        of_spec(&errors)
            .map(|error| error.path.to_string())
            .collect::<Vec<_>>()
    };
    let (four, six) = ("10.0.0.1", "2001:db8::1");
    assert_eq!(said(&[four], &[four, six]), [""; 0]);
    assert_eq!(said(&[four, six], &[four]), [""; 0]);
    assert_eq!(said(&[four], &[six, four]), ["spec.clusterIPs[0]"]);
    assert_eq!(
        said(&[four, six], &[four, "2001:db8::2"]),
        ["spec.clusterIPs[1]"]
    );
}

/// What is said of anything but metadata, which these objects do not have.
fn of_spec(errors: &[FieldError]) -> impl Iterator<Item = &FieldError> {
    let of_spec = |error: &&FieldError| error.path.as_str().starts_with("spec");
    errors.iter().filter(of_spec)
}

/// What becomes of a new object before it is judged.
fn filled(group: &str, kind: &str, value: Value) -> Value {
    let resource = find(group, kind);
    let mut object = object(value);
    default(&resource, &mut object);
    prepare_create(&resource, &mut object);
    object.into()
}

fn problems(group: &str, kind: &str, value: Value) -> Vec<String> {
    let found = validate_create(&find(group, kind), &object(filled(group, kind, value)));
    let path = |error: &FieldError| error.to_string();
    found.iter().map(path).collect()
}

const POD: &str = r#"{ "containers": [{ "name": "c", "image": "nginx" }] }"#;

fn pod() -> Value {
    serde_json::from_str(POD).unwrap()
}

#[test]
fn every_kind_has_a_type_columns_and_an_empty_object() {
    for resource in resources() {
        let name = &resource.names.kind;
        assert!(!resource.schema.properties.is_empty(), "{name}");
        assert!(resource.columns.len() > 1, "{name}");
        let blank = blank(&resource).unwrap();
        let row = cells(&resource, &blank, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(row.len(), resource.columns.len(), "{name}");
        for column in resource.columns.iter() {
            assert_ne!(column.description, "", "{name} {}", column.name);
        }
    }
}

#[test]
fn a_kind_that_is_only_stored_is_filled_in_by_its_types() {
    let pod_spec = json!({
        "containers": [{
            "name": "c", "image": "nginx", "imagePullPolicy": "Always", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        }],
        "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30,
    });
    let made = filled("", "Pod", json!({ "spec": pod() }));
    assert_eq!(made["spec"], pod_spec);
    assert_eq!(made["status"], json!({ "phase": "Pending" }));

    let set = json!({ "spec": { "template": { "spec": pod() } } });
    let made = filled("apps", "StatefulSet", set);
    let spec = &made["spec"];
    assert_eq!(spec["replicas"], 1);
    assert_eq!(spec["selector"], Value::Null);
    assert_eq!(
        spec["updateStrategy"],
        json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } })
    );
    assert_eq!(spec["template"]["metadata"], json!({}));
    assert_eq!(
        made["status"],
        json!({ "replicas": 0, "availableReplicas": 0 })
    );

    let job = filled(
        "batch",
        "Job",
        json!({ "spec": { "parallelism": 3, "template": { "spec": pod() } } }),
    );
    assert_eq!(job["spec"].get("completions"), None);
    assert_eq!(job["spec"]["podReplacementPolicy"], "TerminatingOrFailed");

    let port = json!({ "ports": [{ "port": 80 }], "addressType": "IPv4", "endpoints": [] });
    let slice = filled("discovery.k8s.io", "EndpointSlice", port);
    assert_eq!(
        slice["ports"],
        json!([{ "name": "", "port": 80, "protocol": "TCP" }])
    );
}

#[test]
fn what_the_schema_requires_or_lists_is_judged_where_nothing_else_is() {
    assert!(problems("", "Pod", json!({ "spec": pod() })).is_empty());
    assert_eq!(
        problems("", "Pod", json!({ "spec": {} })),
        ["spec.containers: Required value"]
    );
    let nameless =
        json!({ "spec": { "containers": [{ "image": "a" }], "restartPolicy": "Sometimes" } });
    assert_eq!(
        problems("", "Pod", nameless),
        [
            "spec.containers[0].name: Required value",
            "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\", \"OnFailure\"",
        ]
    );
    assert_eq!(
        problems("storage.k8s.io", "StorageClass", json!({})),
        ["provisioner: Required value"]
    );
}

#[test]
fn who_writes_what_is_not_enforced_is_told() {
    let told = |kind: &str, is_new| warnings(&find("", kind), &Object::new(), is_new);
    for is_new in [true, false] {
        assert_eq!(
            told("ResourceQuota", is_new),
            ["resource quotas are stored and not enforced"]
        );
        assert_eq!(
            told("LimitRange", is_new),
            ["limit ranges are stored and not enforced"]
        );
        assert!(told("PersistentVolume", is_new).is_empty());
    }
}

#[test]
fn kinds_that_are_only_stored_have_rows() {
    let set = json!({
        "spec": { "replicas": 3, "template": { "spec": pod() }, "selector": { "matchLabels": { "a": "b" } } },
        "status": { "replicas": 2, "readyReplicas": 1 },
    });
    assert_eq!(
        row("apps", "ReplicaSet", set),
        json!(["a", 3, 2, 1, "120m", "c", "nginx", "a=b"])
    );
    let pod = json!({ "spec": pod(), "status": {
        "phase": "Running", "podIP": "10.0.0.1",
        "containerStatuses": [{ "ready": true, "restartCount": 2 }],
    } });
    assert_eq!(
        row("", "Pod", pod),
        json!([
            "a", "1/1", "Running", "2", "120m", "10.0.0.1", "<none>", "<none>", "<none>"
        ])
    );
    let job = json!({ "spec": { "completions": 2 }, "status": {
        "succeeded": 2, "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:30Z",
        "conditions": [{ "type": "Complete", "status": "True" }],
    } });
    assert_eq!(
        row("batch", "Job", job),
        json!(["a", "Complete", "2/2", "30s", "120m", "", "", "<none>"])
    );
    let endpoints = json!({ "subsets": [{
        "addresses": [{ "ip": "10.0.0.1" }, { "ip": "fd00::1" }], "ports": [{ "port": 80 }, { "port": 443 }],
    }] });
    assert_eq!(
        row("", "Endpoints", endpoints)[1],
        "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more..."
    );
    let volume = json!({ "spec": {
        "capacity": { "storage": "1Gi" }, "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
        "claimRef": { "namespace": "n", "name": "c" },
    } });
    let shown = row("", "PersistentVolume", volume);
    assert_eq!(
        (&shown[1], &shown[2], &shown[5]),
        (&json!("1Gi"), &json!("RWO,ROX"), &json!("n/c"))
    );
}
