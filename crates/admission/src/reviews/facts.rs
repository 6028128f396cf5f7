//! What the API knows about a namespace, asked for when it is needed.

use std::collections::BTreeSet;
use std::time::Duration;

use api::{Decoded, DomainVerification};
use dns::Name;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::ListParams;
use tokio::time::timeout;

use super::House;

/// How long the API may take: half of what whoever asks us waits.
const WITHIN: Duration = Duration::from_secs(5);

/// What bears on the Ingresses of a namespace.
pub(super) struct Facts {
    pub(super) namespace_uid: String,
    /// Domains whose seal is ours.
    pub(super) verified: BTreeSet<Name>,
}

impl Facts {
    pub(super) async fn of(house: &House, namespace: &str) -> Result<Facts, String> {
        let asked = timeout(WITHIN, ask(house, namespace)).await;
        let told = match asked {
            Ok(told) => told.map_err(|error| error.to_string()),
            Err(_late) => Err(format!("no answer within {} seconds", WITHIN.as_secs())),
        };
        told.map_err(|why| {
            format!(
                "cannot see which domains are verified in namespace {namespace}: {why}; try again"
            )
        })
    }
}

async fn ask(house: &House, namespace: &str) -> Result<Facts, kube::Error> {
    let namespaces: Api<Namespace> = Api::all(house.client.clone());
    let namespace_uid = namespaces.get(namespace).await?.metadata.uid;
    let namespace_uid = namespace_uid.unwrap_or_default();
    let claims: Api<Decoded<DomainVerification>> = Api::namespaced(house.client.clone(), namespace);
    let listed = claims.list(&ListParams::default()).await?;
    let mut facts = Facts {
        namespace_uid,
        verified: BTreeSet::new(),
    };
    // One that cannot be read proves nothing.
    let claims = listed.items.into_iter();
    for claim in claims.filter_map(|it| it.into_result().ok()) {
        let proven = house.keyring.proven(&facts.namespace_uid, &claim);
        facts.verified.extend(proven);
    }
    Ok(facts)
}
