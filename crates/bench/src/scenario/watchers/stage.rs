//! An API, its watchers, and the one who writes to it.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::Home;
use super::arrivals::Arrivals;
use super::door::{Door, Entrance};
use super::https::Visitor;

/// What an object carries: about as much as a Record with its status and managed fields.
const TEXT_BYTES: usize = 1000;

/// How long an API may take to stop.
const STOPS_WITHIN: Duration = Duration::from_secs(5);

/// An API that is watched.
pub(super) struct Stage {
    door: Door,
    arrivals: Arc<Arrivals>,
    watchers: usize,
    written: usize,
    api: Apiserver,
    server: Handle,
    /// Where its objects are kept.
    _data: TempDir,
}

impl Stage {
    /// Opens an API on the runtime `server`, and its watchers on this one.
    pub(super) async fn open(home: Home, watchers: usize, server: Handle) -> Result<Self> {
        let data = tempfile::tempdir()?;
        let options = Options {
            data: (home != Home::Memory).then(|| data.path().join("store")),
            ..Options::default()
        };
        let mut api = server.spawn(Apiserver::open(options)).await??;
        let mut door = match home {
            Home::Memory | Home::Disk => Door::Inside(api.service()),
            Home::Https(protocol) => {
                let path = data.path().join("kubeconfig");
                let kubeconfig = Kubeconfig {
                    path: path.clone(),
                    credential: AdminCredential::Certificate,
                };
                let address = {
                    let _on_its_runtime = server.enter();
                    api.listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, kubeconfig)?
                };
                let visitor = Visitor::new(address, protocol, &path).await?;
                Door::Https(Entrance::open(visitor).await?)
            }
        };
        let arrivals = Arc::new(Arrivals::default());
        for _ in 0..watchers {
            door.watch(&arrivals).await?;
        }
        Ok(Self {
            door,
            arrivals,
            watchers,
            written: 0,
            api,
            server,
            _data: data,
        })
    }

    /// How long it takes from sending a write until everyone has been told of it.
    pub(super) async fn write(&mut self) -> Result<Duration> {
        self.written += 1;
        let name = format!("map-{}", self.written);
        let object =
            json!({ "metadata": { "name": name }, "data": { "text": "x".repeat(TEXT_BYTES) } });
        let object = object.to_string().into();
        self.arrivals.expect(self.watchers);
        let began = Instant::now();
        self.door.create(object).await?;
        let last = self.arrivals.last().await?;
        Ok(last - began)
    }

    pub(super) async fn close(self) -> Result<()> {
        let closing = self.api.shutdown(STOPS_WITHIN);
        Ok(self.server.spawn(closing).await?)
    }
}
