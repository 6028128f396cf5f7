//! Ingresses.

use std::net::IpAddr;

use serde_json::Value;

use super::Problems;
use crate::builtin::fields::Fields as _;
use crate::metadata::text;
use crate::object::Object;
use crate::refusal::FieldPath;

/// The older way to name a class.
pub(in crate::builtin) const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
/// What a path may not contain, so that it cannot mean something else after it was cleaned.
const BAD_SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDINGS: [&str; 2] = ["/..", "/."];

pub(super) fn judge(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("spec");
    let rules = object.list("spec.rules");
    if rules.is_empty() && !object.has("spec.defaultBackend") {
        let value = object.at("spec.rules").cloned().unwrap_or(Value::Null);
        problems.invalid(
            &at,
            value,
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    if let Some(one) = object.at("spec.defaultBackend") {
        backend(one, &at.field("defaultBackend"), problems);
    }
    for (index, one) in rules.iter().enumerate() {
        rule(one, &at.field("rules").index(index), problems);
    }
    for (index, one) in object.list("spec.tls").iter().enumerate() {
        tls(one, &at.field("tls").index(index), problems);
    }
    if let Some(class) = object.at("spec.ingressClassName").and_then(Value::as_str) {
        problems.all_invalid(&at.field("ingressClassName"), class, text::subdomain(class));
    }
}

/// The older way to name a class may not contradict the younger one.
pub(super) fn class_annotation(object: &Object, problems: &mut Problems) {
    let class = object.at("spec.ingressClassName").and_then(Value::as_str);
    if let (Some(class), Some(annotation)) = (class, object.annotation(CLASS_ANNOTATION))
        && class != annotation
    {
        let at = FieldPath::of("annotations").field(CLASS_ANNOTATION);
        let detail = "must match `ingressClassName` when both are specified";
        problems.invalid(&at, annotation, detail);
    }
}

fn rule(rule: &Value, at: &FieldPath, problems: &mut Problems) {
    let host = rule.text("host");
    if !host.is_empty() {
        let at = at.field("host");
        if host.parse::<IpAddr>().is_ok() {
            problems.invalid(&at, host, "must be a DNS name, not an IP address");
        }
        host_name(host, &at, problems);
    }
    if !rule.has("http") {
        return;
    }
    let (at, paths) = (at.field("http").field("paths"), rule.list("http.paths"));
    if paths.is_empty() {
        problems.required(&at, "");
    }
    for (index, one) in paths.iter().enumerate() {
        path(one, &at.index(index), problems);
    }
}

fn tls(tls: &Value, at: &FieldPath, problems: &mut Problems) {
    for (index, host) in tls.texts("hosts").into_iter().enumerate() {
        host_name(host, &at.field("hosts").index(index), problems);
    }
    let secret = tls.text("secretName");
    if !secret.is_empty() {
        problems.all_invalid(&at.field("secretName"), secret, text::subdomain(secret));
    }
}

fn host_name(host: &str, at: &FieldPath, problems: &mut Problems) {
    let wrong = if host.contains('*') {
        text::wildcard_subdomain(host)
    } else {
        text::subdomain(host)
    };
    problems.all_invalid(at, host, wrong);
}

fn path(path: &Value, at: &FieldPath, problems: &mut Problems) {
    let Some(kind) = path.at("pathType").and_then(Value::as_str) else {
        problems.required(&at.field("pathType"), "pathType must be specified");
        return;
    };
    let (text, field) = (path.text("path"), at.field("path"));
    let relative = !text.starts_with('/');
    match kind {
        "Exact" | "Prefix" => {
            if relative {
                problems.invalid(&field, text, "must be an absolute path");
            }
            for bad in BAD_SEQUENCES.iter().filter(|bad| text.contains(*bad)) {
                problems.invalid(&field, text, format!("must not contain '{bad}'"));
            }
            for bad in BAD_ENDINGS.iter().filter(|bad| text.ends_with(*bad)) {
                problems.invalid(&field, text, format!("cannot end with '{bad}'"));
            }
        }
        "ImplementationSpecific" => {
            if relative && !text.is_empty() {
                problems.invalid(&field, text, "must be an absolute path");
            }
        }
        other => {
            let kinds = ["Exact", "ImplementationSpecific", "Prefix"];
            problems.unsupported(&at.field("pathType"), other, &kinds);
        }
    }
    let below = path.at("backend").unwrap_or(&Value::Null);
    backend(below, &at.field("backend"), problems);
}

fn backend(backend: &Value, at: &FieldPath, problems: &mut Problems) {
    match (backend.at("resource"), backend.at("service")) {
        (Some(_), Some(_)) => {
            problems.invalid(at, "", "cannot set both resource and service backends");
        }
        (Some(resource), None) => named_object(resource, &at.field("resource"), problems),
        (None, Some(one)) => service(one, at, problems),
        (None, None) => problems.invalid(at, "", "resource or service backend is required"),
    }
}

fn service(service: &Value, at: &FieldPath, problems: &mut Problems) {
    let below = at.field("service");
    match service.text("name") {
        "" => problems.required(&below.field("name"), ""),
        name => problems.all_invalid(&below.field("name"), name, text::label(name)),
    }
    let port = below.field("port");
    match (service.text("port.name"), service.number("port.number")) {
        ("", 0) => problems.required(at, "port name or number is required"),
        ("", number) => problems.port(&port.field("number"), &number.into()),
        (name, 0) => problems.port(&port.field("name"), &name.into()),
        (_, _) => problems.invalid(at, "", "cannot set both port name & port number"),
    }
}

/// A reference to some object by group, kind and name.
fn named_object(reference: &Value, at: &FieldPath, problems: &mut Problems) {
    if let Some(group) = reference.at("apiGroup").and_then(Value::as_str) {
        problems.all_invalid(&at.field("apiGroup"), group, text::subdomain(group));
    }
    for field in ["kind", "name"] {
        match reference.text(field) {
            "" => problems.required(&at.field(field), ""),
            text => problems.all_invalid(&at.field(field), text, text::path_segment(text)),
        }
    }
}
