//! The catalog: which kinds are served, in which versions.
//!
//! Built-in kinds are always there; a CustomResourceDefinition adds its own and takes them away. Whoever
//! answers a request holds one catalog from start to end; a change makes a new one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::key::Kind;
use crate::resource::Resource;

/// All kinds that are served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    /// By kind, then by version. Every kind has at least one version.
    kinds: BTreeMap<Kind, BTreeMap<String, Arc<Resource>>>,
    /// Counts changes, so that what was made from an older catalog can be told.
    generation: u64,
}

impl Catalog {
    /// A catalog of these kinds.
    pub(crate) fn new(resources: impl IntoIterator<Item = Resource>) -> Self {
        let mut catalog = Self::default();
        for resource in resources {
            catalog.add(resource);
        }
        catalog
    }

    /// Counts changes.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The kind that a path names.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.kinds.get(&Kind::new(group, plural))?.get(version)
    }

    /// The kind that an object names in `apiVersion` and `kind`, as in an owner reference.
    pub(crate) fn find_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Resource>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let mut versions = self.kinds.iter().filter(|(key, _)| &*key.group == group);
        versions.find_map(|(_, versions)| {
            versions
                .get(version)
                .filter(|resource| resource.names.kind == kind)
        })
    }

    /// Any version of a kind; all of them describe the same objects.
    pub(crate) fn any_version(&self, kind: &Kind) -> Option<&Arc<Resource>> {
        self.kinds.get(kind)?.values().next()
    }

    /// All other forms in which the objects of a kind are served.
    pub(crate) fn equivalents(&self, resource: &Resource) -> Vec<Arc<Resource>> {
        let kind = resource.key_kind();
        let is_other = |other: &&Arc<Resource>| {
            other.key_kind() == kind
                && (&other.version, &other.names.group)
                    != (&resource.version, &resource.names.group)
        };
        // Only Events are served by two groups; the versions of any other kind lie together.
        if kind.is("", "events") {
            return self.resources().filter(is_other).cloned().collect();
        }
        let versions = self.kinds.get(&kind).into_iter();
        let versions = versions.flat_map(BTreeMap::values);
        versions.filter(is_other).cloned().collect()
    }

    /// Every kind in every version.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.kinds.values().flat_map(BTreeMap::values)
    }

    /// Makes these the versions in which a kind is served. None: it is not served.
    pub(crate) fn replace(&mut self, kind: &Kind, versions: Vec<Resource>) {
        self.generation += 1;
        self.kinds.remove(kind);
        for resource in versions {
            self.add(resource);
        }
    }

    fn add(&mut self, resource: Resource) {
        let kind = Kind::new(&resource.names.group, &resource.names.plural);
        let versions = self.kinds.entry(kind).or_default();
        versions.insert(resource.version.clone(), Arc::new(resource));
    }
}
