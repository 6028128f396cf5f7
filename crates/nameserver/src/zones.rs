//! Snapshots: every zone that is served, each in one version.
//!
//! A snapshot never changes. The next one is made from it by applying publications, and shares with it whatever did not
//! change, so that a query in flight is answered from the snapshot it started with (N2).

use std::sync::Arc;

use dns::{Name, Publication, Rdata, Rtype, Ttl, Version, Zone};
use imbl::OrdMap;

use crate::Places;

/// All zones that are served, by their origins.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    served: OrdMap<Name, Served>,
    /// No origin has more labels than this: longer names need not be looked for.
    labels_max: usize,
    /// Where clients are, for sets whose answers depend on it.
    places: Option<Arc<Places>>,
}

/// A version with what every negative answer needs made beforehand.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    version: Version,
    soa: Rdata,
}

impl Zones {
    /// No zones: everything is refused.
    pub fn new() -> Zones {
        Zones::default()
    }

    /// The same zones, with answers for clients from places that this database knows.
    #[must_use]
    pub fn knowing(self, places: Option<Arc<Places>>) -> Zones {
        Zones { places, ..self }
    }

    /// This snapshot with publications applied in their order.
    #[must_use]
    pub fn with(&self, publications: &[Publication]) -> Zones {
        let Zones {
            mut served,
            mut labels_max,
            places,
        } = self.clone();
        for publication in publications {
            match publication {
                Publication::Version(version) => {
                    let origin = version.zone.origin().clone();
                    labels_max = labels_max.max(origin.label_count());
                    served.insert(origin, Served::new(version.clone()));
                }
                Publication::Withdrawal(origin) => {
                    served.remove(origin);
                }
            }
        }
        Zones {
            served,
            labels_max,
            places,
        }
    }

    /// Where clients are, if that is known.
    pub(crate) fn places(&self) -> Option<&Places> {
        self.places.as_deref()
    }

    /// The version of the zone with exactly this name.
    pub fn get(&self, origin: &Name) -> Option<&Version> {
        self.served.get(origin).map(|served| &served.version)
    }

    /// Every version, in canonical order of the origins.
    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        self.served.values().map(|served| &served.version)
    }

    /// The number of zones.
    pub fn len(&self) -> usize {
        self.served.len()
    }

    /// Whether there is no zone at all.
    pub fn is_empty(&self) -> bool {
        self.served.is_empty()
    }

    /// The zone that answers for a name: the longest origin at or above it. DS stands on the parent's side of a cut, so
    /// at an apex it belongs to the zone above, if that is ours too (RFC 4035 §3.1.4.1).
    pub(crate) fn responsible(&self, name: &Name, rtype: Rtype) -> Option<&Served> {
        let mut origins = name
            .ancestors()
            .skip(name.label_count().saturating_sub(self.labels_max))
            .filter_map(|ancestor| self.served.get(&ancestor));
        let nearest = origins.next()?;
        if rtype == Rtype::DS && nearest.zone().origin() == name {
            return origins.next().or(Some(nearest));
        }
        Some(nearest)
    }
}

impl Served {
    fn new(version: Version) -> Served {
        let soa = version.soa();
        Served { version, soa }
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.version.zone
    }

    /// The data of the SOA record.
    pub(crate) fn soa(&self) -> &Rdata {
        &self.soa
    }

    /// How long a negative answer may be kept (RFC 2308 §3).
    pub(crate) fn negative_ttl(&self) -> Ttl {
        let soa = self.zone().soa();
        soa.ttl.min(soa.minimum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dns::zonefile;

    fn version(origin: &str, serial: u32) -> Version {
        let text = format!("{origin} 300 SOA ns.example. noc.example. {serial} 2 3 4 5\n");
        let (zone, serial) = zonefile::parse(&text, None).zone.unwrap();
        Version { zone, serial }
    }

    fn zones(origins: &[&str]) -> Zones {
        let publications: Vec<_> = origins
            .iter()
            .map(|origin| Publication::Version(version(origin, 1)))
            .collect();
        Zones::new().with(&publications)
    }

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[track_caller]
    fn check(zones: &Zones, asked: &str, rtype: Rtype, responsible: Option<&str>) {
        let found = zones
            .responsible(&name(asked), rtype)
            .map(|served| served.zone().origin().to_string());
        assert_eq!(found.as_deref(), responsible, "{asked} {rtype}");
    }

    #[test]
    fn the_longest_origin_at_or_above_a_name_is_responsible() {
        let zones = zones(&["example.org.", "b.example.org.", "org."]);
        check(&zones, "example.org.", Rtype::A, Some("example.org."));
        check(&zones, "a.example.org.", Rtype::A, Some("example.org."));
        check(&zones, "x.b.example.org.", Rtype::A, Some("b.example.org."));
        check(&zones, "badexample.org.", Rtype::A, Some("org."));
        check(&zones, "com.", Rtype::A, None);
        check(&zones, ".", Rtype::A, None);
        let root = Zones::new().with(&[Publication::Version(version(".", 1))]);
        check(&root, "com.", Rtype::A, Some("."));
    }

    #[test]
    fn ds_at_an_apex_belongs_to_the_parent_if_it_is_ours() {
        let zones = zones(&["example.org.", "b.example.org."]);
        check(&zones, "b.example.org.", Rtype::DS, Some("example.org."));
        check(
            &zones,
            "x.b.example.org.",
            Rtype::DS,
            Some("b.example.org."),
        );
        check(&zones, "example.org.", Rtype::DS, Some("example.org."));
    }

    /// N2.
    #[test]
    fn a_snapshot_is_not_changed_by_the_next() {
        let first = zones(&["example.org."]);
        let second = first.with(&[
            Publication::Version(version("example.org.", 2)),
            Publication::Version(version("example.net.", 1)),
        ]);
        let third = second.with(&[Publication::Withdrawal(name("example.org."))]);
        let serial = |zones: &Zones| zones.get(&name("example.org.")).map(|found| found.serial.0);
        assert_eq!(serial(&first), Some(1));
        assert_eq!(serial(&second), Some(2));
        assert_eq!(serial(&third), None);
        assert_eq!((first.len(), second.len(), third.len()), (1, 2, 1));
    }
}
