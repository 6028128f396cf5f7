//! From a Zone to what it claims (Z1, Z2, Z8, Z12).
//!
//! The parts stand alone: a delegation that cannot be read is dropped and the zone goes on without
//! it. Without `place` or `soa` there is no zone. What is dropped never makes a permission wider.

use dns::delegation::{Delegation, Pattern, RecordRule};
use dns::{DomainName, Name, NameError, Rdata, Rtype, Soa, Ttl};
use kube::ResourceExt as _;

use super::collect::Collect;
use super::place::{Place, name_field, reference_field};
use super::{DEFAULT_NAMESPACE, object_name};
use crate::problem::{FieldPath, Problem};
use crate::zone as object;
use crate::zone_ref::ZoneKey;

/// The name server and the mailbox of a zone that says nothing about them, as the peer writes them.
const MNAME_DEFAULT: &str = "ns";
const RNAME_DEFAULT: &str = "noc";

/// What a Zone claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Where the zone is; nothing if it can be nowhere.
    pub place: Option<Place>,
    /// Its start of authority; nothing if no SOA record can be made of it.
    pub soa: Option<StartOfAuthority>,
    /// The name servers, as far as they could be read.
    pub name_servers: Vec<NameServer>,
    /// The permissions, as far as they could be read.
    pub delegations: Vec<Delegation>,
}

/// A start of authority whose names may still be relative to the zone.
#[derive(Clone, Debug, PartialEq)]
pub struct StartOfAuthority {
    /// How long answers may be kept: the SOA record itself, and Records without a TTL (R7).
    pub ttl: Ttl,
    mname: DomainName,
    rname: DomainName,
    refresh: u32,
    retry: u32,
    expire: u32,
    minimum: Ttl,
}

/// A name server whose name may still be relative to the zone.
#[derive(Clone, Debug, PartialEq)]
pub struct NameServer {
    field: FieldPath,
    name: DomainName,
}

/// Reads a Zone: the parts that stand, and everything that is wrong with the rest.
pub fn parse(zone: &object::Zone) -> (Zone, Vec<Problem>) {
    let mut problems = Collect::default();
    let parts = Zone {
        place: place(zone, &mut problems),
        soa: start_of_authority(&zone.spec, &mut problems),
        name_servers: name_servers(&zone.spec.nameservers, &mut problems),
        delegations: delegations(&zone.spec.delegations, &mut problems),
    };
    (parts, problems.into_problems())
}

impl StartOfAuthority {
    /// The start of authority of the zone `origin`.
    pub fn under(&self, origin: &Name) -> Result<Soa, Problem> {
        let complete = |name: &DomainName, field| {
            name.under(origin)
                .map_err(|rule| Problem::new(&soa_field(field), rule, name))
        };
        Ok(Soa {
            ttl: self.ttl,
            mname: complete(&self.mname, "mname")?,
            rname: complete(&self.rname, "rname")?,
            refresh: self.refresh,
            retry: self.retry,
            expire: self.expire,
            minimum: self.minimum,
        })
    }
}

impl NameServer {
    /// The data of the NS record at the apex of the zone `origin`, held to the rules of any other
    /// NS record.
    pub fn under(&self, origin: &Name) -> Result<Rdata, Problem> {
        let name = self.name.under(origin).map_err(|rule| self.problem(rule))?;
        let data =
            Rdata::from_wire(Rtype::NS, name.as_wire()).map_err(|rule| self.problem(rule))?;
        data.check().map_err(|rule| self.problem(rule))?;
        Ok(data)
    }

    fn problem(&self, rule: impl std::fmt::Display) -> Problem {
        Problem::new(&self.field, rule, &self.name)
    }
}

fn place(zone: &object::Zone, problems: &mut Collect) -> Option<Place> {
    let namespace = zone
        .namespace()
        .unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    let spec = &zone.spec;
    let zone_ref = spec.zone_ref.as_ref();
    let place = Place::parse(&spec.domain_name, zone_ref, &namespace, problems)?;
    let own = ZoneKey::new(&namespace, &zone.name_any());
    if place.parent() == Some(&own) {
        problems.refuse(&reference_field(), "a zone cannot be its own parent", own);
        return None;
    }
    if let Some(rule) = unfit_name(&place) {
        problems.refuse(&name_field(), rule, &spec.domain_name);
        return None;
    }
    Some(place)
}

/// Why a name is none for a zone.
fn unfit_name(place: &Place) -> Option<&'static str> {
    if place.own_labels().is_wildcard() {
        return Some("a zone cannot be a wildcard");
    }
    match place {
        Place::Relative { name, .. } if name.is_apex() => {
            Some("must name something below the zone in spec.zoneRef")
        }
        Place::Relative { .. } | Place::Full { .. } => None,
    }
}

/// Timers are taken as they are, 0 included: peers write such zones, and secondaries cope.
fn start_of_authority(spec: &object::ZoneSpec, problems: &mut Collect) -> Option<StartOfAuthority> {
    let names = spec.soa.clone().unwrap_or_default();
    let mname = names.mname.as_deref().unwrap_or(MNAME_DEFAULT);
    let rname = names.rname.as_deref().unwrap_or(RNAME_DEFAULT);
    let minimum = spec.negative_response_cache;
    let mname = soa_name("mname", mname, problems);
    let rname = soa_name("rname", rname, problems);
    let ttl = time_to_live("ttl", spec.ttl, problems);
    let minimum = time_to_live("negativeResponseCache", minimum, problems);
    Some(StartOfAuthority {
        ttl: ttl?,
        mname: mname?,
        rname: rname?,
        refresh: spec.refresh,
        retry: spec.retry,
        expire: spec.expire,
        minimum: minimum?,
    })
}

fn time_to_live(field: &str, seconds: u32, problems: &mut Collect) -> Option<Ttl> {
    let field = FieldPath::spec().field(field);
    problems.check(&field, seconds, Ttl::from_secs(seconds))
}

fn soa_name(field: &str, text: &str, problems: &mut Collect) -> Option<DomainName> {
    let field = soa_field(field);
    if text.len() > 1 && text.contains('@') {
        let rule = "a mailbox is written as a name, with a dot in place of the \"@\"";
        problems.refuse(&field, rule, text);
        return None;
    }
    problems.check(&field, text, DomainName::parse(text))
}

fn soa_field(name: &str) -> FieldPath {
    FieldPath::spec().field("soa").field(name)
}

fn name_servers(texts: &[String], problems: &mut Collect) -> Vec<NameServer> {
    let at = FieldPath::spec().field("nameservers");
    let mut servers = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let field = at.index(index);
        let name = problems.check(&field, text, name_server(text));
        servers.extend(name.map(|name| NameServer { field, name }));
    }
    servers
}

/// An address is told here: completed by the zone's name it would no longer look like one.
fn name_server(text: &str) -> Result<DomainName, NameError> {
    let name = DomainName::parse(text)?;
    if name.under(&Name::root())?.spells_address() {
        return Err(NameError::Address);
    }
    Ok(name)
}

fn delegations(objects: &[object::Delegation], problems: &mut Collect) -> Vec<Delegation> {
    let at = FieldPath::spec().field("delegations");
    let numbered = objects.iter().enumerate();
    numbered
        .map(|(index, object)| delegation(object, &at.index(index), problems))
        .collect()
}

fn delegation(object: &object::Delegation, at: &FieldPath, problems: &mut Collect) -> Delegation {
    for (index, namespace) in object.namespaces.iter().enumerate() {
        if !object_name::is_label(namespace) {
            let rule = "must be the name of a Namespace; patterns are not supported here";
            problems.refuse(&at.field("namespaces").index(index), rule, namespace);
        }
    }
    Delegation {
        // What is no namespace stays in the list, where it matches nothing: the list might be empty
        // without it, and an empty list is every namespace.
        namespaces: object.namespaces.clone(),
        zones: patterns(&object.zones, &at.field("zones"), problems),
        records: record_rules(&object.records, &at.field("records"), problems),
    }
}

fn patterns(texts: &[String], at: &FieldPath, problems: &mut Collect) -> Vec<Pattern> {
    let numbered = texts.iter().enumerate();
    numbered
        .filter_map(|(index, text)| problems.check(&at.index(index), text, text.parse()))
        .collect()
}

fn record_rules(
    objects: &[object::RecordDelegation],
    at: &FieldPath,
    problems: &mut Collect,
) -> Vec<RecordRule> {
    let mut rules = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let at = at.index(index);
        let text = &object.pattern;
        let pattern = problems.check(&at.field("pattern"), text, text.parse());
        let types = types(&object.types, &at.field("types"), problems);
        rules.extend(
            pattern
                .zip(types)
                .map(|(pattern, types)| RecordRule { pattern, types }),
        );
    }
    rules
}

/// The types of a rule; nothing if none of those listed could be read. The rule has to go then, for
/// an empty list is every type.
fn types(texts: &[String], at: &FieldPath, problems: &mut Collect) -> Option<Vec<Rtype>> {
    let numbered = texts.iter().enumerate();
    let types: Vec<Rtype> = numbered
        .filter_map(|(index, text)| super::record_type(text, &at.index(index), problems))
        .collect();
    (texts.is_empty() || !types.is_empty()).then_some(types)
}

#[cfg(test)]
mod tests;
