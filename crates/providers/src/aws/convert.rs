//! Between sets of DNS and Route 53's sets. Pure.
//!
//! Route 53 has its own way to escape: three *octal* digits, where DNS has decimal ones. And it holds more than sets of
//! DNS: aliases, health checks, kinds of routing that we have no words for. Those are told as what they are.

use std::collections::BTreeMap;

use aws_sdk_route53::types::{
    self, ChangeAction, GeoLocation, ResourceRecord, ResourceRecordSet, RrType,
};
use dns::hosted::{Batch, Change, Held, Holdings, HostedKey, HostedSet};
use dns::limits::{Load, records_of};
use dns::routing::{GeoCode, Routing, Weight};
use dns::{Name, Rdata, RecordSet, Rtype, Ttl};
use provider::{HostedZone, Snapshot, ZoneId};

/// How Route 53 writes ids of zones, and takes them with or without.
const ZONE_ID_PREFIX: &str = "/hostedzone/";

/// The country that stands for everybody who is nowhere else.
const ANYWHERE: &str = "*";

/// An answer that cannot be all of what is there, or cannot be understood.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Broken {
    /// A page that says the same as one before.
    #[error("{0} was listed twice")]
    Repeated(HostedKey),
    /// Every zone has an SOA and NS records at its top: a listing without them is not of a zone.
    #[error("the zone was listed without SOA and NS records")]
    NoApex,
    /// A name that is none.
    #[error("the name {0:?} was listed, which cannot be read")]
    Name(String),
    /// A type that is none.
    #[error("{name} was listed with type {rtype:?}, which cannot be read")]
    Type {
        /// Whose type it is.
        name: Name,
        /// The type.
        rtype: String,
    },
}

/// The id without what Route 53 puts in front of it.
pub(super) fn zone_id(text: &str) -> &str {
    text.strip_prefix(ZONE_ID_PREFIX).unwrap_or(text)
}

pub(super) fn zone(zone: &types::HostedZone) -> Result<HostedZone, Broken> {
    Ok(HostedZone {
        id: ZoneId(zone_id(zone.id()).to_owned()),
        apex: name(zone.name())?,
    })
}

/// Everything that was listed, if it can be a whole zone.
pub(super) fn snapshot(sets: &[ResourceRecordSet]) -> Result<Snapshot, Broken> {
    let mut holdings = Holdings::new();
    for set in sets {
        let key = key(set)?;
        if holdings.insert(key.clone(), held(&key, set)).is_some() {
            return Err(Broken::Repeated(key));
        }
    }
    let mut apexes = holdings.keys().filter(|key| key.rtype == Rtype::SOA);
    let apex = apexes.next().ok_or(Broken::NoApex)?.name.clone();
    if !holdings.contains_key(&HostedKey::plain(apex.clone(), Rtype::NS)) {
        return Err(Broken::NoApex);
    }
    Ok(Snapshot {
        apex,
        holdings,
        complaints: BTreeMap::new(),
    })
}

/// The changes of a batch, each the removal of exactly what is expected and the creation of what is wanted. Whatever
/// makes room comes before what takes it. The error is why it cannot be said in Route 53's words.
pub(super) fn changes(batch: &Batch) -> Result<Vec<types::Change>, String> {
    let removals = batch
        .changes
        .iter()
        .filter_map(|it| Some((ChangeAction::Delete, &it.key, it.before.as_ref()?)));
    let creations = batch
        .changes
        .iter()
        .filter_map(|it| Some((ChangeAction::Create, &it.key, it.after.as_ref()?)));
    removals
        .chain(creations)
        .map(|(action, key, set)| {
            let change = types::Change::builder()
                .action(action)
                .resource_record_set(resource_record_set(key, set)?);
            Ok(change.build().expect("action and set are given"))
        })
        .collect()
}

/// What a change takes of a request, both sides of it.
pub(super) fn load(change: &Change) -> Load {
    let sets = change.before.iter().chain(&change.after);
    let data = sets.flat_map(|set| set.records.data());
    Load {
        count: records_of(change),
        octets: data.map(|data| value(data).chars().count()).sum(),
    }
}

fn key(set: &ResourceRecordSet) -> Result<HostedKey, Broken> {
    let name = name(set.name())?;
    let rtype = set.r#type().as_str();
    let Ok(rtype) = rtype.parse::<Rtype>() else {
        let rtype = rtype.to_owned();
        return Err(Broken::Type { name, rtype });
    };
    let identifier = set.set_identifier().unwrap_or_default().to_owned();
    Ok(HostedKey {
        identifier,
        ..HostedKey::plain(name, rtype)
    })
}

fn held(key: &HostedKey, set: &ResourceRecordSet) -> Held {
    let read = match foreign(set) {
        Some(what) => Err(what),
        None => routing(set).and_then(|routing| {
            let records = records(key.rtype, set)?;
            Ok(HostedSet { records, routing })
        }),
    };
    read.map_or_else(Held::Opaque, Held::Set)
}

/// What a set is that is no set of DNS.
fn foreign(set: &ResourceRecordSet) -> Option<String> {
    if let Some(alias) = set.alias_target() {
        return Some(format!("an alias of {}", alias.dns_name()));
    }
    let kinds = [
        (
            set.traffic_policy_instance_id().is_some(),
            "a set of a traffic policy",
        ),
        (set.health_check_id().is_some(), "a set with a health check"),
        (set.region().is_some(), "a set for the latency of a region"),
        (set.failover().is_some(), "a set for failover"),
        (
            set.multi_value_answer().is_some(),
            "a set that is one of several answers",
        ),
        (
            set.cidr_routing_config().is_some(),
            "a set for ranges of addresses",
        ),
        (
            set.geo_proximity_location().is_some(),
            "a set for what is near a place",
        ),
    ];
    let found = kinds.into_iter().find(|(is_so, _)| *is_so);
    found.map(|(_, what)| what.to_owned())
}

fn routing(set: &ResourceRecordSet) -> Result<Routing, String> {
    let weight = set.weight().map(Weight::new).transpose();
    let weight = weight.map_err(|_| "a set with an unusual weight".to_owned())?;
    let geo = set.geo_location().map(geo_code).transpose()?;
    let routing = Routing { weight, geo };
    if routing.is_plain() == set.set_identifier().is_none() {
        Ok(routing)
    } else {
        Err("a set with an unknown kind of routing".into())
    }
}

fn geo_code(place: &GeoLocation) -> Result<GeoCode, String> {
    let parts = (
        place.continent_code(),
        place.country_code(),
        place.subdivision_code(),
    );
    let code = match parts {
        (Some(continent), None, None) => format!("GEO-{continent}").parse().ok(),
        // Only here it cannot mean a continent: `EU` alone is read as one.
        (None, Some(country), None) => country
            .parse()
            .ok()
            .filter(|code| matches!(code, GeoCode::Default | GeoCode::Country(_))),
        (_, _, _) => None,
    };
    code.ok_or_else(|| {
        let parts = [parts.0, parts.1, parts.2];
        let place: Vec<&str> = parts.into_iter().flatten().collect();
        format!("a set for the place {}", place.join("-"))
    })
}

fn records(rtype: Rtype, set: &ResourceRecordSet) -> Result<RecordSet, String> {
    let ttl = set.ttl().and_then(|secs| u32::try_from(secs).ok());
    let ttl = ttl.and_then(|secs| Ttl::from_secs(secs).ok());
    let ttl = ttl.ok_or("a set without a TTL that can be read")?;
    let unreadable = |why: &dyn std::fmt::Display| format!("data that cannot be read: {why}");
    let data: Result<Vec<(Ttl, Rdata)>, String> = (set.resource_records().iter())
        .map(|record| {
            // Names in it are whole, with or without a final dot.
            let text = with_decimal_escapes(record.value());
            let data = Rdata::parse(rtype, &text, &Name::root());
            Ok((ttl, data.map_err(|why| unreadable(&why))?))
        })
        .collect();
    RecordSet::new(data?).map_err(|why| unreadable(&why))
}

fn name(text: &str) -> Result<Name, Broken> {
    let absolute = format!("{}.", text.strip_suffix('.').unwrap_or(text));
    Name::parse(&with_decimal_escapes(&absolute)).map_err(|_| Broken::Name(text.to_owned()))
}

fn resource_record_set(key: &HostedKey, set: &HostedSet) -> Result<ResourceRecordSet, String> {
    let records = set.records.data().iter().map(|data| {
        let record = ResourceRecord::builder().value(value(data));
        record.build().expect("a value is given")
    });
    let identifier = Some(&key.identifier).filter(|text| !text.is_empty());
    let geo = set.routing.geo.as_ref().map(geo_location).transpose()?;
    let built = ResourceRecordSet::builder()
        .name(with_octal_escapes(&key.name.to_string(), Quoted::No))
        .r#type(RrType::from(key.rtype.to_string().as_str()))
        .ttl(i64::from(set.records.ttl().as_secs()))
        .set_resource_records(Some(records.collect()))
        .set_set_identifier(identifier.cloned())
        .set_weight(set.routing.weight.map(|weight| i64::from(weight.get())))
        .set_geo_location(geo)
        .build();
    Ok(built.expect("name and type are given"))
}

fn geo_location(code: &GeoCode) -> Result<GeoLocation, String> {
    let place = GeoLocation::builder();
    match code {
        GeoCode::Default => Ok(place.country_code(ANYWHERE).build()),
        GeoCode::Continent(continent) => Ok(place.continent_code(continent.as_str()).build()),
        GeoCode::Country(country) => Ok(place.country_code(country.as_str()).build()),
        // Limits say so, too: plans do not have it.
        GeoCode::Region(region) => Err(format!("Route 53 does not know the place {region}")),
    }
}

/// The data of one record as Route 53 takes it.
fn value(data: &Rdata) -> String {
    let quoted = match data.rtype() {
        Rtype::TXT | Rtype::CAA => Quoted::Yes,
        _ => Quoted::No,
    };
    with_octal_escapes(&data.to_string(), quoted)
}

/// Whether quotes stand around what is escaped: there `\"` and `\\` are Route 53's, too.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Quoted {
    Yes,
    No,
}

/// From DNS: `\046` and `\.` are `\056`.
fn with_octal_escapes(text: &str, quoted: Quoted) -> String {
    escapes_rewritten(text, 10, |escape| match escape {
        Escape::Code(code) => format!("\\{code:03o}"),
        Escape::Plain(plain) if quoted == Quoted::No && plain.is_ascii() => {
            format!("\\{:03o}", u32::from(plain))
        }
        Escape::Plain(plain) => format!("\\{plain}"),
    })
}

/// To DNS: `\052` is `\042`.
fn with_decimal_escapes(text: &str) -> String {
    escapes_rewritten(text, 8, |escape| match escape {
        Escape::Code(code) => format!("\\{code:03}"),
        Escape::Plain(plain) => format!("\\{plain}"),
    })
}

/// What follows a backslash.
enum Escape {
    /// An octet in three digits.
    Code(u8),
    /// The character itself.
    Plain(char),
}

/// Finds escapes, their digits being of a radix, and puts something else in their place.
fn escapes_rewritten(text: &str, radix: u32, rewrite: impl Fn(Escape) -> String) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once('\\') {
        written.push_str(before);
        let digits = escaped.get(..3);
        let digits = digits.filter(|it| it.chars().all(|digit| digit.is_digit(radix)));
        let code = digits.and_then(|digits| u8::from_str_radix(digits, radix).ok());
        rest = match (code, escaped.chars().next()) {
            (Some(code), _) => {
                written.push_str(&rewrite(Escape::Code(code)));
                &escaped[3..]
            }
            (None, Some(plain)) => {
                written.push_str(&rewrite(Escape::Plain(plain)));
                &escaped[plain.len_utf8()..]
            }
            (None, None) => {
                written.push('\\');
                escaped
            }
        };
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests;
