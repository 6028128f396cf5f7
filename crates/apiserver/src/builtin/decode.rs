//! Objects whose JSON has the wrong types: they are not read at all.
//!
//! Code and reason of the refusal are the API server's; which field is at fault is told in words of our own.

use jiff::Timestamp;
use serde_json::Value;

use super::definitions::{self, Definitions};
use super::kind::{Facts, Kind};
use crate::object::Object;
use crate::patch::go_word;
use crate::refusal::{FieldPath, Refusal};

/// The refusal of the first field that does not fit, in the order of names.
pub(super) fn error(kind: Kind, object: &Object) -> Option<Refusal> {
    let definitions = definitions::all();
    let root = definitions.get(definitions.root(kind))?;
    let (at, expected) = fields(definitions, root, object, &|name| FieldPath::of(name))?;
    let Facts { kind, version, .. } = kind.facts();
    Some(Refusal::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: the field {at} is not {expected}"
    )))
}

/// A field, and what it should be.
type Wrong = (FieldPath, String);

fn fields(
    definitions: &Definitions,
    schema: &Value,
    object: &Object,
    at: &dyn Fn(&str) -> FieldPath,
) -> Option<Wrong> {
    let known = schema.get("properties")?.as_object()?;
    object
        .iter()
        .find_map(|(name, field)| value(definitions, known.get(name)?, field, &at(name)))
}

/// What is wrong with a value, if anything. `null` is the zero value of every type.
fn value(
    definitions: &Definitions,
    schema: &Value,
    value: &Value,
    at: &FieldPath,
) -> Option<Wrong> {
    let (name, schema) = definitions.resolve(schema).unwrap_or(("", schema));
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let format = schema
        .get("format")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    let fits = match (last, kind, value) {
        (_, _, Value::Null)
        | ("IntOrString", _, Value::String(_))
        | ("Quantity", _, Value::Number(_)) => true,
        ("Quantity", _, value) => is_quantity(value.as_str().unwrap_or_default()),
        ("Time", _, Value::String(text)) => text.parse::<Timestamp>().is_ok(),
        ("MicroTime", _, Value::String(text)) => is_micro_time(text),
        ("IntOrString", _, Value::Number(number)) => number
            .as_i64()
            .is_some_and(|number| i32::try_from(number).is_ok()),
        ("IntOrString", _, _) => false,
        (_, "string", Value::String(text)) => format != "byte" || is_base64(text),
        (_, "boolean", Value::Bool(_)) | (_, "number", Value::Number(_)) | (_, "", _) => true,
        (_, "integer", Value::Number(number)) => number
            .as_i64()
            .is_some_and(|number| format != "int32" || i32::try_from(number).is_ok()),
        (_, "array", Value::Array(values)) => {
            let items = schema.get("items")?;
            let mut values = values.iter().enumerate();
            return values
                .find_map(|(index, one)| self::value(definitions, items, one, &at.index(index)));
        }
        (_, "object", Value::Object(object)) => {
            let Some(schema) = schema.get("additionalProperties") else {
                return fields(definitions, schema, object, &|name| at.field(name));
            };
            let mut entries = object.iter();
            return entries
                .find_map(|(key, one)| self::value(definitions, schema, one, &at.key(key)));
        }
        (_, _, _) => false,
    };
    (!fits).then(|| {
        let expected = [last, format, kind]
            .into_iter()
            .find(|word| !word.is_empty());
        let expected = expected.unwrap_or_default();
        (at.clone(), format!("{expected}, but {}", go_word(value)))
    })
}

/// A number with an optional suffix; only its outer form is looked at.
fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
    let suffix = digits.trim_start_matches(|letter| "eEinumkKMGTP".contains(letter));
    let exponent = suffix.strip_prefix(['+', '-']).unwrap_or(suffix);
    unsigned.len() > digits.len() && exponent.bytes().all(|byte| byte.is_ascii_digit())
}

/// A time with exactly six digits after the dot.
fn is_micro_time(text: &str) -> bool {
    let rest = text.get("2006-01-02T15:04:05".len()..).unwrap_or_default();
    let fraction = rest.strip_prefix('.').unwrap_or_default();
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    digits == 6 && text.parse::<Timestamp>().is_ok()
}

/// Standard base64 with padding. Line breaks are skipped, as Go does.
fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    let letters = text
        .bytes()
        .filter(|letter| !matches!(letter, b'\r' | b'\n'));
    STANDARD.decode(letters.collect::<Vec<u8>>()).is_ok()
}
