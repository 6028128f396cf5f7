//! Names for Record objects: the same for the same record every time, readable, legal, and never the same for two.
//!
//! ```text
//! www-a.example-org                    one value at www
//! www--dev-a.example-org               … at www.dev: no label has two hyphens in a row, so these tell labels apart
//! apex-mx-3f9a0c61d2b4.example-org     one of several values: a hash over name, type and data tells them apart
//! dmarc-txt-88e1f03a7c55.example-org   _dmarc: letters that no object name has are left out, and a hash says which they were
//! ```
//! The part in front of the first dot is the record's, the rest is the zone's, so that zones can share a namespace. A
//! part without a hash can be read back, and a hash is never mistaken for a type: no type has twelve letters.

use dns::{Name, Rdata, Rtype};

/// The longest name of an object.
const OBJECT_NAME_MAX: usize = 253;
/// The most of a record's name that is spelled out; the rest goes into a hash.
const SPELLED_MAX: usize = 100;
/// Hexadecimal digits of a hash: 48 bits, of which two in a set that fits into an answer agree once in ten million sets.
/// Whoever makes objects looks.
const HASH_DIGITS: usize = 12;
/// What is left for the zone behind the longest record part: its spelling, a type, a hash and what stands between.
const ZONE_MAX: usize =
    OBJECT_NAME_MAX - SPELLED_MAX - "-".len() - TYPE_MAX - "-".len() - HASH_DIGITS - ".".len();
/// The longest type: `openpgpkey`, `nsec3param`; some room for those to come.
const TYPE_MAX: usize = 16;

/// Words for what has no letters of its own.
const APEX: &str = "apex";
const WILDCARD: &str = "wildcard";

/// Names the records of one zone.
#[derive(Debug)]
pub(super) struct Namer {
    origin: Name,
    /// The zone's part.
    suffix: String,
}

impl Namer {
    /// For the zone `origin`, whose object is called `zone`.
    pub(super) fn new(origin: &Name, zone: &str) -> Namer {
        let suffix = if zone.len() <= ZONE_MAX {
            zone.to_owned()
        } else {
            let hash = digits(blake3::hash(zone.as_bytes()));
            format!("{}-{hash}", cut(zone, ZONE_MAX - "-".len() - HASH_DIGITS))
        };
        Namer {
            origin: origin.clone(),
            suffix,
        }
    }

    /// The name of a record. `among` is its data where there are several of its name and type.
    pub(super) fn name(&self, owner: &Name, rtype: Rtype, among: Option<&Rdata>) -> String {
        let Spelling { text, exact } = spell(owner, &self.origin);
        let rtype_text = rtype.to_string().to_ascii_lowercase();
        let short = cut(&text, SPELLED_MAX);
        let spelled = format!("{short}-{rtype_text}");
        if exact && among.is_none() && short == text {
            return format!("{spelled}.{}", self.suffix);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(owner.as_wire());
        hasher.update(&rtype.to_int().to_be_bytes());
        hasher.update(among.map_or(&[], Rdata::as_wire));
        format!("{spelled}-{}.{}", digits(hasher.finalize()), self.suffix)
    }
}

/// A name in the letters of object names.
struct Spelling {
    text: String,
    /// Whether no other name is spelled like this.
    exact: bool,
}

fn spell(owner: &Name, origin: &Name) -> Spelling {
    let count = owner.label_count() - origin.label_count();
    let labels: Vec<Spelling> = owner.labels().take(count).map(spell_label).collect();
    if labels.is_empty() {
        return Spelling {
            text: APEX.to_owned(),
            exact: true,
        };
    }
    let texts: Vec<&str> = labels.iter().map(|label| label.text.as_str()).collect();
    Spelling {
        text: texts.join("--"),
        exact: labels.iter().all(|label| label.exact),
    }
}

fn spell_label(label: &[u8]) -> Spelling {
    if label == b"*" {
        return Spelling {
            text: WILDCARD.to_owned(),
            exact: true,
        };
    }
    let plain = |octet: &u8| octet.is_ascii_lowercase() || octet.is_ascii_digit();
    let words = label
        .split(|octet| !plain(octet))
        .filter(|word| !word.is_empty());
    let words: Vec<&str> = words
        .map(|word| str::from_utf8(word).expect("letters and digits"))
        .collect();
    let text = words.join("-");
    let exact = text.as_bytes() == label && text != APEX && text != WILDCARD;
    // A label without a single letter still needs a place.
    let text = if text.is_empty() {
        "x".to_owned()
    } else {
        text
    };
    Spelling { text, exact }
}

/// As much of a text as fits, ending in a letter or a digit.
fn cut(text: &str, max: usize) -> &str {
    // Object names are ASCII.
    text[..text.len().min(max)].trim_end_matches(['-', '.'])
}

fn digits(hash: blake3::Hash) -> String {
    hash.to_hex()[..HASH_DIGITS].to_owned()
}

#[cfg(test)]
mod tests;
