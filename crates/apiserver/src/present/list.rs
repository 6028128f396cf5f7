//! The bytes of a list, made as they are read.
//!
//! Ten thousand objects are more than ten megabytes. Their reader can begin when the first piece is there, and nobody
//! holds more than a piece of them as bytes: the objects themselves are those of the store.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::{mem, vec};

use bytes::{BufMut as _, Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use serde_json::Value;

use super::{ITEMS_END, put_head, put_text};
use crate::resource::{Origin, Resource};
use crate::store::Stored;

/// How many octets are made at a time: a few records of TLS, and little to hold for a reader that stalls.
const PIECE_BYTES: usize = 64 << 10;

/// A list on its way to its reader.
#[derive(Debug)]
pub(crate) struct List {
    /// What is in front of the items; empty once it is told.
    head: Bytes,
    /// What each item begins with, in place of its brace; empty where items are shown as they are kept.
    item_head: Bytes,
    items: vec::IntoIter<Arc<Stored>>,
    /// Octets that are still to come.
    left: usize,
}

impl List {
    /// Bytes that are there already.
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self {
            left: bytes.len(),
            head: bytes,
            item_head: Bytes::new(),
            items: Vec::new().into_iter(),
        }
    }

    /// Objects as they are kept. Items of built-in kinds leave out what the list says already; items of custom kinds
    /// do not.
    pub(super) fn plain(resource: &Resource, items: Vec<Arc<Stored>>, metadata: &Value) -> Self {
        let item_head = match resource.origin {
            Origin::Builtin => Bytes::new(),
            Origin::Custom => {
                let mut bytes = BytesMut::new();
                put_head(&mut bytes, resource);
                bytes.freeze()
            }
        };
        let mut head = BytesMut::new();
        head.put_slice(b"{\"kind\":");
        put_text(&mut head, &resource.names.list_kind);
        head.put_slice(b",\"apiVersion\":");
        put_text(&mut head, &resource.api_version());
        head.put_slice(b",\"metadata\":");
        head.put_slice(metadata.to_string().as_bytes());
        head.put_slice(b",\"items\":[");
        if items.is_empty() {
            head.put_slice(ITEMS_END);
            return Self::whole(head.freeze());
        }
        // Behind each item comes a comma, or else the end.
        let length = |stored: &Arc<Stored>| body(&item_head, stored).len() + item_head.len() + 1;
        let left = head.len() + items.iter().map(length).sum::<usize>() - 1 + ITEMS_END.len();
        Self {
            head: head.freeze(),
            item_head,
            items: items.into_iter(),
            left,
        }
    }

    /// How many octets are still to come.
    pub(crate) fn len(&self) -> usize {
        self.left
    }

    /// The next piece.
    fn next_piece(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let head = mem::take(&mut self.head);
        let piece = if self.items.len() == 0 {
            head
        } else {
            self.fill(&head)
        };
        self.left -= piece.len();
        Some(piece)
    }

    fn fill(&mut self, head: &[u8]) -> Bytes {
        // No further than a usual object beyond the mark.
        let mut piece = BytesMut::with_capacity(self.left.min(PIECE_BYTES + PIECE_BYTES / 8));
        piece.put_slice(head);
        while piece.len() < PIECE_BYTES
            && let Some(stored) = self.items.next()
        {
            piece.put_slice(&self.item_head);
            piece.put_slice(body(&self.item_head, &stored));
            let behind: &[u8] = if self.items.len() == 0 {
                ITEMS_END
            } else {
                b","
            };
            piece.put_slice(behind);
        }
        piece.freeze()
    }
}

/// What of an object stands behind a head.
fn body<'a>(item_head: &[u8], stored: &'a Stored) -> &'a [u8] {
    let json = stored.json();
    if item_head.is_empty() {
        json
    } else {
        // The brace is in the head. An object always has metadata, so there is something after it.
        &json[1..]
    }
}

impl Body for List {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next_piece().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::builtin;
    use crate::object::Object;

    fn config_maps(origin: Origin) -> Resource {
        let mut all = builtin::resources().into_iter();
        let found = all.find(|resource| resource.names.plural == "configmaps");
        Resource {
            origin,
            ..found.unwrap()
        }
    }

    fn object(number: usize, octets: usize) -> Object {
        let value = json!({
            "metadata": { "name": format!("n{number}") },
            "data": { "text": "x".repeat(octets) },
        });
        let Value::Object(object) = value else {
            unreachable!("written as one");
        };
        object
    }

    /// The pieces of a list, after each of which what is left is what was promised.
    fn pieces(mut list: List) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        let mut left = list.len();
        while let Some(piece) = list.next_piece() {
            assert!(!piece.is_empty());
            left -= piece.len();
            assert_eq!(list.len(), left);
            pieces.push(piece);
        }
        assert!(list.is_end_stream());
        assert_eq!(left, 0, "the length that was told is the length");
        pieces
    }

    #[track_caller]
    fn check(origin: Origin, objects: usize, octets: usize) -> Vec<Bytes> {
        let resource = config_maps(origin);
        let stored = (0..objects).map(|n| Arc::new(Stored::new(object(n, octets), n as u64 + 1)));
        let metadata = json!({ "resourceVersion": "7" });
        let pieces = pieces(List::plain(&resource, stored.collect(), &metadata));
        let expected = |number: usize| {
            let mut object = object(number, octets);
            object["metadata"]["resourceVersion"] = (number + 1).to_string().into();
            if origin == Origin::Custom {
                object.insert("kind".into(), "ConfigMap".into());
                object.insert("apiVersion".into(), "v1".into());
            }
            Value::Object(object)
        };
        let whole: Value = serde_json::from_slice(&pieces.concat()).unwrap();
        assert_eq!(
            whole,
            json!({
                "kind": "ConfigMapList",
                "apiVersion": "v1",
                "metadata": metadata,
                "items": (0..objects).map(expected).collect::<Vec<Value>>(),
            })
        );
        pieces
    }

    #[test]
    fn a_list_is_whole_and_as_long_as_it_says_however_many_pieces_it_has() {
        for origin in [Origin::Builtin, Origin::Custom] {
            for objects in [0, 1, 2, 200] {
                for octets in [0, 1_000] {
                    check(origin, objects, octets);
                }
            }
            check(origin, 3, 3 * PIECE_BYTES);
        }
    }

    #[test]
    fn no_piece_is_much_longer_than_was_meant() {
        let pieces = check(Origin::Builtin, 500, 1_000);
        assert!(pieces.len() > 5, "{} pieces", pieces.len());
        for piece in pieces {
            assert!(piece.len() < PIECE_BYTES + 2_000, "{} octets", piece.len());
        }
    }

    #[test]
    fn what_is_there_already_is_one_piece() {
        let list = List::whole(Bytes::from_static(b"text"));
        assert_eq!(pieces(list), [Bytes::from_static(b"text")]);
        assert_eq!(pieces(List::whole(Bytes::new())), Vec::<Bytes>::new());
    }
}
