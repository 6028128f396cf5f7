//! `zonewright up`: everything in one process on one machine.

pub(crate) mod apply;
mod home;
mod report;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use kube::Client;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Output, Up};
use crate::embedded::Embedded;
use crate::manifest::{self, Document};
use apply::{Applied, apply};
use home::Home;
use report::Ready;

/// How long requests may take to finish once we are told to stop; with what is closed afterwards
/// it stays below the five seconds that we promise.
const FINISH_WITHIN: Duration = Duration::from_secs(3);

/// Runs until told to stop.
pub(crate) fn run(up: &Up, output: Output) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    runtime.block_on(serve(up, output))
}

async fn serve(up: &Up, output: Output) -> anyhow::Result<ExitCode> {
    let mut stop = Stop::listen()?;
    // What a person can get wrong comes first: nothing is changed if it is.
    let documents = manifest::read(&up.paths)?;
    let listener = bind("--api", up.api)?;
    let home = Home::open(up)?;
    let mut embedded = Embedded::open(home.kept()).await?;
    let started = tokio::select! {
        started = start(&mut embedded, listener, &home, &documents) => Some(started?),
        () = stop.asked() => None,
    };
    if let Some((ready, applied)) = started {
        report::refused(&applied);
        ready.print(output, &applied)?;
        stop.asked().await;
    }
    tracing::info!("stopping");
    embedded.shutdown(FINISH_WITHIN).await;
    Ok(ExitCode::SUCCESS)
}

/// Fills the API and opens it to others.
async fn start(
    embedded: &mut Embedded,
    listener: TcpListener,
    home: &Home,
    documents: &[Document],
) -> anyhow::Result<(Ready, Applied)> {
    let client = embedded.client();
    define_kinds(&client).await?;
    let applied = apply(&client, documents).await;
    let kubeconfig = home.kubeconfig();
    let api = embedded.listen(listener, &kubeconfig)?;
    Ok((Ready::new(api, kubeconfig), applied))
}

/// Teaches the API our kinds and those of others that we read.
async fn define_kinds(client: &Client) -> anyhow::Result<()> {
    let mut definitions = api::crds::all();
    definitions.extend(api::foreign::crds());
    let document = |definition| Document {
        path: PathBuf::from("CustomResourceDefinitions"),
        line: 1,
        content: serde_json::to_value(definition).map_err(|error| error.to_string()),
    };
    let documents: Vec<Document> = definitions.iter().map(document).collect();
    let applied = apply(client, &documents).await;
    match applied.refused.first() {
        Some(refused) => anyhow::bail!("the embedded API refused a kind: {refused}"),
        None => Ok(()),
    }
}

/// A listener at an address that a flag names.
fn bind(flag: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "other errors speak for themselves"
        )]
        let why = match error.kind() {
            ErrorKind::AddrInUse => {
                "another process has the port; stop it, or choose another".into()
            }
            ErrorKind::AddrNotAvailable => {
                "this machine has no such address; choose another".into()
            }
            ErrorKind::PermissionDenied => {
                "ports below 1024 need privileges; choose another".into()
            }
            _ => format!("{error}; choose another"),
        };
        anyhow::anyhow!("cannot listen on {address}: {why} with {flag}")
    })
}

/// The wish of the outside that we stop.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Returns when someone has asked.
    async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
