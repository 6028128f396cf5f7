//! A `domainName` field: a full name, or one relative to a zone.

use std::fmt;

use bytes::Bytes;

use super::{Name, NameError, push_label, text};

/// What a `domainName` says: a name that ends in a dot is complete, any other
/// is relative to the zone it belongs to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DomainName {
    /// The whole name.
    Full(Name),
    /// The labels in front of a zone's name.
    Relative(RelativeName),
}

impl DomainName {
    /// Reads what a person wrote. Stricter than [`Name::parse`]: unescaped
    /// characters are letters, digits, `-`, `_`, `/` (RFC 2317) and a leftmost
    /// `*`; labels neither start nor end with a hyphen, and `xn--` starts an A-label.
    pub fn parse(text: &str) -> Result<DomainName, NameError> {
        if text == "@" {
            return Ok(DomainName::Relative(RelativeName::APEX));
        }
        plain_characters(text)?;
        let labels = text::labels(text)?;
        for (position, label) in labels.labels.iter().enumerate() {
            owner_label(label, position)?;
        }
        if labels.absolute {
            Name::from_labels(&labels.labels, &Name::root()).map(DomainName::Full)
        } else {
            RelativeName::checked(labels.labels).map(DomainName::Relative)
        }
    }

    /// The whole name, relative names being completed with `origin`.
    pub fn under(&self, origin: &Name) -> Result<Name, NameError> {
        match self {
            DomainName::Full(name) => Ok(name.clone()),
            DomainName::Relative(name) => name.under(origin),
        }
    }
}

/// Labels in front of a zone's name; none of them: the zone's own name, `@`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RelativeName(Vec<Bytes>);

impl RelativeName {
    /// The zone itself.
    pub const APEX: RelativeName = RelativeName(Vec::new());

    /// The wildcard below a zone, `*`.
    pub fn wildcard() -> RelativeName {
        RelativeName(vec![Bytes::from_static(b"*")])
    }

    pub(super) fn new(labels: Vec<Bytes>) -> RelativeName {
        RelativeName(labels)
    }

    fn checked(labels: Vec<Bytes>) -> Result<RelativeName, NameError> {
        Name::from_labels(&labels, &Name::root())?;
        Ok(RelativeName(labels))
    }

    /// The labels from left to right.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator + Clone {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Whether this is the zone itself.
    pub fn is_apex(&self) -> bool {
        self.0.is_empty()
    }

    /// The full name below `origin`.
    ///
    /// A relative name that already ends in `origin` is refused: it is a full
    /// name whose final dot was forgotten.
    pub fn under(&self, origin: &Name) -> Result<Name, NameError> {
        let name = self.in_front_of(origin)?;
        if self.looks_full(origin) {
            let doubled = name.to_string();
            return Err(NameError::RepeatsOrigin { doubled });
        }
        Ok(name)
    }

    /// The full name below `origin`, also where these labels already end in it.
    pub fn in_front_of(&self, origin: &Name) -> Result<Name, NameError> {
        Name::from_labels(&self.0, origin)
    }

    /// Whether these labels end in `origin`, as a full name does whose final dot was forgotten.
    pub fn looks_full(&self, origin: &Name) -> bool {
        !origin.is_root()
            && self.0.len() >= origin.label_count()
            && origin
                .labels()
                .rev()
                .eq(self.labels().rev().take(origin.label_count()))
    }
}

impl fmt::Display for RelativeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (position, label) in self.0.iter().enumerate() {
            if position > 0 {
                text.push('.');
            }
            push_label(&mut text, label);
        }
        f.pad(if text.is_empty() { "@" } else { &text })
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DomainName::Full(name) => name.fmt(f),
            DomainName::Relative(name) => name.fmt(f),
        }
    }
}

fn plain_characters(text: &str) -> Result<(), NameError> {
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            // What is escaped was meant; the reader of escapes checks the rest.
            '\\' => _ = chars.next(),
            '-' | '_' | '/' | '*' | '.' => {}
            _ if char.is_ascii_alphanumeric() || !char.is_ascii() => {}
            _ => return Err(text::character(char)),
        }
    }
    Ok(())
}

fn owner_label(label: &[u8], position: usize) -> Result<(), NameError> {
    if label.contains(&b'*') && (label != b"*" || position > 0) {
        return Err(NameError::Wildcard);
    }
    if label.starts_with(b"-") || label.ends_with(b"-") {
        return Err(text::hyphen(label));
    }
    text::check_a_label(label)
}
