//! `zonewright run` beside a real kube-apiserver: kinds that are missing, rights that are missing, an API that restarts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use serde_json::Value;
use testkit::control_plane::{ControlPlane, Identity, Kubectl, gateway_api};
use testkit::eventually;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// More than anything here takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

const RBAC: &str = include_str!("../../../../deploy/rbac.yaml");

/// The program, without variables that would change what it does.
fn zonewright(args: &[&str]) -> Command {
    let mut command = testkit::mortal(Path::new(env!("CARGO_BIN_EXE_zonewright")));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("ZONEWRIGHT_") || name.starts_with("KUBE") {
            command.env_remove(name);
        }
    }
    command.args(args);
    command.into()
}

/// A `zonewright run` that listens.
struct Running {
    child: Child,
    http: SocketAddr,
    dns: SocketAddr,
}

impl Running {
    async fn start(plane: &ControlPlane, identity: Identity) -> Running {
        Running::start_with(plane, identity, &[]).await
    }

    async fn start_with(plane: &ControlPlane, identity: Identity, flags: &[&str]) -> Running {
        let kubeconfig = plane.kubeconfig(identity);
        let mut command = zonewright(&["run", "--dns", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
        command.arg("--kubeconfig").arg(kubeconfig);
        command.args(["--log-format", "json"]).args(flags);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let running = timeout(SOON, async {
            loop {
                let line = lines.next_line().await.expect("text").expect("a line");
                let line: Value = serde_json::from_str(&line).expect("a line of JSON");
                if line["message"] == "Running" {
                    return line;
                }
            }
        });
        let running = running.await.expect("it tells where it listens");
        // If nobody read on, it would wait for room in the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let address = |field: &str| {
            let text = running[field].as_str().expect("a field");
            text.parse().expect("an address")
        };
        Running {
            child,
            http: address("http"),
            dns: address("dns"),
        }
    }

    /// Returns when `/readyz` has this status and says this.
    async fn readyz(&self, status: u16, told: &str) {
        let what = format!("{status} {told}");
        eventually(SOON, &what, async || {
            let answer = get(self.http, "/readyz?verbose").await?;
            let fits = answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(told);
            if fits { Ok(()) } else { Err(answer) }
        })
        .await
        .unwrap();
    }

    /// Returns when a name has this address.
    async fn answers(&self, name: &str, address: &str) {
        let server = format!("@{}", self.dns);
        eventually(SOON, &format!("{name} to be {address}"), async || {
            let output = zonewright(&["query", name, "A", &server]).output().await;
            let answer = text(&output.expect("it runs"));
            if answer.contains(address) {
                Ok(())
            } else {
                Err(answer)
            }
        })
        .await
        .unwrap();
    }

    /// Stops it as a kubelet would.
    async fn stop(mut self) {
        let id = self.child.id().expect("it runs").to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status().await;
        assert!(kill.expect("kill runs").success());
        let ended = timeout(SOON, self.child.wait()).await;
        assert_eq!(ended.expect("it ends").expect("it ends").code(), Some(0));
    }
}

fn text(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(text).expect("text")
}

/// What an HTTP server says, headers and all.
async fn get(server: SocketAddr, path: &str) -> Result<String, String> {
    let ask = async {
        let mut stream = TcpStream::connect(server).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    ask.await.map_err(|error| error.to_string())
}

async fn apply(kubectl: &Kubectl, manifest: &str) {
    let args = ["apply", "--server-side", "-f", "-"];
    let applied = kubectl.run_with_input(args, manifest).await;
    applied.unwrap().success().unwrap();
}

async fn install_kinds(kubectl: &Kubectl) {
    let crds = zonewright(&["crds"]).output().await.expect("it runs");
    apply(kubectl, &text(&crds)).await;
}

async fn apply_quickstart(kubectl: &Kubectl) {
    let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart");
    let args = ["apply", "-f", quickstart.to_str().unwrap()];
    kubectl.run(args).await.unwrap().success().unwrap();
}

/// Installs the Gateway API, applies the example, and says about its Gateway what the controller of one would.
async fn publish_gateway(plane: &ControlPlane, kubectl: &Kubectl) {
    let kinds = tokio::task::spawn_blocking(gateway_api::crds).await;
    plane.install(&kinds.unwrap().unwrap()).await.unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
    let args = ["apply", "-f", example.to_str().unwrap()];
    kubectl.run(args).await.unwrap().success().unwrap();
    let gateway = example.join("shop-gateway.yaml");
    let gateway = gateway.to_str().unwrap();
    let args = [
        "apply",
        "--server-side",
        "--subresource=status",
        "-f",
        gateway,
    ];
    kubectl.run(args).await.unwrap().success().unwrap();
}

/// Installs Contour's kind, applies the example, and says where its sources are reached.
async fn publish_services(plane: &ControlPlane, kubectl: &Kubectl) {
    let contour = [api::foreign::http_proxy::crd()];
    plane.install(&contour).await.unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/publishing");
    let args = ["apply", "-f", example.to_str().unwrap()];
    kubectl.run(args).await.unwrap().success().unwrap();
    for file in ["shop-harbor.yaml", "others.yaml"] {
        let file = example.join(file);
        let status = ["apply", "--server-side", "--subresource=status", "-f"];
        let args = [&status[..], &[file.to_str().unwrap()]].concat();
        kubectl.run(args).await.unwrap().success().unwrap();
    }
}

async fn holder(client: &Client, namespace: &str) -> Option<String> {
    let leases = Api::<Lease>::namespaced(client.clone(), namespace);
    let lease = leases.get("zonewright").await.unwrap();
    lease.spec.unwrap().holder_identity
}

/// O2.
#[tokio::test]
async fn a_cluster_is_waited_for_until_it_has_our_kinds_and_found_again_after_a_restart() {
    let mut plane = ControlPlane::start().await.unwrap();
    let kubectl = plane.kubectl(Identity::Admin);
    let running = Running::start(&plane, Identity::Admin).await;
    let missing = "[-]watch Zone failed: the cluster does not have this kind; install it with: zonewright crds | kubectl apply --server-side -f -";
    running.readyz(503, missing).await;

    install_kinds(&kubectl).await;
    running.readyz(200, "readyz check passed").await;
    apply_quickstart(&kubectl).await;
    running.answers("www.example.org", "192.0.2.80").await;
    running.answers("chat.team.example.org", "192.0.2.90").await;

    plane.restart_api_server().await.unwrap();
    let patch = r#"{"spec": {"rdata": "192.0.2.99"}}"#;
    let args = [
        "patch", "record", "www", "-n", "web", "--type", "merge", "-p", patch,
    ];
    kubectl.run(args).await.unwrap().success().unwrap();
    running.answers("www.example.org", "192.0.2.99").await;
    running.readyz(200, "readyz check passed").await;

    let client = plane.client(Identity::Admin);
    assert!(holder(&client, "default").await.is_some());
    running.stop().await;
    assert_eq!(holder(&client, "default").await, None, "given up");
}

/// O2: a process that sees what there is and not what happens is not ready.
#[tokio::test]
async fn with_the_rights_we_ask_for_it_works_and_without_one_of_them_it_says_which() {
    let plane = ControlPlane::start().await.unwrap();
    let kubectl = plane.kubectl(Identity::Admin);
    install_kinds(&kubectl).await;
    let blind = RBAC.replace("list, watch, patch", "list, patch");
    assert_ne!(blind, RBAC);
    apply(&kubectl, &blind).await;
    let running = Running::start(&plane, Identity::ServiceAccount).await;
    running.readyz(503, "cannot watch resource \"zones\"").await;
    running
        .readyz(503, "cannot watch resource \"records\"")
        .await;

    apply(&kubectl, RBAC).await;
    running.readyz(200, "readyz check passed").await;
    apply_quickstart(&kubectl).await;
    running.answers("www.example.org", "192.0.2.80").await;
    let condition = "--for=condition=Published=True";
    let args = [
        "wait",
        condition,
        "record/www",
        "-n",
        "web",
        "--timeout=60s",
    ];
    kubectl.run(args).await.unwrap().success().unwrap();
    running.answers("app.dev.example.org", "192.0.2.82").await;
    let ready = "--for=condition=Ready=True";
    let args = ["wait", ready, "dnsrecord/app", "-n", "web", "--timeout=60s"];
    kubectl.run(args).await.unwrap().success().unwrap();
    let args = ["delete", "dnsrecord/app", "-n", "web", "--timeout=60s"];
    kubectl.run(args).await.unwrap().success().unwrap();
    let args = [
        "get",
        "records",
        "-n",
        "web",
        "-o",
        "name",
        "-l",
        "zonewright.dev/dns-record",
    ];
    let records = kubectl.run(args).await.unwrap().success().unwrap();
    assert_eq!(records, "", "nothing of it is left");
    publish_gateway(&plane, &kubectl).await;
    running.answers("shop.apps.example.org", "192.0.2.80").await;
    let args = [
        "wait",
        ready,
        "dnspolicy/public",
        "-n",
        "shop",
        "--timeout=60s",
    ];
    kubectl.run(args).await.unwrap().success().unwrap();
    publish_services(&plane, &kubectl).await;
    running
        .answers("harbor.apps.example.org", "192.0.2.10")
        .await;
    running.answers("cart.apps.example.org", "192.0.2.20").await;
    let unlabel = "connectivity.tanzu.vmware.com/export-";
    let args = ["label", "httpproxy", "harbor", "-n", "shop", unlabel];
    kubectl.run(args).await.unwrap().success().unwrap();
    let record = "servicerecord/harbor.apps.example.org";
    let at = ["-n", "cross-cluster-connectivity", "--timeout=60s"];
    let args = [&["wait", "--for=delete", record][..], &at].concat();
    kubectl.run(args).await.unwrap().success().unwrap();
    let args = ["get", "events.events.k8s.io", "-n", "web"];
    let events = kubectl.run(args).await.unwrap().success().unwrap();
    assert!(events.contains("record/shop"), "{events}");
    let metrics = get(running.http, "/metrics").await.unwrap();
    let refused = metrics
        .lines()
        .find(|line| line.contains("result=\"refused\""));
    assert_eq!(refused, None, "everything we write we may write");
    running.stop().await;
}

/// A zone with a name that is another for clients in Ireland.
const ROUTED: &str = "apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example-org, namespace: default}
spec: {domainName: example.org., nameservers: [ns1.example.net.], delegations: [{records: [{pattern: '*'}]}]}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: anyone, namespace: default}
spec: {domainName: www.example.org., type: A, rdata: 192.0.2.1, routing: {setIdentifier: anyone, geo: '*'}}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ireland, namespace: default}
spec: {domainName: www.example.org., type: A, rdata: 192.0.2.2, routing: {setIdentifier: ireland, geo: IE}}
";

/// N6.
#[tokio::test]
async fn clients_are_where_the_geo_database_says() {
    let plane = ControlPlane::start().await.unwrap();
    let kubectl = plane.kubectl(Identity::Admin);
    install_kinds(&kubectl).await;
    apply(&kubectl, ROUTED).await;
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("places.mmdb");
    let here = [("127.0.0.0/8", Some("IE"), Some("EU"))];
    std::fs::write(&file, testkit::geo_database::places(&here)).unwrap();
    let flags = ["--geo-database", file.to_str().unwrap()];
    let running = Running::start_with(&plane, Identity::Admin, &flags).await;
    running.answers("www.example.org", "192.0.2.2").await;
    running.stop().await;

    let running = Running::start(&plane, Identity::Admin).await;
    running.answers("www.example.org", "192.0.2.1").await;
    running.stop().await;

    let mut command = zonewright(&["run", "--dns", "127.0.0.1:0", "--geo-database", "/dev/null"]);
    command.arg("--kubeconfig");
    command.arg(plane.kubeconfig(Identity::Admin));
    let refused = command.output().await.expect("it runs");
    assert_eq!(refused.status.code(), Some(1));
    let told = "choose another with --geo-database";
    assert!(text(&refused).contains(told), "{}", text(&refused));
}
