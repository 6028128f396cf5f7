//! The index against one that looks at everybody, over histories that chance wrote.

use std::collections::{BTreeMap, BTreeSet};

use api::parse::provider_secret::ProviderKind;
use api::well_known::{annotation, label};
use api::{Decoded, ZoneKey};
use dns::Name;
use dns::hosted::HostedKey;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::core::DynamicObject;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod withdrawal;

const NAMESPACES: [&str; 2] = ["red", "blue"];
const RECORDS: [&str; 4] = ["r0", "r1", "r2", "r3"];
const SECRETS: [&str; 3] = ["s0", "s1", "s2"];
const LABELS: [&str; 3] = ["a", "b", "c"];

/// Something that happens.
#[derive(Clone, Debug)]
enum Happening {
    Record(usize, usize, Shape),
    RecordGone(usize, usize),
    Secret(usize, usize, Kind),
    SecretGone(usize, usize),
    /// A Namespace, and what it approves; nothing: it is gone.
    Namespace(usize, Option<bool>),
}

/// A record, in what matters here.
#[derive(Clone, Debug)]
struct Shape {
    secret: Option<usize>,
    labels: BTreeSet<usize>,
    owner: Option<usize>,
    deleting: bool,
    approve: bool,
    /// The Secret it was published with, and the labels.
    published: Option<(usize, BTreeSet<usize>)>,
    generation: i64,
}

/// A Secret, in what matters here.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Kind {
    default: bool,
    leads: Leads,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Leads {
    /// To a zone that holds every host.
    There,
    /// To one that holds none.
    Elsewhere,
    /// To a Zone of the cluster.
    Zone,
    /// Nowhere: a field is missing.
    Nowhere,
}

/// Everything that is there, and nothing prepared.
#[derive(Clone, Debug, Default)]
struct Everything {
    records: BTreeMap<DnsRecordKey, Shape>,
    secrets: BTreeMap<SecretKey, Kind>,
    approved: BTreeSet<String>,
}

/// What bears on a record.
#[derive(Debug, Eq, PartialEq)]
struct Bearing {
    provider: String,
    former: Option<String>,
    approval: Approval,
    spared: BTreeSet<HostedKey>,
    names_wanted: BTreeMap<Name, usize>,
    owned_total: usize,
}

impl Leads {
    fn type_(self) -> &'static str {
        match self {
            Leads::There | Leads::Elsewhere | Leads::Nowhere => "kuadrant.io/inmemory",
            Leads::Zone => "kuadrant.io/zone",
        }
    }
}

impl Bearing {
    fn of(view: &DnsRecordView) -> Bearing {
        Bearing {
            provider: told(&view.provider),
            former: view.former.as_ref().map(told),
            approval: view.approval.clone(),
            spared: view.spared.clone(),
            names_wanted: view
                .names_wanted
                .iter()
                .map(|(name, count)| (name.clone(), *count))
                .collect(),
            owned_total: view.owned_total,
        }
    }
}

fn told(provider: &Result<Provider, Trouble>) -> String {
    match provider {
        Ok(provider) => {
            let place = provider.access.place.as_ref().unwrap();
            format!("{} {}", provider.secret, place.zone)
        }
        Err(Trouble::NoDefault) => "no default".to_owned(),
        Err(Trouble::SeveralDefaults(all)) => format!("defaults {}", all.join(" ")),
        Err(Trouble::NoSecret(name)) => format!("no {name}"),
        Err(Trouble::BadSecret(name, _)) => format!("bad {name}"),
        Err(Trouble::NotEnabled(name, _)) => format!("off {name}"),
        Err(Trouble::Outside { secret, .. }) => format!("outside {secret}"),
    }
}

impl Everything {
    fn bearing(&self, key: &DnsRecordKey) -> Bearing {
        let shape = &self.records[key];
        let named = shape.secret.map(|it| SECRETS[it].to_owned());
        let defaults = self.defaults(&key.namespace);
        // What is to be withdrawn is withdrawn from where it is.
        let used = shape.published.as_ref().filter(|_| shape.deleting);
        let secret = named
            .clone()
            .or_else(|| (defaults.len() == 1).then(|| defaults[0].clone()))
            .or_else(|| used.map(|(used, _)| SECRETS[*used].to_owned()));
        let provider = match (&secret, defaults.as_slice()) {
            (Some(name), _) => self.opened(&key.namespace, name),
            (None, []) => "no default".to_owned(),
            (None, all) => format!("defaults {}", all.join(" ")),
        };
        Bearing {
            former: self.former(key, shape, secret.as_deref(), &provider),
            provider,
            approval: self.approval(key, shape),
            spared: self.spared(key, shape),
            names_wanted: self.names_wanted(),
            owned_total: secret.map_or(0, |secret| self.published_with(&key.namespace, &secret)),
        }
    }

    fn defaults(&self, namespace: &str) -> Vec<String> {
        let own = self
            .secrets
            .iter()
            .filter(|(key, _)| key.namespace == namespace);
        let defaults = own.filter(|(_, kind)| kind.default);
        defaults.map(|(key, _)| key.name.clone()).collect()
    }

    fn opened(&self, namespace: &str, name: &str) -> String {
        match self
            .secrets
            .get(&SecretKey::new(namespace, name))
            .map(|it| it.leads)
        {
            None => format!("no {name}"),
            Some(Leads::There) => format!("{name} there"),
            Some(Leads::Zone) => format!("{name} red/there"),
            Some(Leads::Elsewhere) => format!("outside {name}"),
            Some(Leads::Nowhere) => format!("bad {name}"),
        }
    }

    fn former(
        &self,
        key: &DnsRecordKey,
        shape: &Shape,
        now: Option<&str>,
        provider: &str,
    ) -> Option<String> {
        let usable = provider.ends_with("there") && now.is_some();
        let (was, _) = shape.published.as_ref().filter(|_| usable)?;
        let was = SECRETS[*was];
        if Some(was) == now {
            // The status says that it is in the zone `there`.
            return provider.ends_with("/there").then(|| format!("{was} there"));
        }
        let secret = self.secrets.get(&SecretKey::new(&key.namespace, was));
        Some(match secret.map(|it| it.leads) {
            None => format!("no {was}"),
            Some(Leads::Nowhere) => format!("bad {was}"),
            Some(Leads::There | Leads::Elsewhere | Leads::Zone) => format!("{was} there"),
        })
    }

    fn approval(&self, key: &DnsRecordKey, shape: &Shape) -> Approval {
        if self.approved.contains(&key.namespace) {
            Approval::All
        } else if shape.approve {
            Approval::Of("hash".to_owned())
        } else {
            Approval::None
        }
    }

    fn spared(&self, key: &DnsRecordKey, shape: &Shape) -> BTreeSet<HostedKey> {
        let same = |other: &Shape| shape.owner.is_some() && other.owner == shape.owner;
        let others = self.records.iter().filter(|(other, _)| *other != key);
        let others = others.filter(|(_, other)| same(other) && !other.deleting);
        others
            .flat_map(|(_, other)| other.labels.iter().map(|it| hosted(*it)))
            .collect()
    }

    fn names_wanted(&self) -> BTreeMap<Name, usize> {
        let mut names = BTreeMap::new();
        for shape in self.records.values().filter(|shape| !shape.deleting) {
            for label in &shape.labels {
                *names.entry(hosted(*label).name).or_default() += 1;
            }
        }
        names
    }

    fn published_with(&self, namespace: &str, secret: &str) -> usize {
        let own = self
            .records
            .iter()
            .filter(|(key, _)| key.namespace == namespace);
        let published = own.filter_map(|(_, shape)| shape.published.as_ref());
        let with = published.filter(|(used, _)| SECRETS[*used] == secret);
        with.map(|(_, labels)| labels.len()).sum()
    }

    /// P4: whose reference is, or could now be, that Secret; or who was published with it.
    fn concerned(&self, secret: &SecretKey, default: bool) -> BTreeSet<DnsRecordKey> {
        let own = self
            .records
            .iter()
            .filter(|(key, _)| key.namespace == secret.namespace);
        let concerned = own.filter(|(_, shape)| {
            let used = shape.published.as_ref().map(|(used, _)| *used);
            let named = [shape.secret, used].into_iter().flatten();
            let named = named.into_iter().any(|it| SECRETS[it] == secret.name);
            named || (default && shape.secret.is_none())
        });
        concerned.map(|(key, _)| key.clone()).collect()
    }

    fn behind(&self, zone: &str) -> BTreeSet<DnsRecordKey> {
        let leading = self
            .secrets
            .iter()
            .filter(|(_, kind)| kind.leads == Leads::Zone && zone == "there");
        leading
            .flat_map(|(key, kind)| self.concerned(key, kind.default))
            .collect()
    }
}

fn hosted(label: usize) -> HostedKey {
    let name = Name::parse(&format!("{}.host.example.org.", LABELS[label])).unwrap();
    HostedKey::plain(name, dns::Rtype::A)
}

fn endpoints(labels: &BTreeSet<usize>) -> Value {
    let endpoint = |label: &usize| {
        json!({
            "dnsName": format!("{}.host.example.org", LABELS[*label]),
            "recordType": "A", "recordTTL": 60, "targets": ["192.0.2.1"],
        })
    };
    labels.iter().map(endpoint).collect()
}

fn record(key: &DnsRecordKey, shape: &Shape) -> Decoded<api::DnsRecord> {
    let mut object = json!({
        "apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord",
        "metadata": {
            "name": key.name, "namespace": key.namespace, "uid": format!("uid-{key}"),
            "generation": shape.generation,
        },
        "spec": { "rootHost": "host.example.org", "endpoints": endpoints(&shape.labels) },
    });
    if let Some(secret) = shape.secret {
        object["spec"]["providerRef"] = json!({ "name": SECRETS[secret] });
    }
    if let Some(owner) = shape.owner {
        object["spec"]["ownerID"] = json!(format!("owner{owner}"));
    }
    if shape.deleting {
        object["metadata"]["deletionTimestamp"] = json!("2026-03-04T05:06:07Z");
    }
    if shape.approve {
        object["metadata"]["annotations"] = json!({ annotation::APPROVE: "hash" });
    }
    if let Some((secret, labels)) = &shape.published {
        object["status"] = json!({
            "providerRef": { "name": SECRETS[*secret] }, "zoneID": "there", "endpoints": endpoints(labels),
        });
    }
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    Decoded::of_parts(object.metadata, object.data)
}

fn secret(kind: &Kind) -> Secret {
    let (zone, domain) = match kind.leads {
        Leads::There => ("there", "example.org"),
        Leads::Elsewhere => ("there", "example.net"),
        Leads::Zone => ("red/there", "example.org"),
        Leads::Nowhere => ("", "example.org"),
    };
    let mut data = BTreeMap::from([("DOMAIN_NAME", domain)]);
    if !zone.is_empty() {
        data.insert("ZONE_ID", zone);
    }
    let data: BTreeMap<&str, k8s_openapi::ByteString> = data
        .into_iter()
        .map(|(key, value)| (key, k8s_openapi::ByteString(value.as_bytes().to_vec())))
        .collect();
    let labels = kind
        .default
        .then(|| json!({ label::DEFAULT_PROVIDER: "true" }));
    serde_json::from_value(json!({
        "metadata": { "name": "any", "labels": labels },
        "type": kind.leads.type_(),
        "data": data,
    }))
    .unwrap()
}

fn namespace(approves: bool) -> Namespace {
    let annotations = approves.then(|| json!({ annotation::APPROVE: "all" }));
    serde_json::from_value(json!({ "metadata": { "annotations": annotations } })).unwrap()
}

fn hosting() -> Hosting {
    Hosting::new(HostingPolicy {
        enabled: ProviderKind::ALL.into(),
        discovery: false,
        probing: Probing {
            enabled: true,
            insecure: false,
        },
    })
}

/// Lets something happen to both, and compares what they say.
fn step(hosting: &mut Hosting, all: &mut Everything, happening: Happening) {
    let inputs =
        |hosting: &Hosting, all: &Everything| -> BTreeMap<DnsRecordKey, (Inputs, Bearing)> {
            let keys = all.records.keys();
            keys.map(|key| {
                (
                    key.clone(),
                    (hosting.inputs(key).unwrap(), all.bearing(key)),
                )
            })
            .collect()
        };
    let before = inputs(hosting, all);
    let told = match happening {
        Happening::Record(namespace, name, shape) => {
            let key = DnsRecordKey::new(NAMESPACES[namespace], RECORDS[name]);
            let told = hosting.apply_record(&key, record(&key, &shape));
            let known = all.records.insert(key.clone(), shape);
            assert!(told.iter().all(|it| *it == key), "only itself");
            assert!(
                known.is_some() || told.contains(&key),
                "a new one is looked at"
            );
            None
        }
        Happening::RecordGone(namespace, name) => {
            let key = DnsRecordKey::new(NAMESPACES[namespace], RECORDS[name]);
            hosting.delete_record(&key);
            all.records.remove(&key);
            None
        }
        Happening::Secret(namespace, name, kind) => {
            let key = SecretKey::new(NAMESPACES[namespace], SECRETS[name]);
            let told = hosting.apply_secret(&key, &secret(&kind));
            let known = all.secrets.insert(key.clone(), kind.clone());
            let default = kind.default || known.as_ref().is_some_and(|it| it.default);
            let concerned = all.concerned(&key, default);
            let same = known.is_some_and(|known| known == kind);
            Some((told, if same { BTreeSet::new() } else { concerned }))
        }
        Happening::SecretGone(namespace, name) => {
            let key = SecretKey::new(NAMESPACES[namespace], SECRETS[name]);
            let gone = all.secrets.remove(&key);
            let type_ = gone.as_ref().map_or("", |kind| kind.leads.type_());
            let told = hosting.delete_secret(&key, type_, Duration::ZERO);
            let concerned = gone.map(|gone| all.concerned(&key, gone.default));
            Some((told, concerned.unwrap_or_default()))
        }
        Happening::Namespace(name, approves) => {
            let name = NAMESPACES[name];
            let object = approves.map(namespace);
            let told = hosting.apply_namespace(name, object.as_ref());
            let changed = if approves == Some(true) {
                all.approved.insert(name.to_owned())
            } else {
                all.approved.remove(name)
            };
            let own = all.records.keys().filter(|key| key.namespace == name);
            Some((told, own.filter(|_| changed).cloned().collect()))
        }
    };
    compare(hosting, all);
    if let Some((told, concerned)) = told {
        assert_eq!(told, concerned, "exactly those concerned (P4)");
        let after = inputs(hosting, all);
        let changed = before
            .iter()
            .filter(|(key, seen)| after.get(*key) != Some(*seen));
        for (key, _) in changed {
            assert!(told.contains(key), "{key} was not told");
        }
    }
}

fn compare(hosting: &Hosting, all: &Everything) {
    let keys: Vec<&DnsRecordKey> = hosting.keys().collect();
    assert_eq!(keys, all.records.keys().collect::<Vec<_>>());
    for key in keys {
        let view = hosting.view(key).unwrap();
        assert_eq!(Bearing::of(&view), all.bearing(key), "{key}");
    }
    for zone in ["there", "other"] {
        let told = hosting.zone_changed(&ZoneKey::new("red", zone));
        assert_eq!(told, all.behind(zone), "behind Zone {zone}");
    }
    for (label, shown) in LABELS.iter().enumerate() {
        let told = hosting.names_changed(&[hosted(label).name].into());
        let concerned = all.records.iter().filter(|(_, shape)| {
            let published = shape.published.as_ref().map(|(_, labels)| labels);
            shape.labels.contains(&label) || published.is_some_and(|it| it.contains(&label))
        });
        let concerned: BTreeSet<DnsRecordKey> = concerned.map(|(key, _)| key.clone()).collect();
        assert_eq!(told, concerned, "at {shown}");
    }
}

fn any_labels() -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0..LABELS.len(), 1..=LABELS.len())
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let published = prop::option::of((0..SECRETS.len(), any_labels()));
    let secret = prop::option::of(0..SECRETS.len());
    let owner = prop::option::of(0..2usize);
    let flags = (any::<bool>(), any::<bool>());
    (secret, any_labels(), owner, flags, published, 1..3i64).prop_map(
        |(secret, labels, owner, (deleting, approve), published, generation)| Shape {
            secret,
            labels,
            owner,
            deleting,
            approve,
            published,
            generation,
        },
    )
}

fn any_kind() -> impl Strategy<Value = Kind> {
    let leads = prop_oneof![
        3 => Just(Leads::There),
        1 => Just(Leads::Elsewhere),
        1 => Just(Leads::Zone),
        1 => Just(Leads::Nowhere),
    ];
    (any::<bool>(), leads).prop_map(|(default, leads)| Kind { default, leads })
}

fn any_happening() -> impl Strategy<Value = Happening> {
    let namespace = || 0..NAMESPACES.len();
    let (record, secret) = (0..RECORDS.len(), 0..SECRETS.len());
    prop_oneof![
        4 => (namespace(), record.clone(), any_shape()).prop_map(|(at, name, shape)| Happening::Record(at, name, shape)),
        1 => (namespace(), record).prop_map(|(at, name)| Happening::RecordGone(at, name)),
        4 => (namespace(), secret.clone(), any_kind()).prop_map(|(at, name, kind)| Happening::Secret(at, name, kind)),
        1 => (namespace(), secret).prop_map(|(at, name)| Happening::SecretGone(at, name)),
        1 => (namespace(), prop::option::of(any::<bool>())).prop_map(|(at, approves)| Happening::Namespace(at, approves)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_index_says_what_looking_at_everybody_says(
        history in prop::collection::vec(any_happening(), 1..40),
    ) {
        // P1, P4, P10: the same views, and exactly the records concerned are told.
        let (mut hosting, mut all) = (hosting(), Everything::default());
        for happening in history {
            step(&mut hosting, &mut all, happening);
        }
    }
}

fn shape(secret: Option<usize>) -> Shape {
    Shape {
        secret,
        labels: [0].into(),
        owner: None,
        deleting: false,
        approve: false,
        published: None,
        generation: 1,
    }
}

#[test]
fn a_zone_wakes_those_whose_secret_leads_there_and_nobody_who_names_none() {
    // P4: a Secret that is nobody's default concerns those who name it.
    let (mut hosting, mut all) = (hosting(), Everything::default());
    let kind = Kind {
        default: false,
        leads: Leads::Zone,
    };
    step(&mut hosting, &mut all, Happening::Secret(0, 0, kind));
    step(
        &mut hosting,
        &mut all,
        Happening::Record(0, 0, shape(Some(0))),
    );
    step(&mut hosting, &mut all, Happening::Record(0, 1, shape(None)));
}

#[test]
fn our_own_status_wakes_nobody() {
    // C5: what differs is what we have written ourselves.
    let mut hosting = hosting();
    let key = DnsRecordKey::new("red", "r0");
    hosting.apply_record(&key, record(&key, &shape(Some(0))));
    let published = Shape {
        published: Some((0, [0].into())),
        ..shape(Some(0))
    };
    assert!(
        hosting
            .apply_record(&key, record(&key, &published))
            .is_empty()
    );
    let edited = Shape {
        generation: 2,
        ..published
    };
    assert_eq!(
        hosting.apply_record(&key, record(&key, &edited)),
        [key.clone()].into()
    );
}

#[test]
fn our_own_finalizer_wakes_nobody_and_its_loss_does() {
    // C5, D1: what failed a moment ago is not tried again because we had put it there.
    let mut hosting = hosting();
    let key = DnsRecordKey::new("red", "r0");
    let with = |finalizers: &[&str]| {
        let mut object = record(&key, &shape(Some(0))).into_result().unwrap();
        let finalizers = finalizers.iter().map(ToString::to_string).collect();
        object.metadata.finalizers = Some(finalizers);
        Decoded::Object(object)
    };
    hosting.apply_record(&key, with(&["theirs"]));
    let ours = ["theirs", api::well_known::finalizer::DNS_RECORD];
    assert!(hosting.apply_record(&key, with(&ours)).is_empty());
    assert!(!hosting.apply_record(&key, with(&["theirs"])).is_empty());
    assert!(!hosting.apply_record(&key, with(&[])).is_empty());
}
