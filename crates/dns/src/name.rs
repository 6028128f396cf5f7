//! Domain names in one canonical form: absolute, lower case, A-labels.
//!
//! [`Name`] is the name itself. It holds whatever the wire can hold, so data
//! from zone files and other servers passes through unharmed. What people write
//! into a manifest meets stricter rules: [`DomainName`] is a `domainName` field,
//! [`host_name`] the host of an Ingress, a Gateway or a certificate.

mod domain_name;
mod error;
mod host;
mod text;

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use bytes::Bytes;
use domain::base::Name as Octets;
use domain::base::name::{Label, ToLabelIter as _, ToName};

pub use domain_name::{DomainName, RelativeName};
pub use error::NameError;
pub use host::host_name;

/// The longest a name may be in wire form, length octets and root included
/// (RFC 1035 §2.3.4).
const NAME_OCTETS_MAX: usize = 255;

/// The most labels that fit: one octet each, with their lengths and the root.
const NAME_LABELS_MAX: usize = 127;

/// An absolute domain name in canonical form (RFC 4034 §6.2).
///
/// Equality, order and hash are those of the canonical form; the order is
/// RFC 4034 §6.1's, in which everything below a name follows it directly.
/// A clone, a parent or any other ancestor shares the name's memory.
#[derive(Clone)]
pub struct Name(Octets<Bytes>);

impl Name {
    /// The root of the tree, written `.`.
    pub fn root() -> Name {
        Name(Octets::root_bytes())
    }

    /// Reads a name that ends in a dot.
    ///
    /// Escapes are RFC 1035's (`\.` and `\046`), Unicode labels become A-labels.
    pub fn parse(text: &str) -> Result<Name, NameError> {
        let labels = text::labels(text)?;
        if !labels.absolute {
            return Err(NameError::NotAbsolute);
        }
        Name::from_labels(&labels.labels, &Name::root())
    }

    /// Reads a name as it stands in record data: whole if it ends in a dot,
    /// otherwise completed with `origin`, whose own name is `@`.
    pub(crate) fn parse_under(text: &str, origin: &Name) -> Result<Name, NameError> {
        if text == "@" {
            return Ok(origin.clone());
        }
        let labels = text::labels(text)?;
        if labels.absolute {
            Name::from_labels(&labels.labels, &Name::root())
        } else {
            RelativeName::new(labels.labels).under(origin)
        }
    }

    /// Takes a name in wire form, not compressed.
    pub fn from_wire(wire: &[u8]) -> Result<Name, NameError> {
        let name = Octets::from_slice(wire).map_err(|err| NameError::Wire(err.to_string()))?;
        Ok(Name::canonical(name))
    }

    /// Takes any absolute name of the library, in whatever case it comes.
    pub(crate) fn canonical(name: &(impl ToName + ?Sized)) -> Name {
        Name(name.to_canonical_name())
    }

    /// The wire form: labels with their length octets, ending in the root's zero.
    pub fn as_wire(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_root()
    }

    /// Whether the leftmost label is `*` (RFC 4592).
    pub fn is_wildcard(&self) -> bool {
        self.0.first().is_wildcard()
    }

    /// The number of labels, the root not counted: two for `example.org.`.
    pub fn label_count(&self) -> usize {
        self.labels().count()
    }

    /// The labels from left to right as octets, the root not among them.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
        self.0
            .iter_labels()
            .filter(|label| !label.is_root())
            .map(Label::as_slice)
    }

    /// Whether the name is `ancestor` or below it, label by label:
    /// `badexample.org.` is not below `example.org.`.
    pub fn is_at_or_below(&self, ancestor: &Name) -> bool {
        self.0.ends_with(&ancestor.0)
    }

    /// Whether the name is below `ancestor` and not `ancestor` itself.
    pub fn is_below(&self, ancestor: &Name) -> bool {
        self.0.len() > ancestor.0.len() && self.is_at_or_below(ancestor)
    }

    /// The name without its leftmost label; the root has no parent.
    pub fn parent(&self) -> Option<Name> {
        self.0.parent().map(Name)
    }

    /// The name itself and every name above it, up to the root.
    pub fn ancestors(&self) -> impl Iterator<Item = Name> {
        std::iter::successors(Some(self.clone()), Name::parent)
    }

    /// The labels in front of `ancestor`, or `None` if the name is not below or at it.
    pub fn relative_to(&self, ancestor: &Name) -> Option<RelativeName> {
        if !self.is_at_or_below(ancestor) {
            return None;
        }
        let labels = self.label_count() - ancestor.label_count();
        Some(RelativeName::new(
            self.labels()
                .take(labels)
                .map(Bytes::copy_from_slice)
                .collect(),
        ))
    }

    /// The name as the library's type.
    pub(crate) fn as_octets(&self) -> &Octets<Bytes> {
        &self.0
    }

    /// Labels, leftmost first and already canonical, put in front of `suffix`.
    fn from_labels(labels: &[Bytes], suffix: &Name) -> Result<Name, NameError> {
        let octets = labels.iter().map(|label| label.len() + 1).sum::<usize>() + suffix.0.len();
        if octets > NAME_OCTETS_MAX {
            return Err(NameError::TooLong { octets });
        }
        let mut wire = Vec::with_capacity(octets);
        for label in labels {
            wire.push(u8::try_from(label.len()).expect("labels are at most 63 octets"));
            wire.extend_from_slice(label);
        }
        wire.extend_from_slice(suffix.as_wire());
        Ok(Name(
            Octets::from_octets(wire.into()).expect("labels and length were checked"),
        ))
    }
}

/// Canonical octets are equal exactly when the names are: nothing needs folding.
impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.as_wire() == other.as_wire()
    }
}

impl Eq for Name {}

/// As the borrowed form hashes, so that a map can be asked with either.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_wire().hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// RFC 4034 §6.1, label by label from the right. Zones live in ordered maps, so
/// this is the comparison that everything waits for.
impl Ord for Name {
    fn cmp(&self, other: &Name) -> Ordering {
        // Most names that are compared stand side by side in one zone.
        if let (Some((ours, above_ours)), Some((theirs, above_theirs))) =
            (split_first(self.as_wire()), split_first(other.as_wire()))
            && above_ours == above_theirs
        {
            return ours.cmp(theirs);
        }
        let (ours, theirs) = (LabelStarts::of(self), LabelStarts::of(other));
        ours.labels_from_right(self)
            .cmp(theirs.labels_from_right(other))
    }
}

/// The first label in wire form and what is above it; nothing of the root.
fn split_first(wire: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = wire.split_first()?;
    let (label, above) = rest.split_at_checked(usize::from(*length))?;
    (*length > 0).then_some((label, above))
}

/// Where the labels of a name start. The wire form is only readable from the
/// left, and the order goes from the right.
struct LabelStarts {
    starts: [u8; NAME_LABELS_MAX],
    count: usize,
}

impl LabelStarts {
    fn of(name: &Name) -> LabelStarts {
        let wire = name.as_wire();
        let (mut starts, mut count, mut at) = ([0; NAME_LABELS_MAX], 0, 0);
        while wire[at] != 0 {
            starts[count] = u8::try_from(at).expect("a name has at most 255 octets");
            count += 1;
            at += usize::from(wire[at]) + 1;
        }
        LabelStarts { starts, count }
    }

    fn labels_from_right<'a>(&'a self, name: &'a Name) -> impl Iterator<Item = &'a [u8]> {
        let wire = name.as_wire();
        self.starts[..self.count].iter().rev().map(|start| {
            let start = usize::from(*start);
            &wire[start + 1..][..usize::from(wire[start])]
        })
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Name, NameError> {
        Name::parse(text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len());
        for label in self.labels() {
            push_label(&mut text, label);
            text.push('.');
        }
        f.pad(if text.is_empty() { "." } else { &text })
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes a label so that every reader takes it for this label and nothing
/// else: no comment, no directive, no origin, no second token. What a
/// `domainName` may not say plainly is escaped.
fn push_label(text: &mut String, label: &[u8]) {
    for &octet in label {
        match octet {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'/' | b'*' => {
                text.push(char::from(octet));
            }
            0x21..=0x7e => text.extend(['\\', char::from(octet)]),
            0..=0x20 | 0x7f..=0xff => {
                write!(text, "\\{octet:03}").expect("writing to a string cannot fail");
            }
        }
    }
}

#[cfg(test)]
mod tests;
