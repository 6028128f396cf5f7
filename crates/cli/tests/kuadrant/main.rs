//! Kuadrant's end-to-end suite, as it is published, against Zonewright and a double of Route 53.
//!
//! `stage.rs` has the double, its name server and what the suite wants to find in a cluster, `zone.rs` the name server,
//! `specs.rs` runs the suite. Here is Zonewright, both ways to run it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod specs;
mod stage;
mod zone;

use std::path::Path;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use stage::{SOON, Stage};

const RBAC: &str = include_str!("../../../../deploy/rbac.yaml");

mod on_cluster {
    use std::process::Stdio;

    use testkit::control_plane::{ControlPlane, Identity};

    use super::stage::Stage;
    use super::{RBAC, told, zonewright};

    /// A, P1–P12, H: what Kuadrant's people test about their operator is so with ours.
    #[tokio::test(flavor = "multi_thread")]
    async fn kuadrants_specs_hold_beside_the_embedded_api() {
        let stage = Stage::set().await;
        let directory = tempfile::TempDir::new().unwrap();
        let mut command = zonewright(&stage, "up");
        command
            .args(["--ephemeral", "-o", "json", "--api", "127.0.0.1:0", "-f"])
            .arg(stage.manifest())
            .current_dir(directory.path())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let ready = told(child.stdout.take().unwrap(), "event", "ready").await;
        let kubeconfig = directory.path().join(ready["kubeconfig"].as_str().unwrap());
        stage.specs_hold(&kubeconfig).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn kuadrants_specs_hold_beside_a_real_control_plane() {
        let stage = Stage::set().await;
        let plane = ControlPlane::start().await.unwrap();
        plane.install(&api::crds::all()).await.unwrap();
        let kubectl = plane.kubectl(Identity::Admin);
        let manifest = std::fs::read_to_string(stage.manifest()).unwrap();
        for yaml in [RBAC, &manifest] {
            let args = ["apply", "--server-side", "-f", "-"];
            let applied = kubectl.run_with_input(args, yaml).await;
            applied.unwrap().success().unwrap();
        }
        let mut command = zonewright(&stage, "run");
        command
            .args(["--webhook", "127.0.0.1:0", "--log-format", "json"])
            .args(["--allow-endpoint", "127.0.0.1"])
            .args(["--allow-address", "127.0.0.0/8", "--kubeconfig"])
            .arg(plane.kubeconfig(Identity::ServiceAccount))
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        told(child.stderr.take().unwrap(), "message", "Running").await;
        stage.specs_hold(&plane.kubeconfig(Identity::Admin)).await;
    }
}

/// A subcommand of the program, where Route 53 is the double and nothing else is said by variables. It goes with the
/// process that it becomes.
fn zonewright(stage: &Stage, subcommand: &str) -> Command {
    let mut command = testkit::mortal(Path::new(env!("CARGO_BIN_EXE_zonewright")));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let prefixes = ["ZONEWRIGHT_", "KUBE", "AWS_"];
        if prefixes.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
        .arg(subcommand)
        .arg("--zone-discovery")
        .args(["--dns", "127.0.0.1:0", "--http", "127.0.0.1:0"])
        .env("AWS_ENDPOINT_URL", stage.route53.url());
    let mut command = Command::from(command);
    command.kill_on_drop(true);
    command
}

/// Reads lines of JSON until one has this value in this field.
async fn told(output: impl AsyncRead + Unpin + Send + 'static, field: &str, value: &str) -> Value {
    let mut lines = BufReader::new(output).lines();
    let told = timeout(SOON, async {
        loop {
            let line = lines.next_line().await.unwrap().expect("a line");
            let line: Value = serde_json::from_str(&line).expect(&line);
            if line[field] == value {
                return line;
            }
        }
    });
    let told = told.await.expect("it tells in time");
    // If nobody read on, it would wait for room in the pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    told
}
