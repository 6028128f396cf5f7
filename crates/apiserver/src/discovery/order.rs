//! The order of groups and versions, which is also what clients prefer.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use crate::resource::Resource;

/// A group with its versions, the preferred one first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    pub(super) versions: Vec<&'a str>,
}

/// How groups that Kubernetes does not bring along are ordered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GroupOrder {
    ByName,
    /// By version and name of the version whose text comes first, as in `v1.example.org`. The old form
    /// of discovery comes from a list of such names.
    ByFirstVersion,
}

/// The groups of Kubernetes itself, in its own order. Everything else comes after.
const BUILTIN: [&str; 20] = [
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// All groups but the core one.
pub(super) fn groups(resources: &[Resource], order: GroupOrder) -> Vec<Group<'_>> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for resource in resources
        .iter()
        .filter(|resource| !resource.names.group.is_empty())
    {
        let versions = versions.entry(&resource.names.group).or_default();
        if !versions.contains(&resource.version.as_str()) {
            versions.push(&resource.version);
        }
    }
    let mut groups: Vec<Group<'_>> = versions
        .into_iter()
        .map(|(name, mut versions)| {
            versions.sort_by(|a, b| compare_versions(a, b));
            Group { name, versions }
        })
        .collect();
    groups.sort_by_cached_key(|group| rank(group, order));
    groups
}

fn rank(group: &Group<'_>, order: GroupOrder) -> (usize, String) {
    let place = BUILTIN.iter().position(|name| *name == group.name);
    let name = match order {
        GroupOrder::ByName => group.name.to_owned(),
        GroupOrder::ByFirstVersion => {
            let names = group
                .versions
                .iter()
                .map(|version| format!("{version}.{}", group.name));
            names.min().unwrap_or_default()
        }
    };
    (place.unwrap_or(BUILTIN.len()), name)
}

/// The better version first: stable before beta before alpha, the higher before the lower, and
/// whatever is not named after this scheme last, by name.
pub(super) fn compare_versions(a: &str, b: &str) -> Ordering {
    match (Scheme::parse(a), Scheme::parse(b)) {
        (Some(a), Some(b)) => Reverse(a).cmp(&Reverse(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// `v2beta1`: the stability counts most.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Scheme {
    stability: Stability,
    major: u64,
    minor: u64,
}

#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

impl Scheme {
    fn parse(version: &str) -> Option<Self> {
        let rest = version.strip_prefix('v')?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (major, rest) = rest.split_at(end);
        let (stability, minor) = if rest.is_empty() {
            (Stability::Stable, "0")
        } else if let Some(minor) = rest.strip_prefix("beta") {
            (Stability::Beta, minor)
        } else {
            (Stability::Alpha, rest.strip_prefix("alpha")?)
        };
        let number = |text: &str| -> Option<u64> {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| digits)
        };
        Some(Self {
            stability,
            major: number(major)?,
            minor: number(minor)?,
        })
    }
}
