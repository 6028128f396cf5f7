//! The server: sockets around [`answer`](crate::answer()), publications in, sightings out.
//!
//! Queries are served by a few threads that share nothing but the snapshot: each has a runtime of its own, a UDP socket for
//! every address, and its share of the connections. So a busy or broken rest of the process does not keep a query waiting
//! (N5). Another thread takes publications:
//!
//! ```text
//! publications ─► serials on disk ─► next snapshot ─► swap ─► asks itself ─► sightings
//!                                                       │
//!                                                       └─► content on disk, when it is due
//! ```

mod listen;
mod publish;
mod tcp;
mod thread;
mod udp;
mod worker;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use dns::{Name, Publication, Serial, Sighting};
use tokio::sync::{mpsc, watch};

use crate::store::{Store, StoreError};
use crate::{Counters, Places, Zones};

/// The most threads that serve queries: beyond that it is the network card that is busy.
const WORKERS_MAX: usize = 16;

/// How a server is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where to listen, each address for UDP and TCP. Port 0 picks a port that is free for both.
    pub listeners: Vec<SocketAddr>,
    /// Where the last good versions are kept; nowhere if absent.
    pub store: Option<PathBuf>,
    /// Where clients are, for answers that depend on it; nobody knows if absent.
    pub places: Option<Arc<Places>>,
    /// How many threads serve queries; one for each processor if absent.
    pub workers: Option<usize>,
    /// What clients may use up.
    pub limits: Limits,
}

/// What clients may use up. The defaults suit a public server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at the same time. The next one waits until another ends.
    pub connections_max: usize,
    /// Connections of one client: an IPv4 address, or an IPv6 network of 64 bits, which is what one host has.
    pub connections_per_client_max: usize,
    /// How long a new connection may take to its first query, and any query from its first octet to its last.
    pub read: Duration,
    /// How long a connection may be silent between queries. A fifth of it when half of the connections are taken.
    pub idle: Duration,
    /// How long a client may take to accept answers that are ready.
    pub write: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            // Some 20 kB of memory each, and up to 150 kB while answers wait for a slow reader.
            connections_max: 1_000,
            connections_per_client_max: 100,
            read: Duration::from_secs(2),
            // RFC 7766 §6.2.3 asks for "a few seconds".
            idle: Duration::from_secs(10),
            write: Duration::from_secs(5),
        }
    }
}

/// Why a server cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// An address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// What was stored cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

/// A running server. It stops at once when dropped; [`Server::shutdown`] lets it finish what it is doing.
pub struct Server {
    addresses: Vec<SocketAddr>,
    stored: BTreeMap<Name, Serial>,
    shared: Arc<Shared>,
    stop: watch::Sender<Option<Instant>>,
    /// Yields nothing and closes when the last thread has ended.
    ended: mpsc::Receiver<()>,
}

/// What all threads look at.
struct Shared {
    zones: ArcSwap<Zones>,
    counters: Counters,
    limits: Limits,
}

/// Tells a thread when to stop: at that time at the latest. A sender that is gone means now.
type Stop = watch::Receiver<Option<Instant>>;

impl Server {
    /// Opens a server: reads what is stored, listens, and answers from it before anything is published.
    ///
    /// Reading large zones takes a while, in which the caller's thread is blocked. All publications that wait are applied
    /// together. For each zone they change, the version that is answered from then on is told in `sightings`; of two that
    /// have not been taken out yet, the later.
    pub fn open(
        options: Options,
        publications: mpsc::Receiver<Publication>,
        sightings: mpsc::Sender<Sighting>,
    ) -> Result<Server, OpenError> {
        let workers = options.workers.unwrap_or_else(default_workers).max(1);
        let opened = options.store.as_deref().map(Store::open).transpose()?;
        let (store, versions) = opened.unzip();
        let stored = store.as_ref().map(Store::serials).unwrap_or_default();
        let sockets = listen::bind(&options.listeners, workers)?;
        let addresses = sockets.addresses.clone();
        let versions = versions.into_iter().flatten();
        let versions: Vec<_> = versions.map(Publication::Version).collect();
        let shared = Arc::new(Shared {
            zones: ArcSwap::from_pointee(Zones::new().knowing(options.places).with(&versions)),
            counters: Counters::new(workers),
            limits: options.limits,
        });
        let (stop, stopped) = watch::channel(None);
        let (end, ended) = mpsc::channel(1);
        worker::start(sockets, &shared, &stopped, &end)?;
        let publisher = publish::Publisher::new(shared.clone(), store, sightings);
        publisher.start(publications, stopped, end)?;
        tracing::info!(?addresses, zones = shared.zones.load().len(), "Answering");
        Ok(Server {
            addresses,
            stored,
            shared,
            stop,
            ended,
        })
    }

    /// Where it listens, in the order of the options, with the ports that were picked.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The highest serial of every zone that was ever answered from this store, zones that are gone included: a version
    /// with other content needs a higher one.
    pub fn stored(&self) -> &BTreeMap<Name, Serial> {
        &self.stored
    }

    /// The zones it answers from now.
    pub fn zones(&self) -> Arc<Zones> {
        self.shared.zones.load_full()
    }

    /// Its counters.
    pub fn counters(&self) -> Counters {
        self.shared.counters.clone()
    }

    /// Stops: no new connections and datagrams; answers that are on their way are sent and versions that are not on disk
    /// yet are written, until `deadline` has passed.
    pub async fn shutdown(mut self, deadline: Duration) {
        self.stop.send_replace(Some(Instant::now() + deadline));
        while self.ended.recv().await.is_some() {}
        tracing::info!("Stopped answering");
    }
}

/// Without the zones, which may be large.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

fn default_workers() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().min(WORKERS_MAX))
}

/// Waits until the server stops, and tells until when there is time to finish.
async fn stopped(stop: &mut Stop) -> Instant {
    match stop.wait_for(Option::is_some).await {
        Ok(deadline) => deadline.unwrap_or_else(Instant::now),
        Err(_) => Instant::now(),
    }
}
