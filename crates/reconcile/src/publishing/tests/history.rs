//! Histories that chance wrote, carried out to the end, and killed on the way.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::cluster::{Cluster, GRACE, proxy, proxy_object};
use super::leaving::ingress_object;
use super::{APP, open};
use crate::ObjectKey;
use crate::publishing::{Placement, SourceKey, SourceKind};

const HOSTS: [&str; 4] = [
    "h0.example.com",
    "h1.example.com",
    "h2.example.com",
    "in_valid",
];
const DOMAINS: [&str; 2] = ["example.com", "h1.example.com"];
const NAMESPACES: [&str; 2] = ["n0", "n1"];
const NAMES: [&str; 2] = ["s0", "s1"];
const KINDS: [SourceKind; 2] = [SourceKind::HttpProxy, SourceKind::Ingress];
const REACH: [&[&str]; 5] = [
    &[],
    &["192.0.2.1"],
    &["192.0.2.2", "192.0.2.3"],
    &["lb.example.net"],
    &["2001:db8::1"],
];

/// Something that happens.
#[derive(Clone, Debug)]
enum Happening {
    /// A source: which, its host, where it is reached, whether it is exported.
    Source((usize, usize, usize), usize, usize, bool),
    SourceGone((usize, usize, usize)),
    /// A ServiceRecord is edited, in one of several ways.
    Edit(usize, usize),
    ServiceRecordGone(usize),
    /// One of the Records is edited, or goes.
    RecordEdit(usize, usize),
    RecordGone(usize),
    Foreign(usize, bool),
    Readable(usize, bool),
    /// Zones take Records, or leave them waiting.
    Serves(bool),
    Placement(bool),
    /// A namespace proves a domain above some of the hosts, or no longer does.
    Proof(usize, usize, bool),
    CollectGarbage,
    Restart,
    Wait,
    Settle,
    /// We are killed after so many writes.
    Kill(usize),
}

fn key((kind, namespace, name): (usize, usize, usize)) -> SourceKey {
    SourceKey::new(KINDS[kind], NAMESPACES[namespace], NAMES[name])
}

fn happen(cluster: &mut Cluster, happening: &Happening) {
    match happening {
        Happening::Source(which, host, reach, exported) => {
            put(
                cluster,
                &key(*which),
                HOSTS[*host],
                REACH[*reach],
                *exported,
            );
        }
        Happening::SourceGone(which) => cluster.delete_source(&key(*which)),
        Happening::Edit(host, how) => edit(cluster, HOSTS[*host], *how),
        Happening::ServiceRecordGone(host) => {
            let key = ObjectKey::new("central", HOSTS[*host]);
            cluster.delete_service_record(&key);
        }
        Happening::RecordEdit(which, how) => edit_record(cluster, *which, *how),
        Happening::RecordGone(which) => {
            if let Some(key) = cluster.records.keys().nth(*which).cloned() {
                cluster.delete_record(&key);
            }
        }
        Happening::Foreign(host, true) => cluster.foreign("central", HOSTS[*host], &json!({})),
        Happening::Foreign(host, false) => {
            let key = ObjectKey::new("central", HOSTS[*host]);
            if cluster.foreign.contains(&key) {
                cluster.delete_service_record(&key);
            }
        }
        Happening::Readable(kind, readable) => cluster.set_readable(KINDS[*kind], *readable),
        Happening::Serves(serves) => serve(cluster, *serves),
        Happening::Placement(central) => {
            let placement = [Placement::Source, Placement::Central][usize::from(*central)];
            cluster.policy.placement = placement;
            cluster.restart();
        }
        Happening::Proof(namespace, domain, true) => {
            let namespace = NAMESPACES[*namespace];
            cluster.prove(namespace, DOMAINS[*domain], namespace);
        }
        Happening::Proof(namespace, domain, false) => {
            cluster.forget_proof(NAMESPACES[*namespace], DOMAINS[*domain]);
        }
        Happening::CollectGarbage => cluster.collect_garbage(),
        Happening::Restart => cluster.restart(),
        Happening::Wait => cluster.pass_time(GRACE / 2),
        Happening::Settle => cluster.settle(),
        Happening::Kill(writes) => {
            cluster.writes_left = Some(*writes);
            cluster.settle();
            cluster.writes_left = None;
        }
    }
}

fn put(cluster: &mut Cluster, key: &SourceKey, host: &str, reach: &[&str], exported: bool) {
    let mut object = match key.kind {
        SourceKind::Ingress => {
            let mut object = ingress_object(&[host], "");
            object["status"] = proxy_object(host, reach)["status"].clone();
            object
        }
        SourceKind::HttpProxy
        | SourceKind::Service
        | SourceKind::Gateway
        | SourceKind::HttpRoute
        | SourceKind::GrpcRoute
        | SourceKind::TlsRoute => proxy_object(host, reach),
    };
    if !exported {
        object["metadata"] = json!({ "labels": null });
    }
    cluster.source(key, &object);
}

fn edit(cluster: &mut Cluster, host: &str, how: usize) {
    let at = ObjectKey::new("central", host);
    let Some(mut object) = cluster.service_records.get(&at).cloned() else {
        return;
    };
    if cluster.foreign.contains(&at) {
        return;
    }
    let annotations = object.metadata.annotations.get_or_insert_default();
    match how {
        0 => object.spec.fqdn = "else.example.com".to_owned(),
        1 => object.spec.endpoints.clear(),
        2 => {
            annotations.remove("zonewright.dev/sources");
        }
        3 => {
            annotations.insert("zonewright.dev/sources".to_owned(), "{".to_owned());
        }
        _ => object.status = None,
    }
    cluster.put_service_record(object);
}

fn edit_record(cluster: &mut Cluster, which: usize, how: usize) {
    let Some(mut object) = cluster.records.values().nth(which).cloned() else {
        return;
    };
    match how {
        0 => object.spec.rdata = "203.0.113.1".to_owned(),
        1 => object.spec.domain_name = "else.example.com.".to_owned(),
        2 => object.spec.type_ = "TXT".to_owned(),
        _ => object.metadata.owner_references = None,
    }
    cluster.put_record(object);
}

fn serve(cluster: &mut Cluster, serves: bool) {
    cluster.serves = serves;
    if serves {
        for record in cluster.records.clone().into_values() {
            cluster.put_record(record);
        }
    }
}

/// Everything works again, and time passes.
fn come_to_rest(cluster: &mut Cluster) {
    for kind in KINDS {
        cluster.set_readable(kind, true);
    }
    // What was not told while it could not be watched.
    cluster.restart();
    cluster.settle();
    serve(cluster, true);
    cluster.settle();
    cluster.pass_time(GRACE * 2);
    let writes = cluster.order.len();
    cluster.restart();
    cluster.settle();
    assert_eq!(
        cluster.order.len(),
        writes,
        "it is at rest: {:?}",
        &cluster.order[writes..]
    );
}

/// Who asks for a host, by what the objects say: namespace, source, and where it is reached.
fn claims(cluster: &Cluster, host: &str) -> Vec<(String, SourceKey, BTreeSet<String>)> {
    let asks = |it: &&(&SourceKey, &serde_json::Value)| {
        let object = it.1;
        let exported = object["metadata"]["labels"].get("connectivity.tanzu.vmware.com/export");
        let asked = [
            &object["spec"]["virtualhost"]["fqdn"],
            &object["spec"]["rules"][0]["host"],
        ];
        exported.is_some() && asked.iter().any(|it| it.as_str() == Some(host))
    };
    let all: Vec<_> = cluster.sources.iter().collect();
    let asking = all.iter().filter(asks);
    asking
        .map(|(key, object)| (key.key.namespace.clone(), (*key).clone(), reach(object)))
        .collect()
}

/// Whether a source asks for a host that it will never have.
fn is_stuck(cluster: &Cluster, source: &SourceKey) -> bool {
    let asked = HOSTS
        .iter()
        .find(|host| claims(cluster, host).iter().any(|it| it.1 == *source));
    asked.is_some_and(|host| {
        let has = |it: &api::ServiceRecord| {
            let sources = it.status.iter().flat_map(|it| &it.sources);
            let own =
                |it: &&api::service_record::Source| SourceKey::of(it).as_ref() == Some(source);
            it.spec.fqdn == *host && sources.filter(own).count() > 0
        };
        *host == "in_valid" || !cluster.service_records.values().any(has)
    })
}

/// Checks that exactly what is wanted stands.
fn check(cluster: &Cluster) {
    for host in &HOSTS[..3] {
        if !cluster.foreign.contains(&ObjectKey::new("central", host)) {
            check_host(cluster, host);
        }
    }
    assert!(cluster.names().iter().all(|it| !it.contains("in_valid")));
}

fn check_host(cluster: &Cluster, host: &str) {
    let claims = claims(cluster, host);
    let standing = cluster
        .service_records
        .iter()
        .filter(|(key, _)| key.name == host);
    let standing: Vec<_> = standing.collect();
    let records = cluster
        .records
        .values()
        .filter(|it| it.spec.domain_name == format!("{host}."));
    let records: Vec<&api::Record> = records.collect();
    let Some((key, object)) = standing.first() else {
        assert!(claims.is_empty(), "{host} is missing: {claims:?}");
        assert!(records.is_empty(), "{records:?}");
        return;
    };
    assert_eq!(standing.len(), 1, "{host}");
    let status = object.status.clone().unwrap_or_default();
    let named: BTreeSet<SourceKey> = status.sources.iter().filter_map(SourceKey::of).collect();
    let namespaces: BTreeSet<&str> = named.iter().map(|it| it.key.namespace.as_str()).collect();
    assert_eq!(namespaces.len(), 1, "{host}: {named:?}");
    let owner = namespaces.first().copied().unwrap();
    let proven = claims.iter().filter(|it| !it.2.is_empty());
    let proven: Vec<_> = proven
        .filter(|it| cluster.has_proven(&it.0, host))
        .collect();
    assert!(
        proven.is_empty() || cluster.has_proven(owner, host),
        "{host} is {owner}'s, and {proven:?} ask for it"
    );
    let own = claims.iter().filter(|it| it.0 == owner);
    let asking: BTreeSet<SourceKey> = own.clone().map(|it| it.1.clone()).collect();
    let left: Vec<&SourceKey> = named.difference(&asking).collect();
    assert!(asking.is_subset(&named), "{host}: {named:?}");
    assert!(
        left.iter().all(|it| is_stuck(cluster, it)),
        "{host} is kept for {left:?}"
    );
    assert!(
        records
            .iter()
            .all(|it| it.metadata.namespace.as_deref() == Some(owner))
    );
    let home = match cluster.policy.placement {
        Placement::Central => "central",
        Placement::Source => owner,
    };
    assert_eq!(key.namespace, home);
    let stuck = left.iter().flat_map(|it| reach(&cluster.sources[*it]));
    let reach: BTreeSet<String> = own.flat_map(|it| it.2.clone()).chain(stuck).collect();
    check_reach(object, &records, &reach);
}

fn reach(object: &serde_json::Value) -> BTreeSet<String> {
    let entries = object["status"]["loadBalancer"]["ingress"]
        .as_array()
        .unwrap();
    let text = |it: &serde_json::Value| {
        it["ip"]
            .as_str()
            .or(it["hostname"].as_str())
            .unwrap()
            .to_owned()
    };
    entries.iter().map(text).collect()
}

fn check_reach(object: &api::ServiceRecord, records: &[&api::Record], reach: &BTreeSet<String>) {
    let endpoints = object.spec.endpoints.iter().map(|it| it.address.clone());
    assert_eq!(&endpoints.collect::<BTreeSet<_>>(), reach);
    let addresses = reach
        .iter()
        .filter(|it| it.parse::<std::net::IpAddr>().is_ok());
    let mut expected: BTreeSet<String> = addresses.cloned().collect();
    if expected.is_empty() {
        expected = reach.iter().map(|it| format!("{it}.")).collect();
    }
    let mut said: Vec<String> = records.iter().map(|it| it.spec.rdata.clone()).collect();
    said.sort();
    assert_eq!(said, expected.into_iter().collect::<Vec<_>>());
}

fn happening() -> impl Strategy<Value = Happening> {
    let source = || (0..2usize, 0..2usize, 0..2usize);
    prop_oneof![
        8 => (source(), 0..4usize, 0..5usize, prop::bool::weighted(0.85))
            .prop_map(|(a, b, c, d)| Happening::Source(a, b, c, d)),
        3 => source().prop_map(Happening::SourceGone),
        2 => (0..3usize, 0..5usize).prop_map(|(a, b)| Happening::Edit(a, b)),
        1 => (0..3usize).prop_map(Happening::ServiceRecordGone),
        1 => (0..4usize, 0..4usize).prop_map(|(a, b)| Happening::RecordEdit(a, b)),
        1 => (0..4usize).prop_map(Happening::RecordGone),
        1 => (0..3usize, any::<bool>()).prop_map(|(a, b)| Happening::Foreign(a, b)),
        2 => (0..2usize, any::<bool>()).prop_map(|(a, b)| Happening::Readable(a, b)),
        1 => any::<bool>().prop_map(Happening::Serves),
        1 => any::<bool>().prop_map(Happening::Placement),
        2 => (0..2usize, 0..2usize, prop::bool::weighted(0.7))
            .prop_map(|(a, b, c)| Happening::Proof(a, b, c)),
        1 => Just(Happening::CollectGarbage),
        1 => Just(Happening::Restart),
        2 => Just(Happening::Wait),
        4 => Just(Happening::Settle),
        4 => (0..6usize).prop_map(Happening::Kill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    // Beside what is checked in the end, the cluster checks with every write that nobody else's object is written, and
    // that no host that somebody asks for loses its last Record.
    #[test]
    fn whatever_happens_exactly_what_is_wanted_stands_in_the_end(
        happenings in prop::collection::vec(happening(), 1..40),
    ) {
        let mut cluster = Cluster::new();
        for it in &happenings {
            happen(&mut cluster, it);
        }
        come_to_rest(&mut cluster);
        check(&cluster);
    }
}

/// What stands, but for versions.
fn shown(cluster: &Cluster) -> Vec<String> {
    let specs = cluster.service_records.iter();
    let specs = specs.map(|(key, it)| format!("{key} {:?} {:?}", it.spec, it.metadata.annotations));
    let records = cluster.records.values();
    let records = records.map(|it| format!("{:?} {:?}", it.spec, it.metadata.owner_references));
    let mut all: Vec<String> = specs.chain(records).collect();
    all.sort();
    all
}

#[test]
fn a_pass_that_is_killed_after_any_write_is_finished_by_the_next() {
    // N1.
    let changes: BTreeMap<&str, fn(&mut Cluster)> = [
        (
            "new addresses",
            (|it| it.proxy("web", "app", APP, &["192.0.2.2", "192.0.2.3"])) as fn(&mut Cluster),
        ),
        ("an alias", |it| {
            it.proxy("web", "app", APP, &["lb.example.net"]);
        }),
        ("another host", |it| {
            it.proxy("web", "app", "new.example.com", &["192.0.2.1"]);
        }),
        ("no label", |it| it.unlabel(&proxy("web", "app"))),
        ("gone", |it| it.delete_source(&proxy("web", "app"))),
        ("passed on", |it| {
            it.proxy("next", "app", APP, &["198.51.100.1", "198.51.100.2"]);
            it.delete_source(&proxy("web", "app"));
        }),
        ("proven by another", |it| {
            it.proxy("next", "app", APP, &["198.51.100.1", "198.51.100.2"]);
            it.prove("next", "example.com", "next");
        }),
        ("one of two gone", |it| {
            it.proxy("web", "more", APP, &["192.0.2.2"]);
            it.settle();
            it.delete_source(&proxy("web", "app"));
        }),
        ("another placement", |it| {
            it.policy.placement = Placement::Source;
            it.restart();
        }),
    ]
    .into();
    for (name, change) in changes {
        let mut whole = open();
        change(&mut whole);
        let before = whole.order.len();
        whole.settle();
        let writes = whole.order.len() - before;
        assert!(writes > 0, "{name}");
        for stop in 0..writes {
            let mut killed = open();
            change(&mut killed);
            killed.writes_left = Some(stop);
            killed.settle();
            killed.settle();
            assert_eq!(
                shown(&killed),
                shown(&whole),
                "{name}, killed after {stop} writes"
            );
        }
    }
}
