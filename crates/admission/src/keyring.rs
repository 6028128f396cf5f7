//! The installation's key, in a Secret beside our other things (V4).
//!
//! It is drawn once and never changed by us: everything that was proven rests on it. It is an object like any other, so
//! that it comes along in backups.

use std::collections::BTreeMap;

use api::well_known::{field_manager, label};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::{Api, Client};
use reconcile::domains::Keyring;

/// The name of the Secret.
pub const SECRET: &str = "zonewright-domains";

/// The field of the Secret that holds the key.
const FIELD: &str = "key";

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The API did not give it, or did not take it.
    #[error("cannot read or create Secret {SECRET} in namespace {namespace}")]
    Api {
        /// Where it should be.
        namespace: String,
        /// What the API said.
        source: Box<kube::Error>,
    },
    /// There is a Secret of that name without a key in it.
    #[error(
        "Secret {SECRET} in namespace {namespace}: field {FIELD} must hold at least {} octets; restore it from a backup, or delete it to have every domain verified anew",
        Keyring::BYTES
    )]
    Unusable {
        /// Where it is.
        namespace: String,
    },
}

/// The key of the installation in a namespace; drawn, if there is none.
pub async fn keyring(client: &Client, namespace: &str) -> Result<Keyring, KeyringError> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let failed = |source: kube::Error| KeyringError::Api {
        namespace: namespace.to_owned(),
        source: Box::new(source),
    };
    let secret = match secrets.get_opt(SECRET).await.map_err(failed)? {
        Some(secret) => secret,
        None => match secrets.create(&by_us(), &drawn()).await {
            // Another replica was faster.
            Err(kube::Error::Api(status)) if status.is_already_exists() => {
                secrets.get(SECRET).await.map_err(failed)?
            }
            created => created.map_err(failed)?,
        },
    };
    let key = secret.data.as_ref().and_then(|data| data.get(FIELD));
    let key = key.and_then(|key| Keyring::new(&key.0));
    key.ok_or_else(|| KeyringError::Unusable {
        namespace: namespace.to_owned(),
    })
}

fn drawn() -> Secret {
    let octets: [u8; Keyring::BYTES] = rand::random();
    let mut secret = Secret::default();
    secret.metadata.name = Some(SECRET.to_owned());
    let ours = (label::MANAGED_BY, field_manager::CONTROLLER);
    secret.metadata.labels = Some(BTreeMap::from([(ours.0.to_owned(), ours.1.to_owned())]));
    secret.data = Some(BTreeMap::from([(
        FIELD.to_owned(),
        ByteString(octets.to_vec()),
    )]));
    secret
}

fn by_us() -> PostParams {
    PostParams {
        field_manager: Some(field_manager::CONTROLLER.to_owned()),
        ..PostParams::default()
    }
}
