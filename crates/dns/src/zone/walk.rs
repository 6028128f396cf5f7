//! The way to a name: where in a zone its data is, or who has it.
//!
//! It costs a few looks into an ordered map, whatever the size of the zone and however many labels the name has: below a
//! name that does not exist nobody looks. What becomes of it is left to those who ask: a name server, and [`Zone::check`].

use super::Zone;
use crate::{Name, Rtype, SetKey};

/// Where the data of a name is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Location {
    /// The zone hands over at this set, the topmost one: NS at or above the name, or DNAME above it.
    Cut(SetKey),
    /// At the name itself. There may be none: names that have others below them exist (RFC 8020).
    Here,
    /// At this wildcard, which speaks for the name (RFC 4592 §3.3.1). There may be none either.
    Wildcard(Name),
    /// The name does not exist.
    Nowhere,
}

impl Zone {
    /// Looks for a name at or below the origin.
    pub fn locate(&self, name: &Name) -> Location {
        let encloser = self.closest_encloser(name);
        if let Some(cut) = self.cut_above(name, &encloser) {
            return Location::Cut(cut);
        }
        if encloser == *name {
            return Location::Here;
        }
        match wildcard(&encloser).filter(|wildcard| self.exists(wildcard)) {
            Some(wildcard) => Location::Wildcard(wildcard),
            None => Location::Nowhere,
        }
    }

    /// Whether there is a set at the name or below it, where it is an empty
    /// non-terminal. What is below a name follows it in the order of the sets.
    pub fn exists(&self, name: &Name) -> bool {
        let first = SetKey::new(name.clone(), Rtype::MIN);
        let next = self.sets.range(first..).next();
        *name == self.origin || next.is_some_and(|(key, _)| key.name.is_at_or_below(name))
    }

    /// Whether the name is the apex of another zone.
    pub fn delegates(&self, name: &Name) -> bool {
        *name != self.origin
            && self
                .sets
                .contains_key(&SetKey::new(name.clone(), Rtype::NS))
    }

    /// The lowest name that exists, at or above a name.
    ///
    /// What shares the most labels with it stands right behind or right before it in the order of the sets.
    fn closest_encloser(&self, name: &Name) -> Name {
        let at = SetKey::new(name.clone(), Rtype::MIN);
        let behind = self.sets.range(at.clone()..).next();
        if behind.is_some_and(|(key, _)| key.name.is_at_or_below(name)) {
            return name.clone();
        }
        let before = self.sets.range(..at).next_back();
        let shared = [before, behind]
            .into_iter()
            .flatten()
            .map(|(key, _)| shared_labels(name, &key.name));
        let kept = shared
            .chain([self.origin.label_count()])
            .max()
            .expect("the origin is there");
        let above = name.label_count().saturating_sub(kept);
        name.ancestors().nth(above).expect("the root is the last")
    }

    fn cut_above(&self, name: &Name, encloser: &Name) -> Option<SetKey> {
        let in_zone = encloser
            .ancestors()
            .take_while(|ancestor| ancestor.is_at_or_below(&self.origin));
        let cut = |ancestor: Name| {
            let dname = SetKey::new(ancestor.clone(), Rtype::DNAME);
            if ancestor != *name && self.sets.contains_key(&dname) {
                return Some(dname);
            }
            self.delegates(&ancestor)
                .then(|| SetKey::new(ancestor, Rtype::NS))
        };
        in_zone.filter_map(cut).last()
    }
}

/// The wildcard right below a name, unless it would be too long to be a name.
fn wildcard(name: &Name) -> Option<Name> {
    Name::from_wire(&[b"\x01*", name.as_wire()].concat()).ok()
}

/// How many labels two names have in common, counted from the right.
fn shared_labels(one: &Name, other: &Name) -> usize {
    let (one, other): (Vec<_>, Vec<_>) = (one.labels().collect(), other.labels().collect());
    let pairs = one.iter().rev().zip(other.iter().rev());
    pairs.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zonefile;
    use proptest::prelude::*;

    const TEXT: &str = "\
$ORIGIN example.org.
$TTL 300
@ SOA ns noc 1 2 3 4 5
@ NS ns
a.b TXT x
sub NS ns.sub
deeper.sub NS ns.sub
old DNAME new
x.old NS ns
*.wild TXT x
here.wild TXT x
a.*.void TXT x
";

    fn zone() -> Zone {
        let reading = zonefile::parse(TEXT, None);
        assert_eq!(reading.problems, []);
        reading.zone.unwrap().0
    }

    fn name(text: &str) -> Name {
        Name::parse(&format!("{text}.example.org.")).unwrap()
    }

    #[test]
    fn a_name_exists_with_its_data_or_with_what_is_below_it() {
        let zone = zone();
        for there in ["a.b", "b", "sub", "wild", "*.void", "void"] {
            assert!(zone.exists(&name(there)), "{there}");
        }
        for missing in ["c.b", "x.a.b", "a", "www.wild", "*"] {
            assert!(!zone.exists(&name(missing)), "{missing}");
        }
        let empty = Zone::new(name("empty"), zone.soa().clone());
        assert!(empty.exists(&name("empty")), "an apex has its SOA");
    }

    /// A name, where it is, and by which type if it is handed over.
    #[test]
    fn a_name_is_at_the_topmost_cut_or_here_or_at_a_wildcard_or_nowhere() {
        let cut = |at, rtype| Location::Cut(SetKey::new(name(at), rtype));
        let wildcard = |at| Location::Wildcard(name(at));
        let rows = [
            ("b", Location::Here),
            ("a.b", Location::Here),
            ("x.b", Location::Nowhere),
            ("sub", cut("sub", Rtype::NS)),
            ("www.sub", cut("sub", Rtype::NS)),
            ("www.deeper.sub", cut("sub", Rtype::NS)),
            ("old", Location::Here),
            ("x.old", cut("old", Rtype::DNAME)),
            ("y.x.old", cut("old", Rtype::DNAME)),
            ("www.wild", wildcard("*.wild")),
            ("a.b.wild", wildcard("*.wild")),
            ("here.wild", Location::Here),
            ("www.here.wild", Location::Nowhere),
            ("*.wild", Location::Here),
            ("x.*.wild", Location::Nowhere),
            ("www.void", wildcard("*.void")),
            ("nowhere", Location::Nowhere),
            ("a.b.c.d.e.f.nowhere", Location::Nowhere),
        ];
        for (asked, location) in rows {
            assert_eq!(zone().locate(&name(asked)), location, "{asked}");
        }
        assert_eq!(zone().locate(zone().origin()), Location::Here);
    }

    proptest! {
        /// The neighbours in the order know what a walk over all names above would find.
        #[test]
        fn the_closest_encloser_is_the_lowest_name_that_exists(labels in proptest::collection::vec("[abosuw*]|sub|old|wild|void|here", 0..6)) {
            let zone = zone();
            let name = if labels.is_empty() { zone.origin().clone() } else { name(&labels.join(".")) };
            let lowest = name.ancestors().find(|ancestor| zone.exists(ancestor));
            prop_assert_eq!(Some(zone.closest_encloser(&name)), lowest);
        }
    }
}
