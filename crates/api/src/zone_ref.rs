//! Pointing at a Zone: `zoneRef` as manifests write it, and the key it stands for.

use std::fmt;

use kube::core::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::well_known::{annotation, label, parent_zone_label, split_parent_zone_label};

/// A Zone by name.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ZoneRef {
    /// The `metadata.name` of the Zone, not its domain name. Example: `example-org`.
    pub name: String,
    /// The namespace of the Zone. Left out, it is the namespace of the object that carries this
    /// reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

impl ZoneRef {
    /// The Zone meant by an object of the given namespace.
    pub fn key(&self, own_namespace: &str) -> ZoneKey {
        ZoneKey::new(
            self.namespace.as_deref().unwrap_or(own_namespace),
            &self.name,
        )
    }
}

/// The namespace and name of a Zone.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ZoneKey {
    /// The Zone's namespace.
    pub namespace: String,
    /// The Zone's name.
    pub name: String,
}

impl ZoneKey {
    /// A Zone by namespace and name.
    pub fn new(namespace: &str, name: &str) -> ZoneKey {
        ZoneKey {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The parent that an object's label names (Z3). A shortened label counts only together with
    /// the annotation it was made from.
    pub fn of_parent(object: &ObjectMeta) -> Option<ZoneKey> {
        let label = object.labels.as_ref()?.get(label::PARENT_ZONE)?;
        if let Some((name, namespace)) = split_parent_zone_label(label) {
            return Some(ZoneKey::new(namespace, name));
        }
        let reference = object
            .annotations
            .as_ref()?
            .get(annotation::PARENT_ZONE_REF)?;
        let (namespace, name) = reference.split_once('/')?;
        (parent_zone_label(name, namespace) == *label).then(|| ZoneKey::new(namespace, name))
    }

    /// The value of the label on what this Zone has adopted.
    pub fn label(&self) -> String {
        parent_zone_label(&self.name, &self.namespace)
    }

    /// The value of the annotation beside the label: only where the label does not say it all.
    pub fn annotation(&self) -> Option<String> {
        let shortened = split_parent_zone_label(&self.label()).is_none();
        shortened.then(|| self.to_string())
    }
}

impl fmt::Display for ZoneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::well_known::parent_zone::tests::{namespace, zone_name};

    fn object(label: &str, reference: Option<&str>) -> ObjectMeta {
        let annotated = |text: &str| [(annotation::PARENT_ZONE_REF.to_owned(), text.to_owned())];
        ObjectMeta {
            labels: Some([(label::PARENT_ZONE.to_owned(), label.to_owned())].into()),
            annotations: reference.map(|text| annotated(text).into()),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn a_reference_without_namespace_means_the_own_one() {
        let cases = [(None, "web/zone"), (Some("dns"), "dns/zone")];
        for (namespace, key) in cases {
            let reference = ZoneRef {
                name: "zone".to_owned(),
                namespace: namespace.map(str::to_owned),
            };
            assert_eq!(reference.key("web").to_string(), key);
        }
    }

    // G43
    #[test]
    fn a_parent_too_long_for_the_label_is_named_by_the_annotation() {
        let long = ZoneKey::new("default", &format!("{}.example.org", "z".repeat(60)));
        assert_eq!(
            long.annotation(),
            Some(format!("default/{}.example.org", "z".repeat(60)))
        );
        let read = ZoneKey::of_parent(&object(&long.label(), long.annotation().as_deref()));
        assert_eq!(read, Some(long));
        assert_eq!(ZoneKey::new("default", "example.org").annotation(), None);
    }

    #[test]
    fn a_shortened_label_without_its_own_annotation_names_nobody() {
        let label = ZoneKey::new("ns", &"z".repeat(80)).label();
        for reference in [
            None,
            Some("ns/other"),
            Some("no-slash"),
            Some(""),
            Some("/"),
        ] {
            assert_eq!(
                ZoneKey::of_parent(&object(&label, reference)),
                None,
                "{reference:?}"
            );
        }
        assert_eq!(ZoneKey::of_parent(&ObjectMeta::default()), None);
    }

    #[test]
    fn the_annotation_never_overrules_a_label_that_says_it_all() {
        let read = ZoneKey::of_parent(&object("example.org.default", Some("kube-system/other")));
        assert_eq!(read, Some(ZoneKey::new("default", "example.org")));
    }

    proptest! {
        #[test]
        fn every_parent_survives_the_round_trip(name in zone_name(), namespace in namespace()) {
            let parent = ZoneKey::new(&namespace, &name);
            let object = object(&parent.label(), parent.annotation().as_deref());
            prop_assert_eq!(ZoneKey::of_parent(&object), Some(parent));
        }
    }
}
