//! One pass over an Ingress, behind the door: what has been proven since comes back, the managed host is added (V1, V2, V7).

use std::collections::BTreeSet;

use dns::Name;
use serde_json::Value;

use super::gate::{Asked, Fill, House, gate};
use super::managed::{Guid, ManagedDomain};
use super::seal::Keyring;
use crate::ObjectKey;

/// Everything that bears on an Ingress.
#[derive(Clone, Debug)]
pub struct IngressView {
    /// Which one.
    pub key: ObjectKey,
    /// The object as it was seen.
    pub object: Value,
    /// The uid of its namespace, if it is known yet.
    pub namespace_uid: Option<String>,
    /// The domains that are proven in its namespace and bear on it.
    pub verified: BTreeSet<Name>,
    /// The domains that are claimed there and bear on it.
    pub claimed: BTreeSet<Name>,
}

/// What is to be done about an Ingress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IngressDecision {
    /// The object as it should be, if it is not.
    pub update: Option<Value>,
    /// The domains that have to be claimed before anything can be proven.
    pub claims: BTreeSet<Name>,
}

/// What is to be done about an Ingress. `drawn` becomes its managed host, if it has none.
pub fn decide(
    view: &IngressView,
    managed: &ManagedDomain,
    key: &Keyring,
    drawn: &Guid,
) -> IngressDecision {
    let Some(namespace_uid) = view.namespace_uid.as_deref() else {
        return IngressDecision::default();
    };
    let house = House {
        managed,
        key,
        namespace_uid,
        verified: &view.verified,
        drawn,
    };
    // Nothing is refused that is there already.
    let Ok(gated) = gate(Asked::standing(&view.object), house, Fill::Complete) else {
        return IngressDecision::default();
    };
    IngressDecision {
        claims: &gated.claims - &view.claimed,
        update: (gated.object != view.object).then_some(gated.object),
    }
}
