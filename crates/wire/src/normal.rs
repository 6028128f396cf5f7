//! JSON as Go reads it and writes it again.
//!
//! What Go leaves out goes, what it always writes comes, and quantities, times and octets get the form that it gives them.
//! Fields that a kind does not have stay. A list that Go writes also when nothing is in it stays empty, which it is until
//! it has been through protocol buffers.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::decode::zero;
use super::facts::{FACTS, Field, MessageId, Place, Special, Type};

/// A field that holds something else than its kind has there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Misfit {
    /// Such as `spec.ports[0].port`.
    pub path: String,
    /// What it should be, such as `int32`.
    pub wanted: &'static str,
    /// What it is.
    pub found: Value,
}

impl Misfit {
    fn below(mut self, place: impl fmt::Display) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{place}{dot}{}", self.path);
        self
    }
}

/// Gives the fields of a message their form.
pub(super) fn fields(id: MessageId, object: &mut Map<String, Value>) -> Result<(), Misfit> {
    for field in &FACTS.message(id).fields {
        if let (Place::Inline, Type::Message(inner)) = (field.place, field.of) {
            fields(inner, object)?;
            continue;
        }
        let place = object.get_mut(field.name);
        let sent = place.as_ref().is_some_and(|value| !value.is_null());
        if !sent && field.is_left_out() {
            object.remove(field.name);
            continue;
        }
        let value = place.map(Value::take).unwrap_or_default();
        let value = held(field, value).map_err(|misfit| misfit.below(field.name))?;
        if field.is_left_out() && is_nothing(field, &value) {
            object.remove(field.name);
        } else if let Some(place) = object.get_mut(field.name) {
            *place = value;
        } else {
            object.insert(field.name.to_owned(), value);
        }
    }
    Ok(())
}

/// Whether Go calls it empty.
fn is_nothing(field: &Field, value: &Value) -> bool {
    match (field.place, value) {
        (_, Value::Null) => true,
        (Place::Pointer | Place::Inline, _) => false,
        (_, Value::Array(list)) => list.is_empty(),
        (Place::Map, Value::Object(entries)) => entries.is_empty(),
        (_, value) => *value == zero(field.of),
    }
}

fn held(field: &Field, value: Value) -> Result<Value, Misfit> {
    let each = |value| one(field.of, value);
    match (field.place, value) {
        (Place::Pointer | Place::List | Place::Map, Value::Null) => Ok(Value::Null),
        (Place::Value | Place::Inline | Place::Pointer, value) => each(value),
        (Place::List, Value::Array(list)) => {
            let list = list.into_iter().enumerate().map(|(index, value)| {
                each(value).map_err(|misfit| misfit.below(format_args!("[{index}]")))
            });
            list.collect()
        }
        (Place::Map, Value::Object(entries)) => {
            let entries = entries.into_iter().map(|(key, value)| {
                // Octets that are missing here are empty ones.
                if value.is_null() && field.of == Type::Bytes {
                    return Ok((key, "".into()));
                }
                match each(value) {
                    Ok(value) => Ok((key, value)),
                    Err(misfit) => Err(misfit.below(format_args!("[{key}]"))),
                }
            });
            entries.collect()
        }
        (Place::List, found) => Err(misfit("array", found)),
        (Place::Map, found) => Err(misfit("object", found)),
    }
}

fn one(of: Type, value: Value) -> Result<Value, Misfit> {
    match (of, value) {
        (Type::Message(id), value) if FACTS.message(id).is_list => {
            held(&FACTS.message(id).fields[0], value)
        }
        (Type::Message(_), Value::Null) => one(of, Map::new().into()),
        (Type::Message(id), Value::Object(mut object)) => {
            fields(id, &mut object)?;
            Ok(object.into())
        }
        (of, Value::Null) => Ok(zero(of)),
        (of, value) => formed(of, &value).ok_or_else(|| misfit(name(of), value)),
    }
}

/// A value in the form of its type; nothing if it does not have the type.
fn formed(of: Type, value: &Value) -> Option<Value> {
    let text = value.as_str();
    match of {
        Type::Bool => value.as_bool().map(Value::from),
        Type::Int32 => i32::try_from(value.as_i64()?).ok().map(Value::from),
        Type::Int64 => value.as_i64().map(Value::from),
        Type::Double => value.is_number().then(|| value.clone()),
        Type::Bytes => octets(text?).map(Value::from),
        Type::Message(_) => None,
        Type::Special(Special::Raw | Special::SchemaOr(_)) => Some(value.clone()),
        Type::Special(Special::Time) => Some(format!("{:.0}", time(text?)?).into()),
        Type::Special(Special::MicroTime) => {
            let text = text.filter(|text| has_micros(text))?;
            Some(format!("{:.6}", time(text)?).into())
        }
        Type::Special(Special::Quantity) if value.is_number() => Some(value.to_string().into()),
        Type::Special(Special::Quantity) => text.filter(|text| is_quantity(text)).map(Value::from),
        Type::Special(Special::IntOrString) if value.is_number() => formed(Type::Int32, value),
        Type::Text | Type::Special(Special::IntOrString) => text.map(Value::from),
    }
}

fn misfit(wanted: &'static str, found: Value) -> Misfit {
    Misfit {
        path: String::new(),
        wanted,
        found,
    }
}

fn name(of: Type) -> &'static str {
    match of {
        Type::Bool => "boolean",
        Type::Int32 => "int32",
        Type::Int64 => "int64",
        Type::Double => "number",
        Type::Text => "string",
        Type::Bytes => "byte",
        Type::Message(_) | Type::Special(Special::Raw | Special::SchemaOr(_)) => "object",
        Type::Special(Special::Time) => "Time",
        Type::Special(Special::MicroTime) => "MicroTime",
        Type::Special(Special::Quantity) => "Quantity",
        Type::Special(Special::IntOrString) => "IntOrString",
    }
}

/// Standard base64 with padding. Line breaks are skipped, as Go does.
fn octets(text: &str) -> Option<String> {
    let text = text.replace(['\r', '\n'], "");
    STANDARD.decode(&text).is_ok().then_some(text)
}

fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Whether a time has exactly six digits after the dot.
fn has_micros(text: &str) -> bool {
    let rest = text.get("2006-01-02T15:04:05".len()..).unwrap_or_default();
    let fraction = rest.strip_prefix('.').unwrap_or_default();
    fraction.bytes().take_while(u8::is_ascii_digit).count() == 6
}

/// A number with an optional suffix; only its outer form is looked at.
fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
    let suffix = digits.trim_start_matches(|letter| "eEinumkKMGTP".contains(letter));
    let exponent = suffix.strip_prefix(['+', '-']).unwrap_or(suffix);
    unsigned.len() > digits.len() && exponent.bytes().all(|byte| byte.is_ascii_digit())
}
