//! All documents, as they are answered with.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::resource::Resource;
use crate::schema::Schema;

/// The documents of one catalog.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    root: Document,
    documents: BTreeMap<String, Made>,
}

/// A document and the hash that is in its address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Document {
    pub(crate) octets: Bytes,
    /// Upper-case hex; in quotes it is the etag.
    pub(crate) hash: String,
}

/// A document with what it was made from.
#[derive(Clone, Debug)]
struct Made {
    document: Document,
    /// A kind that changes in any way gets another schema, if only one that says the same.
    from: Vec<Arc<Schema>>,
}

impl Library {
    /// Describes these kinds. Documents of which nothing has changed since `earlier` are taken from there.
    pub(crate) fn new(resources: &[Resource], earlier: Option<&Self>) -> Self {
        let mut shelves: BTreeMap<String, Vec<&Resource>> = BTreeMap::new();
        for resource in resources {
            shelves
                .entry(super::path(resource))
                .or_default()
                .push(resource);
        }
        let documents = shelves.into_iter().map(|(path, served)| {
            let known = earlier.and_then(|earlier| earlier.documents.get(&path));
            let made = known.filter(|known| known.is_of(&served)).cloned();
            (path, made.unwrap_or_else(|| Made::new(&served)))
        });
        let documents: BTreeMap<String, Made> = documents.collect();
        let root = Document::new(&root(&documents));
        Self { root, documents }
    }

    /// `/openapi/v3`: where the documents are.
    pub(crate) fn root(&self) -> &Document {
        &self.root
    }

    /// `/openapi/v2`: everything in one document, in JSON.
    pub(crate) fn v2(&self) -> Document {
        Document::new(&self.whole())
    }

    /// The same in protocol buffers.
    pub(crate) fn v2_in_protobuf(&self) -> Document {
        Document::of(super::gnostic::encode(&self.whole()))
    }

    fn whole(&self) -> Value {
        let documents = self.documents.values();
        super::v2::document(documents.map(|made| &*made.document.octets))
    }

    /// The document of a group and version, if anything is served there. The core group has no name.
    pub(crate) fn find(&self, group: &str, version: &str) -> Option<&Document> {
        let path = super::path_of(group, version);
        self.documents.get(&path).map(|made| &made.document)
    }
}

impl Made {
    fn new(served: &[&Resource]) -> Self {
        Self {
            document: Document::new(&super::document(served)),
            from: schemas(served).cloned().collect(),
        }
    }

    fn is_of(&self, served: &[&Resource]) -> bool {
        let same = |(one, other): (&Arc<Schema>, &Arc<Schema>)| Arc::ptr_eq(one, other);
        self.from.len() == served.len() && self.from.iter().zip(schemas(served)).all(same)
    }
}

impl Document {
    fn new(value: &Value) -> Self {
        Self::of(value.to_string().into())
    }

    fn of(octets: Vec<u8>) -> Self {
        Self {
            hash: blake3::hash(&octets).to_hex().to_ascii_uppercase(),
            octets: octets.into(),
        }
    }

    /// Where this content of the document of a group and version is.
    pub(crate) fn address(&self, group: &str, version: &str) -> String {
        address(&super::path_of(group, version), &self.hash)
    }
}

fn schemas<'a>(served: &'a [&Resource]) -> impl Iterator<Item = &'a Arc<Schema>> {
    served.iter().map(|resource| &resource.schema)
}

fn root(documents: &BTreeMap<String, Made>) -> Value {
    let entry = |(path, made): (&String, &Made)| {
        let url = address(path, &made.document.hash);
        (path.clone(), json!({ "serverRelativeURL": url }))
    };
    let paths: Map<String, Value> = documents.iter().map(entry).collect();
    json!({ "paths": paths })
}

fn address(path: &str, hash: &str) -> String {
    format!("/openapi/v3/{path}?hash={hash}")
}
