//! The rules of a schema and where they are.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// A rule as the schema has it.
pub(super) struct Rule {
    /// The way to its node: `spec.rules[].filters[]`.
    pub(super) place: String,
    /// Its text, on one line.
    pub(super) text: String,
    pub(super) message: String,
}

impl Rule {
    /// All rules of a schema.
    pub(super) fn all(schema: &JSONSchemaProps) -> Vec<Self> {
        let mut rules = Vec::new();
        walk(schema, "", &mut rules);
        rules
    }

    /// Whether it is the one at this place that begins like this.
    pub(super) fn is(&self, place: &str, beginning: &str) -> bool {
        self.place == place && self.text.starts_with(&one_line(beginning))
    }

    /// Whether it is about changes.
    pub(super) fn is_transition(&self) -> bool {
        self.text.contains("oldSelf")
    }

    /// Where its message is shown if the first entries of lists break it.
    pub(super) fn field(&self) -> String {
        self.place.replace("[]", "[0]")
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

fn walk(schema: &JSONSchemaProps, place: &str, rules: &mut Vec<Rule>) {
    for rule in schema.x_kubernetes_validations.iter().flatten() {
        // Nobody uses these yet; the field and the message of a broken rule would have to be worked
        // out.
        let plain = rule.field_path.is_none() && rule.message_expression.is_none();
        assert!(plain, "{place}: a rule with fieldPath or messageExpression");
        rules.push(Rule {
            place: place.to_owned(),
            text: one_line(&rule.rule),
            message: rule.message.clone().expect("every rule has a message"),
        });
    }
    for (name, property) in schema.properties.iter().flatten() {
        let dot = if place.is_empty() { "" } else { "." };
        walk(property, &format!("{place}{dot}{name}"), rules);
    }
    match &schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => walk(items, &format!("{place}[]"), rules),
        Some(JSONSchemaPropsOrArray::Schemas(_)) => panic!("{place}: not a structural schema"),
        None => {}
    }
    match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(values)) => walk(values, &format!("{place}{{}}"), rules),
        Some(JSONSchemaPropsOrBool::Bool(_)) | None => {}
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
