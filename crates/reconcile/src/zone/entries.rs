//! A version as the entries of a status, and back (Z8).

use std::collections::BTreeSet;

use api::parse;
use api::problem::FieldPath;
use api::record::Class;
use api::zone::{ZoneEntry, ZoneStatus};
use dns::routing::Membership;
use dns::{Name, Rdata, Rtype, Serial, Soa, Ttl, Version, Zone};

/// A record as an entry tells it.
type Told = (Name, Option<Membership>, Ttl, Rdata);

/// All entries of a version, the SOA first.
pub(super) fn entries(version: &Version) -> Vec<ZoneEntry> {
    let mut entries = vec![soa_entry(version)];
    for (key, set) in version.zone.sets() {
        entries.extend(set.records().map(|record| entry(&key.name, record)));
    }
    entries
}

/// The first entry of a version.
pub(super) fn soa_entry(version: &Version) -> ZoneEntry {
    let soa = version.zone.soa();
    let record = (None, soa.ttl, &version.soa());
    ZoneEntry {
        rdata: soa.entry_text(version.serial),
        ..entry(version.zone.origin(), record)
    }
}

/// Whether the entries of a status, whoever wrote them, are what `zone` says under the serial of that status.
///
/// A zone that comes from another controller keeps its serial this way, although that one's hash is another.
pub(super) fn say_the_same(status: &ZoneStatus, zone: &Zone) -> bool {
    let Some(serial) = status.serial.map(Serial) else {
        return false;
    };
    // One that cannot be read is none of ours.
    let read = status
        .entries
        .iter()
        .map(|entry| read(entry, zone.origin()));
    let Some(read): Option<Vec<Told>> = read.collect() else {
        return false;
    };
    let (soas, records): (Vec<_>, Vec<_>) = read
        .into_iter()
        .partition(|(_, _, _, data)| data.rtype() == Rtype::SOA);
    let [(name, None, ttl, soa)] = soas.as_slice() else {
        return false;
    };
    let expected = zone.sets().flat_map(|(key, set)| {
        let records = set.records();
        records.map(|(membership, ttl, data)| {
            (key.name.clone(), membership.cloned(), ttl, data.clone())
        })
    });
    name == zone.origin()
        && Soa::from_rdata(*ttl, soa) == Some((zone.soa().clone(), serial))
        && records.into_iter().collect::<BTreeSet<_>>() == expected.collect()
}

fn entry(name: &Name, (membership, ttl, data): (Option<&Membership>, Ttl, &Rdata)) -> ZoneEntry {
    ZoneEntry {
        fqdn: name.to_string(),
        type_: data.rtype().to_string(),
        class: Class::In,
        ttl: ttl.as_secs(),
        rdata: data.to_string(),
        routing: membership.map(Into::into),
    }
}

fn read(entry: &ZoneEntry, origin: &Name) -> Option<Told> {
    let rtype = entry.type_.parse().ok()?;
    let data = Rdata::parse(rtype, &entry.rdata, origin).ok()?;
    let ttl = Ttl::from_secs(entry.ttl).ok()?;
    let at = FieldPath::root("routing");
    let routing = entry.routing.as_ref();
    let membership = routing.map(|spec| parse::routing::parse(spec, &at));
    let membership = membership.transpose().ok()?;
    let told = (Name::parse(&entry.fqdn).ok()?, membership, ttl, data);
    (entry.class == Class::In).then_some(told)
}
