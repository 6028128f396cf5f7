//! DNSRecords at real providers, from `zonewright up` to the provider's own answer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::name_server::{NameServer, Software, TsigKey, ZoneFile};
use testkit::route53::Route53;
use testkit::{Up, eventually};

/// More than anything here takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

/// As `openssl rand -base64 32` makes them.
const KEY: &str = "bWVldCBtZSBhdCB0aGUgZW5kIG9mIHRoZSB0cmFuc2Y=";

const ZONE: &str = "$ORIGIN example.org.
$TTL 300
@ IN SOA ns hostmaster 1 7200 900 1209600 300
@ IN NS ns
ns IN A 192.0.2.53
theirs IN A 198.51.100.1
";

/// `zonewright up`, ready.
struct Running {
    client: Client,
    _up: Up,
}

impl Running {
    async fn start(directory: &Path, manifest: &str) -> Running {
        Running::start_with(directory, manifest, &[]).await
    }

    async fn start_with(directory: &Path, manifest: &str, variables: &[(&str, &str)]) -> Running {
        fs::write(directory.join("manifest.yaml"), manifest).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_zonewright"));
        let up = Up::start(program, |command| {
            command
                .envs(variables.iter().copied())
                .args(["-f", "manifest.yaml", "--min-requeue-time", "1s"])
                .args(["--dns", "127.0.0.1:0"])
                .current_dir(directory);
        });
        let up = up.await.expect("it starts");
        Running {
            client: up.client(),
            _up: up,
        }
    }

    fn records(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("kuadrant.io", "v1alpha1", "DNSRecord");
        let resource = ApiResource::from_gvk_with_plural(&kind, "dnsrecords");
        Api::namespaced_with(self.client.clone(), "default", &resource)
    }

    /// Waits until the record says that it is ready.
    async fn until_ready(&self) {
        let ready = eventually(SOON, "the record to be ready", async || {
            let record = self
                .records()
                .get("app")
                .await
                .map_err(|error| error.to_string())?;
            let status = &record.data["status"];
            let current = status["observedGeneration"] == json!(record.metadata.generation);
            let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
            let ready = conditions.iter().find(|it| it["type"] == "Ready");
            match ready {
                Some(ready) if ready["status"] == "True" && current => Ok(()),
                other => Err(format!("{other:?}")),
            }
        });
        ready.await.unwrap();
    }

    async fn until_gone(&self) {
        let gone = eventually(SOON, "the record to go", async || {
            let record = self.records().get_opt("app").await.unwrap();
            record.map_or(Ok(()), |record| Err(format!("{:?}", record.data["status"])))
        });
        gone.await.unwrap();
    }

    async fn edit(&self, address: &str) {
        let (records, patch) = (
            self.records(),
            Patch::Merge(json!({ "spec": { "endpoints": [endpoint(address)] } })),
        );
        records
            .patch("app", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    async fn delete(&self) {
        self.records()
            .delete("app", &DeleteParams::default())
            .await
            .unwrap();
    }
}

fn endpoint(address: &str) -> Value {
    json!({ "dnsName": "app.example.org", "recordType": "A", "recordTTL": 60, "targets": [address] })
}

/// A Secret and a DNSRecord that uses it.
fn manifest(kind: &str, data: &Value) -> String {
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": "dns", "namespace": "default" },
        "type": kind,
        "stringData": data,
    });
    let record = json!({
        "apiVersion": "kuadrant.io/v1alpha1",
        "kind": "DNSRecord",
        "metadata": { "name": "app", "namespace": "default" },
        "spec": {
            "rootHost": "app.example.org",
            "providerRef": { "name": "dns" },
            "endpoints": [endpoint("192.0.2.1")],
        },
    });
    format!("{secret}\n---\n{record}\n")
}

/// What a name server answers, in one line.
fn asked(server: SocketAddr, name: &str) -> String {
    let mut command = testkit::mortal(Path::new(env!("CARGO_BIN_EXE_zonewright")));
    let output = command
        .args(["query", name, "A", &format!("@{server}")])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).replace('\n', " ")
}

/// P11, C3, C4, and that what was written before a SIGKILL is found again.
async fn a_name_server_holds_what_is_wanted(software: Software) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("example.org.zone");
    fs::write(&path, ZONE).unwrap();
    let zone = ZoneFile {
        origin: "example.org.".to_owned(),
        path,
    };
    let key = TsigKey {
        name: "zonewright".to_owned(),
        algorithm: "hmac-sha256".to_owned(),
        secret: KEY.to_owned(),
    };
    let server = NameServer::start_with_key(software, &[zone], &key).await;
    let server = server.unwrap_or_else(|error| panic!("no name servers: {error}"));
    let data = json!({
        "ZONE_ID": "example.org",
        "DOMAIN_NAME": "example.org",
        "SERVER": server.address().to_string(),
        "TSIG_NAME": key.name,
        "TSIG_SECRET": key.secret,
    });
    let manifest = manifest("kuadrant.io/rfc2136", &data);
    let running = Running::start(folder.path(), &manifest).await;
    running.until_ready().await;
    assert!(asked(server.address(), "app.example.org").contains("192.0.2.1"));

    running.edit("192.0.2.2").await;
    drop(running);
    let running = Running::start(folder.path(), "").await;
    running.until_ready().await;
    let answer = asked(server.address(), "app.example.org");
    assert!(
        answer.contains("192.0.2.2") && !answer.contains("192.0.2.1 "),
        "{answer}"
    );

    running.delete().await;
    running.until_gone().await;
    assert!(asked(server.address(), "app.example.org").contains("NXDOMAIN"));
    assert!(asked(server.address(), "theirs.example.org").contains("198.51.100.1"));
    drop(running);
}

#[tokio::test]
async fn bind_holds_what_is_wanted() {
    a_name_server_holds_what_is_wanted(Software::Bind).await;
}

#[tokio::test]
async fn knot_holds_what_is_wanted() {
    a_name_server_holds_what_is_wanted(Software::Knot).await;
}

// The double runs in this process, beside a thread that waits for the program.
#[tokio::test(flavor = "multi_thread")]
async fn route_53_holds_what_is_wanted() {
    let folder = TempDir::new().unwrap();
    let route53 = Route53::start().await.unwrap();
    let zone = route53.create_zone("example.org.");
    let data = json!({
        "ZONE_ID": zone,
        "DOMAIN_NAME": "example.org",
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_ENDPOINT_URL": route53.url(),
    });
    let running = Running::start(folder.path(), &manifest("kuadrant.io/aws", &data)).await;
    running.until_ready().await;
    let idle = route53.requests();
    running.edit("192.0.2.2").await;
    running.until_ready().await;
    assert_eq!(route53.requests() - idle, 2, "one change, and one look");
    running.delete().await;
    running.until_gone().await;
    drop(running);
}

/// The operator says where Amazon is as to any program of Amazon's; whoever writes a Secret needs no leave for that, and
/// has none.
#[tokio::test(flavor = "multi_thread")]
async fn route_53_is_where_the_environment_of_the_process_says() {
    let folder = TempDir::new().unwrap();
    let route53 = Route53::start().await.unwrap();
    let zone = route53.create_zone("example.org.");
    let data = json!({
        "ZONE_ID": zone,
        "DOMAIN_NAME": "example.org",
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
    });
    let manifest = manifest("kuadrant.io/aws", &data);
    let url = route53.url();
    for variable in ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_ROUTE_53"] {
        let variables = [(variable, url.as_str())];
        let running = Running::start_with(folder.path(), &manifest, &variables).await;
        running.until_ready().await;
        running.delete().await;
        running.until_gone().await;
        drop(running);
    }
}
