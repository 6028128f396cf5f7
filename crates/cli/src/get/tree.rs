//! Zones by name, each with its records, and what keeps them from being answered.
//!
//! The tree follows names, not references: it shows what DNS will make of the objects. A Record stands where it was
//! adopted, else where it asks to be, else below the nearest zone of its name.

mod draw;

use std::collections::BTreeMap;

use api::parse;
use api::{Decoded, Record, Zone, ZoneKey};
use dns::Name;
use kube::{Resource as _, ResourceExt};

use crate::standing::Standing;
pub(super) use draw::Drawing;

/// All zones and records of a listing.
#[derive(Debug)]
pub(super) struct Forest {
    zones: Vec<ZoneNode>,
    /// Zones above which no other is listed.
    roots: Vec<usize>,
    /// Records that belong to no zone of the listing.
    loose: Vec<Leaf>,
}

#[derive(Debug)]
struct ZoneNode {
    key: ZoneKey,
    /// Nothing while it waits for the zone it is relative to.
    name: Option<Name>,
    /// The name as it is written, where there is no other.
    written: String,
    serial: Option<u32>,
    standing: Standing,
    records: Vec<Leaf>,
    /// The zones below, by their place in the list.
    below: Vec<usize>,
}

#[derive(Debug)]
struct Leaf {
    key: ZoneKey,
    name: Option<Name>,
    /// Relative to the zone it stands under, where it can be.
    written: String,
    /// TTL, type and data.
    content: String,
    standing: Standing,
}

impl Forest {
    /// Finds every zone's and every record's place. Records that have none are of interest in `namespace` only, or
    /// everywhere.
    pub(super) fn grow(
        zones: Vec<Decoded<Zone>>,
        records: Vec<Decoded<Record>>,
        namespace: Option<&str>,
    ) -> Forest {
        let mut zones: Vec<ZoneNode> = zones.into_iter().map(ZoneNode::new).collect();
        zones.sort_by(|one, other| (&one.name, &one.key).cmp(&(&other.name, &other.key)));
        let places = Places::of(&zones);
        let mut loose = Vec::new();
        for record in records {
            let home = places.of_record(&record);
            let origin = home.and_then(|home| zones[home].name.clone());
            let leaf = Leaf::new(record, origin.as_ref());
            home.map_or(&mut loose, |home| &mut zones[home].records)
                .push(leaf);
        }
        for leaves in zones
            .iter_mut()
            .map(|zone| &mut zone.records)
            .chain([&mut loose])
        {
            leaves.sort_by(|one, other| one.order().cmp(&other.order()));
        }
        loose.retain(|leaf: &Leaf| namespace.is_none_or(|wanted| leaf.key.namespace == wanted));
        let roots = attach(&mut zones, &places);
        Forest {
            zones,
            roots,
            loose,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.zones.is_empty() && self.loose.is_empty()
    }
}

/// Which zone is called what.
struct Places {
    by_key: BTreeMap<ZoneKey, usize>,
    by_name: BTreeMap<Name, usize>,
}

impl Places {
    fn of(zones: &[ZoneNode]) -> Places {
        let (mut by_key, mut by_name) = (BTreeMap::new(), BTreeMap::new());
        for (at, zone) in zones.iter().enumerate() {
            by_key.insert(zone.key.clone(), at);
            let Some(name) = zone.name.clone() else {
                continue;
            };
            let first = *by_name.entry(name.clone()).or_insert(at);
            // Of two with one name, what stands below them belongs to the one that is accepted.
            if zones[first].standing.is_bad() && !zone.standing.is_bad() {
                by_name.insert(name, at);
            }
        }
        Places { by_key, by_name }
    }

    /// The nearest zone at or above a name.
    fn nearest(&self, name: &Name) -> Option<usize> {
        name.ancestors()
            .find_map(|name| self.by_name.get(&name).copied())
    }

    fn of_record(&self, record: &Decoded<Record>) -> Option<usize> {
        let adopted = ZoneKey::of_parent(record.meta());
        let asked = || match record {
            Decoded::Object(record) => {
                let own = record.namespace().unwrap_or_default();
                record.spec.zone_ref.as_ref().map(|zone| zone.key(&own))
            }
            Decoded::Undecodable(_) => None,
        };
        match adopted.or_else(asked) {
            Some(key) => self.by_key.get(&key).copied(),
            None => record_name(record).and_then(|name| self.nearest(&name)),
        }
    }
}

/// Hangs every zone below the nearest one above it. Returns those that have none.
fn attach(zones: &mut [ZoneNode], places: &Places) -> Vec<usize> {
    let mut roots = Vec::new();
    for at in 0..zones.len() {
        let parent = zones[at].name.as_ref().and_then(Name::parent);
        match parent.and_then(|parent| places.nearest(&parent)) {
            Some(above) => zones[above].below.push(at),
            None => roots.push(at),
        }
    }
    roots
}

impl ZoneNode {
    fn new(zone: Decoded<Zone>) -> ZoneNode {
        let key = key(&zone);
        let node = ZoneNode {
            key,
            name: None,
            written: String::new(),
            serial: None,
            standing: Standing::Unknown,
            records: Vec::new(),
            below: Vec::new(),
        };
        match zone {
            Decoded::Undecodable(object) => ZoneNode {
                standing: Standing::unreadable(&object.problems),
                ..node
            },
            Decoded::Object(zone) => {
                let (claim, _) = parse::zone::parse(&zone);
                let claimed = claim
                    .place
                    .as_ref()
                    .and_then(|place| place.full_name().cloned());
                let status = zone.status.unwrap_or_default();
                let name = status
                    .fqdn
                    .as_deref()
                    .and_then(|name| Name::parse(name).ok());
                ZoneNode {
                    name: name.or(claimed),
                    written: zone.spec.domain_name,
                    serial: status.serial,
                    standing: Standing::of(&status.conditions),
                    ..node
                }
            }
        }
    }
}

impl Leaf {
    fn new(record: Decoded<Record>, origin: Option<&Name>) -> Leaf {
        let (key, name) = (key(&record), record_name(&record));
        let relative = origin
            .zip(name.as_ref())
            .and_then(|(origin, name)| name.relative_to(origin));
        let (written, content, standing) = match record {
            Decoded::Undecodable(object) => {
                let standing = Standing::unreadable(&object.problems);
                (String::new(), String::new(), standing)
            }
            Decoded::Object(record) => {
                let spec = record.spec;
                let ttl = spec.ttl.map(|ttl| format!("{ttl} ")).unwrap_or_default();
                let conditions = record.status.unwrap_or_default().conditions;
                let content = format!("{ttl}{} {}", spec.type_, spec.rdata);
                (spec.domain_name, content, Standing::of(&conditions))
            }
        };
        let written = relative.map_or(written, |relative| relative.to_string());
        Leaf {
            key,
            name,
            written,
            content,
            standing,
        }
    }

    /// By name, then by content; those without a name last.
    fn order(&self) -> (bool, Option<&Name>, &str, &ZoneKey) {
        (
            self.name.is_none(),
            self.name.as_ref(),
            &self.content,
            &self.key,
        )
    }
}

fn key<K: kube::Resource<DynamicType = ()>>(object: &Decoded<K>) -> ZoneKey {
    let meta = object.meta();
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    ZoneKey::new(&text(&meta.namespace), &text(&meta.name))
}

/// The name the controller found, or the one the spec says in full.
fn record_name(record: &Decoded<Record>) -> Option<Name> {
    let Decoded::Object(record) = record else {
        return None;
    };
    let found = record
        .status
        .as_ref()
        .and_then(|status| status.fqdn.as_deref());
    let (claim, _) = parse::record::parse(record);
    let claimed = claim
        .place
        .as_ref()
        .and_then(|place| place.full_name().cloned());
    found.and_then(|name| Name::parse(name).ok()).or(claimed)
}

#[cfg(test)]
mod tests;
