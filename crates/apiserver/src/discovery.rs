//! Discovery: which kinds are served, under which names, with which verbs.
//!
//! It is told twice: in the old form, one document for each group and version, and aggregated, in
//! two documents that kubectl and client-go fetch instead and keep by their etag.

mod aggregated;
mod order;
mod verbs;

#[cfg(test)]
mod on_cluster;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use crate::resource::Resource;
use order::{GroupOrder, groups};

pub(crate) use aggregated::{Aggregated, Root, aggregated};
pub(crate) use verbs::{Subresource, subresources, verbs};

/// The release that this API behaves like.
pub(crate) const KUBERNETES: &str = "v1.36.3";

/// `/version`. Clients compare the numbers; the git version says who is really answering, as
/// distributions of Kubernetes do it.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": format!("{KUBERNETES}+zonewright"),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// `/api`. `address` is where the client reaches the server, such as `127.0.0.1:6443`.
pub(crate) fn api_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": address }],
    })
}

/// `/apis`
pub(crate) fn group_list(resources: &[Resource]) -> Value {
    let groups = groups(resources, GroupOrder::ByFirstVersion);
    let groups: Vec<Value> = groups.iter().map(group_entry).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// `/apis/<group>`, if there is such a group.
pub(crate) fn group(resources: &[Resource], name: &str) -> Option<Value> {
    let groups = groups(resources, GroupOrder::ByName);
    let group = groups.iter().find(|group| group.name == name)?;
    let mut entry = group_entry(group);
    entry["kind"] = "APIGroup".into();
    entry["apiVersion"] = "v1".into();
    Some(entry)
}

/// `/api/v1` (with an empty group) and `/apis/<group>/<version>`, if anything is served there.
pub(crate) fn resource_list(resources: &[Resource], group: &str, version: &str) -> Option<Value> {
    let mut served: Vec<&Resource> = resources
        .iter()
        .filter(|resource| resource.names.group == group && resource.version == version)
        .collect();
    served.sort_by(|a, b| a.names.plural.cmp(&b.names.plural));
    let group_version = served.first()?.api_version();
    let entries: Vec<Value> = served.into_iter().flat_map(resource_entries).collect();
    let mut list = json!({
        "kind": "APIResourceList",
        "groupVersion": group_version,
        "resources": entries,
    });
    // The core group is older than the rule that everything has an apiVersion.
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    Some(list)
}

fn group_entry(group: &order::Group<'_>) -> Value {
    let entry = |version: &&str| json!({ "groupVersion": format!("{}/{version}", group.name), "version": version });
    let versions: Vec<Value> = group.versions.iter().map(entry).collect();
    json!({ "name": group.name, "preferredVersion": versions.first(), "versions": versions })
}

/// The entry of a kind and those of its subresources.
fn resource_entries(resource: &Resource) -> Vec<Value> {
    let names = &resource.names;
    let mut entry = json!({
        "name": names.plural,
        "singularName": names.singular,
        "namespaced": resource.is_namespaced(),
        "kind": names.kind,
        "verbs": verbs(resource),
    });
    add_names(&mut entry, resource);
    let below = subresources(resource);
    let below = below
        .iter()
        .map(|subresource| subresource_entry(resource, subresource));
    std::iter::once(entry).chain(below).collect()
}

fn subresource_entry(resource: &Resource, subresource: &Subresource) -> Value {
    let mut entry = json!({
        "name": format!("{}/{}", resource.names.plural, subresource.name),
        "singularName": "",
        "namespaced": resource.is_namespaced(),
        "kind": subresource.kind.unwrap_or(&resource.names.kind),
        "verbs": subresource.verbs,
    });
    if let Some((group, version)) = subresource.group_version {
        entry["group"] = group.into();
        entry["version"] = version.into();
    }
    entry
}

/// Short names and categories, where there are any.
fn add_names(entry: &mut Value, resource: &Resource) {
    let names = &resource.names;
    for (field, texts) in [
        ("shortNames", &names.short_names),
        ("categories", &names.categories),
    ] {
        if !texts.is_empty() {
            entry[field] = json!(texts);
        }
    }
}
