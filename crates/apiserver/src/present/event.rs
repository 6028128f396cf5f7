//! The lines of watches, or their frames in protocol buffers.
//!
//! Most watchers of a kind are told of a change in the same words. Whoever needs them first writes them, and the
//! others share the bytes. Tables are the exception: the ages in them are of the moment they are read.

use std::sync::{Arc, OnceLock};

use bytes::{BufMut as _, Bytes};
use serde_json::{Value, json};

use super::{HEAD_MAX, put_object};
use crate::builtin;
use crate::clock::Clock;
use crate::engine::{Event, EventType};
use crate::media_type::{self, Format, MetaVersion, View};
use crate::object::Object;
use crate::refusal::Refusal;
use crate::resource::Resource;
use crate::store::Stored;
use crate::table::{Headers, IncludeObject, Tabulator, partial};

/// In how many ways one change is written for all: two versions of a kind, whole or metadata alone, as JSON or as protocol
/// buffers. A watch that wants yet another one writes it for itself.
const LINES_MAX: usize = 8;

/// The lines that tell of one change, as far as they have been written.
#[derive(Debug)]
pub(crate) struct Lines {
    object: Arc<Stored>,
    written: [OnceLock<Line>; LINES_MAX],
}

/// A line, and everything beside the object that it depends on.
#[derive(Debug)]
struct Line {
    resource: Arc<Resource>,
    view: CommonView,
    format: Format,
    happened: EventType,
    bytes: Bytes,
}

/// Writes the events of one watch.
#[derive(Debug)]
pub(crate) struct EventEncoder {
    resource: Arc<Resource>,
    format: Format,
    view: EventView,
}

#[derive(Clone, Copy, Debug)]
enum EventView {
    Common(CommonView),
    Table {
        version: MetaVersion,
        include: IncludeObject,
        /// Columns are told once.
        headers: Headers,
    },
}

/// A view in which an object looks the same to everyone, whenever they look.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CommonView {
    Whole,
    Metadata(MetaVersion),
}

impl Lines {
    /// Lines about `object`, none of them written yet.
    pub(crate) fn new(object: Arc<Stored>) -> Self {
        Self {
            object,
            written: Default::default(),
        }
    }

    fn line(
        &self,
        resource: &Arc<Resource>,
        view: CommonView,
        format: Format,
        happened: EventType,
    ) -> Bytes {
        let write = || view.line(resource, format, happened, &self.object);
        for slot in &self.written {
            let line = slot.get_or_init(|| Line {
                resource: Arc::clone(resource),
                view,
                format,
                happened,
                bytes: write(),
            });
            let same_form = line.view == view && line.format == format;
            let same_kind = Arc::ptr_eq(&line.resource, resource);
            if same_form && same_kind && line.happened == happened {
                return line.bytes.clone();
            }
        }
        write()
    }
}

impl EventEncoder {
    pub(crate) fn new(
        form: media_type::Answer,
        resource: Arc<Resource>,
        include: IncludeObject,
    ) -> Self {
        let view = match form.view {
            View::Plain | View::AggregatedDiscovery => EventView::Common(CommonView::Whole),
            View::Metadata(version) | View::MetadataList(version) => {
                EventView::Common(CommonView::Metadata(version))
            }
            View::Table(version) => EventView::Table {
                version,
                include,
                headers: Headers::Shown,
            },
        };
        Self {
            resource,
            format: form.format,
            view,
        }
    }

    /// Events, a line or a frame each.
    pub(crate) fn encode(&mut self, events: &[Event], clock: &Clock) -> Bytes {
        let mut bytes = Vec::new();
        for event in events {
            match event {
                Event::Object(happened, stored) => {
                    self.put_stored(&mut bytes, *happened, stored, clock);
                }
                Event::Bookmark { revision, initial } => {
                    let object = bookmark(&self.resource, *revision, *initial);
                    let object = self.show(object, clock);
                    put_event(&mut bytes, self.format, "BOOKMARK", &object);
                }
            }
        }
        bytes.into()
    }

    /// What happened to the object that `lines` are about.
    pub(crate) fn encode_shared(
        &mut self,
        lines: &Lines,
        happened: EventType,
        clock: &Clock,
    ) -> Bytes {
        match self.view {
            EventView::Common(view) => lines.line(&self.resource, view, self.format, happened),
            EventView::Table { .. } => {
                let event = Event::Object(happened, Arc::clone(&lines.object));
                self.encode(&[event], clock)
            }
        }
    }

    /// The event that says why a watch ends.
    pub(crate) fn error(&self, refusal: &Refusal) -> Bytes {
        let mut bytes = Vec::new();
        put_event(&mut bytes, self.format, "ERROR", &refusal.status());
        bytes.into()
    }

    fn put_stored(
        &mut self,
        bytes: &mut Vec<u8>,
        happened: EventType,
        stored: &Stored,
        clock: &Clock,
    ) {
        match self.view {
            EventView::Common(view) => {
                view.put_stored(bytes, &self.resource, self.format, happened, stored);
            }
            EventView::Table { .. } => {
                let object = self.resource.show(stored.object());
                let object = self.show(object, clock);
                put_event(bytes, self.format, happened.name(), &object);
            }
        }
    }

    fn show(&mut self, object: Object, clock: &Clock) -> Value {
        match &mut self.view {
            EventView::Common(view) => view.show(object),
            EventView::Table {
                version,
                include,
                headers,
            } => {
                let told = std::mem::replace(headers, Headers::Omitted);
                let (cells, now) = (&builtin::cells, clock.now());
                Tabulator::new(&self.resource, cells, now, *include, *version).object(&object, told)
            }
        }
    }
}

impl CommonView {
    fn line(
        self,
        resource: &Resource,
        format: Format,
        happened: EventType,
        stored: &Stored,
    ) -> Bytes {
        let mut bytes = Vec::with_capacity(stored.json().len() + HEAD_MAX);
        self.put_stored(&mut bytes, resource, format, happened, stored);
        bytes.into()
    }

    fn put_stored(
        self,
        bytes: &mut Vec<u8>,
        resource: &Resource,
        format: Format,
        happened: EventType,
        stored: &Stored,
    ) {
        let as_kept = self == Self::Whole && resource.shows_as_kept();
        if as_kept && format != Format::Protobuf {
            put_line(bytes, happened.name(), |bytes| {
                put_object(bytes, resource, stored);
            });
        } else {
            let object = self.show(resource.show(stored.object()));
            put_event(bytes, format, happened.name(), &object);
        }
    }

    fn show(self, object: Object) -> Value {
        match self {
            Self::Whole => Value::Object(object),
            Self::Metadata(version) => partial::object(&object, version),
        }
    }
}

/// Watches are negotiated to be JSON or protocol buffers, and the latter only where there are some.
fn put_event(bytes: &mut Vec<u8>, format: Format, name: &str, object: &Value) {
    match format {
        Format::Json | Format::Yaml => put_line(bytes, name, |bytes| {
            bytes.put_slice(object.to_string().as_bytes());
        }),
        Format::Protobuf => {
            let _negotiated = wire::put_frame(bytes, name, object);
        }
    }
}

fn put_line(bytes: &mut Vec<u8>, name: &str, put: impl FnOnce(&mut Vec<u8>)) {
    bytes.put_slice(b"{\"type\":\"");
    bytes.put_slice(name.as_bytes());
    bytes.put_slice(b"\",\"object\":");
    put(bytes);
    bytes.put_slice(b"}\n");
}

/// What a bookmark carries: an object of the kind that has nothing but a revision.
fn bookmark(resource: &Resource, revision: u64, initial: bool) -> Object {
    let mut metadata = json!({ "resourceVersion": revision.to_string() });
    if initial {
        metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
    }
    let mut object = Object::new();
    object.insert("kind".into(), resource.names.kind.as_str().into());
    object.insert("apiVersion".into(), resource.api_version().into());
    object.insert("metadata".into(), metadata);
    object
}

#[cfg(test)]
mod tests;
