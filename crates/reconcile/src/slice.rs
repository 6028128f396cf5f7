//! Content too large for one object, cut into slices (Z11).
//!
//! Where a slice begins is a function of the names in the zone: a name whose hash is low enough begins one. So a change
//! touches the slice it is in, and at most its neighbour when a name that begins a slice comes or goes; equal zones have
//! equal slices, whatever their history. A slice that grows too large is cut again at the names with the lowest hashes in
//! it, and a single name that is too large between its records.
//!
//! A [`Layout`] keeps the cuts of one zone and follows its changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use api::zone_slice::CONTENT_BYTES_MAX;
use dns::routing::Membership;
use dns::{Name, Rdata, Rtype, SetKey, Ttl, Zone, zonefile};

/// One name in so many begins a slice: with lines of 60 bytes, slices of about 15 KiB. Small enough that a change
/// rewrites little, large enough that a million records are a few thousand objects.
const NAMES_PER_SLICE: u64 = 256;

/// Separates the hash of a name from every other use of BLAKE3.
const NAME_CONTEXT: &str = "zonewright 2026-11 zone slice v1 name";
/// Separates the hash of a slice from every other use of BLAKE3.
const SLICE_CONTEXT: &str = "zonewright 2026-11 zone slice v1 content";

/// Hexadecimal digits of the hash in a slice's name: 128 bit.
const HASH_CHARS: usize = 32;

/// Data of so many octets needs no measuring. An octet becomes at most 80 characters, in a bitmap of types without mnemonics
/// (`TYPE65535 `, eight to an octet), a name at most 1,020, and routing about 300: together less than a slice holds.
const SHORT_OCTETS_MAX: usize = 512;

/// A piece of a zone's content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Slice {
    /// The name of the object, which stands for the content.
    pub name: String,
    /// Lines of a zone file.
    pub content: String,
}

/// How a zone is cut.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layout {
    /// The uid of the Zone object: two zones with the same content do not share slices, for each slice goes with its zone.
    owner: String,
    /// The names of the slices by the first name that may be in them.
    segments: BTreeMap<Name, Vec<String>>,
}

impl Layout {
    /// The cuts of a zone whose object has this uid.
    pub fn of(zone: &Zone, owner: &str) -> Layout {
        let begins = beginnings(zone);
        let mut layout = Layout {
            owner: owner.to_owned(),
            segments: begins
                .iter()
                .map(|name| (name.clone(), Vec::new()))
                .collect(),
        };
        for begin in begins {
            layout.cut(zone, &begin);
        }
        layout
    }

    /// The uid of the Zone object whose slices these are.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Follows a change of the zone at some names. Returns the slices that were cut anew, changed or not.
    pub fn update(&mut self, zone: &Zone, changed: &BTreeSet<Name>) -> Vec<Slice> {
        let mut touched = BTreeSet::new();
        for name in changed {
            if name == zone.origin() || !is_beginning(name) {
                touched.extend(self.segment_of(name));
                continue;
            }
            // The name begins a slice or does no longer: the one before it reaches as far as that lets it.
            touched.extend(self.segment_before(name));
            if exists(zone, name) {
                self.segments.entry(name.clone()).or_default();
                touched.insert(name.clone());
            } else {
                self.segments.remove(name);
            }
        }
        let cut = touched.iter().flat_map(|begin| self.cut(zone, begin));
        cut.collect()
    }

    /// The names of all slices in the order of their content.
    pub fn names(&self) -> Vec<String> {
        self.segments.values().flatten().cloned().collect()
    }

    /// The slices with these names.
    pub fn slices(&self, zone: &Zone, wanted: &BTreeSet<String>) -> Vec<Slice> {
        let holding = self
            .segments
            .iter()
            .filter(|(_, names)| names.iter().any(|name| wanted.contains(name)));
        holding
            .flat_map(|(begin, _)| self.pieces(zone, begin))
            .filter(|slice| wanted.contains(&slice.name))
            .collect()
    }

    fn cut(&mut self, zone: &Zone, begin: &Name) -> Vec<Slice> {
        let pieces: Vec<Slice> = self.pieces(zone, begin).collect();
        let names = pieces.iter().map(|slice| slice.name.clone()).collect();
        self.segments.insert(begin.clone(), names);
        pieces
    }

    fn segment_of(&self, name: &Name) -> Option<Name> {
        let mut upto = self.segments.range(..=name.clone());
        upto.next_back().map(|(begin, _)| begin.clone())
    }

    fn segment_before(&self, name: &Name) -> Option<Name> {
        let mut before = self.segments.range(..name.clone());
        before.next_back().map(|(begin, _)| begin.clone())
    }

    /// The slices of one segment: what is between its first name and the next segment's.
    fn pieces(&self, zone: &Zone, begin: &Name) -> impl Iterator<Item = Slice> {
        let after = (
            std::ops::Bound::Excluded(begin.clone()),
            std::ops::Bound::Unbounded,
        );
        let end = self
            .segments
            .range(after)
            .next()
            .map(|(name, _)| name.clone());
        let blocks = blocks(zone, begin, end.as_ref());
        pack(blocks)
            .into_iter()
            .map(|content| slice(&self.owner, content))
    }
}

/// How long the line of a record is, if no slice could hold it; whatever its TTL.
pub(crate) fn line_excess(
    name: &Name,
    data: &Rdata,
    routing: Option<&Membership>,
) -> Option<usize> {
    if data.as_wire().len() <= SHORT_OCTETS_MAX {
        return None;
    }
    let bytes = zonefile::print_line(name, (routing, Ttl::MAX, data)).len();
    (bytes > CONTENT_BYTES_MAX).then_some(bytes)
}

/// The lines of one name, which stay together where they can.
struct Block {
    rank: u64,
    text: String,
}

/// Where the segments of a zone begin: at its origin, and at the names whose hash is low enough.
fn beginnings(zone: &Zone) -> BTreeSet<Name> {
    let mut begins = BTreeSet::from([zone.origin().clone()]);
    let mut last: Option<&Name> = None;
    for (key, _) in zone.sets() {
        if last != Some(&key.name) && is_beginning(&key.name) {
            begins.insert(key.name.clone());
        }
        last = Some(&key.name);
    }
    begins
}

fn rank(name: &Name) -> u64 {
    let mut hasher = blake3::Hasher::new_derive_key(NAME_CONTEXT);
    hasher.update(name.as_wire());
    let hash = hasher.finalize();
    let (first, _) = hash.as_bytes().split_at(8);
    u64::from_le_bytes(first.try_into().expect("eight octets are eight octets"))
}

fn is_beginning(name: &Name) -> bool {
    rank(name) < u64::MAX / NAMES_PER_SLICE
}

fn exists(zone: &Zone, name: &Name) -> bool {
    zone.sets_at(name).next().is_some()
}

/// The lines from one name up to another, by name. A name without data has no lines.
fn blocks(zone: &Zone, begin: &Name, end: Option<&Name>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut last: Option<&Name> = None;
    for (key, set) in zone.sets_from(&SetKey::new(begin.clone(), Rtype::MIN)) {
        if end.is_some_and(|end| key.name >= *end) {
            break;
        }
        if last != Some(&key.name) {
            blocks.push(Block {
                rank: rank(&key.name),
                text: String::new(),
            });
        }
        last = Some(&key.name);
        let block = blocks.last_mut().expect("the first name has begun a block");
        zonefile::push_lines(&mut block.text, &key.name, set);
    }
    blocks
}

/// Blocks put together to slices, none of which is too large: cut at the lowest rank as long as one is.
fn pack(blocks: Vec<Block>) -> Vec<String> {
    let size: usize = blocks.iter().map(|block| block.text.len()).sum();
    match blocks.as_slice() {
        [] => Vec::new(),
        _ if size <= CONTENT_BYTES_MAX => {
            vec![blocks.into_iter().map(|block| block.text).collect()]
        }
        [block] => by_lines(&block.text),
        [_, rest @ ..] => {
            let lowest = rest.iter().enumerate().min_by_key(|(_, block)| block.rank);
            let (at, _) = lowest.expect("there are at least two");
            let mut left = blocks;
            let right = left.split_off(at + 1);
            let mut packed = pack(left);
            packed.extend(pack(right));
            packed
        }
    }
}

/// The lines of one name that is too large by itself, as many as fit in each.
fn by_lines(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in text.split_inclusive('\n') {
        let piece = pieces.last_mut().expect("there is always a last piece");
        if piece.len() + line.len() > CONTENT_BYTES_MAX && !piece.is_empty() {
            pieces.push(line.to_owned());
        } else {
            piece.push_str(line);
        }
    }
    pieces
}

/// A slice named by its content and its zone.
fn slice(owner: &str, content: String) -> Slice {
    let mut hasher = blake3::Hasher::new_derive_key(SLICE_CONTEXT);
    hasher.update(owner.as_bytes());
    hasher.update(&[0]);
    hasher.update(content.as_bytes());
    let mut name = String::from("zone-");
    write!(name, "{}", &hasher.finalize().to_hex()[..HASH_CHARS])
        .expect("writing to a string cannot fail");
    Slice { name, content }
}

#[cfg(test)]
mod tests;
