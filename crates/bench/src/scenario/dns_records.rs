//! Two thousand names at a provider cost a handful of calls, three writes of the API each record, and one change is there within 150 ms.
//!
//! The provider is the one in memory: it takes no time of its own, and `/metrics` counts what it is asked. A change is timed from its
//! acknowledgement until the record says that it was written, which is later than the provider has it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use futures_util::future::try_join_all;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::numbers::Numbers;
use crate::program::{Serving, client};
use crate::records::address;
use crate::report::{Figure, Findings, Measurement};

const NAMES: usize = 2_000;
const CLIENTS: usize = 16;
const CHANGES: usize = 200;

/// What stands idle, and for how many requeue times of how long.
const IDLE_NAMES: usize = 10_000;
const IDLE_NAMES_EACH: usize = 10;
const REQUEUE: Duration = Duration::from_secs(20);
const REQUEUES: u32 = 3;

/// What the peer's operator took for a thousand records in memory: a promise to be no worse with twice as many names.
const READY_WITHIN_SECS: f64 = 67.0;
const CPU_SECS_MAX: f64 = 31.0;

const SETTLES_WITHIN: Duration = Duration::from_mins(3);
const PAUSE_MAX: Duration = Duration::from_millis(200);

pub(super) async fn measure(program: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    for records in [100, NAMES] {
        filled(program, records, &mut findings).await?;
    }
    idle(program, &mut findings).await?;
    Ok(findings)
}

/// What it takes to publish all names in so many records, and then one change.
async fn filled(program: &Path, records: usize, findings: &mut Findings) -> Result<()> {
    let serving = Serving::up_with(program, &["--provider", "inmemory"])?;
    let bench = Bench::open(&serving).await?;
    let began = Instant::now();
    bench.create(records, NAMES / records).await?;
    bench.until_ready(records).await?;
    let took = began.elapsed();
    let numbers = Numbers::read(bench.http).await?;
    let calls = |call: &str| numbers.sum("zonewright_provider_calls_total", call);
    let writes = numbers.sum("zonewright_api_writes_total", "dnsrecords");
    let per_record = writes / count(records);
    let cpu = serving.program.cpu()?.as_secs_f64();
    let rss = serving.program.rss()? / 1e6;
    let changed = bench.changes(records, NAMES / records).await?;
    let changed = Measurement::of("acknowledged until written", changed)?;
    let p99 = changed.took.p99.as_secs_f64() * 1e3;
    let figures = [
        (
            "all ready after",
            took.as_secs_f64(),
            READY_WITHIN_SECS,
            "s",
        ),
        ("reads of the provider", calls("\"read\""), 30.0, "calls"),
        (
            "writes of the provider",
            calls("\"write\""),
            count(records),
            "calls",
        ),
        (
            "writes of the API for each record",
            per_record,
            3.0,
            "writes",
        ),
        ("processor time, the API's included", cpu, CPU_SECS_MAX, "s"),
        ("memory, the API's included", rss, 256.0, "MB"),
        (
            "one change, acknowledged until written, p99",
            p99,
            150.0,
            "ms",
        ),
    ];
    add(
        findings,
        &format!("{NAMES} names in {records} records"),
        figures,
    );
    Ok(())
}

/// How often a zone is read that nobody changes.
async fn idle(program: &Path, findings: &mut Findings) -> Result<()> {
    let requeue = format!("{}s", REQUEUE.as_secs());
    let valid_for = format!("{}s", REQUEUE.as_secs() - 1);
    let flags = [
        "--provider",
        "inmemory",
        "--requeue-time",
        &requeue,
        "--valid-for",
        &valid_for,
    ];
    let serving = Serving::up_with(program, &flags)?;
    let bench = Bench::open(&serving).await?;
    let records = IDLE_NAMES / IDLE_NAMES_EACH;
    bench.create(records, IDLE_NAMES_EACH).await?;
    bench.until_ready(records).await?;
    let reads = async || -> Result<f64> {
        let numbers = Numbers::read(bench.http).await?;
        Ok(numbers.sum("zonewright_provider_calls_total", "\"read\""))
    };
    let before = reads().await?;
    sleep(REQUEUE * REQUEUES).await;
    let each = (reads().await? - before) / f64::from(REQUEUES);
    let figure = (
        "reads of the provider in a requeue time",
        each,
        1.0,
        "calls",
    );
    add(
        findings,
        &format!("{IDLE_NAMES} names, nobody changes anything"),
        [figure],
    );
    Ok(())
}

fn add<const N: usize>(
    findings: &mut Findings,
    case: &str,
    figures: [(&'static str, f64, f64, &'static str); N],
) {
    let figures = figures.map(|(what, value, at_most, unit)| Figure {
        case: case.to_owned(),
        what,
        value,
        at_most,
        unit,
    });
    findings.figures.extend(figures);
}

struct Bench {
    clients: Vec<Client>,
    http: SocketAddr,
}

impl Bench {
    async fn open(serving: &Serving) -> Result<Bench> {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(client(&serving.ready.kubeconfig).await?);
        }
        let secret = json!({
            "metadata": { "name": "memory" },
            "type": "kuadrant.io/inmemory",
            "stringData": { "ZONE_ID": "bench.test", "DOMAIN_NAME": "bench.test" },
        });
        let secrets: Api<k8s_openapi::api::core::v1::Secret> =
            Api::default_namespaced(clients[0].clone());
        secrets
            .create(&PostParams::default(), &serde_json::from_value(secret)?)
            .await?;
        Ok(Bench {
            clients,
            http: serving.ready.http.context("nobody answers at /metrics")?,
        })
    }

    fn records(&self) -> Api<api::DnsRecord> {
        Api::default_namespaced(self.clients[0].clone())
    }

    async fn create(&self, records: usize, names: usize) -> Result<()> {
        let share = |(first, client): (usize, &Client)| {
            let records = (first..records).step_by(CLIENTS);
            tokio::spawn(create(client.clone(), records, names))
        };
        let created = try_join_all(self.clients.iter().enumerate().map(share)).await?;
        created.into_iter().collect()
    }

    /// Returns when every record says that it is ready.
    async fn until_ready(&self, records: usize) -> Result<()> {
        let all = async {
            while Numbers::read(self.http)
                .await?
                .sum("dns_provider_record_ready", "")
                < count(records)
            {
                sleep(Duration::from_millis(100)).await;
            }
            Ok(())
        };
        timeout(SETTLES_WITHIN, all)
            .await
            .context("not all records became ready")?
    }

    /// Changes records by chance, one at a time, and tells how long each took to be written.
    async fn changes(&self, records: usize, names: usize) -> Result<Vec<Duration>> {
        let mut chance = StdRng::seed_from_u64(1);
        let api = self.records();
        let list = api.list_metadata(&ListParams::default().limit(1)).await?;
        let version = list.metadata.resource_version.unwrap_or_default();
        let mut events = api.watch(&WatchParams::default(), &version).await?.boxed();
        let mut times = Vec::new();
        let mut editions = vec![0; records];
        for _ in 0..CHANGES {
            let record = chance.random_range(0..records);
            editions[record] += 1;
            let endpoints = endpoints(record, names, editions[record]);
            let patch = Patch::Merge(json!({ "spec": { "endpoints": endpoints } }));
            let name = format!("d-{record}");
            let changed = api.patch(&name, &PatchParams::default(), &patch).await?;
            let (acknowledged, generation) = (Instant::now(), changed.metadata.generation);
            let written = async {
                while let Some(event) = events.try_next().await? {
                    if let WatchEvent::Modified(record) = event
                        && record.metadata.name.as_deref() == Some(&name)
                        && record
                            .status
                            .is_some_and(|status| status.observed_generation == generation)
                    {
                        return Ok(());
                    }
                }
                bail!("the watch has ended")
            };
            timeout(SETTLES_WITHIN, written)
                .await
                .context("a change was not written")??;
            times.push(acknowledged.elapsed());
            sleep(chance.random_range(Duration::ZERO..PAUSE_MAX)).await;
        }
        Ok(times)
    }
}

async fn create(
    client: Client,
    records: impl IntoIterator<Item = usize>,
    names: usize,
) -> Result<()> {
    let api: Api<api::DnsRecord> = Api::default_namespaced(client);
    for record in records {
        let object = json!({
            "metadata": { "name": format!("d-{record}") },
            "spec": {
                "rootHost": format!("d-{record}.bench.test"),
                "providerRef": { "name": "memory" },
                "endpoints": endpoints(record, names, 0),
            },
        });
        api.create(&PostParams::default(), &serde_json::from_value(object)?)
            .await?;
    }
    Ok(())
}

/// The first name is the record's own, the others are below it.
fn endpoints(record: usize, names: usize, edition: usize) -> Value {
    let endpoint = |name: usize| {
        let host = format!("d-{record}.bench.test");
        let host = if name == 0 {
            host
        } else {
            format!("n-{name}.{host}")
        };
        json!({
            "dnsName": host,
            "recordType": "A",
            "recordTTL": 60,
            "targets": [address(record * names + name, edition).to_string()],
        })
    };
    (0..names).map(endpoint).collect()
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
