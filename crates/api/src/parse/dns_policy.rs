//! From a DNSPolicy's spec to what it claims (D1, D5).
//!
//! Whether the Gateway is there, who else has a policy on it, and what its listeners are, is judged later.

use std::net::IpAddr;

use dns::Name;
use ipnet::IpNet;

use super::collect::Collect;
use super::health_check::{self, HealthCheck};
use super::object_name;
use super::target::Target;
use crate::dns_policy::{self as object, DnsPolicySpec, LoadBalancingSpec, TargetRef};
use crate::problem::{FieldPath, Problem};
use dns::routing::{GeoCode, GeoCodeError, Weight};

/// What a DNSPolicy claims.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsPolicy {
    /// The name of the Gateway.
    pub gateway: String,
    /// The one listener it is for.
    pub listener: Option<String>,
    /// The Secrets that name the providers.
    pub providers: Vec<String>,
    /// How addresses are probed.
    pub health_check: Option<HealthCheck>,
    /// How traffic is shared with other clusters.
    pub load_balancing: Option<LoadBalancing>,
    /// Addresses that are not published.
    pub excluded: Vec<Exclusion>,
    /// Whether another cluster publishes the records.
    pub delegate: bool,
}

/// How traffic is shared with other clusters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoadBalancing {
    /// The share among Gateways of the same geo.
    pub weight: Weight,
    /// Where the Gateway is.
    pub geo: GeoCode,
    /// The same as it was written: it is a part of names that Gateways of several clusters share.
    pub spelled: String,
    /// Whether clients from anywhere else are sent here too.
    pub default_geo: bool,
}

/// Addresses that are not published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Exclusion {
    /// One address.
    Address(IpAddr),
    /// All addresses of a range.
    Range(IpNet),
    /// One host.
    Host(Name),
}

impl Exclusion {
    /// Whether it covers what a Gateway is reached at.
    pub fn covers(&self, target: &Target) -> bool {
        match (self, target) {
            (Exclusion::Address(excluded), Target::Address(address)) => excluded == address,
            (Exclusion::Range(range), Target::Address(address)) => range.contains(address),
            (Exclusion::Host(excluded), Target::Host(host)) => excluded == host,
            (Exclusion::Address(_) | Exclusion::Range(_), Target::Host(_))
            | (Exclusion::Host(_), Target::Address(_)) => false,
        }
    }
}

/// Reads a DNSPolicy, or names everything that is wrong with it.
pub fn parse(policy: &object::DnsPolicy) -> Result<DnsPolicy, Vec<Problem>> {
    let spec = &policy.spec;
    let at = FieldPath::spec();
    let mut problems = Collect::default();
    target_ref(&spec.target_ref, &at.field("targetRef"), &mut problems);
    let providers = providers(spec, &at.field("providerRefs"), &mut problems);
    let health_check = spec
        .health_check
        .as_ref()
        .and_then(|check| health_check::parse(check, &at.field("healthCheck"), &mut problems));
    let load_balancing = spec
        .load_balancing
        .as_ref()
        .and_then(|balancing| load_balancing(balancing, &at.field("loadBalancing"), &mut problems));
    let excluded = excluded(
        &spec.exclude_addresses,
        &at.field("excludeAddresses"),
        &mut problems,
    );
    if spec.delegate == Some(true) && !spec.provider_refs.is_empty() {
        let rule = "does not go together with providerRefs: another cluster publishes the records";
        problems.refuse(&at.field("delegate"), rule, true);
    }
    problems.finish(Some(DnsPolicy {
        gateway: spec.target_ref.name.clone(),
        listener: spec.target_ref.section_name.clone(),
        providers,
        health_check,
        load_balancing,
        excluded,
        delegate: spec.delegate.unwrap_or_default(),
    }))
}

fn target_ref(target: &TargetRef, at: &FieldPath, problems: &mut Collect) {
    if target.group != "gateway.networking.k8s.io" {
        problems.refuse(
            &at.field("group"),
            "must be gateway.networking.k8s.io",
            &target.group,
        );
    }
    if target.kind != "Gateway" {
        problems.refuse(&at.field("kind"), "must be Gateway", &target.kind);
    }
    if !object_name::is_subdomain(&target.name) {
        problems.refuse(
            &at.field("name"),
            "must be the metadata.name of a Gateway",
            &target.name,
        );
    }
    if let Some(section) = &target.section_name
        && !object_name::is_subdomain(section)
    {
        problems.refuse(
            &at.field("sectionName"),
            "must be the name of a listener",
            section,
        );
    }
}

fn providers(spec: &DnsPolicySpec, at: &FieldPath, problems: &mut Collect) -> Vec<String> {
    match spec.provider_refs.as_slice() {
        [] if spec.delegate != Some(true) => problems.refuse_bare(at, "must name a Secret"),
        [] | [_] => {}
        more => problems.refuse(at, "must name one Secret only", more.len()),
    }
    for (index, provider) in spec.provider_refs.iter().enumerate() {
        if !object_name::is_subdomain(&provider.name) {
            let field = at.index(index).field("name");
            problems.refuse(
                &field,
                "must be the metadata.name of a Secret",
                &provider.name,
            );
        }
    }
    spec.provider_refs
        .iter()
        .map(|provider| provider.name.clone())
        .collect()
}

fn load_balancing(
    spec: &LoadBalancingSpec,
    at: &FieldPath,
    problems: &mut Collect,
) -> Option<LoadBalancing> {
    let weight = problems.check(&at.field("weight"), spec.weight, Weight::new(spec.weight));
    let geo = problems.check(&at.field("geo"), &spec.geo, place(&spec.geo));
    Some(LoadBalancing {
        weight: weight?,
        geo: geo?,
        spelled: spec.geo.clone(),
        default_geo: spec.default_geo,
    })
}

/// A Gateway is somewhere; that it is for everyone else too is said by `defaultGeo`.
fn place(text: &str) -> Result<GeoCode, GeoCodeError> {
    match text.parse()? {
        GeoCode::Default => Err(GeoCodeError::Unknown),
        place @ (GeoCode::Continent(_) | GeoCode::Country(_) | GeoCode::Region(_)) => Ok(place),
    }
}

fn excluded(list: &[String], at: &FieldPath, problems: &mut Collect) -> Vec<Exclusion> {
    let mut excluded = Vec::with_capacity(list.len());
    for (index, text) in list.iter().enumerate() {
        excluded.extend(problems.check(&at.index(index), text, exclusion(text)));
    }
    excluded
}

/// Only a range has a slash in it.
fn exclusion(text: &str) -> Result<Exclusion, String> {
    if text.contains('/') {
        let range = text.parse::<IpNet>().map(Exclusion::Range);
        // The peer's words: people search for them.
        let rule = "could not parse the CIDR from the excludeAddresses field";
        return range.map_err(|_| rule.to_owned());
    }
    match Target::parse(text) {
        Ok(Target::Address(address)) => Ok(Exclusion::Address(address)),
        Ok(Target::Host(host)) => Ok(Exclusion::Host(host)),
        Err(rule) => Err(format!("must be an IP address, a range or a host: {rule}")),
    }
}

#[cfg(test)]
mod tests;
