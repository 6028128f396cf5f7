//! The definitions of the kinds we share with peers written in Go, read back as an API server
//! reads them (K1, K2): names, columns, what is required, defaults, bounds and patterns. What the
//! rules among them do to objects is in `peer_rules.rs`.

#![allow(
    clippy::unwrap_used,
    reason = "a definition without the expected part fails the test"
)]

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};
use zonewright_api::crds;

const KINDS: [&str; 5] = [
    "DNSRecord",
    "DNSHealthCheckProbe",
    "DNSPolicy",
    "ServiceRecord",
    "DomainVerification",
];

/// What the Gateway API takes for a group, or for the name of a listener.
const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// What the peer takes for the path of a health check.
const PATH: &str = r"^(?:\?|\/)[\w\-.~:\/?#\[\]@!$&'()*+,;=]+(?:[a-zA-Z0-9]|\/){1}$";

fn definition(kind: &str) -> CustomResourceDefinition {
    crds::all()
        .into_iter()
        .find(|crd| crd.spec.names.kind == kind)
        .unwrap()
}

fn schema(kind: &str) -> Value {
    let version = definition(kind).spec.versions.remove(0);
    serde_json::to_value(version.schema.unwrap().open_api_v3_schema.unwrap()).unwrap()
}

/// The schema of one field: `spec.endpoints[].dnsName`.
fn field(kind: &str, path: &str) -> Value {
    let mut schema = schema(kind);
    for step in path.split('.') {
        let name = step.trim_end_matches("[]");
        schema = schema["properties"][name].take();
        if name != step {
            schema = schema["items"].take();
        }
        assert!(schema.is_object(), "{kind} has no {path}");
    }
    schema
}

fn required(kind: &str, path: &str) -> Vec<String> {
    let list = field(kind, path)["required"].take();
    serde_json::from_value(list).unwrap_or_default()
}

/// Visits every schema in a schema, with its path.
fn walk(path: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        walk(&format!("{path}.{name}"), inner, visit);
    }
    for inner in [&schema["items"], &schema["additionalProperties"]] {
        if inner.is_object() {
            walk(&format!("{path}[]"), inner, visit);
        }
    }
}

#[test]
fn kinds_have_names_short_names_and_the_category() {
    let kuadrant = "kuadrant.io";
    let cases = [
        ("DNSRecord", kuadrant, "v1alpha1", "dnsrecords", "dnsr"),
        (
            "DNSHealthCheckProbe",
            kuadrant,
            "v1alpha1",
            "dnshealthcheckprobes",
            "dnshcp",
        ),
        ("DNSPolicy", kuadrant, "v1", "dnspolicies", "dnsp"),
        (
            "ServiceRecord",
            "connectivity.tanzu.vmware.com",
            "v1alpha1",
            "servicerecords",
            "svcrec",
        ),
        (
            "DomainVerification",
            "kuadrant.dev",
            "v1alpha1",
            "domainverifications",
            "dv",
        ),
    ];
    for (kind, group, version, plural, short) in cases {
        let spec = definition(kind).spec;
        assert_eq!(
            (spec.group.as_str(), spec.scope.as_str()),
            (group, "Namespaced"),
            "{kind}"
        );
        assert_eq!(
            (spec.names.plural.as_str(), &spec.versions[0].name[..]),
            (plural, version)
        );
        assert_eq!(spec.names.short_names.unwrap(), [short]);
        assert_eq!(spec.names.categories.unwrap(), ["dns"]);
        assert_eq!(spec.versions.len(), 1, "{kind}");
        assert!(
            spec.versions[0]
                .subresources
                .as_ref()
                .is_some_and(|sub| sub.status.is_some())
        );
    }
}

#[test]
fn a_policy_is_marked_for_the_tools_of_the_gateway_api() {
    let labels = definition("DNSPolicy").metadata.labels.unwrap();
    assert_eq!(labels["gateway.networking.k8s.io/policy"], "direct");
    // On the definition only, not on every policy.
    let policy = zonewright_api::DnsPolicy::new("policy", <_>::default());
    assert_eq!(policy.metadata.labels, None);
}

#[test]
fn columns_are_the_peers() {
    let condition = |type_: &str| format!(r#".status.conditions[?(@.type=="{type_}")].status"#);
    let column = |name: &str, type_: &str, path: &str, priority: i32| {
        (name.to_owned(), type_.to_owned(), path.to_owned(), priority)
    };
    let cases = [
        (
            "DNSRecord",
            vec![
                column("Ready", "string", &condition("Ready"), 0),
                column("Healthy", "string", &condition("Healthy"), 2),
                column("Root Host", "string", ".spec.rootHost", 2),
                column("Owner ID", "string", ".status.ownerID", 2),
                column("Zone Domain", "string", ".status.zoneDomainName", 2),
                column("Zone ID", "string", ".status.zoneID", 2),
            ],
        ),
        (
            "DNSHealthCheckProbe",
            vec![column("Healthy", "boolean", ".status.healthy", 0)],
        ),
        (
            "DNSPolicy",
            vec![
                column("Accepted", "string", &condition("Accepted"), 2),
                column("Enforced", "string", &condition("Enforced"), 2),
                column(
                    "SubResourcesHealthy",
                    "string",
                    &condition("SubResourcesHealthy"),
                    2,
                ),
                column("TargetRefKind", "string", ".spec.targetRef.kind", 2),
                column("TargetRefName", "string", ".spec.targetRef.name", 2),
                column("TargetSection", "string", ".spec.targetRef.sectionName", 2),
                column("Age", "date", ".metadata.creationTimestamp", 0),
            ],
        ),
        // The peers of these two have none: the columns are ours.
        (
            "ServiceRecord",
            vec![
                column("FQDN", "string", ".spec.fqdn", 0),
                column("Published", "string", &condition("Published"), 0),
                column("Addresses", "string", ".status.addresses", 1),
                column("Age", "date", ".metadata.creationTimestamp", 0),
            ],
        ),
        (
            "DomainVerification",
            vec![
                column("Domain", "string", ".spec.domain", 0),
                column("Verified", "string", &condition("Verified"), 0),
                column("TXT Name", "string", ".status.txtRecord.name", 1),
                column("TXT Value", "string", ".status.txtRecord.value", 1),
                column("Age", "date", ".metadata.creationTimestamp", 0),
            ],
        ),
    ];
    for (kind, expected) in cases {
        let columns = definition(kind)
            .spec
            .versions
            .remove(0)
            .additional_printer_columns
            .unwrap();
        let found: Vec<_> = columns
            .into_iter()
            .map(|c| (c.name, c.type_, c.json_path, c.priority.unwrap_or_default()))
            .collect();
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn required_fields_are_the_peers() {
    let cases: [(&str, &str, &[&str]); 22] = [
        ("DNSRecord", "spec", &["rootHost"]),
        ("DNSRecord", "spec.providerRef", &["name"]),
        ("DNSRecord", "spec.endpoints[]", &[]),
        ("DNSRecord", "spec.endpoints[].providerSpecific[]", &[]),
        ("DNSRecord", "spec.healthCheck", &[]),
        (
            "DNSRecord",
            "spec.healthCheck.additionalHeadersRef",
            &["name"],
        ),
        ("DNSRecord", "status", &[]),
        (
            "DNSRecord",
            "status.healthCheck.probes[]",
            &["host", "id", "ipAddress"],
        ),
        ("DNSHealthCheckProbe", "spec", &[]),
        (
            "DNSHealthCheckProbe",
            "spec.additionalHeadersRef",
            &["name"],
        ),
        ("DNSHealthCheckProbe", "status", &[]),
        ("DNSPolicy", "spec", &["targetRef"]),
        ("DNSPolicy", "spec.targetRef", &["group", "kind", "name"]),
        ("DNSPolicy", "spec.providerRefs[]", &["name"]),
        (
            "DNSPolicy",
            "spec.loadBalancing",
            &["defaultGeo", "geo", "weight"],
        ),
        ("DNSPolicy", "status", &[]),
        ("ServiceRecord", "spec", &["endpoints", "fqdn"]),
        ("ServiceRecord", "spec.endpoints[]", &["address", "port"]),
        ("ServiceRecord", "status", &[]),
        ("DomainVerification", "spec", &["domain"]),
        ("DomainVerification", "status", &[]),
        (
            "DomainVerification",
            "status.conditions[]",
            &["domain", "lastTransitionTime", "message", "status", "type"],
        ),
    ];
    for (kind, path, fields) in cases {
        let mut found = required(kind, path);
        found.sort();
        assert_eq!(found, fields, "{kind} {path}");
    }
}

#[test]
fn defaults_are_the_peers_and_there_are_no_others() {
    let health_check = |at: &str| {
        vec![
            (format!("{at}.healthCheck.failureThreshold"), json!(5)),
            (format!("{at}.healthCheck.interval"), json!("5m")),
            (format!("{at}.healthCheck.port"), json!(443)),
            (format!("{at}.healthCheck.protocol"), json!("HTTPS")),
        ]
    };
    for kind in KINDS {
        let expected = match kind {
            "DNSRecord" => health_check(".spec"),
            "DNSPolicy" => {
                let weight = (".spec.loadBalancing.weight".to_owned(), json!(120));
                health_check(".spec").into_iter().chain([weight]).collect()
            }
            _ => Vec::new(),
        };
        let mut found = Vec::new();
        walk("", &schema(kind), &mut |path, schema| {
            if !schema["default"].is_null() {
                found.push((path.to_owned(), schema["default"].clone()));
            }
        });
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, expected, "{kind}");
    }
}

/// Asserts the type, bounds and pattern of each field, its rules and default apart.
fn check_bounds<const N: usize>(kind: &str, cases: [(&str, Value); N]) {
    for (path, expected) in cases {
        let mut found = field(kind, path);
        let bounds = found.as_object_mut().unwrap();
        for apart in [
            "description",
            "default",
            "items",
            "x-kubernetes-validations",
        ] {
            bounds.remove(apart);
        }
        assert_eq!(found, expected, "{kind} {path}");
    }
}

#[test]
fn fields_of_a_record_have_the_peers_bounds() {
    let root_host = r"^(?:[\w\-.~:\/?#[\]@!$&'()*+,;=]+)\.(?:[\w\-.~:\/?#[\]@!$&'()*+,;=]+)$";
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "format": "int64" });
    let cases = [
        (
            "spec.ownerID",
            json!({ "type": "string", "minLength": 6, "maxLength": 36 }),
        ),
        (
            "spec.rootHost",
            json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": root_host }),
        ),
        ("spec.endpoints", json!({ "type": "array", "minItems": 0 })),
        // Not an enum: a type we do not know is refused in a condition, not at the door.
        ("spec.endpoints[].recordType", text.clone()),
        ("spec.endpoints[].recordTTL", number.clone()),
        (
            "spec.healthCheck.path",
            json!({ "type": "string", "pattern": PATH }),
        ),
        ("spec.healthCheck.interval", text.clone()),
        ("spec.delegate", json!({ "type": "boolean" })),
        (
            "status.queuedAt",
            json!({ "type": "string", "format": "date-time" }),
        ),
        ("status.validFor", text),
        ("status.writeCounter", number),
    ];
    check_bounds("DNSRecord", cases);
}

#[test]
fn fields_of_a_policy_have_the_peers_bounds() {
    let group = format!("^$|{SUBDOMAIN}");
    let kind = "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$";
    let cases = [
        (
            "spec.targetRef.group",
            json!({ "type": "string", "maxLength": 253, "pattern": group }),
        ),
        (
            "spec.targetRef.kind",
            json!({ "type": "string", "minLength": 1, "maxLength": 63, "pattern": kind }),
        ),
        (
            "spec.targetRef.name",
            json!({ "type": "string", "minLength": 1, "maxLength": 253 }),
        ),
        (
            "spec.targetRef.sectionName",
            json!({ "type": "string", "minLength": 1, "maxLength": 253, "pattern": SUBDOMAIN }),
        ),
        (
            "spec.providerRefs",
            json!({ "type": "array", "minItems": 1, "maxItems": 1 }),
        ),
        (
            "spec.excludeAddresses",
            json!({ "type": "array", "maxItems": 20 }),
        ),
        (
            "spec.loadBalancing.geo",
            json!({ "type": "string", "minLength": 2 }),
        ),
        (
            "status.totalRecords",
            json!({ "type": "integer", "format": "int32" }),
        ),
    ];
    check_bounds("DNSPolicy", cases);
}

#[test]
fn fields_of_the_other_kinds_have_the_peers_bounds() {
    let text = json!({ "type": "string" });
    let probe = [
        ("spec.path", json!({ "type": "string", "pattern": PATH })),
        ("spec.interval", text.clone()),
        ("spec.port", json!({ "type": "integer", "format": "int64" })),
        ("status.healthy", json!({ "type": "boolean" })),
    ];
    check_bounds("DNSHealthCheckProbe", probe);
    let service = [
        ("spec.fqdn", text.clone()),
        ("spec.endpoints[].address", text),
        (
            "spec.endpoints[].port",
            json!({ "type": "integer", "format": "int32" }),
        ),
    ];
    check_bounds("ServiceRecord", service);
    let states = json!(["True", "False", "Unknown"]);
    let verification = [
        (
            "spec.domain",
            json!({ "type": "string", "minLength": 1, "maxLength": 254 }),
        ),
        (
            "status.conditions[].status",
            json!({ "type": "string", "enum": states }),
        ),
    ];
    check_bounds("DomainVerification", verification);
}

#[test]
fn paths_of_health_checks_need_three_characters() {
    let pattern = field("DNSRecord", "spec.healthCheck.path")["pattern"].take();
    // RE2's \w is ASCII, this engine's is not unless told.
    let pattern = regex::RegexBuilder::new(pattern.as_str().unwrap())
        .unicode(false)
        .build()
        .unwrap();
    for path in [
        "/healthz",
        "/ab",
        "/a/",
        "//a",
        "?ab",
        "?check=1",
        "/a.b~c/d?e=f#[g]@!$&'()*+,;=h",
    ] {
        assert!(pattern.is_match(path), "{path}");
    }
    for path in [
        "",
        "/",
        "/a",
        "?a",
        "healthz",
        "/healthz?",
        "/a b",
        "/healthz-",
        "/%41b",
    ] {
        assert!(!pattern.is_match(path), "{path}");
    }
}

#[test]
fn root_hosts_need_two_parts() {
    let pattern = field("DNSRecord", "spec.rootHost")["pattern"].take();
    // RE2 takes a bracket inside a class as it stands; this engine wants it escaped.
    let pattern = pattern.as_str().unwrap().replace("#[", r"#\[");
    let pattern = regex::RegexBuilder::new(&pattern)
        .unicode(false)
        .build()
        .unwrap();
    for host in ["app.example.com", "*.example.com", "a.b", "a.b.", "1.2"] {
        assert!(pattern.is_match(host), "{host}");
    }
    for host in ["", "localhost", ".", "a.", ".a", "a b.c", "a.b c", "é.com"] {
        assert!(!pattern.is_match(host), "{host}");
    }
}

#[test]
fn status_keeps_every_field_a_peer_has_written() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "DNSRecord",
            &[
                "activeGroups",
                "conditions",
                "domainOwners",
                "endpoints",
                "group",
                "healthCheck",
                "observedGeneration",
                "ownerID",
                "providerRef",
                "queuedAt",
                "queuedFor",
                "relatedEndpoints",
                "remoteRecordStatuses",
                // Ours.
                "secretVersion",
                "validFor",
                "writeCounter",
                "zoneDomainName",
                "zoneID",
            ],
        ),
        (
            "DNSHealthCheckProbe",
            &[
                "conditions",
                "consecutiveFailures",
                "healthy",
                "observedGeneration",
                "reason",
                "status",
            ],
        ),
        (
            "DNSPolicy",
            &[
                "conditions",
                "healthCheck",
                "observedGeneration",
                "recordConditions",
                "totalRecords",
            ],
        ),
        (
            "ServiceRecord",
            &["addresses", "conditions", "observedGeneration", "sources"],
        ),
        (
            "DomainVerification",
            &[
                "conditions",
                "observedGeneration",
                "proof",
                "token",
                "txtRecord",
            ],
        ),
    ];
    for (kind, fields) in cases {
        let status = field(kind, "status");
        let mut found: Vec<&str> = status["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        found.sort_unstable();
        assert_eq!(found, fields, "{kind}");
    }
    let open = &field("DNSRecord", "status.remoteRecordStatuses")["additionalProperties"];
    assert_eq!(
        *open,
        json!({ "x-kubernetes-preserve-unknown-fields": true })
    );
}

#[test]
fn conditions_are_keyed_where_the_status_is_ours() {
    let keys = |kind| field(kind, "status.conditions")["x-kubernetes-list-map-keys"].take();
    assert_eq!(keys("DNSRecord"), Value::Null);
    assert_eq!(keys("DNSPolicy"), Value::Null);
    assert_eq!(keys("DNSHealthCheckProbe"), json!(["type"]));
    assert_eq!(keys("ServiceRecord"), json!(["type"]));
    // V6.
    assert_eq!(keys("DomainVerification"), json!(["type", "domain"]));
}

#[test]
fn no_field_is_nullable_and_every_field_is_explained() {
    for kind in KINDS {
        walk("", &schema(kind), &mut |path, schema| {
            assert!(schema["nullable"].is_null(), "{kind}{path} is nullable");
            let explained = schema["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty());
            assert!(
                explained || path.ends_with("[]"),
                "{kind}{path} is not explained"
            );
        });
    }
}
