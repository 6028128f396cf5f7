//! Passes: one object looked at, decided on, written and told.
//!
//! A pass begins with a view and a decision, made at once from the world; what follows is I/O on its own. It ends with what
//! stands there now, which goes back into the world. No step runs twice.

use std::fmt::Debug;

use api::record::RecordStatus;
use api::zone::ZoneStatus;
use api::{Condition, Decoded, ZoneKey};
use dns::Version;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::ObjectMeta;
use kube::{Client, Resource};
use reconcile::slice::Slice;
use reconcile::{Key, Label, RecordKey, RecordView, ZoneView, record, zone};

use crate::write::{Target, WriteError, Writing};

/// What is to be written, decided and not yet begun.
#[derive(Debug)]
pub(crate) enum Work {
    Zone(Box<ZoneWork>),
    Record(Box<RecordWork>),
}

#[derive(Debug)]
pub(crate) struct ZoneWork {
    key: ZoneKey,
    uid: String,
    resource_version: Option<String>,
    label: Option<Label>,
    create: Vec<Slice>,
    status: Option<(ZoneStatus, ZoneStatus)>,
    remove: Vec<String>,
    version: Option<(Version, u64)>,
}

#[derive(Debug)]
pub(crate) struct RecordWork {
    key: RecordKey,
    resource_version: Option<String>,
    label: Option<Label>,
    status: Option<(RecordStatus, RecordStatus)>,
}

/// What a pass brought about. What was written before something failed is told, too.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) key: Key,
    pub(crate) written: Written,
    pub(crate) result: Result<(), WriteError>,
    pub(crate) writes: u32,
}

/// What stands in the API now.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) zone: Option<Decoded<api::Zone>>,
    pub(crate) record: Option<Decoded<api::Record>>,
    pub(crate) slices: Vec<ObjectMeta>,
    /// Slices that are gone.
    pub(crate) removed: Vec<String>,
    /// The version that the API holds, and the changes in it.
    pub(crate) version: Option<(Version, u64)>,
    /// What the object said about itself, and what it says now.
    pub(crate) conditions: Option<(Vec<Condition>, Vec<Condition>)>,
}

impl ZoneWork {
    pub(crate) fn new(view: ZoneView, now: Timestamp) -> ZoneWork {
        let decision = zone::decide(&view, now);
        let status = zone::conclude(&view, &decision, now);
        // What the status stops naming goes in a later pass, when the new status stands.
        let remove = match &status {
            Some(_) => Vec::new(),
            None => decision.remove,
        };
        ZoneWork {
            uid: view.identity.age.uid().to_owned(),
            resource_version: view.identity.resource_version,
            key: view.key,
            label: decision.label,
            create: decision.create,
            status: status.map(|status| (view.status, status)),
            remove,
            version: decision.version,
        }
    }

    /// The version that the API holds already, if nothing needs to be written.
    pub(crate) fn into_version(self) -> Option<(Version, u64)> {
        self.version
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_idle(&self) -> bool {
        self.label.is_none()
            && self.create.is_empty()
            && self.status.is_none()
            && self.remove.is_empty()
    }

    async fn perform(self, client: &Client) -> Finished {
        let mut finished = Finished::new(Key::Zone(self.key.clone()));
        let key = self.key.clone();
        let target = Target {
            client,
            namespace: &key.namespace,
            name: &key.name,
        };
        let mut writing = Writing::new(target, self.resource_version.clone());
        finished.result = self.write(&mut writing, &mut finished.written).await;
        finished.writes = writing.writes();
        finished.written.zone = writing.into_written();
        finished
    }

    async fn write(
        self,
        writing: &mut Writing<'_, api::Zone>,
        written: &mut Written,
    ) -> Result<(), WriteError> {
        writing.label(self.label.as_ref()).await?;
        if !self.create.is_empty() {
            let slices = writing.target.create_slices(&self.uid, self.create);
            written.slices = slices.await?;
        }
        if let Some((before, status)) = &self.status {
            writing.status(before, status).await?;
            written.conditions = Some((before.conditions.clone(), status.conditions.clone()));
        }
        written.version = self.version;
        writing.target.remove_slices(&self.remove).await?;
        written.removed = self.remove;
        Ok(())
    }
}

impl RecordWork {
    /// What is to be written, and whether the Record is on its way to be answered: while we are `patient`, nothing is said
    /// of it before it is.
    pub(crate) fn new(view: RecordView, patient: bool, now: Timestamp) -> (RecordWork, bool) {
        let decision = record::decide(&view);
        let status = if decision.waits && patient {
            None
        } else {
            record::conclude(&view, &decision, now)
        };
        let work = RecordWork {
            resource_version: view.identity.resource_version,
            key: view.key,
            label: decision.label,
            status: status.map(|status| (view.status, status)),
        };
        (work, decision.waits)
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_idle(&self) -> bool {
        self.label.is_none() && self.status.is_none()
    }

    async fn perform(self, client: &Client) -> Finished {
        let mut finished = Finished::new(Key::Record(self.key.clone()));
        let target = Target {
            client,
            namespace: &self.key.namespace,
            name: &self.key.name,
        };
        let mut writing = Writing::new(target, self.resource_version.clone());
        finished.result = self.write(&mut writing, &mut finished.written).await;
        finished.writes = writing.writes();
        finished.written.record = writing.into_written();
        finished
    }

    async fn write(
        &self,
        writing: &mut Writing<'_, api::Record>,
        written: &mut Written,
    ) -> Result<(), WriteError> {
        writing.label(self.label.as_ref()).await?;
        if let Some((before, status)) = &self.status {
            writing.status(before, status).await?;
            written.conditions = Some((before.conditions.clone(), status.conditions.clone()));
        }
        Ok(())
    }
}

impl Work {
    pub(crate) async fn perform(self, client: Client) -> Finished {
        match self {
            Work::Zone(work) => work.perform(&client).await,
            Work::Record(work) => work.perform(&client).await,
        }
    }
}

impl Written {
    /// The object that was written, for Events about it.
    pub(crate) fn reference(&self, key: &Key) -> Option<ObjectReference> {
        let reference = match key {
            Key::Zone(_) => self.zone.as_ref()?.object_ref(&()),
            Key::Record(_) => self.record.as_ref()?.object_ref(&()),
        };
        Some(reference)
    }
}

impl Finished {
    fn new(key: Key) -> Finished {
        Finished {
            key,
            written: Written::default(),
            result: Ok(()),
            writes: 0,
        }
    }
}
