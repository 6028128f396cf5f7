//! Creates and updates.

use serde_json::{Value, json};

use super::aim::{Aim, Outcome};
use super::author::{Author, Draft};
use super::hooked::labelled;

/// A uid that no object has.
pub(super) const OTHER_UID: &str = "11111111-2222-3333-4444-555555555555";

impl Author<'_> {
    /// Makes a plain object, for others to meet.
    pub(super) async fn make(&mut self, name: &str) -> Result<(), String> {
        let body = self.plain(name);
        let draft = Draft::new("POST", self.kind.path.clone()).detail("body", body);
        self.write(draft).await.map(drop)
    }

    pub(super) async fn create(&mut self, outcome: Outcome) -> Result<(), String> {
        let mut draft = Draft::new("POST", self.kind.path.clone());
        let body = match outcome {
            Outcome::AlreadyExists => {
                draft.query = self.options();
                let name = self.existing().await?;
                self.plain(&name)
            }
            Outcome::Invalid => {
                draft.query = self.options();
                let name = self.absent().await?;
                self.invalid_body(&name)?
            }
            Outcome::BadRequest => {
                let name = self.absent().await?;
                self.unfit_body(&name, &mut draft)?
            }
            Outcome::Denied | Outcome::Unasked => {
                draft.query = self.options();
                let name = self.absent().await?;
                let mut body = self.body(&name)?;
                json_patch::merge(&mut body, &labelled(outcome.hook()));
                body
            }
            Outcome::Done
            | Outcome::Created
            | Outcome::NotFound
            | Outcome::Conflict
            | Outcome::Unsupported
            | Outcome::Other => {
                draft.query = self.options();
                let name = self.absent().await?;
                self.good_body(&name)?
            }
        };
        self.write(draft.detail("body", body)).await.map(drop)
    }

    fn good_body(&mut self, name: &str) -> Result<Value, String> {
        let mut body = self.body(name)?;
        if self.in_hundred(10) {
            // Each time another, so that lists have one order.
            let prefix = self.fresh("made");
            let prefix = self.name(&format!("{prefix}-"));
            json_patch::merge(
                &mut body,
                &json!({ "metadata": { "name": null, "generateName": prefix } }),
            );
        }
        if self.in_hundred(10) {
            body["unheard"] = json!({ "of": 1 });
        }
        Ok(body)
    }

    fn invalid_body(&mut self, name: &str) -> Result<Value, String> {
        let mut body = self.plain(name);
        if self.in_hundred(15) {
            body["metadata"]["name"] = self.name("Bad_Name").into();
        } else {
            json_patch::merge(&mut body, &self.invalid_change()?);
        }
        Ok(body)
    }

    /// A body that does not fit the path, its type, or what the client says of it.
    fn unfit_body(&mut self, name: &str, draft: &mut Draft) -> Result<Value, String> {
        let mut body = self.plain(name);
        let wrong = self.kind.wrong.clone();
        match self.pick(&["wrong", "strict", "kind", "version", "namespace"])? {
            "wrong" if !wrong.is_empty() => json_patch::merge(&mut body, &self.pick(&wrong)?),
            "kind" => body["kind"] = "Chair".into(),
            "version" => body["apiVersion"] = "example.dev/v9".into(),
            "namespace" if !self.kind.cluster => body["metadata"]["namespace"] = "other".into(),
            _ => {
                draft.query.push("fieldValidation=Strict".to_owned());
                body["unheard"] = json!({ "of": 1 });
            }
        }
        Ok(body)
    }

    pub(super) async fn update(&mut self, aim: Aim) -> Result<(), String> {
        let (name, path) = self.subject(aim).await?;
        let mut draft = Draft::new("PUT", path);
        if aim.outcome != Outcome::BadRequest {
            draft.query = self.options();
        }
        let draft = match aim.outcome {
            Outcome::Created => {
                let body = self.body(&name)?;
                draft.detail("body", body)
            }
            Outcome::NotFound => {
                let mut body = self.plain(&name);
                if self.kind.conditional {
                    body["metadata"]["resourceVersion"] = "1".into();
                }
                draft.detail("body", body)
            }
            Outcome::Conflict => self.outdated(draft, &name).await?,
            Outcome::Invalid if self.kind.conditional && !aim.status && self.in_hundred(30) => {
                let body = self.body(&name)?;
                draft.detail("body", body)
            }
            Outcome::Invalid if aim.status => {
                let change = self.pick(&self.kind.invalid_statuses.clone())?;
                self.edit(draft, &name, change).await?
            }
            Outcome::Invalid => {
                let change = self.invalid_change()?;
                self.edit(draft, &name, change).await?
            }
            Outcome::BadRequest => {
                let body = self.unfit_update(&name, &mut draft)?;
                draft.detail("body", body)
            }
            Outcome::Denied | Outcome::Unasked => {
                let change = labelled(aim.outcome.hook());
                self.edit(draft, &name, change).await?
            }
            Outcome::Done | Outcome::AlreadyExists | Outcome::Unsupported | Outcome::Other => {
                self.good_update(draft, &name, aim.status).await?
            }
        };
        self.write(draft).await.map(drop)
    }

    async fn good_update(
        &mut self,
        draft: Draft,
        name: &str,
        status: bool,
    ) -> Result<Draft, String> {
        if status {
            let change = self.pick(&self.kind.statuses.clone())?;
            return self.edit(draft, name, change).await;
        }
        if self.in_hundred(60) {
            let change = self.change()?;
            return self.edit(draft, name, change).await;
        }
        let mut body = self.body(name)?;
        if self.kind.conditional || self.in_hundred(50) {
            let current = self.current(name).await?;
            body["metadata"]["resourceVersion"] = format!("{{{}}}", current.version).into();
            if self.in_hundred(30) {
                body["metadata"]["uid"] = format!("{{{}}}", current.uid).into();
            }
        }
        Ok(draft.detail("body", body))
    }

    /// An update as clients make it: the object is read, changed and sent back.
    pub(super) async fn edit(
        &mut self,
        draft: Draft,
        name: &str,
        change: Value,
    ) -> Result<Draft, String> {
        let object = self.fresh("o");
        let get = Draft::new("GET", self.path(name));
        self.send(get.detail("save", json!({ &object: "" })))
            .await?;
        Ok(draft.detail("edit", json!({ "of": object, "with": change })))
    }

    /// An update of a version or of an object that is no more.
    async fn outdated(&mut self, draft: Draft, name: &str) -> Result<Draft, String> {
        let mut body = self.plain(name);
        if self.in_hundred(30) && !self.kind.conditional {
            body["metadata"]["uid"] = OTHER_UID.into();
            return Ok(draft.detail("body", body));
        }
        let version = self.past_version(name).await?;
        body["metadata"]["resourceVersion"] = format!("{{{version}}}").into();
        Ok(draft.detail("body", body))
    }

    /// A version that the object does not have any more; if need be, it is changed for it.
    pub(super) async fn past_version(&mut self, name: &str) -> Result<String, String> {
        if let Some(past) = self.past(name).await {
            return Ok(past.version);
        }
        let current = self.current(name).await?;
        let number = self.fresh("n");
        let change = json!({ "metadata": { "annotations": { "changed": number } } });
        let draft = Draft::new("PATCH", self.path(name));
        self.write(draft.detail("type", "merge").detail("body", change))
            .await?;
        Ok(current.version)
    }

    fn unfit_update(&mut self, name: &str, draft: &mut Draft) -> Result<Value, String> {
        if self.in_hundred(30) {
            return Ok(self.plain(&self.name("other")));
        }
        self.unfit_body(name, draft)
    }
}
