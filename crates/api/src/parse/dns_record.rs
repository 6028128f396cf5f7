//! From a DNSRecord's spec to the record sets it claims (P8).
//!
//! A DNSRecord is published whole or not at all, so one bad endpoint refuses it. Whether the provider may be used for
//! the host, and what a provider cannot do, is judged later.

mod endpoint;
mod txt;

use std::collections::{BTreeMap, BTreeSet};

use dns::{Name, Rdata, Rtype, Ttl};

use super::collect::Collect;
use super::fqdn;
use super::health_check::{self, HealthCheck};
use super::object_name;
use crate::dns_record::{self as object, DnsRecordSpec};
use crate::problem::{FieldPath, Problem};

pub use dns::limits::RECORD_TYPES;
use dns::routing::{GeoCode, Weight};

/// What a DNSRecord claims.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsRecord {
    /// The host that every endpoint is at or below, a leading `*` included.
    pub root_host: Name,
    /// Who owns the record, if the spec says so.
    pub owner_id: Option<String>,
    /// The Secret that names the provider, if the spec names one.
    pub provider: Option<String>,
    /// The record sets.
    pub endpoints: Vec<Endpoint>,
    /// How targets are probed.
    pub health_check: Option<HealthCheck>,
    /// Whether another cluster publishes the record.
    pub delegate: bool,
    /// Weights and places that no provider knows. They keep the record from being published and not from being removed;
    /// told as the provider's refusal, which is where the peer learns of them.
    pub unroutable: Vec<Problem>,
}

/// One record set that a DNSRecord claims.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endpoint {
    /// The name.
    pub name: Name,
    /// The type, one of [`RECORD_TYPES`].
    pub rtype: Rtype,
    /// Tells sets of the same name and type apart; empty where there is only one.
    pub set_identifier: String,
    /// What the name points to: at least one, in canonical order, no duplicates.
    pub targets: Vec<Rdata>,
    /// How long answers may be cached, unless that is left to the provider.
    pub ttl: Option<Ttl>,
    /// The share among sets of the same name and type.
    pub weight: Option<Weight>,
    /// The clients the set is for.
    pub geo: Option<GeoCode>,
    /// Labels for the ownership registry.
    pub labels: BTreeMap<String, String>,
    /// Properties that only some providers understand.
    pub properties: BTreeMap<String, String>,
}

/// Reads a DNSRecord, or names everything that is wrong with it.
pub fn parse(record: &object::DnsRecord) -> Result<DnsRecord, Vec<Problem>> {
    let spec = &record.spec;
    let at = FieldPath::spec();
    let mut problems = Collect::default();
    let root_host = problems.check(
        &at.field("rootHost"),
        &spec.root_host,
        fqdn::parse(&spec.root_host),
    );
    let base = root_host.as_ref().map(fqdn::base);
    let mut unroutable = Collect::default();
    let endpoints = endpoints(
        spec,
        base.as_ref(),
        &at.field("endpoints"),
        &mut problems,
        &mut unroutable,
    );
    let health_check = spec
        .health_check
        .as_ref()
        .and_then(|check| health_check::parse(check, &at.field("healthCheck"), &mut problems));
    let provider = provider(spec, &at, &mut problems);
    let claim = root_host.map(|root_host| DnsRecord {
        root_host,
        owner_id: spec.owner_id.clone(),
        provider,
        endpoints,
        health_check,
        delegate: spec.delegate.unwrap_or_default(),
        unroutable: unroutable.into_problems(),
    });
    problems.finish(claim)
}

/// Everything that is wrong with a DNSRecord, whoever would say so.
pub fn problems(record: &object::DnsRecord) -> Vec<Problem> {
    match parse(record) {
        Ok(claim) => claim.unroutable,
        Err(problems) => problems,
    }
}

/// An empty name is the peer's way to ask for the namespace's default.
fn provider(spec: &DnsRecordSpec, at: &FieldPath, problems: &mut Collect) -> Option<String> {
    let provider = spec.provider_ref.as_ref()?;
    if !provider.name.is_empty() && !object_name::is_subdomain(&provider.name) {
        let field = at.field("providerRef").field("name");
        problems.refuse(
            &field,
            "must be the metadata.name of a Secret",
            &provider.name,
        );
    }
    if spec.delegate == Some(true) {
        let rule = "does not go together with providerRef: another cluster publishes the record";
        problems.refuse(&at.field("delegate"), rule, true);
    }
    Some(provider.name.clone()).filter(|name| !name.is_empty())
}

/// The good endpoints. `base` is what they must be at or below, if that is known.
fn endpoints(
    spec: &DnsRecordSpec,
    base: Option<&Name>,
    at: &FieldPath,
    problems: &mut Collect,
    unroutable: &mut Collect,
) -> Vec<Endpoint> {
    let mut seen = BTreeSet::new();
    let mut endpoints = Vec::with_capacity(spec.endpoints.len());
    for (index, endpoint) in spec.endpoints.iter().enumerate() {
        let at = at.index(index);
        let Some(endpoint) = endpoint::parse(endpoint, base, &at, problems, unroutable) else {
            continue;
        };
        let key = (
            endpoint.name.clone(),
            endpoint.rtype,
            endpoint.set_identifier.clone(),
        );
        if !seen.insert(key) {
            let rule = "is there twice: another endpoint has the same dnsName, recordType and \
                        setIdentifier";
            problems.refuse(&at, rule, described(&endpoint));
        }
        endpoints.push(endpoint);
    }
    endpoints
}

fn described(endpoint: &Endpoint) -> String {
    let Endpoint {
        name,
        rtype,
        set_identifier,
        ..
    } = endpoint;
    format!("{name} {rtype} {set_identifier}")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests;
