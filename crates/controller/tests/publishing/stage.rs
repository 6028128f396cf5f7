//! The loop over exported hosts on an API, and somebody who takes Records into a zone.

use std::time::Duration;

use api::domain_verification::DomainVerificationSpec;
use api::foreign;
use api::service_record::ServiceRecordStatus;
use apiserver::Apiserver;
use controller::health::Pulse;
use controller::{Clock, Metrics, Publisher, PublisherOptions, Running, Surroundings};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use kube::{Client, ResourceExt as _};
use prometheus_client::registry::Registry;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use reconcile::ObjectKey;
use reconcile::domains::Keyring;
use reconcile::publishing::{Placement, Policy, SourceKind};
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity, gateway_api};
use testkit::eventually;
use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

/// When the clock of the embedded stage starts.
const START: &str = "2026-03-04T05:06:07Z";

/// What is waited for takes a moment; the rest is for a machine that is busy building.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// What the control plane that all tests share has been taught.
static OUR_KINDS: OnceCell<()> = OnceCell::const_new();
static SOURCES: OnceCell<()> = OnceCell::const_new();

/// What publishes a source.
pub(crate) const EXPORT: &str = "connectivity.tanzu.vmware.com/export";

/// The installation's.
fn key() -> Keyring {
    Keyring::new(&[1; Keyring::BYTES]).unwrap()
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    Embedded,
    Real,
}

pub(crate) struct Stage {
    pub(crate) client: Client,
    /// What the loop goes through.
    pub(crate) way: Client,
    /// The tenant's.
    pub(crate) namespace: String,
    /// Another tenant's.
    pub(crate) other: String,
    /// Where ServiceRecords are.
    pub(crate) central: String,
    pub(crate) options: PublisherOptions,
    /// Whether a zone takes what it is given.
    pub(crate) adopts: bool,
    clock: Clock,
    running: Option<Running>,
    _apiserver: Option<Apiserver>,
}

impl Stage {
    /// Two namespaces, every kind of source, and nobody running.
    pub(crate) async fn open(home: Home) -> Stage {
        let stage = Stage::bare(home).await;
        match home {
            Home::Embedded => install(&stage.client, &foreign::crds()).await,
            Home::Real => {
                SOURCES.get_or_init(|| teach_sources(&stage.client)).await;
            }
        }
        stage
    }

    /// The same in a cluster that has neither Contour nor the Gateway API.
    pub(crate) async fn bare(home: Home) -> Stage {
        let ours = api::crds::all();
        let (client, clock, apiserver) = match home {
            Home::Embedded => {
                let start = START.parse().unwrap();
                let options = apiserver::Options {
                    clock: apiserver::Clock::starting_at(start),
                    ..apiserver::Options::default()
                };
                let apiserver = Apiserver::open(options).await.unwrap();
                let client = apiserver.client();
                install(&client, &ours).await;
                (client, Clock::starting_at(start), Some(apiserver))
            }
            Home::Real => {
                let plane = control_plane::shared().await;
                let client = plane.client(Identity::Admin);
                OUR_KINDS.get_or_init(|| install(&client, &ours)).await;
                (client, Clock::System, None)
            }
        };
        let namespace = testkit::namespace(&client, "shop").await.unwrap();
        let other = testkit::namespace(&client, "rival").await.unwrap();
        let central = format!("{namespace}-central");
        let policy = Policy {
            namespace: central.clone(),
            placement: Placement::Central,
            endpoint_service: Some(ObjectKey::new(&namespace, "envoy")),
            node_endpoints: false,
        };
        Stage {
            way: client.clone(),
            client,
            options: PublisherOptions {
                namespaces: vec![namespace.clone(), other.clone()],
                policy,
                grace: Duration::from_mins(5),
            },
            namespace,
            other,
            central,
            adopts: true,
            clock,
            running: None,
            _apiserver: apiserver,
        }
    }

    /// Where everything runs already.
    pub(crate) async fn running(home: Home) -> Stage {
        let mut stage = Stage::open(home).await;
        stage.run();
        stage
    }

    pub(crate) fn run(&mut self) {
        self.running = Some(self.start());
    }

    /// Another one beside, which goes on by itself.
    pub(crate) fn start(&self) -> Running {
        let publisher = Publisher {
            around: Surroundings {
                client: self.way.clone(),
                clock: self.clock,
                chance: StdRng::seed_from_u64(1),
                leading: watch::channel(true).1,
                metrics: Metrics::new(&mut Registry::default()),
                pulse: Pulse::new(Instant::now()),
                identity: "test".to_owned(),
            },
            options: self.options.clone(),
            keyring: Some(key()),
        };
        publisher.start()
    }

    pub(crate) async fn stop(&mut self) {
        assert!(self.running.take().unwrap().shutdown(SOON).await);
    }

    pub(crate) fn sources(&self, kind: SourceKind) -> Api<DynamicObject> {
        self.sources_in(kind, &self.namespace)
    }

    pub(crate) fn sources_in(&self, kind: SourceKind, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource {
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            api_version: kind.api_version(),
            kind: kind.kind().to_owned(),
            plural: kind.plural().to_owned(),
        };
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }

    pub(crate) fn service_records(&self) -> Api<api::ServiceRecord> {
        Api::namespaced(self.client.clone(), &self.central)
    }

    pub(crate) fn records(&self) -> Api<api::Record> {
        self.records_in(&self.namespace)
    }

    fn records_in(&self, namespace: &str) -> Api<api::Record> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// An object of a kind with a status.
    pub(crate) async fn create(&self, kind: SourceKind, namespace: &str, object: Value) {
        let sources = self.sources_in(kind, namespace);
        let mut source: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        source.types = Some(kube::core::TypeMeta {
            api_version: kind.api_version(),
            kind: kind.kind().to_owned(),
        });
        let name = source.name_any();
        sources
            .create(&PostParams::default(), &source)
            .await
            .unwrap();
        if let Some(status) = object.get("status") {
            self.stand(kind, namespace, &name, status).await;
        }
    }

    /// Says how an object stands.
    pub(crate) async fn stand(
        &self,
        kind: SourceKind,
        namespace: &str,
        name: &str,
        status: &Value,
    ) {
        let patch = Patch::Merge(json!({ "status": status }));
        let sources = self.sources_in(kind, namespace);
        sources
            .patch_status(name, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    /// A proof in a namespace that a domain is its own, as it is written for a namespace: for this one, or another.
    pub(crate) async fn prove(&self, namespace: &str, domain: &str, written_for: &str) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let uid = namespaces.get(written_for).await.unwrap().uid().unwrap();
        let name = dns::Name::parse(&format!("{domain}.")).unwrap();
        let proof = json!({ "status": { "proof": key().proof(&uid, &name) } });
        let spec = DomainVerificationSpec {
            domain: domain.to_owned(),
        };
        let verification = api::DomainVerification::new(domain, spec);
        let verifications = self.verifications(namespace);
        let params = PatchParams::default();
        verifications
            .create(&PostParams::default(), &verification)
            .await
            .unwrap();
        verifications
            .patch_status(domain, &params, &Patch::Merge(proof))
            .await
            .unwrap();
    }

    pub(crate) fn verifications(&self, namespace: &str) -> Api<api::DomainVerification> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// An exported HTTPProxy that is reached at these addresses.
    pub(crate) async fn proxy(&self, name: &str, fqdn: &str, addresses: &[&str]) {
        self.proxy_in(&self.namespace, name, fqdn, addresses).await;
    }

    pub(crate) async fn proxy_in(
        &self,
        namespace: &str,
        name: &str,
        fqdn: &str,
        addresses: &[&str],
    ) {
        let proxy = json!({
            "metadata": { "name": name, "labels": { EXPORT: "" } },
            "spec": { "virtualhost": { "fqdn": fqdn } },
            "status": balanced(addresses),
        });
        self.create(SourceKind::HttpProxy, namespace, proxy).await;
    }

    /// Moves an HTTPProxy.
    pub(crate) async fn reach(&self, name: &str, addresses: &[&str]) {
        let status = balanced(addresses);
        self.stand(SourceKind::HttpProxy, &self.namespace, name, &status)
            .await;
    }

    pub(crate) async fn patch(&self, kind: SourceKind, name: &str, patch: Value) {
        let sources = self.sources(kind);
        sources
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .unwrap();
    }

    pub(crate) async fn rename(&self, proxy: &str, fqdn: &str) {
        let spec = json!({ "spec": { "virtualhost": { "fqdn": fqdn } } });
        self.patch(SourceKind::HttpProxy, proxy, spec).await;
    }

    pub(crate) async fn unlabel(&self, proxy: &str) {
        let none = json!({ "metadata": { "labels": { EXPORT: null } } });
        self.patch(SourceKind::HttpProxy, proxy, none).await;
    }

    pub(crate) async fn delete(&self, proxy: &str) {
        let proxies = self.sources(SourceKind::HttpProxy);
        proxies
            .delete(proxy, &DeleteParams::default())
            .await
            .unwrap();
    }

    /// A ServiceRecord by somebody's hand.
    pub(crate) async fn service_record(&self, record: Value) {
        let record: api::ServiceRecord = serde_json::from_value(record).unwrap();
        self.central_namespace().await;
        let records = self.service_records();
        records
            .create(&PostParams::default(), &record)
            .await
            .unwrap();
    }

    async fn central_namespace(&self) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace: Namespace =
            serde_json::from_value(json!({ "metadata": { "name": self.central } })).unwrap();
        match namespaces.create(&PostParams::default(), &namespace).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn status(&self, host: &str) -> ServiceRecordStatus {
        let record = self.service_records().get(host).await.unwrap();
        record.status.unwrap_or_default()
    }

    /// Waits until a condition of a ServiceRecord is so, and its message says so.
    pub(crate) async fn until_says(&self, host: &str, type_: &str, says: &str, told: &str) {
        let look = async || {
            self.adopt().await;
            let record = self.service_records().get_opt(host).await.unwrap();
            let conditions = record
                .and_then(|it| it.status)
                .unwrap_or_default()
                .conditions;
            let found = conditions.iter().find(|it| it.type_ == type_);
            let found = found.map(|it| format!("{}/{}: {}", it.status, it.reason, it.message));
            let found = found.unwrap_or_default();
            let fits = found.starts_with(says) && found.contains(told);
            if fits { Ok(()) } else { Err(found) }
        };
        eventually(SOON, "a condition of a ServiceRecord", look)
            .await
            .unwrap();
    }

    /// Whether a ServiceRecord says that its host is published with an address, and has nothing to add.
    pub(crate) async fn is_published(&self, host: &str, address: &str) -> bool {
        let status = self.status(host).await;
        let mut published = status
            .conditions
            .iter()
            .filter(|it| it.type_ == "Published");
        let published = published.any(|it| it.status == "True" && it.reason == "Published");
        published && status.addresses == [address]
    }

    pub(crate) async fn until_published(&self, host: &str) {
        self.until_says(host, "Published", "True/Published", "")
            .await;
    }

    /// Waits until exactly this stands: ServiceRecords as `app.example.org 192.0.2.1:443`, Records as `app.example.org. A
    /// 192.0.2.1`.
    pub(crate) async fn until(&self, expected: &[&str]) {
        let look = async || {
            self.adopt().await;
            let found = self.standing().await;
            if found == expected {
                Ok(())
            } else {
                Err(found.join("\n"))
            }
        };
        eventually(SOON, "what stands for hosts", look)
            .await
            .unwrap();
    }

    /// What stands, ServiceRecords of wherever they are first.
    pub(crate) async fn standing(&self) -> Vec<String> {
        let mut all = Vec::new();
        for namespace in [&self.central, &self.namespace, &self.other] {
            let api: Api<api::ServiceRecord> = Api::namespaced(self.client.clone(), namespace);
            let found = api.list(&ListParams::default()).await.unwrap();
            all.extend(found.items.iter().map(|record| {
                let endpoints = record.spec.endpoints.iter();
                let endpoints = endpoints.map(|it| format!(" {}:{}", it.address, it.port));
                format!("{}{}", record.name_any(), endpoints.collect::<String>())
            }));
        }
        for namespace in [&self.namespace, &self.other] {
            let found = self
                .records_in(namespace)
                .list(&ListParams::default())
                .await;
            let mut found: Vec<String> = found.unwrap().items.iter().map(shown).collect();
            found.sort();
            all.extend(found);
        }
        all
    }

    /// A zone takes the Records that are there.
    pub(crate) async fn adopt(&self) {
        for namespace in [&self.namespace, &self.other] {
            if !self.adopts {
                return;
            }
            let records = self.records_in(namespace);
            let found = records.list(&ListParams::default()).await.unwrap();
            let strangers = found.items.into_iter().filter(|it| it.status.is_none());
            for record in strangers {
                let condition = |type_: &str| {
                    json!({
                        "type": type_, "status": "True", "reason": type_, "message": "",
                        "lastTransitionTime": START, "observedGeneration": record.metadata.generation,
                    })
                };
                let conditions = [condition("Accepted"), condition("Published")];
                let patch = Patch::Merge(json!({ "status": { "conditions": conditions } }));
                let name = record.name_any();
                // What is gone meanwhile is no harm.
                let _ = records
                    .patch_status(&name, &PatchParams::default(), &patch)
                    .await;
            }
        }
    }

    /// Waits until an Event about a source says so.
    pub(crate) async fn until_told(&self, namespace: &str, source: &str, reason: &str, told: &str) {
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let look = async || {
            let found = events.list(&ListParams::default()).await.unwrap();
            let about = found.items.iter().filter(|event| {
                let name = event.regarding.as_ref().and_then(|it| it.name.as_deref());
                name == Some(source)
            });
            let said = about.map(|event| {
                let (reason, note) = (event.reason.as_deref(), event.note.as_deref());
                format!(
                    "{}: {}",
                    reason.unwrap_or_default(),
                    note.unwrap_or_default()
                )
            });
            let said: Vec<String> = said.collect();
            let fits = |it: &String| it.starts_with(&format!("{reason}: ")) && it.contains(told);
            if said.iter().any(fits) {
                Ok(())
            } else {
                Err(said.join("\n"))
            }
        };
        eventually(SOON, "an Event about a source", look)
            .await
            .unwrap();
    }
}

async fn install(client: &Client, definitions: &[CustomResourceDefinition]) {
    let installed = testkit::crds::install(client, definitions).await;
    installed.unwrap();
}

/// Contour's kind, and the Gateway API as a cluster has it, with all its rules.
async fn teach_sources(client: &Client) {
    let read = tokio::task::spawn_blocking(gateway_api::crds);
    let mut kinds = read.await.unwrap().unwrap();
    kinds.push(foreign::http_proxy::crd());
    install(client, &kinds).await;
}

/// The status of what is behind a load balancer at these addresses and hosts.
pub(crate) fn balanced(addresses: &[&str]) -> Value {
    let entry = |address: &&str| match address.parse::<std::net::IpAddr>() {
        Ok(_) => json!({ "ip": address }),
        Err(_) => json!({ "hostname": address }),
    };
    let entries: Vec<Value> = addresses.iter().map(entry).collect();
    json!({ "loadBalancer": { "ingress": entries } })
}

fn shown(record: &api::Record) -> String {
    let spec = &record.spec;
    format!("{} {} {}", spec.domain_name, spec.type_, spec.rdata)
}
