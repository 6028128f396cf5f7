//! The index against one that looks at everybody, over histories that chance wrote.

use std::collections::{BTreeMap, BTreeSet};

use kube::core::DynamicObject;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::ObjectKey;

const POLICIES: [&str; 4] = ["p0", "p1", "p2", "p3"];
const GATEWAYS: [&str; 2] = ["g0", "g1"];
const LISTENERS: [&str; 2] = ["l0", "l1"];
const SECRETS: [&str; 2] = ["s0", "s1"];
const HASHES: [&str; 2] = ["", "-abc123"];

/// Something that happens.
#[derive(Clone, Debug)]
enum Happening {
    Policy(usize, Shape),
    PolicyGone(usize),
    /// A Gateway, and for each listener that it has its host and whether routes are attached; and whether it has an
    /// address.
    Gateway(usize, BTreeMap<usize, (usize, bool)>, bool),
    GatewayGone(usize),
    Secret(usize, usize),
    SecretGone(usize),
    Record(Place, Made),
    RecordGone(Place),
    Installed(bool),
}

/// A policy, in what matters here.
#[derive(Clone, Debug)]
struct Shape {
    gateway: usize,
    listener: Option<usize>,
    secret: usize,
    valid: bool,
    deleting: bool,
    generation: i64,
}

/// Which name a record has: of a Gateway, a listener, and perhaps with a hash.
type Place = (usize, usize, usize);

/// A record, in what matters here.
#[derive(Clone, Debug)]
struct Made {
    /// The policy it names, and whether that has its uid.
    policy: Option<(usize, bool)>,
    /// The one that it is promised to, likewise.
    heir: Option<(usize, bool)>,
    marked: bool,
    listener: usize,
    host: usize,
    deleting: bool,
    told: usize,
}

impl Made {
    /// Whose it is: without a controller that of the one it is promised to, if it is ours at all.
    fn maker(&self) -> Option<(usize, bool)> {
        self.policy.or(self.heir.filter(|_| self.marked))
    }
}

type Listeners = BTreeMap<usize, (usize, bool)>;

/// Everything that is there, and nothing prepared.
#[derive(Clone, Debug, Default)]
struct Everything {
    policies: BTreeMap<usize, Shape>,
    gateways: BTreeMap<usize, (Listeners, bool)>,
    secrets: BTreeMap<usize, usize>,
    records: BTreeMap<Place, Made>,
    installed: bool,
}

/// What bears on a policy.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Bearing {
    standing: &'static str,
    listeners: Vec<(String, String, bool)>,
    reachable: bool,
    domain: Option<String>,
    own: Vec<(String, String)>,
    borrowed: Vec<(String, String)>,
    heir: Option<String>,
}

fn host(index: usize) -> String {
    format!("h{index}.example.org")
}

fn record_name(place: &Place) -> String {
    let (gateway, listener, hash) = place;
    format!(
        "{}-{}{}",
        GATEWAYS[*gateway], LISTENERS[*listener], HASHES[*hash]
    )
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("web", name)
}

impl Bearing {
    fn of(view: &DnsPolicyView) -> Bearing {
        let standing = match &view.standing {
            Ok(()) => "accepted",
            Err(Refusal::Faulty(_)) => "faulty",
            Err(Refusal::NotInstalled) => "not installed",
            Err(Refusal::NoGateway) => "no gateway",
            Err(Refusal::NoListener(_)) => "no listener",
            Err(Refusal::Conflicted(_)) => "conflicted",
            Err(Refusal::Delegated) => "delegated",
        };
        let listeners = view.gateway.iter().flat_map(|it| &it.listeners);
        let listeners = listeners.map(|it| {
            let host = it.host.clone().unwrap().unwrap().to_string();
            (
                it.name.clone(),
                host.trim_end_matches('.').to_owned(),
                it.attached,
            )
        });
        let records = |all: &[MadeRecord]| {
            let told = |it: &MadeRecord| it.conditions.first().map(|it| it.message.clone());
            let mut all: Vec<(String, String)> = all
                .iter()
                .map(|it| (it.name.clone(), told(it).unwrap_or_default()))
                .collect();
            all.sort();
            all
        };
        Bearing {
            standing,
            listeners: listeners.collect(),
            reachable: view
                .gateway
                .as_ref()
                .is_some_and(|it| !it.addresses.is_empty()),
            domain: view.domains.values().next().map(ToString::to_string),
            own: records(&view.own),
            borrowed: records(&view.borrowed),
            heir: view.heir.as_ref().map(|it| it.policy.name.clone()),
        }
    }
}

impl Everything {
    fn bearing(&self, policy: usize) -> Bearing {
        let shape = &self.policies[&policy];
        let standing = self.standing(policy);
        let listeners = match standing {
            "accepted" => self.listeners(policy),
            _ => Vec::new(),
        };
        let gateway = self.gateways.get(&shape.gateway);
        let domain = self.secrets.get(&shape.secret);
        Bearing {
            standing,
            reachable: gateway.is_some_and(|it| it.1),
            domain: domain.map(|it| format!("d{it}.example.")),
            own: self.shown(|_, made| made.maker() == Some((policy, true)) && !made.deleting),
            heir: self.heir(policy).map(|it| POLICIES[it].to_owned()),
            borrowed: self.shown(|place, made| {
                let lender = self.lender(policy, made);
                let fits = listeners.contains(&made.listener);
                lender && fits && place.0 == shape.gateway && place.1 == made.listener
            }),
            listeners: listeners
                .iter()
                .map(|listener| {
                    let (at, attached) = gateway.unwrap().0[listener];
                    (LISTENERS[*listener].to_owned(), host(at), attached)
                })
                .collect(),
        }
    }

    fn standing(&self, policy: usize) -> &'static str {
        let shape = &self.policies[&policy];
        if !self.installed {
            return "not installed";
        }
        let Some((listeners, _)) = self.gateways.get(&shape.gateway) else {
            return "no gateway";
        };
        if shape
            .listener
            .is_some_and(|it| !listeners.contains_key(&it))
        {
            return "no listener";
        }
        // Of one second, so that the uid decides.
        let rival = self.policies.iter().any(|(other, it)| {
            *other < policy && !it.deleting && Everything::same_target(shape, it)
        });
        match (rival, shape.valid) {
            (true, _) => "conflicted",
            (false, false) => "faulty",
            (false, true) => "accepted",
        }
    }

    fn same_target(one: &Shape, other: &Shape) -> bool {
        (one.gateway, one.listener) == (other.gateway, other.listener)
    }

    fn listeners(&self, policy: usize) -> Vec<usize> {
        let shape = &self.policies[&policy];
        let all = self.gateways[&shape.gateway].0.keys();
        all.filter(|listener| match shape.listener {
            Some(own) => own == **listener,
            None => !self.is_taken(shape.gateway, **listener),
        })
        .copied()
        .collect()
    }

    fn is_taken(&self, gateway: usize, listener: usize) -> bool {
        self.policies.iter().any(|(policy, it)| {
            let there = it.gateway == gateway && it.listener == Some(listener) && !it.deleting;
            let mut records = self.records.values();
            let published =
                records.any(|it| Everything::is_own(*policy, it) && it.listener == listener);
            there && (self.standing(*policy) == "accepted" || published)
        })
    }

    fn heir(&self, policy: usize) -> Option<usize> {
        let shape = &self.policies[&policy];
        let others = || self.policies.iter().filter(|(it, _)| **it != policy);
        let mut next =
            others().filter(|(_, it)| !it.deleting && Everything::same_target(shape, it));
        let next = next.next().filter(|(_, it)| it.valid);
        let mut whole = others().filter(|(other, it)| {
            let above = it.gateway == shape.gateway && it.listener.is_none();
            let accepted = !it.deleting && self.standing(**other) == "accepted";
            shape.listener.is_some() && above && accepted
        });
        next.or_else(|| whole.next()).map(|(it, _)| *it)
    }

    fn is_own(policy: usize, made: &Made) -> bool {
        made.maker() == Some((policy, true)) && made.marked && !made.deleting
    }

    /// Whether a record was promised to a policy by one that is gone.
    fn inherits(&self, policy: usize, made: &Made) -> bool {
        let Some((maker, same)) = made.maker() else {
            return false;
        };
        let left = !same || self.policies.get(&maker).is_none_or(|it| it.deleting);
        let promised = made.heir == Some((policy, true)) && made.maker() != made.heir;
        left && promised && made.marked && !made.deleting
    }

    fn lender(&self, policy: usize, made: &Made) -> bool {
        if self.inherits(policy, made) {
            return true;
        }
        let shape = &self.policies[&policy];
        let Some((owner, true)) = made.maker() else {
            return false;
        };
        let Some(lender) = self.policies.get(&owner).filter(|it| !it.deleting) else {
            return false;
        };
        let near = lender.gateway == shape.gateway
            && (shape.listener.is_none()
                || lender.listener.is_none()
                || lender.listener == shape.listener);
        owner != policy && near && Everything::is_own(owner, made)
    }

    fn shown(&self, holds: impl Fn(&Place, &Made) -> bool) -> Vec<(String, String)> {
        let records = self
            .records
            .iter()
            .filter(|(place, made)| holds(place, made));
        let mut shown: Vec<_> = records
            .map(|(place, made)| (record_name(place), format!("told {}", made.told)))
            .collect();
        shown.sort();
        shown
    }

    fn affected(&self, gateway: usize) -> BTreeSet<String> {
        let on = self.policies.iter().filter(|(_, it)| it.gateway == gateway);
        let accepted =
            on.filter(|(policy, it)| !it.deleting && self.standing(**policy) == "accepted");
        accepted
            .map(|(policy, _)| POLICIES[*policy].to_owned())
            .collect()
    }

    fn bearings(&self) -> BTreeMap<usize, Bearing> {
        self.policies
            .keys()
            .map(|it| (*it, self.bearing(*it)))
            .collect()
    }
}

fn decoded<K: kube::Resource + DeserializeOwned>(object: Value) -> Decoded<K> {
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    Decoded::of_parts(object.metadata, object.data)
}

fn policy(index: usize, shape: &Shape) -> Decoded<api::DnsPolicy> {
    let excluded = if shape.valid { "10.0.0.0/8" } else { "/" };
    let mut object = json!({
        "metadata": {
            "name": POLICIES[index], "namespace": "web", "uid": format!("u{index}"),
            "generation": shape.generation, "creationTimestamp": "2026-03-04T05:06:07Z",
        },
        "spec": {
            "targetRef": {
                "group": "gateway.networking.k8s.io", "kind": "Gateway",
                "name": GATEWAYS[shape.gateway], "sectionName": shape.listener.map(|it| LISTENERS[it]),
            },
            "providerRefs": [{ "name": SECRETS[shape.secret] }],
            "excludeAddresses": [excluded],
        },
    });
    if shape.deleting {
        object["metadata"]["deletionTimestamp"] = json!("2026-03-04T05:06:08Z");
    }
    decoded(object)
}

fn gateway(index: usize, listeners: &Listeners, reachable: bool) -> Decoded<Gateway> {
    let addresses = if reachable {
        json!([{ "value": "192.0.2.1" }])
    } else {
        json!([])
    };
    let spec: Vec<Value> = listeners
        .iter()
        .map(|(it, (at, _))| json!({ "name": LISTENERS[*it], "hostname": host(*at) }))
        .collect();
    let status: Vec<Value> = listeners
        .iter()
        .map(|(it, (_, attached))| json!({ "name": LISTENERS[*it], "attachedRoutes": i64::from(*attached) }))
        .collect();
    decoded(json!({
        "metadata": { "name": GATEWAYS[index], "namespace": "web" },
        "spec": { "listeners": spec },
        "status": { "addresses": addresses, "listeners": status },
    }))
}

fn record(place: &Place, made: &Made) -> Decoded<api::DnsRecord> {
    let owner = |(policy, same): (usize, bool), controller: bool| {
        let uid = if same {
            format!("u{policy}")
        } else {
            "other".to_owned()
        };
        json!({
            "apiVersion": "kuadrant.io/v1", "kind": "DNSPolicy", "controller": controller,
            "name": POLICIES[policy], "uid": uid,
        })
    };
    let maker = made.policy.map(|it| owner(it, true));
    let heir = made.heir.map(|it| owner(it, false));
    let owners: Vec<Value> = maker.into_iter().chain(heir).collect();
    let mut object = json!({
        "metadata": {
            "name": record_name(place), "namespace": "web",
            "labels": {
                "app": if made.marked { "kuadrant" } else { "theirs" },
                "kuadrant.io/listener-name": LISTENERS[made.listener],
            },
            "ownerReferences": owners,
        },
        "spec": { "rootHost": host(made.host) },
        "status": { "conditions": [{
            "type": "Ready", "status": "False", "reason": "Any", "message": format!("told {}", made.told),
            "lastTransitionTime": "2026-03-04T05:06:07Z",
        }] },
    });
    if made.deleting {
        object["metadata"]["deletionTimestamp"] = json!("2026-03-04T05:06:08Z");
    }
    decoded(object)
}

fn secret(domain: usize) -> Secret {
    serde_json::from_value(json!({ "stringData": { "DOMAIN_NAME": format!("d{domain}.example") } }))
        .unwrap()
}

/// Lets something happen to both. Whom the index tells.
fn happen(index: &mut Gateways, all: &mut Everything, happening: Happening) -> Concerned {
    match happening {
        Happening::Policy(at, shape) => {
            let told = index.apply_policy(&key(POLICIES[at]), policy(at, &shape));
            all.policies.insert(at, shape);
            told
        }
        Happening::PolicyGone(at) => {
            all.policies.remove(&at);
            index.delete_policy(&key(POLICIES[at]))
        }
        Happening::Gateway(at, listeners, reachable) => {
            let object = gateway(at, &listeners, reachable);
            all.gateways.insert(at, (listeners, reachable));
            index.apply_gateway(&key(GATEWAYS[at]), &object)
        }
        Happening::GatewayGone(at) => {
            all.gateways.remove(&at);
            index.delete_gateway(&key(GATEWAYS[at]))
        }
        Happening::Secret(at, domain) => {
            all.secrets.insert(at, domain);
            index.apply_secret(&key(SECRETS[at]), &secret(domain))
        }
        Happening::SecretGone(at) => {
            all.secrets.remove(&at);
            index.delete_secret(&key(SECRETS[at]));
            Concerned::default()
        }
        Happening::Record(place, made) => {
            let told = index.apply_record(&key(&record_name(&place)), record(&place, &made));
            all.records.insert(place, made);
            told
        }
        Happening::RecordGone(place) => {
            all.records.remove(&place);
            index.delete_record(&key(&record_name(&place)))
        }
        Happening::Installed(installed) => {
            all.installed = installed;
            index.set_installed(installed)
        }
    }
}

fn step(index: &mut Gateways, all: &mut Everything, happening: Happening) {
    let before = (all.bearings(), [all.affected(0), all.affected(1)]);
    let unheard = matches!(happening, Happening::SecretGone(_));
    let told = happen(index, all, happening);
    let after = all.bearings();
    for (policy, bearing) in &after {
        let key = key(POLICIES[*policy]);
        assert_eq!(Bearing::of(&index.view(&key).unwrap()), *bearing, "{key}");
        let changed = before.0.get(policy) != Some(bearing);
        assert!(
            !changed || unheard || told.policies.contains(&key),
            "{key} was not told"
        );
    }
    for (at, name) in GATEWAYS.iter().enumerate() {
        let affected = all.affected(at);
        if let Some(view) = index.affected(&key(name)) {
            let by: BTreeSet<String> = view.by.iter().map(|it| it.name.clone()).collect();
            assert_eq!(by, affected, "{name}");
            let changed = before.1[at] != affected;
            assert!(
                !changed || told.gateways.contains(&key(name)),
                "{name} was not told"
            );
        }
    }
    let gone = told.policies.iter().filter(|it| index.view(it).is_none());
    assert_eq!(gone.count(), 0, "only those that are there are told");
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let target = (0..GATEWAYS.len(), prop::option::of(0..LISTENERS.len()));
    let odds = (prop::bool::weighted(0.8), prop::bool::weighted(0.1));
    (target, 0..SECRETS.len(), odds, 1..4i64).prop_map(
        |((gateway, listener), secret, (valid, deleting), generation)| {
            // Another spec is another generation.
            let target = listener.map_or(0, |it| i64::try_from(it).unwrap() + 1);
            let spec = (i64::try_from(gateway).unwrap() * 3 + target) * 4
                + i64::try_from(secret).unwrap() * 2
                + i64::from(valid);
            Shape {
                gateway,
                listener,
                secret,
                valid,
                deleting,
                generation: generation * 100 + spec,
            }
        },
    )
}

fn any_place() -> impl Strategy<Value = Place> {
    (0..GATEWAYS.len(), 0..LISTENERS.len(), 0..HASHES.len())
}

fn any_made() -> impl Strategy<Value = Made> {
    let policy = || (0..POLICIES.len(), prop::bool::weighted(0.9));
    let owners = (
        prop::option::weighted(0.8, policy()),
        prop::option::weighted(0.4, policy()),
    );
    let odds = (prop::bool::weighted(0.9), prop::bool::weighted(0.1));
    (owners, odds, 0..LISTENERS.len(), 0..2usize, 0..3usize).prop_map(
        |((policy, heir), (marked, deleting), listener, host, told)| Made {
            policy,
            heir,
            marked,
            listener,
            host,
            deleting,
            told,
        },
    )
}

fn any_happening() -> impl Strategy<Value = Happening> {
    let listeners =
        prop::collection::btree_map(0..LISTENERS.len(), (0..2usize, any::<bool>()), 0..=2);
    prop_oneof![
        6 => (0..POLICIES.len(), any_shape()).prop_map(|(at, shape)| Happening::Policy(at, shape)),
        1 => (0..POLICIES.len()).prop_map(Happening::PolicyGone),
        4 => (0..GATEWAYS.len(), listeners, any::<bool>()).prop_map(|(at, listeners, reachable)| Happening::Gateway(at, listeners, reachable)),
        1 => (0..GATEWAYS.len()).prop_map(Happening::GatewayGone),
        2 => (0..SECRETS.len(), 0..3usize).prop_map(|(at, domain)| Happening::Secret(at, domain)),
        1 => (0..SECRETS.len()).prop_map(Happening::SecretGone),
        6 => (any_place(), any_made()).prop_map(|(place, made)| Happening::Record(place, made)),
        1 => any_place().prop_map(Happening::RecordGone),
        1 => prop::bool::weighted(0.8).prop_map(Happening::Installed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_index_says_what_looking_at_everybody_says(
        history in prop::collection::vec(any_happening(), 1..40),
    ) {
        // D1, D2, D8: the same views, and whoever's view is another one is told.
        let (mut index, mut all) = (Gateways::default(), Everything::default());
        step(&mut index, &mut all, Happening::Installed(true));
        for happening in history {
            step(&mut index, &mut all, happening);
        }
    }
}
