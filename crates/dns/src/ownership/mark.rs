//! One mark: what its name and its data say.

use std::collections::{BTreeMap, BTreeSet};

use super::{OWNER_CHARS, Owner, OwnerId, hash36, short_hash36};
use crate::hosted::{HostedKey, HostedSet};
use crate::routing::Routing;
use crate::{Name, NameError, Rdata, RecordSet, Rtype, Ttl};

/// What every name of a mark begins with that Kuadrant or we have made.
const PREFIX: &str = "kuadrant-";

/// What the leftmost `*` becomes, which may stand only there.
const WILDCARD: &str = "wildcard";

/// What tells a hash from a name: no host begins with it.
const HASH_SIGN: &str = "-";

/// How many characters of a hash stand for a name: as good as no two names of a zone share them.
const NAME_CHARS: usize = 20;

const HERITAGE: &str = "heritage=external-dns";
const LABEL_PREFIX: &str = "external-dns/";
const OWNER: &str = "owner";
const VERSION: &str = "version";
const VERSION_1: &str = "1";

/// What we wrote once and the peer never does: it is read as if it were not there.
const CLUSTER: &str = "cluster";

/// Between owners that older marks name together.
const OWNERS_SEPARATOR: &str = "&&";

/// The most octets a character string holds (RFC 1035 §3.3).
const STRING_OCTETS_MAX: usize = 255;

/// What a mark says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mark {
    /// Who has a part in the set.
    pub owners: BTreeSet<OwnerId>,
    /// Whose form it has.
    pub dialect: Dialect,
    /// What else the owner keeps there.
    pub labels: BTreeMap<String, String>,
}

/// Whose form a mark has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// Ours, and that of today's Kuadrant: one mark for each owner, who may share the set.
    Shared,
    /// That of Kuadrant's first versions: all owners in one mark.
    Legacy,
    /// That of external-dns: one owner, who shares with nobody.
    Exclusive,
}

/// Why a set cannot be marked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the record that marks its owner would have a name that is too long: {0}")]
pub struct MarkError(NameError);

/// Which sets a mark is about.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Subject {
    /// The set of a name and a type; without a type, every set of the name.
    Set(Name, Option<Rtype>),
    /// The set of a type and of the one name with this hash.
    Hashed(Rtype, String),
}

impl Subject {
    /// The name that it is about, if that can be told.
    pub(super) fn into_name(self) -> Option<Name> {
        match self {
            Subject::Set(name, _) => Some(name),
            // What it stands for is known to whoever has the name.
            Subject::Hashed(..) => None,
        }
    }
}

/// The key of the mark that an owner puts beside a set of a zone.
pub(crate) fn key_of(
    owner: &OwnerId,
    set: &HostedKey,
    apex: &Name,
) -> Result<HostedKey, MarkError> {
    let owner = short_hash36(owner.as_str(), OWNER_CHARS);
    let rtype = set.rtype.to_string().to_ascii_lowercase();
    let prefix = format!("{PREFIX}{owner}-{rtype}-");
    let plain = (!is_ambiguous(&set.name)).then(|| prefixed(&prefix, &set.name));
    let name = match plain {
        Some(Ok(name)) => name,
        // Names under the apex are shorter than the name itself, but for an apex that is nearly too long.
        Some(Err(_)) | None => hashed(&prefix, &set.name, apex).map_err(MarkError)?,
    };
    Ok(HostedKey {
        name,
        rtype: Rtype::TXT,
        identifier: set.identifier.clone(),
        share: None,
    })
}

/// The mark that an owner puts beside a set, with what the set's traffic is.
pub(crate) fn set_of(
    owner: &Owner,
    labels: &BTreeMap<String, String>,
    ttl: Ttl,
    routing: Routing,
) -> HostedSet {
    let mut all = labels.clone();
    all.insert(OWNER.to_owned(), owner.id.to_string());
    all.insert(VERSION.to_owned(), VERSION_1.to_owned());
    let mut text = HERITAGE.to_owned();
    for (label, value) in &all {
        text.extend([",", LABEL_PREFIX, label, "=", value]);
    }
    let records = RecordSet::new([(ttl, strings(&text))]).expect("one TXT record is a set");
    HostedSet { records, routing }
}

/// Whether a TXT set is an owner's own mark, and nothing else.
pub(crate) fn is_of(set: &RecordSet, owner: &Owner) -> bool {
    let marks: Option<Vec<Mark>> = set.data().iter().map(parse).collect();
    marks.is_some_and(|marks| {
        let own = BTreeSet::from([owner.id.clone()]);
        marks.iter().all(|mark| mark.owners == own)
    })
}

/// Whether a TXT set says what the mark would that an owner makes.
pub(crate) fn says(set: &RecordSet, owner: &Owner, labels: &BTreeMap<String, String>) -> bool {
    let [data] = set.data() else {
        return false;
    };
    parse(data).is_some_and(|mark| {
        let shared = mark.dialect == Dialect::Shared;
        shared && mark.owners == [owner.id.clone()].into() && mark.labels == *labels
    })
}

/// What a TXT set marks, if it is a mark at all.
pub(super) fn read(key: &HostedKey, set: &RecordSet, apex: &Name) -> Option<(Mark, Vec<Subject>)> {
    if key.rtype != Rtype::TXT {
        return None;
    }
    let mut mark: Option<Mark> = None;
    for one in set.data().iter().filter_map(parse) {
        match &mut mark {
            Some(mark) => mark.owners.extend(one.owners),
            None => mark = Some(one),
        }
    }
    let mut mark = mark?;
    let subjects = subjects(&key.name, &mut mark, apex);
    Some((mark, subjects))
}

/// The subject that a hashed mark of a set would have.
pub(super) fn hashed_subject(set: &HostedKey) -> Subject {
    Subject::Hashed(set.rtype, name_hash(&set.name))
}

/// Whether the mark of a name would be taken for another's: `wildcard.example.org` looks like `*.example.org` there, and
/// what begins with a hyphen like a hash.
fn is_ambiguous(name: &Name) -> bool {
    let first = name.labels().next().unwrap_or_default();
    first == WILDCARD.as_bytes() || first.starts_with(HASH_SIGN.as_bytes())
}

/// Whether the marks of a name stand under a hash, or could.
pub(super) fn may_be_hashed(name: &Name) -> bool {
    // A mark adds at least this much to the name: its prefix and the shortest type.
    let added = PREFIX.len() + OWNER_CHARS + "-a-".len();
    let first = name.labels().next().map_or(0, <[u8]>::len);
    is_ambiguous(name)
        || first + added + "aaaa".len() > 63
        || name.as_wire().len() + added + 4 > 255
}

fn prefixed(prefix: &str, name: &Name) -> Result<Name, NameError> {
    let first = name.labels().next().unwrap_or_default();
    let first = if name.is_wildcard() {
        WILDCARD.as_bytes()
    } else {
        first
    };
    let label = [prefix.as_bytes(), first].concat();
    let rest = name.parent().unwrap_or_else(Name::root);
    below(&label, &rest)
}

fn hashed(prefix: &str, name: &Name, apex: &Name) -> Result<Name, NameError> {
    let label = format!("{prefix}{HASH_SIGN}{}", name_hash(name));
    below(label.as_bytes(), apex)
}

fn name_hash(name: &Name) -> String {
    let mut hash = hash36(&name.to_string());
    hash.truncate(NAME_CHARS);
    hash
}

/// A name with one label more.
fn below(label: &[u8], name: &Name) -> Result<Name, NameError> {
    let length = u8::try_from(label.len()).unwrap_or(u8::MAX);
    Name::from_wire(&[&[length], label, name.as_wire()].concat())
}

/// The text in as many strings as it takes.
fn strings(text: &str) -> Rdata {
    let mut wire = Vec::with_capacity(text.len() + text.len() / STRING_OCTETS_MAX + 1);
    for string in text.as_bytes().chunks(STRING_OCTETS_MAX) {
        wire.push(u8::try_from(string.len()).expect("a chunk fits a string"));
        wire.extend_from_slice(string);
    }
    Rdata::from_wire(Rtype::TXT, &wire).expect("strings are TXT data")
}

/// The text of TXT data, its strings put together.
fn text(data: &Rdata) -> Option<String> {
    let mut wire = data.as_wire();
    let mut text = Vec::with_capacity(wire.len());
    while let Some((length, rest)) = wire.split_first() {
        let (string, behind) = rest.split_at_checked(usize::from(*length))?;
        text.extend_from_slice(string);
        wire = behind;
    }
    String::from_utf8(text).ok()
}

fn parse(data: &Rdata) -> Option<Mark> {
    let text = text(data)?;
    // Some providers hand the quotes through that others only write.
    let mut words = text.trim_matches('"').split(',');
    if words.next() != Some(HERITAGE) {
        return None;
    }
    let mut labels: BTreeMap<String, String> = words
        .filter_map(|word| word.strip_prefix(LABEL_PREFIX)?.split_once('='))
        .map(|(label, value)| (label.to_owned(), value.to_owned()))
        .collect();
    let owners = labels.remove(OWNER)?;
    let dialect = match labels.remove(VERSION) {
        Some(_) => Dialect::Shared,
        None => Dialect::Exclusive,
    };
    labels.remove(CLUSTER);
    Some(Mark {
        owners: owners.split(OWNERS_SEPARATOR).map(OwnerId::new).collect(),
        dialect,
        labels,
    })
}

/// Every set that the name of a mark can mean. Where a name can mean two, both count: what is marked too much is touched
/// too little.
fn subjects(name: &Name, mark: &mut Mark, apex: &Name) -> Vec<Subject> {
    let Some(parent) = name.parent() else {
        return Vec::new();
    };
    let Some(label) = name.labels().next().and_then(|it| str::from_utf8(it).ok()) else {
        return Vec::new();
    };
    let Some(rest) = label.strip_prefix(PREFIX) else {
        let typed = typed(label, &parent).into_iter();
        return typed.chain([Subject::Set(name.clone(), None)]).collect();
    };
    if mark.dialect == Dialect::Exclusive {
        mark.dialect = Dialect::Legacy;
        let typed = typed(rest, &parent).into_iter();
        return typed.chain(untyped(rest, &parent)).collect();
    }
    let own = mark.owners.iter().find_map(|owner| {
        let hash = short_hash36(owner.as_str(), OWNER_CHARS);
        rest.strip_prefix(&hash)?.strip_prefix('-')
    });
    let Some(own) = own else {
        return Vec::new();
    };
    let hashed = (parent == *apex).then(|| hashed_name(own)).flatten();
    hashed.or_else(|| typed(own, &parent)).into_iter().collect()
}

/// `<type>-<first label>`
fn typed(text: &str, parent: &Name) -> Option<Subject> {
    let (rtype, first) = text.split_once('-')?;
    let rtype = rtype.parse().ok()?;
    Some(Subject::Set(unmarked(first, parent)?, Some(rtype)))
}

/// `<first label>`
fn untyped(first: &str, parent: &Name) -> Option<Subject> {
    Some(Subject::Set(unmarked(first, parent)?, None))
}

/// `<type>--<hash>`
fn hashed_name(text: &str) -> Option<Subject> {
    let (rtype, hash) = text.split_once('-')?;
    let hash = hash.strip_prefix(HASH_SIGN)?;
    let is_hash = hash.len() == NAME_CHARS && hash.bytes().all(|it| it.is_ascii_alphanumeric());
    is_hash.then_some(Subject::Hashed(rtype.parse().ok()?, hash.to_owned()))
}

/// The name that a mark's label stands for. Only a whole label `wildcard` is a wildcard: `wildcard-x` is a host.
fn unmarked(first: &str, parent: &Name) -> Option<Name> {
    let first = if first == WILDCARD { "*" } else { first };
    below(first.as_bytes(), parent).ok()
}

#[cfg(test)]
mod tests;
