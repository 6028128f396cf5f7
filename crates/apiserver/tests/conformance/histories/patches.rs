//! Patches of all forms.

use serde_json::{Map, Value, json};

use super::aim::{Aim, Outcome};
use super::applies::drop_nulls;
use super::author::{Author, Draft};
use super::hooked::labelled;
use crate::sequence::Patch;

/// JSON patches that cannot be carried out.
const IMPOSSIBLE: [&str; 4] = [
    r#"[{"op": "test", "path": "/kind", "value": "Chair"}]"#,
    r#"[{"op": "remove", "path": "/metadata/nothing"}]"#,
    r#"[{"op": "add", "path": "/nothing/such", "value": 1}]"#,
    r#"[{"op": "move", "from": "/nothing", "path": "/metadata/labels"}]"#,
];

impl Author<'_> {
    pub(super) async fn patch(&mut self, patch: Patch, aim: Aim) -> Result<(), String> {
        let (name, path) = self.subject(aim).await?;
        let draft = Draft::new("PATCH", path)
            .query(self.options())
            .detail("type", patch.word());
        let draft = match aim.outcome {
            Outcome::BadRequest => self.unreadable(draft, patch)?,
            Outcome::Conflict => {
                let version = self.past_version(&name).await?;
                let change = self.bound_to(&version)?;
                let change = self.written(patch, &name, change).await;
                draft.detail("body", change)
            }
            Outcome::Invalid if patch == Patch::Json && !aim.status && self.in_hundred(40) => {
                let impossible = super::body::parsed(self.pick(&IMPOSSIBLE)?);
                draft.detail("body", impossible)
            }
            Outcome::Invalid => {
                let change = if aim.status {
                    self.pick(&self.kind.invalid_statuses.clone())?
                } else {
                    self.invalid_change()?
                };
                let change = self.written(patch, &name, change).await;
                draft.detail("body", change)
            }
            Outcome::Denied | Outcome::Unasked => {
                let change = labelled(aim.outcome.hook());
                let change = self.written(patch, &name, change).await;
                draft.detail("body", change)
            }
            Outcome::Done
            | Outcome::Created
            | Outcome::NotFound
            | Outcome::AlreadyExists
            | Outcome::Unsupported
            | Outcome::Other => {
                let change = self.good_patch(patch, &name, aim.status).await?;
                draft.detail("body", change)
            }
        };
        self.write(draft).await.map(drop)
    }

    async fn good_patch(
        &mut self,
        patch: Patch,
        name: &str,
        status: bool,
    ) -> Result<Value, String> {
        let own = match patch {
            Patch::Json => self.kind.json.clone(),
            Patch::Strategic => self.kind.strategic.clone(),
            Patch::Merge | Patch::Apply => Vec::new(),
        };
        if !status && !own.is_empty() && self.in_hundred(50) {
            return self.pick(&own);
        }
        let mut change = if status {
            self.pick(&self.kind.statuses.clone())?
        } else {
            self.change()?
        };
        if self.in_hundred(15) && self.look(name).await.is_some() {
            let current = self.current(name).await?;
            let bound = json!({ "resourceVersion": format!("{{{}}}", current.version) });
            json_patch::merge(&mut change, &json!({ "metadata": bound }));
        }
        Ok(self.written(patch, name, change).await)
    }

    fn bound_to(&mut self, version: &str) -> Result<Value, String> {
        let mut change = self.change()?;
        let bound = json!({ "metadata": { "resourceVersion": format!("{{{version}}}") } });
        json_patch::merge(&mut change, &bound);
        Ok(change)
    }

    /// A patch that cannot be read, or is about another object.
    fn unreadable(&mut self, draft: Draft, patch: Patch) -> Result<Draft, String> {
        Ok(match self.pick(&["raw", "shape", "name"])? {
            "raw" => draft.detail("raw", "nonsense"),
            "shape" if patch == Patch::Json => draft.detail("body", json!({ "op": "remove" })),
            "shape" => draft.detail("body", json!([1])),
            _ if patch == Patch::Json => {
                let op = json!({ "op": "replace", "path": "/metadata/name", "value": "other" });
                draft.detail("body", json!([op]))
            }
            _ => draft.detail("body", json!({ "metadata": { "name": "other" } })),
        })
    }

    /// A merge patch in another form.
    pub(super) async fn written(&self, patch: Patch, name: &str, change: Value) -> Value {
        match patch {
            Patch::Merge | Patch::Strategic | Patch::Apply => change,
            Patch::Json => {
                let now = self.look(name).await.unwrap_or_default();
                let mut operations = Vec::new();
                as_operations(&mut operations, "", &now, &change);
                Value::Array(operations)
            }
        }
    }
}

impl Patch {
    /// As it is written in sequences.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Merge => "merge",
            Self::Strategic => "strategic",
            Self::Apply => "apply",
        }
    }
}

/// The JSON patch that does to `now` what the merge patch `change` does.
fn as_operations(operations: &mut Vec<Value>, at: &str, now: &Value, change: &Value) {
    let none = Map::new();
    for (key, value) in change.as_object().unwrap_or(&none) {
        let path = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        match (now.get(key), value) {
            (None, Value::Null) => {}
            (Some(_), Value::Null) => operations.push(json!({ "op": "remove", "path": path })),
            (Some(below @ Value::Object(_)), Value::Object(_)) => {
                as_operations(operations, &path, below, value);
            }
            (Some(_) | None, value) => {
                let mut value = value.clone();
                drop_nulls(&mut value);
                operations.push(json!({ "op": "add", "path": path, "value": value }));
            }
        }
    }
}
