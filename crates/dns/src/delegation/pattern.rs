//! Patterns over names, in both dialects.
//!
//! ```text
//! pattern  = "@" | segments [ ".@" ] [ "." ]
//! segments = segment *( "." segment )
//! segment  = a label in which at most one "*" stands for any run of characters
//! ```
//! A leftmost segment that is `*` alone stands for one or more labels, any other
//! segment for exactly one. A pattern is relative to the zone; if its last
//! labels are the zone's own it is also read as absolute, with or without the
//! final dot, for that is how the other dialect writes it.

use std::fmt;
use std::str::FromStr;

use crate::{DomainName, Name, NameError};

/// Which names a delegation is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pattern {
    /// From left to right; none: the zone itself.
    segments: Vec<Segment>,
    /// Ended by `@`, so that no absolute reading is meant.
    anchored: bool,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// Nothing was written.
    #[error(
        "a pattern must not be empty; write \"@\" for the zone itself or \"*\" for everything below it"
    )]
    Empty,
    /// `@` anywhere but at the end.
    #[error("\"@\" stands for the zone and can only be the last part of a pattern")]
    At,
    /// A backslash: patterns are for names that need no escapes.
    #[error("a pattern has no escapes")]
    Escape,
    /// Letters beyond ASCII beside a star, which IDNA cannot encode.
    #[error(
        "label {0:?} has a \"*\" and letters beyond ASCII; spell out the label or write the A-label (xn--…)"
    )]
    NotAscii(String),
    /// Two stars in one label.
    #[error("label {0:?} has more than one \"*\"")]
    Stars(String),
    /// A part that could not be part of a name.
    #[error(transparent)]
    Label(#[from] NameError),
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Segment {
    /// `*` alone.
    Any,
    /// A label as it is.
    Exact(Vec<u8>),
    /// `dev-*`, `*-dev`, `a*z`: what comes before and after the star.
    Partial(Vec<u8>, Vec<u8>),
}

impl Pattern {
    /// Whether `name` is among the names the pattern means in the zone `origin`.
    pub fn matches(&self, name: &Name, origin: &Name) -> bool {
        self.matches_relative(name, origin) || self.matches_absolute(name, origin)
    }

    fn matches_relative(&self, name: &Name, origin: &Name) -> bool {
        name.is_at_or_below(origin) && {
            let own = name.label_count() - origin.label_count();
            self.matches_labels(&name.labels().take(own).collect::<Vec<_>>())
        }
    }

    fn matches_absolute(&self, name: &Name, origin: &Name) -> bool {
        !self.anchored
            && self.ends_with(origin)
            && name.is_at_or_below(origin)
            && self.matches_labels(&name.labels().collect::<Vec<_>>())
    }

    /// Whether the last segments are the labels of `origin`, letter by letter.
    fn ends_with(&self, origin: &Name) -> bool {
        let count = origin.label_count();
        let exact = |(segment, label): (&Segment, &[u8])| matches!(segment, Segment::Exact(text) if text == label);
        self.segments.len() >= count
            && self
                .segments
                .iter()
                .rev()
                .zip(origin.labels().rev())
                .all(exact)
    }

    /// The leftmost star takes what the other segments leave, at least one label.
    fn matches_labels(&self, labels: &[&[u8]]) -> bool {
        let (rest, spare) = match self.segments.split_first() {
            Some((Segment::Any, rest)) if labels.len() > rest.len() => {
                (rest, labels.len() - rest.len())
            }
            Some((Segment::Any, _)) => return false,
            Some(_) | None if labels.len() == self.segments.len() => (&self.segments[..], 0),
            Some(_) | None => return false,
        };
        rest.iter()
            .zip(&labels[spare..])
            .all(|(segment, label)| segment.matches(label))
    }
}

impl Segment {
    fn parse(text: &str) -> Result<Segment, PatternError> {
        match text.split_once('*') {
            None => Ok(Segment::Exact(label(text)?)),
            Some(("", "")) => Ok(Segment::Any),
            Some((_, after)) if after.contains('*') => Err(PatternError::Stars(text.to_owned())),
            Some(_) if !text.is_ascii() => Err(PatternError::NotAscii(text.to_owned())),
            Some((before, after)) => {
                // The parts are checked as one label with a letter in the star's place.
                label(&format!("{before}x{after}"))?;
                let part = |text: &str| text.to_ascii_lowercase().into_bytes();
                Ok(Segment::Partial(part(before), part(after)))
            }
        }
    }

    fn matches(&self, label: &[u8]) -> bool {
        match self {
            Segment::Any => true,
            Segment::Exact(text) => text == label,
            Segment::Partial(before, after) => {
                label.len() >= before.len() + after.len()
                    && label.starts_with(before)
                    && label.ends_with(after)
            }
        }
    }
}

/// The canonical form of one label: lower case, A-label.
fn label(text: &str) -> Result<Vec<u8>, PatternError> {
    match DomainName::parse(text)? {
        DomainName::Relative(name) if name.labels().len() == 1 => {
            Ok(name.labels().next().unwrap_or_default().to_vec())
        }
        DomainName::Relative(_) | DomainName::Full(_) => Err(NameError::EmptyLabel.into()),
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        if text.contains('\\') {
            return Err(PatternError::Escape);
        }
        let text = text.strip_suffix('.').unwrap_or(text);
        let (parts, anchored) = match text {
            "" => return Err(PatternError::Empty),
            "@" => ("", true),
            _ => match text.strip_suffix(".@") {
                Some(parts) => (parts, true),
                None => (text, false),
            },
        };
        if parts.split('.').any(|part| part == "@") {
            return Err(PatternError::At);
        }
        let parts = parts.split('.').filter(|_| !parts.is_empty());
        Ok(Pattern {
            segments: parts.map(Segment::parse).collect::<Result<_, _>>()?,
            anchored,
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segments: Vec<String> = self.segments.iter().map(ToString::to_string).collect();
        let at = if self.anchored { "@" } else { "" };
        let dot = if self.anchored && !segments.is_empty() {
            "."
        } else {
            ""
        };
        write!(f, "{}{dot}{at}", segments.join("."))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        match self {
            Segment::Any => f.write_str("*"),
            Segment::Exact(label) => f.write_str(&text(label)),
            Segment::Partial(before, after) => write!(f, "{}*{}", text(before), text(after)),
        }
    }
}
