//! Delegations: which tenant may put which names and types into a zone.
//!
//! A [`Pattern`] says which names, in either dialect that manifests of the field
//! are written in: relative to the zone (`*.dev`), or absolute (`*.dev.example.org.`),
//! with `@` for the zone itself. A [`Delegation`] says to which namespaces. All
//! rules only allow; whatever no rule allows is denied.

mod pattern;

use crate::{Name, Rtype};

pub use pattern::{Pattern, PatternError};

/// Leave for some namespaces to put some names into a zone.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Delegation {
    /// Whose objects it is for; empty: everybody's.
    pub namespaces: Vec<String>,
    /// The names that may become zones of their own; empty: none.
    pub zones: Vec<Pattern>,
    /// The names and types that may become records; empty: none.
    pub records: Vec<RecordRule>,
}

/// Leave to write records of some types at some names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecordRule {
    /// The names.
    pub pattern: Pattern,
    /// The types; empty: all but those that steer the zone itself.
    pub types: Vec<Rtype>,
}

/// A record that asks to be in a zone.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Its full name.
    pub name: &'a Name,
    /// Its type.
    pub rtype: Rtype,
    /// The namespace it comes from.
    pub namespace: &'a str,
}

/// A zone that judges claims.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    /// The zone's name.
    pub origin: &'a Name,
    /// The namespace the zone lives in.
    pub namespace: &'a str,
    /// What it allows.
    pub delegations: &'a [Delegation],
}

impl Judge<'_> {
    /// Whether any delegation lets the record in.
    pub fn allows_record(&self, claim: Claim<'_>) -> bool {
        claim.name.is_at_or_below(self.origin)
            && self
                .for_namespace(claim.namespace)
                .flat_map(|delegation| &delegation.records)
                .any(|rule| {
                    rule.pattern.matches(claim.name, self.origin) && self.allows_type(rule, claim)
                })
    }

    /// Whether any delegation lets `name` be a zone of `namespace`.
    pub fn allows_zone(&self, name: &Name, namespace: &str) -> bool {
        name.is_below(self.origin)
            && self
                .for_namespace(namespace)
                .flat_map(|delegation| &delegation.zones)
                .any(|pattern| pattern.matches(name, self.origin))
    }

    fn for_namespace(&self, namespace: &str) -> impl Iterator<Item = &Delegation> {
        self.delegations.iter().filter(move |delegation| {
            delegation.namespaces.is_empty()
                || delegation
                    .namespaces
                    .iter()
                    .any(|listed| listed == namespace)
        })
    }

    /// An empty list of types does not hand out the zone itself: neither its
    /// SOA, nor DNSSEC's types, nor, to strangers, the NS records at its apex.
    fn allows_type(&self, rule: &RecordRule, claim: Claim<'_>) -> bool {
        if !rule.types.is_empty() {
            return rule.types.contains(&claim.rtype);
        }
        let stranger = claim.namespace != self.namespace;
        let apex_ns = claim.rtype == Rtype::NS && claim.name == self.origin;
        claim.rtype != Rtype::SOA && !claim.rtype.is_dnssec() && !(apex_ns && stranger)
    }
}

#[cfg(test)]
mod tests;
