//! What objects hold, and the options that writes have.

use serde_json::{Value, json};

use super::author::Author;

/// Labels that objects may have.
const LABELS: [&str; 4] = [
    "{}",
    r#"{"colour": "red"}"#,
    r#"{"colour": "blue", "size": "5"}"#,
    r#"{"size": "3"}"#,
];

/// Changes of metadata that are accepted, as a rule.
const METADATA: [&str; 14] = [
    r#"{"labels": {"colour": "red"}}"#,
    r#"{"labels": {"colour": "blue", "size": "5"}}"#,
    r#"{"labels": {"colour": null}}"#,
    r#"{"labels": null}"#,
    r#"{"annotations": {"note": "x"}}"#,
    r#"{"annotations": {"note": "y", "other": "z"}}"#,
    r#"{"annotations": null}"#,
    r#"{"finalizers": ["example.dev/x"]}"#,
    r#"{"finalizers": ["example.dev/y", "example.dev/x"]}"#,
    r#"{"finalizers": null}"#,
    r#"{"finalizers": []}"#,
    r#"{"generateName": "made-"}"#,
    r#"{"generation": 7, "creationTimestamp": null}"#,
    r#"{"managedFields": []}"#,
];

/// Metadata that no object may have.
const BAD_METADATA: [&str; 6] = [
    r#"{"labels": {"bad": "bad value!"}}"#,
    r#"{"labels": {"bad key!": "v"}}"#,
    r#"{"annotations": {"bad key!": "v"}}"#,
    r#"{"finalizers": ["bad finalizer!"]}"#,
    r#"{"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": ""}]}"#,
    r#"{"deletionGracePeriodSeconds": 5, "labels": {"x": "-"}}"#,
];

/// Two managers beside the one that is called after the client.
const MANAGERS: [&str; 2] = ["alice", "bob"];

impl Author<'_> {
    /// An object of this kind with one of its bodies.
    pub(super) fn body(&mut self, name: &str) -> Result<Value, String> {
        let content = self.pick(&self.kind.bodies.clone())?;
        let labels = self.pick(&LABELS)?;
        let mut body = self.object(name, &content);
        json_patch::merge(&mut body["metadata"], &json!({ "labels": parsed(labels) }));
        if !self.kind.slow && self.in_hundred(15) {
            body["metadata"]["finalizers"] = json!(["example.dev/x"]);
        }
        if self.in_hundred(20) {
            body["metadata"]["annotations"] = json!({ "note": "first" });
        }
        Ok(body)
    }

    /// The plainest object of this kind.
    pub(super) fn plain(&self, name: &str) -> Value {
        self.object(name, &self.kind.bodies[0])
    }

    fn object(&self, name: &str, content: &Value) -> Value {
        let mut body = json!({
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": { "name": name },
        });
        if self.kind.cluster {
            body["metadata"]["labels"] = json!({ "of": "{ns}" });
        }
        json_patch::merge(&mut body, content);
        body
    }

    /// A merge patch that is accepted, as a rule.
    pub(super) fn change(&mut self) -> Result<Value, String> {
        if self.in_hundred(60) {
            return self.pick(&self.kind.changes.clone());
        }
        let metadata = parsed(self.pick(&METADATA)?);
        let lasting = self.kind.slow && metadata.get("finalizers").is_some();
        Ok(if lasting {
            json!({ "metadata": { "annotations": { "note": "slow" } } })
        } else {
            json!({ "metadata": metadata })
        })
    }

    /// A merge patch that is not.
    pub(super) fn invalid_change(&mut self) -> Result<Value, String> {
        if self.in_hundred(70) {
            return self.pick(&self.kind.invalid.clone());
        }
        Ok(json!({ "metadata": parsed(self.pick(&BAD_METADATA)?) }))
    }

    /// Options of a write that may succeed.
    pub(super) fn options(&mut self) -> Vec<String> {
        let mut options = Vec::new();
        if self.in_hundred(15) {
            options.push("dryRun=All".to_owned());
        }
        if self.in_hundred(35) {
            let manager = usize::from(self.in_hundred(50));
            options.push(format!("fieldManager={}", MANAGERS[manager]));
        }
        if self.in_hundred(20) {
            let level = ["Ignore", "Warn", "Strict"];
            let level = self.pick(&level).unwrap_or("Warn");
            options.push(format!("fieldValidation={level}"));
        }
        options
    }
}

/// A constant of this folder.
pub(super) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is written here")
}

/// A text as it may stand in a query.
pub(super) fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '=' => "%3D".to_owned(),
        '!' => "%21".to_owned(),
        ' ' => "%20".to_owned(),
        '(' => "%28".to_owned(),
        ')' => "%29".to_owned(),
        '<' => "%3C".to_owned(),
        '>' => "%3E".to_owned(),
        '/' => "%2F".to_owned(),
        letter => letter.to_string(),
    };
    text.chars().map(escape).collect()
}
