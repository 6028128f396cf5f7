//! The Secret that certificates are kept in.

use std::collections::BTreeMap;

use api::well_known::{field_manager, label};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

use super::Trouble;
use crate::configurations::NAME;

/// What the kind of the Secret is, to Kubernetes.
const TYPE: &str = "Opaque";

/// The Secret as it was read, if it is there.
#[derive(Debug)]
pub(super) struct Kept(Option<Secret>);

impl Kept {
    /// Its fields.
    pub(super) fn fields(&self) -> Option<&BTreeMap<String, ByteString>> {
        static NONE: BTreeMap<String, ByteString> = BTreeMap::new();
        let secret = self.0.as_ref()?;
        Some(secret.data.as_ref().unwrap_or(&NONE))
    }
}

/// Reads it as it is now, not as some cache remembers it.
pub(super) async fn read(client: &Client, namespace: &str) -> Result<Kept, Trouble> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found = secrets.get_opt(NAME).await;
    found
        .map(Kept)
        .map_err(Trouble::api("read", "Secret zonewright-webhook"))
}

/// Writes it, if it is still as it was read. Labels and annotations of others stay.
pub(super) async fn write(
    client: &Client,
    namespace: &str,
    kept: Kept,
    fields: BTreeMap<String, ByteString>,
) -> Result<(), Trouble> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let params = PostParams {
        field_manager: Some(field_manager::CONTROLLER.to_owned()),
        ..PostParams::default()
    };
    let written = match kept.0 {
        Some(mut secret) => {
            secret.data = Some(fields);
            // It carries the revision that it was read at.
            secrets.replace(NAME, &params, &secret).await
        }
        None => secrets.create(&params, &fresh(fields)).await,
    };
    written
        .map(drop)
        .map_err(Trouble::api("write", "Secret zonewright-webhook"))
}

fn fresh(fields: BTreeMap<String, ByteString>) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(NAME.to_owned()),
            labels: Some([(label::MANAGED_BY.to_owned(), "zonewright".to_owned())].into()),
            ..ObjectMeta::default()
        },
        data: Some(fields),
        type_: Some(TYPE.to_owned()),
        ..Secret::default()
    }
}
