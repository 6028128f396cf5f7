//! A zone as objects: one Zone, and a Record for every record that is not the Zone's own.

use std::collections::BTreeSet;

use api::record::{Class, RecordSpec};
use api::zone::{Delegation, RecordDelegation, SoaNames, ZoneSpec};
use api::{Record, Zone, ZoneRef};
use dns::{Name, Rdata, Rtype, SetKey, Ttl};

use super::file::ZoneFile;
use super::object_name::Namer;

/// What a Zone that names neither has in its SOA record, below its own name.
const MNAME_DEFAULT: &str = "ns";
const RNAME_DEFAULT: &str = "noc";

/// What the objects are called.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) zone: String,
    pub(super) namespace: String,
}

/// A zone as objects.
#[derive(Debug)]
pub(super) struct Objects {
    pub(super) zone: Zone,
    pub(super) records: Vec<Record>,
    /// The line that each record comes from.
    pub(super) lines: Vec<usize>,
}

impl Objects {
    /// The objects that say what the file says.
    pub(super) fn new(file: &ZoneFile, identity: &Identity) -> Objects {
        let zone = &file.zone;
        let spec = zone_spec(zone, identity);
        // What the Zone says needs no Record.
        let own = (!spec.nameservers.is_empty()).then(|| apex_ns(zone));
        let mut objects = Objects {
            zone: Zone::new(&identity.zone, spec),
            records: Vec::new(),
            lines: Vec::new(),
        };
        objects.zone.metadata.namespace = Some(identity.namespace.clone());
        let namer = Namer::new(zone.origin(), &identity.zone);
        for (key, set) in zone.sets().filter(|(key, _)| own.as_ref() != Some(*key)) {
            for data in set.data() {
                let among = (set.data().len() > 1).then_some(data);
                let name = namer.name(&key.name, key.rtype, among);
                let spec = record_spec(zone, &key.name, set.ttl(), data, identity);
                let mut record = Record::new(&name, spec);
                record.metadata.namespace = Some(identity.namespace.clone());
                objects.records.push(record);
                objects.lines.push(file.line(&key.name, data));
            }
        }
        objects
    }
}

/// Where a zone's name servers are.
pub(super) fn apex_ns(zone: &dns::Zone) -> SetKey {
    SetKey::new(zone.origin().clone(), Rtype::NS)
}

fn zone_spec(zone: &dns::Zone, identity: &Identity) -> ZoneSpec {
    let soa = zone.soa();
    ZoneSpec {
        domain_name: zone.origin().to_string(),
        zone_ref: None,
        delegations: vec![delegation(zone, identity)],
        ttl: soa.ttl.as_secs(),
        refresh: soa.refresh,
        retry: soa.retry,
        expire: soa.expire,
        negative_response_cache: soa.minimum.as_secs(),
        soa: soa_names(zone),
        nameservers: name_servers(zone),
    }
}

/// The names of the SOA record, where they are not what a Zone has anyway.
fn soa_names(zone: &dns::Zone) -> Option<SoaNames> {
    let other_than = |name: &Name, default: &str| {
        let text = relative(name, zone.origin());
        (text != default).then_some(text)
    };
    let names = SoaNames {
        mname: other_than(&zone.soa().mname, MNAME_DEFAULT),
        rname: other_than(&zone.soa().rname, RNAME_DEFAULT),
    };
    (names != SoaNames::default()).then_some(names)
}

/// The name servers, where a Zone can say them: they have the TTL of the zone.
fn name_servers(zone: &dns::Zone) -> Vec<String> {
    let set = zone.get(&apex_ns(zone));
    let set = set.filter(|set| set.ttl() == zone.soa().ttl);
    let targets = set
        .into_iter()
        .flat_map(|set| set.data().iter().filter_map(Rdata::target));
    targets
        .map(|target| relative(&target, zone.origin()))
        .collect()
}

/// Leave for the zone's own namespace to write what the file has. Types that an empty list leaves out (Z12) are named
/// where they occur.
fn delegation(zone: &dns::Zone, identity: &Identity) -> Delegation {
    let (mut apex, mut below) = (BTreeSet::new(), BTreeSet::new());
    for (key, _) in zone.sets().filter(|(key, _)| key.rtype.is_dnssec()) {
        let types = if key.name == *zone.origin() {
            &mut apex
        } else {
            &mut below
        };
        types.insert(key.rtype);
    }
    let rule = |pattern: &str, types: &BTreeSet<Rtype>| RecordDelegation {
        pattern: pattern.to_owned(),
        types: types.iter().map(ToString::to_string).collect(),
    };
    let mut records = vec![rule("@", &BTreeSet::new()), rule("*", &BTreeSet::new())];
    for (pattern, types) in [("@", apex), ("*", below)] {
        records.extend((!types.is_empty()).then(|| rule(pattern, &types)));
    }
    Delegation {
        namespaces: vec![identity.namespace.clone()],
        zones: Vec::new(),
        records,
    }
}

fn record_spec(
    zone: &dns::Zone,
    owner: &Name,
    ttl: Ttl,
    data: &Rdata,
    identity: &Identity,
) -> RecordSpec {
    RecordSpec {
        domain_name: relative(owner, zone.origin()),
        zone_ref: Some(ZoneRef {
            name: identity.zone.clone(),
            namespace: None,
        }),
        type_: data.rtype().to_string(),
        class: Class::In,
        ttl: (ttl != zone.soa().ttl).then(|| ttl.as_secs()),
        rdata: data.to_string(),
        routing: None,
    }
}

/// The name in front of the zone's, or whole where a reader would suspect that its final dot was forgotten.
fn relative(name: &Name, origin: &Name) -> String {
    match name.relative_to(origin) {
        Some(relative) if relative.under(origin).is_ok() => relative.to_string(),
        Some(_) | None => name.to_string(),
    }
}
