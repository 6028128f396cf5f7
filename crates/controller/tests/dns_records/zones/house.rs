//! Providers that do something else than the one in memory: wait, lie, stop; and loops that are led to them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::parse::provider_secret::ProviderSecret;
use controller::health::Pulse;
use controller::{Clock, DnsRecords, Metrics, Open, Opened, Running, Surroundings};
use dns::hosted::{Batch, Held, Holdings, HostedKey, HostedSet};
use dns::limits::Limits;
use dns::{Name, Rdata, RecordSet, Rtype, Ttl};
use kube::Client;
use kube::api::ListParams;
use prometheus_client::registry::Registry;
use provider::{Boxed, Error, HostedZone, InMemory, Provider, Snapshot, ZoneId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use testkit::valve::{Pass, Valve};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::stage::{Stage, minutes, name};

/// What is looked at after every write.
type Look = Box<dyn Fn(&Holdings) + Send + Sync>;

/// The provider in memory, behind a door.
pub(crate) struct Door {
    inner: Arc<InMemory>,
    valve: Arc<Valve>,
    /// How long calls take to get there.
    slow: Mutex<Duration>,
    /// What reads tell in place of what is there.
    lie: Mutex<Option<Holdings>>,
    look: Mutex<Option<Look>>,
    /// Why every call fails.
    fails: Mutex<Option<fn() -> Error>>,
    batches: Mutex<Vec<usize>>,
    calls: AtomicUsize,
}

impl Door {
    pub(crate) fn new(inner: &Arc<InMemory>) -> Arc<Door> {
        Door::behind(inner, &Valve::open())
    }

    pub(crate) fn behind(inner: &Arc<InMemory>, valve: &Arc<Valve>) -> Arc<Door> {
        Arc::new(Door {
            inner: Arc::clone(inner),
            valve: Arc::clone(valve),
            slow: Mutex::default(),
            lie: Mutex::default(),
            look: Mutex::default(),
            fails: Mutex::default(),
            batches: Mutex::default(),
            calls: AtomicUsize::new(0),
        })
    }

    pub(crate) fn slow_down(&self, by: Duration) {
        *self.slow.lock().unwrap() = by;
    }

    pub(crate) fn lie(&self, holdings: Option<Holdings>) {
        *self.lie.lock().unwrap() = holdings;
    }

    pub(crate) fn look(&self, look: impl Fn(&Holdings) + Send + Sync + 'static) {
        *self.look.lock().unwrap() = Some(Box::new(look));
    }

    /// From now on every call fails; nothing: they go well again.
    pub(crate) fn fail(&self, why: Option<fn() -> Error>) {
        *self.fails.lock().unwrap() = why;
    }

    /// How many changes each batch had.
    pub(crate) fn batches(&self) -> Vec<usize> {
        self.batches.lock().unwrap().clone()
    }

    /// How many calls have come here.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    async fn enter(&self) -> Result<(), Error> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let slow = *self.slow.lock().unwrap();
        if !slow.is_zero() {
            tokio::time::sleep(slow).await;
        }
        let fails = *self.fails.lock().unwrap();
        fails.map_or(Ok(()), |why| Err(why()))
    }
}

impl Provider for Door {
    fn limits(&self) -> &Limits {
        self.inner.limits()
    }

    fn zones(&self) -> Boxed<'_, Result<Vec<HostedZone>, Error>> {
        self.inner.zones()
    }

    fn read<'a>(&'a self, zone: &'a ZoneId) -> Boxed<'a, Result<Snapshot, Error>> {
        Box::pin(async move {
            self.enter().await?;
            let mut snapshot = self.inner.read(zone).await?;
            if let Some(lie) = self.lie.lock().unwrap().clone() {
                snapshot.holdings = lie;
            }
            Ok(snapshot)
        })
    }

    fn write<'a>(&'a self, zone: &'a ZoneId, batch: &'a Batch) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            self.enter().await?;
            self.batches.lock().unwrap().push(batch.changes.len());
            let pass = self.valve.pass();
            if pass == Pass::Lost {
                return std::future::pending().await;
            }
            let written = self.inner.write(zone, batch).await;
            if let Some(look) = &*self.look.lock().unwrap() {
                look(&self.inner.holdings(zone));
            }
            if pass == Pass::Unanswered {
                return std::future::pending().await;
            }
            written
        })
    }
}

/// Which door a Secret leads to.
type Leads = dyn Fn(&ProviderSecret) -> Arc<Door> + Send + Sync;

/// Leads Secrets to the providers of a test.
pub(crate) struct Doors(pub(crate) Box<Leads>);

impl Doors {
    /// Every Secret leads to the same.
    pub(crate) fn one(door: &Arc<Door>) -> Doors {
        let door = Arc::clone(door);
        Doors(Box::new(move |_| Arc::clone(&door)))
    }

    /// Each zone has its own.
    pub(crate) fn by_zone(doors: Vec<(&'static str, Arc<Door>)>) -> Doors {
        Doors(Box::new(move |access| {
            let zone = access.place.as_ref().map(|place| place.zone.as_str());
            let own = doors.iter().find(|(id, _)| Some(*id) == zone);
            Arc::clone(&own.unwrap().1)
        }))
    }
}

impl Open for Doors {
    fn open<'a>(
        &'a self,
        _: &'a str,
        access: &'a ProviderSecret,
    ) -> Boxed<'a, Result<Opened, Error>> {
        let zone = access.place.as_ref().map(|place| place.zone.clone());
        Box::pin(std::future::ready(Ok(Opened {
            provider: (self.0)(access) as Arc<dyn Provider>,
            zone: ZoneId(zone.unwrap_or_default()),
        })))
    }
}

/// A loop on the stage's API, with a client and providers of its own.
pub(crate) fn run(stage: &Stage, client: Client, open: Doors) -> Running {
    let mut registry = Registry::default();
    let metrics = Metrics::new(&mut registry);
    // Nobody tells of Zones here.
    let (neighbours, noticed) = mpsc::channel(1);
    drop(neighbours);
    DnsRecords {
        around: Surroundings {
            client,
            clock: Clock::starting_at(stage.now()),
            chance: StdRng::seed_from_u64(2),
            leading: watch::channel(true).1,
            metrics,
            pulse: Pulse::new(Instant::now()),
            identity: "test".to_owned(),
        },
        options: stage.options.clone(),
        open: Arc::new(open),
        neighbours: noticed,
        after: Box::pin(std::future::ready(())),
    }
    .start()
}

/// A loop led to one door, and the door.
pub(crate) fn run_behind_door(stage: &Stage) -> (Running, Arc<Door>) {
    let door = Door::new(&stage.provider);
    (run(stage, stage.client.clone(), Doors::one(&door)), door)
}

/// A set of a name below `example.org`: `60 A 192.0.2.1`.
pub(crate) fn set(label: &str, text: &str) -> (HostedKey, Held) {
    let words: Vec<&str> = text.splitn(3, ' ').collect();
    let ttl = Ttl::from_secs(words[0].parse::<u32>().unwrap()).unwrap();
    let rtype: Rtype = words[1].parse().unwrap();
    let data = Rdata::parse(rtype, words[2], &Name::root()).unwrap();
    let set = RecordSet::new([(ttl, data)]).unwrap();
    let key = HostedKey::plain(name(&format!("{label}.example.org.")), rtype);
    (key, Held::Set(HostedSet::plain(set)))
}

/// Puts a set there that is not ours.
pub(crate) fn put(stage: &Stage, label: &str, text: &str) -> HostedKey {
    let (key, held) = set(label, text);
    stage.provider.tamper(&stage.zone, &key, Some(held));
    key
}

/// The marks in the zone.
pub(crate) fn marks(stage: &Stage) -> Vec<HostedKey> {
    let holdings = stage.provider.holdings(&stage.zone);
    let marks = holdings.into_keys();
    let marks = marks.filter(|key| key.rtype == Rtype::TXT);
    marks
        .filter(|key| key.name.to_string().starts_with("kuadrant-"))
        .collect()
}

/// Makes a change by hand.
pub(crate) fn remove(stage: &Stage, key: &HostedKey) {
    stage.provider.tamper(&stage.zone, key, None);
}

/// Errors as providers have them.
pub(crate) fn unclear() -> Error {
    Error::Unclear("connection reset".into())
}

pub(crate) fn denied() -> Error {
    Error::Denied("the key is not valid".into())
}

/// Names that are at no time empty once they have had something.
pub(crate) fn never_emptied(labels: &[&str]) -> impl Fn(&Holdings) + Send + Sync + 'static {
    let names: Vec<Name> = labels
        .iter()
        .map(|label| name(&format!("{label}.example.org.")))
        .collect();
    move |holdings| {
        for name in &names {
            let any = dns::hosted::at(holdings, name).next().is_some();
            assert!(any, "{name} is empty");
        }
    }
}

/// A batch that undoes nothing of others: every foreign set is as it was.
pub(crate) fn untouched(foreign: Vec<(HostedKey, Held)>) -> impl Fn(&Holdings) + Send + Sync {
    move |holdings| {
        for (key, held) in &foreign {
            assert_eq!(holdings.get(key), Some(held), "{key}");
        }
    }
}

/// Creates records `r000`, `r001`…, each with one address.
pub(crate) async fn crowd(stage: &Stage, count: usize) {
    for index in 0..count {
        let record = member(index);
        let endpoint = format!("{record} 60 A 192.0.2.{}", index % 250 + 1);
        stage.create(&record, &[&endpoint]).await;
    }
}

pub(crate) fn member(index: usize) -> String {
    format!("r{index:03}")
}

/// Waits until so many records say that they are ready.
pub(crate) async fn until_ready(stage: &Stage, count: usize) -> Duration {
    let began = Instant::now();
    loop {
        let ready = saying(stage, "Ready", "True").await.len();
        if ready == count {
            return began.elapsed();
        }
        let waited = began.elapsed();
        assert!(waited < minutes(60), "{ready} of {count} are ready");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// The records with a condition of this status.
pub(crate) async fn saying(stage: &Stage, type_: &str, status: &str) -> Vec<String> {
    let records = stage.records().list(&ListParams::default()).await.unwrap();
    let says = |record: &api::DnsRecord| {
        let conditions = record.status.as_ref().map(|it| it.conditions.as_slice());
        let mut conditions = conditions.unwrap_or_default().iter();
        conditions.any(|it| it.type_ == type_ && it.status == status)
    };
    let records = records.items.into_iter().filter(says);
    records.map(|it| it.metadata.name.unwrap()).collect()
}
