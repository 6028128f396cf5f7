//! Which probes a record gets, and what is left of it, as data; and what holds for every record.

use api::DnsHealthCheckProbe;
use dns::{Name, Rtype};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const ON: Probing = Probing {
    enabled: true,
    insecure: false,
};

/// The load-balanced tree of two places that a DNSPolicy makes: three addresses, and a host of others.
const BALANCED: &[&str] = &[
    "app CNAME klb.app",
    "klb.app CNAME eu.klb.app EU",
    "klb.app CNAME eu.klb.app default",
    "klb.app CNAME us.klb.app US",
    "eu.klb.app CNAME a.klb.app a",
    "eu.klb.app CNAME lb.example.net lb",
    "us.klb.app CNAME b.klb.app b",
    "a.klb.app A 192.0.2.1 192.0.2.2",
    "b.klb.app A 192.0.2.3",
];

/// From `name TYPE target… [setIdentifier]`, names below `example.org`; words that are no target are identifiers, and
/// those of places are spelled like them.
fn endpoints(lines: &[&str]) -> Vec<Value> {
    let one = |line: &&str| {
        let words: Vec<&str> = line.split(' ').collect();
        let rtype = words[1];
        let targets_end = if rtype == "CNAME" { 3 } else { words.len() };
        let full = |word: &str| {
            if word.ends_with("app") {
                format!("{word}.example.org")
            } else {
                word.to_owned()
            }
        };
        let id = *words.get(targets_end).unwrap_or(&"");
        let place = match id {
            "EU" | "US" => Some(id),
            "default" => Some("*"),
            _ => None,
        };
        let properties: Vec<Value> = place
            .map(|place| json!({ "name": "geo-code", "value": place }))
            .into_iter()
            .collect();
        json!({
            "dnsName": full(words[0]),
            "recordType": rtype,
            "recordTTL": 60,
            "targets": words[2..targets_end].iter().map(|it| full(it)).collect::<Vec<_>>(),
            "setIdentifier": id,
            "providerSpecific": properties,
        })
    };
    lines.iter().map(one).collect()
}

fn record(lines: &[&str], check: &Value) -> api::DnsRecord {
    let spec = json!({
        "rootHost": "app.example.org", "endpoints": endpoints(lines), "healthCheck": check,
    });
    serde_json::from_value(json!({ "metadata": { "name": "app" }, "spec": spec })).unwrap()
}

fn claim(lines: &[&str]) -> DnsRecord {
    parse(&record(lines, &json!({}))).unwrap()
}

fn shown(endpoints: &[Endpoint]) -> Vec<String> {
    let line = |endpoint: &Endpoint| {
        let name = endpoint.name.to_string();
        let name = name.trim_end_matches(".example.org.");
        let targets = endpoint.targets.iter().map(|data| {
            let text = data.to_string();
            let text = text.trim_end_matches('.');
            text.trim_end_matches(".example.org").to_owned()
        });
        let targets: Vec<String> = targets.collect();
        let line = format!(
            "{name} {} {} {}",
            endpoint.rtype,
            targets.join(" "),
            endpoint.set_identifier
        );
        line.trim_end().to_owned()
    };
    endpoints.iter().map(line).collect()
}

/// A record whose probes have found out so much, and of which so much is published.
struct Case {
    claim: DnsRecord,
    status: DnsRecordStatus,
    probes: BTreeMap<String, Standing>,
}

impl Case {
    /// `health` is `address+`, `address-` or `address?`.
    fn new(lines: &[&str], published: &[&str], health: &[&str]) -> Case {
        let status = json!({ "endpoints": endpoints(published) });
        let mut case = Case {
            claim: claim(lines),
            status: serde_json::from_value(status).unwrap(),
            probes: BTreeMap::new(),
        };
        for entry in health {
            let (target, healthy) = entry.split_at(entry.len() - 1);
            let healthy = match healthy {
                "+" => Some(true),
                "-" => Some(false),
                _ => None,
            };
            case.probe(target, healthy);
        }
        case
    }

    fn probe(&mut self, target: &str, healthy: Option<bool>) {
        let target = Target::parse(target).unwrap();
        let check = self.claim.health_check.clone().unwrap();
        let none = BTreeMap::new();
        let patient = Patient {
            probes: &none,
            ..self.patient()
        };
        let wanted = objects::wanted(patient, &check, &[target].into(), ON);
        let (name, (_, probe)) = wanted.into_iter().next().unwrap();
        let standing = Standing {
            owner: Some("u".to_owned()),
            uid: "p".to_owned(),
            resource_version: Some("1".to_owned()),
            spec: probe.spec,
            healthy,
            deleting: false,
        };
        self.probes.insert(name, standing);
    }

    fn patient(&self) -> Patient<'_> {
        Patient {
            name: "app",
            uid: "u",
            claim: &self.claim,
            status: &self.status,
            deleting: false,
            probes: &self.probes,
        }
    }

    fn checked(&self) -> Checked {
        check(self.patient(), ON)
    }

    fn told(&self) -> String {
        let (status, reason, message) = self.checked().told.unwrap();
        format!("{status}/{} {message}", reason.as_str())
    }

    fn published(&self) -> Vec<String> {
        match self.checked().publish {
            Publish::Everything => shown(&self.claim.endpoints),
            Publish::Part(left) | Publish::AsBefore(left) => shown(&left),
            Publish::Nothing => Vec::new(),
        }
    }
}

fn names(probes: &[DnsHealthCheckProbe]) -> Vec<String> {
    let names = probes
        .iter()
        .filter_map(|probe| probe.metadata.name.clone());
    names.collect()
}

#[test]
fn each_leaf_of_the_tree_gets_one_probe() {
    // D6.
    let plan = Case::new(BALANCED, &[], &[]).checked().plan;
    assert_eq!(
        names(&plan.create),
        [
            "app-192.0.2.1",
            "app-192.0.2.2",
            "app-192.0.2.3",
            "app-lb.example.net"
        ]
    );
    let simple = [
        "app A 192.0.2.1",
        "app AAAA 2001:db8::1",
        "mail.app A 192.0.2.9",
        "app TXT v",
    ];
    let plan = Case::new(&simple, &[], &[]).checked().plan;
    assert_eq!(
        names(&plan.create),
        ["app-192.0.2.1", "app-2001-db8-0-0-0-0-0-1"]
    );
}

#[test]
fn a_probe_asks_its_target_for_the_root_host_as_the_record_says() {
    // D6: the peer's form.
    let check = json!({
        "path": "/healthz", "port": 8443, "protocol": "HTTP", "interval": "1m30s", "failureThreshold": 3,
        "additionalHeadersRef": { "name": "token" },
    });
    let claim = parse(&record(&["app A 192.0.2.1"], &check)).unwrap();
    let case = Case {
        claim,
        status: DnsRecordStatus::default(),
        probes: BTreeMap::new(),
    };
    let insecure = Probing {
        insecure: true,
        ..ON
    };
    for (probing, any) in [(ON, false), (insecure, true)] {
        let plan = check_with(&case, probing).plan;
        assert_eq!(
            serde_json::to_value(&plan.create[0]).unwrap(),
            json!({
                "apiVersion": "kuadrant.io/v1alpha1",
                "kind": "DNSHealthCheckProbe",
                "metadata": {
                    "name": "app-192.0.2.1",
                    "labels": {
                        "app.kubernetes.io/managed-by": "zonewright",
                        "kuadrant.io/health-probes-owner": "app",
                    },
                    "ownerReferences": [{
                        "apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "name": "app", "uid": "u",
                        "controller": true, "blockOwnerDeletion": true,
                    }],
                },
                "spec": {
                    "hostname": "app.example.org", "address": "192.0.2.1", "port": 8443, "protocol": "HTTP",
                    "path": "/healthz", "interval": "1m30s", "failureThreshold": 3,
                    "additionalHeadersRef": { "name": "token" }, "allowInsecureCertificate": any,
                },
            })
        );
    }
}

fn check_with(case: &Case, probing: Probing) -> Checked {
    check(case.patient(), probing)
}

#[test]
fn a_probe_without_a_path_reads_back_as_the_root() {
    let plan = Case::new(&["app A 192.0.2.1"], &[], &[]).checked().plan;
    assert_eq!(plan.create[0].spec.path, None, "the schema takes no \"/\"");
    let read = api::parse::dns_health_check_probe::parse(&plan.create[0]).unwrap();
    assert_eq!(
        read.check,
        Case::new(&["app A 192.0.2.1"], &[], &[])
            .claim
            .health_check
            .unwrap()
    );
    assert_eq!(read.target.to_string(), "192.0.2.1");
}

#[test]
fn names_of_probes_are_names_of_objects_and_no_two_are_the_same() {
    let long = "a".repeat(250);
    let dots = format!("{}.", "b".repeat(199)) + "c";
    let targets = [
        "192.0.2.1",
        "2001:db8::1",
        "2001:db8::",
        "::1",
        "lb.example.net",
        "localhost",
        "2001-db8-0-0-0-0-0-1",
        "_a._b.example.net",
    ];
    let mut seen = BTreeSet::new();
    for record in ["app", "app.example.org", long.as_str(), dots.as_str()] {
        for target in targets {
            let Ok(target) = Target::parse(target) else {
                continue;
            };
            let name = objects::name(record, &target);
            assert!(api::parse::object_name::is_subdomain(&name), "{name}");
            assert!(seen.insert(name.clone()), "{name} is there twice");
        }
    }
    // They are stored in clusters: the spelling must never change.
    let target = Target::parse("localhost").unwrap();
    assert_eq!(
        objects::name("app", &target),
        format!("app-{}", dns::ownership::short_hash36("app localhost", 20))
    );
}

#[test]
fn a_record_with_a_long_name_is_a_hash_in_the_label() {
    let case = Case::new(&["app A 192.0.2.1"], &[], &[]);
    let name = "a".repeat(64);
    let patient = Patient {
        name: &name,
        uid: "9c8f876c-4ddc-44a3-9842-460f97e6c037",
        ..case.patient()
    };
    let plan = check(patient, ON).plan;
    let labels = plan.create[0].metadata.labels.clone().unwrap();
    assert_eq!(labels["kuadrant.io/health-probes-owner"], "32ah7xkb");
}

fn removed(plan: &ProbePlan) -> Vec<&str> {
    plan.remove.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn nothing_is_probed_where_that_makes_no_sense_and_it_is_said_why() {
    let unchecked = |case: &Case, probing: Probing, why: &str| {
        let checked = check(case.patient(), probing);
        assert_eq!(checked.plan.create, []);
        assert_eq!(checked.publish, Publish::Everything);
        let (status, reason, message) = checked.told.unwrap();
        assert_eq!((status, reason), (Status::Unknown, Reason::NotChecked));
        assert!(message.contains(why), "{message}");
    };
    let mut case = Case::new(&["app A 192.0.2.1"], &[], &["192.0.2.1-"]);
    let off = Probing {
        enabled: false,
        ..ON
    };
    unchecked(&case, off, "turned them off");
    assert_eq!(removed(&check(case.patient(), off).plan), ["app-192.0.2.1"]);
    case.claim.root_host = Name::parse("*.app.example.org.").unwrap();
    unchecked(&case, ON, "a wildcard");
    unchecked(
        &Case::new(&["mail.app A 192.0.2.1"], &[], &[]),
        ON,
        "no address",
    );
    case.claim.health_check = None;
    let checked = case.checked();
    assert_eq!((checked.told, checked.publish), (None, Publish::Everything));
    assert_eq!(removed(&checked.plan), ["app-192.0.2.1"]);
}

#[test]
fn probes_follow_the_record() {
    // 9.2.4: a probe of an address that left the record goes.
    let stands = Case::new(&["app A 192.0.2.1"], &[], &["192.0.2.1+"]);
    assert!(stands.checked().plan.is_empty());
    let moved = Case::new(&["app A 192.0.2.2"], &[], &["192.0.2.1+", "192.0.2.2+"]);
    assert_eq!(removed(&moved.checked().plan), ["app-192.0.2.1"]);

    let mut edited = Case::new(&["app A 192.0.2.1"], &[], &["192.0.2.1+"]);
    let probe = edited.probes.get_mut("app-192.0.2.1").unwrap();
    probe.spec.port = Some(80);
    let plan = edited.checked().plan;
    let (name, _, spec) = &plan.correct[0];
    assert_eq!((name.as_str(), spec.port), ("app-192.0.2.1", Some(443)));

    let mut foreign = Case::new(&["app A 192.0.2.1"], &[], &["192.0.2.1+"]);
    let probe = foreign.probes.get_mut("app-192.0.2.1").unwrap();
    probe.owner = Some("other".to_owned());
    let checked = foreign.checked();
    assert!(checked.plan.is_empty() && checked.plan.taken == ["app-192.0.2.1"]);
    assert_eq!(checked.publish, Publish::Nothing, "it does not count");
    assert!(
        foreign
            .told()
            .contains("app-192.0.2.1 belongs to somebody else")
    );

    let deleted = Patient {
        deleting: true,
        ..stands.patient()
    };
    assert_eq!(removed(&check(deleted, ON).plan), ["app-192.0.2.1"]);
}

type Lines<'a> = &'a [&'a str];

#[test]
fn what_is_published_follows_what_is_known() {
    // D6.
    let both = ["app A 192.0.2.1 192.0.2.2"];
    let first = ["app A 192.0.2.1"];
    let second = ["app A 192.0.2.2"];
    let none: [&str; 0] = [];
    let cases: [(Lines<'_>, Lines<'_>, Lines<'_>, Lines<'_>); 12] = [
        // wanted, published, health; what may be published
        (&both, &none, &["192.0.2.1?", "192.0.2.2?"], &none),
        (&both, &none, &["192.0.2.1+", "192.0.2.2?"], &first),
        (&both, &none, &["192.0.2.1-", "192.0.2.2-"], &none),
        (&both, &both, &[], &both),
        (&both, &both, &["192.0.2.1+", "192.0.2.2?"], &both),
        (&both, &both, &["192.0.2.1+", "192.0.2.2-"], &first),
        (&both, &both, &["192.0.2.1?", "192.0.2.2-"], &first),
        (&both, &both, &["192.0.2.1-", "192.0.2.2-"], &both),
        (&both, &first, &["192.0.2.1+", "192.0.2.2+"], &both),
        (&both, &first, &["192.0.2.1-", "192.0.2.2-"], &first),
        (&second, &first, &["192.0.2.1+", "192.0.2.2?"], &first),
        (&second, &first, &["192.0.2.1+", "192.0.2.2+"], &second),
    ];
    for (wanted, published, health, left) in cases {
        let case = Case::new(wanted, published, health);
        assert_eq!(
            case.published(),
            left,
            "{wanted:?} {published:?} {health:?}"
        );
    }
}

#[test]
fn a_stale_probe_says_nothing() {
    // 9.2.4: neither that something is healthy, nor that it is not.
    let both = ["app A 192.0.2.1 192.0.2.2"];
    let case = Case::new(&both, &both, &["192.0.2.1-", "192.0.2.2-", "192.0.2.9+"]);
    assert_eq!(case.published(), both);
    assert!(
        case.told().starts_with("False/HealthChecksFailed"),
        "{}",
        case.told()
    );
    let case = Case::new(&both, &both, &["192.0.2.1+", "192.0.2.2+", "192.0.2.9-"]);
    assert_eq!(
        case.told(),
        "True/AllChecksPassed All healthchecks succeeded"
    );
}

#[test]
fn what_cannot_be_read_of_a_status_is_left_alone() {
    let mut case = Case::new(&["app A 192.0.2.1"], &["app A 192.0.2.1"], &["192.0.2.1-"]);
    case.status.endpoints[0].targets = vec!["none".to_owned()];
    assert_eq!(case.checked().publish, Publish::Nothing);
}

#[test]
fn branches_that_lead_to_nothing_go_with_it() {
    // D6: a load-balanced tree loses members and branches; the default of one that goes leads to one that is left.
    let all = ["192.0.2.1+", "192.0.2.2+", "192.0.2.3+", "lb.example.net+"];
    let with = |unhealthy: &[&str]| {
        let health: Vec<String> = all
            .iter()
            .map(|entry| {
                let target = entry.trim_end_matches('+');
                let sign = if unhealthy.contains(&target) {
                    '-'
                } else {
                    '+'
                };
                format!("{target}{sign}")
            })
            .collect();
        let health: Vec<&str> = health.iter().map(String::as_str).collect();
        Case::new(BALANCED, BALANCED, &health).published()
    };
    let without = |gone: &[&str]| -> Vec<&str> {
        let lines = BALANCED.iter().copied();
        lines.filter(|line| !gone.contains(line)).collect()
    };
    assert_eq!(with(&[]), BALANCED);
    let mut one = without(&[]);
    one[7] = "a.klb.app A 192.0.2.2";
    assert_eq!(with(&["192.0.2.1"]), one);
    assert_eq!(
        with(&["192.0.2.1", "192.0.2.2"]),
        without(&[BALANCED[4], BALANCED[7]])
    );
    let mut america = without(&[
        BALANCED[1],
        BALANCED[2],
        BALANCED[4],
        BALANCED[5],
        BALANCED[7],
    ]);
    america.push("klb.app CNAME us.klb.app default");
    assert_eq!(with(&["192.0.2.1", "192.0.2.2", "lb.example.net"]), america);
    assert_eq!(
        with(&["192.0.2.3"]),
        without(&[BALANCED[3], BALANCED[6], BALANCED[8]])
    );
    assert_eq!(
        with(&["192.0.2.1", "192.0.2.2", "192.0.2.3", "lb.example.net"]),
        BALANCED
    );
}

#[test]
fn what_leads_into_the_tree_from_beside_it_leads_to_something() {
    let lines = [
        "app CNAME eu.app EU",
        "app CNAME us.app US",
        "eu.app A 192.0.2.1",
        "us.app A 192.0.2.2",
        "old.app CNAME eu.app",
    ];
    let case = Case::new(&lines, &lines, &["192.0.2.1-", "192.0.2.2+"]);
    assert_eq!(case.published(), lines[1..]);
}

#[test]
fn the_condition_says_which_addresses_are_not_healthy() {
    let both = ["app A 192.0.2.1 192.0.2.2"];
    let cases = [
        (vec![], "False/HealthChecksFailed Probes are creating"),
        (
            vec!["192.0.2.1?", "192.0.2.2?"],
            "False/HealthChecksFailed Not healthy addresses: [192.0.2.1 192.0.2.2]; not proven yet: [192.0.2.1 192.0.2.2]",
        ),
        (
            vec!["192.0.2.1-", "192.0.2.2-"],
            "False/HealthChecksFailed Not healthy addresses: [192.0.2.1 192.0.2.2]",
        ),
        (
            vec!["192.0.2.1+", "192.0.2.2-"],
            "False/SomeChecksPassed Not healthy addresses: [192.0.2.2]",
        ),
        (
            vec!["192.0.2.1+", "192.0.2.2+"],
            "True/AllChecksPassed All healthchecks succeeded",
        ),
    ];
    for (health, told) in cases {
        assert_eq!(Case::new(&both, &[], &health).told(), told);
    }
}

/// Any record below six names, with loops, shared leaves and dead ends, and any health.
#[derive(Clone, Debug)]
struct Specimen {
    endpoints: Vec<Endpoint>,
    health: BTreeMap<Target, Health>,
    published: BTreeMap<dns::hosted::HostedKey, Vec<dns::Rdata>>,
}

const LABELS: [&str; 6] = ["app", "a.app", "b.app", "c.app", "d.app", "e.app"];

/// What can be reached in the end: addresses, and names that the record has not.
#[rustfmt::skip]
const TARGETS: [&str; 11] = [
    "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "app.example.org", "a.app.example.org",
    "b.app.example.org", "c.app.example.org", "d.app.example.org", "e.app.example.org",
];

fn specimen() -> impl Strategy<Value = Specimen> {
    let name = 0..LABELS.len();
    let alias = (name.clone(), name.clone(), 0..3_u8);
    let addresses = (name, proptest::collection::btree_set(1..6_u8, 1..4));
    let published = proptest::collection::vec(any::<bool>(), 64);
    let health = proptest::collection::vec(0..3_u8, TARGETS.len());
    (
        proptest::collection::vec(alias, 0..8),
        proptest::collection::vec(addresses, 0..5),
        published,
        health,
    )
        .prop_map(|(aliases, addresses, published, health)| {
            let lines = aliases
                .iter()
                .map(|(from, to, id)| format!("{} CNAME {} s{id}", LABELS[*from], LABELS[*to]));
            let sets = addresses.iter().map(|(name, last)| {
                let list: Vec<String> = last.iter().map(|it| format!("192.0.2.{it}")).collect();
                format!("{} A {}", LABELS[*name], list.join(" "))
            });
            let mut seen = BTreeSet::new();
            let lines: Vec<String> = lines
                .chain(sets)
                .filter(|line| {
                    let words: Vec<&str> = line.split(' ').collect();
                    let id = if words[1] == "CNAME" { words[3] } else { "" };
                    seen.insert((words[0].to_owned(), words[1].to_owned(), id.to_owned()))
                })
                .collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let endpoints = claim(&lines).endpoints;
            let data = endpoints.iter().flat_map(|set| {
                set.targets
                    .iter()
                    .map(|data| (crate::dns_record::key_of(set), data.clone()))
            });
            let mut there: BTreeMap<_, Vec<_>> = BTreeMap::new();
            for ((key, data), _) in data.zip(published).filter(|(_, there)| *there) {
                there.entry(key).or_default().push(data);
            }
            let states = [Health::Healthy, Health::Unhealthy, Health::Unknown];
            let health = TARGETS.iter().zip(health).map(|(target, state)| {
                (Target::parse(target).unwrap(), states[usize::from(state)])
            });
            Specimen {
                endpoints,
                health: health.collect(),
                published: there,
            }
        })
}

impl Specimen {
    fn root() -> Name {
        Name::parse("app.example.org.").unwrap()
    }

    /// The same without names that are not reached from the root.
    fn without_beside(mut self) -> Specimen {
        let mut reached: BTreeSet<Name> = [Specimen::root()].into();
        for _ in LABELS {
            let sets = self.endpoints.iter();
            let sets = sets.filter(|set| reached.contains(&set.name));
            let targets = sets.flat_map(|set| &set.targets);
            let targets = targets.filter_map(dns::Rdata::target);
            reached = targets.chain(reached.clone()).collect();
        }
        self.endpoints.retain(|set| reached.contains(&set.name));
        self
    }

    fn sift(&self, endpoints: &[Endpoint]) -> Option<Vec<Endpoint>> {
        let health = |target: &Target| self.health[target];
        tree::sift(&Specimen::root(), endpoints, health, &self.published)
    }
}

fn pairs(endpoints: &[Endpoint]) -> BTreeSet<(dns::hosted::HostedKey, dns::Rdata)> {
    let pairs = endpoints.iter().flat_map(|set| {
        let key = crate::dns_record::key_of(set);
        set.targets
            .iter()
            .map(move |data| (key.clone(), data.clone()))
    });
    pairs.collect()
}

proptest! {
    #[test]
    fn something_is_left_wherever_there_was_something(any in specimen()) {
        if let Some(left) = any.sift(&any.endpoints) {
            let (before, after) = (tree::leaves(&Specimen::root(), &any.endpoints), tree::leaves(&Specimen::root(), &left));
            prop_assert_eq!(before.is_empty(), after.is_empty());
            prop_assert!(left.iter().all(|set| !set.targets.is_empty()));
            // Every alias that led to a name of the record still does.
            let names = |all: &[Endpoint]| all.iter().map(|set| set.name.clone()).collect::<BTreeSet<_>>();
            let (was, is) = (names(&any.endpoints), names(&left));
            let aliases = left.iter().filter(|set| set.rtype == Rtype::CNAME);
            for target in aliases.flat_map(|set| &set.targets).filter_map(dns::Rdata::target) {
                prop_assert!(!was.contains(&target) || is.contains(&target), "{target} is gone");
            }
        }
    }

    #[test]
    fn nothing_is_added_and_nothing_is_there_twice(any in specimen()) {
        if let Some(left) = any.sift(&any.endpoints) {
            let all = pairs(&left);
            prop_assert!(all.is_subset(&pairs(&any.endpoints)));
            prop_assert_eq!(all.len(), left.iter().map(|set| set.targets.len()).sum::<usize>());
        }
    }

    #[test]
    fn sifting_again_changes_nothing(any in specimen()) {
        if let Some(left) = any.sift(&any.endpoints) {
            prop_assert_eq!(any.sift(&left), Some(left));
        }
    }

    #[test]
    fn whoever_gets_well_takes_nothing_away(any in specimen(), well in 0..TARGETS.len()) {
        // What is kept only because something beside the tree leads there need not be kept any more.
        let any = any.without_beside();
        if let Some(left) = any.sift(&any.endpoints) {
            let mut better = any.clone();
            let target = Target::parse(TARGETS[well]).unwrap();
            better.health.insert(target, Health::Healthy);
            let more = better.sift(&any.endpoints);
            prop_assert!(more.is_some_and(|more| pairs(&more).is_superset(&pairs(&left))));
        }
    }

    #[test]
    fn where_everybody_is_well_everything_is_left(any in specimen()) {
        let mut well = any.clone();
        well.health.values_mut().for_each(|health| *health = Health::Healthy);
        prop_assert_eq!(well.sift(&any.endpoints), Some(any.endpoints));
    }
}
