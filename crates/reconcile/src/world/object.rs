//! Objects as the world keeps them: parsed once, when they arrive.

use api::parse;
use api::problem::Problem;
use api::record::RecordStatus;
use api::well_known::{annotation, label};
use api::zone::ZoneStatus;
use api::{Decoded, ZoneKey};
use kube::core::ObjectMeta;

use crate::Age;

/// What an object says about itself beside its spec.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Identity {
    /// When it was created, and its uid.
    pub age: Age,
    /// The version of its spec.
    pub generation: Option<i64>,
    /// The version of all of it: what a guarded write names.
    pub resource_version: Option<String>,
    /// The label `kubi.zone/parent-zone` as it stands.
    pub label: Option<String>,
    /// The annotation `kubi.zone/parent-zone-ref` as it stands.
    pub annotation: Option<String>,
}

impl Identity {
    fn of(object: &ObjectMeta) -> Identity {
        let labels = object.labels.as_ref();
        let annotations = object.annotations.as_ref();
        Identity {
            age: Age::of(object),
            generation: object.generation,
            resource_version: object.resource_version.clone(),
            label: labels.and_then(|all| all.get(label::PARENT_ZONE).cloned()),
            annotation: annotations.and_then(|all| all.get(annotation::PARENT_ZONE_REF).cloned()),
        }
    }

    /// Whether label and annotation say that `parent` is the parent.
    pub fn names(&self, parent: Option<&ZoneKey>) -> bool {
        self.label == parent.map(ZoneKey::label)
            && self.annotation == parent.and_then(ZoneKey::annotation)
    }
}

/// What is wrong with an object by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Each with its field and rule.
    pub problems: Vec<Problem>,
    /// Whether the object does not even have the shape of its kind.
    pub undecodable: bool,
}

impl Faults {
    pub(crate) fn of_spec(problems: Vec<Problem>) -> Faults {
        Faults {
            problems,
            undecodable: false,
        }
    }

    pub(crate) fn of_shape(problems: Vec<Problem>) -> Faults {
        Faults {
            problems,
            undecodable: true,
        }
    }
}

/// Whether a later state of an object needs a pass. What an undecodable object says about itself is not known, so its
/// status is written once for each version of its spec; our own write must not ask for the next.
fn is_news(before: (&Identity, &Faults), after: (&Identity, &Faults)) -> bool {
    let essence = |(identity, faults): (&Identity, &Faults)| {
        let mut identity = identity.clone();
        identity.resource_version = None;
        (identity, faults.clone())
    };
    !after.1.undecodable || essence(before) != essence(after)
}

/// A Zone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ZoneObject {
    pub(crate) identity: Identity,
    pub(crate) claim: parse::zone::Zone,
    pub(crate) faults: Faults,
    pub(crate) status: ZoneStatus,
}

impl ZoneObject {
    /// Whether a later state of the object needs a pass.
    pub(crate) fn is_news(&self, after: &ZoneObject) -> bool {
        is_news(
            (&self.identity, &self.faults),
            (&after.identity, &after.faults),
        )
    }

    /// Whether another state of the object moves nobody: labels and status are output.
    pub(crate) fn says_as_much_as(&self, other: &ZoneObject) -> bool {
        self.claim == other.claim && self.identity.age == other.identity.age
    }

    pub(crate) fn read(object: Decoded<api::Zone>) -> ZoneObject {
        match object {
            Decoded::Object(zone) => {
                let (claim, problems) = parse::zone::parse(&zone);
                ZoneObject {
                    identity: Identity::of(&zone.metadata),
                    claim,
                    faults: Faults::of_spec(problems),
                    status: zone.status.unwrap_or_default(),
                }
            }
            Decoded::Undecodable(object) => ZoneObject {
                identity: Identity::of(&object.metadata),
                claim: parse::zone::Zone {
                    place: None,
                    soa: None,
                    name_servers: Vec::new(),
                    delegations: Vec::new(),
                },
                faults: Faults::of_shape(object.problems),
                status: ZoneStatus::default(),
            },
        }
    }
}

/// A Record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordObject {
    pub(crate) identity: Identity,
    pub(crate) claim: parse::record::Record,
    pub(crate) faults: Faults,
    pub(crate) status: RecordStatus,
}

impl RecordObject {
    /// Whether a later state of the object needs a pass.
    pub(crate) fn is_news(&self, after: &RecordObject) -> bool {
        is_news(
            (&self.identity, &self.faults),
            (&after.identity, &after.faults),
        )
    }

    /// Whether another state of the object moves nobody: labels and status are output.
    pub(crate) fn says_as_much_as(&self, other: &RecordObject) -> bool {
        self.claim == other.claim && self.identity.age == other.identity.age
    }

    pub(crate) fn read(object: Decoded<api::Record>) -> RecordObject {
        match object {
            Decoded::Object(record) => {
                let (claim, problems) = parse::record::parse(&record);
                RecordObject {
                    identity: Identity::of(&record.metadata),
                    claim,
                    faults: Faults::of_spec(problems),
                    status: record.status.unwrap_or_default(),
                }
            }
            Decoded::Undecodable(object) => RecordObject {
                identity: Identity::of(&object.metadata),
                claim: parse::record::Record {
                    place: None,
                    content: None,
                },
                faults: Faults::of_shape(object.problems),
                status: RecordStatus::default(),
            },
        }
    }
}
