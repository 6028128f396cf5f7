//! `zonewright run` beside a real kube-apiserver, with the rights we ask for and no others.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use testkit::control_plane::{ControlPlane, Identity, Kubectl};
use testkit::eventually;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::bind::Bind;
use crate::claims;
use crate::hand::{Hand, hosts, ingress, is_managed, object, only_host, refusal, rule, value};
use crate::locks;
use crate::stage::{MANAGED, SOON, example, until_answer};
use crate::window::Watched;

const RBAC: &str = include_str!("../../../../deploy/rbac.yaml");

const DOMAIN: &str = "www.example.com";

/// A `zonewright run` that listens.
struct Running {
    child: Child,
    http: SocketAddr,
    dns: SocketAddr,
}

impl Running {
    async fn start(plane: &ControlPlane, resolver: SocketAddr) -> Running {
        let mut command = testkit::mortal(Path::new(env!("CARGO_BIN_EXE_zonewright")));
        command
            .args(["run", "--dns", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .args(["--webhook", "127.0.0.1:0", "--managed-domain", MANAGED])
            .args(["--resolver", &resolver.to_string()])
            .args(["--log-format", "json", "--kubeconfig"])
            .arg(plane.kubeconfig(Identity::ServiceAccount));
        let mut command = Command::from(command);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let running = timeout(SOON, async {
            loop {
                let line = lines.next_line().await.expect("text").expect("a line");
                let told: Value = serde_json::from_str(&line).expect(&line);
                if told["message"] == "Running" {
                    return told;
                }
            }
        });
        let running = running.await.expect("it tells where it listens");
        // If nobody read on, it would wait for room in the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let address = |field: &str| running[field].as_str().unwrap().parse().unwrap();
        Running {
            child,
            http: address("http"),
            dns: address("dns"),
        }
    }

    /// Ends it as a crash would.
    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    async fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.http).await.unwrap();
        let request = "GET /metrics HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

async fn apply(kubectl: &Kubectl, manifest: &str) {
    let args = ["apply", "--server-side", "-f", "-"];
    let applied = kubectl.run_with_input(args, manifest).await;
    applied.unwrap().success().unwrap();
}

/// Waits until the API asks us: what would be created is not what was sent.
async fn until_asked(hand: &Hand) {
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let probe = object(&ingress("probe", &["probe.example.com"]));
    let asked = eventually(SOON, "the API to ask us", async || {
        let shown = hand.ingresses("shop").create(&dry, &probe).await;
        let shown = shown.map_err(|error| error.to_string())?;
        let hosts = hosts(&value(shown));
        if hosts.iter().all(|it| is_managed(it)) {
            Ok(())
        } else {
            Err(hosts.join(" "))
        }
    });
    asked.await.unwrap();
}

/// V10: whatever would need an answer fails, and whatever stands goes on standing.
async fn nothing_leaks_while_nobody_answers(tenant: &Hand) {
    let before = tenant.ingress("shop", "web").await;
    let refused = tenant
        .try_create("shop", &ingress("leak", &["bank.example.org"]))
        .await;
    let told = refused.unwrap_err();
    assert!(told.message.contains("failed calling webhook"), "{told:?}");
    let leak = json!({ "spec": { "rules": [rule(Some("bank.example.org"))] } });
    let ingresses = tenant.ingresses("shop");
    let by = PatchParams::default();
    let patched = ingresses.patch("web", &by, &Patch::Merge(leak)).await;
    let told = refusal(patched.unwrap_err());
    assert!(told.message.contains("failed calling webhook"), "{told:?}");
    let claims = tenant.verifications("shop");
    let proof = Patch::Merge(json!({ "status": { "proof": "x" } }));
    refusal(claims.patch_status(DOMAIN, &by, &proof).await.unwrap_err());
    let how = DeleteParams::default();
    refusal(claims.delete(DOMAIN, &how).await.unwrap_err());
    assert_eq!(tenant.ingress("shop", "web").await, before);
    assert!(ingresses.get_opt("leak").await.unwrap().is_none());
    assert!(claims.get_opt("bank.example.org").await.unwrap().is_none());
}

/// A control plane with our kinds, the zones of the example, and a tenant.
async fn prepared() -> ControlPlane {
    let plane = ControlPlane::start().await.unwrap();
    let kubectl = plane.kubectl(Identity::Admin);
    plane.install(&api::crds::all()).await.unwrap();
    apply(&kubectl, RBAC).await;
    apply(
        &kubectl,
        &std::fs::read_to_string(example("dns-zones.yaml")).unwrap(),
    )
    .await;
    plane.bind_tenant("shop").await.unwrap();
    plane
}

/// V1, V2, V7, V8, F6.
#[tokio::test]
async fn in_a_cluster_every_host_can_be_proven_by_itself_whenever_it_came() {
    let plane = prepared().await;
    let tenant = Hand::new(plane.client(Identity::Tenant));
    let old = claims::create_ungated(&tenant).await;
    let bind = Mutex::new(Bind::start().await);
    let _running = Running::start(&plane, bind.lock().await.address()).await;
    let prove = async |domain: &str, name: &str| {
        let (record, token) = tenant.txt_record("shop", domain).await;
        let text = format!("{record} IN TXT \"{token}\"");
        bind.lock().await.serve(&text).await;
        tenant.check("shop", name, "now").await;
        tenant.until_verified("shop", domain).await;
    };
    claims::older_is_gated_and_comes_back(&tenant, &old, &prove).await;
    claims::a_host_below_an_unproven_claim_is_proven_by_itself(&tenant, &prove).await;
}

/// V1–V10.
#[tokio::test]
async fn in_a_cluster_hosts_wait_are_proven_and_served_and_nothing_leaks_while_we_are_down() {
    let plane = prepared().await;
    let mut bind = Bind::start().await;
    let running = Running::start(&plane, bind.address()).await;
    let admin = Hand::new(plane.client(Identity::Admin));
    let tenant = Hand::new(plane.client(Identity::Tenant));
    until_asked(&tenant).await;

    let watched = Watched::start(&admin.client).await;
    let mut manifest = ingress("web", &[DOMAIN]);
    manifest["spec"]["tls"] = json!([{ "hosts": [DOMAIN], "secretName": "www-tls" }]);
    let web = tenant.create("shop", &manifest).await;
    let managed = only_host(&web);
    assert!(web["spec"]["tls"].is_null(), "{web}");
    let (name, token) = tenant.txt_record("shop", DOMAIN).await;
    let balancer = json!({ "ingress": [{ "ip": "192.0.2.60" }] });
    let status = Patch::Merge(json!({ "status": { "loadBalancer": balancer } }));
    let by = PatchParams::default();
    let ingresses = admin.ingresses("shop");
    ingresses.patch_status("web", &by, &status).await.unwrap();
    let reached = |it: &str| it == "NOERROR 192.0.2.60";
    until_answer(running.dns, &managed, reached).await;
    locks::holds(&tenant).await;
    locks::holds(&admin).await;

    bind.serve(&format!("{name} IN TXT \"{token}\"")).await;
    tenant.check("shop", "web", "now").await;
    tenant.until_verified("shop", DOMAIN).await;
    let rules = json!([rule(Some(DOMAIN)), rule(Some(&managed))]);
    let back = |it: &Value| it["spec"]["rules"] == rules;
    let back = tenant.until_ingress("shop", "web", back).await;
    assert_eq!(back["spec"]["tls"], manifest["spec"]["tls"]);
    let metrics = running.metrics().await;
    let refused = metrics.lines().find(|it| it.contains("result=\"refused\""));
    assert_eq!(refused, None, "everything we write we may write");

    running.kill().await;
    nothing_leaks_while_nobody_answers(&tenant).await;

    let running = Running::start(&plane, bind.address()).await;
    until_asked(&tenant).await;
    let below = ingress("below", &["a.www.example.com"]);
    let below = tenant.create("shop", &below).await;
    assert_eq!(
        hosts(&below),
        ["a.www.example.com"],
        "what was proven is proven"
    );
    let waits = tenant
        .create("shop", &ingress("last", &["b.example.com"]))
        .await;
    only_host(&waits);
    let last = |it: &Value| it["metadata"]["name"] == "last";
    watched.ingresses.until("the last Ingress", last).await;
    tenant.delete("shop", "below").await;
    tenant.delete("shop", "last").await;
    tenant.delete("shop", "web").await;
    let claims = tenant.verifications("shop");
    for domain in [DOMAIN, "b.example.com"] {
        tenant.until_gone(&claims, domain).await;
    }
    until_answer(running.dns, &managed, |it| it == "NXDOMAIN").await;
    watched.never_served_unproven(DOMAIN).await;
}
