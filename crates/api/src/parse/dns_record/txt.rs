//! TXT targets as external-dns carries them.
//!
//! A target in double quotes is presentation text: one or more quoted strings with escapes. Any other target is the
//! value itself, spaces and all, however long it is.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The most octets a character string holds (RFC 1035 §3.3).
const STRING_OCTETS_MAX: usize = 255;

/// The target in presentation form.
pub(super) fn presentation(target: &str) -> Cow<'_, str> {
    if target.trim_start().starts_with('"') {
        return Cow::Borrowed(target);
    }
    let mut text = String::with_capacity(target.len() + 2);
    for string in target.as_bytes().chunks(STRING_OCTETS_MAX) {
        if !text.is_empty() {
            text.push(' ');
        }
        quote(&mut text, string);
    }
    Cow::Owned(text)
}

fn quote(text: &mut String, string: &[u8]) {
    text.push('"');
    for &octet in string {
        match octet {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(octet));
            }
            0x20..=0x7e => text.push(char::from(octet)),
            0..=0x1f | 0x7f..=0xff => {
                write!(text, "\\{octet:03}").expect("writing to a string cannot fail");
            }
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_targets_stay_and_others_are_quoted_whole() {
        let long = "k".repeat(300);
        let cases = [
            (r#""v=spf1 -all""#, r#""v=spf1 -all""#.to_owned()),
            (r#""a" "b""#, r#""a" "b""#.to_owned()),
            ("v=spf1 -all", r#""v=spf1 -all""#.to_owned()),
            ("semi;colon", r#""semi;colon""#.to_owned()),
            (r#"say "hi" \o/"#, r#""say \"hi\" \\o/""#.to_owned()),
            ("grün\n", r#""gr\195\188n\010""#.to_owned()),
            (&long, format!(r#""{}" "{}""#, &long[..255], &long[255..])),
        ];
        for (target, text) in cases {
            assert_eq!(presentation(target), text, "{target}");
        }
    }
}
