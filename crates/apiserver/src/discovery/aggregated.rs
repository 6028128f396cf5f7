//! All of discovery in one document for `/api` and one for `/apis`.

use serde_json::{Value, json};

use super::add_names;
use super::order::{GroupOrder, groups};
use super::verbs::{Subresource, subresources, verbs};
use crate::resource::{Origin, Resource, Scope};

/// Which of the two documents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Root {
    /// `/api`: the core group.
    Core,
    /// `/apis`: all others.
    Groups,
}

/// A document and its etag, which says the same of the same content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregated {
    pub(crate) document: Value,
    /// In quotes, ready to be a header; clients send it back in `If-None-Match`.
    pub(crate) etag: String,
}

/// The document for `/api` or `/apis`.
pub(crate) fn aggregated(resources: &[Resource], root: Root) -> Aggregated {
    let items: Vec<Value> = match root {
        Root::Core => {
            let version = version_entry(resources, "", "v1");
            vec![json!({ "metadata": {}, "versions": [version] })]
        }
        Root::Groups => {
            let entry = |group: super::order::Group<'_>| {
                let version = |version: &&str| version_entry(resources, group.name, version);
                let versions: Vec<Value> = group.versions.iter().map(version).collect();
                json!({ "metadata": { "name": group.name }, "versions": versions })
            };
            groups(resources, GroupOrder::ByName)
                .into_iter()
                .map(entry)
                .collect()
        }
    };
    let document = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    });
    let hash = blake3::hash(document.to_string().as_bytes()).to_hex();
    let etag = format!("\"{}\"", hash.to_ascii_uppercase());
    Aggregated { document, etag }
}

impl Aggregated {
    /// Whether a client that sends this `If-None-Match` has the document already: 304.
    pub(crate) fn is_known(&self, if_none_match: &str) -> bool {
        let mut known = if_none_match
            .split(',')
            .map(|etag| etag.trim().trim_start_matches("W/"));
        known.any(|etag| etag == "*" || etag == self.etag)
    }
}

fn version_entry(resources: &[Resource], group: &str, version: &str) -> Value {
    let mut served: Vec<&Resource> = resources
        .iter()
        .filter(|resource| resource.names.group == group && resource.version == version)
        .collect();
    served.sort_by(|a, b| a.names.plural.cmp(&b.names.plural));
    let entries: Vec<Value> = served.into_iter().map(resource_entry).collect();
    json!({ "version": version, "resources": entries, "freshness": "Current" })
}

fn resource_entry(resource: &Resource) -> Value {
    let scope = match resource.scope {
        Scope::Cluster => "Cluster",
        Scope::Namespaced => "Namespaced",
    };
    let mut entry = json!({
        "resource": resource.names.plural,
        "responseKind": own_kind(resource),
        "scope": scope,
        "singularResource": resource.names.singular,
        "verbs": verbs(resource),
    });
    add_names(&mut entry, resource);
    let below = subresources(resource);
    if !below.is_empty() {
        let entries: Value = below
            .iter()
            .map(|below| subresource_entry(resource, below))
            .collect();
        entry["subresources"] = entries;
    }
    entry
}

/// Built-in kinds leave out the group and version that the document says anyway.
fn own_kind(resource: &Resource) -> Value {
    let (group, version) = match resource.origin {
        Origin::Builtin => ("", ""),
        Origin::Custom => (resource.names.group.as_str(), resource.version.as_str()),
    };
    json!({ "group": group, "version": version, "kind": resource.names.kind })
}

fn subresource_entry(resource: &Resource, subresource: &Subresource) -> Value {
    let mut kind = own_kind(resource);
    if let Some((group, version)) = subresource.group_version {
        kind["group"] = group.into();
        kind["version"] = version.into();
    }
    if let Some(name) = subresource.kind {
        kind["kind"] = name.into();
    }
    json!({
        "subresource": subresource.name,
        "responseKind": kind,
        "verbs": subresource.verbs,
    })
}
