//! What the definitions say, read back from the definitions.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::schema::RECORD_TYPE_PATTERN;
use crate::well_known::{CATEGORY, group};
use crate::{zone, zone_slice};

/// A definition as the API server sees it.
fn definition(name: &str) -> Value {
    let found = all()
        .into_iter()
        .find(|crd| crd.metadata.name.as_deref() == Some(name));
    serde_json::to_value(found.unwrap()).unwrap()
}

fn schema(name: &str) -> Value {
    definition(name)["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

/// The schema of a field, by a path such as `spec.delegations[].types`.
fn field(schema: &Value, path: &str) -> Value {
    path.split('.')
        .fold(schema.clone(), |at, step| match step.strip_suffix("[]") {
            Some(name) => at["properties"][name]["items"].clone(),
            None => at["properties"][step].clone(),
        })
}

fn required(schema: &Value) -> BTreeSet<&str> {
    schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn columns(name: &str) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let columns = definition(name)["spec"]["versions"][0]["additionalPrinterColumns"].clone();
    let column = |it: &Value| (text(&it["name"]), text(&it["type"]), text(&it["jsonPath"]));
    columns.as_array().unwrap().iter().map(column).collect()
}

/// K2: every kind is found by its short name and by `kubectl get dns`, and has a status.
#[test]
fn every_kind_has_its_names() {
    let names: Vec<(Value, Value, Value)> = all()
        .iter()
        .map(|crd| serde_json::to_value(crd).unwrap())
        .map(|crd| {
            (
                crd["metadata"]["name"].clone(),
                crd["spec"]["scope"].clone(),
                crd["spec"]["names"]["shortNames"][0].clone(),
            )
        })
        .collect();
    let of = |name: &str| json!(name);
    let kubi_zone = [
        (of("zones.kubi.zone"), of("Namespaced"), of("zn")),
        (of("records.kubi.zone"), of("Namespaced"), of("rec")),
        (of("zoneslices.kubi.zone"), of("Namespaced"), of("zs")),
    ];
    assert_eq!(names[..3], kubi_zone);
    assert_eq!(names.len(), 8);

    let short: BTreeSet<String> = names
        .iter()
        .map(|(_, _, short)| short.to_string())
        .collect();
    assert_eq!(short.len(), names.len(), "{short:?}");
    let groups = [
        group::KUBI_ZONE,
        group::KUADRANT_IO,
        group::CONNECTIVITY,
        group::KUADRANT_DEV,
    ];
    for crd in all() {
        assert!(groups.contains(&crd.spec.group.as_str()));
        let crd = serde_json::to_value(crd).unwrap();
        assert_eq!(
            crd["spec"]["names"]["categories"],
            json!([CATEGORY]),
            "{crd}"
        );
        let version = &crd["spec"]["versions"][0];
        assert_eq!(version["subresources"]["status"], json!({}));
        assert_eq!(
            (&version["served"], &version["storage"]),
            (&json!(true), &json!(true))
        );
        let status = field(&version["schema"]["openAPIV3Schema"], "status");
        for name in ["conditions", "observedGeneration"] {
            assert!(
                !field(&status, name).is_null(),
                "{} has no status.{name}",
                crd["metadata"]["name"]
            );
        }
    }
}

/// The peer's required fields and defaults, ours being additive (K1).
#[test]
fn fields_are_required_and_defaulted_as_the_peer_does() {
    let zone = schema("zones.kubi.zone");
    let record = schema("records.kubi.zone");
    let cases = [
        (&zone, "spec", "domainName delegations"),
        (&zone, "spec.zoneRef", "name"),
        (&zone, "spec.delegations[]", ""),
        (&zone, "spec.delegations[].records[]", "pattern"),
        (&zone, "spec.soa", ""),
        (&zone, "status", ""),
        (&zone, "status.entries[]", "fqdn type class ttl rdata"),
        (&record, "spec", "domainName type rdata"),
        (&record, "spec.zoneRef", "name"),
        (&record, "spec.routing", "setIdentifier"),
        (&record, "status", ""),
    ];
    for (schema, path, fields) in cases {
        let fields: BTreeSet<&str> = fields.split_whitespace().collect();
        assert_eq!(required(&field(schema, path)), fields, "{path}");
    }

    let cases = [
        (&zone, "spec.ttl", json!(360)),
        (&zone, "spec.refresh", json!(86_400)),
        (&zone, "spec.retry", json!(7_200)),
        (&zone, "spec.expire", json!(3_600_000)),
        (&zone, "spec.negativeResponseCache", json!(360)),
        (&zone, "spec.delegations[].namespaces", json!([])),
        (&zone, "spec.delegations[].zones", json!([])),
        (&zone, "spec.delegations[].records", json!([])),
        (&zone, "spec.delegations[].records[].types", json!([])),
        (&zone, "status.entries", json!([])),
        (&record, "spec.class", json!("IN")),
        // Ours have none, so that stored objects of the peer stay as they are.
        (&zone, "spec.nameservers", Value::Null),
        (&zone, "spec.soa", Value::Null),
        (&zone, "status.slices", Value::Null),
        (&zone, "status.conditions", Value::Null),
        (&record, "spec.routing", Value::Null),
        (&record, "spec.ttl", Value::Null),
    ];
    for (schema, path, default) in cases {
        assert_eq!(field(schema, path)["default"], default, "{path}");
    }
    for (schema, path) in [
        (&zone, "spec.zoneRef"),
        (&zone, "spec.zoneRef.namespace"),
        (&zone, "status"),
        (&zone, "status.fqdn"),
        (&zone, "status.hash"),
        (&zone, "status.serial"),
        (&record, "spec.zoneRef"),
        (&record, "spec.ttl"),
        (&record, "status"),
        (&record, "status.fqdn"),
    ] {
        assert_eq!(field(schema, path)["nullable"], json!(true), "{path}");
    }
    assert_eq!(
        field(&record, "spec.class")["enum"],
        json!(["IN", "CH", "HS"])
    );
}

/// The peer's columns in its order, then ours.
#[test]
fn columns_are_the_peers_and_then_ours() {
    let condition = |type_: &str| format!(".status.conditions[?(@.type==\"{type_}\")].status");
    let text = |name: &str, path: &str| (name.to_owned(), "string".to_owned(), path.to_owned());
    let parent = r".metadata.labels.kubi\.zone/parent-zone";
    assert_eq!(
        columns("zones.kubi.zone"),
        [
            text("domain name", ".spec.domainName"),
            text("fqdn", ".status.fqdn"),
            text("hash", ".status.hash"),
            text("serial", ".status.serial"),
            text("parent", parent),
            text("accepted", &condition("Accepted")),
            text("published", &condition("Published")),
        ]
    );
    assert_eq!(
        columns("records.kubi.zone"),
        [
            text("domain name", ".spec.domainName"),
            text("class", ".spec.class"),
            text("type", ".spec.type"),
            text("data", ".spec.rdata"),
            text("fqdn", ".status.fqdn"),
            text("parent", parent),
            text("accepted", &condition("Accepted")),
            text("published", &condition("Published")),
        ]
    );
    assert!(parent.ends_with(&label::PARENT_ZONE.replace('.', "\\.")));
}

/// R5: the peer's 47 types, other mnemonics, and any number.
#[test]
fn the_pattern_of_types_takes_what_could_be_a_type() {
    let zone = schema("zones.kubi.zone");
    let record = schema("records.kubi.zone");
    for (schema, path) in [
        (&zone, "spec.delegations[].records[].types[]"),
        (&zone, "status.entries[].type"),
        (&record, "spec.type"),
    ] {
        let found = field(schema, path);
        assert_eq!(
            (&found["pattern"], &found["enum"]),
            (&json!(RECORD_TYPE_PATTERN), &Value::Null),
            "{path}"
        );
    }
    let pattern = regex::Regex::new(RECORD_TYPE_PATTERN).unwrap();
    let peers = "A AAAA AFSDB APL CAA CDNSKEY CDS CERT CNAME CSYNC DHCID DLV DNAME DNSKEY DS EUI48 EUI64 HINFO HIP \
        HTTPS IPSECKEY KEY KX LOC MX NAPTR NS NSEC NSEC3 NSEC3PARAM OPENPGPKEY PTR RRSIG RP SIG SMIMEA SOA SRV SSHFP \
        SVCB TA TKEY TLSA TSIG TXT URI ZONEMD";
    assert_eq!(peers.split_whitespace().count(), 47);
    for word in peers.split_whitespace().chain([
        "SPF",
        "NSAP-PTR",
        "X25",
        "RESINFO",
        "TYPE65280",
        "TYPE1",
        "txt",
    ]) {
        assert!(pattern.is_match(word), "{word}");
    }
    for word in [
        "",
        " A",
        "A ",
        "A\n",
        "*",
        "A,AAAA",
        "-A",
        "1",
        "Ä",
        "A\nAAAA",
        "TYPE_1",
        "AVERYLONGWORDWITHOUTEND",
    ] {
        assert!(!pattern.is_match(word), "{word:?}");
    }
}

/// N6, G40.
#[test]
fn routing_is_bounded_in_the_schema() {
    let routing = field(&schema("records.kubi.zone"), "spec.routing");
    let weight = field(&routing, "weight");
    assert_eq!(
        (&weight["minimum"], &weight["maximum"]),
        (&json!(0.0), &json!(255.0))
    );
    let id = field(&routing, "setIdentifier");
    assert_eq!(
        (&id["minLength"], &id["maxLength"]),
        (&json!(1), &json!(128))
    );
}

/// Z11, G39.
#[test]
fn a_slice_never_changes() {
    let schema = schema("zoneslices.kubi.zone");
    let rules = json!([{
        "rule": "self == oldSelf",
        "message": "a slice never changes: its name stands for its content",
    }]);
    assert_eq!(field(&schema, "spec")["x-kubernetes-validations"], rules);
    assert_eq!(field(&schema, "spec.content")["maxLength"], json!(65_536));

    let slice = |content: &str| {
        let spec = zone_slice::ZoneSliceSpec {
            content: content.to_owned(),
        };
        serde_json::to_value(ZoneSlice::new("a", spec)).unwrap()
    };
    let check = |new: &str, old: Option<&str>| {
        let old = old.map(&slice);
        kube::core::cel::Validator::new().validate(&schema, &slice(new), old.as_ref())
    };
    assert!(check("a", None).is_ok());
    assert!(check("a", Some("a")).is_ok());
    let refusal = check("b", Some("a")).unwrap_err().to_string();
    assert!(refusal.contains("a slice never changes"), "{refusal}");
}

/// Every schema at or below this one, with its path.
fn walk(schema: &Value, path: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        walk(inner, &format!("{path}.{name}"), visit);
    }
    for key in ["items", "additionalProperties"] {
        if schema[key].is_object() {
            walk(&schema[key], &format!("{path}[]"), visit);
        }
    }
}

fn each_schema(visit: &mut dyn FnMut(&str, &Value)) {
    for crd in all() {
        let name = crd.metadata.name.clone().unwrap();
        walk(&schema(&name), &name, visit);
    }
}

/// K2: `kubectl explain` has something to say about every field.
#[test]
fn every_field_is_documented_for_people() {
    each_schema(&mut |path, schema| {
        let item = path.ends_with("[]");
        let description = schema["description"].as_str().unwrap_or_default();
        assert!(item || description.len() > 10, "{path}: {description:?}");
        assert!(!description.contains("Auto-generated"), "{path}");
        let torn = description.replace("\n\n", " ").contains('\n');
        assert!(
            !torn,
            "{path} has a line break within a paragraph: {description:?}"
        );
    });
    let zone = schema("zones.kubi.zone");
    let description = field(&zone, "spec.delegations")["description"]
        .as_str()
        .unwrap()
        .to_owned();
    let example = description
        .rsplit_once(": `")
        .unwrap()
        .1
        .trim_end_matches("`.");
    let delegations: Vec<zone::Delegation> = serde_saphyr::from_str(example).unwrap();
    assert_eq!(delegations.len(), 2, "the example is a manifest that works");
}

/// API servers warn about formats they do not know, and keep no bound for them.
#[test]
fn integers_have_formats_that_kubernetes_knows() {
    each_schema(&mut |path, schema| {
        if schema["type"] == "integer" {
            let format = schema["format"].as_str();
            assert!(
                matches!(format, None | Some("int32" | "int64")),
                "{path}: {format:?}"
            );
        }
    });
    let ttl = field(&schema("records.kubi.zone"), "spec.ttl");
    assert_eq!(
        (&ttl["minimum"], &ttl["maximum"]),
        (&json!(0.0), &json!(f64::from(u32::MAX)))
    );
}

/// A structural schema says the type of everything, and forbids nothing it cannot name.
#[test]
fn schemas_are_structural() {
    each_schema(&mut |path, schema| {
        let open = schema["x-kubernetes-preserve-unknown-fields"] == json!(true)
            || schema["x-kubernetes-int-or-string"] == json!(true);
        assert!(open || schema["type"].is_string(), "{path}: {schema}");
        for keyword in [
            "$ref",
            "definitions",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "uniqueItems",
        ] {
            assert!(schema.get(keyword).is_none(), "{path} has {keyword}");
        }
    });
}

/// K3: conditions are a map by type, so that several writers can share the list.
#[test]
fn conditions_of_zones_and_records_are_a_map() {
    for name in [
        "zones.kubi.zone",
        "records.kubi.zone",
        "zoneslices.kubi.zone",
    ] {
        let conditions = field(&schema(name), "status.conditions");
        assert_eq!(conditions["x-kubernetes-list-type"], "map");
        assert_eq!(conditions["x-kubernetes-list-map-keys"], json!(["type"]));
    }
}

#[test]
fn the_yaml_reads_back_as_the_definitions() {
    let text = yaml(&all());
    assert_eq!(text, yaml(&all()), "printing is stable");
    let documents: Vec<&str> = text
        .split("---\n")
        .filter(|part| !part.is_empty())
        .collect();
    let read: Vec<CustomResourceDefinition> = documents
        .iter()
        .map(|part| serde_saphyr::from_str(part).unwrap())
        .collect();
    assert_eq!(read, all());
    let ragged = text.lines().find(|line| line.ends_with(' '));
    assert_eq!(ragged, None);
}

/// kubectl reads YAML 1.1, to which these words are booleans unless they are quoted.
#[test]
fn no_word_turns_into_a_boolean_on_the_way() {
    fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
            Value::Object(fields) => {
                for (key, field) in fields {
                    found.push(key);
                    strings(field, found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    for crd in all() {
        let crd = serde_json::to_value(crd).unwrap();
        let mut found = Vec::new();
        strings(&crd, &mut found);
        for text in found {
            let plain = matches!(
                text.to_ascii_lowercase().as_str(),
                "y" | "n" | "yes" | "no" | "on" | "off"
            );
            assert!(!plain, "{text}");
        }
    }
}
