//! The kinds of the project by the names people give them.
//!
//! They come from the definitions themselves, so a kind that is added there is found here.

use std::fmt;
use std::sync::LazyLock;

use api::well_known::CATEGORY;

/// Words that people use for kinds and that no definition lists.
const FAMILIAR: [(&str, &str); 8] = [
    ("policies", "dnspolicies"),
    ("policy", "dnspolicies"),
    ("probes", "dnshealthcheckprobes"),
    ("probe", "dnshealthcheckprobes"),
    ("slices", "zoneslices"),
    ("slice", "zoneslices"),
    ("verifications", "domainverifications"),
    ("verification", "domainverifications"),
];

/// One of our kinds, all of which live in namespaces.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Kind {
    group: String,
    version: String,
    pub(crate) plural: String,
    singular: String,
    short_names: Vec<String>,
}

/// Every kind, in the order of the definitions. Making the definitions takes a moment: once is enough.
static ALL: LazyLock<Vec<Kind>> = LazyLock::new(Kind::all);

/// What one word means: a kind, or all of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Kinds(pub(crate) Vec<Kind>);

impl Kind {
    fn all() -> Vec<Kind> {
        let specs = api::crds::all().into_iter().map(|crd| crd.spec);
        let kinds = specs.map(|spec| {
            let version = spec.versions.into_iter().find(|version| version.storage);
            Kind {
                group: spec.group,
                version: version.expect("a definition stores one version").name,
                plural: spec.names.plural,
                singular: spec.names.singular.unwrap_or_default(),
                short_names: spec.names.short_names.unwrap_or_default(),
            }
        });
        kinds.collect()
    }

    /// The kind that a Rust type stands for.
    pub(crate) fn of<K: kube::Resource<DynamicType = ()>>() -> Kind {
        let plural = K::plural(&());
        let found = ALL.iter().find(|kind| kind.plural == plural);
        found.expect("every kind of ours has a definition").clone()
    }

    /// Where its objects are: of one namespace, or of all.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let Kind {
            group,
            version,
            plural,
            ..
        } = self;
        match namespace {
            Some(namespace) => format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}"),
            None => format!("/apis/{group}/{version}/{plural}"),
        }
    }

    /// The kind in front of a name, as kubectl writes it: `zone.kubi.zone`.
    pub(crate) fn prefix(&self) -> String {
        format!("{}.{}", self.singular, self.group)
    }

    fn is_called(&self, word: &str) -> bool {
        let qualified = word
            .strip_suffix(&self.group)
            .and_then(|word| word.strip_suffix('.'));
        let word = qualified.unwrap_or(word);
        word == self.plural
            || word == self.singular
            || self.short_names.iter().any(|name| name == word)
    }
}

/// The kinds that a word means, in any case.
pub(crate) fn kinds(word: &str) -> Result<Kinds, String> {
    let word = word.to_lowercase();
    let familiar = FAMILIAR.iter().find(|(name, _)| *name == word);
    let word = familiar.map_or(word.as_str(), |(_, plural)| plural);
    if word == CATEGORY {
        return Ok(Kinds(ALL.clone()));
    }
    match ALL.iter().find(|kind| kind.is_called(word)) {
        Some(kind) => Ok(Kinds(vec![kind.clone()])),
        None => Err(unknown()),
    }
}

fn unknown() -> String {
    let names: Vec<String> = ALL.iter().map(ToString::to_string).collect();
    format!(
        "there are {} and {CATEGORY} for all of them",
        names.join(", ")
    )
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.plural, self.short_names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plurals that a word means.
    fn meant(word: &str) -> Vec<String> {
        let Kinds(kinds) = kinds(word).unwrap_or_else(|reason| panic!("{word}: {reason}"));
        kinds.into_iter().map(|kind| kind.plural).collect()
    }

    #[test]
    fn a_kind_is_found_by_each_of_its_names() {
        for (words, plural) in [
            ("zones zone zn Zone zones.kubi.zone zone.kubi.zone", "zones"),
            ("records record rec", "records"),
            ("zoneslices zs slices", "zoneslices"),
            ("dnsrecords dnsrecord dnsr DNSRecord", "dnsrecords"),
            ("dnspolicies dnspolicy dnsp policies policy", "dnspolicies"),
            ("dnshealthcheckprobes dnshcp probes", "dnshealthcheckprobes"),
            ("servicerecords svcrec", "servicerecords"),
            (
                "domainverifications dv verifications",
                "domainverifications",
            ),
        ] {
            for word in words.split(' ') {
                assert_eq!(meant(word), [plural], "{word}");
            }
        }
    }

    #[test]
    fn one_word_means_all_kinds() {
        assert_eq!(meant("dns").len(), 8);
    }

    #[test]
    fn an_unknown_word_is_told_what_there_is() {
        for word in ["", "pods", "zone.kuadrant.io", "kubi.zone", ".kubi.zone"] {
            let reason = kinds(word).unwrap_err();
            assert!(
                reason.starts_with("there are zones (zn), records (rec), "),
                "{word}: {reason}"
            );
        }
    }

    #[test]
    fn objects_are_where_the_api_has_them() {
        let zones = Kind::of::<api::Zone>();
        assert_eq!(zones.path(None), "/apis/kubi.zone/v1alpha1/zones");
        assert_eq!(
            zones.path(Some("dns")),
            "/apis/kubi.zone/v1alpha1/namespaces/dns/zones"
        );
        assert_eq!(zones.prefix(), "zone.kubi.zone");
    }
}
