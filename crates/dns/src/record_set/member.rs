//! Members of routed sets, and which of them stands for the set where only one can.

use std::cmp::Reverse;

use super::RecordSet;
use crate::routing::{Membership, Routing};

/// One member of a routed set: what an answer holds that is given this member.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Member {
    membership: Membership,
    /// A plain one.
    set: RecordSet,
}

impl Member {
    pub(super) fn new(membership: Membership, set: RecordSet) -> Member {
        Member { membership, set }
    }

    /// Which member it is.
    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The part of the traffic it is for.
    pub fn routing(&self) -> &Routing {
        &self.membership.routing
    }

    /// What it says: a plain set.
    pub fn set(&self) -> &RecordSet {
        &self.set
    }
}

/// The member that stands for the set: one that is for clients from anywhere if there is one, with the largest share, with
/// the lowest identifier.
pub(super) fn default(members: &[Member]) -> Option<&Member> {
    let rank = |member: &&Member| {
        let routing = member.routing();
        (!routing.is_from_anywhere(), Reverse(routing.share()))
    };
    // Of several that rank the same it is the first, and they are in the order of their identifiers.
    members.iter().min_by_key(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Name, Rdata, RecordSetError, Rtype, Ttl};

    /// A set of lines such as `eu 60 A 192.0.2.1 weight=10 geo=GEO-EU`; `-` is no member.
    fn set(lines: &[&str]) -> Result<RecordSet, RecordSetError> {
        RecordSet::assemble(lines.iter().map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
            let membership = (words[0] != "-").then(|| Membership {
                identifier: words[0].parse().unwrap(),
                routing: Routing {
                    weight: value("weight=").map(|text| text.parse().unwrap()),
                    geo: value("geo=").map(|text| text.parse().unwrap()),
                },
            });
            let rtype: Rtype = words[2].parse().unwrap();
            let ttl = Ttl::from_secs(words[1].parse::<u32>().unwrap()).unwrap();
            let data = Rdata::parse(rtype, words[3], &Name::root()).unwrap();
            (membership, ttl, data)
        }))
    }

    fn says(set: &RecordSet) -> Vec<String> {
        let line = |(membership, ttl, data): (Option<&Membership>, Ttl, &Rdata)| {
            let member = membership.map_or("-".to_owned(), |it| it.identifier.to_string());
            format!("{member} {ttl} {data}")
        };
        set.records().map(line).collect()
    }

    /// N6.
    #[test]
    fn records_with_one_identifier_are_one_member() {
        let set = set(&[
            "b 60 A 192.0.2.3",
            "a 60 A 192.0.2.2",
            "a 30 A 192.0.2.1",
            "a 60 A 192.0.2.2",
        ])
        .unwrap();
        assert_eq!(
            says(&set),
            ["a 30 192.0.2.1", "a 30 192.0.2.2", "b 60 192.0.2.3"]
        );
        assert_eq!(set.members().len(), 2);
        assert_eq!(set.record_count(), 3);
    }

    /// N6: each member has a CNAME of its own.
    #[test]
    fn a_routed_set_has_one_cname_for_each_member() {
        assert!(set(&["a 60 CNAME x.", "b 60 CNAME y."]).is_ok());
        assert_eq!(
            set(&["a 60 CNAME x.", "a 60 CNAME y."]),
            Err(RecordSetError::Single(Rtype::CNAME, 2))
        );
    }

    #[test]
    fn what_is_no_routed_set_is_refused() {
        assert_eq!(
            set(&["a 60 A 192.0.2.1", "- 60 A 192.0.2.2"]),
            Err(RecordSetError::HalfRouted)
        );
        assert_eq!(
            set(&["a 60 A 192.0.2.1", "b 60 AAAA ::1"]),
            Err(RecordSetError::Mixed(Rtype::A, Rtype::AAAA))
        );
        assert_eq!(
            set(&["a 60 A 192.0.2.1 weight=1", "a 60 A 192.0.2.2 weight=2"]),
            Err(RecordSetError::DifferingRouting("a".parse().unwrap()))
        );
        assert_eq!(set(&[]), Err(RecordSetError::Empty));
        let members: Vec<String> = (0..257).map(|n| format!("{n} 60 A 192.0.2.1")).collect();
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        assert_eq!(set(&members), Err(RecordSetError::TooManyMembers));
        assert!(set(&members[1..]).is_ok());
    }

    #[test]
    fn a_plain_set_is_its_only_part() {
        let plain = set(&["- 60 A 192.0.2.1", "- 60 A 192.0.2.2"]).unwrap();
        assert_eq!(says(&plain), ["- 60 192.0.2.1", "- 60 192.0.2.2"]);
        assert!(plain.members().is_empty());
        assert_eq!(
            size_of::<RecordSet>(),
            size_of::<(Ttl, Vec<Rdata>, usize)>()
        );
    }

    /// Members, and which of them stands for the set.
    #[test]
    fn the_default_member_is_for_anyone_then_the_largest_then_the_first() {
        let cases: [(&[&str], &str); 7] = [
            (&["b 2 A 192.0.2.2", "a 1 A 192.0.2.1"], "a"),
            (
                &["a 1 A 192.0.2.1 weight=1", "b 2 A 192.0.2.2 weight=9"],
                "b",
            ),
            (&["a 1 A 192.0.2.1 geo=DE", "b 2 A 192.0.2.2 geo=*"], "b"),
            (&["a 1 A 192.0.2.1 geo=DE", "b 2 A 192.0.2.2"], "b"),
            (
                &["a 1 A 192.0.2.1 geo=DE", "b 2 A 192.0.2.2 geo=GEO-EU"],
                "a",
            ),
            (
                &[
                    "a 1 A 192.0.2.1 geo=DE weight=200",
                    "b 2 A 192.0.2.2 geo=* weight=1",
                    "c 3 A 192.0.2.3 geo=* weight=2",
                ],
                "c",
            ),
            (&["a 1 A 192.0.2.1 weight=0", "b 2 A 192.0.2.2"], "b"),
        ];
        for (lines, expected) in cases {
            let set = set(lines).unwrap();
            let mut members = set.members().iter();
            let default = members
                .find(|member| member.membership().identifier.as_str() == expected)
                .unwrap();
            assert_eq!(
                (set.ttl(), set.data()),
                (default.set().ttl(), default.set().data()),
                "{lines:?}"
            );
        }
    }
}
