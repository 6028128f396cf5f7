//! A change of one policy among sixteen Gateways costs what it touches, and an event among a thousand listeners what it costs among ten.
//!
//! The Gateways have as many listeners as the Gateway API allows. An event is a DNSRecord that says something else about
//! itself; its policy says so, too. Processor time is that of all of `zonewright up`, its API included.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use api::foreign::{Gateway, HttpRoute};
use futures_util::future::try_join_all;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, WatchParams};
use kube::core::{ApiResource, WatchEvent};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::numbers::Numbers;
use crate::program::{Serving, client};
use crate::records::create;
use crate::report::{Figure, Findings, Measurement, Row};

const GATEWAYS: usize = 16;
const LISTENERS: usize = 64;
const ROUTES: usize = 5_000;

/// For what an event costs among few.
const FEW: usize = 10;
const EVENTS: usize = 100;
const TURNS: usize = 3;

const CLIENTS: usize = 16;
const SETTLES_WITHIN: Duration = Duration::from_mins(5);

/// How long nothing must be written for everything to be done.
const QUIET: Duration = Duration::from_secs(8);

pub(super) async fn measure(program: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    let few = House::open(program, 1, FEW, FEW).await?;
    let many = House::open(program, GATEWAYS, LISTENERS, ROUTES).await?;
    let (mut at_few, mut at_many) = (Vec::new(), Vec::new());
    let before = many.writes("dnspolicies").await?;
    for _ in 0..TURNS {
        at_few.push(few.cost(EVENTS).await?);
        at_many.push(many.cost(EVENTS).await?);
    }
    let written = many.writes("dnspolicies").await? - before;
    let case = format!("{GATEWAYS} Gateways of {LISTENERS} listeners, {ROUTES} routes");
    findings.rows.push(Row {
        case: "processor time of an event".to_owned(),
        base: Measurement::of("among 10 listeners", at_few)?,
        compared: Measurement::of("among 1,024 listeners", at_many)?,
        at_most: Some(2.0),
    });
    let mut figure = |what, value, at_most| {
        findings.figures.push(Figure {
            case: case.clone(),
            what,
            value,
            at_most,
            unit: "writes",
        });
    };
    let events = f64::from(u32::try_from(EVENTS * TURNS)?);
    figure("of a policy for one event", written / events, 1.0);
    let (records, others) = many.change_one().await?;
    let touched = f64::from(u32::try_from(LISTENERS)?);
    figure(
        "of the API for each DNSRecord that a change of a policy touches",
        records / touched,
        3.0,
    );
    figure("of other policies for it", others, 0.0);
    Ok(findings)
}

/// Gateways with a policy each, whose records are all ready.
struct House {
    serving: Serving,
    client: Client,
    http: SocketAddr,
}

impl House {
    async fn open(
        program: &Path,
        gateways: usize,
        listeners: usize,
        routes: usize,
    ) -> Result<House> {
        let serving = Serving::up_with(program, &["--provider", "inmemory"])?;
        let client = client(&serving.ready.kubeconfig).await?;
        let http = serving.ready.http.context("nobody answers at /metrics")?;
        let house = House {
            serving,
            client,
            http,
        };
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": "memory" },
            "type": "kuadrant.io/inmemory",
            "stringData": { "ZONE_ID": "bench.test", "DOMAIN_NAME": "bench.test" },
        });
        let secrets = ApiResource::erase::<k8s_openapi::api::core::v1::Secret>(&());
        create(&house.api(&secrets), secret).await?;
        for gateway in 0..gateways {
            house.create_gateway(gateway, listeners).await?;
        }
        house.create_routes(routes).await?;
        let wanted = f64::from(u32::try_from(gateways * listeners)?);
        let ready = async {
            while Numbers::read(http)
                .await?
                .sum("dns_provider_record_ready", "")
                < wanted
            {
                sleep(Duration::from_millis(200)).await;
            }
            anyhow::Ok(())
        };
        let ready = timeout(SETTLES_WITHIN, ready).await;
        ready.context("not all DNSRecords became ready")??;
        house.settled().await?;
        Ok(house)
    }

    async fn create_gateway(&self, number: usize, listeners: usize) -> Result<()> {
        let name = format!("g-{number}");
        let names: Vec<String> = (0..listeners).map(|it| format!("l-{it}")).collect();
        let listener = |listener: &String| {
            let host = format!("{listener}.{name}.bench.test");
            json!({ "name": listener, "hostname": host, "port": 80, "protocol": "HTTP" })
        };
        let gateways = self.api(&ApiResource::erase::<Gateway>(&()));
        let gateway = json!({
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": { "name": name },
            "spec": {
                "gatewayClassName": "bench",
                "listeners": names.iter().map(listener).collect::<Value>(),
            },
        });
        create(&gateways, gateway).await?;
        let attached = |listener: &String| json!({ "name": listener, "attachedRoutes": 1, "conditions": [], "supportedKinds": [] });
        let status = json!({ "status": {
            "addresses": [
                { "type": "IPAddress", "value": "192.0.2.1" },
                { "type": "IPAddress", "value": "192.0.2.2" },
            ],
            "listeners": names.iter().map(attached).collect::<Value>(),
        }});
        let how = PatchParams::default();
        gateways
            .patch_status(&name, &how, &Patch::Merge(status))
            .await?;
        let policy = json!({
            "apiVersion": "kuadrant.io/v1",
            "kind": "DNSPolicy",
            "metadata": { "name": name },
            "spec": {
                "targetRef": { "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name },
                "providerRefs": [{ "name": "memory" }],
            },
        });
        create(
            &self.api(&ApiResource::erase::<api::DnsPolicy>(&())),
            policy,
        )
        .await
    }

    async fn create_routes(&self, routes: usize) -> Result<()> {
        let share = |first: usize| {
            let api = self.api(&ApiResource::erase::<HttpRoute>(&()));
            tokio::spawn(async move {
                for number in (first..routes).step_by(CLIENTS) {
                    let route = json!({
                        "apiVersion": "gateway.networking.k8s.io/v1",
                        "kind": "HTTPRoute",
                        "metadata": { "name": format!("r-{number}") },
                        "spec": {
                            "parentRefs": [{ "name": format!("g-{}", number % GATEWAYS) }],
                            "hostnames": [format!("r-{number}.bench.test")],
                        },
                    });
                    create(&api, route).await?;
                }
                anyhow::Ok(())
            })
        };
        let created = try_join_all((0..CLIENTS).map(share)).await?;
        created.into_iter().collect()
    }

    /// Returns when nothing has been written for a while.
    async fn settled(&self) -> Result<()> {
        let settled = async {
            let mut before = -1.0;
            loop {
                let now = self.writes("").await?;
                if (now - before).abs() < 0.5 {
                    return anyhow::Ok(());
                }
                before = now;
                sleep(QUIET).await;
            }
        };
        timeout(SETTLES_WITHIN, settled)
            .await
            .context("it never comes to rest")?
    }

    /// How often we have written objects of a resource.
    async fn writes(&self, resource: &str) -> Result<f64> {
        let part = format!("resource=\"{resource}");
        let numbers = Numbers::read(self.http).await?;
        Ok(numbers.sum("zonewright_api_writes_total", &part))
    }

    /// The processor time of one of so many events.
    async fn cost(&self, events: usize) -> Result<Duration> {
        let records = self.api(&ApiResource::erase::<api::DnsRecord>(&()));
        let policies = self.api(&ApiResource::erase::<api::DnsPolicy>(&()));
        let mut told = watch(&policies).await?;
        let before = self.serving.program.cpu()?;
        for event in 0..events {
            // The same one twice: it fails, and recovers.
            let listener = event / 2 % FEW;
            let ready = if event % 2 == 0 { "False" } else { "True" };
            let condition = json!({
                "type": "Ready",
                "status": ready,
                "reason": "Bench",
                "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            });
            let status = json!({ "status": { "conditions": [condition] } });
            let how = PatchParams::default();
            records
                .patch_status(&format!("g-0-l-{listener}"), &how, &Patch::Merge(status))
                .await?;
            timeout(SETTLES_WITHIN, next(&mut told))
                .await
                .context("a policy says nothing")??;
        }
        let after = self.serving.program.cpu()?;
        Ok(after.saturating_sub(before) / u32::try_from(events)?)
    }

    /// Changes one policy, and tells how many writes of DNSRecords follow, and how many other policies change.
    async fn change_one(&self) -> Result<(f64, f64)> {
        let policies = self.api(&ApiResource::erase::<api::DnsPolicy>(&()));
        let versions = async || -> Result<BTreeMap<String, Option<String>>> {
            let list = policies.list_metadata(&ListParams::default()).await?;
            let each = list.items.into_iter();
            Ok(each
                .map(|it| (it.name_any(), it.resource_version()))
                .collect())
        };
        self.settled().await?;
        let (records, before) = (self.writes("dnsrecords").await?, versions().await?);
        let patch = json!({ "spec": { "excludeAddresses": ["192.0.2.2"] } });
        let how = PatchParams::default();
        policies.patch("g-1", &how, &Patch::Merge(patch)).await?;
        self.settled().await?;
        let records = self.writes("dnsrecords").await? - records;
        let after = versions().await?;
        let changed = after
            .iter()
            .filter(|(name, version)| before.get(*name) != Some(*version));
        let others = changed.filter(|(name, _)| *name != "g-1").count();
        Ok((records, f64::from(u32::try_from(others)?)))
    }

    fn api(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), "default", resource)
    }
}

type Told = BoxStream<'static, kube::Result<WatchEvent<DynamicObject>>>;

async fn watch(api: &Api<DynamicObject>) -> Result<Told> {
    let list = api.list_metadata(&ListParams::default().limit(1)).await?;
    let version = list.metadata.resource_version.unwrap_or_default();
    Ok(api.watch(&WatchParams::default(), &version).await?.boxed())
}

/// Returns when an object has changed.
async fn next(told: &mut Told) -> Result<()> {
    while let Some(event) = told.try_next().await? {
        if let WatchEvent::Modified(_) = event {
            return Ok(());
        }
    }
    bail!("the watch has ended")
}
