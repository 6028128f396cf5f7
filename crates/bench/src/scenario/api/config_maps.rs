//! `ConfigMap` objects of a kilobyte: made by the thousand, listed, watched.

use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use futures_util::future::try_join_all;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, PostParams, WatchEvent, WatchParams};
use kube::{Client, ResourceExt as _};
use tokio::sync::mpsc;

const NAMESPACE: &str = "default";
const OCTETS: usize = 1_024;

/// Makes `count` objects with all clients at once.
pub(super) async fn create(clients: &[Client], count: usize, prefix: &str) -> Result<()> {
    let share = |(first, client): (usize, &Client)| {
        let numbers = (first..count).step_by(clients.len());
        let objects: Vec<ConfigMap> = numbers
            .map(|number| object(&format!("{prefix}-{number}")))
            .collect();
        let api = api(client);
        tokio::spawn(async move {
            for object in &objects {
                api.create(&PostParams::default(), object).await?;
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
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps{limit}");
    client
        .request_text(Request::get(path).body(Vec::new())?)
        .await?;
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

fn api(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), NAMESPACE)
}

fn object(name: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object.data = Some([("text".to_owned(), "x".repeat(OCTETS))].into());
    object
}
