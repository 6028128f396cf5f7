//! A version as the entries of a status, and back (Z8).

use std::collections::BTreeSet;

use api::record::Class;
use api::zone::{ZoneEntry, ZoneStatus};
use dns::{Name, Rdata, Rtype, Serial, Soa, Ttl, Version, Zone};

/// All entries of a version, the SOA first.
pub(super) fn entries(version: &Version) -> Vec<ZoneEntry> {
    let mut entries = vec![soa_entry(version)];
    for (key, set) in version.zone.sets() {
        let data = set.data().iter();
        entries.extend(data.map(|data| entry(&key.name, set.ttl(), data)));
    }
    entries
}

/// The first entry of a version.
pub(super) fn soa_entry(version: &Version) -> ZoneEntry {
    let soa = version.zone.soa();
    ZoneEntry {
        rdata: soa.entry_text(version.serial),
        ..entry(version.zone.origin(), soa.ttl, &version.soa())
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
    let Some(read): Option<Vec<_>> = read.collect() else {
        return false;
    };
    let (soas, records): (Vec<_>, Vec<_>) = read
        .into_iter()
        .partition(|(_, _, data)| data.rtype() == Rtype::SOA);
    let [(name, ttl, soa)] = soas.as_slice() else {
        return false;
    };
    let expected = zone.sets().flat_map(|(key, set)| {
        let data = set.data().iter();
        data.map(|data| (key.name.clone(), set.ttl(), data.clone()))
    });
    name == zone.origin()
        && Soa::from_rdata(*ttl, soa) == Some((zone.soa().clone(), serial))
        && records.into_iter().collect::<BTreeSet<_>>() == expected.collect()
}

fn entry(name: &Name, ttl: Ttl, data: &Rdata) -> ZoneEntry {
    ZoneEntry {
        fqdn: name.to_string(),
        type_: data.rtype().to_string(),
        class: Class::In,
        ttl: ttl.as_secs(),
        rdata: data.to_string(),
        routing: None,
    }
}

fn read(entry: &ZoneEntry, origin: &Name) -> Option<(Name, Ttl, Rdata)> {
    let rtype = entry.type_.parse().ok()?;
    let data = Rdata::parse(rtype, &entry.rdata, origin).ok()?;
    let ttl = Ttl::from_secs(entry.ttl).ok()?;
    let plain = entry.class == Class::In && entry.routing.is_none();
    plain.then_some((Name::parse(&entry.fqdn).ok()?, ttl, data))
}
