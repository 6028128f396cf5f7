//! What we say about a Gateway: that policies affect it.
//!
//! Its status belongs to others. One condition in it is ours; all others are handed back as they are.

use api::well_known::gateway_condition;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::PolicyKey;

/// How many conditions a Gateway may have. The Gateway API refuses more.
const CONDITIONS_MAX: usize = 8;

/// Everything that bears on what we say about a Gateway.
#[derive(Clone, Debug, PartialEq)]
pub struct AffectedView {
    /// The version of its spec.
    pub generation: Option<i64>,
    /// The version of all of it.
    pub resource_version: Option<String>,
    /// What everybody says about it.
    pub conditions: Vec<Value>,
    /// The policies that affect it.
    pub by: Vec<PolicyKey>,
}

/// The conditions that a Gateway should have; nothing if it has them.
pub fn conditions(view: &AffectedView, now: Timestamp) -> Option<Vec<Value>> {
    let is_ours = |it: &Value| it["type"] == gateway_condition::DNS_POLICY_AFFECTED;
    let at = view.conditions.iter().position(is_ours);
    let before = at.map(|at| &view.conditions[at]);
    let mut conditions = view.conditions.clone();
    match (ours(view, before, now), at) {
        (Some(ours), Some(at)) => conditions[at] = ours,
        (Some(ours), None) if conditions.len() < CONDITIONS_MAX => conditions.push(ours),
        // Whoever has the others needs them more.
        (Some(_) | None, None) => {}
        (None, Some(at)) => {
            conditions.remove(at);
        }
    }
    (conditions != view.conditions).then_some(conditions)
}

fn ours(view: &AffectedView, before: Option<&Value>, now: Timestamp) -> Option<Value> {
    if view.by.is_empty() {
        return None;
    }
    let mut by: Vec<String> = view.by.iter().map(ToString::to_string).collect();
    by.sort();
    let was_true = before.filter(|it| it["status"] == "True");
    let since = was_true.map(|it| it["lastTransitionTime"].clone());
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut condition = json!({
        "type": gateway_condition::DNS_POLICY_AFFECTED,
        "status": "True",
        "reason": "Accepted",
        "message": format!("Object affected by DNSPolicy [{}]", by.join(" ")),
        "lastTransitionTime": since.unwrap_or_else(|| json!(now.to_string())),
    });
    if let Some(generation) = view.generation {
        condition["observedGeneration"] = json!(generation);
    }
    Some(condition)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-03-04T05:06:07.89Z".parse().unwrap()
    }

    fn view(conditions: Vec<Value>, by: &[&str]) -> AffectedView {
        AffectedView {
            generation: Some(2),
            resource_version: Some("7".to_owned()),
            conditions,
            by: by.iter().map(|name| PolicyKey::new("web", name)).collect(),
        }
    }

    fn theirs(type_: &str) -> Value {
        json!({ "type": type_, "status": "True", "vendor": { "kept": true } })
    }

    #[test]
    fn a_gateway_says_who_affects_it_and_keeps_what_others_say() {
        let others = vec![theirs("Accepted"), theirs("Programmed")];
        let after = conditions(&view(others.clone(), &["b", "a"]), now()).unwrap();
        assert_eq!(after[..2], others[..]);
        assert_eq!(
            after[2],
            json!({
                "type": "kuadrant.io/DNSPolicyAffected",
                "status": "True",
                "reason": "Accepted",
                "message": "Object affected by DNSPolicy [web/a web/b]",
                "lastTransitionTime": "2026-03-04T05:06:07Z",
                "observedGeneration": 2,
            })
        );
        let later = "2027-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(conditions(&view(after.clone(), &["a", "b"]), later), None);
        let fewer = conditions(&view(after.clone(), &["a"]), later).unwrap();
        assert_eq!(fewer[2]["message"], "Object affected by DNSPolicy [web/a]");
        assert_eq!(fewer[2]["lastTransitionTime"], "2026-03-04T05:06:07Z");
        assert_eq!(conditions(&view(after, &[]), later), Some(others));
    }

    #[test]
    fn a_gateway_that_has_as_many_conditions_as_it_may_keeps_them() {
        let others: Vec<Value> = (0..8).map(|it| theirs(&format!("T{it}"))).collect();
        assert_eq!(conditions(&view(others, &["a"]), now()), None);
        assert_eq!(conditions(&view(Vec::new(), &[]), now()), None);
    }
}
