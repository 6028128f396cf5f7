//! Objects in protocol buffers, as Kubernetes writes them.
//!
//! Clients on client-go send and ask for them wherever a kind is built in. Everything behind a request is JSON all the same:
//! a body is made JSON when it has been read, an answer is made octets when it is written. One table of facts says what
//! every kind looks like, so there is no code for any of them; which zeros are written, and in which order, is as Go does
//! it, octet for octet.
//!
//! The same facts say what Go makes of JSON that somebody else has written: see [`normalise`].
//!
//! The border: octets and JSON go in and out. Which of the two a client gets, and whether an object may be what it is, is
//! decided by the API.
//!
//! ```text
//! body       k8s\0 Unknown{ apiVersion, kind, raw: the object }
//! watch      length, WatchEvent{ type, object: a body } …
//! ```

mod decode;
mod encode;
mod facts;
mod normal;

use std::fmt;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use decode::{Fields, Reader};
use facts::FACTS;
pub use normal::Misfit;

/// What every body begins with.
const PREFIX: [u8; 4] = *b"k8s\0";

/// The longest frame of a watch has a length of this many octets.
const FRAME_HEAD: usize = 4;

/// How many fields, elements of lists and entries of maps a body may have. Each may take two octets there and several
/// hundred here; an object of the largest size that is stored has a third of this only if it is made of nothing else.
const ELEMENTS_MAX: usize = 300_000;

/// How deep messages may lie in each other: JSON is not read again beyond that.
const NESTING_MAX: usize = 127;

/// The time that Go calls zero.
const YEAR_ONE: Timestamp = Timestamp::constant(-62_135_596_800, 0);

/// A body that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// What the body says it is, as far as that could be read: version and kind.
    pub says: Option<(String, String)>,
    why: Malformed,
}

/// What is wrong with octets, in Go's words where it has some.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum Malformed {
    #[error("empty data")]
    Empty,
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    Prefix,
    #[error("empty body")]
    EmptyBody,
    #[error("unexpected EOF")]
    Short,
    #[error("proto: integer overflow")]
    Number,
    #[error("proto: negative length found during unmarshaling")]
    Length,
    #[error("proto: wrong wireType for field {0}")]
    Type(&'static str),
    #[error("more than {ELEMENTS_MAX} fields and elements")]
    Many,
    #[error("nested more than {NESTING_MAX} levels deep")]
    Deep,
    #[error("invalid int or string type")]
    IntOrString,
    #[error("a number that JSON cannot say")]
    Double,
    #[error("a time that no calendar has")]
    Time,
    #[error("{0}")]
    Json(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl std::error::Error for Error {}

/// What an object is: its `apiVersion` and its `kind`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TypeMeta<'a> {
    /// Such as `apps/v1`.
    pub api_version: &'a str,
    /// Such as `Deployment`.
    pub kind: &'a str,
}

/// Whether there are protocol buffers for a kind.
pub fn is_known(of: TypeMeta<'_>) -> bool {
    FACTS.kind(of.api_version, of.kind).is_some()
}

/// Reads a body. What it does not say about itself it is `usually`; of a kind that is not known nothing else is read.
pub fn decode(octets: &[u8], usually: TypeMeta<'_>) -> Result<Value, Error> {
    let nameless = |why| Error { says: None, why };
    let body = match octets.strip_prefix(&PREFIX) {
        None if octets.is_empty() => return Err(nameless(Malformed::Empty)),
        None => return Err(nameless(Malformed::Prefix)),
        Some([]) => return Err(nameless(Malformed::EmptyBody)),
        Some(body) => body,
    };
    let (mut version, mut kind, raw) = envelope(body).map_err(nameless)?;
    if kind.is_empty() {
        usually.kind.clone_into(&mut kind);
    }
    if version.is_empty() {
        usually.api_version.clone_into(&mut version);
    }
    let mut object = Map::new();
    if let Some(id) = FACTS.kind(&version, &kind) {
        let read = Reader::new().message(id, raw, &mut object, 1);
        read.map_err(|why| Error {
            says: Some((version.clone(), kind.clone())),
            why,
        })?;
    }
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(object.into())
}

/// Writes an object, or nothing where its kind is one that has no protocol buffers.
pub fn encode(object: &Value) -> Option<Vec<u8>> {
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let of = TypeMeta {
        api_version: text("apiVersion"),
        kind: text("kind"),
    };
    let id = FACTS.kind(of.api_version, of.kind)?;
    Some(enveloped(of, |octets| encode::message(octets, id, object)))
}

/// Gives an object the form that Go gives it: without what Go leaves out, with what it always writes. Of a kind that is not
/// known nothing changes. Of one that has a field of another type than its kind says, the rest is lost.
pub fn normalise(of: TypeMeta<'_>, object: &mut Map<String, Value>) -> Result<(), Misfit> {
    let id = FACTS.kind(of.api_version, of.kind);
    id.map_or(Ok(()), |id| normal::fields(id, object))
}

/// Reads the frames of a watch that have come, and leaves the beginning of another in `octets`: each event as JSON tells it.
pub fn decode_frames(octets: &mut Vec<u8>) -> Result<Vec<Value>, Error> {
    let mut events = Vec::new();
    let mut rest = octets.as_slice();
    while let Some((frame, after)) = split_frame(rest) {
        events.push(event(frame)?);
        rest = after;
    }
    let done = octets.len() - rest.len();
    octets.drain(..done);
    Ok(events)
}

/// Appends the frame of an event, or nothing where the kind of its object is one that has no protocol buffers.
pub fn put_frame(octets: &mut Vec<u8>, name: &str, object: &Value) -> Option<()> {
    let body = encode(object)?;
    let start = octets.len();
    octets.extend_from_slice(&[0; FRAME_HEAD]);
    encode::text(octets, 1, name);
    encode::delimited(octets, 2, |octets| encode::bytes(octets, 1, &body));
    let length = u32::try_from(octets.len() - start - FRAME_HEAD).expect("no object is that long");
    octets[start..start + FRAME_HEAD].copy_from_slice(&length.to_be_bytes());
    Some(())
}

/// Writes a list: its metadata, and one item after the other.
pub fn encode_list(
    of: TypeMeta<'_>,
    metadata: &Value,
    items: impl Iterator<Item = Value>,
) -> Option<Vec<u8>> {
    let id = FACTS.kind(of.api_version, of.kind)?;
    let list = FACTS.message(id).field(2)?;
    Some(enveloped(of, |octets| {
        encode::message(octets, id, &json!({ "metadata": metadata }));
        for item in items {
            encode::element(octets, list, &item);
        }
    }))
}

fn enveloped(of: TypeMeta<'_>, put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut octets = PREFIX.to_vec();
    encode::delimited(&mut octets, 1, |octets| {
        encode::text(octets, 1, of.api_version);
        encode::text(octets, 2, of.kind);
    });
    encode::delimited(&mut octets, 2, put);
    // How the object is packed and what type it has: Kubernetes says neither.
    encode::text(&mut octets, 3, "");
    encode::text(&mut octets, 4, "");
    octets
}

/// The version and kind that an envelope says, and the object in it.
fn envelope(octets: &[u8]) -> Result<(String, String, &[u8]), Malformed> {
    let (mut version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    let mut fields = Fields(octets);
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => {
                let mut of = Fields(held.octets("typeMeta")?);
                while let Some((number, held)) = of.next()? {
                    match number {
                        1 => version = decode::text(held.octets("apiVersion")?),
                        2 => kind = decode::text(held.octets("kind")?),
                        _ => {}
                    }
                }
            }
            2 => raw = held.octets("raw")?,
            _ => {}
        }
    }
    Ok((version, kind, raw))
}

/// The first frame, without its length, and what comes after it.
fn split_frame(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = octets.split_first_chunk::<FRAME_HEAD>()?;
    let length = usize::try_from(u32::from_be_bytes(*head)).ok()?;
    rest.split_at_checked(length)
}

fn event(frame: &[u8]) -> Result<Value, Error> {
    let nameless = |why| Error { says: None, why };
    let (mut name, mut object) = (String::new(), Value::Null);
    let mut fields = Fields(frame);
    while let Some((number, held)) = fields.next().map_err(nameless)? {
        let octets = held.octets("event").map_err(nameless)?;
        let mut inner = Fields(octets);
        match number {
            1 => name = decode::text(octets),
            2 => {
                while let Some((_, held)) = inner.next().map_err(nameless)? {
                    object = decode(held.octets("raw").map_err(nameless)?, TypeMeta::default())?;
                }
            }
            _ => {}
        }
    }
    Ok(json!({ "type": name, "object": object }))
}

#[cfg(test)]
mod tests;
