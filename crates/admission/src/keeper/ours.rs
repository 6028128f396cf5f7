//! Objects of the whole cluster that are ours: put there, and put back.

use std::fmt::Debug;

use api::well_known::field_manager;
use k8s_openapi::ClusterResourceScope;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration,
};
use kube::api::PostParams;
use kube::{Api, Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Trouble;

/// A kind whose objects by our names are ours, but for labels and annotations that others add.
pub(super) trait Ours:
    Resource<DynamicType = (), Scope = ClusterResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Serialize
    + Send
    + Sync
    + 'static
{
    /// Whether everything but the metadata is as in the other.
    fn is_like(&self, wanted: &Self) -> bool;

    /// Makes everything but the metadata as in the other.
    fn become_like(&mut self, wanted: Self);
}

/// What was found by a name.
#[derive(Debug)]
pub(super) enum Found<K> {
    /// The object.
    Object(K),
    /// Nothing.
    Nothing,
    /// The API does not have the kind.
    UnknownKind,
}

impl<K> Found<K> {
    /// The object, if it is there.
    pub(super) fn object(self) -> Option<K> {
        match self {
            Self::Object(object) => Some(object),
            Self::Nothing | Self::UnknownKind => None,
        }
    }
}

/// The object as it is now, not as some cache remembers it.
pub(super) async fn read<K: Ours>(
    client: &Client,
    name: &'static str,
) -> Result<Found<K>, Trouble> {
    match Api::<K>::all(client.clone()).get(name).await {
        Ok(object) => Ok(Found::Object(object)),
        Err(kube::Error::Api(status)) if status.code == 404 => {
            // Of an object that is not there the API says its name.
            let named = status
                .details
                .as_ref()
                .is_some_and(|details| details.name == name);
            Ok(if named {
                Found::Nothing
            } else {
                Found::UnknownKind
            })
        }
        Err(error) => Err(Trouble::api("read", name)(error)),
    }
}

/// Whether the object is there as it should be.
pub(super) fn is_there<K: Ours>(found: Option<&K>, wanted: &K) -> bool {
    found.is_some_and(|found| {
        let labels = found.meta().labels.as_ref();
        let mut ours = wanted.meta().labels.iter().flatten();
        let labelled =
            ours.all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value));
        labelled && found.is_like(wanted)
    })
}

/// Makes the object what it should be, if it is still as it was found. Says whether it was not.
pub(super) async fn put<K: Ours>(
    client: &Client,
    name: &'static str,
    found: Option<K>,
    wanted: K,
) -> Result<bool, Trouble> {
    if is_there(found.as_ref(), &wanted) {
        return Ok(false);
    }
    let objects = Api::<K>::all(client.clone());
    let params = PostParams {
        field_manager: Some(field_manager::CONTROLLER.to_owned()),
        ..PostParams::default()
    };
    let kind = K::kind(&());
    if let Some(mut object) = found {
        let labels = wanted.meta().labels.clone();
        let kept = object.meta_mut().labels.get_or_insert_default();
        kept.extend(labels.into_iter().flatten());
        object.become_like(wanted);
        // It carries the revision that it was read at.
        let replaced = objects.replace(name, &params, &object).await;
        replaced.map_err(Trouble::api("put back", name))?;
        tracing::info!(%kind, name, "webhooks: brought up to date");
    } else {
        let created = objects.create(&params, &wanted).await;
        created.map_err(Trouble::api("create", name))?;
        tracing::info!(%kind, name, "webhooks: created");
    }
    Ok(true)
}

impl Ours for MutatingWebhookConfiguration {
    fn is_like(&self, wanted: &Self) -> bool {
        self.webhooks.as_deref().unwrap_or_default()
            == wanted.webhooks.as_deref().unwrap_or_default()
    }

    fn become_like(&mut self, wanted: Self) {
        self.webhooks = wanted.webhooks;
    }
}

impl Ours for ValidatingWebhookConfiguration {
    fn is_like(&self, wanted: &Self) -> bool {
        self.webhooks.as_deref().unwrap_or_default()
            == wanted.webhooks.as_deref().unwrap_or_default()
    }

    fn become_like(&mut self, wanted: Self) {
        self.webhooks = wanted.webhooks;
    }
}

impl Ours for ValidatingAdmissionPolicy {
    fn is_like(&self, wanted: &Self) -> bool {
        self.spec == wanted.spec
    }

    fn become_like(&mut self, wanted: Self) {
        self.spec = wanted.spec;
    }
}

impl Ours for ValidatingAdmissionPolicyBinding {
    fn is_like(&self, wanted: &Self) -> bool {
        self.spec == wanted.spec
    }

    fn become_like(&mut self, wanted: Self) {
        self.spec = wanted.spec;
    }
}
