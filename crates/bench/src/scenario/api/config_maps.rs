//! `ConfigMap` objects of a kilobyte: made by the thousand, listed, watched.
//!
//! They are made and listed in protocol buffers, as kubectl, helm and everything on client-go does it.

use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, PostParams, WatchEvent, WatchParams};
use kube::client::Body;
use kube::{Client, ResourceExt as _};
use tokio::sync::mpsc;

const NAMESPACE: &str = "default";
const OCTETS: usize = 1_024;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Makes `count` objects with all clients at once.
pub(super) async fn create(clients: &[Client], count: usize, prefix: &str) -> Result<()> {
    let share = |(first, client): (usize, &Client)| {
        let numbers = (first..count).step_by(clients.len());
        let objects: Result<Vec<Vec<u8>>> = numbers
            .map(|number| encoded(&object(&format!("{prefix}-{number}"))))
            .collect();
        let client = client.clone();
        tokio::spawn(async move {
            for object in objects? {
                let request = Request::post(path()).header(CONTENT_TYPE, PROTOBUF);
                send(&client, request, object).await?;
            }
            anyhow::Ok(())
        })
    };
    let created = try_join_all(clients.iter().enumerate().map(share)).await?;
    created.into_iter().collect()
}

/// Asks for all, or for so many, and reads the answer without understanding it.
pub(super) async fn list(client: &Client, limit: Option<u32>) -> Result<()> {
    let limit = limit.map_or(String::new(), |limit| format!("?limit={limit}"));
    let request = Request::get(format!("{}{limit}", path()));
    send(client, request, Vec::new()).await
}

/// Sends a request for protocol buffers, and reads the answer to its end.
async fn send(client: &Client, request: http::request::Builder, body: Vec<u8>) -> Result<()> {
    let request = request.header(ACCEPT, PROTOBUF).body(Body::from(body))?;
    let response = client.send(request).await?;
    let status = response.status();
    let octets = response.into_body().collect_bytes().await?;
    ensure!(
        status.is_success(),
        "{status}: {}",
        String::from_utf8_lossy(&octets)
    );
    Ok(())
}

/// Makes objects one after the other. How long it takes from sending each until a watcher has it.
pub(super) async fn watched(
    writer: &Client,
    watcher: &Client,
    count: usize,
) -> Result<Vec<Duration>> {
    let newest = api(watcher).list(&ListParams::default().limit(1)).await?;
    let newest = newest.metadata.resource_version.unwrap_or_default();
    let events = api(watcher).watch(&WatchParams::default(), &newest).await?;
    let (tell, mut told) = mpsc::channel(1);
    let watching = tokio::spawn(async move {
        let mut events = pin!(events.boxed());
        while let Some(event) = events.try_next().await? {
            if let WatchEvent::Added(object) = event {
                tell.send((object.name_any(), Instant::now())).await?;
            }
        }
        anyhow::Ok(())
    });
    let mut times = Vec::new();
    for number in 0..count {
        let object = object(&format!("watched-{number}"));
        let sent = Instant::now();
        api(writer).create(&PostParams::default(), &object).await?;
        loop {
            let (name, at) = told.recv().await.context("the watch ended")?;
            if name == object.name_any() {
                times.push(at - sent);
                break;
            }
        }
    }
    watching.abort();
    Ok(times)
}

fn path() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

fn encoded(object: &ConfigMap) -> Result<Vec<u8>> {
    let object = serde_json::to_value(object)?;
    wire::encode(&object).context("a ConfigMap has a form in protocol buffers")
}

fn api(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), NAMESPACE)
}

fn object(name: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object.data = Some([("text".to_owned(), "x".repeat(OCTETS))].into());
    object
}
