//! `zonewright up`: everything in one process on one machine.

pub(crate) mod apply;
mod arrival;
mod home;
mod report;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use controller::NameServer;
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::args::{Output, Up};
use crate::assemble::{self, Answering, Controllers, Parts};
use crate::custom_domains::{self, NAMESPACE, SERVICE_ACCOUNT, open_inside};
use crate::embedded::Embedded;
use crate::manifest::{self, Document};
use crate::stop::Stop;
use apply::{Applied, apply};
use arrival::records_are_seen;
use home::Home;
use report::Ready;

/// How long what was applied may take to be answered before we say that we are ready all the same.
const SETTLE_WITHIN: Duration = Duration::from_secs(10);

/// How long writes, requests and answers may take to finish once we are told to stop: together they
/// stay below the five seconds that we promise.
const WRITE_WITHIN: Duration = Duration::from_secs(1);
const FINISH_WITHIN: Duration = Duration::from_secs(2);
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

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
    let places = assemble::places(up.geo_database.as_deref())?;
    let listeners = Listeners {
        api: bind("--api", up.api)?,
        http: bind("--http", up.http)?,
    };
    let home = Home::open(up)?;
    // Names are answered from what is stored while everything else starts. If another process has the
    // directory, the API knows more to say about it.
    let answering = Answering::open(up.dns, home.zones(), places);
    let mut embedded = Embedded::open(home.kept()).await?;
    let Answering { server, way } = answering?;
    let mut controllers = None;
    let started = tokio::select! {
        started = start(up, &mut embedded, listeners, &home, &documents, way, &mut controllers) => Some(started?),
        () = stop.asked() => None,
    };
    if let Some((ready, applied)) = started {
        report::refused(&applied);
        ready
            .answering(server.addresses(), &documents)
            .print(output, &applied)?;
        stop.asked().await;
    }
    tracing::info!("stopping");
    if let Some(controllers) = controllers {
        controllers.shutdown(WRITE_WITHIN).await;
    }
    embedded.shutdown(FINISH_WITHIN).await;
    server.shutdown(ANSWER_WITHIN).await;
    Ok(ExitCode::SUCCESS)
}

/// Sockets that nobody is served at yet.
struct Listeners {
    api: TcpListener,
    http: TcpListener,
}

/// Fills the API, starts the controllers, waits until what was applied is answered, and opens the API to others.
async fn start(
    up: &Up,
    embedded: &mut Embedded,
    listeners: Listeners,
    home: &Home,
    documents: &[Document],
    way: NameServer,
    running: &mut Option<Controllers>,
) -> anyhow::Result<(Ready, Applied)> {
    let client = embedded.client();
    let ours = embedded.own_client();
    define_kinds(&client).await?;
    let domains = custom_domains(&client, up).await?;
    open_inside(&client, &ours, embedded.reviews(), domains.as_ref()).await?;
    let applied = apply(&client, documents).await;
    // There is no other process that could lead.
    let (_, leading) = watch::channel(true);
    let controllers = Controllers::start(Parts {
        client: ours,
        flags: &up.controller,
        namespaces: Vec::new(),
        name_server: Some(way),
        leading,
        domains,
        http: listeners.http,
        loopback: true,
    })?;
    let controllers = running.insert(controllers);
    let settled = timeout(SETTLE_WITHIN, settled(controllers, &client)).await;
    if !settled.unwrap_or(false) {
        tracing::warn!(
            "Not everything is answered yet; the conditions of Zones and Records say why"
        );
    }
    let kubeconfig = home.kubeconfig();
    let api = embedded.listen(listeners.api, &kubeconfig)?;
    Ok((Ready::new(api, controllers.http(), kubeconfig), applied))
}

/// What custom domains need, in a namespace of our own; nothing, where they are off.
async fn custom_domains(client: &Client, up: &Up) -> anyhow::Result<Option<custom_domains::Facts>> {
    let flags = &up.controller.domains;
    if flags.managed_domain.is_some() {
        let own = [
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } }),
            json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": { "name": SERVICE_ACCOUNT, "namespace": NAMESPACE },
            }),
        ];
        let applied = apply(
            client,
            &own.map(|it| own_document("custom domains", Ok(it))),
        )
        .await;
        if let Some(refused) = applied.refused.first() {
            anyhow::bail!("the embedded API refused what custom domains need: {refused}");
        }
    }
    custom_domains::Facts::read(client, NAMESPACE, flags).await
}

/// A document that no file holds.
fn own_document(place: &str, content: Result<Value, String>) -> Document {
    Document {
        path: PathBuf::from(place),
        line: 1,
        content,
    }
}

/// Waits until everything is answered, what policies and exported sources ask for included. Whether it came to that.
async fn settled(controllers: &mut Controllers, client: &Client) -> bool {
    if !controllers.records_are_made(SETTLE_WITHIN).await {
        return false;
    }
    records_are_seen(client).await;
    controllers.zones_are_answered(SETTLE_WITHIN).await
}

/// Teaches the API our kinds and those of others that we read.
async fn define_kinds(client: &Client) -> anyhow::Result<()> {
    let mut definitions = api::crds::all();
    definitions.extend(api::foreign::crds());
    let document = |definition| {
        let content = serde_json::to_value(definition).map_err(|error| error.to_string());
        own_document("CustomResourceDefinitions", content)
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
