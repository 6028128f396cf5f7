//! Texts that have a format or match a pattern.

use serde::Deserialize;
use serde_json::{Value, json};

use super::compile;

/// A text, what it should look like, and whether it does.
#[derive(Deserialize)]
pub(in crate::schema) struct Text {
    format: Option<String>,
    pattern: Option<String>,
    #[serde(rename = "text")]
    pub(in crate::schema) content: String,
    pub(in crate::schema) allowed: bool,
}

impl Text {
    pub(in crate::schema) fn schema(&self) -> Value {
        let mut schema = json!({ "type": "string" });
        if let Some(format) = &self.format {
            schema["format"] = format.as_str().into();
        }
        if let Some(pattern) = &self.pattern {
            schema["pattern"] = pattern.as_str().into();
        }
        schema
    }
}

pub(in crate::schema) fn texts() -> Vec<Text> {
    serde_json::from_str(include_str!("texts.json")).unwrap()
}

#[test]
fn texts_are_allowed_as_by_kube_apiserver() {
    let mut wrong = Vec::new();
    for text in texts() {
        let schema = compile(&json!({ "type": "object", "properties": { "a": text.schema() } }));
        let errors = schema.validate(&json!({ "a": text.content }), None);
        if errors.is_empty() != text.allowed {
            wrong.push(format!("{}: {:?}", text.schema(), text.content));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn pattern_that_would_take_too_much_memory_is_refused() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string", "pattern": r"(((\pL{99}){99}){99}){99}" } },
    });
    let errors = super::super::Schema::compile(&schema).unwrap_err();
    assert!(
        errors[0]
            .detail
            .starts_with("must be a valid regular expression")
    );
}
