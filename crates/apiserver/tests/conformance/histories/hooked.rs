//! Writes that webhooks have a say in.

use serde_json::{Value, json};

use super::author::{Author, Draft};
use super::hooks::{Effect, GRACE, LABEL};
use crate::sequence::Patch;

/// Who applies labels and nothing else.
pub(super) const MARKER: &str = "erin";

impl Author<'_> {
    /// The life of an object that webhooks are asked about, in writes of every form.
    pub(super) async fn hooked(&mut self, effect: Effect) -> Result<(), String> {
        let name = self.absent().await?;
        let mut body = self.plain(&name);
        json_patch::merge(&mut body, &labelled(effect.word()));
        let draft = Draft::new("POST", self.kind.path.clone());
        self.write(draft.detail("body", body)).await?;
        let change = self.labelled_change(effect)?;
        let draft = Draft::new("PUT", self.path(&name)).query(self.perhaps_dry());
        let draft = self.edit(draft, &name, change).await?;
        self.write(draft).await?;
        for patch in self.patches() {
            let change = self.labelled_change(effect)?;
            let draft = Draft::new("PATCH", self.path(&name)).detail("type", patch.word());
            let mut draft = draft.query(self.perhaps_dry());
            let body = if patch == Patch::Apply {
                // Somebody who wants nothing else, so that what is there stays and is good.
                draft = draft.query([format!("fieldManager={MARKER}&force=true")]);
                let mut body = self.bare(&name);
                json_patch::merge(&mut body, &labelled(effect.word()));
                body
            } else {
                self.written(patch, &name, change).await
            };
            self.write(draft.detail("body", body)).await?;
        }
        if self.kind.status {
            let change = self.pick(&self.kind.statuses.clone())?;
            let draft = Draft::new("PATCH", format!("{}/status", self.path(&name)));
            self.write(draft.detail("type", "merge").detail("body", change))
                .await?;
        }
        let draft = Draft::new("DELETE", self.path(&name));
        self.send(draft.query(["dryRun=All".to_owned()])).await?;
        self.remove(&name).await
    }

    fn patches(&self) -> Vec<Patch> {
        let mut patches = vec![Patch::Json, Patch::Merge, Patch::Apply];
        if !self.kind.custom {
            patches.push(Patch::Strategic);
        }
        patches
    }

    fn labelled_change(&mut self, effect: Effect) -> Result<Value, String> {
        let mut change = self.pick(&self.kind.changes.clone())?;
        json_patch::merge(&mut change, &labelled(effect.word()));
        Ok(change)
    }

    fn perhaps_dry(&mut self) -> Vec<String> {
        let dry = self.in_hundred(25);
        dry.then(|| "dryRun=All".to_owned()).into_iter().collect()
    }

    /// Labels an object so that a webhook wants to keep it.
    pub(super) async fn held(&mut self, name: &str) -> Result<(), String> {
        let draft = Draft::new("PATCH", self.path(name)).detail("type", "merge");
        let draft = draft.detail("body", labelled("keep"));
        self.write(draft).await.map(drop)
    }
}

/// The options of a deletion that is refused for objects that are [held](Author::held).
pub(super) fn refused_deletion() -> Value {
    json!({ "gracePeriodSeconds": GRACE })
}

/// A merge patch that makes an object concern a webhook.
pub(super) fn labelled(word: &str) -> Value {
    json!({ "metadata": { "labels": { LABEL: word } } })
}
