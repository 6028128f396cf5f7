//! Roles and their bindings.

use serde_json::{Value, json};

use super::Problems;
use crate::builtin::fields::Fields as _;
use crate::builtin::kind::Kind;
use crate::metadata::{label_selector_errors, text};
use crate::object::Object;
use crate::refusal::FieldPath;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(kind: Kind, object: &Object, problems: &mut Problems) {
    for (index, rule) in object.list("rules").iter().enumerate() {
        policy(kind, rule, &FieldPath::of("rules").index(index), problems);
    }
    if kind == Kind::ClusterRole && object.has("aggregationRule") {
        let at = FieldPath::of("aggregationRule.clusterRoleSelectors");
        let selectors = object.list(at.as_str());
        if selectors.is_empty() {
            let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
            problems.required(&at, detail);
        }
        for (index, selector) in selectors.iter().enumerate() {
            problems.extend(label_selector_errors(selector, &at.index(index)));
        }
    }
}

pub(super) fn binding(kind: Kind, object: &Object, problems: &mut Problems) {
    let namespaced = kind == Kind::RoleBinding;
    let at = FieldPath::of("roleRef");
    let reference = |field: &str| object.text(&format!("roleRef.{field}"));
    if reference("apiGroup") != GROUP {
        problems.unsupported(&at.field("apiGroup"), reference("apiGroup"), &[GROUP]);
    }
    let kinds: &[&str] = if namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    if !kinds.contains(&reference("kind")) {
        problems.unsupported(&at.field("kind"), reference("kind"), kinds);
    }
    match reference("name") {
        "" => problems.required(&at.field("name"), ""),
        name => problems.all_invalid(&at.field("name"), name, text::path_segment(name)),
    }
    for (index, one) in object.list("subjects").iter().enumerate() {
        subject(
            namespaced,
            one,
            &FieldPath::of("subjects").index(index),
            problems,
        );
    }
}

pub(super) fn binding_change(new: &Object, old: &Object, problems: &mut Problems) {
    if new.at("roleRef") != old.at("roleRef") {
        let role = |field: &str| new.text(&format!("roleRef.{field}"));
        // The API shows its own type here, not the one that it publishes.
        let value = json!({
            "APIGroup": role("apiGroup"), "Kind": role("kind"), "Name": role("name")
        });
        problems.invalid(&FieldPath::of("roleRef"), value, "cannot change roleRef");
    }
}

fn policy(kind: Kind, rule: &Value, at: &FieldPath, problems: &mut Problems) {
    if rule.list("verbs").is_empty() {
        problems.required(&at.field("verbs"), "verbs must contain at least one value");
    }
    let has = |field: &str| !rule.list(field).is_empty();
    if has("nonResourceURLs") {
        let (at, urls) = (at.field("nonResourceURLs"), rule.texts("nonResourceURLs"));
        if kind == Kind::Role {
            let detail = "namespaced rules cannot apply to non-resource URLs";
            problems.invalid(&at, urls.clone(), detail);
        }
        if has("apiGroups") || has("resources") || has("resourceNames") {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            problems.invalid(&at, urls, detail);
        }
        return;
    }
    if !has("apiGroups") {
        let detail = "resource rules must supply at least one api group";
        problems.required(&at.field("apiGroups"), detail);
    }
    if !has("resources") {
        let detail = "resource rules must supply at least one resource";
        problems.required(&at.field("resources"), detail);
    }
}

fn subject(namespaced: bool, subject: &Value, at: &FieldPath, problems: &mut Problems) {
    let name = subject.text("name");
    if name.is_empty() {
        problems.required(&at.field("name"), "");
    }
    let group = subject.text("apiGroup");
    match subject.text("kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                problems.all_invalid(&at.field("name"), name, text::subdomain(name));
            }
            if !group.is_empty() {
                problems.unsupported(&at.field("apiGroup"), group, &[""]);
            }
            if !namespaced && subject.text("namespace").is_empty() {
                problems.required(&at.field("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                problems.unsupported(&at.field("apiGroup"), group, &[GROUP]);
            }
        }
        other => {
            let kinds = ["ServiceAccount", "User", "Group"];
            problems.unsupported(&at.field("kind"), other, &kinds);
        }
    }
}
