//! From a Record to what it claims (R1, R5, R7, N6).
//!
//! Name and content stand alone: a Record with bad data still has a name and shows it in its
//! status. Without `place` or `content` it is not published.

use dns::routing::Membership;
use dns::{Name, Rdata, RdataText, Rtype, Ttl};
use kube::ResourceExt as _;

use super::DEFAULT_NAMESPACE;
use super::collect::Collect;
use super::place::{Place, name_field};
use super::routing;
use crate::problem::{FieldPath, Problem};
use crate::record::{self as object, Class};

/// What a Record claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Where the record is; nothing if it can be nowhere.
    pub place: Option<Place>,
    /// What stands there; nothing unless all of it could be read.
    pub content: Option<Content>,
}

/// What stands at a record's name.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// How long it may be kept; nothing: as long as the zone says (R7).
    pub ttl: Option<Ttl>,
    /// The member of a routed set that it is.
    pub routing: Option<Membership>,
    data: RdataText,
}

/// Reads a Record: the parts that stand, and everything that is wrong with the rest.
pub fn parse(record: &object::Record) -> (Record, Vec<Problem>) {
    let mut problems = Collect::default();
    let namespace = record
        .namespace()
        .unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    let spec = &record.spec;
    let zone_ref = spec.zone_ref.as_ref();
    let place = Place::parse(&spec.domain_name, zone_ref, &namespace, &mut problems);
    let content = content(spec, place.as_ref())
        .map_err(|found| problems.extend(found))
        .ok();
    (Record { place, content }, problems.into_problems())
}

impl Content {
    /// The type.
    pub fn rtype(&self) -> Rtype {
        self.data.rtype()
    }

    /// Type and data in the zone `origin`, whose name completes the relative names in it.
    pub fn under(&self, origin: &Name) -> Result<Rdata, Problem> {
        self.data
            .resolve(origin)
            .map_err(|rule| Problem::new(&rdata_field(), rule, self.data.as_str()))
    }
}

fn content(spec: &object::RecordSpec, place: Option<&Place>) -> Result<Content, Vec<Problem>> {
    let mut problems = Collect::default();
    class(spec.class, &mut problems);
    let rtype = rtype(&spec.type_, &mut problems);
    if let (Some(rtype), Some(place)) = (rtype, place) {
        owner(rtype, place, &spec.domain_name, &mut problems);
    }
    let ttl = spec.ttl.and_then(|it| time_to_live(it, &mut problems));
    let at = FieldPath::spec().field("routing");
    let routing = spec.routing.as_ref();
    let routing = routing.and_then(|spec| routing::membership(spec, &at, &mut problems));
    let data = rtype.and_then(|rtype| data(rtype, &spec.rdata, &mut problems));
    problems.finish(data.map(|data| Content { ttl, routing, data }))
}

fn class(class: Class, problems: &mut Collect) {
    match class {
        Class::In => {}
        Class::Ch | Class::Hs => {
            let rule = "is not supported: only class IN is published";
            problems.refuse(&FieldPath::spec().field("class"), rule, class);
        }
    }
}

fn rtype(text: &str, problems: &mut Collect) -> Option<Rtype> {
    let field = FieldPath::spec().field("type");
    let rtype = super::record_type(text, &field, problems)?;
    let rule = match rtype {
        Rtype::SOA => "is not for Records: the SOA record is made from the fields of the Zone",
        _ if rtype.is_meta() => "is a meta type, which exists in messages only",
        _ => return Some(rtype),
    };
    problems.refuse(&field, rule, text);
    None
}

/// Whoever asks for an address or a mail server asks for a host, so the name must be one
/// (RFC 1123 §2.1). SRV, TXT, CNAME and the others may stand at `_sip._tcp`.
fn owner(rtype: Rtype, place: &Place, domain_name: &str, problems: &mut Collect) {
    let host_only = matches!(rtype, Rtype::A | Rtype::AAAA | Rtype::MX);
    if host_only && !place.own_labels().is_host() {
        let rule = format!("type {rtype} needs a host name: letters, digits and hyphens only");
        problems.refuse(&name_field(), rule, domain_name);
    }
}

fn time_to_live(seconds: u32, problems: &mut Collect) -> Option<Ttl> {
    let field = FieldPath::spec().field("ttl");
    problems.check(&field, seconds, Ttl::from_secs(seconds))
}

fn data(rtype: Rtype, text: &str, problems: &mut Collect) -> Option<RdataText> {
    problems.check(&rdata_field(), text, RdataText::parse(rtype, text))
}

fn rdata_field() -> FieldPath {
    FieldPath::spec().field("rdata")
}

#[cfg(test)]
mod tests;
