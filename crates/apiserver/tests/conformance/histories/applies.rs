//! Server-side apply: what a manager wants, put to what others want.

use serde_json::{Value, json};

use super::aim::{Aim, Outcome};
use super::author::{Author, Draft};
use super::hooked::{MARKER, labelled};

/// Those who apply. The first two write in other ways, too.
const APPLIERS: [&str; 3] = ["alice", "bob", "carol"];

impl Author<'_> {
    pub(super) async fn apply(&mut self, aim: Aim) -> Result<(), String> {
        let (name, path) = self.subject(aim).await?;
        let hooked = matches!(aim.outcome, Outcome::Denied | Outcome::Unasked);
        let manager = self.pick(&APPLIERS)?;
        let manager = if hooked { MARKER } else { manager };
        // kube-apiserver tells of conflicts with several managers in an order by chance.
        let mut draft = Draft::new("PATCH", path)
            .detail("type", "apply")
            .detail("unordered", true);
        let options = self.options().into_iter();
        draft.query = options
            .filter(|option| !option.starts_with("fieldManager"))
            .collect();
        let nobody = aim.outcome == Outcome::Invalid && self.in_hundred(30);
        if !nobody {
            draft.query.push(format!("fieldManager={manager}"));
        }
        let may_force = !matches!(aim.outcome, Outcome::Conflict | Outcome::Created);
        if hooked || may_force && self.in_hundred(70) {
            draft.query.push("force=true".to_owned());
        }
        let draft = match aim.outcome {
            Outcome::Conflict => {
                let body = self.contested(&name).await?;
                draft.detail("body", body)
            }
            Outcome::Invalid if !nobody => {
                let mut body = self.plain(&name);
                json_patch::merge(&mut body, &self.invalid_change()?);
                draft.detail("body", body)
            }
            Outcome::BadRequest => self.unfit_wish(draft, &name)?,
            Outcome::Done if aim.status => {
                let mut body = self.bare(&name);
                json_patch::merge(&mut body, &self.pick(&self.kind.statuses.clone())?);
                draft.detail("body", body)
            }
            Outcome::Denied | Outcome::Unasked => {
                let mut body = self.bare(&name);
                json_patch::merge(&mut body, &labelled(aim.outcome.hook()));
                draft.detail("body", body)
            }
            Outcome::Done
            | Outcome::Created
            | Outcome::NotFound
            | Outcome::AlreadyExists
            | Outcome::Invalid
            | Outcome::Unsupported
            | Outcome::Other => {
                let body = self.wish(&name, aim.outcome == Outcome::Created)?;
                draft.detail("body", body)
            }
        };
        self.write(draft).await.map(drop)
    }

    /// What a manager wants: a whole object, or only some of it.
    fn wish(&mut self, name: &str, whole: bool) -> Result<Value, String> {
        let mut body = if whole || self.in_hundred(50) {
            self.body(name)?
        } else {
            self.bare(name)
        };
        for _ in 0..2 {
            let mut change = self.change()?;
            drop_nulls(&mut change);
            json_patch::merge(&mut body, &change);
        }
        if let Some(metadata) = body["metadata"].as_object_mut() {
            for refused in ["managedFields", "generateName", "generation"] {
                metadata.remove(refused);
            }
            if self.kind.custom {
                // kube-apiserver stores what is empty in the metadata of a custom object and does not show it: the next write that
                // changes nothing is one all the same.
                let is_empty = |value: &Value| *value == json!({}) || *value == json!([]);
                metadata.retain(|_, value| !is_empty(value));
            }
        }
        Ok(body)
    }

    /// An object with nothing but its name.
    pub(super) fn bare(&self, name: &str) -> Value {
        json!({
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": { "name": name },
        })
    }

    /// A wish for something that another manager has said otherwise.
    async fn contested(&mut self, name: &str) -> Result<Value, String> {
        let value = self.fresh("n");
        let change = json!({ "metadata": { "annotations": { "contested": &value } } });
        let draft = Draft::new("PATCH", self.path(name)).query(["fieldManager=dave".to_owned()]);
        self.write(draft.detail("type", "merge").detail("body", change))
            .await?;
        let mut body = if self.in_hundred(50) {
            self.plain(name)
        } else {
            self.bare(name)
        };
        body["metadata"]["annotations"] = json!({ "contested": "otherwise" });
        Ok(body)
    }

    fn unfit_wish(&mut self, draft: Draft, name: &str) -> Result<Draft, String> {
        let mut body = self.bare(name);
        Ok(match self.pick(&["raw", "name", "managed", "kind"])? {
            "raw" => draft.detail("raw", "{nonsense"),
            "name" => {
                body["metadata"]["name"] = self.name("other").into();
                draft.detail("body", body)
            }
            "managed" => {
                body["metadata"]["managedFields"] =
                    json!([{ "manager": "x", "operation": "Apply" }]);
                draft.detail("body", body)
            }
            _ => {
                body["kind"] = "Chair".into();
                draft.detail("body", body)
            }
        })
    }
}

/// Leaves out what a merge patch would remove.
pub(super) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
