//! The tree of a record: from its root host along aliases to what is reached in the end.
//!
//! It need not be one: names can lead to the same place, and back to themselves. So a name is asked what can be reached
//! from it, never how deep it is.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use api::parse::dns_record::Endpoint;
use api::parse::target::Target;
use dns::hosted::HostedKey;
use dns::routing::GeoCode;
use dns::{Name, Rdata, Rtype};

use super::Health;
use crate::dns_record::key_of;

/// Where data leads.
enum Way {
    /// To a name of the same record.
    On(Name),
    /// Out of it.
    Leaf(Target),
}

/// What is reached from the root host in the end: addresses, and hosts of others.
pub(super) fn leaves(root: &Name, endpoints: &[Endpoint]) -> BTreeSet<Target> {
    let graph = Graph::new(endpoints);
    let names = graph.reached_from(vec![root.clone()]);
    let leaves = graph.sets(&names).flat_map(|set| {
        let ways = set.targets.iter().filter_map(|data| graph.way(data));
        ways.filter_map(|way| match way {
            Way::Leaf(target) => Some(target),
            Way::On(_) => None,
        })
    });
    leaves.collect()
}

/// The endpoints without what is not to be reached; nothing if nothing would be reached any more.
pub(super) fn sift(
    root: &Name,
    endpoints: &[Endpoint],
    health: impl Fn(&Target) -> Health,
    published: &BTreeMap<HostedKey, Vec<Rdata>>,
) -> Option<Vec<Endpoint>> {
    let graph = Graph::new(endpoints);
    let stays = |set: &Endpoint, data: &Rdata, target: &Target| match health(target) {
        Health::Healthy => true,
        Health::Unhealthy => false,
        // What is there is not taken away because nobody knows, and what is not there is not added.
        Health::Unknown => published
            .get(&key_of(set))
            .is_some_and(|there| there.contains(data)),
    };
    let tree = graph.reached_from(vec![root.clone()]);
    let alive = graph.leading_to(&tree, stays);
    let leads = graph.leading_to(&tree, |_, _, _| true);
    if leads.contains(root) && !alive.contains(root) {
        return None;
    }
    let dead: BTreeSet<Name> = leads.difference(&alive).cloned().collect();
    // What stands beside the tree and leads into it is not checked, and must not lead to nothing.
    let beside = graph.names().filter(|name| !tree.contains(name));
    let kept = graph.reached_from(beside.collect());
    let is_kept = |name: &Name| dead.contains(name) && kept.contains(name);
    let left = endpoints.iter().filter_map(|set| {
        if !tree.contains(&set.name) || is_kept(&set.name) {
            return Some(set.clone());
        }
        let good = |data: &&Rdata| match graph.way(data) {
            Some(Way::Leaf(target)) => stays(set, data, &target),
            Some(Way::On(name)) => !dead.contains(&name),
            None => true,
        };
        let targets: Vec<Rdata> = set.targets.iter().filter(good).cloned().collect();
        (!targets.is_empty()).then(|| Endpoint {
            targets,
            ..set.clone()
        })
    });
    Some(left.collect())
}

/// What is left, and for each default that is not, one that leads where another of its name leads: whoever is in no place
/// of its own is led to a place that is well rather than nowhere.
pub(super) fn with_defaults(wanted: &[Endpoint], left: Vec<Endpoint>) -> Vec<Endpoint> {
    let is_left = |set: &Endpoint| left.iter().any(|it| key_of(it) == key_of(set));
    let beside = |set: &Endpoint| {
        let mut left = left.iter();
        left.find(|it| it.name == set.name && it.rtype == set.rtype)
    };
    let defaults = wanted.iter();
    let gone = defaults.filter(|set| set.geo == Some(GeoCode::Default) && !is_left(set));
    let led = gone.filter_map(|set| {
        Some(Endpoint {
            targets: beside(set)?.targets.clone(),
            ..set.clone()
        })
    });
    let led: Vec<Endpoint> = led.collect();
    left.into_iter().chain(led).collect()
}

struct Graph<'a> {
    sets: BTreeMap<&'a Name, Vec<&'a Endpoint>>,
}

impl<'a> Graph<'a> {
    fn new(endpoints: &'a [Endpoint]) -> Graph<'a> {
        let mut sets: BTreeMap<&Name, Vec<&Endpoint>> = BTreeMap::new();
        for endpoint in endpoints {
            sets.entry(&endpoint.name).or_default().push(endpoint);
        }
        Graph { sets }
    }

    fn names(&self) -> impl Iterator<Item = Name> {
        self.sets.keys().map(|name| (*name).clone())
    }

    fn sets(&self, names: &BTreeSet<Name>) -> impl Iterator<Item = &'a Endpoint> {
        let sets = names.iter().filter_map(|name| self.sets.get(name));
        sets.flatten().copied()
    }

    /// Where data leads, if it leads anywhere that can be asked.
    fn way(&self, data: &Rdata) -> Option<Way> {
        match data.rtype() {
            Rtype::A | Rtype::AAAA => Some(Way::Leaf(Target::Address(address(data)?))),
            Rtype::CNAME => {
                let name = data.target()?;
                if self.sets.contains_key(&name) {
                    return Some(Way::On(name));
                }
                let host = Target::parse(name.to_string().trim_end_matches('.'));
                host.ok().map(Way::Leaf)
            }
            _ => None,
        }
    }

    fn ways<'b>(&'b self, set: &'b Endpoint) -> impl Iterator<Item = (&'b Rdata, Way)> {
        let ways = set.targets.iter();
        ways.filter_map(|data| Some((data, self.way(data)?)))
    }

    /// Every name that is reached from some, themselves included.
    fn reached_from(&self, names: Vec<Name>) -> BTreeSet<Name> {
        let (mut reached, mut open) = (BTreeSet::new(), names);
        while let Some(name) = open.pop() {
            let sets = self.sets.get(&name).into_iter().flatten();
            let next = sets
                .flat_map(|set| self.ways(set))
                .filter_map(|(_, way)| match way {
                    Way::On(name) => Some(name),
                    Way::Leaf(_) => None,
                });
            let next: Vec<Name> = next.collect();
            if reached.insert(name) {
                open.extend(next);
            }
        }
        reached
    }

    /// The names of the tree from which a leaf is reached that is as wanted.
    fn leading_to(
        &self,
        tree: &BTreeSet<Name>,
        wanted: impl Fn(&Endpoint, &Rdata, &Target) -> bool,
    ) -> BTreeSet<Name> {
        let mut above: BTreeMap<Name, Vec<&Name>> = BTreeMap::new();
        let mut open = Vec::new();
        for set in self.sets(tree) {
            for (data, way) in self.ways(set) {
                match way {
                    Way::On(name) => above.entry(name).or_default().push(&set.name),
                    Way::Leaf(target) if wanted(set, data, &target) => open.push(&set.name),
                    Way::Leaf(_) => {}
                }
            }
        }
        let mut leading = BTreeSet::new();
        while let Some(name) = open.pop() {
            if leading.insert(name.clone()) {
                open.extend(above.get(name).into_iter().flatten());
            }
        }
        leading
    }
}

fn address(data: &Rdata) -> Option<IpAddr> {
    let wire = data.as_wire();
    let four = <[u8; 4]>::try_from(wire).ok().map(IpAddr::from);
    four.or_else(|| <[u8; 16]>::try_from(wire).ok().map(IpAddr::from))
}
