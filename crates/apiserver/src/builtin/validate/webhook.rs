//! Configurations of admission webhooks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Problems;
use crate::admission::compile_condition;
use crate::builtin::fields::Fields as _;
use crate::metadata::{label_selector_errors, text};
use crate::object::Object;
use crate::refusal::FieldPath;

/// Versions of `AdmissionReview` that are spoken here.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
const FORM: &str = "; desired format: https://host[/path]";

pub(super) fn judge(object: &Object, problems: &mut Problems) {
    let mut names = BTreeSet::new();
    for (index, hook) in object.list("webhooks").iter().enumerate() {
        let at = FieldPath::of("webhooks").index(index);
        webhook(hook, &at, problems);
        reviews(hook, &at.field("admissionReviewVersions"), problems);
        let name = hook.text("name");
        if !name.is_empty() && !names.insert(name) {
            problems.duplicate(&at.field("name"), name);
        }
    }
}

fn webhook(hook: &Value, at: &FieldPath, problems: &mut Problems) {
    name(hook.text("name"), &at.field("name"), problems);
    for (index, one) in hook.list("rules").iter().enumerate() {
        rule(one, &at.field("rules").index(index), problems);
    }
    for (field, values) in [
        ("failurePolicy", ["Fail", "Ignore"]),
        ("matchPolicy", ["Equivalent", "Exact"]),
        ("sideEffects", ["None", "NoneOnDryRun"]),
        ("reinvocationPolicy", ["IfNeeded", "Never"]),
    ] {
        problems.one_of(&at.field(field), hook.at(field), &values);
    }
    if !hook.has("sideEffects") {
        problems.required(
            &at.field("sideEffects"),
            "must specify one of None, NoneOnDryRun",
        );
    }
    let timeout = hook.at("timeoutSeconds").and_then(Value::as_i64);
    if let Some(timeout) = timeout.filter(|timeout| !(1..=30).contains(timeout)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        problems.invalid(&at.field("timeoutSeconds"), timeout, detail);
    }
    for field in ["namespaceSelector", "objectSelector"] {
        if let Some(selector) = hook.at(field) {
            problems.extend(label_selector_errors(selector, &at.field(field)));
        }
    }
    client(hook, &at.field("clientConfig"), problems);
    conditions(hook, &at.field("matchConditions"), problems);
}

/// A name with a domain, which makes it the owner's.
fn name(name: &str, at: &FieldPath, problems: &mut Problems) {
    let wrong = text::subdomain(name);
    if name.is_empty() {
        problems.required(at, "");
    } else if !wrong.is_empty() {
        problems.invalid(at, name, wrong.join(","));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        problems.invalid(at, name, detail);
    }
}

fn reviews(hook: &Value, at: &FieldPath, problems: &mut Problems) {
    let versions = hook.texts("admissionReviewVersions");
    if versions.is_empty() {
        problems.required(at, &format!("must specify one of {}", REVIEWS.join(", ")));
        return;
    }
    for (index, version) in versions.iter().enumerate() {
        if versions[..index].contains(version) {
            problems.invalid(&at.index(index), *version, "duplicate version");
        } else {
            problems.all_invalid(&at.index(index), version, text::label_1035(version));
        }
    }
    if !versions.iter().any(|version| REVIEWS.contains(version)) {
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        problems.invalid(at, versions, detail);
    }
}

fn rule(rule: &Value, at: &FieldPath, problems: &mut Problems) {
    for (field, what) in [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
    ] {
        let (at, values) = (at.field(field), rule.texts(field));
        if values.is_empty() {
            problems.required(&at, "");
        }
        if values.len() > 1 && values.contains(&"*") {
            let detail = format!("if '*' is present, must not specify other {what}");
            problems.invalid(&at, values, detail);
        }
    }
    let operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    for (index, operation) in rule.list("operations").iter().enumerate() {
        problems.one_of(
            &at.field("operations").index(index),
            Some(operation),
            &operations,
        );
    }
    for (index, version) in rule.texts("apiVersions").into_iter().enumerate() {
        if version.is_empty() {
            problems.required(&at.field("apiVersions").index(index), "");
        }
    }
    resources(&rule.texts("resources"), &at.field("resources"), problems);
    problems.one_of(
        &at.field("scope"),
        rule.at("scope"),
        &["*", "Cluster", "Namespaced"],
    );
}

/// `pods`, `pods/status`, `pods/*`, `*/status`, `*`, `*/*`
fn resources(resources: &[&str], at: &FieldPath, problems: &mut Problems) {
    if resources.is_empty() {
        problems.required(at, "");
    }
    let (mut all_below, mut everywhere) = (BTreeSet::new(), BTreeSet::new());
    for (index, resource) in resources.iter().enumerate() {
        let at = at.index(index);
        if resource.is_empty() {
            problems.required(&at, "");
        }
        let Some((above, below)) = resource.split_once('/') else {
            continue;
        };
        for (covered, by) in [
            (all_below.contains(above), format!("{above}/*")),
            (everywhere.contains(below), format!("*/{below}")),
        ] {
            if covered {
                let detail = format!("if '{by}' is present, must not specify {resource}");
                problems.invalid(&at, *resource, detail);
            }
        }
        if below == "*" {
            all_below.insert(above);
        }
        if above == "*" {
            everywhere.insert(below);
        }
    }
    if resources.len() > 1 && resources.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        problems.invalid(at, resources.to_vec(), detail);
    }
    // Only the last resource without a subresource counts, as in kube-apiserver.
    let plain = resources
        .iter()
        .rfind(|resource| !resource.is_empty() && !resource.contains('/'));
    if resources.contains(&"*") && plain.is_some_and(|plain| *plain != "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        problems.invalid(at, resources.to_vec(), detail);
    }
}

fn client(hook: &Value, at: &FieldPath, problems: &mut Problems) {
    match (hook.at("clientConfig.url"), hook.at("clientConfig.service")) {
        (Some(address), None) => {
            url(
                address.as_str().unwrap_or_default(),
                &at.field("url"),
                problems,
            );
        }
        (None, Some(one)) => service(one, &at.field("service"), problems),
        (Some(_), Some(_)) | (None, None) => {
            problems.required(at, "exactly one of url or service is required");
        }
    }
}

fn url(url: &str, at: &FieldPath, problems: &mut Problems) {
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let authority = match scheme {
        "" => "",
        _ => rest.split('/').next().unwrap_or_default(),
    };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        problems.invalid(at, scheme, detail);
    }
    if host.is_empty() {
        problems.invalid(at, host, format!("host must be specified{FORM}"));
    }
    for (found, what) in [
        (user, "user information is not permitted in the URL"),
        (fragment, "fragments are not permitted in the URL"),
        (query, "query parameters are not permitted in the URL"),
    ] {
        if !found.is_empty() {
            problems.invalid(at, found, what);
        }
    }
}

fn service(service: &Value, at: &FieldPath, problems: &mut Problems) {
    // The API blames a missing name on the namespace, and the other way round.
    for (field, blamed) in [("namespace", "name"), ("name", "namespace")] {
        if service.text(field).is_empty() {
            problems.required(&at.field(blamed), "");
        }
    }
    let port = service.number("port");
    if let Some(wrong) = text::port_number(port) {
        problems.invalid(
            &at.field("port"),
            port,
            format!("port is not valid: {wrong}"),
        );
    }
    path(service.text("path"), &at.field("path"), problems);
}

fn path(path: &str, at: &FieldPath, problems: &mut Problems) {
    match path {
        "" | "/" => return,
        "//" => return problems.invalid(at, path, "segment[0] may not be empty"),
        _ => {}
    }
    if !path.starts_with('/') {
        problems.invalid(at, path, "must start with a '/'");
    }
    let mut letters = path.chars();
    letters.next();
    let rest = letters.as_str();
    for (index, step) in rest
        .strip_suffix('/')
        .unwrap_or(rest)
        .split('/')
        .enumerate()
    {
        if step.is_empty() {
            problems.invalid(at, path, format!("segment[{index}] may not be empty"));
            continue;
        }
        for wrong in text::subdomain(step) {
            problems.invalid(at, path, format!("segment[{index}]: {wrong}"));
        }
    }
}

fn conditions(hook: &Value, at: &FieldPath, problems: &mut Problems) {
    let mut names = BTreeSet::new();
    for (index, condition) in hook.list("matchConditions").iter().enumerate() {
        let at = at.index(index);
        let source = condition.text("expression").trim();
        if source.is_empty() {
            problems.required(&at.field("expression"), "");
        } else if let Err(wrong) = compile_condition(source) {
            problems.invalid(&at.field("expression"), source, wrong);
        }
        let (at, name) = (at.field("name"), condition.text("name"));
        if name.is_empty() {
            problems.required(&at, "");
            continue;
        }
        problems.all_invalid(&at, name, text::qualified_name(name));
        if !names.insert(name) {
            problems.duplicate(&at, name);
        }
    }
}
