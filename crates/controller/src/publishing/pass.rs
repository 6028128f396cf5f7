//! One pass over a host: what was decided is written, and told.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use api::{Condition, Decoded, ServiceRecord};
use dns::Name;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Namespace, ObjectReference};
use kube::api::{Api, ObjectMeta, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource};
use reconcile::publishing::{
    Decision, HostView, Note, StatusUpdate, Update, Version, Write, conclude,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tracing::{info, warn};

use super::live::Live;
use crate::write::{Target, WriteError, replacement};

/// Everything a pass is made from.
pub(super) struct Pass {
    pub(super) view: HostView,
    pub(super) decision: Decision,
    pub(super) began: Timestamp,
}

/// What a pass brought about. What was written before something failed is told, too.
pub(super) struct Finished {
    pub(super) host: Name,
    pub(super) result: Result<(), WriteError>,
    /// Whether somebody seems to have left, and that could not be seen live.
    pub(super) unconfirmed: bool,
    /// What stands in the API now.
    pub(super) written: Written,
    /// What sources are to be told because of others.
    pub(super) notes: Vec<Note>,
    /// Since when the host has had no address.
    pub(super) lapsing: Option<Duration>,
    /// When to look again without anybody asking, on the clock of the loop.
    pub(super) next: Option<Duration>,
    /// What the ServiceRecord said about itself, and what it says now.
    said: Option<(ObjectReference, Vec<Condition>, Vec<Condition>)>,
}

#[derive(Default)]
pub(super) struct Written {
    pub(super) service_records: Vec<Decoded<ServiceRecord>>,
    pub(super) records: Vec<Decoded<api::Record>>,
}

impl Finished {
    /// What is said now that was not said before.
    pub(super) fn transitions(
        &self,
    ) -> impl Iterator<Item = (ObjectReference, &[Condition], &[Condition])> {
        let said = self.said.iter();
        said.map(|(object, before, after)| (object.clone(), before.as_slice(), after.as_slice()))
    }
}

impl Pass {
    /// Whether there is nothing to write.
    pub(super) fn is_idle(&self) -> bool {
        let decision = &self.decision;
        decision.writes.is_empty() && decision.withdrawal.is_none() && self.status().is_none()
    }

    pub(super) fn into_finished(self) -> Finished {
        Finished {
            host: self.view.host,
            result: Ok(()),
            unconfirmed: false,
            written: Written::default(),
            notes: self.decision.notes,
            lapsing: self.decision.lapsing,
            next: self.decision.next,
            said: None,
        }
    }

    pub(super) async fn run(self, client: &Client, live: &Live, writers: &Semaphore) -> Finished {
        let mut writer = Writer {
            view: &self.view,
            client,
            writers,
            written: Written::default(),
        };
        let mut withdrawn = false;
        let mut result = writer.all(&self.decision.writes).await;
        if let (Ok(()), Some(withdrawal)) = (&result, &self.decision.withdrawal) {
            let host = &self.view.host;
            match live.proves(&withdrawal.proof).await {
                Ok(true) => {
                    result = writer.all(&withdrawal.writes).await;
                    info!(%host, writes = withdrawal.writes.len(), "Nobody asks for a host any more");
                    withdrawn = true;
                }
                Ok(false) => {}
                Err(error) => warn!(%host, %error, "Cannot see whether a host is still asked for"),
            }
        }
        let status = self
            .status()
            .filter(|it| !withdrawn && !writer.wrote(&it.version));
        let mut said = None;
        if let Some(status) = status {
            match writer.status(&status).await {
                Ok(it) => said = it,
                Err(error) => result = result.and(Err(error)),
            }
        }
        let written = writer.written;
        let unconfirmed = self.decision.withdrawal.is_some() && !withdrawn;
        Finished {
            result,
            unconfirmed,
            written,
            said,
            ..self.into_finished()
        }
    }

    fn status(&self) -> Option<StatusUpdate> {
        conclude(&self.view, &self.decision, self.began)
    }
}

/// Writes one after the other, each counting on those before it.
struct Writer<'a> {
    view: &'a HostView,
    client: &'a Client,
    writers: &'a Semaphore,
    written: Written,
}

impl Writer<'_> {
    async fn all(&mut self, writes: &[Write]) -> Result<(), WriteError> {
        for write in writes {
            self.one(write).await?;
        }
        Ok(())
    }

    async fn one(&mut self, write: &Write) -> Result<(), WriteError> {
        let _turn = self.writers.acquire().await;
        match write {
            Write::CreateServiceRecord(record) => {
                let created = self.create_service_record(record).await?;
                self.written.service_records.push(created);
            }
            Write::UpdateServiceRecord(update) => {
                let mut standing = self.view.standing.iter();
                let before = standing.find(|it| it.version == update.version);
                let before = before.map(|it| (&it.labels, &it.annotations, it.spec.as_ref()));
                let updated = self.update(update, before).await?;
                self.written.service_records.push(updated);
            }
            Write::DeleteServiceRecord(version) => self.remove::<ServiceRecord>(version).await?,
            Write::CreateRecord(record) => {
                let created = self.named(&record.metadata).create(record.as_ref()).await?;
                self.written.records.push(created);
            }
            Write::UpdateRecord(update) => {
                let mut standing = self.view.records.iter();
                let before = standing.find(|it| it.version == update.version);
                let before = before.map(|it| (&it.labels, &it.annotations, it.spec.as_ref()));
                let updated = self.update(update, before).await?;
                self.written.records.push(updated);
            }
            Write::DeleteRecord(version) => self.remove::<api::Record>(version).await?,
        }
        Ok(())
    }

    async fn update<K, S>(
        &self,
        update: &Update<S>,
        before: Option<Before<'_, S>>,
    ) -> Result<Decoded<K>, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned,
        S: Serialize,
    {
        let before = before.ok_or(WriteError::Stale)?;
        let target = self.target(&update.version);
        let version = update.version.resource_version.as_deref();
        match target.merge(version, patch(update, before)).await {
            // What is gone is made anew when the watch has told so.
            Err(WriteError::Gone) => Err(WriteError::Stale),
            other => other,
        }
    }

    async fn remove<K>(&self, version: &Version) -> Result<(), WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let target = self.target(version);
        let resource_version = version.resource_version.as_deref();
        target.remove::<K>(&version.uid, resource_version).await
    }

    /// Its namespace comes with the first that is put there (S1).
    async fn create_service_record(
        &self,
        record: &ServiceRecord,
    ) -> Result<Decoded<ServiceRecord>, WriteError> {
        let target = self.named(&record.metadata);
        match target.create(record).await {
            Err(WriteError::Gone) if self.view.central.as_deref() == Some(target.namespace) => {}
            other => return other,
        }
        let namespace = Namespace {
            metadata: ObjectMeta {
                name: Some(target.namespace.to_owned()),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        };
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        match namespaces.create(&PostParams::default(), &namespace).await {
            Ok(_) => info!(
                namespace = target.namespace,
                "Made the namespace of ServiceRecords"
            ),
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => return Err(error.into()),
        }
        target.create(record).await
    }

    async fn status(
        &mut self,
        update: &StatusUpdate,
    ) -> Result<Option<(ObjectReference, Vec<Condition>, Vec<Condition>)>, WriteError> {
        let mut standing = self.view.standing.iter();
        let Some(before) = standing.find(|it| it.version == update.version) else {
            return Ok(None);
        };
        let _turn = self.writers.acquire().await;
        let target = self.target(&update.version);
        let version = update.version.resource_version.as_deref();
        let written: Decoded<ServiceRecord> = target
            .status(version, &before.status, &update.status)
            .await?;
        let object = written.object_ref(&());
        self.written.service_records.push(written);
        let (before, after) = (&before.status.conditions, &update.status.conditions);
        Ok(Some((object, before.clone(), after.clone())))
    }

    /// Whether a ServiceRecord has been written to.
    fn wrote(&self, version: &Version) -> bool {
        let mut written = self.written.service_records.iter();
        written.any(|it| it.meta().uid.as_deref() == Some(&version.uid))
    }

    fn target<'b>(&'b self, version: &'b Version) -> Target<'b> {
        Target {
            client: self.client,
            namespace: &version.key.namespace,
            name: &version.key.name,
        }
    }

    fn named<'b>(&'b self, meta: &'b ObjectMeta) -> Target<'b> {
        Target {
            client: self.client,
            namespace: meta.namespace.as_deref().unwrap_or_default(),
            name: meta.name.as_deref().unwrap_or_default(),
        }
    }
}

/// The labels, the annotations and the spec of an object, if that can be read.
type Before<'a, S> = (
    &'a BTreeMap<String, String>,
    &'a BTreeMap<String, String>,
    Option<&'a S>,
);

/// What makes an object what it should be.
fn patch<S: Serialize>(update: &Update<S>, (labels, annotations, spec): Before<'_, S>) -> Value {
    let spec = spec.map_or_else(|| json!(update.spec), |it| replacement(it, &update.spec));
    json!({
        "metadata": {
            "labels": replacement(labels, &update.labels),
            "annotations": replacement(annotations, &update.annotations),
            "ownerReferences": update.owner_references,
        },
        "spec": spec,
    })
}
