//! Which webhooks there are, found by what they match.
//!
//! A request that concerns nobody costs four looks into an empty map.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::hook::{Hook, of_configuration};
use crate::key::Kind;
use crate::object::Object;
use crate::resource::Resource;

const GROUP: &str = "admissionregistration.k8s.io";

/// When a webhook is asked: before an object is judged, to change it, or after, to have the last word.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    Mutating,
    Validating,
}

/// All webhooks.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    mutating: Shelf,
    validating: Shelf,
}

/// The webhooks of one phase.
#[derive(Debug, Default)]
struct Shelf {
    /// By the name of their configuration, which is the order in which they are asked.
    configurations: BTreeMap<String, Vec<Arc<Hook>>>,
    all: Vec<Arc<Hook>>,
    /// Where in `all` those are that name a group and a plural, either of which may be `*`.
    by_kind: HashMap<(String, String), BTreeSet<usize>>,
}

/// Which phase the objects of a kind configure, if any.
pub(crate) fn is_configuration(kind: &Kind) -> Option<Phase> {
    match (&*kind.group, &*kind.plural) {
        (GROUP, "mutatingwebhookconfigurations") => Some(Phase::Mutating),
        (GROUP, "validatingwebhookconfigurations") => Some(Phase::Validating),
        (_, _) => None,
    }
}

/// The kinds that hold configurations.
pub(crate) fn configurations() -> [(Phase, Kind); 2] {
    [
        (
            Phase::Mutating,
            Kind::new(GROUP, "mutatingwebhookconfigurations"),
        ),
        (
            Phase::Validating,
            Kind::new(GROUP, "validatingwebhookconfigurations"),
        ),
    ]
}

impl Registry {
    /// Takes note of what a configuration says now; nothing if it is gone.
    pub(crate) fn configure(&mut self, phase: Phase, name: &str, configuration: Option<&Object>) {
        let shelf = match phase {
            Phase::Mutating => &mut self.mutating,
            Phase::Validating => &mut self.validating,
        };
        let hooks = configuration.map(|configuration| of_configuration(phase, configuration));
        match hooks {
            Some(hooks) => {
                let hooks = hooks.into_iter().map(Arc::new).collect();
                shelf.configurations.insert(name.to_owned(), hooks);
            }
            None => drop(shelf.configurations.remove(name)),
        }
        shelf.arrange();
    }

    /// The webhooks that may have to be asked about objects of a kind, in their order.
    ///
    /// Configurations themselves are shown to nobody: a webhook that refuses everything can be taken away.
    pub(crate) fn concerned(&self, phase: Phase, resource: &Resource) -> Vec<Arc<Hook>> {
        let shelf = match phase {
            Phase::Mutating => &self.mutating,
            Phase::Validating => &self.validating,
        };
        if shelf.all.is_empty() || is_configuration(&resource.key_kind()).is_some() {
            return Vec::new();
        }
        let found: BTreeSet<usize> = groups(resource)
            .flat_map(|group| shelf.naming(group, &resource.names.plural))
            .collect();
        found
            .into_iter()
            .map(|index| Arc::clone(&shelf.all[index]))
            .collect()
    }
}

/// The groups in which a kind's objects are found: there is one set of Events, which two groups serve.
fn groups(resource: &Resource) -> impl Iterator<Item = &str> {
    let names = &resource.names;
    let other = match (names.group.as_str(), names.plural.as_str()) {
        ("", "events") => Some("events.k8s.io"),
        ("events.k8s.io", "events") => Some(""),
        (_, _) => None,
    };
    std::iter::once(names.group.as_str()).chain(other)
}

impl Shelf {
    fn naming<'a>(&'a self, group: &str, plural: &str) -> impl Iterator<Item = usize> + use<'a> {
        let keys = [(group, plural), (group, "*"), ("*", plural), ("*", "*")];
        let found =
            keys.map(|(group, plural)| self.by_kind.get(&(group.to_owned(), plural.to_owned())));
        found.into_iter().flatten().flatten().copied()
    }

    fn arrange(&mut self) {
        self.all = self.configurations.values().flatten().cloned().collect();
        self.by_kind = HashMap::new();
        for (index, hook) in self.all.iter().enumerate() {
            for rule in &hook.rules {
                for (group, resource) in product(&rule.api_groups, &rule.resources) {
                    let plural = resource.split('/').next().unwrap_or_default();
                    let key = (group.clone(), plural.to_owned());
                    self.by_kind.entry(key).or_default().insert(index);
                }
            }
        }
    }
}

fn product<'a>(
    groups: &'a [String],
    resources: &'a [String],
) -> impl Iterator<Item = (&'a String, &'a String)> {
    groups
        .iter()
        .flat_map(move |group| resources.iter().map(move |resource| (group, resource)))
}
