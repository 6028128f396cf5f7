//! A controller on an API, with a name server that takes everything it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apiserver::Apiserver;
use controller::health::Pulse;
use controller::{Clock, Controller, Metrics, NameServer, Options, Running, Surroundings};
use dns::{Name, Publication, Sighting, Version, zonefile};
use futures_util::{StreamExt as _, TryStreamExt as _, pin_mut, stream};
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, WatchEvent, WatchParams,
};
use kube::core::ApiResource;
use kube::{Client, ResourceExt as _};
use prometheus_client::registry::Registry;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use reconcile::Policy;
use serde_json::Value;
use testkit::control_plane::{self, Identity};
use testkit::eventually;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// More than anything here takes on a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// How many requests are under way when it is to go fast.
const AT_ONCE: usize = 16;

pub(crate) enum Home {
    Embedded,
    Real,
}

type Served = Arc<Mutex<BTreeMap<Name, Version>>>;

pub(crate) struct Stage {
    client: Client,
    namespace: String,
    other: String,
    policy: Policy,
    served: Served,
    running: Option<(Running, JoinHandle<()>)>,
    _apiserver: Option<Apiserver>,
}

impl Stage {
    pub(crate) async fn open(home: Home) -> Stage {
        let (client, apiserver) = match home {
            Home::Embedded => {
                let apiserver = Apiserver::open(apiserver::Options::default())
                    .await
                    .unwrap();
                (apiserver.client(), Some(apiserver))
            }
            Home::Real => {
                let plane = control_plane::shared().await;
                (plane.client(Identity::Admin), None)
            }
        };
        testkit::crds::install(&client, &api::crds::all())
            .await
            .unwrap();
        Stage {
            namespace: testkit::namespace(&client, "own").await.unwrap(),
            other: testkit::namespace(&client, "other").await.unwrap(),
            client,
            policy: Policy::default(),
            served: Served::default(),
            running: None,
            _apiserver: apiserver,
        }
    }

    pub(crate) fn inline_max(&mut self, entries: usize) {
        self.policy.inline_max = entries;
    }

    /// Starts a controller.
    pub(crate) fn run(&mut self) {
        let (publications, told) = mpsc::channel(16);
        let (seen, sightings) = mpsc::channel(16);
        let stored = self.served.lock().unwrap();
        let stored = stored
            .iter()
            .map(|(name, version)| (name.clone(), version.serial));
        let name_server = NameServer {
            publications,
            sightings,
            stored: stored.collect(),
        };
        let controller = Controller {
            around: Surroundings {
                client: self.client.clone(),
                clock: Clock::System,
                chance: StdRng::seed_from_u64(1),
                leading: watch::channel(true).1,
                metrics: Metrics::new(&mut Registry::default()),
                pulse: Pulse::new(Instant::now()),
                identity: "test".to_owned(),
            },
            options: Options {
                policy: self.policy,
                namespaces: vec![self.namespace.clone(), self.other.clone()],
                debounce: Duration::from_millis(50),
            },
            name_server: Some(name_server),
            neighbours: None,
        };
        let serving = tokio::spawn(serve(told, seen, Arc::clone(&self.served)));
        self.running = Some((controller.start(), serving));
    }

    /// Stops the controller.
    pub(crate) async fn stop(&mut self) {
        let (running, serving) = self.running.take().unwrap();
        assert!(running.shutdown(SOON).await);
        serving.await.unwrap();
    }

    /// Returns when the controller has nothing left to do.
    pub(crate) async fn settled(&mut self) {
        let (running, _) = self.running.as_mut().unwrap();
        assert!(running.settled(SOON).await);
    }

    /// Creates the objects of a manifest; the last is returned. `OWN` and `OTHER` stand for the two namespaces.
    pub(crate) async fn create(&self, yaml: &str) -> DynamicObject {
        let yaml = self.named(yaml);
        let mut created = None;
        for object in testkit::manifest::read(&yaml).unwrap() {
            created = Some(
                testkit::manifest::create(&self.client, &self.namespace, &object)
                    .await
                    .unwrap(),
            );
        }
        created.unwrap()
    }

    /// Creates the objects of several manifests as fast as can be.
    pub(crate) async fn create_at_once(&self, manifests: impl Iterator<Item = String>) {
        let create = async |yaml: String| drop(self.create(&yaml).await);
        stream::iter(manifests)
            .for_each_concurrent(AT_ONCE, create)
            .await;
    }

    /// Deletes several objects as fast as can be.
    pub(crate) async fn delete_at_once(&self, objects: impl Iterator<Item = String>) {
        let delete = async |object: String| self.delete(&object).await;
        stream::iter(objects)
            .for_each_concurrent(AT_ONCE, delete)
            .await;
    }

    /// How far the API's history has come.
    pub(crate) async fn revision(&self) -> String {
        let (api, _) = self.api("record/");
        let records = api.list(&ListParams::default()).await.unwrap();
        records.metadata.resource_version.unwrap()
    }

    /// How often each Record was changed after it was made, since a revision.
    pub(crate) async fn changes_since(&self, revision: &str) -> BTreeMap<String, usize> {
        let (api, _) = self.api("record/");
        let all_until_now = WatchParams::default().timeout(1);
        let events = api.watch(&all_until_now, revision).await.unwrap();
        let mut changes = BTreeMap::new();
        pin_mut!(events);
        while let Some(event) = events.next().await {
            if let WatchEvent::Modified(object) = event.unwrap() {
                *changes.entry(object.name_any()).or_default() += 1;
            }
        }
        changes
    }

    pub(crate) async fn patch(&self, object: &str, patch: &str) {
        let (api, name) = self.api(object);
        let patch: Value = serde_json::from_str(patch).unwrap();
        api.patch(&name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .unwrap();
    }

    pub(crate) async fn patch_status(&self, object: &str, patch: &str) {
        let (api, name) = self.api(object);
        let patch: Value = serde_json::from_str(patch).unwrap();
        api.patch_status(&name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .unwrap();
    }

    pub(crate) async fn delete(&self, object: &str) {
        let (api, name) = self.api(object);
        api.delete(&name, &DeleteParams::default()).await.unwrap();
    }

    /// Returns when whatever is created next is younger than an object: ages are counted in seconds.
    pub(crate) async fn ages(&self, object: &str) {
        let (api, name) = self.api(object);
        let created = api.get(&name).await.unwrap().creation_timestamp().unwrap();
        eventually(SOON, "the next second", async || {
            let now = jiff::Timestamp::now().as_second();
            (created.0.as_second() < now).then_some(())
        })
        .await
        .unwrap();
    }

    /// Returns when an object shows all of these lines.
    #[track_caller]
    pub(crate) fn shows(&self, object: &str, expected: &[&str]) -> impl Future<Output = ()> {
        let expected: Vec<String> = expected.iter().map(|line| self.named(line)).collect();
        let what = format!("{object} to show {expected:?}");
        let object = object.to_owned();
        let at = std::panic::Location::caller();
        async move {
            let shown = eventually(SOON, &what, async || {
                let lines = self.lines(&object).await;
                let missing = expected
                    .iter()
                    .find(|line| !lines.iter().any(|shown| shown.starts_with(*line)));
                missing.map_or(Ok(()), |_| Err(format!("{lines:#?}")))
            });
            if let Err(overdue) = shown.await {
                panic!("{at}: {overdue}");
            }
        }
    }

    /// What an object shows, a line for each thing.
    pub(crate) async fn lines(&self, object: &str) -> Vec<String> {
        let (api, name) = self.api(object);
        lines(&api.get(&name).await.unwrap())
    }

    /// Returns when the name server serves a zone with exactly these records beside the SOA.
    pub(crate) async fn serves(&self, origin: &str, expected: &[&str]) {
        let expected = expected.iter().map(|&line| line.to_owned());
        self.serves_all(origin, expected.collect()).await;
    }

    /// The same with many records.
    pub(crate) async fn serves_all(&self, origin: &str, expected: BTreeSet<String>) {
        let origin = Name::parse(origin).unwrap();
        let what = format!("{origin} to have {} records", expected.len());
        eventually(SOON, &what, async || {
            let served = self.served.lock().unwrap();
            let version = served.get(&origin).ok_or("nothing")?;
            let lines = records(version);
            let differing: Vec<&String> = lines.symmetric_difference(&expected).collect();
            if differing.is_empty() {
                Ok(())
            } else {
                Err(format!(
                    "{} records, differing: {differing:#?}",
                    lines.len()
                ))
            }
        })
        .await
        .unwrap();
    }

    pub(crate) async fn serves_nothing(&self, origin: &str) {
        let origin = Name::parse(origin).unwrap();
        eventually(SOON, "the zone to go", async || {
            let served = self.served.lock().unwrap();
            served
                .get(&origin)
                .map_or(Ok(()), |version| Err(format!("{version:?}")))
        })
        .await
        .unwrap();
    }

    /// What changed about an object after it was created, until it shows a line.
    pub(crate) async fn changes_until(
        &self,
        created: &DynamicObject,
        line: &str,
    ) -> Vec<Vec<String>> {
        let (api, _) = self.api("record/");
        let params =
            WatchParams::default().fields(&format!("metadata.name={}", created.name_any()));
        let events = api
            .watch(&params, &created.resource_version().unwrap())
            .await
            .unwrap();
        let changes = events.try_filter_map(async |event| {
            let WatchEvent::Modified(object) = event else {
                return Ok(None);
            };
            Ok(Some(lines(&object)))
        });
        pin_mut!(changes);
        let mut seen = Vec::new();
        let done = async {
            while let Some(change) = changes.next().await {
                let change = change.unwrap();
                let last = change.iter().any(|shown| shown.starts_with(line));
                seen.push(change);
                if last {
                    break;
                }
            }
        };
        tokio::time::timeout(SOON, done).await.unwrap();
        seen
    }

    /// The versions of all objects that the controller looks at.
    pub(crate) async fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::new();
        for kind in ["zone/", "record/", "slice/"] {
            for object in self.api(kind).0.list(&ListParams::default()).await.unwrap() {
                versions.insert(
                    format!("{kind}{}", object.name_any()),
                    object.resource_version().unwrap(),
                );
            }
        }
        versions
    }

    pub(crate) async fn slices(&self) -> BTreeSet<String> {
        let slices = self
            .api("slice/")
            .0
            .list(&ListParams::default())
            .await
            .unwrap();
        slices.iter().map(DynamicObject::name_any).collect()
    }

    pub(crate) async fn named_slices(&self, zone: &str) -> BTreeSet<String> {
        let (api, name) = self.api(zone);
        let zone = api.get(&name).await.unwrap();
        let names = zone.data["status"]["slices"].as_array().unwrap().iter();
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    }

    fn named(&self, text: &str) -> String {
        text.replace("OWN", &self.namespace)
            .replace("OTHER", &self.other)
    }

    /// `zone/name` in our namespace, `other-zone/name` in the other.
    fn api(&self, object: &str) -> (Api<DynamicObject>, String) {
        let (kind, name) = object.split_once('/').unwrap();
        let (kind, namespace) = match kind.strip_prefix("other-") {
            Some(kind) => (kind, &self.other),
            None => (kind, &self.namespace),
        };
        let resource = match kind {
            "zone" => ApiResource::erase::<api::Zone>(&()),
            "record" => ApiResource::erase::<api::Record>(&()),
            "slice" => ApiResource::erase::<api::ZoneSlice>(&()),
            other => panic!("no kind {other}"),
        };
        (
            Api::namespaced_with(self.client.clone(), namespace, &resource),
            name.to_owned(),
        )
    }
}

/// A name server that takes everything it is told and says so.
async fn serve(
    mut told: mpsc::Receiver<Publication>,
    seen: mpsc::Sender<Sighting>,
    served: Served,
) {
    while let Some(publication) = told.recv().await {
        let origin = publication.origin().clone();
        let serial = {
            let mut served = served.lock().unwrap();
            match publication {
                Publication::Version(version) => {
                    let serial = version.serial;
                    let before = served.insert(origin.clone(), version.clone());
                    // Z7: one serial never stands for two contents.
                    assert!(before.is_none_or(
                        |before| before.serial != serial || before.zone == version.zone
                    ));
                    Some(serial)
                }
                Publication::Withdrawal(_) => {
                    served.remove(&origin);
                    None
                }
            }
        };
        if seen.send(Sighting { origin, serial }).await.is_err() {
            return;
        }
    }
}

fn records(version: &Version) -> BTreeSet<String> {
    let sets = version.zone.sets();
    sets.flat_map(|(key, set)| {
        let line = |data| {
            zonefile::print_record(&key.name, set.ttl(), data)
                .trim_end()
                .to_owned()
        };
        set.data().iter().map(line).collect::<Vec<_>>()
    })
    .collect()
}

fn lines(object: &DynamicObject) -> Vec<String> {
    let status = &object.data["status"];
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let label = object
        .labels()
        .get("kubi.zone/parent-zone")
        .map_or("-", String::as_str);
    let mut lines = vec![
        format!("fqdn: {}", text(&status["fqdn"])),
        format!("label: {label}"),
    ];
    for condition in status["conditions"].as_array().into_iter().flatten() {
        let [type_, status, reason, message] =
            ["type", "status", "reason", "message"].map(|field| text(&condition[field]));
        lines.push(format!("{type_}: {status} {reason}: {message}"));
    }
    if let Some(entries) = status["entries"].as_array() {
        lines.push(format!("entries: {}", entries.len()));
        let sliced = status["slices"]
            .as_array()
            .is_some_and(|slices| !slices.is_empty());
        lines.push(format!("slices: {}", if sliced { "some" } else { "none" }));
        for entry in entries {
            let [name, class, type_, data] =
                ["fqdn", "class", "type", "rdata"].map(|field| text(&entry[field]));
            lines.push(format!(
                "entry: {name} {} {class} {type_} {data}",
                entry["ttl"]
            ));
        }
    }
    lines
}
