//! Endpoints: from what a spec says to sets that are wanted, and from what was published to the status and back.

use std::collections::BTreeMap;

use api::dns_record::{Endpoint, ProviderSpecificProperty};
use api::parse::dns_record as parsed;
use dns::hosted::HostedKey;
use dns::limits::Limits;
use dns::plan::Wanted;
use dns::routing::Routing;
use dns::{DomainName, Name, Rdata, Rtype};

const WEIGHT: &str = "weight";
const GEO_CODE: &str = "geo-code";

/// The sets that a spec wants of a provider, or what the provider cannot hold of it.
pub(super) fn wanted(
    endpoints: &[parsed::Endpoint],
    limits: &Limits,
) -> Result<BTreeMap<HostedKey, Wanted>, Vec<String>> {
    let mut wanted = BTreeMap::new();
    let mut refused = Vec::new();
    for (index, endpoint) in endpoints.iter().enumerate() {
        let routing = Routing {
            weight: endpoint.weight,
            geo: endpoint.geo.clone(),
        };
        let alone = !endpoint.set_identifier.is_empty() && routing.is_plain();
        let why = limits.refuse(endpoint.rtype, &routing).or_else(|| {
            alone.then(|| {
                "tells sets apart by a weight or a geo-code, not by setIdentifier alone".into()
            })
        });
        if let Some(why) = why {
            refused.push(format!("spec.endpoints[{index}]: this provider {why}"));
        }
        let set = Wanted {
            data: endpoint.targets.clone(),
            ttl: endpoint.ttl,
            routing,
            labels: endpoint.labels.clone(),
        };
        wanted.insert(key(endpoint), set);
    }
    if refused.is_empty() {
        Ok(wanted)
    } else {
        Err(refused)
    }
}

/// Which set an endpoint is.
pub(crate) fn key(endpoint: &parsed::Endpoint) -> HostedKey {
    HostedKey {
        identifier: endpoint.set_identifier.clone(),
        ..HostedKey::plain(endpoint.name.clone(), endpoint.rtype)
    }
}

/// What the status says was published. What cannot be read there was not written by us, and says nothing.
pub(crate) fn published(endpoints: &[Endpoint]) -> BTreeMap<HostedKey, Vec<Rdata>> {
    endpoints.iter().filter_map(read).collect()
}

fn read(endpoint: &Endpoint) -> Option<(HostedKey, Vec<Rdata>)> {
    let rtype: Rtype = endpoint.record_type.parse().ok()?;
    let name = match DomainName::parse(&endpoint.dns_name).ok()? {
        DomainName::Full(name) => name,
        DomainName::Relative(name) => name.under(&Name::root()).ok()?,
    };
    let key = HostedKey {
        identifier: endpoint.set_identifier.clone(),
        ..HostedKey::plain(name, rtype)
    };
    let data = endpoint.targets.iter();
    let data = data.filter_map(|text| Rdata::parse(rtype, text, &Name::root()).ok());
    Some((key, data.collect()))
}

/// What was published, as the status says it.
pub(super) fn shown(wanted: &BTreeMap<HostedKey, Wanted>) -> Vec<Endpoint> {
    let shown = wanted.iter().map(|(key, set)| Endpoint {
        dns_name: key.name.to_string().trim_end_matches('.').to_owned(),
        record_type: key.rtype.to_string(),
        record_ttl: set.ttl.map(|ttl| i64::from(ttl.as_secs())),
        set_identifier: key.identifier.clone(),
        targets: set.data.iter().map(ToString::to_string).collect(),
        labels: set.labels.clone(),
        provider_specific: properties(&set.routing),
    });
    shown.collect()
}

fn properties(routing: &Routing) -> Vec<ProviderSpecificProperty> {
    let property = |name: &str, value: String| ProviderSpecificProperty {
        name: name.to_owned(),
        value,
    };
    let weight = routing
        .weight
        .map(|weight| property(WEIGHT, weight.to_string()));
    let geo = routing
        .geo
        .as_ref()
        .map(|geo| property(GEO_CODE, geo.to_string()));
    weight.into_iter().chain(geo).collect()
}
