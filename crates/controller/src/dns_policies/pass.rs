//! One pass over a DNSPolicy or a Gateway: what was decided is written, and told.

use std::collections::BTreeMap;
use std::time::Duration;

use api::foreign::Gateway;
use api::{Condition, Decoded};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::{Client, Resource as _};
use reconcile::dns_policy::{Decision, DnsPolicyView, Update, conclude};
use reconcile::gateway::AffectedView;
use reconcile::{GatewayKey, PolicyKey, gateway};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::Key;
use crate::write::{Target, WriteError, Writing, replacement};

/// What a pass brought about. What was written before something failed is told, too.
pub(super) struct Finished {
    pub(super) key: Key,
    pub(super) result: Result<(), WriteError>,
    /// What the API did not take: it is tried again, later and later.
    pub(super) refused: bool,
    /// What stands in the API now.
    pub(super) written: Written,
    /// Since when records have had no source.
    pub(super) lapsing: BTreeMap<String, Duration>,
    /// When to look again without anybody asking, on the clock of the loop.
    pub(super) next: Option<Duration>,
    /// What the policy said about itself, and what it says now.
    pub(super) conditions: (Vec<Condition>, Vec<Condition>),
}

#[derive(Default)]
pub(super) struct Written {
    pub(super) policy: Option<Decoded<api::DnsPolicy>>,
    pub(super) gateway: Option<Decoded<Gateway>>,
    pub(super) records: Vec<Decoded<api::DnsRecord>>,
}

impl Finished {
    fn new(key: Key) -> Finished {
        Finished {
            key,
            result: Ok(()),
            refused: false,
            written: Written::default(),
            lapsing: BTreeMap::new(),
            next: None,
            conditions: (Vec::new(), Vec::new()),
        }
    }

    /// The policy, for Events about it.
    pub(super) fn reference(&self) -> Option<ObjectReference> {
        Some(self.written.policy.as_ref()?.object_ref(&()))
    }
}

/// Writes what we say about a Gateway.
pub(super) async fn affect(
    key: GatewayKey,
    view: AffectedView,
    began: Timestamp,
    client: &Client,
    writers: &Semaphore,
) -> Finished {
    let mut finished = Finished::new(Key::Gateway(key.clone()));
    if let Some(conditions) = gateway::conditions(&view, began) {
        let _turn = writers.acquire().await;
        let target = target(client, &key.namespace, &key.name);
        let version = view.resource_version.as_deref();
        match target.conditions::<Gateway>(version, &conditions).await {
            Ok(written) => finished.written.gateway = Some(written),
            Err(error) => finished.result = Err(error),
        }
    }
    finished
}

/// Carries out what was decided about a policy, and reports it.
pub(super) async fn enforce(
    view: DnsPolicyView,
    decision: Decision,
    began: Timestamp,
    client: &Client,
    writers: &Semaphore,
) -> Finished {
    let key = view.key.clone();
    let mut finished = Finished::new(Key::Policy(key.clone()));
    let before = view.status.conditions.clone();
    finished.conditions = (before.clone(), before);
    let mut refused = Vec::new();
    finished.result = perform(
        &key,
        &decision,
        client,
        writers,
        &mut finished.written,
        &mut refused,
    )
    .await;
    finished.refused = !refused.is_empty();
    if finished.result.is_ok()
        && let Some(status) = conclude(&view, &decision, &refused, began)
    {
        let _turn = writers.acquire().await;
        let target = target(client, &key.namespace, &key.name);
        let mut writing = Writing::new(target, view.resource_version.clone());
        finished.result = writing.status(&view.status, &status).await;
        finished.written.policy = writing.into_written();
        if finished.result.is_ok() {
            finished.conditions.1 = status.conditions;
        }
    }
    finished.lapsing = decision.lapsing;
    finished.next = decision.next;
    finished
}

/// Makes what is new before anything goes. A record that the API does not take stops no other; but nothing goes then.
async fn perform(
    key: &PolicyKey,
    decision: &Decision,
    client: &Client,
    writers: &Semaphore,
    written: &mut Written,
    refused: &mut Vec<String>,
) -> Result<(), WriteError> {
    for record in &decision.create {
        let name = record.metadata.name.as_deref().unwrap_or_default();
        let _turn = writers.acquire().await;
        let created = target(client, &key.namespace, name).create(record).await;
        written.records.extend(judge(name, created, refused)?);
    }
    for update in &decision.update {
        let name = &update.before.name;
        let _turn = writers.acquire().await;
        let target = target(client, &key.namespace, name);
        let version = update.before.resource_version.as_deref();
        let updated = target.merge(version, patch(update)).await;
        written.records.extend(judge(name, updated, refused)?);
    }
    let going = decision.delete.iter().filter(|_| refused.is_empty());
    for record in going {
        let _turn = writers.acquire().await;
        let target = target(client, &key.namespace, &record.name);
        let version = record.resource_version.as_deref();
        target
            .remove::<api::DnsRecord>(&record.uid, version)
            .await?;
    }
    Ok(())
}

/// What was written; or nothing, if the API does not want it at all.
fn judge<K>(
    name: &str,
    outcome: Result<Decoded<K>, WriteError>,
    refused: &mut Vec<String>,
) -> Result<Option<Decoded<K>>, WriteError> {
    let error = match outcome {
        Ok(written) => return Ok(Some(written)),
        // A record that is gone is made again when the watch has told so.
        Err(WriteError::Gone) => return Err(WriteError::Stale),
        Err(error) => error,
    };
    if let WriteError::Failed(inner) = &error
        && let kube::Error::Api(status) = inner.as_ref()
        && matches!(status.code, 400 | 403 | 422)
    {
        let why = &status.message;
        refused.push(format!("DNSRecord {name} cannot be written: {why}"));
        return Ok(None);
    }
    Err(error)
}

/// What makes a record what it should be.
fn patch(update: &Update) -> Value {
    let mut patch = json!({
        "metadata": {
            "labels": update.labels,
            "ownerReferences": update.owner_references,
        },
        "spec": update.spec,
    });
    if let Some(before) = &update.before.spec {
        patch["spec"] = replacement(before, &update.spec);
    }
    patch
}

fn target<'a>(client: &'a Client, namespace: &'a str, name: &'a str) -> Target<'a> {
    Target {
        client,
        namespace,
        name,
    }
}
