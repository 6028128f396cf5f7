//! Every Ingress, DomainVerification, managed host and namespace, indexed: whom a change concerns.
//!
//! Names are ordered from the right, so everything below a domain stands side by side: an Ingress finds the claims above
//! its hosts by their names, a claim finds the Ingresses below it in one range. Nothing is listed because one thing
//! changed, but for a namespace that comes to be known: then all that is in it can be judged.

use std::collections::{BTreeMap, BTreeSet};

use api::domain_verification::DomainVerificationSpec;
use api::parse::domain_verification as parsed;
use api::parse::target::Target;
use api::well_known::{annotation, field_manager, label};
use api::{ConditionType, Decoded, DomainVerification, Reason, Zone, ZoneKey, condition, problem};
use dns::Name;
use jiff::Timestamp;
use kube::Resource as _;
use serde_json::Value;

use super::decide::IngressView;
use super::gate::{Uses, uses};
use super::managed::{Guid, ManagedDomain};
use super::publish::{self, HostView, StandingRecord};
use super::refusal::judge;
use super::seal::Keyring;
use super::verification::{Claim, VerificationView};
use crate::ObjectKey;

/// What passes are made over.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Key {
    /// A DomainVerification.
    Verification(ObjectKey),
    /// An Ingress.
    Ingress(ObjectKey),
    /// A managed host.
    Host(Guid),
}

/// The keys for which something else holds now.
pub type Touched = BTreeSet<Key>;

/// The name of the DomainVerification that claims a domain.
pub fn claim_name(domain: &Name) -> String {
    domain.to_string().trim_end_matches('.').to_owned()
}

/// A claim to a domain, as it is made for whoever wants to use it.
pub fn claim(key: &ObjectKey) -> DomainVerification {
    let spec = DomainVerificationSpec {
        domain: key.name.clone(),
    };
    let mut claim = DomainVerification::new(&key.name, spec);
    claim.metadata.namespace = Some(key.namespace.clone());
    let ours = (label::MANAGED_BY, field_manager::CONTROLLER);
    claim.metadata.labels = Some([(ours.0.to_owned(), ours.1.to_owned())].into());
    claim
}

/// Everything there is, as it was last seen.
#[derive(Debug)]
pub struct Domains {
    managed: ManagedDomain,
    keyring: Keyring,
    /// Namespaces by name, with their uids.
    namespaces: BTreeMap<String, String>,
    ingresses: BTreeMap<ObjectKey, IngressNode>,
    /// Ingresses by namespace and the domains of their hosts.
    users: BTreeSet<(String, Name, String)>,
    verifications: BTreeMap<ObjectKey, VerificationNode>,
    /// DomainVerifications by namespace and the domain that they claim.
    claims: BTreeSet<(String, Name, String)>,
    hosts: BTreeMap<Guid, HostNode>,
    /// The Records of managed hosts.
    records: BTreeMap<ObjectKey, Guid>,
    /// Zones that could have the managed domain.
    zones: BTreeMap<ZoneKey, Name>,
}

#[derive(Debug)]
struct IngressNode {
    object: Value,
    uid: String,
    uses: Uses,
    /// Its managed host, if it is its own.
    guid: Option<Guid>,
    targets: BTreeSet<Target>,
}

#[derive(Debug)]
struct VerificationNode {
    object: Decoded<DomainVerification>,
    claim: Claim,
    asked: bool,
}

#[derive(Debug, Default)]
struct HostNode {
    ingresses: BTreeSet<ObjectKey>,
    records: BTreeMap<ObjectKey, StandingRecord>,
    bare_since: Option<Timestamp>,
}

impl VerificationNode {
    fn belongs_to(&self, uid: &str) -> bool {
        let owners = self.object.meta().owner_references.iter().flatten();
        owners.into_iter().any(|owner| owner.uid == uid)
    }
}

impl Domains {
    /// Nothing has been seen yet.
    pub fn new(managed: ManagedDomain, keyring: Keyring) -> Domains {
        Domains {
            managed,
            keyring,
            namespaces: BTreeMap::new(),
            ingresses: BTreeMap::new(),
            users: BTreeSet::new(),
            verifications: BTreeMap::new(),
            claims: BTreeSet::new(),
            hosts: BTreeMap::new(),
            records: BTreeMap::new(),
            zones: BTreeMap::new(),
        }
    }

    /// The managed domain.
    pub fn managed(&self) -> &ManagedDomain {
        &self.managed
    }

    /// The installation's key.
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// Everything that passes are made over.
    pub fn keys(&self) -> Touched {
        let verifications = self.verifications.keys().cloned().map(Key::Verification);
        let ingresses = self.ingresses.keys().cloned().map(Key::Ingress);
        let hosts = self.hosts.keys().cloned().map(Key::Host);
        verifications.chain(ingresses).chain(hosts).collect()
    }

    /// The Ingresses that are known.
    pub fn ingresses(&self) -> impl Iterator<Item = &ObjectKey> {
        self.ingresses.keys()
    }

    /// The DomainVerifications that are known.
    pub fn verifications(&self) -> impl Iterator<Item = &ObjectKey> {
        self.verifications.keys()
    }

    /// The namespaces that are known.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.keys().map(String::as_str)
    }

    /// The Records that are known.
    pub fn records(&self) -> impl Iterator<Item = &ObjectKey> {
        self.records.keys()
    }

    /// The Zones that could have the managed domain.
    pub fn zones(&self) -> impl Iterator<Item = &ZoneKey> {
        self.zones.keys()
    }

    /// A namespace as it is now; nothing, if it is gone.
    pub fn apply_namespace(&mut self, name: &str, uid: Option<&str>, now: Timestamp) -> Touched {
        let before = match uid {
            Some(uid) => self.namespaces.insert(name.to_owned(), uid.to_owned()),
            None => self.namespaces.remove(name),
        };
        if before.as_deref() == uid {
            return Touched::new();
        }
        let within = ObjectKey::new(name, "")..;
        let keys: Vec<ObjectKey> = self
            .ingresses
            .range(within.clone())
            .map(|(key, _)| key.clone())
            .collect();
        let mut touched = Touched::new();
        for key in keys.into_iter().take_while(|key| key.namespace == name) {
            let object = self.ingresses[&key].object.clone();
            touched.extend(self.apply_ingress(&key, Some(object), now));
            touched.insert(Key::Ingress(key));
        }
        let verifications = self.verifications.range(within).map(|(key, _)| key);
        let verifications = verifications.take_while(|key| key.namespace == name);
        touched.extend(verifications.cloned().map(Key::Verification));
        touched
    }

    /// An Ingress as it is now; nothing, if it is gone.
    pub fn apply_ingress(
        &mut self,
        key: &ObjectKey,
        object: Option<Value>,
        now: Timestamp,
    ) -> Touched {
        let node = object.map(|object| self.read(key, object));
        let before = self.ingresses.remove(key);
        let mut touched = Touched::from([Key::Ingress(key.clone())]);
        let asks = |node: &IngressNode| checks(&node.object).map(str::to_owned);
        // What an Ingress has said since before we came is no news.
        let asked = before.as_ref().zip(node.as_ref());
        let asked = asked.is_some_and(|(before, node)| asks(before) != asks(node));
        for domain in before.iter().flat_map(|node| node.uses.keys()) {
            self.users
                .remove(&(key.namespace.clone(), domain.clone(), key.name.clone()));
            touched.extend(self.above(&key.namespace, domain).map(Key::Verification));
        }
        let guids = before.into_iter().filter_map(|node| node.guid);
        for guid in guids.collect::<Vec<_>>() {
            self.host(&guid, now, |host| host.ingresses.remove(key));
            touched.insert(Key::Host(guid));
        }
        if let Some(node) = node {
            for domain in node.uses.keys() {
                self.users
                    .insert((key.namespace.clone(), domain.clone(), key.name.clone()));
                let above: Vec<ObjectKey> = self.above(&key.namespace, domain).collect();
                for claim in above {
                    if let Some(verification) = self.verifications.get_mut(&claim) {
                        verification.asked |= asked;
                    }
                    touched.insert(Key::Verification(claim));
                }
            }
            let guid = node.guid.clone();
            self.ingresses.insert(key.clone(), node);
            if let Some(guid) = guid {
                self.host(&guid, now, |host| host.ingresses.insert(key.clone()));
                touched.insert(Key::Host(guid));
            }
        }
        touched
    }

    /// A DomainVerification as it is now; nothing, if it is gone.
    pub fn apply_verification(
        &mut self,
        key: &ObjectKey,
        object: Option<Decoded<DomainVerification>>,
    ) -> Touched {
        let before = self.verifications.remove(key);
        let asked = before.as_ref().is_some_and(|it| it.asked);
        let node = object.map(|object| VerificationNode {
            claim: self.claim(&object),
            object,
            asked,
        });
        let claimed = |node: &Option<VerificationNode>| domain_of(&node.as_ref()?.claim).cloned();
        let proven =
            |node: &Option<VerificationNode>| self.proven(&key.namespace, node.as_ref()?).cloned();
        let owners = |node: &Option<VerificationNode>| {
            let owners = node.as_ref()?.object.meta().owner_references.iter();
            Some(
                owners
                    .flatten()
                    .map(|it| it.uid.clone())
                    .collect::<Vec<_>>(),
            )
        };
        let stands = |node: &Option<VerificationNode>| (claimed(node), proven(node), owners(node));
        let changed = stands(&before) != stands(&node);
        let domains = [claimed(&before), claimed(&node)];
        let entry = |domain: &Name| (key.namespace.clone(), domain.clone(), key.name.clone());
        if let Some(domain) = &domains[0] {
            self.claims.remove(&entry(domain));
        }
        self.claims.extend(domains[1].iter().map(entry));
        if let Some(node) = node {
            self.verifications.insert(key.clone(), node);
        }
        let mut touched = Touched::from([Key::Verification(key.clone())]);
        if changed {
            // What waits below it may be proven by it now, and then needs no claim of its own.
            for domain in domains.iter().flatten() {
                touched.extend(self.below(&key.namespace, domain).map(Key::Ingress));
                let claims = within(&self.claims, &key.namespace, domain);
                touched.extend(claims.map(Key::Verification));
            }
        }
        touched
    }

    /// A Record of a managed host as it is now; nothing, if it is gone.
    pub fn apply_record(
        &mut self,
        key: &ObjectKey,
        record: Option<Decoded<api::Record>>,
        now: Timestamp,
    ) -> Touched {
        let mut touched = Touched::new();
        if let Some(guid) = self.records.remove(key) {
            self.host(&guid, now, |host| host.records.remove(key).is_some());
            touched.insert(Key::Host(guid));
        }
        let Some(record) = record else { return touched };
        let meta = record.meta();
        let Some(guid) = publish::host_of(meta) else {
            return touched;
        };
        let standing = StandingRecord {
            key: key.clone(),
            uid: meta.uid.clone().unwrap_or_default(),
            spec: record.into_result().ok().map(|it| it.spec),
        };
        self.host(&guid, now, |host| {
            host.records.insert(key.clone(), standing).is_none()
        });
        self.records.insert(key.clone(), guid.clone());
        touched.insert(Key::Host(guid));
        touched
    }

    /// A Zone as it is now; nothing, if it is gone.
    pub fn apply_zone(&mut self, key: &ZoneKey, zone: Option<&Zone>) -> Touched {
        let name = zone.and_then(|zone| self.has_managed(zone));
        let before = match name {
            Some(name) => self.zones.insert(key.clone(), name),
            None => self.zones.remove(key),
        };
        if before.as_ref() == self.zones.get(key) {
            return Touched::new();
        }
        self.hosts.keys().cloned().map(Key::Host).collect()
    }

    /// Everything that bears on an Ingress.
    pub fn ingress(&self, key: &ObjectKey) -> Option<IngressView> {
        let node = self.ingresses.get(key)?;
        let mut verified = BTreeSet::new();
        let mut claimed = BTreeSet::new();
        for above in node
            .uses
            .keys()
            .flat_map(|it| self.above(&key.namespace, it))
        {
            let verification = &self.verifications[&above];
            claimed.extend(domain_of(&verification.claim).cloned());
            verified.extend(self.proven(&key.namespace, verification).cloned());
        }
        Some(IngressView {
            key: key.clone(),
            object: node.object.clone(),
            namespace_uid: self.namespaces.get(&key.namespace).cloned(),
            verified,
            claimed,
        })
    }

    /// Everything that bears on a DomainVerification.
    pub fn verification(&self, key: &ObjectKey) -> Option<VerificationView> {
        let node = self.verifications.get(key)?;
        let meta = node.object.meta();
        if meta.deletion_timestamp.is_some() {
            return None;
        }
        let (spelled, status) = match &node.object {
            Decoded::Object(it) => (it.spec.domain.clone(), it.status.clone()),
            Decoded::Undecodable(_) => (String::new(), None),
        };
        Some(VerificationView {
            key: key.clone(),
            uid: meta.uid.clone().unwrap_or_default(),
            resource_version: meta.resource_version.clone(),
            generation: meta.generation,
            created: meta.creation_timestamp.as_ref().map(|it| it.0),
            spelled,
            claim: node.claim.clone(),
            status: status.unwrap_or_default(),
            owners: meta.owner_references.clone().unwrap_or_default(),
            users: self.users_of(key).collect(),
            namespace_uid: self.namespaces.get(&key.namespace).cloned(),
            asked: node.asked,
        })
    }

    /// Everything that bears on a managed host.
    pub fn managed_host(&self, guid: &Guid) -> Option<HostView> {
        let node = self.hosts.get(guid)?;
        let targets = node
            .ingresses
            .iter()
            .flat_map(|it| &self.ingresses[it].targets);
        Some(HostView {
            guid: guid.clone(),
            wanted: !node.ingresses.is_empty(),
            targets: targets.cloned().collect(),
            bare_since: node.bare_since,
            records: node.records.values().cloned().collect(),
            zone: self.zone(),
        })
    }

    /// The look that somebody asked for is being made.
    pub fn looked(&mut self, key: &ObjectKey) {
        if let Some(node) = self.verifications.get_mut(key) {
            node.asked = false;
        }
    }

    fn read(&self, key: &ObjectKey, object: Value) -> IngressNode {
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let namespace_uid = self.namespaces.get(&key.namespace);
        let sealed = object["metadata"]["annotations"][annotation::MANAGED_HOST].as_str();
        let guid = sealed.zip(namespace_uid);
        let guid = guid.and_then(|(sealed, uid)| Guid::unseal(sealed, &self.keyring, uid));
        let namespace_uid = namespace_uid.map_or("", String::as_str);
        IngressNode {
            uid: uid.to_owned(),
            uses: uses(&object, &self.managed, &self.keyring, namespace_uid),
            targets: targets(&object),
            guid,
            object,
        }
    }

    fn claim(&self, object: &Decoded<DomainVerification>) -> Claim {
        let parsed = match object {
            Decoded::Object(object) => parsed::parse(object),
            Decoded::Undecodable(it) => Err(it.problems.clone()),
        };
        match parsed {
            Err(problems) => Claim::Invalid(problem::summary(&problems)),
            Ok(claim) => match judge(&claim.domain, &self.managed) {
                Some(refusal) => Claim::Refused(claim.domain, refusal),
                None => Claim::Domain(claim.domain),
            },
        }
    }

    /// The domain that a DomainVerification proves, if its seal is ours.
    fn proven<'a>(&self, namespace: &str, node: &'a VerificationNode) -> Option<&'a Name> {
        let Decoded::Object(object) = &node.object else {
            return None;
        };
        let domain = domain_of(&node.claim)?;
        let uid = self.namespaces.get(namespace)?;
        let proof = object.status.as_ref()?.proof.as_deref()?;
        self.keyring.proves(uid, domain, proof).then_some(domain)
    }

    /// The DomainVerifications that claim a domain, or one above it.
    fn above(&self, namespace: &str, domain: &Name) -> impl Iterator<Item = ObjectKey> {
        let found = domain.ancestors().flat_map(move |name| {
            let start = (namespace.to_owned(), name.clone(), String::new());
            let range = self.claims.range(start..);
            range.take_while(move |(within, it, _)| within == namespace && *it == name)
        });
        found.map(|(namespace, _, name)| ObjectKey::new(namespace, name))
    }

    /// The Ingresses with a host at a domain, or below it.
    fn below(&self, namespace: &str, domain: &Name) -> impl Iterator<Item = ObjectKey> {
        within(&self.users, namespace, domain)
    }

    /// The Ingresses that use a claim: everything below it once it is proven, and until then what waits for it (V8). The claim
    /// of an Ingress that something above proves is kept until that says that it belongs to the Ingress as well: else it would go
    /// with its last owner although it is used.
    fn users_of(&self, key: &ObjectKey) -> impl Iterator<Item = (String, String)> {
        let node = self.verifications.get(key);
        let proven = node.is_some_and(|it| self.proven(&key.namespace, it).is_some());
        let domain = node.and_then(|it| domain_of(&it.claim));
        let below = domain.into_iter().flat_map(move |domain| {
            let below = self.below(&key.namespace, domain);
            below.filter(move |user| proven || self.waits_for(user, domain))
        });
        below.map(|user| {
            let uid = self.ingresses[&user].uid.clone();
            (user.name, uid)
        })
    }

    /// Whether a host of an Ingress needs a claim of its own: nothing above it is proven and belongs to the Ingress.
    fn waits_for(&self, key: &ObjectKey, claim: &Name) -> bool {
        let IngressNode { uid, uses, .. } = &self.ingresses[key];
        let covered = |domain: &Name| {
            let above = self.above(&key.namespace, domain);
            let mut above = above.map(|it| &self.verifications[&it]);
            above.any(|it| self.proven(&key.namespace, it).is_some() && it.belongs_to(uid))
        };
        uses.iter()
            .any(|(domain, claimed)| claimed == claim && !covered(domain))
    }

    /// Changes what is known of a managed host, and forgets one of which nothing is.
    fn host(&mut self, guid: &Guid, now: Timestamp, change: impl FnOnce(&mut HostNode) -> bool) {
        let mut node = self.hosts.remove(guid).unwrap_or_default();
        change(&mut node);
        let bare = node.ingresses.iter().all(|it| {
            self.ingresses
                .get(it)
                .is_none_or(|it| it.targets.is_empty())
        });
        node.bare_since = if bare {
            node.bare_since.or(Some(now))
        } else {
            None
        };
        if !node.ingresses.is_empty() || !node.records.is_empty() {
            self.hosts.insert(guid.clone(), node);
        }
    }

    /// The name of a Zone, if it stands and the managed domain is in it. One that is refused for anything but its standing is in
    /// force all the same.
    fn has_managed(&self, zone: &Zone) -> Option<Name> {
        let status = zone.status.as_ref()?;
        let accepted = condition::find(&status.conditions, ConditionType::Accepted)?;
        let name = Name::parse(status.fqdn.as_deref()?).ok()?;
        let overruled = [Reason::NotDelegated, Reason::Conflicted].map(Reason::as_str);
        let stands = !overruled.contains(&accepted.reason.as_str())
            && zone.meta().deletion_timestamp.is_none();
        (stands && self.managed.domain.is_at_or_below(&name)).then_some(name)
    }

    /// The nearest Zone above managed hosts.
    fn zone(&self) -> Option<ZoneKey> {
        let nearest = self.zones.iter().max_by_key(|(_, name)| name.label_count());
        nearest.map(|(key, _)| key.clone())
    }
}

/// What of a namespace stands at a domain or below it, in a set that is ordered by both.
fn within(
    set: &BTreeSet<(String, Name, String)>,
    namespace: &str,
    domain: &Name,
) -> impl Iterator<Item = ObjectKey> {
    let start = (namespace.to_owned(), domain.clone(), String::new());
    let range = set.range(start..);
    let range =
        range.take_while(move |(within, it, _)| within == namespace && it.is_at_or_below(domain));
    range.map(|(namespace, _, name)| ObjectKey::new(namespace, name))
}

fn domain_of(claim: &Claim) -> Option<&Name> {
    match claim {
        // One that nobody can use belongs to whoever asked for it all the same.
        Claim::Domain(domain) | Claim::Refused(domain, _) => Some(domain),
        Claim::Invalid(_) => None,
    }
}

fn checks(ingress: &Value) -> Option<&str> {
    ingress["metadata"]["annotations"][annotation::CHECK].as_str()
}

/// Where an Ingress is reached.
fn targets(ingress: &Value) -> BTreeSet<Target> {
    let balancers = ingress["status"]["loadBalancer"]["ingress"].as_array();
    let balancers = balancers.map(Vec::as_slice).unwrap_or_default().iter();
    let places = balancers.filter_map(|it| it["ip"].as_str().or(it["hostname"].as_str()));
    places.filter_map(|it| Target::parse(it).ok()).collect()
}
