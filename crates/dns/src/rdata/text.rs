//! Presentation text before the zone-file reader sees it.
//!
//! The reader has rules of its own for names, knows nothing of IDNA, joins words
//! and takes no letters beyond ASCII. This module stands between: what it hands
//! on is one line that the reader takes as it was meant.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::str::FromStr as _;

use domain::base::iana::SvcParamKey;

use super::tokens::{Token, tokens};
use super::{Rdata, RdataError, form};
use crate::{Name, NameError, Rtype};

/// The data of a record as a person wrote it: read once for its form, and to be
/// resolved against the zone that completes its relative names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RdataText {
    rtype: Rtype,
    text: String,
}

impl RdataText {
    /// Checks a text against its type's form and rules.
    pub fn parse(rtype: Rtype, text: &str) -> Result<RdataText, RdataError> {
        let text = text.trim_ascii();
        Rdata::parse(rtype, text, &stand_in(rtype, text)?)?.check()?;
        words_are_quoted(rtype, text)?;
        Ok(RdataText {
            rtype,
            text: text.to_owned(),
        })
    }

    /// The type.
    pub fn rtype(&self) -> Rtype {
        self.rtype
    }

    /// The text as it was written, without the blanks around it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The data in a zone: relative names get `origin`, and the rules hold for
    /// the completed names too.
    pub fn resolve(&self, origin: &Name) -> Result<Rdata, RdataError> {
        let data = Rdata::parse(self.rtype, &self.text, origin)?;
        data.check()?;
        Ok(data)
    }
}

/// The text as one line that a zone-file reader takes whole.
///
/// Names are held to the rules of [`Name`] first, for the reader lets `a..b` and
/// an empty name pass and does not know `@`. They are left as written where the
/// reader takes them for the same name, so that their case survives.
pub(super) fn one_line(rtype: Rtype, text: &str, origin: &Name) -> Result<String, RdataError> {
    let text = text.trim_ascii();
    let tokens = tokens(text)?;
    let mut line = text.to_owned();
    for token in names(rtype, &tokens).rev() {
        let name = rewritten(token.text, origin);
        if let Some(name) = name.map_err(|err| form::explain(rtype, &err.to_string()))? {
            line.replace_range(token.at.clone(), &name);
        }
    }
    keys_are_named(rtype, &tokens)?;
    match line.chars().find(|char| !char.is_ascii()) {
        Some(char) if !holds_strings(rtype) => Err(RdataError::NotAscii(char)),
        Some(_) | None => Ok(escape_non_ascii(&line).into_owned()),
    }
}

/// Whether there are names in a type's data.
pub(super) fn has_names(rtype: Rtype) -> bool {
    !name_fields(rtype).is_empty()
}

/// Whether a text is in the generic form of RFC 3597.
pub(super) fn is_generic(text: &str) -> bool {
    text.split_ascii_whitespace().next() == Some("\\#")
}

/// Writes octets beyond ASCII as `\DDD`: character strings hold octets, and
/// UTF-8 in them is common.
fn escape_non_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() * 2);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            // `\é` is `é`: left in place, the backslash would escape the one of `\195`.
            '\\' if chars.peek().is_some_and(|next| !next.is_ascii()) => {}
            '\\' => {
                escaped.push(char);
                escaped.extend(chars.next());
            }
            _ if char.is_ascii() => escaped.push(char),
            _ => push_escaped(&mut escaped, char),
        }
    }
    Cow::Owned(escaped)
}

fn push_escaped(text: &mut String, char: char) {
    for octet in char.encode_utf8(&mut [0; 4]).bytes() {
        write!(text, "\\{octet:03}").expect("writing to a string cannot fail");
    }
}

/// A zone for texts whose zone is not known yet.
///
/// In the root a relative name is read as it stands, and `192.0.2.1` is a
/// mistake with and without its final dot. But `@` must not become the root.
fn stand_in(rtype: Rtype, text: &str) -> Result<Name, RdataError> {
    let tokens = tokens(text)?;
    if names(rtype, &tokens).any(|token| token.text == "@") {
        Ok(Name::parse("zone.invalid.").expect("a well-formed name"))
    } else {
        Ok(Name::root())
    }
}

/// The name as the reader has to see it, where that is not as written.
fn rewritten(text: &str, origin: &Name) -> Result<Option<String>, NameError> {
    let name = Name::parse_under(text, origin)?;
    Ok((text == "@" || !text.is_ascii()).then(|| name.to_string()))
}

/// The tokens that are names, if the text is in its type's own form.
fn names<'a, 't>(
    rtype: Rtype,
    tokens: &'a [Token<'t>],
) -> impl DoubleEndedIterator<Item = &'a Token<'t>> {
    let generic = tokens.first().is_some_and(|token| is_generic(token.text));
    let fields = if generic { &[] } else { name_fields(rtype) };
    fields.iter().filter_map(|field| tokens.get(*field))
}

/// Which fields of a type's text are names, counted from 0.
fn name_fields(rtype: Rtype) -> &'static [usize] {
    match rtype {
        Rtype::CNAME | Rtype::DNAME | Rtype::NS | Rtype::NSEC | Rtype::PTR => &[0],
        Rtype::HTTPS | Rtype::MX | Rtype::SVCB => &[1],
        Rtype::IPSECKEY | Rtype::SRV => &[3],
        Rtype::NAPTR => &[5],
        Rtype::RP | Rtype::SOA => &[0, 1],
        Rtype::RRSIG => &[7],
        _ if form::is_old_mail_type(rtype) => &[0, 1],
        _ => &[],
    }
}

fn holds_strings(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::CAA | Rtype::HINFO | Rtype::HTTPS | Rtype::NAPTR | Rtype::SVCB | Rtype::TXT
    )
}

/// The reader takes `key1=` for `alpn=`, but what stands behind a number is the
/// value's octets (RFC 9460 §7.1.1).
fn keys_are_named(rtype: Rtype, tokens: &[Token<'_>]) -> Result<(), RdataError> {
    if !matches!(rtype, Rtype::HTTPS | Rtype::SVCB) {
        return Ok(());
    }
    // Behind the priority and the target.
    for token in tokens.iter().skip(2).filter(|token| !token.quoted) {
        let key = token.text.split('=').next().unwrap_or_default();
        let name =
            SvcParamKey::from_str(key).map_or_else(|_| key.to_owned(), |key| key.to_string());
        if key.starts_with("key") && !name.starts_with("key") {
            return Err(RdataError::Rule(format!("write {name} in place of {key}")));
        }
    }
    Ok(())
}

fn words_are_quoted(rtype: Rtype, text: &str) -> Result<(), RdataError> {
    let tokens = tokens(text)?;
    let clear = tokens.len() == 1 || tokens.iter().all(|token| token.quoted);
    if rtype == Rtype::TXT && !is_generic(text) && !clear {
        return Err(RdataError::Unquoted);
    }
    Ok(())
}
