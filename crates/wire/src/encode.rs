//! From JSON to octets.
//!
//! Everything is written once, from front to back. A message is written before its length is known: a place is kept for
//! a short one, and what is longer moves up by a few octets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use prost::encoding::{WireType, encode_varint, encoded_len_varint};
use serde_json::{Map, Value};

use super::YEAR_ONE;
use super::facts::{Alternative, FACTS, FIELDS_MAX, Field, MessageId, Place, Special, Type};

/// Appends a message with what `value` says. What is not there, or is something else than its kind has, is zero.
pub(super) fn message(octets: &mut Vec<u8>, id: MessageId, value: &Value) {
    let message = FACTS.message(id);
    match value {
        Value::Array(_) if message.is_list => field(octets, &message.fields[0], Some(value)),
        Value::Object(object) => fields(octets, id, object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            fields(octets, id, &Map::new());
        }
    }
}

/// Appends an element of a list.
pub(super) fn element(octets: &mut Vec<u8>, list: &Field, value: &Value) {
    one(octets, list.number, list.of, value);
}

/// Appends a field that holds octets: their key, their length, and what `put` appends.
pub(super) fn delimited(octets: &mut Vec<u8>, number: u32, put: impl FnOnce(&mut Vec<u8>)) {
    key(octets, number, WireType::LengthDelimited);
    octets.push(0);
    let start = octets.len();
    put(octets);
    let length = octets.len() - start;
    if let Ok(short @ ..=0x7f) = u8::try_from(length) {
        octets[start - 1] = short;
        return;
    }
    let longer = encoded_len_varint(length as u64) - 1;
    octets.resize(octets.len() + longer, 0);
    octets.copy_within(start..start + length, start + longer);
    encode_varint(length as u64, &mut &mut octets[start - 1..]);
}

/// Appends a field that holds a text.
pub(super) fn text(octets: &mut Vec<u8>, number: u32, text: &str) {
    bytes(octets, number, text.as_bytes());
}

/// Appends a field that holds octets that are there already.
pub(super) fn bytes(octets: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    key(octets, number, WireType::LengthDelimited);
    varint(octets, bytes.len() as u64);
    octets.extend_from_slice(bytes);
}

fn fields(octets: &mut Vec<u8>, id: MessageId, object: &Map<String, Value>) {
    let message = FACTS.message(id);
    // Both are in the order of their names: one walk finds what belongs together.
    let mut values = [None; FIELDS_MAX];
    let mut known = message.by_name.as_slice();
    for (name, value) in object {
        while let [(field, at), rest @ ..] = known
            && *field <= name.as_str()
        {
            if field == name {
                values[*at] = Some(value);
            }
            known = rest;
        }
    }
    for (at, value) in message.fields.iter().zip(values) {
        match (at.place, at.of) {
            (Place::Inline, Type::Message(inner)) => {
                delimited(octets, at.number, |octets| fields(octets, inner, object));
            }
            _ => field(octets, at, value),
        }
    }
}

fn field(octets: &mut Vec<u8>, field: &Field, value: Option<&Value>) {
    let value = value.unwrap_or(&Value::Null);
    let Field { number, of, .. } = *field;
    match (field.place, value) {
        (Place::Value | Place::Inline, Value::Null) if has_nil(of) => {}
        (Place::Pointer, Value::Null) => {}
        (Place::Value | Place::Inline | Place::Pointer, value) => one(octets, number, of, value),
        (Place::List, Value::Array(items)) => {
            for item in items {
                one(octets, number, of, item);
            }
        }
        (Place::Map, Value::Object(entries)) => {
            // The map is in the order of its keys, as Go writes it.
            for (key, value) in entries {
                delimited(octets, number, |octets| {
                    text(octets, 1, key);
                    if !(value.is_null() && of == Type::Bytes) {
                        one(octets, 2, of, value);
                    }
                });
            }
        }
        (Place::List | Place::Map, _) => {}
    }
}

/// Whether Go tells nothing from something empty, and does not write it.
fn has_nil(of: Type) -> bool {
    match of {
        Type::Bytes => true,
        Type::Message(id) => FACTS.message(id).is_list,
        Type::Bool | Type::Int32 | Type::Int64 | Type::Double | Type::Text | Type::Special(_) => {
            false
        }
    }
}

fn one(octets: &mut Vec<u8>, number: u32, of: Type, value: &Value) {
    match of {
        Type::Bool => integer(
            octets,
            number,
            i64::from(value.as_bool().unwrap_or_default()),
        ),
        Type::Int32 | Type::Int64 => integer(octets, number, value.as_i64().unwrap_or_default()),
        Type::Double => {
            key(octets, number, WireType::SixtyFourBit);
            octets.extend_from_slice(&value.as_f64().unwrap_or_default().to_le_bytes());
        }
        Type::Text => text(octets, number, value.as_str().unwrap_or_default()),
        Type::Bytes => {
            let decoded = STANDARD.decode(value.as_str().unwrap_or_default());
            bytes(octets, number, &decoded.unwrap_or_default());
        }
        Type::Message(id) => delimited(octets, number, |octets| message(octets, id, value)),
        Type::Special(of) => delimited(octets, number, |octets| special(octets, of, value)),
    }
}

/// A negative number takes ten octets, also one of 32 bits.
fn integer(octets: &mut Vec<u8>, number: u32, value: i64) {
    key(octets, number, WireType::Varint);
    varint(octets, value.cast_unsigned());
}

fn key(octets: &mut Vec<u8>, number: u32, wire_type: WireType) {
    varint(octets, u64::from(number << 3 | wire_type as u32));
}

/// Nearly all numbers are short: keys, lengths, flags.
fn varint(octets: &mut Vec<u8>, value: u64) {
    if let Ok(short @ ..=0x7f) = u8::try_from(value) {
        octets.push(short);
    } else {
        encode_varint(value, octets);
    }
}

fn special(octets: &mut Vec<u8>, of: Special, value: &Value) {
    match of {
        Special::Time => time(octets, value, |_| 0),
        Special::MicroTime => time(octets, value, |nanos| nanos / 1_000 * 1_000),
        Special::Quantity => match value {
            Value::String(quantity) => text(octets, 1, quantity),
            Value::Number(quantity) => text(octets, 1, &quantity.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                text(octets, 1, "0");
            }
        },
        Special::IntOrString => {
            integer(octets, 1, i64::from(value.is_string()));
            integer(octets, 2, value.as_i64().unwrap_or_default());
            text(octets, 3, value.as_str().unwrap_or_default());
        }
        Special::Raw if value.is_null() => {}
        Special::Raw => delimited(octets, 1, |octets| {
            serde_json::to_writer(octets, value).expect("JSON values have no way to fail");
        }),
        Special::SchemaOr(alternative) => schema_or(octets, alternative, value),
    }
}

fn schema_or(octets: &mut Vec<u8>, alternative: Alternative, value: &Value) {
    let schema = |octets: &mut Vec<u8>, number, value: &Value| {
        delimited(octets, number, |octets| {
            message(octets, FACTS.schema, value);
        });
    };
    let number = match alternative {
        Alternative::Schemas | Alternative::Texts => 1,
        Alternative::Bool => {
            let allows = value.is_object() || value == &Value::Bool(true);
            integer(octets, 1, i64::from(allows));
            2
        }
    };
    match value {
        Value::Object(_) => schema(octets, number, value),
        Value::Array(items) => {
            for item in items {
                match alternative {
                    Alternative::Schemas => schema(octets, 2, item),
                    Alternative::Texts => text(octets, 2, item.as_str().unwrap_or_default()),
                    Alternative::Bool => {}
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Seconds since 1970 and what `fraction` leaves of the nanoseconds; nothing for the time that Go calls zero.
fn time(octets: &mut Vec<u8>, value: &Value, fraction: impl FnOnce(i64) -> i64) {
    let time = value
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    let Some(time) = time.filter(|time| *time != YEAR_ONE) else {
        return;
    };
    // Nanoseconds count forward also before 1970.
    let (mut seconds, mut nanos) = (time.as_second(), i64::from(time.subsec_nanosecond()));
    if nanos < 0 {
        (seconds, nanos) = (seconds - 1, nanos + 1_000_000_000);
    }
    integer(octets, 1, seconds);
    integer(octets, 2, fraction(nanos));
}
