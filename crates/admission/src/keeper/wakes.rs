//! Tells that something of ours has changed. What it is now, whoever is woken reads.

use std::fmt::Debug;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

use crate::configurations::{MUTATING, NAME, VALIDATING};

/// Something whenever the Secret or a configuration may have changed. It never ends; what cannot be watched is tried again, less and less often, and
/// looked at from time to time anyway.
pub(super) fn wakes(client: &Client, namespace: &str) -> BoxStream<'static, ()> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let mutating: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let all = [
        watched(secrets, NAME),
        watched(mutating, MUTATING),
        watched(validating, VALIDATING),
    ];
    stream::select_all(all).boxed()
}

fn watched<K>(api: Api<K>, name: &'static str) -> BoxStream<'static, ()>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let events = watcher(api, config).default_backoff();
    let heard = events.filter_map(move |event| async move {
        match event {
            // Before the first of these nothing was seen, and an object that went meanwhile is not told of.
            Ok(watcher::Event::Apply(_) | watcher::Event::Delete(_) | watcher::Event::InitDone) => {
                Some(())
            }
            Ok(watcher::Event::Init | watcher::Event::InitApply(_)) => None,
            Err(error) => {
                tracing::debug!(name, "webhooks: cannot watch: {error}");
                None
            }
        }
    });
    heard.boxed()
}
