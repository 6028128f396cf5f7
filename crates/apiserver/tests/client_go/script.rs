//! What is done to both APIs, one step at a time.

use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use serde_json::{Value, json};

/// Where everything happens, on both sides.
pub(crate) const NAMESPACE: &str = "witnessed";

/// What keeps an object until the script lets it go.
const HOLD: &str = "example.dev/hold";

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    ConfigMap,
    Thing,
    /// Nobody watches these.
    Secret,
}

impl Kind {
    pub(crate) fn api(self, client: &Client) -> Api<DynamicObject> {
        let kind = match self {
            Self::ConfigMap => GroupVersionKind::gvk("", "v1", "ConfigMap"),
            Self::Thing => GroupVersionKind::gvk("witness.example.dev", "v1", "Thing"),
            Self::Secret => GroupVersionKind::gvk("", "v1", "Secret"),
        };
        let resource = ApiResource::from_gvk(&kind);
        Api::namespaced_with(client.clone(), NAMESPACE, &resource)
    }
}

/// One write.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    kind: Kind,
    name: String,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Create(Value),
    Patch(Value),
    Delete,
}

impl Step {
    pub(crate) async fn perform(&self, client: &Client) -> Result<(), Error> {
        let api = self.kind.api(client);
        match &self.change {
            Change::Create(object) => {
                let object = serde_json::from_value(object.clone()).expect("an object");
                api.create(&PostParams::default(), &object).await?;
            }
            Change::Patch(patch) => {
                let params = PatchParams::default();
                api.patch(&self.name, &params, &Patch::Merge(patch)).await?;
            }
            Change::Delete => {
                api.delete(&self.name, &DeleteParams::default()).await?;
            }
        }
        Ok(())
    }
}

/// Every sort of change, to objects of this round. Each step is seen before the next one is made.
pub(crate) fn round(round: usize) -> Vec<Step> {
    let plain = map(format!("plain-{round}"));
    let held = map(format!("held-{round}"));
    let thing = thing(format!("thing-{round}"));
    let brief = self::thing(format!("brief-{round}"));
    let kept = self::thing(format!("kept-{round}"));
    vec![
        plain.create(
            json!({ "metadata": { "labels": { "team": "blue" } }, "data": { "text": "one" } }),
        ),
        plain.patch(json!({ "data": { "text": "two" } })),
        plain.patch(json!({ "metadata": { "labels": { "team": "red" } } })),
        plain.patch(json!({ "data": { "text": null, "more": "three" } })),
        plain.patch(
            json!({ "metadata": { "labels": { "team": "blue" }, "annotations": { "a": "b" } } }),
        ),
        plain.delete(),
        plain.create(json!({ "data": { "text": "again" } })),
        held.create(json!({ "metadata": { "finalizers": [HOLD], "labels": { "team": "blue" } } })),
        held.delete(),
        held.patch(json!({ "metadata": { "labels": { "team": "red" } } })),
        held.patch(json!({ "metadata": { "finalizers": null } })),
        thing.create(
            json!({ "metadata": { "labels": { "team": "blue" } }, "spec": { "text": "one" } }),
        ),
        thing.patch(json!({ "spec": { "text": "two" } })),
        thing.patch(json!({ "metadata": { "labels": { "team": "red" } } })),
        brief.create(json!({ "spec": { "text": "brief", "unknown": "pruned" } })),
        brief.delete(),
        kept.create(json!({ "metadata": { "finalizers": [HOLD] }, "spec": {} })),
        kept.delete(),
        kept.patch(json!({ "metadata": { "finalizers": null } })),
    ]
}

/// What is done right before an API ends, one after the other: not each of these versions need be seen.
pub(crate) fn unwatched(round: usize) -> Vec<Step> {
    let gap = map(format!("gap-{round}"));
    let plain = map(format!("plain-{round}"));
    let thing = thing(format!("thing-{round}"));
    let late = self::thing(format!("late-{round}"));
    let unwatched = Subject {
        kind: Kind::Secret,
        name: format!("unwatched-{round}"),
    };
    vec![
        gap.create(
            json!({ "metadata": { "labels": { "team": "blue" } }, "data": { "text": "one" } }),
        ),
        plain.delete(),
        plain.create(json!({ "data": { "text": "another" } })),
        thing.patch(json!({ "spec": { "text": "unseen" } })),
        late.create(json!({ "spec": { "text": "late" } })),
        gap.patch(json!({ "metadata": { "labels": { "team": "red" } } })),
        gap.patch(json!({ "data": { "text": "two" } })),
        // With this every informer is behind, and an API that was away cannot tell it what it missed.
        unwatched.create(json!({})),
    ]
}

/// What is done once it is there again: something new for each informer.
pub(crate) fn back(round: usize) -> Vec<Step> {
    let labels = json!({ "metadata": { "labels": { "team": "blue" } } });
    vec![
        map(format!("back-{round}")).create(labels),
        thing(format!("back-{round}")).create(json!({ "spec": { "text": "back" } })),
    ]
}

/// An object that steps are about.
struct Subject {
    kind: Kind,
    name: String,
}

fn map(name: String) -> Subject {
    let kind = Kind::ConfigMap;
    Subject { kind, name }
}

fn thing(name: String) -> Subject {
    let kind = Kind::Thing;
    Subject { kind, name }
}

impl Subject {
    fn step(&self, change: Change) -> Step {
        let (kind, name) = (self.kind, self.name.clone());
        Step { kind, name, change }
    }

    fn create(&self, mut object: Value) -> Step {
        let (version, kind) = match self.kind {
            Kind::ConfigMap => ("v1", "ConfigMap"),
            Kind::Thing => ("witness.example.dev/v1", "Thing"),
            Kind::Secret => ("v1", "Secret"),
        };
        object["apiVersion"] = version.into();
        object["kind"] = kind.into();
        object["metadata"]["name"] = self.name.clone().into();
        self.step(Change::Create(object))
    }

    fn patch(&self, patch: Value) -> Step {
        self.step(Change::Patch(patch))
    }

    fn delete(&self) -> Step {
        self.step(Change::Delete)
    }
}

/// The kind that the controller is for.
pub(crate) fn definition() -> Value {
    let text = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.witness.example.dev" },
        "spec": {
            "group": "witness.example.dev",
            "scope": "Namespaced",
            "names": { "plural": "things", "kind": "Thing" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": { "type": "object", "properties": {
                            "text": { "type": "string", "default": "nothing" },
                        } },
                        "status": text,
                    },
                } },
            }],
        },
    })
}
