//! The loop over DNSHealthCheckProbes on an API in the same process, on a clock that waits for nobody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::DnsHealthCheckProbe;
use api::dns_health_check_probe::DnsHealthCheckProbeStatus;
use apiserver::Apiserver;
use controller::health::Pulse;
use controller::{Ask, Clock, Metrics, Probes, Question, Running, Surroundings};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use prometheus_client::registry::Registry;
use provider::Boxed;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

pub(crate) const NAMESPACE: &str = "web";

/// How often something is looked at that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) struct Stage {
    pub(crate) targets: Arc<Targets>,
    pub(crate) leading: watch::Sender<bool>,
    pub(crate) registry: Registry,
    client: Client,
    running: Option<Running>,
    _apiserver: Apiserver,
}

/// Targets by their addresses, and who asked them what.
#[derive(Default)]
pub(crate) struct Targets {
    answers: Mutex<BTreeMap<String, Answer>>,
    asked: Mutex<Vec<(Instant, Question)>>,
}

/// What a target does when it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Status(u16),
    Fault(&'static str),
    /// Takes so long for it.
    After(Duration, u16),
}

impl Targets {
    pub(crate) fn answer(&self, address: &str, answer: Answer) {
        let mut answers = self.answers.lock().unwrap();
        answers.insert(address.to_owned(), answer);
    }

    /// When an address was asked so far.
    pub(crate) fn asked(&self, address: &str) -> Vec<Instant> {
        let asked = self.questions(address);
        asked.into_iter().map(|(at, _)| at).collect()
    }

    pub(crate) fn questions(&self, address: &str) -> Vec<(Instant, Question)> {
        let asked = self.asked.lock().unwrap();
        let same = asked
            .iter()
            .filter(|(_, question)| question.probe.target.to_string() == address);
        same.cloned().collect()
    }

    pub(crate) fn all(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Ask for Targets {
    fn ask<'a>(&'a self, question: &'a Question) -> Boxed<'a, Result<u16, String>> {
        let asked = (Instant::now(), question.clone());
        self.asked.lock().unwrap().push(asked);
        let answer = {
            let answers = self.answers.lock().unwrap();
            answers.get(&question.probe.target.to_string()).cloned()
        };
        Box::pin(async move {
            match answer.unwrap_or(Answer::Status(200)) {
                Answer::Status(status) => Ok(status),
                Answer::Fault(why) => Err(why.to_owned()),
                Answer::After(time, status) => {
                    tokio::time::sleep(time).await;
                    Ok(status)
                }
            }
        })
    }
}

impl Stage {
    /// A namespace, and the loop over it.
    pub(crate) async fn open() -> Stage {
        Stage::with(false).await
    }

    /// Where the operator lets any certificate pass, or not.
    pub(crate) async fn with(insecure: bool) -> Stage {
        let apiserver = Apiserver::open(apiserver::Options::default())
            .await
            .unwrap();
        let client = apiserver.client();
        testkit::crds::install(&client, &api::crds::all())
            .await
            .unwrap();
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let namespace = serde_json::from_value(json!({ "metadata": { "name": NAMESPACE } }));
        namespaces
            .create(&PostParams::default(), &namespace.unwrap())
            .await
            .unwrap();
        let mut registry = Registry::default();
        let targets = Arc::new(Targets::default());
        let (leading, led) = watch::channel(true);
        let probes = Probes {
            around: Surroundings {
                client: client.clone(),
                chance: StdRng::seed_from_u64(1),
                leading: led,
                metrics: Metrics::new(&mut registry),
                pulse: Pulse::new(Instant::now()),
                clock: Clock::System,
                identity: "test".to_owned(),
            },
            namespaces: Vec::new(),
            insecure,
            ask: Arc::clone(&targets) as Arc<dyn Ask>,
        };
        Stage {
            targets,
            leading,
            registry,
            client,
            running: Some(probes.start()),
            _apiserver: apiserver,
        }
    }

    pub(crate) async fn stop(&mut self) {
        let running = self.running.take().unwrap();
        assert!(running.shutdown(Duration::from_mins(1)).await);
    }

    pub(crate) fn probes(&self) -> Api<DnsHealthCheckProbe> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Creates a probe of `192.0.2.<last>` that may fail twice, every minute.
    pub(crate) async fn probe(&self, name: &str, last: usize) {
        self.probe_with(name, last, json!({})).await;
    }

    pub(crate) async fn probe_with(&self, name: &str, last: usize, more: Value) {
        let mut spec = json!({
            "hostname": "app.example.org", "address": format!("192.0.2.{last}"), "port": 443, "protocol": "HTTPS",
            "path": "/healthz", "interval": "1m", "failureThreshold": 2,
        });
        if let (Value::Object(spec), Value::Object(more)) = (&mut spec, more) {
            spec.extend(more);
        }
        let object = serde_json::from_value(json!({ "metadata": { "name": name }, "spec": spec }));
        let created = self
            .probes()
            .create(&PostParams::default(), &object.unwrap())
            .await;
        created.unwrap();
    }

    pub(crate) async fn patch(&self, name: &str, patch: Value) {
        let (probes, patch) = (self.probes(), Patch::Merge(patch));
        let patched = probes.patch(name, &PatchParams::default(), &patch).await;
        patched.unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        let probes = self.probes();
        probes.delete(name, &DeleteParams::default()).await.unwrap();
    }

    pub(crate) async fn secret(&self, name: &str, data: Value) {
        let object = json!({ "metadata": { "name": name }, "stringData": data });
        let object = serde_json::from_value(object).unwrap();
        let created = self.secrets().create(&PostParams::default(), &object).await;
        created.unwrap();
    }

    pub(crate) async fn status(&self, name: &str) -> DnsHealthCheckProbeStatus {
        let probe = self.probes().get(name).await.unwrap();
        probe.status.unwrap_or_default()
    }

    pub(crate) async fn version(&self, name: &str) -> String {
        let probe = self.probes().get(name).await.unwrap();
        probe.resource_version().unwrap()
    }

    /// Waits until a probe says so, and tells how long that took.
    pub(crate) async fn until(
        &self,
        name: &str,
        says: impl Fn(&DnsHealthCheckProbeStatus) -> bool,
    ) -> Duration {
        let began = Instant::now();
        while !says(&self.status(name).await) {
            let status = self.status(name).await;
            assert!(
                began.elapsed() < Duration::from_hours(1),
                "{name}: {status:?}"
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
        began.elapsed()
    }

    pub(crate) async fn until_healthy(&self, name: &str, healthy: bool) -> Duration {
        self.until(name, |status| status.healthy == Some(healthy))
            .await
    }

    pub(crate) async fn pass_time(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// What is measured, as it is shown.
    pub(crate) fn measured(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).unwrap();
        text
    }
}
