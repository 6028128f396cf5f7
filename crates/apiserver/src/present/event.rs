//! The lines of watches.
//!
//! Most watchers of a kind are told of a change in the same words. Whoever needs them first writes them, and the
//! others share the bytes. Tables are the exception: the ages in them are of the moment they are read.

use std::sync::{Arc, OnceLock};

use bytes::{BufMut as _, Bytes, BytesMut};
use serde_json::{Value, json};

use super::{HEAD_MAX, put_object};
use crate::builtin;
use crate::clock::Clock;
use crate::engine::{Event, EventType};
use crate::media_type::{MetaVersion, View};
use crate::object::Object;
use crate::refusal::Refusal;
use crate::resource::Resource;
use crate::store::Stored;
use crate::table::{Headers, IncludeObject, Tabulator, partial};

/// In how many ways one change is written for all: two versions of a kind, whole or metadata alone. Whoever wants
/// yet another one writes it for itself.
const LINES_MAX: usize = 4;

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
    happened: EventType,
    bytes: Bytes,
}

/// Writes the events of one watch.
#[derive(Debug)]
pub(crate) struct EventEncoder {
    resource: Arc<Resource>,
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

    fn line(&self, resource: &Arc<Resource>, view: CommonView, happened: EventType) -> Bytes {
        let write = || view.line(resource, happened, &self.object);
        for slot in &self.written {
            let line = slot.get_or_init(|| Line {
                resource: Arc::clone(resource),
                view,
                happened,
                bytes: write(),
            });
            let same_view = line.view == view && Arc::ptr_eq(&line.resource, resource);
            if same_view && line.happened == happened {
                return line.bytes.clone();
            }
        }
        write()
    }
}

impl EventEncoder {
    pub(crate) fn new(view: View, resource: Arc<Resource>, include: IncludeObject) -> Self {
        let view = match view {
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
        Self { resource, view }
    }

    /// Events, a line each.
    pub(crate) fn encode(&mut self, events: &[Event], clock: &Clock) -> Bytes {
        let mut bytes = BytesMut::new();
        for event in events {
            match event {
                Event::Object(happened, stored) => {
                    put_line(&mut bytes, happened.name(), |bytes| {
                        self.put_stored(bytes, stored, clock);
                    });
                }
                Event::Bookmark { revision, initial } => {
                    let object = bookmark(&self.resource, *revision, *initial);
                    put_line(&mut bytes, "BOOKMARK", |bytes| {
                        put_value(bytes, &self.show(object, clock));
                    });
                }
            }
        }
        bytes.freeze()
    }

    /// What happened to the object that `lines` are about.
    pub(crate) fn encode_shared(
        &mut self,
        lines: &Lines,
        happened: EventType,
        clock: &Clock,
    ) -> Bytes {
        match self.view {
            EventView::Common(view) => lines.line(&self.resource, view, happened),
            EventView::Table { .. } => {
                let event = Event::Object(happened, Arc::clone(&lines.object));
                self.encode(&[event], clock)
            }
        }
    }

    /// The line that says why a watch ends.
    pub(crate) fn error(refusal: &Refusal) -> Bytes {
        format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", refusal.status()).into()
    }

    fn put_stored(&mut self, bytes: &mut BytesMut, stored: &Stored, clock: &Clock) {
        match self.view {
            EventView::Common(view) => view.put_stored(bytes, &self.resource, stored),
            EventView::Table { .. } => {
                let object = self.resource.show(stored.object());
                put_value(bytes, &self.show(object, clock));
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
    fn line(self, resource: &Resource, happened: EventType, stored: &Stored) -> Bytes {
        let mut bytes = BytesMut::with_capacity(stored.json().len() + HEAD_MAX);
        put_line(&mut bytes, happened.name(), |bytes| {
            self.put_stored(bytes, resource, stored);
        });
        bytes.freeze()
    }

    fn put_stored(self, bytes: &mut BytesMut, resource: &Resource, stored: &Stored) {
        if self == Self::Whole && resource.shows_as_kept() {
            put_object(bytes, resource, stored);
        } else {
            put_value(bytes, &self.show(resource.show(stored.object())));
        }
    }

    fn show(self, object: Object) -> Value {
        match self {
            Self::Whole => Value::Object(object),
            Self::Metadata(version) => partial::object(&object, version),
        }
    }
}

fn put_line(bytes: &mut BytesMut, name: &str, put: impl FnOnce(&mut BytesMut)) {
    bytes.put_slice(b"{\"type\":\"");
    bytes.put_slice(name.as_bytes());
    bytes.put_slice(b"\",\"object\":");
    put(bytes);
    bytes.put_slice(b"}\n");
}

fn put_value(bytes: &mut BytesMut, value: &Value) {
    bytes.put_slice(value.to_string().as_bytes());
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
