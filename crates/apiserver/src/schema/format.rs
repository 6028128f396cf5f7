//! Formats: what texts of a certain kind look like, and how large numbers may be.
//!
//! The rules are those of the libraries that kube-apiserver uses, lenient and strict in the same places. A format that
//! it does not know is no rule at all.

mod network;
mod time;

use std::sync::LazyLock;

use regex::Regex;

use super::Type;
pub(crate) use network::is_cidr;

/// A format that is enforced.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    name: String,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// A number's capacity, which is judged with the number.
    Number,
    Text(fn(&str) -> bool),
}

impl Format {
    /// The format of a node of a type, if it is one that is enforced there. Dashes do not count.
    pub(super) fn of(kind: Option<Type>, name: &str) -> Option<Self> {
        let rule = match (kind, name) {
            (Some(Type::Integer), "int32" | "int64") | (Some(Type::Number), "float" | "double") => {
                Rule::Number
            }
            (None | Some(Type::String), name) => Rule::Text(text_rule(&name.replace('-', ""))?),
            (
                Some(Type::Integer | Type::Number | Type::Boolean | Type::Array | Type::Object),
                _,
            ) => return None,
        };
        let name = name.to_owned();
        Some(Self { name, rule })
    }

    /// As the schema writes it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a rule for texts.
    pub(super) fn is_of_text(&self) -> bool {
        matches!(self.rule, Rule::Text(_))
    }

    /// Whether a text has the format.
    pub(super) fn allows(&self, text: &str) -> bool {
        match self.rule {
            Rule::Number => true,
            Rule::Text(allows) => allows(text),
        }
    }
}

fn text_rule(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "bsonobjectid" => |text| text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "uri" => network::is_uri,
        "email" => network::is_email,
        "hostname" => network::is_hostname,
        "ipv4" => network::is_ipv4,
        "ipv6" => network::is_ipv6,
        "cidr" => is_cidr,
        "mac" => network::is_mac,
        "uuid" => |text| UUID.is_match(text),
        "uuid3" => |text| UUID3.is_match(text),
        "uuid4" => |text| UUID4.is_match(text),
        "uuid5" => |text| UUID5.is_match(text),
        "isbn" => |text| is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10,
        "isbn13" => is_isbn13,
        "creditcard" => is_credit_card,
        "ssn" => |text| text.len() == 11 && SSN.is_match(text),
        "hexcolor" => |text| HEX_COLOR.is_match(text),
        "rgbcolor" => |text| RGB_COLOR.is_match(text),
        "byte" => |text| BASE64.is_match(text),
        "password" => |_| true,
        "date" => time::is_date,
        "duration" => time::is_duration,
        "datetime" => time::is_date_time,
        "k8sshortname" => |text| text.len() <= 63 && SHORT_NAME.is_match(text),
        "k8slongname" => |text| text.len() <= 253 && LONG_NAME.is_match(text),
        _ => return None,
    })
}

macro_rules! patterns {
    ($($name:ident = $pattern:literal;)*) => {
        $(static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($pattern).expect("a pattern that the tests compile"));)*
    };
}

patterns! {
    UUID = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    UUID3 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    UUID4 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
    UUID5 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
    SSN = "^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$";
    HEX_COLOR = "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
    RGB_COLOR = r"^rgb\(\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*,\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*,\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*\)$";
    BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
    CREDIT_CARD = "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$";
    ISBN10 = "^(?:[0-9]{9}X|[0-9]{10})$";
    ISBN13 = "^[0-9]{13}$";
    SHORT_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
    LONG_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
}

fn is_isbn10(text: &str) -> bool {
    let digits = without_separators(text);
    let weighted = digits.bytes().zip(1..).map(|(digit, weight)| match digit {
        b'X' => 10 * weight,
        digit => u32::from(digit - b'0') * weight,
    });
    ISBN10.is_match(&digits) && weighted.sum::<u32>().is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = without_separators(text);
    let weighted = digits
        .bytes()
        .zip([1, 3].into_iter().cycle())
        .map(|(digit, weight)| u32::from(digit - b'0') * weight);
    ISBN13.is_match(&digits) && weighted.sum::<u32>().is_multiple_of(10)
}

fn without_separators(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '-')
        .collect()
}

/// The number of a card with its check digit, whatever else is between its digits.
fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let checked = digits.bytes().rev().enumerate().map(|(place, digit)| {
        let digit = u32::from(digit - b'0');
        match digit * 2 {
            _ if place % 2 == 0 => digit,
            doubled if doubled > 9 => doubled - 9,
            doubled => doubled,
        }
    });
    CREDIT_CARD.is_match(&digits) && checked.sum::<u32>().is_multiple_of(10)
}
