//! Puts the parts together that run: a name server, controllers, and the way between them.
//!
//! The parts know each other only by what they exchange. The name server comes first, for it answers with what it has
//! stored while everything else is still starting; it goes last.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use controller::health::{self, Pulse};
use controller::{Clock, Controller, Health, Metrics, NameServer, Running};
use kube::Client;
use nameserver::{Limits, OpenError, Server};
use prometheus_client::registry::Registry;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use reconcile::{Authority, Policy};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::args::controller::{Controller as Flags, zones::ZoneAuthority};
use crate::background::Background;

/// How many publications wait for the name server: it takes all that are there at once.
const PUBLICATIONS_MAX: usize = 64;

/// How many sightings wait for the controllers.
const SIGHTINGS_MAX: usize = 1024;

/// A name server, and the controllers' way to it.
#[derive(Debug)]
pub(crate) struct Answering {
    pub(crate) server: Server,
    pub(crate) way: NameServer,
}

impl Answering {
    /// Listens, and answers with what is stored.
    pub(crate) fn open(address: SocketAddr, store: Option<PathBuf>) -> anyhow::Result<Answering> {
        let (publications, told) = mpsc::channel(PUBLICATIONS_MAX);
        let (seen, sightings) = mpsc::channel(SIGHTINGS_MAX);
        let options = nameserver::Options {
            listeners: vec![address],
            store,
            workers: None,
            limits: Limits::default(),
        };
        let server = Server::open(options, told, seen).map_err(explain)?;
        let way = NameServer {
            publications,
            sightings,
            stored: server.stored().clone(),
        };
        Ok(Answering { server, way })
    }
}

/// What a person can do about a name server that does not open.
fn explain(error: OpenError) -> anyhow::Error {
    let listening = matches!(error, OpenError::Listen { .. });
    let error = anyhow::Error::new(error);
    if listening {
        error.context("the name server cannot listen; choose another address with --dns")
    } else {
        error.context("the name server cannot be opened")
    }
}

/// What controllers are made of.
pub(crate) struct Parts<'a> {
    pub(crate) client: Client,
    pub(crate) flags: &'a Flags,
    pub(crate) namespaces: Vec<String>,
    pub(crate) name_server: Option<NameServer>,
    pub(crate) leading: watch::Receiver<bool>,
    /// Where metrics and health are served.
    pub(crate) http: TcpListener,
}

/// Controllers that run, and what can be asked about them.
#[derive(Debug)]
pub(crate) struct Controllers {
    background: Background,
    running: Running,
    http: SocketAddr,
    stop: watch::Sender<bool>,
}

impl Controllers {
    pub(crate) fn start(parts: Parts<'_>) -> anyhow::Result<Controllers> {
        let mut registry = Registry::default();
        let pulse = Pulse::new(Instant::now());
        let controller = Controller {
            client: parts.client,
            options: options(parts.flags, parts.namespaces),
            name_server: parts.name_server,
            clock: Clock::System,
            chance: StdRng::from_os_rng(),
            leading: parts.leading,
            metrics: Metrics::new(&mut registry),
            pulse: pulse.clone(),
            identity: identity(),
        };
        let background = Background::start("controllers").context("cannot start a thread")?;
        let running = {
            let _inside = background.enter();
            controller.start()
        };
        let health = Health::new(registry, pulse).ready_when(running.checks());
        let http = parts
            .http
            .local_addr()
            .context("a socket without an address")?;
        parts
            .http
            .set_nonblocking(true)
            .context("cannot serve HTTP")?;
        let listener =
            tokio::net::TcpListener::from_std(parts.http).context("cannot serve HTTP")?;
        let (stop, mut stopped) = watch::channel(false);
        let until = async move {
            // A sender that is gone means the same.
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        tokio::spawn(health::serve(listener, health.service(), until));
        Ok(Controllers {
            background,
            running,
            http,
            stop,
        })
    }

    /// Where metrics and health are served.
    pub(crate) fn http(&self) -> SocketAddr {
        self.http
    }

    /// Waits until there is nothing left to do. Whether it came to that.
    pub(crate) async fn settled(&mut self, within: Duration) -> bool {
        self.running.settled(within).await
    }

    /// Lets what has begun finish.
    pub(crate) async fn shutdown(self, within: Duration) {
        if !self.running.shutdown(within).await {
            tracing::warn!("Controllers did not finish in time");
        }
        self.stop.send_replace(true);
        self.background.stop();
    }
}

/// Who this process is: its host and its number.
pub(crate) fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "zonewright".to_owned());
    format!("{host}_{}", std::process::id())
}

fn options(flags: &Flags, namespaces: Vec<String>) -> controller::Options {
    let authority = match flags.zones.zone_authority {
        ZoneAuthority::Strict => Authority::Strict,
        ZoneAuthority::Open => Authority::Open,
    };
    let inline_max = flags.zones.inline_entries_max;
    controller::Options {
        policy: Policy {
            authority,
            inline_max: usize::try_from(inline_max).unwrap_or(usize::MAX),
            ..Policy::default()
        },
        namespaces,
        debounce: flags.pace.debounce,
    }
}
