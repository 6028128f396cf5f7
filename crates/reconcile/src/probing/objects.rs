//! The probes of a record as objects: what they are called, what they say, and what has to happen to them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use api::DnsHealthCheckProbe;
use api::dns_health_check_probe::DnsHealthCheckProbeSpec;
use api::go_duration;
use api::health_check::AdditionalHeadersRef;
use api::parse::health_check::{HealthCheck, Protocol};
use api::parse::object_name::is_subdomain;
use api::parse::target::Target;
use api::well_known::{field_manager, label};
use dns::ownership::short_hash36;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource as _;

use super::{Health, Patient, Probing, Standing};

/// The longest value of a label.
const LABEL_CHARS_MAX: usize = 63;

/// Characters of the hash that stands for a record in a label, as for the peer.
const OWNER_CHARS: usize = 8;

/// Characters of the hash that stands for what cannot be in a name: no two of a namespace are the same.
const HASH_CHARS: usize = 20;

/// How much of a record's name stands before that hash.
const NAME_CHARS_MAX: usize = 200;

/// What has to happen to the probes of a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbePlan {
    /// Probes that are missing.
    pub create: Vec<DnsHealthCheckProbe>,
    /// Probes that ask for something else than they should: by name, as they stand and as they should.
    pub correct: Vec<(String, Standing, DnsHealthCheckProbeSpec)>,
    /// Probes that nobody needs, by name, as they stand.
    pub remove: Vec<(String, Standing)>,
    /// Names that probes of somebody else have.
    pub taken: Vec<String>,
}

impl ProbePlan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.create.is_empty() && self.correct.is_empty() && self.remove.is_empty()
    }
}

/// A probe for each target, by name.
pub(super) fn wanted(
    patient: Patient<'_>,
    check: &HealthCheck,
    targets: &BTreeSet<Target>,
    probing: Probing,
) -> BTreeMap<String, (Target, DnsHealthCheckProbe)> {
    let each = targets.iter().map(|target| {
        let probe = object(patient, check, target, probing);
        let name = probe.metadata.name.clone().unwrap_or_default();
        (name, (target.clone(), probe))
    });
    each.collect()
}

/// From the probes that stand to those that are wanted.
pub(super) fn plan(
    patient: Patient<'_>,
    wanted: &BTreeMap<String, (Target, DnsHealthCheckProbe)>,
) -> ProbePlan {
    let mut plan = ProbePlan::default();
    for (name, (_, probe)) in wanted {
        match patient.probes.get(name) {
            None => plan.create.push(probe.clone()),
            Some(there) if !is_own(patient, there) => plan.taken.push(name.clone()),
            // It is made anew when it has gone.
            Some(there) if there.deleting => {}
            Some(there) if there.spec != probe.spec => {
                let correction = (name.clone(), there.clone(), probe.spec.clone());
                plan.correct.push(correction);
            }
            Some(_) => {}
        }
    }
    let own = patient.probes.iter().filter(|(_, it)| is_own(patient, it));
    let stale = own.filter(|(name, it)| !it.deleting && !wanted.contains_key(*name));
    plan.remove = stale.map(|(name, it)| (name.clone(), it.clone())).collect();
    plan
}

/// What the probes have found of each target.
pub(super) fn health(
    patient: Patient<'_>,
    wanted: &BTreeMap<String, (Target, DnsHealthCheckProbe)>,
) -> BTreeMap<Target, Health> {
    let each = wanted.iter().map(|(name, (target, _))| {
        let own = patient.probes.get(name);
        let own = own.filter(|there| is_own(patient, there));
        let health = match own.and_then(|there| there.healthy) {
            Some(true) => Health::Healthy,
            Some(false) => Health::Unhealthy,
            None => Health::Unknown,
        };
        (target.clone(), health)
    });
    each.collect()
}

/// A target as objects spell it.
pub(super) fn address(target: &Target) -> String {
    target.to_string().trim_end_matches('.').to_owned()
}

/// The name of a target's probe: `<record>-<address>`, and something as good where that is no name.
pub(super) fn name(record: &str, target: &Target) -> String {
    let text = match target {
        Target::Address(IpAddr::V6(address)) => {
            let parts = address.segments().map(|part| format!("{part:x}"));
            parts.join("-")
        }
        Target::Address(IpAddr::V4(_)) | Target::Host(_) => address(target),
    };
    // A host of one label could be spelled like an address with hyphens.
    let distinct = matches!(target, Target::Address(_)) || text.contains('.');
    let plain = format!("{record}-{text}");
    if distinct && is_subdomain(&plain) {
        return plain;
    }
    let hash = short_hash36(&format!("{record} {}", address(target)), HASH_CHARS);
    let start = record.chars().take(NAME_CHARS_MAX).collect::<String>();
    format!("{}-{hash}", start.trim_end_matches(['-', '.']))
}

fn is_own(patient: Patient<'_>, probe: &Standing) -> bool {
    probe.owner.as_deref() == Some(patient.uid)
}

fn object(
    patient: Patient<'_>,
    check: &HealthCheck,
    target: &Target,
    probing: Probing,
) -> DnsHealthCheckProbe {
    let spec = spec(patient, check, target, probing);
    let mut probe = DnsHealthCheckProbe::new(&name(patient.name, target), spec);
    let owner = if patient.name.len() <= LABEL_CHARS_MAX {
        patient.name.to_owned()
    } else {
        short_hash36(patient.uid, OWNER_CHARS)
    };
    let labels = [
        (label::PROBE_OWNER, owner.as_str()),
        (label::MANAGED_BY, field_manager::CONTROLLER),
    ];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
    probe.metadata.labels = Some(labels.into());
    probe.metadata.owner_references = Some(vec![OwnerReference {
        api_version: api::DnsRecord::api_version(&()).into_owned(),
        kind: api::DnsRecord::kind(&()).into_owned(),
        name: patient.name.to_owned(),
        uid: patient.uid.to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }]);
    probe
}

fn spec(
    patient: Patient<'_>,
    check: &HealthCheck,
    target: &Target,
    probing: Probing,
) -> DnsHealthCheckProbeSpec {
    let host = patient.claim.root_host.to_string();
    let protocol = match check.protocol {
        Protocol::Http => "HTTP",
        Protocol::Https => "HTTPS",
    };
    let interval = SignedDuration::try_from(check.interval).unwrap_or(SignedDuration::MAX);
    let headers = check.headers_secret.clone();
    DnsHealthCheckProbeSpec {
        port: Some(i64::from(check.port)),
        hostname: Some(host.trim_end_matches('.').to_owned()),
        address: Some(address(target)),
        // The root is what is asked for without a path, and no path that the schema takes.
        path: Some(check.path.clone()).filter(|path| path != "/"),
        protocol: Some(protocol.to_owned()),
        interval: Some(go_duration::format(interval)),
        additional_headers_ref: headers.map(|name| AdditionalHeadersRef { name }),
        failure_threshold: Some(i64::from(check.failure_threshold)),
        allow_insecure_certificate: Some(probing.insecure),
    }
}
