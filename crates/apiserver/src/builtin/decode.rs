//! Objects whose JSON has the wrong types: what Go's decoder says of them.
//!
//! Code, reason and the field that is named are the API server's, and so is the Go type that a message ends
//! with: the published schema knows most of them, [`go_types`] the others.

use jiff::Timestamp;
use serde_json::Value;

use super::definitions::{self, Definitions};
use super::go_types;
use super::kind::{Facts, Kind};
use crate::object::Object;
use crate::refusal::Refusal;

/// What quantities look like, as their parser says it.
const QUANTITY: &str = "quantities must match the regular expression \
                        '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// The refusal of the first field that does not fit, in the order of names.
pub(super) fn error(kind: Kind, object: &Object) -> Option<Refusal> {
    let definitions = definitions::all();
    let decoder = Decoder { definitions };
    let root = definitions.root(kind);
    let place = Place {
        of: last(root).to_owned(),
        path: Vec::new(),
    };
    let wrong = decoder.fields(definitions.get(root)?, object, &place)?;
    let Facts {
        kind: name,
        version,
        ..
    } = kind.facts();
    Some(Refusal::bad_request(format!(
        "{name} in version \"{version}\" cannot be handled as a {name}: {wrong}"
    )))
}

struct Decoder<'a> {
    definitions: &'a Definitions,
}

/// Where the decoder is: a field of a struct, below the fields that lead to it.
#[derive(Clone)]
struct Place {
    /// The struct, such as `ServicePort`.
    of: String,
    path: Vec<String>,
}

impl Place {
    fn field(&self, name: &str) -> Self {
        let mut field = self.clone();
        field.path.push(name.to_owned());
        field
    }

    /// `json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32`
    fn cannot(&self, what: &str, go: &str) -> String {
        let Self { of, path } = self;
        let path = path.join(".");
        format!("json: cannot unmarshal {what} into Go struct field {of}.{path} of type {go}")
    }
}

impl Decoder<'_> {
    fn fields(&self, schema: &Value, object: &Object, place: &Place) -> Option<String> {
        let known = schema.get("properties")?.as_object()?;
        object.iter().find_map(|(name, value)| {
            let schema = known.get(name)?;
            self.value(schema, value, &place.field(name))
        })
    }

    /// What is wrong with a value, if anything. `null` is the zero value of every type.
    fn value(&self, schema: &Value, value: &Value, place: &Place) -> Option<String> {
        if value.is_null() {
            return None;
        }
        let Some((name, definition)) = self.definitions.resolve(schema) else {
            return self.plain(schema, value, place);
        };
        match (last(name), value) {
            ("Quantity", value) => quantity(value),
            ("Time", Value::String(text)) => time(text, "2006-01-02T15:04:05Z07:00"),
            ("MicroTime", Value::String(text)) => micro_time(text),
            ("IntOrString", value) => int_or_string(value, place),
            (of, Value::Object(object)) if definition.get("properties").is_some() => {
                let place = Place {
                    of: of.to_owned(),
                    path: place.path.clone(),
                };
                self.fields(definition, object, &place)
            }
            (_, value) => self.named(name, definition, value, place),
        }
    }

    /// A value of a type that has a name but is no object with fields, or that was given none.
    fn named(&self, name: &str, schema: &Value, value: &Value, place: &Place) -> Option<String> {
        if schema.get("properties").is_some() {
            return Some(place.cannot(&what(value), &go(name)));
        }
        self.plain(schema, value, place)
    }

    fn plain(&self, schema: &Value, value: &Value, place: &Place) -> Option<String> {
        let kind = schema
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match (kind, value) {
            ("string", Value::String(text)) if schema.get("format") == Some(&"byte".into()) => {
                base64(text)
            }
            ("string", Value::String(_))
            | ("boolean", Value::Bool(_))
            | ("number", Value::Number(_))
            | ("", _) => None,
            ("integer", Value::Number(number)) => {
                let fits = number.as_i64().is_some_and(|number| {
                    schema.get("format") != Some(&"int32".into()) || i32::try_from(number).is_ok()
                });
                (!fits).then(|| {
                    place.cannot(&format!("number {number}"), &self.go_name(schema, place))
                })
            }
            ("array", Value::Array(values)) => {
                let items = schema.get("items")?;
                values
                    .iter()
                    .find_map(|value| self.value(items, value, place))
            }
            ("object", Value::Object(entries)) => {
                let values = schema.get("additionalProperties")?;
                entries
                    .values()
                    .find_map(|value| self.value(values, value, place))
            }
            (_, value) => Some(place.cannot(&what(value), &self.go_name(schema, place))),
        }
    }

    /// The type of a field, or of what is in its list.
    fn go_name(&self, schema: &Value, place: &Place) -> String {
        let field = place.path.last().map(String::as_str);
        let is_list = schema.get("type") == Some(&"array".into());
        match go_types::named(&place.of, field.unwrap_or_default()) {
            Some(name) if is_list => name.to_owned(),
            Some(name) => name.trim_start_matches("[]").to_owned(),
            None => self.go_type(schema),
        }
    }

    /// A schema as a type of Go's.
    fn go_type(&self, schema: &Value) -> String {
        if let Some((name, _)) = self.definitions.resolve(schema) {
            return go(name);
        }
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let below = |key: &str| {
            schema
                .get(key)
                .map_or_else(String::new, |below| self.go_type(below))
        };
        match (text("type"), text("format")) {
            ("string", "byte") => "[]uint8".to_owned(),
            ("boolean", _) => "bool".to_owned(),
            ("integer", "") => "int".to_owned(),
            ("integer", format) => format.to_owned(),
            ("number", _) => "float64".to_owned(),
            ("array", _) => format!("[]{}", below("items")),
            ("object", _) => format!("map[string]{}", below("additionalProperties")),
            (other, _) => other.to_owned(),
        }
    }
}

/// `v1.ServicePort`; times are read as texts.
fn go(name: &str) -> String {
    match last(name) {
        "Time" | "MicroTime" => "string".to_owned(),
        "Quantity" => "resource.Quantity".to_owned(),
        "IntOrString" => "intstr.IntOrString".to_owned(),
        of => format!("v1.{of}"),
    }
}

/// The last part of a type's full name.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A JSON value as Go's decoder calls it.
fn what(value: &Value) -> String {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
    .to_owned()
}

fn int_or_string(value: &Value, place: &Place) -> Option<String> {
    match value {
        Value::String(_) => None,
        Value::Number(number) => {
            let fits = number
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok());
            (!fits).then(|| place.cannot(&format!("number {number}"), "int32"))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Some(place.cannot(&what(value), "int32"))
        }
    }
}

/// A number with an optional suffix; only its outer form is looked at.
fn quantity(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(_) => return None,
        Value::String(text) => text.as_str(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => "",
    };
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
    let suffix = digits.trim_start_matches(|letter| "eEinumkKMGTP".contains(letter));
    let exponent = suffix.strip_prefix(['+', '-']).unwrap_or(suffix);
    let fits = unsigned.len() > digits.len() && exponent.bytes().all(|byte| byte.is_ascii_digit());
    (!fits).then(|| QUANTITY.to_owned())
}

fn time(text: &str, layout: &str) -> Option<String> {
    let parsed: Result<Timestamp, _> = text.parse();
    parsed
        .is_err()
        .then(|| format!("parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\""))
}

/// A time with exactly six digits after the dot.
fn micro_time(text: &str) -> Option<String> {
    const LAYOUT: &str = "2006-01-02T15:04:05.000000Z07:00";
    let wrong = |rest: &str, part: &str| {
        format!("parsing time {text:?} as {LAYOUT:?}: cannot parse {rest:?} as {part:?}")
    };
    if let Some(error) = time(text, LAYOUT) {
        return Some(error);
    }
    let rest = text.get("2006-01-02T15:04:05".len()..).unwrap_or_default();
    let Some(fraction) = rest.strip_prefix('.') else {
        return Some(wrong(rest, ".000000"));
    };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        ..6 => Some(wrong(rest, ".000000")),
        6 => None,
        _ => Some(wrong(&fraction[6..], "Z07:00")),
    }
}

/// Standard base64 with padding. Line breaks are skipped, as Go does.
fn base64(text: &str) -> Option<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    let joined: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\r' | '\n'))
        .collect();
    STANDARD.decode(joined.as_bytes()).is_err().then(|| {
        let foreign =
            |letter: char| !(letter.is_ascii_alphanumeric() || "+/=\r\n".contains(letter));
        // Where nothing is foreign the length is wrong, which Go finds in the last group of four.
        let at = text.find(foreign).unwrap_or(text.len() / 4 * 4);
        format!("illegal base64 data at input byte {at}")
    })
}
