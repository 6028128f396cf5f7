//! The index against one that is made anew, over histories that chance wrote.

use std::collections::BTreeMap;

use api::Decoded;
use dns::Name;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cluster::{Cluster, host, ingress};
use super::leaving::ingress_object;
use crate::ObjectKey;
use crate::publishing::{HostView, Publishing, SourceKey, SourceKind, names};

const HOSTS: [&str; 4] = [
    "a.x.example.com",
    "b.example.com",
    "*.example.com",
    "*.x.example.com",
];
const NAMESPACES: [&str; 2] = ["n0", "n1"];
const NAMES: [&str; 2] = ["s0", "s1"];
const DOMAINS: [&str; 3] = ["example.com", "x.example.com", "a.x.example.com"];
const KINDS: [SourceKind; 4] = [
    SourceKind::HttpProxy,
    SourceKind::Ingress,
    SourceKind::Gateway,
    SourceKind::HttpRoute,
];

/// Something that happens.
#[derive(Clone, Debug)]
enum Happening {
    Source(usize, usize, usize, Shape),
    SourceGone(usize, usize, usize),
    /// A ServiceRecord of a host in a namespace or the central one: whom it names, whether it is ours, and is published.
    ServiceRecord(usize, usize, Option<(usize, usize, usize)>, bool, bool),
    ServiceRecordGone(usize, usize),
    /// A Record of a host: which of two, whether it is ours, and what it says.
    Record(usize, usize, usize, bool, usize),
    RecordGone(usize, usize, usize),
    Node(usize, bool),
    Readable(usize, bool),
    FallbackReadable(bool),
    /// A proof in a namespace of a domain, and whose it is.
    Proof(usize, usize, usize),
    ProofGone(usize, usize),
}

/// A source, in what matters here.
#[derive(Clone, Debug)]
struct Shape {
    host: usize,
    reached: bool,
    exported: bool,
    deleting: bool,
    gateway: usize,
}

struct World {
    cluster: Cluster,
    readable: BTreeMap<SourceKind, bool>,
    fallback: bool,
}

fn source_key(kind: usize, namespace: usize, name: usize) -> SourceKey {
    SourceKey::new(KINDS[kind], NAMESPACES[namespace], NAMES[name])
}

fn uid(key: &SourceKey) -> String {
    key.to_string().replace([' ', '/'], "-")
}

fn source(key: &SourceKey, shape: &Shape) -> Value {
    let host = HOSTS[shape.host];
    let reach: &[&str] = if shape.reached { &["192.0.2.1"] } else { &[] };
    let mut object = match key.kind {
        SourceKind::HttpProxy => super::cluster::proxy_object(host, reach),
        SourceKind::Ingress => {
            let mut object = ingress_object(&[host], "192.0.2.1");
            object["status"]["loadBalancer"]["ingress"] = json!(ingress(reach));
            object
        }
        SourceKind::Gateway => {
            let addresses: Vec<Value> = reach.iter().map(|it| json!({ "value": it })).collect();
            let listeners = json!([{ "name": "l", "hostname": host, "port": 443 }]);
            json!({ "spec": { "listeners": listeners }, "status": { "addresses": addresses } })
        }
        SourceKind::HttpRoute
        | SourceKind::GrpcRoute
        | SourceKind::TlsRoute
        | SourceKind::Service => {
            let parents = json!([{ "name": NAMES[shape.gateway] }]);
            let hosts: &[&str] = if shape.reached { &[host] } else { &[] };
            json!({ "spec": { "parentRefs": parents, "hostnames": hosts } })
        }
    };
    object["metadata"] = json!({ "uid": uid(key), "creationTimestamp": "2026-03-04T05:06:07Z" });
    if !shape.exported {
        object["metadata"]["labels"] = json!(null);
    }
    if shape.deleting {
        object["metadata"]["deletionTimestamp"] = json!("2026-03-04T05:06:08Z");
    }
    object
}

fn service_record(
    at: &ObjectKey,
    host: usize,
    named: Option<&SourceKey>,
    ours: bool,
    told: bool,
) -> Value {
    let named: Vec<Value> = named
        .map(|it| serde_json::to_value(it.named(&uid(it))).unwrap())
        .into_iter()
        .collect();
    let mut labels = json!({ "connectivity.tanzu.vmware.com/export": "" });
    if !ours {
        labels["connectivity.tanzu.vmware.com/imported"] = json!("");
    }
    let published = json!({
        "type": "Published", "status": if told { "True" } else { "False" }, "reason": "Any",
        "message": "", "lastTransitionTime": "2026-03-04T05:06:07Z",
    });
    json!({
        "apiVersion": "connectivity.tanzu.vmware.com/v1alpha1", "kind": "ServiceRecord",
        "metadata": {
            "name": at.name, "namespace": at.namespace, "labels": labels,
            "annotations": { "zonewright.dev/sources": json!(named).to_string() },
        },
        "spec": { "fqdn": HOSTS[host], "endpoints": [{ "address": "192.0.2.1", "port": 443 }] },
        "status": { "conditions": [published], "observedGeneration": 1 },
    })
}

fn record(at: &ObjectKey, host: usize, ours: bool, said: usize) -> Value {
    let marks = if ours {
        json!({ "zonewright.dev/host": HOSTS[host] })
    } else {
        json!({})
    };
    let owner = json!({
        "apiVersion": "projectcontour.io/v1", "kind": "HTTPProxy", "name": NAMES[said % 2],
        "uid": uid(&SourceKey::new(SourceKind::HttpProxy, &at.namespace, NAMES[said % 2])),
    });
    json!({
        "apiVersion": "kubi.zone/v1alpha1", "kind": "Record",
        "metadata": {
            "name": at.name, "namespace": at.namespace, "annotations": marks,
            "labels": { "zonewright.dev/service-record": "any", "app.kubernetes.io/managed-by": "zonewright" },
            "ownerReferences": [owner],
        },
        "spec": { "domainName": format!("{}.", HOSTS[host]), "type": "A", "rdata": format!("192.0.2.{said}") },
    })
}

fn service_record_key(host: usize, place: usize) -> ObjectKey {
    let name = names::service_record(&super::cluster::host(HOSTS[host])).unwrap();
    ObjectKey::new(["central", NAMESPACES[0], NAMESPACES[1]][place], &name)
}

fn record_key(host: usize, namespace: usize, number: usize) -> ObjectKey {
    let stem = names::stem(&super::cluster::host(HOSTS[host]));
    ObjectKey::new(NAMESPACES[namespace], &format!("{stem}-{number}"))
}

impl World {
    fn new() -> World {
        World {
            cluster: Cluster::with(|policy| policy.node_endpoints = true),
            readable: SourceKind::ALL.map(|it| (it, true)).into(),
            fallback: true,
        }
    }

    fn happen(&mut self, happening: &Happening) {
        let cluster = &mut self.cluster;
        match happening {
            Happening::Source(kind, namespace, name, shape) => {
                let key = source_key(*kind, *namespace, *name);
                // So that nothing of what it was is left.
                cluster.sources.remove(&key);
                cluster.source(&key, &source(&key, shape));
            }
            Happening::SourceGone(kind, namespace, name) => {
                cluster.delete_source(&source_key(*kind, *namespace, *name));
            }
            Happening::ServiceRecord(host, place, named, ours, told) => {
                let at = service_record_key(*host, *place);
                let named = named.map(|(kind, namespace, name)| source_key(kind, namespace, name));
                let object = service_record(&at, *host, named.as_ref(), *ours, *told);
                cluster.put_service_record(serde_json::from_value(object).unwrap());
            }
            Happening::ServiceRecordGone(host, place) => {
                cluster.delete_service_record(&service_record_key(*host, *place));
            }
            Happening::Record(host, namespace, number, ours, said) => {
                let object = record(&record_key(*host, *namespace, *number), *host, *ours, *said);
                cluster.put_record(serde_json::from_value(object).unwrap());
            }
            Happening::RecordGone(host, namespace, number) => {
                cluster.delete_record(&record_key(*host, *namespace, *number));
            }
            Happening::Node(node, ready) => {
                cluster.node(NAMES[*node], &format!("10.0.0.{node}"), *ready);
            }
            Happening::Readable(kind, readable) => {
                self.readable.insert(KINDS[*kind], *readable);
                let due = cluster.index.set_readable(KINDS[*kind], *readable);
                cluster.due.extend(due);
            }
            Happening::FallbackReadable(readable) => {
                self.fallback = *readable;
                let due = cluster.index.set_fallback_readable(*readable);
                cluster.due.extend(due);
            }
            Happening::Proof(namespace, domain, of) => {
                cluster.prove(NAMESPACES[*namespace], DOMAINS[*domain], NAMESPACES[*of]);
            }
            Happening::ProofGone(namespace, domain) => {
                cluster.forget_proof(NAMESPACES[*namespace], DOMAINS[*domain]);
            }
        }
    }

    /// An index that hears of everything in another order.
    fn anew(&mut self) -> Publishing {
        let nothing = self.cluster.nothing();
        let known = std::mem::replace(&mut self.cluster.index, nothing);
        self.cluster.tell_proofs();
        for object in self.cluster.records.values().rev() {
            self.cluster
                .index
                .apply_record(Decoded::Object(object.clone()));
        }
        for object in self.cluster.service_records.values().rev() {
            self.cluster
                .index
                .apply_service_record(Decoded::Object(object.clone()));
        }
        for (kind, readable) in self.readable.iter().rev() {
            self.cluster.index.set_readable(*kind, *readable);
        }
        self.cluster.index.set_fallback_readable(self.fallback);
        self.cluster.tell_fallback();
        for (key, object) in self.cluster.sources.iter().rev() {
            let object = serde_json::from_value(object.clone()).unwrap();
            self.cluster.index.apply_object(key.kind, object);
        }
        std::mem::replace(&mut self.cluster.index, known)
    }
}

/// Every view, but for versions, which alone concern nobody.
fn views(index: &Publishing) -> BTreeMap<Name, HostView> {
    let view = |text: &str| {
        let mut view = index.view(&host(text));
        for it in &mut view.standing {
            it.version.resource_version = None;
        }
        for it in &mut view.records {
            it.version.resource_version = None;
        }
        (host(text), view)
    };
    HOSTS.map(view).into()
}

fn shape() -> impl Strategy<Value = Shape> {
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.1),
    );
    (0..4usize, flags, 0..2usize).prop_map(|(host, (reached, exported, deleting), gateway)| Shape {
        host,
        reached,
        exported,
        deleting,
        gateway,
    })
}

fn happening() -> impl Strategy<Value = Happening> {
    let source = || (0..4usize, 0..2usize, 0..2usize);
    let of_record = || (0..4usize, 0..2usize, 0..2usize);
    let named = prop::option::of(source());
    prop_oneof![
        6 => (source(), shape()).prop_map(|((a, b, c), shape)| Happening::Source(a, b, c, shape)),
        2 => source().prop_map(|(a, b, c)| Happening::SourceGone(a, b, c)),
        5 => (0..4usize, 0..3usize, named, prop::bool::weighted(0.8), any::<bool>())
            .prop_map(|(a, b, c, d, e)| Happening::ServiceRecord(a, b, c, d, e)),
        1 => (0..4usize, 0..3usize).prop_map(|(a, b)| Happening::ServiceRecordGone(a, b)),
        3 => (of_record(), prop::bool::weighted(0.8), 0..4usize)
            .prop_map(|((a, b, c), d, e)| Happening::Record(a, b, c, d, e)),
        1 => of_record().prop_map(|(a, b, c)| Happening::RecordGone(a, b, c)),
        1 => (0..2usize, any::<bool>()).prop_map(|(a, b)| Happening::Node(a, b)),
        1 => (0..4usize, any::<bool>()).prop_map(|(a, b)| Happening::Readable(a, b)),
        1 => any::<bool>().prop_map(Happening::FallbackReadable),
        3 => (0..2usize, 0..3usize, 0..2usize).prop_map(|(a, b, c)| Happening::Proof(a, b, c)),
        1 => (0..2usize, 0..3usize).prop_map(|(a, b)| Happening::ProofGone(a, b)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn everybody_is_told_whom_a_change_concerns_and_no_order_of_events_matters(
        happenings in prop::collection::vec(happening(), 1..40),
    ) {
        let mut world = World::new();
        for happening in &happenings {
            let before = views(&world.cluster.index);
            world.cluster.due.clear();
            world.happen(happening);
            for (host, after) in views(&world.cluster.index) {
                let told = world.cluster.due.contains(&host);
                // Which names others have matters to whoever makes a Record, and nobody else.
                let after = HostView { taken: before[&host].taken.clone(), ..after };
                prop_assert!(told || before[&host] == after, "{happening:?} concerns {host}:\n{:#?}\n{after:#?}", before[&host]);
            }
        }
        let anew = world.anew();
        prop_assert_eq!(views(&world.cluster.index), views(&anew));
    }
}

#[test]
fn a_change_concerns_only_whom_it_touches() {
    // Among many sources, and below one wildcard.
    let mut cluster = Cluster::new();
    for number in 0..50 {
        cluster.proxy(
            "web",
            &format!("app-{number}"),
            &format!("h{number}.example.com"),
            &["192.0.2.1"],
        );
    }
    cluster.proxy("web", "any", "*.example.com", &["192.0.2.1"]);
    cluster.settle();
    cluster.proxy("web", "app-7", "h7.example.com", &["192.0.2.2"]);
    assert_eq!(cluster.due, [host("h7.example.com")].into());
    cluster.settle();
    cluster.proxy("web", "any", "*.example.com", &["192.0.2.2"]);
    assert_eq!(cluster.due, [host("*.example.com")].into());
    cluster.settle();
    cluster.tamper(
        &names::service_record(&host("*.example.com")).unwrap(),
        |it| it.status = None,
    );
    assert_eq!(
        cluster.due,
        [host("*.example.com")].into(),
        "those below need not know"
    );
    cluster.settle();
    cluster.proxy("owner", "app", "h7.example.com", &["192.0.2.3"]);
    cluster.settle();
    cluster.prove("owner", "example.com", "owner");
    assert_eq!(cluster.due, [host("h7.example.com")].into());
    cluster.settle();
    cluster.node("n", "10.0.0.1", true);
    assert!(cluster.due.is_empty(), "everybody has an address");
}
