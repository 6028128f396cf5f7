//! Where in the tree of names a Zone or a Record wants to be: `domainName` and `zoneRef` together
//! (Z1, Z2, R1).

use dns::{DomainName, Name, RelativeName};

use super::collect::Collect;
use super::object_name;
use crate::problem::{FieldPath, Problem};
use crate::zone_ref::{ZoneKey, ZoneRef};

/// A place in the tree of names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// At a full name. With a parent it belongs to that zone and no other.
    Full {
        /// The name.
        name: Name,
        /// The zone in `zoneRef`.
        parent: Option<ZoneKey>,
    },
    /// Below a zone, whatever that zone is called.
    Relative {
        /// The labels in front of the zone's name.
        name: RelativeName,
        /// The zone in `zoneRef`.
        parent: ZoneKey,
    },
}

impl Place {
    /// Reads the two fields of an object in `namespace`. A full name stands on its own, a relative
    /// one needs the zone it is relative to; both together are fine (Z2).
    pub(super) fn parse(
        domain_name: &str,
        zone_ref: Option<&ZoneRef>,
        namespace: &str,
        problems: &mut Collect,
    ) -> Option<Place> {
        let parent = zone_ref.map(|reference| {
            check_reference(reference, problems);
            reference.key(namespace)
        });
        let name = problems.check(&name_field(), domain_name, DomainName::parse(domain_name))?;
        match (name, parent) {
            (DomainName::Full(name), parent) => Some(Place::Full { name, parent }),
            (DomainName::Relative(name), Some(parent)) => Some(Place::Relative { name, parent }),
            (DomainName::Relative(_), None) => {
                let rule =
                    "must end in a dot, or spec.zoneRef must name the zone it is relative to";
                problems.refuse(&name_field(), rule, domain_name);
                None
            }
        }
    }

    /// The zone in `zoneRef`.
    pub fn parent(&self) -> Option<&ZoneKey> {
        match self {
            Place::Full { parent, .. } => parent.as_ref(),
            Place::Relative { parent, .. } => Some(parent),
        }
    }

    /// The full name, if it does not depend on another zone's.
    pub fn full_name(&self) -> Option<&Name> {
        match self {
            Place::Full { name, .. } => Some(name),
            Place::Relative { .. } => None,
        }
    }

    /// The full name, where `parent` is the name of the zone in `zoneRef`. Fails where the two
    /// together are too long.
    pub fn under(&self, parent: &Name) -> Result<Name, Problem> {
        match self {
            Place::Full { name, .. } => Ok(name.clone()),
            Place::Relative { name, .. } => name
                .in_front_of(parent)
                .map_err(|rule| Problem::new(&name_field(), rule, name)),
        }
    }

    /// Whether it is relative and ends in the name of the zone in `zoneRef` all the same (R1).
    pub fn looks_full(&self, parent: &Name) -> bool {
        match self {
            Place::Full { .. } => false,
            Place::Relative { name, .. } => name.looks_full(parent),
        }
    }

    /// The labels the object itself brings, as a name.
    pub(super) fn own_labels(&self) -> Name {
        match self {
            Place::Full { name, .. } => name.clone(),
            Place::Relative { name, .. } => name
                .under(&Name::root())
                .expect("a relative name was measured when it was read"),
        }
    }
}

/// Where problems with the name are reported.
pub(super) fn name_field() -> FieldPath {
    FieldPath::spec().field("domainName")
}

/// Where problems with the reference are reported.
pub(super) fn reference_field() -> FieldPath {
    FieldPath::spec().field("zoneRef")
}

/// A reference that cannot name anything is reported and kept: it must not turn into none at all,
/// for then the object would go looking for another zone.
fn check_reference(reference: &ZoneRef, problems: &mut Collect) {
    if !object_name::is_subdomain(&reference.name) {
        let rule = "must be the metadata.name of a Zone";
        problems.refuse(&reference_field().field("name"), rule, &reference.name);
    }
    if let Some(namespace) = &reference.namespace
        && !object_name::is_label(namespace)
    {
        let rule = "must be the name of a Namespace";
        problems.refuse(&reference_field().field("namespace"), rule, namespace);
    }
}
