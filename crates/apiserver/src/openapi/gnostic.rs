//! A Swagger document in protocol buffers: the message that kubectl reads, `openapi.v2.Document` of
//! `github.com/google/gnostic-models`.
//!
//! The table below is the part of its `OpenAPIv2.proto` that our documents use. The message mirrors the JSON, but for wrappers
//! around maps, alternatives and texts in YAML, and JSON is YAML.

use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::Value;

/// A line for each message. A field is told by its name in JSON, its number and its type:
///
/// - `s` `b` `i` `d`: a text, a truth, a whole number, a number
/// - `y`: any value, as YAML
/// - `*t`: several of them
/// - `1.t`: a message with a `t` in its field 1
/// - `m1.t`: a map to `t`: a message with pairs in its field 1
///
/// `x-` stands for all fields whose names begin so.
const MESSAGES: &str = "\
Document swagger=1:s info=2:Info paths=8:m2.PathItem definitions=9:m1.Schema
Info title=1:s version=2:s
PathItem get=2:Operation put=3:Operation post=4:Operation delete=5:Operation patch=8:Operation parameters=9:*1.Parameter x-=10:y
Operation tags=1:*s description=3:s operationId=5:s produces=6:*s consumes=7:*s parameters=8:*1.Parameter responses=9:m1.1.Response x-=13:y
Response description=1:s schema=2:1.Schema
Body description=1:s name=2:s in=3:s required=4:b schema=5:Schema
Query required=1:b in=2:s description=3:s name=4:s type=6:s format=7:s uniqueItems=20:b
Path required=1:b in=2:s description=3:s name=4:s type=5:s format=6:s uniqueItems=19:b
Schema $ref=1:s format=2:s title=3:s description=4:s default=5:y multipleOf=6:d maximum=7:d exclusiveMaximum=8:b \
minimum=9:d exclusiveMinimum=10:b maxLength=11:i minLength=12:i pattern=13:s maxItems=14:i minItems=15:i uniqueItems=16:b \
maxProperties=17:i minProperties=18:i required=19:*s enum=20:*y additionalProperties=21:Additional type=22:1.s items=23:1.Schema \
allOf=24:*Schema properties=25:m1.Schema example=30:y x-=31:y";

/// The document in octets.
pub(super) fn encode(document: &Value) -> Vec<u8> {
    message("Document", document)
}

fn message(name: &str, value: &Value) -> Vec<u8> {
    let mut octets = Vec::new();
    let fields = value.as_object().into_iter().flatten();
    for (key, value) in fields {
        let Some((number, kind)) = field(name, key) else {
            continue;
        };
        if key.starts_with("x-") {
            put(&mut octets, number, &named(key, &any(value)));
        } else {
            write(&mut octets, number, kind, value);
        }
    }
    octets
}

/// The number and the type of a field.
fn field(message: &str, key: &str) -> Option<(u32, &'static str)> {
    let line = MESSAGES
        .lines()
        .find(|line| line.split(' ').next() == Some(message))?;
    let mut fields = line.split(' ').filter_map(|field| field.split_once('='));
    let known = |name: &str| name == key || name == "x-" && key.starts_with(name);
    let (_, told) = fields.find(|(name, _)| known(name))?;
    let (number, kind) = told.split_once(':')?;
    Some((number.parse().ok()?, kind))
}

fn write(octets: &mut Vec<u8>, number: u32, kind: &str, value: &Value) {
    if let Some(kind) = kind.strip_prefix('*') {
        let all = value.as_array().into_iter().flatten();
        all.for_each(|one| write(octets, number, kind, one));
        return;
    }
    if let Some((wrapper, kind)) = kind.split_once('.') {
        put(octets, number, &wrapped(wrapper, kind, value));
        return;
    }
    match kind {
        "s" => put(
            octets,
            number,
            value.as_str().unwrap_or_default().as_bytes(),
        ),
        "b" => put_number(octets, number, value.as_bool().unwrap_or_default().into()),
        "i" => put_number(octets, number, value.as_u64().unwrap_or_default()),
        "d" => {
            encode_key(number, WireType::SixtyFourBit, octets);
            octets.extend(value.as_f64().unwrap_or_default().to_le_bytes());
        }
        "y" => put(octets, number, &any(value)),
        "Additional" => {
            let mut inner = Vec::new();
            match value.as_bool() {
                Some(allowed) => put_number(&mut inner, 2, allowed.into()),
                None => put(&mut inner, 1, &message("Schema", value)),
            }
            put(octets, number, &inner);
        }
        "Parameter" => put(octets, number, &parameter(value)),
        name => put(octets, number, &message(name, value)),
    }
}

/// A message with one field, or with a pair for each entry of a map.
fn wrapped(wrapper: &str, kind: &str, value: &Value) -> Vec<u8> {
    let mut inner = Vec::new();
    let number = |text: &str| text.parse().expect("wrappers of the table have a number");
    match wrapper.strip_prefix('m') {
        None => write(&mut inner, number(wrapper), kind, value),
        Some(pairs) => {
            for (key, value) in value.as_object().into_iter().flatten() {
                let mut pair = Vec::new();
                put(&mut pair, 1, key.as_bytes());
                write(&mut pair, 2, kind, value);
                put(&mut inner, number(pairs), &pair);
            }
        }
    }
    inner
}

/// A parameter says by where it is of which type it is.
fn parameter(value: &Value) -> Vec<u8> {
    let kind = match value["in"].as_str().unwrap_or_default() {
        "body" => "1.Body",
        "path" => "2.4.Path",
        _ => "2.3.Query",
    };
    let (wrapper, kind) = kind.split_once('.').expect("it has a dot");
    wrapped(wrapper, kind, value)
}

fn any(value: &Value) -> Vec<u8> {
    let mut any = Vec::new();
    put(&mut any, 2, value.to_string().as_bytes());
    any
}

fn named(name: &str, value: &[u8]) -> Vec<u8> {
    let mut pair = Vec::new();
    put(&mut pair, 1, name.as_bytes());
    put(&mut pair, 2, value);
    pair
}

fn put(octets: &mut Vec<u8>, number: u32, value: &[u8]) {
    encode_key(number, WireType::LengthDelimited, octets);
    encode_varint(value.len() as u64, octets);
    octets.extend_from_slice(value);
}

fn put_number(octets: &mut Vec<u8>, number: u32, value: u64) {
    encode_key(number, WireType::Varint, octets);
    encode_varint(value, octets);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_alternatives_and_yaml_are_wrapped() {
        let document =
            json!({ "swagger": "2.0", "definitions": { "A": { "type": "object", "x-b": [1] } } });
        let schema = b"\xb2\x01\x08\x0a\x06object\xfa\x01\x0c\x0a\x03x-b\x12\x05\x12\x03[1]";
        let mut pair = b"\x0a\x01A\x12".to_vec();
        pair.push(schema.len().to_le_bytes()[0]);
        pair.extend(schema);
        let mut expected = vec![
            0x4a,
            pair.len().to_le_bytes()[0] + 2,
            0x0a,
            pair.len().to_le_bytes()[0],
        ];
        expected.extend(pair);
        expected.extend(b"\x0a\x032.0");
        assert_eq!(encode(&document), expected);
    }

    #[test]
    fn every_type_of_the_table_is_known() {
        for line in MESSAGES.lines() {
            let fields = line.split(' ').skip(1);
            for field in fields {
                let (_, told) = field.split_once('=').unwrap();
                let (number, kind) = told.split_once(':').unwrap();
                assert!(number.parse::<u32>().is_ok(), "{field}");
                let name = kind.rsplit(['.', '*']).next().unwrap();
                let known = ["s", "b", "i", "d", "y", "Additional", "Parameter"].contains(&name)
                    || MESSAGES
                        .lines()
                        .any(|line| line.starts_with(&format!("{name} ")));
                assert!(known, "{field}");
            }
        }
    }
}
