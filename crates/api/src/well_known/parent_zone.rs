//! How a Zone is spelled in the label of what it has adopted (Z3).
//!
//! ```text
//! name.namespace            fits in 63 characters: split at the last dot, namespaces have none
//! start-of-name-0123…cdef   does not fit: no dot, so nobody can take it for the first form;
//!                           an annotation carries namespace/name
//! ```

use super::label_value::{LABEL_CHARS_MAX, shortened};

/// The label value for a Zone: `<name>.<namespace>`, or a shortened form of it with a hash.
pub fn parent_zone_label(name: &str, namespace: &str) -> String {
    let full = format!("{name}.{namespace}");
    if full.len() <= LABEL_CHARS_MAX {
        return full;
    }
    shortened(name, &full)
}

/// Name and namespace of the Zone in a label value; nothing for a shortened one.
pub fn split_parent_zone_label(label: &str) -> Option<(&str, &str)> {
    let (name, namespace) = label.rsplit_once('.')?;
    (!name.is_empty() && !namespace.is_empty()).then_some((name, namespace))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    /// The name Kubernetes allows a Zone: a DNS subdomain.
    pub(crate) fn zone_name() -> impl Strategy<Value = String> {
        let label = "[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?";
        proptest::string::string_regex(&format!("{label}(\\.{label}){{0,6}}")).unwrap()
    }

    /// The name Kubernetes allows a Namespace: one DNS label.
    pub(crate) fn namespace() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?").unwrap()
    }

    fn is_label_value(text: &str) -> bool {
        static SYNTAX: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new("^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$").unwrap()
        });
        SYNTAX.is_match(text)
    }

    #[test]
    fn the_label_is_name_dot_namespace_and_splits_at_the_last_dot() {
        let cases = [
            ("example-org", "default", "example-org.default"),
            ("example.org", "prod", "example.org.prod"),
            ("a.b.c.d", "x", "a.b.c.d.x"),
        ];
        for (name, namespace, label) in cases {
            assert_eq!(parent_zone_label(name, namespace), label);
            assert_eq!(split_parent_zone_label(label), Some((name, namespace)));
        }
        for broken in ["", ".", "a.", ".a", "plain"] {
            assert_eq!(split_parent_zone_label(broken), None, "{broken:?}");
        }
    }

    // G43
    #[test]
    fn a_label_that_would_be_too_long_is_shortened() {
        let namespace = "n".repeat(20);
        let fits = "z".repeat(63 - 1 - 20);
        assert_eq!(
            parent_zone_label(&fits, &namespace),
            format!("{fits}.{namespace}")
        );

        let label = parent_zone_label(&format!("{}.example.org", "z".repeat(31)), &namespace);
        assert_eq!(split_parent_zone_label(&label), None);
        // Labels are stored in clusters: the spelling must never change.
        assert_eq!(
            label,
            "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz-63b78b9458a5085cf907217b73263742"
        );
    }

    proptest! {
        #[test]
        fn every_label_is_one_that_kubernetes_takes(name in zone_name(), namespace in namespace()) {
            let label = parent_zone_label(&name, &namespace);
            prop_assert!(is_label_value(&label), "{label}");
        }

        #[test]
        fn zones_that_differ_at_the_end_only_have_different_labels(
            start in zone_name(),
            a in namespace(),
            b in namespace(),
        ) {
            prop_assume!(a != b);
            prop_assert_ne!(parent_zone_label(&start, &a), parent_zone_label(&start, &b));
        }
    }
}
