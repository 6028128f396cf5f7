//! Deployments and budgets for disruptions.

use serde_json::Value;

use super::Problems;
use super::problems::go_struct;
use crate::builtin::fields::Fields as _;
use crate::metadata::{annotation_errors, label_errors, label_selector_errors, text};
use crate::object::Object;
use crate::refusal::FieldPath;

pub(super) fn deployment(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("spec");
    let number = |field: &str| object.number(&format!("spec.{field}"));
    for field in [
        "replicas",
        "minReadySeconds",
        "revisionHistoryLimit",
        "progressDeadlineSeconds",
    ] {
        problems.not_negative(&at.field(field), number(field));
    }
    let deadline = number("progressDeadlineSeconds");
    if object.has("spec.progressDeadlineSeconds") && deadline <= number("minReadySeconds") {
        let detail = "must be greater than minReadySeconds";
        problems.invalid(&at.field("progressDeadlineSeconds"), deadline, detail);
    }
    // What the template is cannot be judged by a selector that means nothing.
    if selector(object, &at, problems) {
        template(object, &at.field("template"), problems);
    }
    strategy(object, &at.field("strategy"), problems);
}

pub(super) fn budget(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("spec");
    let limits = ["minAvailable", "maxUnavailable"];
    let limits = limits.map(|field| (at.field(field), object.at(&format!("spec.{field}"))));
    if limits.iter().all(|(_, limit)| limit.is_some()) {
        let detail = "minAvailable and maxUnavailable cannot be both set";
        problems.invalid_struct(&at, &budget_shown(object), detail);
    }
    for (at, limit) in limits {
        if let Some(limit) = limit {
            int_or_percent(limit, &at, problems);
            at_most_all(limit, &at, problems);
        }
    }
    if let Some(selector) = object.at("spec.selector") {
        problems.extend(label_selector_errors(selector, &at.field("selector")));
    }
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    let policy = object.at("spec.unhealthyPodEvictionPolicy");
    problems.one_of(&at.field("unhealthyPodEvictionPolicy"), policy, &policies);
}

/// Judges the selector and says whether it means anything.
fn selector(object: &Object, at: &FieldPath, problems: &mut Problems) -> bool {
    let (at, labels_at) = (at.field("selector"), "spec.template.metadata.labels");
    let mismatch = |problems: &mut Problems| {
        let labels = object.at(labels_at).cloned().unwrap_or(Value::Null);
        let detail = "`selector` does not match template `labels`";
        problems.invalid(&FieldPath::of(labels_at), labels, detail);
    };
    let Some(selector) = object.at("spec.selector") else {
        problems.required(&at, "");
        mismatch(problems);
        return true;
    };
    let wrong = label_selector_errors(selector, &at);
    if !wrong.is_empty() {
        problems.extend(wrong);
        problems.invalid(&at, selector.clone(), "invalid label selector");
        return false;
    }
    let empty = selector.entries("matchLabels").next().is_none()
        && selector.list("matchExpressions").is_empty();
    if empty {
        problems.invalid(
            &at,
            selector.clone(),
            "empty selector is invalid for deployment",
        );
    } else if !matches(selector, object) {
        mismatch(problems);
    }
    true
}

/// Whether a selector takes the pods that the template makes.
fn matches(selector: &Value, object: &Object) -> bool {
    let label = |key: &str| {
        let mut labels = object.entries("spec.template.metadata.labels");
        labels
            .find(|(name, _)| *name == key)
            .and_then(|(_, value)| value.as_str())
    };
    let equal = selector
        .entries("matchLabels")
        .all(|(key, value)| label(key) == value.as_str());
    equal
        && selector.list("matchExpressions").iter().all(|requirement| {
            let (value, values) = (label(requirement.text("key")), requirement.texts("values"));
            match requirement.text("operator") {
                "In" => value.is_some_and(|value| values.contains(&value)),
                "NotIn" => value.is_none_or(|value| !values.contains(&value)),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => true,
            }
        })
}

fn template(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let metadata = at.field("metadata");
    let labels = object.at("spec.template.metadata.labels");
    problems.extend(label_errors(labels, &metadata.field("labels")));
    let annotations = object.at("spec.template.metadata.annotations");
    problems.extend(annotation_errors(
        annotations,
        &metadata.field("annotations"),
    ));
    let at = at.field("spec");
    let list = object.list("spec.template.spec.containers");
    if list.is_empty() {
        problems.required(&at.field("containers"), "");
    }
    for (index, container) in list.iter().enumerate() {
        let at = at.field("containers").index(index);
        let name = container.text("name");
        match name {
            "" => problems.required(&at.field("name"), ""),
            name => problems.all_invalid(&at.field("name"), name, text::label(name)),
        }
        if !name.is_empty() && list[..index].iter().any(|other| other.text("name") == name) {
            problems.duplicate(&at.field("name"), name);
        }
        if container.text("image").is_empty() {
            problems.required(&at.field("image"), "");
        }
    }
    let policy = object.text("spec.template.spec.restartPolicy");
    if policy != "Always" {
        problems.unsupported(&at.field("restartPolicy"), policy, &["Always"]);
    }
}

fn strategy(object: &Object, at: &FieldPath, problems: &mut Problems) {
    match object.text("spec.strategy.type") {
        "Recreate" => {
            if object.has("spec.strategy.rollingUpdate") {
                let detail = "may not be specified when strategy `type` is 'Recreate'";
                problems.forbidden(&at.field("rollingUpdate"), detail);
            }
        }
        "RollingUpdate" => rolling(object, &at.field("rollingUpdate"), problems),
        _ => {
            let known = ["Recreate", "RollingUpdate"];
            problems.unsupported_struct(at, &strategy_shown(object), &known);
        }
    }
}

/// A strategy as the API's own type shows it.
fn strategy_shown(object: &Object) -> String {
    let rolling = object.at("spec.strategy.rollingUpdate").map(|limits| {
        let limit = |field: &str| limits.at(field).cloned().unwrap_or(0.into()).to_string();
        go_struct(&[
            ("MaxUnavailable", limit("maxUnavailable")),
            ("MaxSurge", limit("maxSurge")),
        ])
    });
    let kind = Value::from(object.text("spec.strategy.type")).to_string();
    let rolling = rolling.unwrap_or_else(|| "null".to_owned());
    go_struct(&[("Type", kind), ("RollingUpdate", rolling)])
}

/// The same for what a budget asks for.
fn budget_shown(object: &Object) -> String {
    let field = |field: &str| {
        let value = object.at(&format!("spec.{field}"));
        value.map_or("null".to_owned(), ToString::to_string)
    };
    let selector = object.at("spec.selector").map(|selector| {
        let parts = ["matchLabels", "matchExpressions"];
        let parts = parts.map(|part| Some((part, selector.at(part)?.to_string())));
        go_struct(&parts.into_iter().flatten().collect::<Vec<_>>())
    });
    go_struct(&[
        ("MinAvailable", field("minAvailable")),
        ("Selector", selector.unwrap_or_else(|| "null".to_owned())),
        ("MaxUnavailable", field("maxUnavailable")),
        (
            "UnhealthyPodEvictionPolicy",
            field("unhealthyPodEvictionPolicy"),
        ),
    ])
}

fn rolling(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let limit = |field: &str| object.at(&format!("spec.strategy.rollingUpdate.{field}"));
    let (Some(down), Some(up)) = (limit("maxUnavailable"), limit("maxSurge")) else {
        return;
    };
    let at_down = at.field("maxUnavailable");
    int_or_percent(down, &at_down, problems);
    int_or_percent(up, &at.field("maxSurge"), problems);
    let is_zero = |limit: &Value| limit == 0 || percent(limit) == Some(0);
    if is_zero(down) && is_zero(up) {
        problems.invalid(&at_down, down.clone(), "may not be 0 when `maxSurge` is 0");
    }
    at_most_all(down, &at_down, problems);
}

fn int_or_percent(value: &Value, at: &FieldPath, problems: &mut Problems) {
    match value.as_str() {
        Some(text) if percent(value).is_none() => {
            let says = "a valid percent string must be a numeric string followed by an ending '%'";
            problems.invalid(at, text, text::pattern(says, "[0-9]+%", &["1%", "93%"]));
        }
        Some(_) => {}
        None => problems.not_negative(at, value.as_i64().unwrap_or_default()),
    }
}

fn at_most_all(value: &Value, at: &FieldPath, problems: &mut Problems) {
    if percent(value).is_some_and(|percent| percent > 100) {
        problems.invalid(at, value.clone(), "must not be greater than 100%");
    }
}

/// The number in `25%`.
fn percent(value: &Value) -> Option<u64> {
    let digits = value.as_str()?.strip_suffix('%')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}
