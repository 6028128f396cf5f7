//! An API that nobody looks after, ours or the real one, and what it uses.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use kube::Client;
use testkit::control_plane::{ControlPlane, Identity};

use super::config_maps;
use crate::program::{Serving, client};
use crate::stage::Home;
use crate::usage;

/// An API as processes.
pub(super) enum Side {
    /// Nothing only while it is started again.
    Embedded(Option<Serving>),
    Cluster(Box<ControlPlane>),
}

impl Side {
    pub(super) async fn open(home: Home) -> Result<Side> {
        Ok(match home {
            Home::Embedded => Side::Embedded(Some(Serving::api_alone()?)),
            Home::Cluster => Side::Cluster(Box::new(ControlPlane::start_durable().await?)),
        })
    }

    /// A client that has connected already.
    pub(super) async fn client(&self) -> Result<Client> {
        let client = client(&self.kubeconfig()?).await?;
        config_maps::list(&client, Some(1)).await?;
        Ok(client)
    }

    pub(super) async fn clients(&self, count: usize) -> Result<Vec<Client>> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(self.client().await?);
        }
        Ok(clients)
    }

    /// How long processors have worked for it.
    pub(super) fn cpu(&self) -> Result<Duration> {
        self.processes()?.into_iter().map(usage::cpu).sum()
    }

    /// How many octets of memory it has.
    pub(super) fn rss(&self) -> Result<f64> {
        self.processes()?.into_iter().map(usage::rss).sum()
    }

    /// Kills it and starts it again. How long it takes until it answers a question about objects.
    ///
    /// Of the real one only kube-apiserver is started again; its etcd goes on.
    pub(super) async fn restart(&mut self) -> Result<Duration> {
        let began = Instant::now();
        match self {
            Side::Embedded(serving) => {
                let running = serving.take().context("it runs")?;
                *serving = Some(running.restart_api_alone()?);
            }
            Side::Cluster(plane) => plane.restart_api_server().await?,
        }
        self.client().await?;
        Ok(began.elapsed())
    }

    fn kubeconfig(&self) -> Result<PathBuf> {
        Ok(match self {
            Side::Embedded(serving) => {
                let serving = serving.as_ref().context("it runs")?;
                serving.ready.kubeconfig.clone()
            }
            Side::Cluster(plane) => plane.kubeconfig(Identity::Admin),
        })
    }

    fn processes(&self) -> Result<Vec<u32>> {
        Ok(match self {
            Side::Embedded(serving) => vec![serving.as_ref().context("it runs")?.program.id()],
            Side::Cluster(plane) => plane.server_ids().to_vec(),
        })
    }
}
