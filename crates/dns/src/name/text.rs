//! From text to canonical labels: escapes, IDNA, limits of one label.

use std::fmt::Write as _;

use bytes::Bytes;
use domain::base::scan::Symbol;
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use unicode_security::{
    GeneralSecurityProfile as _, RestrictionLevel, RestrictionLevelDetection as _,
};

use super::NameError;

/// The longest a label may be (RFC 1035 §2.3.4).
const LABEL_OCTETS_MAX: usize = 63;

/// The labels of a text, canonical, leftmost first.
pub(super) struct Labels {
    pub(super) labels: Vec<Bytes>,
    /// Whether the text ended in a dot.
    pub(super) absolute: bool,
}

/// Splits a text at its dots, escaped ones excepted. `.` alone has no labels.
pub(super) fn labels(text: &str) -> Result<Labels, NameError> {
    match text {
        "" => return Err(NameError::Empty),
        "." => {
            return Ok(Labels {
                labels: Vec::new(),
                absolute: true,
            });
        }
        _ => {}
    }
    let mut labels = Vec::new();
    let mut raw = RawLabel::default();
    let mut chars = text.chars();
    while let Some(symbol) = Symbol::from_chars(&mut chars).map_err(|_| NameError::Escape)? {
        match symbol {
            Symbol::Char('.') => labels.push(std::mem::take(&mut raw).canonical()?),
            Symbol::Char(char) => raw.push(char)?,
            Symbol::SimpleEscape(octet) | Symbol::DecimalEscape(octet) => raw.push_escaped(octet),
        }
    }
    let absolute = raw.is_empty();
    if !absolute {
        labels.push(raw.canonical()?);
    }
    Ok(Labels { labels, absolute })
}

/// A label as it is being read.
#[derive(Default)]
struct RawLabel {
    octets: Vec<u8>,
    escaped: bool,
}

impl RawLabel {
    fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    fn push(&mut self, char: char) -> Result<(), NameError> {
        if char.is_ascii()
            && (!char.is_ascii_graphic() || matches!(char, '"' | '$' | '(' | ')' | ';' | '@'))
        {
            return Err(character(char));
        }
        self.octets
            .extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn push_escaped(&mut self, octet: u8) {
        self.escaped = true;
        self.octets.push(octet);
    }

    /// Lower case, A-label, and within the limit.
    fn canonical(self) -> Result<Bytes, NameError> {
        if self.octets.is_empty() {
            return Err(NameError::EmptyLabel);
        }
        let label = match str::from_utf8(&self.octets) {
            // Escaped octets are taken as they are: IDNA is for what people write plainly.
            Ok(text) if !self.escaped && !text.is_ascii() => to_a_label(text)?.into_bytes(),
            Ok(_) | Err(_) => self.octets.to_ascii_lowercase(),
        };
        if label.len() > LABEL_OCTETS_MAX {
            return Err(NameError::LabelTooLong {
                label: shown(&label),
                octets: label.len(),
            });
        }
        Ok(label.into())
    }
}

/// The error for a character that cannot stand in a name unescaped.
pub(super) fn character(found: char) -> NameError {
    let mut escaped = String::new();
    for octet in found.encode_utf8(&mut [0; 4]).bytes() {
        write!(escaped, "\\{octet:03}").expect("writing to a string cannot fail");
    }
    NameError::Character { found, escaped }
}

/// The error for a label with a hyphen at its edge.
pub(super) fn hyphen(label: &[u8]) -> NameError {
    NameError::Hyphen {
        label: shown(label),
    }
}

/// A label for an error message: printable and short.
pub(super) fn shown(label: &[u8]) -> String {
    const SHOWN_MAX: usize = 24;
    let text = String::from_utf8_lossy(label);
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Whether a label that says it is an A-label is one. Which scripts it mixes is
/// not asked: whoever writes `xn--` means it.
pub(super) fn check_a_label(label: &[u8]) -> Result<(), NameError> {
    match str::from_utf8(label) {
        Ok(text) if text.starts_with("xn--") => uts_46(text).map(drop),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A Unicode label as an A-label, unless it could be taken for another one.
fn to_a_label(label: &str) -> Result<String, NameError> {
    if label.starts_with('-') || label.ends_with('-') {
        return Err(hyphen(label.as_bytes()));
    }
    if label.chars().any(is_invisible) {
        return Err(not_idna(label, "it contains an invisible character"));
    }
    let ascii = uts_46(label)?;
    let reads = readable(&ascii);
    if !reads.chars().all(char::identifier_allowed) {
        return Err(not_idna(
            label,
            "it contains a character that is no letter or digit in use; write the A-label (xn--…) if that is meant",
        ));
    }
    if reads.detect_restriction_level() > RestrictionLevel::HighlyRestrictive {
        return Err(not_idna(
            label,
            "it mixes scripts; write the A-label (xn--…) if that is meant",
        ));
    }
    Ok(ascii)
}

/// What a reader sees: full-width and other variants of letters are mapped by
/// now, and UTS 46 has seen to the joiners.
fn readable(a_label: &str) -> String {
    let (text, _) =
        Uts46::new().to_unicode(a_label.as_bytes(), AsciiDenyList::STD3, Hyphens::Allow);
    text.replace(['\u{200c}', '\u{200d}'], "")
}

fn uts_46(label: &str) -> Result<String, NameError> {
    let ascii = Uts46::new()
        .to_ascii(
            label.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::Allow,
            DnsLength::Ignore,
        )
        .map_err(|_| not_idna(label, "UTS 46 refuses it"))?;
    match ascii.as_ref() {
        "" => Err(not_idna(label, "nothing is left of it")),
        text if text.contains('.') => Err(not_idna(
            label,
            "it contains a character that stands for a dot",
        )),
        text => Ok(text.to_owned()),
    }
}

fn not_idna(label: &str, why: &'static str) -> NameError {
    NameError::Idna {
        label: shown(label.as_bytes()),
        why,
    }
}

/// Characters that UTS 46 would drop silently, and direction marks. The two
/// joiners stay: IDNA itself knows where scripts need them.
fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{ad}' | '\u{34f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}
