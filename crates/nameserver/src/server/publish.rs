//! From publications to snapshots, and from answers to sightings.
//!
//! All that waits is applied at once. A serial is on disk before it is answered, so that it never stands for other content
//! (Z7); if the disk fails, names are answered all the same, and the failure is told. Content is written behind the
//! answers, and old snapshots are freed there too.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dns::{Name, Publication, Serial, Sighting};
use domain::base::iana::Rtype;
use domain::base::message_builder::MessageBuilder;
use domain::base::{Message, Name as WireName};
use domain::rdata::Soa;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::{sleep, sleep_until};

use super::{OpenError, Shared, Stop, stopped, thread};
use crate::store::{Behind, Store};
use crate::{Client, Transport, Zones, answer};

/// How many publications become one snapshot at most, so that the first does not wait for an endless rest.
const BATCH_MAX: usize = 4_096;

/// How often to look whether the last query has let go of an old snapshot.
const RETIRE_PAUSE: Duration = Duration::from_millis(1);

/// The thread that takes publications.
pub(super) struct Publisher {
    shared: Arc<Shared>,
    store: Option<Store>,
    sightings: mpsc::Sender<Sighting>,
    /// What was seen and not taken out yet: as many entries as zones, whoever is slow.
    seen: BTreeMap<Name, Option<Serial>>,
}

impl Publisher {
    pub(super) fn new(
        shared: Arc<Shared>,
        store: Option<Store>,
        sightings: mpsc::Sender<Sighting>,
    ) -> Publisher {
        Publisher {
            shared,
            store,
            sightings,
            seen: BTreeMap::new(),
        }
    }

    /// Starts the thread, which holds `end` until it has ended.
    pub(super) fn start(
        self,
        publications: mpsc::Receiver<Publication>,
        stop: Stop,
        end: mpsc::Sender<()>,
    ) -> Result<(), OpenError> {
        thread::start(
            "dns-publish".into(),
            end,
            || Ok(()),
            move |runtime, ()| self.run(runtime, publications, stop),
        )
    }

    fn run(
        mut self,
        runtime: Runtime,
        mut publications: mpsc::Receiver<Publication>,
        mut stop: Stop,
    ) {
        let behind = self.store.as_ref().map(Store::behind);
        let deadline = runtime.block_on(async {
            let writing = write(behind.clone(), stop.clone());
            let publishing = async {
                tokio::select! {
                    deadline = stopped(&mut stop) => deadline,
                    () = self.publish(&mut publications) => Instant::now(),
                }
            };
            let ((), deadline) = tokio::join!(writing, publishing);
            deadline
        });
        runtime.shutdown_timeout(deadline.saturating_duration_since(Instant::now()));
    }

    /// Goes on for ever: when nobody publishes any more, what was published is still served.
    async fn publish(&mut self, publications: &mut mpsc::Receiver<Publication>) {
        let mut batch = Vec::new();
        let mut is_open = true;
        let sightings = self.sightings.clone();
        loop {
            let listening = !self.seen.is_empty();
            tokio::select! {
                count = publications.recv_many(&mut batch, BATCH_MAX), if is_open => {
                    is_open = count > 0;
                    if is_open {
                        self.apply(&batch);
                    }
                    batch.clear();
                }
                permit = sightings.reserve(), if listening => match permit {
                    Ok(permit) => {
                        if let Some((origin, serial)) = self.seen.pop_first() {
                            permit.send(Sighting { origin, serial });
                        }
                    }
                    // Nobody wants to know any more.
                    Err(_) => self.seen.clear(),
                },
                else => std::future::pending().await,
            }
        }
    }

    fn apply(&mut self, batch: &[Publication]) {
        if let Some(store) = &mut self.store {
            store.note(batch);
        }
        let next = self.shared.zones.load().with(batch);
        tell(&self.shared.zones.load(), batch);
        let old = self.shared.zones.swap(Arc::new(next));
        tokio::spawn(retire(old));
        let zones = self.shared.zones.load();
        let changed: BTreeSet<&Name> = batch.iter().map(Publication::origin).collect();
        for origin in changed {
            self.seen.insert(origin.clone(), look(&zones, origin));
        }
        if let Some(store) = &self.store {
            store.behind().take(batch);
        }
    }
}

/// Writes contents until the server stops, and what is left then until its deadline. A write that takes longer is left
/// to itself: the file is replaced whole or not at all.
async fn write(behind: Option<Arc<Behind>>, stop: Stop) {
    let Some(behind) = behind else { return };
    let (mut first, mut second) = (stop.clone(), stop);
    let given_up = async {
        let deadline = stopped(&mut first).await;
        sleep_until(deadline.into()).await;
    };
    tokio::select! {
        () = behind.run(stopped(&mut second)) => {}
        () = given_up => {}
    }
}

/// Logs zones that come and go. Versions of one that stays are too many to be news.
fn tell(before: &Zones, batch: &[Publication]) {
    for publication in batch {
        let (zone, known) = (publication.origin(), before.get(publication.origin()));
        match publication {
            Publication::Version(version) if known.is_none() => {
                tracing::info!(%zone, serial = %version.serial, "Serving zone");
            }
            Publication::Version(version) => {
                tracing::debug!(%zone, serial = %version.serial, "Serving version");
            }
            Publication::Withdrawal(_) if known.is_some() => {
                tracing::info!(%zone, "No longer serving zone");
            }
            Publication::Withdrawal(_) => {}
        }
    }
}

/// Frees an old snapshot once no query looks at it, where it does not hold one up: of a large zone it takes a while.
async fn retire(snapshot: Arc<Zones>) {
    while Arc::strong_count(&snapshot) > 1 {
        sleep(RETIRE_PAUSE).await;
    }
    tokio::task::spawn_blocking(move || drop(snapshot));
}

/// The serial that is answered for a zone, asked for as anybody would.
fn look(zones: &Zones, origin: &Name) -> Option<Serial> {
    let name = WireName::from_slice(origin.as_wire()).expect("a name has the form of a name");
    let mut question = MessageBuilder::new_vec().question();
    question
        .push((name, Rtype::SOA))
        .expect("a vector takes any length");
    let mut reply = Vec::new();
    let client = Client {
        address: Ipv4Addr::LOCALHOST.into(),
        transport: Transport::Tcp,
    };
    let query = question.finish();
    answer(&query, client, zones, &mut rand::rng(), &mut reply)?;
    let message = Message::from_slice(&reply).ok()?;
    let mut soas = message.answer().ok()?.limit_to::<Soa<_>>();
    let soa = soas.next()?.ok()?;
    let is_ours = message.header().aa() && *soa.owner() == name;
    is_ours.then(|| Serial(soa.data().serial().into_int()))
}
