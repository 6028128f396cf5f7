//! Where an object lies.

use std::fmt;
use std::sync::Arc;

/// A kind, whatever the version: what a group calls its objects.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Kind {
    /// Empty for the core group.
    pub(crate) group: Arc<str>,
    pub(crate) plural: Arc<str>,
}

/// An object's place. Ordered as lists are: by kind, namespace, name.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) place: Place,
}

/// A namespace, empty for objects that belong to the cluster, and a name in it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Kind {
    pub(crate) fn new(group: &str, plural: &str) -> Self {
        Self {
            group: group.into(),
            plural: plural.into(),
        }
    }

    /// Whether this is the kind that `group` calls `plural`.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        &*self.group == group && &*self.plural == plural
    }

    pub(crate) fn key(&self, namespace: &str, name: &str) -> Key {
        Key {
            kind: self.clone(),
            place: Place::new(namespace, name),
        }
    }
}

impl Key {
    pub(crate) fn new(group: &str, plural: &str, namespace: &str, name: &str) -> Self {
        Kind::new(group, plural).key(namespace, name)
    }
}

impl Place {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn keys_read_as_people_name_objects() {
        for (key, text) in [
            (Key::new("", "secrets", "default", "a"), "secrets default/a"),
            (
                Key::new("", "namespaces", "", "default"),
                "namespaces default",
            ),
            (
                Key::new("g.example", "zones", "x", "b"),
                "zones.g.example x/b",
            ),
        ] {
            assert_eq!(key.to_string(), text);
        }
    }

    #[test]
    fn objects_of_a_kind_lie_together_and_so_do_those_of_a_namespace() {
        let sorted = [
            Key::new("", "secrets", "a", "z"),
            Key::new("", "secrets", "b", "a"),
            Key::new("", "services", "a", "a"),
            Key::new("apps", "deployments", "a", "a"),
        ];
        assert!(sorted.is_sorted());
    }
}
