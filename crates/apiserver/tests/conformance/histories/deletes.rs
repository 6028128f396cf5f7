//! Deletes, of one object and of many, and what follows from them.

use serde_json::{Value, json};

use super::aim::{Aim, Outcome};
use super::author::{Author, Draft};
use super::hooked::refused_deletion;
use super::writes::OTHER_UID;

/// What an owner may be deleted with.
const POLICIES: [&str; 3] = ["", "Background", "Foreground"];

impl Author<'_> {
    /// Removes an object, whatever holds it.
    pub(super) async fn remove(&mut self, name: &str) -> Result<(), String> {
        if self.kind.slow {
            self.read_watches().await?;
        }
        let held = self.look(name).await;
        let held = held.is_some_and(|object| object["metadata"]["finalizers"].is_array());
        if held {
            let free = json!({ "metadata": { "finalizers": null } });
            let draft = Draft::new("PATCH", self.path(name)).detail("type", "merge");
            self.send(draft.detail("body", free)).await?;
        }
        if self.look(name).await.is_some() {
            self.send(Draft::new("DELETE", self.path(name))).await?;
        }
        self.gone(name).await
    }

    pub(super) async fn delete(&mut self, aim: Aim) -> Result<(), String> {
        if self.kind.slow {
            // What is told while a delete goes on is up to the speed of controllers.
            self.read_watches().await?;
        }
        let (name, path) = self.subject(aim).await?;
        let draft = Draft::new("DELETE", path);
        match aim.outcome {
            Outcome::Conflict => {
                let wanted = if self.in_hundred(40) {
                    json!({ "uid": OTHER_UID })
                } else {
                    let version = self.past_version(&name).await?;
                    json!({ "resourceVersion": format!("{{{version}}}") })
                };
                let draft = draft.detail("body", json!({ "preconditions": wanted }));
                self.send(draft).await.map(drop)
            }
            Outcome::Invalid => {
                let bad = [
                    json!({ "propagationPolicy": "Sideways" }),
                    json!({ "propagationPolicy": "Orphan", "orphanDependents": true }),
                    json!({ "dryRun": ["Some"] }),
                ];
                let bad = self.pick(&bad)?;
                self.send(draft.detail("body", bad)).await.map(drop)
            }
            Outcome::BadRequest if self.in_hundred(50) => {
                let draft = draft.query(["gracePeriodSeconds=many".to_owned()]);
                self.send(draft).await.map(drop)
            }
            Outcome::BadRequest => {
                let bad = json!({ "apiVersion": "v1", "kind": "Chair" });
                self.send(draft.detail("body", bad)).await.map(drop)
            }
            Outcome::NotFound => self.send(draft).await.map(drop),
            Outcome::Denied => {
                self.held(&name).await?;
                let draft = draft.detail("body", refused_deletion());
                self.send(draft).await.map(drop)
            }
            Outcome::Done
            | Outcome::Created
            | Outcome::AlreadyExists
            | Outcome::Unsupported
            | Outcome::Unasked
            | Outcome::Other => self.good_delete(draft, &name).await,
        }
    }

    async fn good_delete(&mut self, draft: Draft, name: &str) -> Result<(), String> {
        let object = self.look(name).await.unwrap_or_default();
        let free = object["metadata"]["finalizers"].is_null() && !self.kind.custom;
        let (draft, slowly) = match self.pick(&["plain", "bound", "dry", "grace", "policy"])? {
            "bound" => {
                let current = self.current(name).await?;
                let wanted = json!({
                    "uid": format!("{{{}}}", current.uid),
                    "resourceVersion": format!("{{{}}}", current.version),
                });
                (
                    draft.detail("body", json!({ "preconditions": wanted })),
                    false,
                )
            }
            "dry" if self.in_hundred(50) => {
                return self
                    .send(draft.query(["dryRun=All".to_owned()]))
                    .await
                    .map(drop);
            }
            "dry" => {
                let draft = draft.detail("body", json!({ "dryRun": ["All"] }));
                return self.send(draft).await.map(drop);
            }
            "grace" => (
                draft.detail("body", json!({ "gracePeriodSeconds": 0 })),
                false,
            ),
            "policy" if free => {
                let policy = self.pick(&["Foreground", "Orphan", "Background"])?;
                let draft = draft.query([format!("propagationPolicy={policy}")]);
                (draft, policy != "Background")
            }
            _ => (draft, false),
        };
        self.send(draft).await?;
        if slowly || self.kind.slow {
            self.gone(name).await?;
        }
        if slowly && self.kind.slow {
            // In which order controllers let go of it is up to them: no watch begins before.
            self.forget_versions();
        }
        Ok(())
    }

    pub(super) async fn delete_collection(&mut self, outcome: Outcome) -> Result<(), String> {
        let mut draft = Draft::new("DELETE", self.kind.path.clone());
        let mut selector = String::new();
        if self.kind.cluster {
            selector.push_str("of%3D{ns}");
        }
        if outcome == Outcome::BadRequest {
            draft.query.push("labelSelector=colour%20in".to_owned());
            return self.send(draft).await.map(drop);
        }
        if outcome == Outcome::Denied {
            let name = self.existing().await?;
            self.held(&name).await?;
            draft = draft.detail("body", refused_deletion());
        }
        if outcome != Outcome::Denied && self.in_hundred(70) {
            let more = self.pick(&["colour%3Dred", "colour%21%3Dred", "size"])?;
            selector.push_str(if selector.is_empty() { "" } else { "," });
            selector.push_str(more);
        }
        if !selector.is_empty() {
            draft.query.push(format!("labelSelector={selector}"));
        }
        if outcome != Outcome::Denied && self.in_hundred(25) {
            draft.query.push("dryRun=All".to_owned());
        }
        self.send(draft).await.map(drop)
    }

    /// An owner and its dependent: the one is deleted, the other follows.
    pub(super) async fn collect(&mut self) -> Result<(), String> {
        let (owner, child) = (self.fresh("own"), self.fresh("dep"));
        let (owner, uid) = (self.name(&owner), self.fresh("u"));
        let policy = self.pick(&POLICIES)?;
        // Only a dependent that blocks its owner is sure to go first.
        let blocks = policy == "Foreground" || self.in_hundred(50);
        let body = self.plain(&owner);
        let draft = Draft::new("POST", self.kind.path.clone()).detail("body", body);
        self.send(draft.detail("save", json!({ &uid: "/metadata/uid" })))
            .await?;
        let reference = json!({
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "name": owner,
            "uid": format!("{{{uid}}}"),
            "blockOwnerDeletion": blocks,
            "controller": self.in_hundred(50),
        });
        let metadata = json!({ "name": child, "ownerReferences": [reference] });
        let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
        let children = "/api/v1/namespaces/{ns}/configmaps";
        self.send(Draft::new("POST", children.to_owned()).detail("body", body))
            .await?;
        let mut draft = Draft::new("DELETE", self.path(&owner));
        if !policy.is_empty() {
            draft.query.push(format!("propagationPolicy={policy}"));
        }
        self.send(draft).await?;
        self.gone(&owner).await?;
        let path = format!("{children}/{child}");
        self.eventually_gone(path).await
    }

    async fn gone(&mut self, name: &str) -> Result<(), String> {
        self.eventually_gone(self.path(name)).await
    }

    async fn eventually_gone(&mut self, path: String) -> Result<(), String> {
        let draft = Draft::new("GET", path).detail("code", Value::from(404));
        self.step("eventually ", draft).await.map(drop)
    }
}
