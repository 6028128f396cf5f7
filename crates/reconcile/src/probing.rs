//! Health checks of a DNSRecord: which probes it needs, and what of it may be published (D6).
//!
//! ```text
//! healthCheck, endpoints ─► leaves of the tree from rootHost ─► a probe for each ─► DNSHealthCheckProbe
//!                                                                                       │ healthy
//! what is published ◄── endpoints without what is unhealthy, never an empty name ◄──────┘
//! ```
//!
//! What has been proven unhealthy is taken out, with every branch that leads to nothing else. What nobody knows yet is
//! not added, and not taken away where it is. Where nothing would be left, what is published stays: an answer that may
//! not work is better than none. Only probes of targets that the record has now count.
//!
//! What it leaves to others: asking targets, and when ([`crate::probe`] says what follows from an answer).

mod objects;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use api::dns_health_check_probe::DnsHealthCheckProbeSpec;
use api::dns_record::{DnsRecordSpec, DnsRecordStatus};
use api::parse::dns_record::{DnsRecord, Endpoint, parse};
use api::parse::target::Target;
use api::{Reason, Status};

use crate::dns_record::published;

pub use objects::ProbePlan;

/// What the operator has chosen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probing {
    /// Whether targets are probed at all.
    pub enabled: bool,
    /// Whether any certificate is good enough.
    pub insecure: bool,
}

/// What is known about a target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Health {
    /// It answered as it should when it was last asked.
    Healthy,
    /// It has not, more often in a row than it may.
    Unhealthy,
    /// Nobody knows.
    Unknown,
}

/// A DNSHealthCheckProbe as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The uid of the DNSRecord that it belongs to.
    pub owner: Option<String>,
    /// Its own uid.
    pub uid: String,
    /// The version of all of it.
    pub resource_version: Option<String>,
    /// What it asks for.
    pub spec: DnsHealthCheckProbeSpec,
    /// What it has found.
    pub healthy: Option<bool>,
    /// Whether it is being deleted.
    pub deleting: bool,
}

/// A record, in what health checks are made from.
#[derive(Clone, Copy, Debug)]
pub struct Patient<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// What it wants.
    pub claim: &'a DnsRecord,
    /// What it says about itself.
    pub status: &'a DnsRecordStatus,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// The probes that have the names of its own, and those that belong to it.
    pub probes: &'a BTreeMap<String, Standing>,
}

/// What health checks come to for a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// What has to happen to its probes.
    pub plan: ProbePlan,
    /// What is known of each target.
    pub health: BTreeMap<Target, Health>,
    /// What may be published.
    pub publish: Publish,
    /// What is said about it; nothing if nobody asked.
    pub told: Option<(Status, Reason, String)>,
}

/// What may be published of a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Publish {
    /// Everything that it wants.
    #[default]
    Everything,
    /// This much of it.
    Part(Vec<Endpoint>),
    /// What is published already: nothing of what it wants is healthy.
    AsBefore(Vec<Endpoint>),
    /// Nothing: there is nothing healthy, and nothing was published.
    Nothing,
}

/// Looks at the health of a record.
pub fn check(patient: Patient<'_>, probing: Probing) -> Checked {
    let Patient { claim, status, .. } = patient;
    // What another cluster publishes is not published by what is known here.
    let ours = !patient.deleting && !claim.delegate;
    let Some(health_check) = claim.health_check.as_ref().filter(|_| ours) else {
        return Checked::none(patient, None);
    };
    if !probing.enabled {
        return Checked::none(patient, Some("the operator has turned them off"));
    }
    if claim.root_host.is_wildcard() {
        return Checked::none(patient, Some("a wildcard is no host that can be asked for"));
    }
    let targets = tree::leaves(&claim.root_host, &claim.endpoints);
    if targets.is_empty() {
        let why = "no address and no host of others is reached from spec.rootHost";
        return Checked::none(patient, Some(why));
    }
    let wanted = objects::wanted(patient, health_check, &targets, probing);
    let plan = objects::plan(patient, &wanted);
    let health = objects::health(patient, &wanted);
    let of = |target: &Target| health.get(target).copied().unwrap_or(Health::Unknown);
    let left = tree::sift(
        &claim.root_host,
        &claim.endpoints,
        of,
        &published(&status.endpoints),
    );
    let publish = match left {
        Some(left) if left == claim.endpoints => Publish::Everything,
        Some(left) => Publish::Part(tree::with_defaults(&claim.endpoints, left)),
        None => standing(claim, status).map_or(Publish::Nothing, Publish::AsBefore),
    };
    Checked {
        told: Some(told(&health, &plan)),
        plan,
        health,
        publish,
    }
}

/// What the probes of a record would be called, were they made.
pub fn names(record: &str, claim: &DnsRecord) -> BTreeSet<String> {
    let targets = tree::leaves(&claim.root_host, &claim.endpoints);
    let names = targets.iter().map(|target| objects::name(record, target));
    names.collect()
}

impl Checked {
    /// Nothing is checked, and everything counts as healthy.
    fn none(patient: Patient<'_>, why: Option<&str>) -> Checked {
        let unchecked = |why| {
            let message =
                format!("health checks are not made: {why}; every target counts as healthy");
            (Status::Unknown, Reason::NotChecked, message)
        };
        Checked {
            plan: objects::plan(patient, &BTreeMap::new()),
            told: why.map(unchecked),
            ..Checked::default()
        }
    }
}

/// What is published, as endpoints. What cannot be read in a status was not written by us, and is left alone.
fn standing(claim: &DnsRecord, status: &DnsRecordStatus) -> Option<Vec<Endpoint>> {
    let spec = DnsRecordSpec {
        root_host: claim.root_host.to_string(),
        endpoints: status.endpoints.clone(),
        ..DnsRecordSpec::default()
    };
    let read = parse(&api::DnsRecord::new("", spec)).ok()?;
    Some(read.endpoints).filter(|endpoints| !endpoints.is_empty())
}

/// In the peer's words, as far as they go.
fn told(health: &BTreeMap<Target, Health>, plan: &ProbePlan) -> (Status, Reason, String) {
    let with = |wanted: &[Health]| -> BTreeSet<String> {
        let some = health.iter().filter(|(_, it)| wanted.contains(it));
        some.map(|(target, _)| objects::address(target)).collect()
    };
    let list = |targets: &BTreeSet<String>| {
        let texts: Vec<&str> = targets.iter().map(String::as_str).collect();
        texts.join(" ")
    };
    let unknown = with(&[Health::Unknown]);
    let failing = with(&[Health::Unhealthy, Health::Unknown]);
    if failing.is_empty() {
        let message = "All healthchecks succeeded";
        return (Status::True, Reason::AllChecksPassed, message.to_owned());
    }
    let mut message = if failing.len() == health.len() && plan.create.len() == health.len() {
        "Probes are creating".to_owned()
    } else if unknown.is_empty() {
        format!("Not healthy addresses: [{}]", list(&failing))
    } else {
        let (failing, unknown) = (list(&failing), list(&unknown));
        format!("Not healthy addresses: [{failing}]; not proven yet: [{unknown}]")
    };
    for name in &plan.taken {
        let taken = "belongs to somebody else: delete it, and this goes on by itself";
        message = format!("{message}; DNSHealthCheckProbe {name} {taken}");
    }
    let reason = if failing.len() == health.len() {
        Reason::HealthChecksFailed
    } else {
        Reason::SomeChecksPassed
    };
    (Status::False, reason, message)
}

#[cfg(test)]
mod tests;
