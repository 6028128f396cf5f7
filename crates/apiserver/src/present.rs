//! Answers as bytes.
//!
//! Stored objects are JSON already; an answer is made by putting the words that say what they are in front, and lists
//! and watches by putting such answers one after another. Only other views (tables, metadata alone,
//! YAML, protocol buffers) parse anything. The lines of watches are in `present/event.rs`, the pieces of lists in `present/list.rs`.

mod event;
mod list;

use bytes::{BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::builtin;
use crate::engine::Page;
use crate::media_type::{self, Format, View};
use crate::object::Object;
use crate::refusal::Refusal;
use crate::resource::{Origin, Resource};
use crate::store::Stored;
use crate::table::{Headers, IncludeObject, Tabulator, partial};
use wire::TypeMeta;

pub(crate) use event::{EventEncoder, Lines};
pub(crate) use list::List;

/// How objects are shown: in which form, when, and with how much of the object in a row of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Presentation {
    pub(crate) form: media_type::Answer,
    pub(crate) now: Timestamp,
    pub(crate) include: IncludeObject,
}

impl Presentation {
    /// One object.
    pub(crate) fn object(self, resource: &Resource, stored: &Stored) -> Result<Bytes, Refusal> {
        if self.is_as_stored(resource) {
            let mut bytes = BytesMut::with_capacity(stored.json().len() + HEAD_MAX);
            put_object(&mut bytes, resource, stored);
            return Ok(bytes.freeze());
        }
        let object = resource.show(stored.object());
        let value = match self.form.view {
            View::Plain | View::AggregatedDiscovery => Value::Object(object),
            View::Metadata(version) => partial::object(&object, version),
            View::MetadataList(_) => return Err(partial::refuse_object(resource)),
            View::Table(version) => {
                let tabulator =
                    Tabulator::new(resource, &builtin::cells, self.now, self.include, version);
                tabulator.object(&object, Headers::Shown)
            }
        };
        document(self.form, &value)
    }

    /// A list.
    pub(crate) fn list(self, resource: &Resource, page: Page) -> Result<List, Refusal> {
        let mut metadata = list_metadata(&page);
        let plain = self.form.view == View::Plain;
        if plain && resource.origin == Origin::Custom && page.next.is_none() {
            // Lists of custom kinds always say how to go on.
            metadata["continue"] = "".into();
        }
        if self.is_as_stored(resource) {
            return Ok(List::plain(resource, page.items, &metadata));
        }
        if plain && self.form.format == Format::Protobuf {
            let of = TypeMeta {
                api_version: &resource.api_version(),
                kind: &resource.names.list_kind,
            };
            let items = page.items.iter();
            let items = items.map(|stored| Value::Object(resource.show(stored.object())));
            let octets = wire::encode_list(of, &metadata, items);
            let octets = octets.ok_or_else(Refusal::not_acceptable)?;
            return Ok(List::whole(octets.into()));
        }
        let objects = || {
            page.items
                .iter()
                .map(|stored| resource.show(stored.object()))
                .collect::<Vec<Object>>()
        };
        let value = match self.form.view {
            View::Plain | View::AggregatedDiscovery => shown_list(resource, objects(), &metadata),
            View::Metadata(_) => return Err(partial::refuse_list(resource)),
            View::MetadataList(version) => partial::list(&objects(), &metadata, version),
            View::Table(version) => {
                let tabulator =
                    Tabulator::new(resource, &builtin::cells, self.now, self.include, version);
                tabulator.list(&objects(), &metadata)
            }
        };
        document(self.form, &value).map(List::whole)
    }

    /// Whether what is stored can be answered with as it is.
    fn is_as_stored(self, resource: &Resource) -> bool {
        let Self { form, .. } = self;
        form.view == View::Plain
            && form.format == Format::Json
            && !form.pretty
            && resource.shows_as_kept()
    }
}

/// Anything else. Not all of it can be told in protocol buffers.
pub(crate) fn document(form: media_type::Answer, value: &Value) -> Result<Bytes, Refusal> {
    let infallible = "JSON values have no way to fail";
    Ok(match form.format {
        Format::Json if form.pretty => serde_json::to_vec_pretty(value).expect(infallible).into(),
        Format::Json => serde_json::to_vec(value).expect(infallible).into(),
        Format::Yaml => serde_saphyr::to_string(value).expect(infallible).into(),
        Format::Protobuf => wire::encode(value)
            .ok_or_else(Refusal::not_acceptable)?
            .into(),
    })
}

/// More than the words in front of an object take.
const HEAD_MAX: usize = 256;

/// What ends the items of a list, and the list.
const ITEMS_END: &[u8] = b"]}";

/// The JSON of an object with `kind` and `apiVersion` in front.
fn put_object(bytes: &mut impl BufMut, resource: &Resource, stored: &Stored) {
    put_head(bytes, resource);
    // An object always has metadata, so there is something after the brace.
    bytes.put_slice(&stored.json()[1..]);
}

/// The brace of an object, and what it is.
fn put_head(bytes: &mut impl BufMut, resource: &Resource) {
    bytes.put_slice(b"{\"kind\":");
    put_text(bytes, &resource.names.kind);
    bytes.put_slice(b",\"apiVersion\":");
    put_text(bytes, &resource.api_version());
    bytes.put_u8(b',');
}

fn put_text(bytes: &mut impl BufMut, text: &str) {
    let json = serde_json::to_vec(text).expect("a text has no way to fail");
    bytes.put_slice(&json);
}

/// The same, for forms that are not the stored one.
fn shown_list(resource: &Resource, mut objects: Vec<Object>, metadata: &Value) -> Value {
    if resource.origin == Origin::Builtin {
        for object in &mut objects {
            object.remove("kind");
            object.remove("apiVersion");
        }
    }
    json!({
        "kind": resource.names.list_kind,
        "apiVersion": resource.api_version(),
        "metadata": metadata,
        "items": objects,
    })
}

fn list_metadata(page: &Page) -> Value {
    let mut metadata = json!({ "resourceVersion": page.revision.to_string() });
    if let Some(next) = &page.next {
        metadata["continue"] = next.as_str().into();
    }
    if let Some(remaining) = page.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    metadata
}
