//! Health checks from `zonewright up` to servers that answer well, badly, and well again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::json;
use tempfile::TempDir;
use testkit::{Up, eventually};

/// More than anything here takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

/// Ports that a health check can name and systems do not hand out by themselves.
const PORTS: std::ops::Range<u16> = 21_000..31_000;

/// A server at one address that answers with what it is told to.
struct Server(Arc<AtomicU16>);

impl Server {
    fn start(listener: TcpListener) -> Server {
        let status = Arc::new(AtomicU16::new(200));
        let shared = Arc::clone(&status);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, shared.load(Ordering::SeqCst));
            }
        });
        Server(status)
    }

    fn answers(&self, status: u16) {
        self.0.store(status, Ordering::SeqCst);
    }
}

/// Whoever breaks off is none of its business.
fn answer(mut stream: TcpStream, status: u16) {
    let mut head = Vec::new();
    let mut octet = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut octet).is_ok() {
        head.push(octet[0]);
    }
    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
    let _ = stream.write_all(answer.as_bytes());
}

/// Two servers on one port, at two addresses of this machine.
fn servers() -> (u16, [Server; 2]) {
    let bound = PORTS.clone().find_map(|port| {
        let one = TcpListener::bind(("127.0.0.1", port)).ok()?;
        let two = TcpListener::bind(("127.0.0.2", port)).ok()?;
        Some((port, [one, two]))
    });
    let (port, listeners) = bound.unwrap();
    (port, listeners.map(Server::start))
}

fn manifest(port: u16) -> String {
    format!(
        "apiVersion: v1
kind: Secret
metadata: {{name: memory, namespace: default}}
type: kuadrant.io/inmemory
stringData: {{ZONE_ID: example.org, DOMAIN_NAME: example.org}}
---
apiVersion: kuadrant.io/v1alpha1
kind: DNSRecord
metadata: {{name: app, namespace: default}}
spec:
  rootHost: app.example.org
  providerRef: {{name: memory}}
  endpoints:
    - {{dnsName: app.example.org, recordType: A, recordTTL: 60, targets: [127.0.0.1, 127.0.0.2]}}
  healthCheck: {{protocol: HTTP, port: {port}, interval: 2s, failureThreshold: 1, path: /healthz}}
"
    )
}

/// A Gateway at both addresses, with a policy that probes them.
fn gateway(port: u16) -> String {
    format!(
        "apiVersion: v1
kind: Secret
metadata: {{name: memory, namespace: default}}
type: kuadrant.io/inmemory
stringData: {{ZONE_ID: example.org, DOMAIN_NAME: example.org}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: gw, namespace: default}}
spec:
  gatewayClassName: any
  listeners: [{{name: web, hostname: app.example.org, port: 80, protocol: HTTP}}]
status:
  addresses: [{{type: IPAddress, value: 127.0.0.1}}, {{type: IPAddress, value: 127.0.0.2}}]
  listeners: [{{name: web, attachedRoutes: 1, conditions: [], supportedKinds: []}}]
---
apiVersion: kuadrant.io/v1
kind: DNSPolicy
metadata: {{name: all, namespace: default}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: gw}}
  providerRefs: [{{name: memory}}]
  healthCheck: {{protocol: HTTP, port: {port}, interval: 2s, failureThreshold: 1, path: /healthz}}
"
    )
}

struct Running {
    client: Client,
    _up: Up,
}

impl Running {
    async fn start(directory: &Path, manifest: &str) -> Running {
        fs::write(directory.join("manifest.yaml"), manifest).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_zonewright"));
        let up = Up::start(program, |command| {
            command
                .args(["--ephemeral", "-f", "manifest.yaml"])
                .args(["--provider", "inmemory", "--min-requeue-time", "1s"])
                .args(["--dns", "127.0.0.1:0"])
                .current_dir(directory);
        });
        let up = up.await.expect("it starts");
        Running {
            client: up.client(),
            _up: up,
        }
    }

    fn api(&self, kind: &str, plural: &str) -> Api<DynamicObject> {
        self.api_of("v1alpha1", kind, plural)
    }

    fn api_of(&self, version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("kuadrant.io", version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        Api::namespaced_with(self.client.clone(), "default", &resource)
    }

    /// Waits until the policy says so about the health of what is made from it.
    async fn until_policy(&self, status: &str, told: &str) {
        let policies = self.api_of("v1", "DNSPolicy", "dnspolicies");
        let what = format!("SubResourcesHealthy={status}: {told}");
        let said = eventually(SOON, &what, async || {
            let policy = policies.get("all").await.unwrap();
            let conditions = &policy.data["status"]["conditions"];
            let conditions = conditions.as_array().cloned().unwrap_or_default();
            let said = conditions
                .iter()
                .find(|it| it["type"] == "SubResourcesHealthy");
            let fits = said.is_some_and(|it| {
                it["status"] == status && it["message"].as_str().unwrap().contains(told)
            });
            fits.then_some(()).ok_or_else(|| format!("{conditions:?}"))
        });
        said.await.unwrap();
    }

    fn records(&self) -> Api<DynamicObject> {
        self.api("DNSRecord", "dnsrecords")
    }

    /// Waits until so much is published and the health is said to be so.
    async fn until(&self, targets: &[&str], healthy: &str) {
        let what = format!("{targets:?} to be published, {healthy}");
        let published = eventually(SOON, &what, async || {
            let record = self.records().get("app").await.unwrap();
            let status = &record.data["status"];
            let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
            let said = conditions.iter().find(|it| it["type"] == "Healthy");
            let reason = said.map_or("none", |said| said["reason"].as_str().unwrap());
            let there = &status["endpoints"][0]["targets"];
            (*there == json!(targets) && reason == healthy)
                .then_some(())
                .ok_or_else(|| status.to_string())
        });
        published.await.unwrap();
    }
}

#[tokio::test]
async fn what_answers_is_published_and_what_does_not_is_not() {
    // D6, from manifest to provider, with real servers.
    let (port, [first, second]) = servers();
    let directory = TempDir::new().unwrap();
    let up = Running::start(directory.path(), &manifest(port)).await;
    let both = ["127.0.0.1", "127.0.0.2"];
    up.until(&both, "AllChecksPassed").await;

    second.answers(503);
    up.until(&both[..1], "SomeChecksPassed").await;
    let probes = up.api("DNSHealthCheckProbe", "dnshealthcheckprobes");
    let probe = probes.get("app-127.0.0.2").await.unwrap();
    let reason = &probe.data["status"]["reason"];
    assert_eq!(*reason, json!("answered 503, expected 200 or 201"));

    first.answers(302);
    up.until(&both[..1], "HealthChecksFailed").await;

    second.answers(201);
    up.until(&both[1..], "SomeChecksPassed").await;

    let patch = Patch::Merge(json!({ "spec": { "healthCheck": null } }));
    let records = up.records();
    let patched = records.patch("app", &PatchParams::default(), &patch).await;
    patched.unwrap();
    up.until(&both, "none").await;
    let gone = eventually(SOON, "the probes to go", async || {
        let probes = probes.list(&ListParams::default()).await.unwrap();
        probes
            .items
            .is_empty()
            .then_some(())
            .ok_or(probes.items.len())
    });
    gone.await.unwrap();
}

#[tokio::test]
async fn a_policy_says_which_of_its_records_lead_to_something_that_is_down() {
    // D3, D6: from the answer of a server to the condition of a policy.
    let (port, [first, _second]) = servers();
    let directory = TempDir::new().unwrap();
    let up = Running::start(directory.path(), &gateway(port)).await;
    let healthy = "All sub-resources are healthy";
    up.until_policy("True", healthy).await;

    first.answers(503);
    up.until_policy("False", "Not healthy DNSRecords are: gw-web")
        .await;
    let probes = up.api("DNSHealthCheckProbe", "dnshealthcheckprobes");
    let probe = probes.get("gw-web-127.0.0.1").await.unwrap();
    assert_eq!(probe.data["status"]["healthy"], json!(false));

    first.answers(200);
    up.until_policy("True", healthy).await;
}
