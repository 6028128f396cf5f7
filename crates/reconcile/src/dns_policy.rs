//! One pass over a DNSPolicy: which DNSRecords are to be there, and what the policy says about itself (D1–D8).
//!
//! ```text
//! listener of the Gateway   it is this policy's, has a host, a route, an address    it is not, or no longer
//! record there              made what it should be, in place                        see below
//! no record                 made                                                    nothing
//! ```
//!
//! What is published goes on answering for as long as anybody could mean it to. A policy that is not accepted changes
//! nothing. A record whose Gateway has lost its routes or addresses, or is gone, stays for a grace period; one whose host
//! is published by another record of the policy stays until that one is ready; one outside of the provider's domain stays
//! as it is, unless nothing of it was ever published. A record goes at once only if its host was taken from the Gateway, or all
//! its addresses are excluded. A listener that passes from one policy to another takes its record along, also if the first one is deleted.
//!
//! Providers are never asked here: what becomes of a DNSRecord is read from its conditions.

mod conclude;
pub mod endpoints;
mod finding;
mod made;
pub(crate) mod names;
mod owners;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::dns_policy::DnsPolicyStatus;
use api::dns_record::{DnsRecordSpec, Endpoint, ProviderRef};
use api::health_check::HealthCheckSpec;
use api::parse::dns_policy::DnsPolicy;
use api::parse::provider_secret::Domain;
use api::parse::target::Target;
use api::well_known::listener_label;
use dns::Name;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use crate::world::Faults;
use crate::{GatewayKey, PolicyKey};
use endpoints::{Addresses, Sharing, endpoints};

pub use conclude::conclude;
pub use made::{MadeRecord, Progress};

/// What a policy is for.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct TargetRef {
    /// The Gateway.
    pub gateway: GatewayKey,
    /// One listener of it; nothing: all of them.
    pub listener: Option<String>,
}

impl TargetRef {
    /// The whole Gateway.
    #[must_use]
    pub fn whole(&self) -> TargetRef {
        TargetRef {
            gateway: self.gateway.clone(),
            listener: None,
        }
    }
}

/// Why a policy may not do what it says.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Something is wrong with it by itself.
    Faulty(Faults),
    /// The cluster has no Gateways.
    NotInstalled,
    /// There is no such Gateway.
    NoGateway,
    /// The Gateway has no such listener; these are the ones it has.
    NoListener(Vec<String>),
    /// An older policy has the same target.
    Conflicted(PolicyKey),
    /// Another cluster is to publish its records.
    Delegated,
}

/// Everything that bears on a DNSPolicy.
#[derive(Clone, Debug, PartialEq)]
pub struct DnsPolicyView {
    /// Which one.
    pub key: PolicyKey,
    /// Its uid.
    pub uid: String,
    /// The version of its spec.
    pub generation: Option<i64>,
    /// The version of all of it.
    pub resource_version: Option<String>,
    /// Whether it is on its way out.
    pub deleting: bool,
    /// What it says about itself now.
    pub status: DnsPolicyStatus,
    /// What it wants, or what is wrong with it.
    pub claim: Result<DnsPolicy, Faults>,
    /// What it is for.
    pub target: Option<TargetRef>,
    /// How addresses are probed, as it is written.
    pub health_check: Option<HealthCheckSpec>,
    /// Whether it may do what it says.
    pub standing: Result<(), Refusal>,
    /// Its Gateway, if that is there.
    pub gateway: Option<GatewayView>,
    /// The domains of its providers, as far as their Secrets say.
    pub domains: BTreeMap<String, Domain>,
    /// The records that were made from it.
    pub own: Vec<MadeRecord>,
    /// Records of other policies for listeners that are this one's.
    pub borrowed: Vec<MadeRecord>,
    /// Own records for listeners that another policy has now: that one takes them over as they are.
    pub passed_on: BTreeSet<String>,
    /// Since when records have had no source.
    pub lapsing: BTreeMap<String, Duration>,
    /// Who gets its records when it goes.
    pub heir: Option<Heir>,
    /// What stands for the Gateway among those that share a host.
    pub code: String,
}

/// A policy that comes after another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Heir {
    /// Which one.
    pub policy: PolicyKey,
    /// Its uid.
    pub uid: String,
}

/// A Gateway, as a policy sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayView {
    /// Where it is reached.
    pub addresses: Vec<Target>,
    /// Addresses that cannot be read.
    pub odd: Vec<String>,
    /// The listeners that are the policy's.
    pub listeners: Vec<ListenerView>,
}

/// A listener, as its policy sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListenerView {
    /// Its name.
    pub name: String,
    /// Its host, if it has one; or why that cannot be published.
    pub host: Result<Option<Name>, String>,
    /// Whether a route is attached.
    pub attached: bool,
    /// For each provider, what a new record would be called.
    pub names: Vec<(String, String)>,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Records to make.
    pub create: Vec<api::DnsRecord>,
    /// Records to change.
    pub update: Vec<Update>,
    /// Records to remove.
    pub delete: Vec<MadeRecord>,
    /// Since when records have had no source.
    pub lapsing: BTreeMap<String, Duration>,
    /// When to look again without anybody asking.
    pub next: Option<Duration>,
    /// What was seen on the way.
    pub(crate) sights: Sights,
}

impl Decision {
    /// Whether a record is to be changed.
    fn updates(&self, record: &MadeRecord) -> bool {
        let mut updates = self.update.iter();
        updates.any(|update| update.before.name == record.name)
    }
}

/// A record, and what it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// As it stands.
    pub before: MadeRecord,
    /// What it should say.
    pub spec: DnsRecordSpec,
    /// The labels that it should carry, others left out.
    pub labels: BTreeMap<String, String>,
    /// Whom it should belong to.
    pub owner_references: Vec<OwnerReference>,
}

impl Update {
    /// Whether the record is to say something else than before.
    fn changes_spec(&self) -> bool {
        self.before.spec.as_ref() != Some(&self.spec)
    }
}

/// What is to be told about a policy beside how its records stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sights {
    /// Listeners whose host is outside of their provider's domain, and that domain.
    pub(crate) outside: Vec<(String, Domain)>,
    /// How many hosts there are, inside of domains or not.
    pub(crate) hosts: usize,
    /// Hosts that cannot be published, and why.
    pub(crate) unfit: Vec<String>,
    /// Listeners without a route.
    pub(crate) unattached: Vec<String>,
    /// Whether there is no address.
    pub(crate) unreachable: bool,
    /// Hosts of the Gateway that there is no room for.
    pub(crate) surplus: Vec<Name>,
    /// Addresses of the Gateway that cannot be read.
    pub(crate) odd: Vec<String>,
}

/// What a host is to have.
enum Want {
    /// These endpoints.
    Publish(Vec<Endpoint>),
    /// What was published, and nothing new: the host is outside of the provider's domain.
    Leave,
    /// Nothing, after the grace period.
    Lapse,
    /// Nothing.
    Nothing,
}

/// A place for a record: a host at a provider.
struct Slot<'a> {
    gateway: &'a str,
    listener: &'a str,
    host: &'a Name,
    provider: &'a str,
    name: &'a str,
    want: Want,
}

/// What should happen. `now` is any clock that does not jump; `grace` is how long what has lost its source is kept.
pub fn decide(view: &DnsPolicyView, grace: Duration, now: Duration) -> Decision {
    let mut pass = Pass {
        view,
        grace,
        now,
        decision: Decision::default(),
    };
    if view.deleting {
        return pass.decision;
    }
    match (&view.standing, &view.claim, &view.gateway) {
        (Ok(()), Ok(claim), Some(gateway)) => pass.enforce(claim, gateway),
        (Err(Refusal::NoGateway), _, _) => pass.outlive(),
        (Ok(()) | Err(_), _, _) => {}
    }
    pass.decision
}

struct Pass<'a> {
    view: &'a DnsPolicyView,
    grace: Duration,
    now: Duration,
    decision: Decision,
}

impl<'v> Pass<'v> {
    /// The Gateway is gone: what was made for it goes after a while. What was made for another one stays: the policy
    /// may have been given a name that nobody has.
    fn outlive(&mut self) {
        let Some(target) = &self.view.target else {
            return;
        };
        for record in self.view.own.iter().filter(|it| it.marked) {
            if names::is_made_for(&record.name, &target.gateway.name, &record.listener) {
                self.lapse(record);
            }
        }
    }

    fn enforce(&mut self, claim: &'v DnsPolicy, gateway: &'v GatewayView) {
        let slots = self.slots(claim, gateway);
        let (own, borrowed) = (self.view.own.iter(), self.view.borrowed.iter());
        let mut pool: Vec<&MadeRecord> = own.chain(borrowed).collect();
        let mut holders = BTreeMap::new();
        for slot in &slots {
            let record = slot.take_from(&mut pool);
            let ready = record.is_some_and(|it| it.progress() == Progress::Ready);
            let changed = self.fill(slot, record);
            let stands = holders.entry(slot.host).or_insert(Stand::Settled);
            *stands = (*stands).max(slot.stands(ready && !changed));
        }
        for record in pool {
            // What lost the label that says that it is ours may have been taken over by a person.
            if record.policy_uid == self.view.uid && record.marked {
                let stand = record.host.as_ref().and_then(|host| holders.get(host));
                self.retire(record, stand.copied());
            }
        }
    }

    /// The places there are, and what each is to have.
    fn slots(&mut self, claim: &'v DnsPolicy, gateway: &'v GatewayView) -> Vec<Slot<'v>> {
        let reach = Reach::new(claim, gateway);
        let sights = &mut self.decision.sights;
        sights.unreachable = reach.addresses.is_empty();
        sights.odd.clone_from(&gateway.odd);
        if claim.load_balancing.is_none() {
            sights.surplus = reach.addresses.surplus().cloned().collect();
        }
        let mut slots = Vec::new();
        for listener in &gateway.listeners {
            match &listener.host {
                Ok(Some(host)) => slots.extend(self.slots_of(listener, host, claim, &reach)),
                Ok(None) => {}
                Err(rule) => {
                    let unfit = format!("{}: {rule}", listener.name);
                    self.decision.sights.unfit.push(unfit);
                }
            }
        }
        slots
    }

    /// The places of one listener: one at each provider.
    fn slots_of(
        &mut self,
        listener: &'v ListenerView,
        host: &'v Name,
        claim: &'v DnsPolicy,
        reach: &Reach,
    ) -> Vec<Slot<'v>> {
        let sights = &mut self.decision.sights;
        sights.hosts += 1;
        if !listener.attached {
            sights.unattached.push(listener.name.clone());
        }
        let target = self.view.target.as_ref();
        let mut slots = Vec::new();
        for (provider, name) in &listener.names {
            let domain = self.view.domains.get(provider);
            let outside = domain.filter(|domain| !domain.contains(host));
            let told = outside.map(|domain| (listener.name.clone(), domain.clone()));
            let want = if told.is_some() {
                Want::Leave
            } else {
                reach.want(listener.attached, host, claim, &self.view.code)
            };
            sights.outside.extend(told);
            slots.push(Slot {
                gateway: target.map_or("", |target| &target.gateway.name),
                listener: &listener.name,
                host,
                provider,
                name,
                want,
            });
        }
        slots
    }

    /// Makes what is in a place what it should be. Whether it is to say something else.
    fn fill(&mut self, slot: &Slot<'_>, record: Option<&MadeRecord>) -> bool {
        match (&slot.want, record) {
            (Want::Publish(endpoints), None) => {
                let record = self.make(slot, endpoints);
                self.decision.create.push(record);
                true
            }
            (Want::Publish(endpoints), Some(record)) => {
                let update = self.change(slot, endpoints, record);
                // Whose it is does not matter to its host.
                let changed = update.as_ref().is_some_and(Update::changes_spec);
                self.decision.update.extend(update);
                changed
            }
            (Want::Lapse, Some(record)) => {
                self.lapse(record);
                false
            }
            (Want::Nothing, Some(record)) => {
                self.decision.delete.push(record.clone());
                false
            }
            // It was made when nobody knew the domain: whoever is told first makes no difference (D2).
            (Want::Leave, Some(record)) if !record.published => {
                self.decision.delete.push(record.clone());
                false
            }
            (Want::Leave, Some(_)) | (Want::Leave | Want::Lapse | Want::Nothing, None) => false,
        }
    }

    /// A record that has no place any more.
    fn retire(&mut self, record: &MadeRecord, stand: Option<Stand>) {
        if self.view.passed_on.contains(&record.name) {
            return;
        }
        match stand {
            None | Some(Stand::Settled) => self.decision.delete.push(record.clone()),
            Some(Stand::Lapsing) => self.lapse(record),
            Some(Stand::Coming) => {}
        }
    }

    /// Keeps a record for a while.
    fn lapse(&mut self, record: &MadeRecord) {
        let since = self.view.lapsing.get(&record.name);
        let since = since.copied().unwrap_or(self.now);
        let until = since.saturating_add(self.grace);
        if until <= self.now {
            self.decision.delete.push(record.clone());
        } else {
            self.decision.lapsing.insert(record.name.clone(), since);
            let next = self.decision.next.map_or(until, |next| next.min(until));
            self.decision.next = Some(next);
        }
    }

    fn make(&self, slot: &Slot<'_>, endpoints: &[Endpoint]) -> api::DnsRecord {
        let spec = self.spec(slot, endpoints, &DnsRecordSpec::default());
        let mut record = api::DnsRecord::new(slot.name, spec);
        record.metadata.namespace = Some(self.view.key.namespace.clone());
        record.metadata.labels = Some(made::labels(slot.listener));
        record.metadata.owner_references = Some(owners::of(self.view, &[]));
        record
    }

    fn change(
        &self,
        slot: &Slot<'_>,
        endpoints: &[Endpoint],
        record: &MadeRecord,
    ) -> Option<Update> {
        let stands = record.spec.as_ref()?;
        let spec = self.spec(slot, endpoints, stands);
        let labels = made::labels(slot.listener);
        let carried = labels
            .iter()
            .all(|(key, value)| record.labels.get(key) == Some(value));
        let owner_references = owners::of(self.view, &record.owner_references);
        if carried && spec == *stands && owner_references == record.owner_references {
            return None;
        }
        Some(Update {
            before: record.clone(),
            spec,
            labels,
            owner_references,
        })
    }

    /// What a record says, beside what only its maker knew.
    fn spec(
        &self,
        slot: &Slot<'_>,
        endpoints: &[Endpoint],
        before: &DnsRecordSpec,
    ) -> DnsRecordSpec {
        let root_host = if before.root_host.is_empty() {
            slot.host.to_string().trim_end_matches('.').to_owned()
        } else {
            // It cannot change, and how it is spelled does not matter.
            before.root_host.clone()
        };
        DnsRecordSpec {
            root_host,
            provider_ref: Some(ProviderRef {
                name: slot.provider.to_owned(),
            }),
            endpoints: endpoints.to_vec(),
            health_check: self.view.health_check.clone(),
            ..before.clone()
        }
    }
}

/// How a host stands that some record is to publish.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stand {
    /// It is published, or is not to be.
    Settled,
    /// It has no source for the moment.
    Lapsing,
    /// It is to be published, and is not yet.
    Coming,
}

impl Slot<'_> {
    /// The record that is in this place: of the same listener and host, best at the same provider. One that lost its
    /// labels is known by its name.
    fn take_from<'r>(&self, pool: &mut Vec<&'r MadeRecord>) -> Option<&'r MadeRecord> {
        let label = listener_label(self.listener);
        let fits = |record: &&MadeRecord| {
            let made = || names::is_made_for(&record.name, self.gateway, self.listener);
            let known = record.listener == label || (!record.marked && made());
            known && record.host.as_ref() == Some(self.host)
        };
        let here = |record: &&MadeRecord| {
            let provider = record.spec.as_ref().and_then(|it| it.provider_ref.as_ref());
            fits(record) && provider.is_some_and(|it| it.name == self.provider)
        };
        let at = pool.iter().position(here);
        let at = at.or_else(|| pool.iter().position(fits))?;
        Some(pool.remove(at))
    }

    fn stands(&self, ready: bool) -> Stand {
        match self.want {
            Want::Publish(_) if ready => Stand::Settled,
            Want::Publish(_) | Want::Leave => Stand::Coming,
            Want::Lapse => Stand::Lapsing,
            Want::Nothing => Stand::Settled,
        }
    }
}

/// Where a Gateway is reached, as far as a policy lets that be published.
struct Reach {
    addresses: Addresses,
    /// Whether there is an address that is excluded.
    excluded: bool,
}

impl Reach {
    fn new(claim: &DnsPolicy, gateway: &GatewayView) -> Reach {
        let is_covered = |target: &&Target| claim.excluded.iter().any(|it| it.covers(target));
        let (covered, left): (Vec<&Target>, Vec<&Target>) =
            gateway.addresses.iter().partition(is_covered);
        Reach {
            addresses: left.into_iter().cloned().collect(),
            excluded: !covered.is_empty(),
        }
    }

    /// What a host in the provider's domain is to have (D4). That all addresses are excluded is a wish; that there is
    /// none, or no route, may be so for a moment.
    fn want(&self, attached: bool, host: &Name, claim: &DnsPolicy, code: &str) -> Want {
        match (attached, self.addresses.is_empty(), self.excluded) {
            (true, false, _) => {
                Want::Publish(endpoints(host, &self.addresses, sharing(claim, code)))
            }
            (true, true, true) => Want::Nothing,
            (true, true, false) | (false, _, _) => Want::Lapse,
        }
    }
}

fn sharing<'a>(claim: &'a DnsPolicy, code: &'a str) -> Sharing<'a> {
    match &claim.load_balancing {
        Some(rule) => Sharing::Balanced { rule, code },
        None => Sharing::Simple,
    }
}

#[cfg(test)]
mod tests;
