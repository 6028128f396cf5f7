//! `zonewright run`: the controllers of a cluster, and a name server if asked to.

use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use controller::lease::{self, Election};
use controller::{Clock, NameServer};
use kube::Client;
use nameserver::Server;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::watch;

use crate::args::run::Run;
use crate::assemble::{self, Answering, Controllers, Parts, identity};
use crate::client::Access;
use crate::custom_domains::{Door, Facts};
use crate::stop::Stop;

/// How long what has begun may take to finish once we are told to stop.
const FINISH_WITHIN: Duration = Duration::from_secs(3);

/// The Lease that replicas compete for.
const LEASE: &str = "zonewright";

/// Runs until told to stop.
pub(crate) fn run(run: &Run, kubeconfig: Option<&Path>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    runtime.block_on(serve(run, kubeconfig))
}

async fn serve(run: &Run, kubeconfig: Option<&Path>) -> anyhow::Result<ExitCode> {
    let mut stop = Stop::listen()?;
    let listener = TcpListener::bind(run.http)
        .with_context(|| format!("cannot listen on {}; choose another with --http", run.http))?;
    let (client, namespace) = connect(kubeconfig).await?;
    let (server, way) = answering(run)?;
    let election = run.leader_elect.then(|| {
        Election::start(
            client.clone(),
            candidate(namespace.clone()),
            Clock::System,
            StdRng::from_os_rng(),
        )
    });
    let leading = match &election {
        Some(election) => election.leadership(),
        None => watch::channel(true).1,
    };
    let domains = Facts::read(&client, &namespace, &run.controller.domains).await?;
    let door = match &domains {
        Some(facts) => {
            let leading = leading.clone();
            Some(Door::open(&client, &namespace, run.webhook, facts, leading).await?)
        }
        None => None,
    };
    let controllers = Controllers::start(Parts {
        client,
        flags: &run.controller,
        namespaces: run.namespace.clone(),
        name_server: way,
        leading,
        domains,
        http: listener,
        loopback: false,
    })?;
    let dns = server
        .as_ref()
        .and_then(|server| server.addresses().first());
    let webhook = door
        .as_ref()
        .map(|door| tracing::field::display(door.address()));
    tracing::info!(http = %controllers.http(), dns = dns.map(tracing::field::display), webhook, "Running");
    stop.asked().await;
    tracing::info!("stopping");
    controllers.shutdown(FINISH_WITHIN).await;
    if let Some(door) = door {
        door.close(FINISH_WITHIN).await;
    }
    if let Some(election) = election {
        election.release().await;
    }
    if let Some(server) = server {
        server.shutdown(FINISH_WITHIN).await;
    }
    Ok(ExitCode::SUCCESS)
}

fn answering(run: &Run) -> anyhow::Result<(Option<Server>, Option<NameServer>)> {
    let Some(address) = run.dns else {
        return Ok((None, None));
    };
    let places = assemble::places(run.geo_database.as_deref())?;
    let Answering { server, way } = Answering::open(address, None, places)?;
    Ok((Some(server), Some(way)))
}

/// The API of the kubeconfig, or of the cluster this process runs in, and the namespace that is ours there.
async fn connect(kubeconfig: Option<&Path>) -> anyhow::Result<(Client, String)> {
    let access = Access::find(kubeconfig).await?;
    let access =
        access.context("there is no kubeconfig and this is no pod; name one with --kubeconfig")?;
    let config = access.into_patient_config();
    let namespace = config.default_namespace.clone();
    Ok((Client::try_from(config)?, namespace))
}

fn candidate(namespace: String) -> lease::Options {
    lease::Options {
        namespace,
        name: LEASE.to_owned(),
        identity: identity(),
        timing: lease::Timing::default(),
    }
}
