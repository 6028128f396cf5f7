//! From a status, and the slices it names, to a zone.
//!
//! A status is believed as little as any other input: what no zone could hold is told, all of it, and nothing is
//! printed.

use std::collections::BTreeMap;

use api::parse;
use api::problem::FieldPath;
use api::record::Class;
use api::routing::Routing;
use api::zone::{ZoneEntry, ZoneStatus};
use api::{Zone, ZoneSlice};
use dns::routing::Membership;
use dns::zonefile::Line;
use dns::{Name, Rdata, RecordSet, Rtype, Serial, SetKey, Soa, Ttl, Version};
use serde_json::{Value, json};

use crate::standing::Standing;

/// How many problems of a status are shown: it was not written by the reader, who can do little about each.
const PROBLEMS_MAX: usize = 20;

/// One version of a zone, and what its status says about it.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) version: Version,
    /// The hash in the status.
    hash: Option<String>,
}

/// A record of a status or a slice.
struct Entry {
    name: Name,
    membership: Option<Membership>,
    ttl: Ttl,
    data: Rdata,
}

impl Content {
    /// The version that a status stands for, or why there is none.
    pub(super) fn read(
        zone: &Zone,
        slices: &BTreeMap<String, ZoneSlice>,
    ) -> anyhow::Result<Content> {
        let status = zone.status.clone().unwrap_or_default();
        let (Some(fqdn), [first, rest @ ..]) = (&status.fqdn, status.entries.as_slice()) else {
            let standing = Standing::of(&status.conditions);
            anyhow::bail!("it has no content yet: {standing}");
        };
        let mut problems = Vec::new();
        let version = assemble(fqdn, first, rest, &status, slices, &mut problems);
        match version.filter(|_| problems.is_empty()) {
            Some(version) => Ok(Content {
                version,
                hash: status.hash,
            }),
            None => Err(unusable(&problems)),
        }
    }

    /// A hash of our form that is not the content's. One of another form is a peer's.
    pub(super) fn doubt(&self) -> Option<String> {
        let computed = self.version.zone.hash().to_string();
        let stated = self
            .hash
            .as_ref()
            .filter(|stated| stated.len() == computed.len())?;
        (*stated != computed).then(|| {
            format!("its content has the hash {computed}, but its status says {stated}; was the status edited?")
        })
    }

    /// Every record as data, the SOA first; of routed sets the default members, as in a zone file.
    pub(super) fn records(&self) -> Vec<Value> {
        let Version { zone, .. } = &self.version;
        let record = |name: &Name, ttl: Ttl, data: &Rdata| {
            json!({ "name": name.to_string(), "ttl": ttl.as_secs(), "class": "IN",
                "type": data.rtype().to_string(), "rdata": data.to_string() })
        };
        let mut records = vec![record(zone.origin(), zone.soa().ttl, &self.version.soa())];
        for (key, set) in zone.sets() {
            records.extend(
                set.data()
                    .iter()
                    .map(|data| record(&key.name, set.ttl(), data)),
            );
        }
        records
    }
}

fn unusable(problems: &[String]) -> anyhow::Error {
    let shown = problems.iter().take(PROBLEMS_MAX).map(String::as_str);
    let mut text = shown.collect::<Vec<_>>().join("\n  ");
    if problems.len() > PROBLEMS_MAX {
        text = format!("{text}\n  and {} more", problems.len() - PROBLEMS_MAX);
    }
    anyhow::anyhow!("its status is not the content of a zone:\n  {text}")
}

fn assemble(
    fqdn: &str,
    first: &ZoneEntry,
    rest: &[ZoneEntry],
    status: &ZoneStatus,
    slices: &BTreeMap<String, ZoneSlice>,
    problems: &mut Vec<String>,
) -> Option<Version> {
    let origin = note(problems, "status.fqdn", Name::parse(fqdn))?;
    let (soa, serial) = start_of_authority(first, &origin, problems)?;
    let mut entries = Vec::new();
    for (index, entry) in rest.iter().enumerate() {
        let at = format!("status.entries[{}]", index + 1);
        entries.extend(read_entry(entry, &origin, &at, problems));
    }
    for name in &status.slices {
        entries.extend(
            slices
                .get(name)
                .into_iter()
                .flat_map(|slice| read_slice(slice, name, problems)),
        );
    }
    let mut zone = dns::Zone::new(origin, soa);
    for (key, members) in grouped(entries) {
        let put = RecordSet::assemble(members).map_err(|error| error.to_string());
        let put = put.and_then(|set| {
            zone.put(key.clone(), set)
                .map_err(|error| error.to_string())
        });
        note(problems, &key.to_string(), put);
    }
    Some(Version { zone, serial })
}

fn start_of_authority(
    entry: &ZoneEntry,
    origin: &Name,
    problems: &mut Vec<String>,
) -> Option<(Soa, Serial)> {
    let at = "status.entries[0]";
    let entry = read_entry(entry, origin, at, problems)?;
    let ours = entry.name == *origin && entry.membership.is_none();
    let soa = Soa::from_rdata(entry.ttl, &entry.data).filter(|_| ours);
    let rule = format!("must be the SOA record of {origin}");
    note(problems, at, soa.ok_or(rule))
}

fn read_entry(
    entry: &ZoneEntry,
    origin: &Name,
    at: &str,
    problems: &mut Vec<String>,
) -> Option<Entry> {
    if entry.class != Class::In {
        problems.push(format!("{at}: a class other than IN cannot be exported"));
        return None;
    }
    let name = note(problems, &format!("{at}.fqdn"), Name::parse(&entry.fqdn));
    let ttl = note(problems, &format!("{at}.ttl"), Ttl::from_secs(entry.ttl));
    let rtype = note(
        problems,
        &format!("{at}.type"),
        entry.type_.parse::<Rtype>(),
    )?;
    // Peers leave names in the data as they were written: relative to the zone.
    let data = Rdata::parse(rtype, &entry.rdata, origin);
    let data = note(problems, &format!("{at}.rdata"), data);
    let membership = match &entry.routing {
        Some(spec) => Some(routing(spec, at, problems)?),
        None => None,
    };
    Some(Entry {
        name: name?,
        membership,
        ttl: ttl?,
        data: data?,
    })
}

fn routing(spec: &Routing, at: &str, problems: &mut Vec<String>) -> Option<Membership> {
    let read = parse::routing::parse(spec, &FieldPath::root(&format!("{at}.routing")));
    read.map_err(|found| problems.extend(found.iter().map(ToString::to_string)))
        .ok()
}

fn read_slice(slice: &ZoneSlice, name: &str, problems: &mut Vec<String>) -> Vec<Entry> {
    match parse::zone_slice::parse(slice) {
        Ok(lines) => {
            let entry = |Line { record, membership }: Line| Entry {
                name: record.name,
                membership,
                ttl: record.ttl,
                data: record.data,
            };
            lines.into_iter().map(entry).collect()
        }
        Err(found) => {
            problems.extend(
                found
                    .iter()
                    .map(|problem| format!("slice {name}: {problem}")),
            );
            Vec::new()
        }
    }
}

fn grouped(entries: Vec<Entry>) -> BTreeMap<SetKey, Vec<(Option<Membership>, Ttl, Rdata)>> {
    let mut sets = BTreeMap::<SetKey, Vec<_>>::new();
    for entry in entries {
        sets.entry(SetKey::new(entry.name, entry.data.rtype()))
            .or_default()
            .push((entry.membership, entry.ttl, entry.data));
    }
    sets
}

/// The value, or a problem with where it is.
fn note<T, E: std::fmt::Display>(
    problems: &mut Vec<String>,
    at: &str,
    read: Result<T, E>,
) -> Option<T> {
    read.map_err(|error| problems.push(format!("{at}: {error}")))
        .ok()
}

#[cfg(test)]
mod tests;
