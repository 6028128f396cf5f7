//! Which member of a routed set a record is, and the one way in which that is written down.
//!
//! The text is JSON, as in the objects it comes from, in a single canonical form: what is read back and printed again is what
//! was there. The zone hash is taken over it, and canonical lines carry it behind the record.

use std::fmt;
use std::str::FromStr;

use super::Routing;

/// The longest identifier: what Route 53 takes.
const IDENTIFIER_CHARS_MAX: usize = 128;

/// What tells the members of a routed set apart: a short text of printable ASCII.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SetIdentifier(String);

/// A text that is no identifier.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("must be 1 to {IDENTIFIER_CHARS_MAX} printable ASCII characters")]
pub struct SetIdentifierError;

/// Which member of a routed set a record is, and which part of the traffic that member is for.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Membership {
    /// The member.
    pub identifier: SetIdentifier,
    /// Its part of the traffic.
    pub routing: Routing,
}

/// A text that says nothing about a member, or not in the canonical form.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("routing must be in its canonical form")]
pub struct MembershipError;

impl SetIdentifier {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SetIdentifier {
    type Err = SetIdentifierError;

    fn from_str(text: &str) -> Result<SetIdentifier, SetIdentifierError> {
        let printable = |octet: u8| octet == b' ' || octet.is_ascii_graphic();
        if text.is_empty() || text.len() > IDENTIFIER_CHARS_MAX || !text.bytes().all(printable) {
            return Err(SetIdentifierError);
        }
        Ok(SetIdentifier(text.to_owned()))
    }
}

impl fmt::Display for SetIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"{"setIdentifier":""#)?;
        for char in self.identifier.0.chars() {
            // Nothing else among printable ASCII is special in JSON.
            if matches!(char, '"' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{char}")?;
        }
        f.write_str("\"")?;
        if let Some(weight) = self.routing.weight {
            write!(f, r#","weight":{weight}"#)?;
        }
        if let Some(geo) = &self.routing.geo {
            write!(f, r#","geo":"{geo}""#)?;
        }
        f.write_str("}")
    }
}

impl FromStr for Membership {
    type Err = MembershipError;

    /// Whatever is read must be exactly what would be printed: so there is one form.
    fn from_str(text: &str) -> Result<Membership, MembershipError> {
        let read = read(text).filter(|membership| membership.to_string() == text);
        read.ok_or(MembershipError)
    }
}

fn read(text: &str) -> Option<Membership> {
    let (identifier, rest) = unquote(text.strip_prefix(r#"{"setIdentifier":""#)?)?;
    let rest = rest.strip_suffix('}')?;
    let (weight, rest) = match rest.strip_prefix(r#","weight":"#) {
        Some(rest) => {
            let (weight, rest) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            (Some(weight.parse().ok()?), rest)
        }
        None => (None, rest),
    };
    let geo = match rest.strip_prefix(r#","geo":""#) {
        Some(rest) => Some(rest.strip_suffix('"')?.parse().ok()?),
        None => None,
    };
    Some(Membership {
        identifier: identifier.parse().ok()?,
        routing: Routing { weight, geo },
    })
}

/// The text up to the quote that ends it, and what follows.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut unquoted = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((unquoted, &text[at + 1..])),
            '\\' => unquoted.push(chars.next()?.1),
            char => unquoted.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_membership_is_read_as_it_is_written() {
        for text in [
            r#"{"setIdentifier":"eu-1"}"#,
            r#"{"setIdentifier":"eu-1","weight":0}"#,
            r#"{"setIdentifier":"eu-1","weight":120,"geo":"GEO-EU"}"#,
            r#"{"setIdentifier":"eu-1","geo":"*"}"#,
            r#"{"setIdentifier":"a \" \\ ; , } b"}"#,
            r#"{"setIdentifier":"\",\"weight\":1}"}"#,
        ] {
            let membership: Membership = text.parse().unwrap();
            assert_eq!(membership.to_string(), text);
        }
    }

    #[test]
    fn every_other_form_is_refused() {
        for text in [
            "",
            "{}",
            r#"{"setIdentifier":""}"#,
            r#"{"setIdentifier":"a"#,
            r#"{"setIdentifier":"a""#,
            r#"{"setIdentifier":"a"} "#,
            r#"{"setIdentifier": "a"}"#,
            r#"{"setIdentifier":"a","weight":007}"#,
            r#"{"setIdentifier":"a","weight":256}"#,
            r#"{"setIdentifier":"a","weight":1,}"#,
            r#"{"setIdentifier":"a","geo":"geo-eu"}"#,
            r#"{"setIdentifier":"a","geo":"*","weight":1}"#,
            r#"{"setIdentifier":"a","weight":1,"weight":1}"#,
            r#"{"setIdentifier":"\a"}"#,
            r#"{"setIdentifier":"ä"}"#,
            r#"{"weight":1,"setIdentifier":"a"}"#,
        ] {
            assert_eq!(text.parse::<Membership>(), Err(MembershipError), "{text:?}");
        }
    }

    #[test]
    fn an_identifier_is_a_short_printable_text() {
        for text in ["", "a\nb", "ä", "\u{7f}", &"x".repeat(129)] {
            assert_eq!(
                text.parse::<SetIdentifier>(),
                Err(SetIdentifierError),
                "{text:?}"
            );
        }
        for text in ["a", " ", "\"\\", &"x".repeat(128)] {
            assert!(text.parse::<SetIdentifier>().is_ok(), "{text:?}");
        }
    }
}
