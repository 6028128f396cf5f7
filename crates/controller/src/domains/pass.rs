//! One pass: what was decided is written, and DNS is looked at.

use api::domain_verification::DomainCondition;
use api::well_known::field_manager;
use api::{Condition, Decoded, DomainVerification};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::networking::v1::Ingress;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, PostParams};
use kube::{Client, Resource as _};
use reconcile::ObjectKey;
use reconcile::domains::{
    Attempt, Claim, Decision, Guid, IngressDecision, Key, Keyring, ManagedDomain, RecordWrite,
    Removal, VerificationView, claim, claim_name, conclude, uses,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tracing::{info, warn};

use super::Look;
use crate::clock::Clock;
use crate::feed::key_of;
use crate::write::{Target, WriteError};

/// What a pass brought about. What was written before something failed is told, too.
pub(super) struct Finished {
    pub(super) key: Key,
    pub(super) result: Result<(), WriteError>,
    /// What stands in the API now.
    pub(super) written: Vec<Written>,
    /// Whether nobody seems to use it, and that could not be seen live.
    pub(super) unconfirmed: bool,
    /// What a DomainVerification said about itself, and what it says now.
    pub(super) said: Option<(ObjectReference, Vec<Condition>, Vec<Condition>)>,
}

/// An object that was written.
pub(super) struct Written {
    pub(super) object: Object,
    /// Whether it was not there before.
    pub(super) created: bool,
}

/// An object as it stands in the API.
pub(super) enum Object {
    Ingress(DynamicObject),
    Verification(Decoded<DomainVerification>),
    Record(Decoded<api::Record>),
}

impl Finished {
    fn of(key: Key) -> Finished {
        Finished {
            key,
            result: Ok(()),
            written: Vec::new(),
            unconfirmed: false,
            said: None,
        }
    }
}

/// A pass over a DomainVerification.
pub(super) struct VerificationPass {
    pub(super) view: VerificationView,
    pub(super) decision: Decision,
    pub(super) keyring: Keyring,
    pub(super) managed: ManagedDomain,
    pub(super) clock: Clock,
    pub(super) spread: f64,
}

impl VerificationPass {
    /// Whether there is nothing to do.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        let Decision {
            remove,
            owners,
            look,
            due: _,
        } = &self.decision;
        let said = conclude(&self.view, &self.keyring, None, now);
        remove.is_none() && owners.is_none() && look.is_none() && said == self.view.status
    }

    pub(super) async fn run(
        mut self,
        client: &Client,
        look: &dyn Look,
        writers: &Semaphore,
    ) -> Finished {
        let mut finished = Finished::of(Key::Verification(self.view.key.clone()));
        finished.result = match self.decision.remove {
            Some(Removal::AtOnce) => self.remove(client).await,
            Some(Removal::SeenLive) => match self.is_used(client).await {
                Ok(false) => self.remove(client).await,
                Ok(true) => {
                    finished.unconfirmed = true;
                    Ok(())
                }
                Err(error) => {
                    let domain = &self.view.key;
                    warn!(%domain, %error, "Cannot see whether a domain is still used");
                    finished.unconfirmed = true;
                    Ok(())
                }
            },
            None => self.tend(client, look, writers, &mut finished).await,
        };
        finished
    }

    async fn remove(&self, client: &Client) -> Result<(), WriteError> {
        let VerificationView {
            key,
            uid,
            resource_version,
            ..
        } = &self.view;
        info!(domain = %key, "No Ingress uses a domain any more");
        let version = resource_version.as_deref();
        target(client, key)
            .remove::<DomainVerification>(uid, version)
            .await
    }

    async fn is_used(&self, client: &Client) -> Result<bool, kube::Error> {
        let domain = match &self.view.claim {
            Claim::Domain(domain) | Claim::Refused(domain, _) => domain,
            Claim::Invalid(_) => return Ok(false),
        };
        let uid = self.view.namespace_uid.as_deref().unwrap_or_default();
        let api = ingresses(client, &self.view.key.namespace);
        let listed = api.list(&ListParams::default()).await?;
        let mut used = listed.items.into_iter().flat_map(|ingress| {
            let ingress = serde_json::to_value(ingress).unwrap_or_default();
            uses(&ingress, &self.managed, &self.keyring, uid).into_keys()
        });
        Ok(used.any(|it| it.is_at_or_below(domain)))
    }

    /// Whose it is comes first, then what there is to create, and then DNS is looked at, which can take a while.
    async fn tend(
        &mut self,
        client: &Client,
        look: &dyn Look,
        writers: &Semaphore,
        finished: &mut Finished,
    ) -> Result<(), WriteError> {
        if let Some(owners) = self.decision.owners.take() {
            let patch = json!({ "metadata": { "ownerReferences": owners } });
            let _turn = writers.acquire().await;
            let version = self.view.resource_version.as_deref();
            let object = target(client, &self.view.key);
            let written = object.merge(version, patch).await?;
            self.wrote(written, finished);
        }
        self.report(client, None, writers, finished).await?;
        let Some(wanted) = &self.decision.look else {
            return Ok(());
        };
        let sighting = look.look(wanted).await;
        info!(
            domain = %self.view.key,
            found = sighting.found,
            seen = sighting.message,
            "Looked for the proof of a domain"
        );
        let attempt = Attempt {
            sighting: &sighting,
            spread: self.spread,
        };
        self.report(client, Some(attempt), writers, finished).await
    }

    async fn report(
        &mut self,
        client: &Client,
        attempt: Option<Attempt<'_>>,
        writers: &Semaphore,
        finished: &mut Finished,
    ) -> Result<(), WriteError> {
        let before = self.view.status.clone();
        let status = conclude(&self.view, &self.keyring, attempt, self.clock.now());
        if status == before {
            return Ok(());
        }
        let _turn = writers.acquire().await;
        let version = self.view.resource_version.as_deref();
        let object = target(client, &self.view.key);
        let written = object.status(version, &before, &status).await?;
        self.wrote(written, finished);
        let said = finished.said.get_or_insert_with(|| {
            let before = before.conditions.iter().map(shown).collect();
            (reference(&self.view), before, Vec::new())
        });
        said.2 = status.conditions.iter().map(shown).collect();
        self.view.status = status;
        Ok(())
    }

    fn wrote(&mut self, object: Decoded<DomainVerification>, finished: &mut Finished) {
        self.view
            .resource_version
            .clone_from(&object.meta().resource_version);
        finished.written.push(Written {
            object: Object::Verification(object),
            created: false,
        });
    }
}

/// A pass over an Ingress.
pub(super) struct IngressPass {
    pub(super) key: ObjectKey,
    pub(super) decision: IngressDecision,
}

impl IngressPass {
    pub(super) async fn run(self, client: &Client, writers: &Semaphore) -> Finished {
        let mut finished = Finished::of(Key::Ingress(self.key.clone()));
        finished.result = self.perform(client, writers, &mut finished.written).await;
        finished
    }

    async fn perform(
        &self,
        client: &Client,
        writers: &Semaphore,
        written: &mut Vec<Written>,
    ) -> Result<(), WriteError> {
        let namespace = self.key.namespace.as_str();
        for domain in &self.decision.claims {
            let _turn = writers.acquire().await;
            let key = ObjectKey::new(namespace, &claim_name(domain));
            match target(client, &key).create(&claim(&key)).await {
                Ok(object) => written.push(Written {
                    object: Object::Verification(object),
                    created: true,
                }),
                // Somebody else has claimed it meanwhile.
                Err(WriteError::Stale) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(object) = &self.decision.update {
            let _turn = writers.acquire().await;
            let object = replace(client, &self.key, object).await?;
            written.push(Written {
                object: Object::Ingress(object),
                created: false,
            });
        }
        Ok(())
    }
}

/// A pass over a managed host.
pub(super) struct HostPass {
    pub(super) guid: Guid,
    pub(super) writes: Vec<RecordWrite>,
}

impl HostPass {
    pub(super) async fn run(self, client: &Client, writers: &Semaphore) -> Finished {
        let mut finished = Finished::of(Key::Host(self.guid.clone()));
        finished.result = self.perform(client, writers, &mut finished.written).await;
        finished
    }

    async fn perform(
        &self,
        client: &Client,
        writers: &Semaphore,
        written: &mut Vec<Written>,
    ) -> Result<(), WriteError> {
        for write in &self.writes {
            let _turn = writers.acquire().await;
            match write {
                RecordWrite::Create(record) => {
                    let key = key_of(&record.metadata);
                    let object = target(client, &key).create(record.as_ref()).await?;
                    written.push(Written {
                        object: Object::Record(object),
                        created: true,
                    });
                }
                RecordWrite::Delete(key, uid) => {
                    target(client, key).remove::<api::Record>(uid, None).await?;
                }
            }
        }
        Ok(())
    }
}

/// Replaces an Ingress, if it is still the one that was seen.
async fn replace(
    client: &Client,
    key: &ObjectKey,
    object: &Value,
) -> Result<DynamicObject, WriteError> {
    let api = ingresses(client, &key.namespace);
    let object: DynamicObject = serde_json::from_value(object.clone())
        .map_err(kube::Error::SerdeError)
        .map_err(Box::new)?;
    Ok(api.replace(&key.name, &by_us(), &object).await?)
}

fn ingresses(client: &Client, namespace: &str) -> Api<DynamicObject> {
    let resource = ApiResource::erase::<Ingress>(&());
    Api::namespaced_with(client.clone(), namespace, &resource)
}

fn target<'a>(client: &'a Client, key: &'a ObjectKey) -> Target<'a> {
    Target {
        client,
        namespace: &key.namespace,
        name: &key.name,
    }
}

fn by_us() -> PostParams {
    PostParams {
        field_manager: Some(field_manager::CONTROLLER.to_owned()),
        ..PostParams::default()
    }
}

fn reference(view: &VerificationView) -> ObjectReference {
    ObjectReference {
        api_version: Some(DomainVerification::api_version(&()).into_owned()),
        kind: Some(DomainVerification::kind(&()).into_owned()),
        namespace: Some(view.key.namespace.clone()),
        name: Some(view.key.name.clone()),
        uid: Some(view.uid.clone()),
        ..ObjectReference::default()
    }
}

/// A condition in the shape that others have.
fn shown(condition: &DomainCondition) -> Condition {
    Condition {
        type_: condition.type_.clone(),
        status: condition.status.clone(),
        reason: condition.reason.clone().unwrap_or_default(),
        message: condition.message.clone(),
        last_transition_time: condition.last_transition_time.clone(),
        observed_generation: None,
    }
}
