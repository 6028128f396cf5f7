//! A zone of Route 53 and its rules. Pure.
//!
//! The words of refusals are Route 53's own where it was seen to say them; those about characters that are too many,
//! places that occur twice and kinds of routing that do not mix are ours.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use super::xml::{Action, Change, ResourceRecord, ResourceRecordSet, ResourceRecords};

/// From "Quotas on `ChangeResourceRecordSets`" in Route 53's developer guide. What is upserted counts twice.
const BATCH_RECORDS_MAX: usize = 1_000;
const BATCH_CHARACTERS_MAX: usize = 32_000;

/// The longest string of a TXT record (RFC 1035 §3.3).
const STRING_CHARACTERS_MAX: usize = 255;

/// How many versions a reading can be behind.
const PAST_MAX: usize = 16;

/// The name servers of every zone here.
pub(super) const NAME_SERVERS: [&str; 4] = [
    "ns-1.awsdns-01.com",
    "ns-2.awsdns-02.net",
    "ns-3.awsdns-03.org",
    "ns-4.awsdns-04.co.uk",
];

/// Which set, in the order in which Route 53 lists: by name with the labels reversed, then by type.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Key {
    reversed: String,
    rtype: String,
    identifier: String,
}

type Sets = BTreeMap<Key, ResourceRecordSet>;

/// Why a request is refused.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Refusal {
    /// It makes no sense.
    InvalidInput(String),
    /// It does not fit to what is there: everything that is wrong.
    InvalidChangeBatch(Vec<String>),
}

/// Some of the sets, and where the next begin.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) sets: Vec<ResourceRecordSet>,
    pub(super) next: Option<ResourceRecordSet>,
}

/// A zone.
#[derive(Debug)]
pub(super) struct Zone {
    apex: String,
    sets: Sets,
    /// What was there before the last changes, the youngest at the end.
    past: VecDeque<Sets>,
}

impl Zone {
    /// With its SOA and NS records.
    pub(super) fn new(apex: &str) -> Zone {
        let apex = written(apex);
        let soa = format!(
            "{}. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400",
            NAME_SERVERS[0]
        );
        let servers = NAME_SERVERS.iter().map(|server| format!("{server}."));
        let sets = [
            plain(&apex, "NS", 172_800, servers.collect()),
            plain(&apex, "SOA", 900, vec![soa]),
        ];
        Zone {
            apex,
            sets: sets.into_iter().map(|set| (key(&set), set)).collect(),
            past: VecDeque::new(),
        }
    }

    pub(super) fn apex(&self) -> &str {
        &self.apex
    }

    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Sets from a place on, as they were some changes ago.
    pub(super) fn page(&self, from: &Key, max: usize, behind: usize) -> Page {
        let version = self.past.len().saturating_sub(behind);
        let then = self.past.get(version).unwrap_or(&self.sets);
        let mut sets = then.range(from..).map(|(_, set)| set.clone());
        Page {
            sets: sets.by_ref().take(max).collect(),
            next: sets.next(),
        }
    }

    /// Puts a set there, whatever the rules say.
    pub(super) fn put(&mut self, set: ResourceRecordSet) {
        let set = normal(set);
        self.sets.insert(key(&set), set);
    }

    /// Makes all changes or none.
    pub(super) fn change(&mut self, changes: Vec<Change>) -> Result<(), Refusal> {
        let mut complaints = too_much(&changes);
        let mut sets = self.sets.clone();
        let mut made = Vec::new();
        for change in changes {
            let set = normal(change.resource_record_set);
            check_shape(change.action, &set).map_err(Refusal::InvalidInput)?;
            complaints.extend(self.check_place(&set));
            complaints.extend(check_values(&set));
            match apply(&mut sets, change.action, set) {
                Ok(key) => made.extend(key),
                Err(complaint) => complaints.push(complaint),
            }
        }
        complaints.extend(made.iter().filter_map(|key| self.conflict(&sets, key)));
        complaints.extend(self.check_apex(&sets));
        if !complaints.is_empty() {
            return Err(Refusal::InvalidChangeBatch(complaints));
        }
        self.past.push_back(std::mem::replace(&mut self.sets, sets));
        if self.past.len() > PAST_MAX {
            self.past.pop_front();
        }
        Ok(())
    }

    fn check_place(&self, set: &ResourceRecordSet) -> Option<String> {
        let (name, apex) = (&set.name, &self.apex);
        let inside = name == apex || name.ends_with(&format!(".{apex}"));
        (!inside).then(|| format!("RRSet with DNS name {name} is not permitted in zone {apex}"))
    }

    /// What does not go together with a set that is new.
    fn conflict(&self, sets: &Sets, key: &Key) -> Option<String> {
        let set = sets.get(key)?;
        let (name, rtype, apex) = (&set.name, &set.r#type, &self.apex);
        if rtype == "CNAME" && name == apex {
            return Some(format!(
                "RRSet of type CNAME with DNS name {name} is not permitted at apex in zone {apex}"
            ));
        }
        let of_name = Key::new(name, "", "");
        let at_name = sets.range(of_name..).map(|(_, other)| other);
        let at_name = at_name.take_while(|other| other.name == *name);
        let (same, different): (Vec<_>, Vec<_>) = at_name.partition(|it| it.r#type == *rtype);
        if different
            .iter()
            .any(|other| rtype == "CNAME" || other.r#type == "CNAME")
        {
            return Some(format!(
                "RRSet of type {rtype} with DNS name {name} is not permitted as it conflicts with other records with the \
                 same DNS name in zone {apex}"
            ));
        }
        let mut rivals = same.into_iter().filter(|other| *other != set);
        let complaint = rivals.find_map(|other| rivalry(set, other))?;
        Some(format!(
            "RRSet with DNS name {name}, type {rtype}, SetIdentifier {} cannot be created as {complaint}",
            set.set_identifier.as_deref().unwrap_or("null")
        ))
    }

    fn check_apex(&self, sets: &Sets) -> Option<String> {
        let has = |rtype: &str| {
            let mut at_apex = sets.values().filter(|set| set.name == self.apex);
            at_apex.any(|set| set.r#type == rtype)
        };
        if !has("SOA") {
            return Some("A HostedZone must contain exactly one SOA record.".into());
        }
        (!has("NS")).then(|| {
            "A HostedZone must contain at least one NS record for the zone itself.".to_owned()
        })
    }
}

impl Key {
    /// Where a listing begins.
    pub(super) fn new(name: &str, rtype: &str, identifier: &str) -> Key {
        Key {
            reversed: reversed(&written(name)),
            rtype: rtype.to_owned(),
            identifier: identifier.to_owned(),
        }
    }
}

/// Which set it was, if it is there now; what is wrong.
fn apply(sets: &mut Sets, action: Action, set: ResourceRecordSet) -> Result<Option<Key>, String> {
    let key = key(&set);
    let there = sets.get(&key);
    match (action, there) {
        (Action::Delete, None) => Err(format!(
            "Tried to delete {} but it was not found",
            told(&set)
        )),
        (Action::Delete, Some(there)) if *there != set => Err(format!(
            "Tried to delete {} but the values provided do not match the current values",
            told(&set)
        )),
        (Action::Delete, Some(_)) => {
            sets.remove(&key);
            Ok(None)
        }
        (Action::Create, Some(_)) => Err(format!(
            "Tried to create {} but it already exists",
            told(&set)
        )),
        (Action::Create, None) | (Action::Upsert, _) => {
            sets.insert(key.clone(), set);
            Ok(Some(key))
        }
    }
}

/// Why two sets of one name and type cannot stand beside each other.
fn rivalry(set: &ResourceRecordSet, other: &ResourceRecordSet) -> Option<&'static str> {
    if kind(set) != kind(other) {
        return Some("a set with another kind of routing exists with the same name and type");
    }
    match kind(set) {
        Kind::Place if set.geo_location == other.geo_location => {
            Some("a set for the same place exists with the same name and type")
        }
        Kind::Simple | Kind::Weight | Kind::Place | Kind::Other => None,
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Simple,
    Weight,
    Place,
    Other,
}

fn kind(set: &ResourceRecordSet) -> Kind {
    match (&set.set_identifier, &set.weight, &set.geo_location) {
        (None, _, _) => Kind::Simple,
        (Some(_), Some(_), _) => Kind::Weight,
        (Some(_), None, Some(_)) => Kind::Place,
        (Some(_), None, None) => Kind::Other,
    }
}

fn too_much(changes: &[Change]) -> Vec<String> {
    let times = |change: &Change| match change.action {
        Action::Upsert => 2,
        Action::Create | Action::Delete => 1,
    };
    let sum = |size: fn(&ResourceRecordSet) -> usize| -> usize {
        let sizes = changes
            .iter()
            .map(|it| times(it) * size(&it.resource_record_set));
        sizes.sum()
    };
    let records = sum(|set| set.values().count());
    let characters = sum(|set| set.values().map(|value| value.chars().count()).sum());
    let mut complaints = Vec::new();
    if records > BATCH_RECORDS_MAX {
        complaints.push(format!(
            "Number of records limit of {BATCH_RECORDS_MAX} exceeded."
        ));
    }
    if characters > BATCH_CHARACTERS_MAX {
        complaints.push(format!(
            "Number of characters limit of {BATCH_CHARACTERS_MAX} exceeded."
        ));
    }
    complaints
}

/// What makes no sense, whatever is there.
fn check_shape(action: Action, set: &ResourceRecordSet) -> Result<(), String> {
    let routings = [
        set.weight.is_some(),
        set.region.is_some(),
        set.geo_location.is_some(),
        set.failover.is_some(),
    ];
    let routings = routings.into_iter().filter(|it| *it).count();
    let has_data = set.ttl.is_some() && set.values().next().is_some();
    let rule = match (&set.set_identifier, routings) {
        (None, 1..) => "Missing field 'SetIdentifier'",
        (Some(_), 0) => {
            "Expected exactly one of [Weight, Region, Failover, MultiValueAnswer, or GeoLocation], but found none"
        }
        (Some(_), 2..) => {
            "Expected exactly one of [Weight, Region, Failover, MultiValueAnswer, or GeoLocation], but found more than one"
        }
        (None, 0) | (Some(_), 1) if has_data == set.alias_target.is_some() => {
            "Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found none"
        }
        (None, 0) | (Some(_), 1) => return Ok(()),
    };
    let action = match action {
        Action::Create => "CREATE",
        Action::Delete => "DELETE",
        Action::Upsert => "UPSERT",
    };
    Err(format!(
        "Invalid request: {rule} in Change with [Action={action}, Name={}, Type={}, SetIdentifier={}]",
        set.name,
        set.r#type,
        set.set_identifier.as_deref().unwrap_or("null"),
    ))
}

/// What no record of the type can say. Only the two types whose mistakes are common are looked at.
fn check_values(set: &ResourceRecordSet) -> Option<String> {
    let problem = set.values().find_map(|value| match set.r#type.as_str() {
        "A" if value.parse::<Ipv4Addr>().is_err() => Some((
            "ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)",
            value,
        )),
        "TXT" if !value.starts_with('"') || !value.ends_with('"') => Some((
            "InvalidCharacterString (Value should be enclosed in quotation marks)",
            value,
        )),
        "TXT" if strings(value).any(|length| length > STRING_CHARACTERS_MAX) => {
            Some(("CharacterStringTooLong (Value is too long)", value))
        }
        _ => None,
    });
    let (problem, value) = problem?;
    Some(format!(
        "Invalid Resource Record: 'FATAL problem: {problem} encountered with '{value}''"
    ))
}

/// The lengths of quoted strings, an escape counting for one.
fn strings(value: &str) -> impl Iterator<Item = usize> {
    let mut lengths = Vec::new();
    let (mut inside, mut rest) = (false, value);
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '\\' if rest.get(1..4).is_some_and(is_octal) => 4,
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            other => other.len_utf8(),
        };
        match (next, inside) {
            ('"', _) => {
                inside = !inside;
                lengths.extend(inside.then_some(0));
            }
            (_, true) => *lengths.last_mut().expect("a string has begun") += 1,
            (_, false) => {}
        }
        rest = &rest[length..];
    }
    lengths.into_iter()
}

fn is_octal(text: &str) -> bool {
    text.bytes().all(|octet| matches!(octet, b'0'..=b'7'))
}

fn plain(name: &str, rtype: &str, ttl: u32, values: Vec<String>) -> ResourceRecordSet {
    let records = values.into_iter().map(|value| ResourceRecord { value });
    ResourceRecordSet {
        name: name.to_owned(),
        r#type: rtype.to_owned(),
        ttl: Some(ttl),
        resource_records: Some(ResourceRecords {
            resource_record: records.collect(),
        }),
        ..ResourceRecordSet::default()
    }
}

fn key(set: &ResourceRecordSet) -> Key {
    let identifier = set.set_identifier.as_deref().unwrap_or_default();
    Key::new(&set.name, &set.r#type, identifier)
}

/// As it is kept: the name as it is listed, the data in one order.
fn normal(mut set: ResourceRecordSet) -> ResourceRecordSet {
    set.name = written(&set.name);
    if let Some(records) = &mut set.resource_records {
        records.resource_record.sort();
    }
    set
}

/// A name as Route 53 lists it: lower case, a final dot, and all but letters, digits, hyphens, underscores escaped.
fn written(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name.strip_suffix('.').unwrap_or(name);
    while let Some(next) = rest.chars().next() {
        if next == '\\' && rest.get(1..4).is_some_and(is_octal) {
            text.push_str(&rest[..4]);
            rest = &rest[4..];
            continue;
        }
        match next.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9' | '-' | '_' | '.') => text.push(plain),
            other => {
                let mut octets = [0; 4];
                for octet in other.encode_utf8(&mut octets).bytes() {
                    write!(text, "\\{octet:03o}").expect("a string takes any text");
                }
            }
        }
        rest = &rest[next.len_utf8()..];
    }
    text + "."
}

fn reversed(name: &str) -> String {
    let labels = name.trim_end_matches('.').split('.').rev();
    labels.fold(String::new(), |text, label| text + label + ".")
}

fn told(set: &ResourceRecordSet) -> String {
    let (name, rtype) = (&set.name, &set.r#type);
    match &set.set_identifier {
        None => format!("resource record set [name='{name}', type='{rtype}']"),
        Some(identifier) => format!(
            "resource record set [name='{name}', type='{rtype}', set identifier='{identifier}']"
        ),
    }
}

#[cfg(test)]
mod tests;
