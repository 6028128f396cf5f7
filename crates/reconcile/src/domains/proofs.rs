//! Which namespaces have proven which domains: for those who let a proof decide between namespaces.

use std::collections::{BTreeMap, BTreeSet};

use api::{Decoded, DomainVerification};
use dns::Name;

use super::seal::Keyring;
use crate::ObjectKey;

/// Every domain that was proven, by namespace.
#[derive(Clone, Debug)]
pub struct Proofs {
    keyring: Keyring,
    /// Namespaces by name, with their uids.
    namespaces: BTreeMap<String, String>,
    verifications: BTreeMap<ObjectKey, Verification>,
    /// Namespaces with the domains that they have proven, and the names of the DomainVerifications that say so.
    proven: BTreeSet<(String, Name, String)>,
}

#[derive(Clone, Debug)]
struct Verification {
    object: DomainVerification,
    proves: Option<Name>,
}

impl Proofs {
    /// Nothing has been seen yet.
    pub fn new(keyring: Keyring) -> Proofs {
        Proofs {
            keyring,
            namespaces: BTreeMap::new(),
            verifications: BTreeMap::new(),
            proven: BTreeSet::new(),
        }
    }

    /// Whether a namespace has proven a host, or a domain above it.
    pub fn cover(&self, namespace: &str, host: &Name) -> bool {
        let mut domains = host.ancestors();
        domains.any(|domain| {
            let start = (namespace.to_owned(), domain, String::new());
            let first = self.proven.range(start.clone()..).next();
            first.is_some_and(|(within, domain, _)| (within, domain) == (&start.0, &start.1))
        })
    }

    /// A namespace as it is now; nothing, if it is gone. The domains for which something else holds in it now.
    pub fn apply_namespace(&mut self, name: &str, uid: Option<&str>) -> BTreeSet<Name> {
        let before = match uid {
            Some(uid) => self.namespaces.insert(name.to_owned(), uid.to_owned()),
            None => self.namespaces.remove(name),
        };
        if before.as_deref() == uid {
            return BTreeSet::new();
        }
        let within = self.verifications.range(ObjectKey::new(name, "")..);
        let within = within.take_while(|(key, _)| key.namespace == name);
        let within: Vec<(ObjectKey, DomainVerification)> = within
            .map(|(key, it)| (key.clone(), it.object.clone()))
            .collect();
        let changed = within.into_iter();
        let changed = changed.map(|(key, object)| self.replace(&key, Some(object)));
        changed.flatten().collect()
    }

    /// A DomainVerification as it is now; nothing, if it is gone. The domains for which something else holds in its
    /// namespace now.
    pub fn apply_verification(
        &mut self,
        key: &ObjectKey,
        object: Option<Decoded<DomainVerification>>,
    ) -> BTreeSet<Name> {
        // One that cannot be read proves nothing.
        self.replace(key, object.and_then(|it| it.into_result().ok()))
    }

    fn replace(&mut self, key: &ObjectKey, object: Option<DomainVerification>) -> BTreeSet<Name> {
        let before = self.verifications.remove(key);
        let before = before.and_then(|it| it.proves);
        let mut now = None;
        if let Some(object) = object {
            let uid = self.namespaces.get(&key.namespace);
            now = uid.and_then(|uid| self.keyring.proven(uid, &object));
            let proves = now.clone();
            let verification = Verification { object, proves };
            self.verifications.insert(key.clone(), verification);
        }
        if before == now {
            return BTreeSet::new();
        }
        let entry = |domain: &Name| (key.namespace.clone(), domain.clone(), key.name.clone());
        if let Some(domain) = &before {
            self.proven.remove(&entry(domain));
        }
        self.proven.extend(now.iter().map(entry));
        before.into_iter().chain(now).collect()
    }
}
