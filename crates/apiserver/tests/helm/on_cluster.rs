//! Charts on the embedded API and on kube-apiserver: what helm does leaves the same objects and is told in the same words.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;

use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use kube::Client;
use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;
use testkit::control_plane::build::BuildError;
use testkit::control_plane::{self, Finished, Identity, Kubectl, clients, finish};
use tokio::process::Command;
use tokio::task::spawn_blocking;

/// One of the two APIs, and what speaks to it.
struct Side {
    /// Ours; it is there as long as the value is.
    _apiserver: Option<Apiserver>,
    folder: TempDir,
    kubeconfig: PathBuf,
    kubectl: Kubectl,
    namespace: &'static str,
}

impl Side {
    async fn embedded(namespace: &'static str) -> Self {
        let mut apiserver = Apiserver::open(Options::default()).await.expect("it opens");
        let folder = TempDir::new().expect("a temporary folder");
        let kubeconfig = folder.path().join("kubeconfig");
        let admin = Kubeconfig {
            path: kubeconfig.clone(),
            credential: AdminCredential::Certificate,
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        apiserver.listen(listener, admin).expect("it listens");
        let programs = control_plane::build::programs();
        let kubectl = programs
            .unwrap_or_else(|error| panic!("no control plane: {error}"))
            .kubectl();
        let kubectl = Kubectl::new(kubectl, kubeconfig.clone(), folder.path().join("cache"));
        let client = apiserver.client();
        let side = Self {
            _apiserver: Some(apiserver),
            folder,
            kubeconfig,
            kubectl,
            namespace,
        };
        side.prepare(&client).await
    }

    async fn real(namespace: &'static str) -> Self {
        let plane = control_plane::shared().await;
        let side = Self {
            _apiserver: None,
            folder: TempDir::new().expect("a temporary folder"),
            kubeconfig: plane.kubeconfig(Identity::Admin),
            kubectl: plane.kubectl(Identity::Admin),
            namespace,
        };
        side.prepare(&plane.client(Identity::Admin)).await
    }

    /// With our kinds and a namespace.
    async fn prepare(self, client: &Client) -> Self {
        let installed = testkit::crds::install(client, &api::crds::all()).await;
        installed.expect("our kinds can be installed");
        let namespace = self.namespace;
        let made = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}");
        let made = self.kubectl.run_with_input(["create", "-f", "-"], &made);
        let made = made.await.expect("kubectl runs").success();
        made.expect("there is no such namespace yet");
        self
    }

    /// Runs a client with these words, the chart by its path.
    async fn run(&self, program: &Path, words: &str) -> Finished {
        let chart = chart();
        let mut command = Command::new(program);
        command
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["--namespace", self.namespace])
            .args(words.split_whitespace().map(|word| match word {
                "{chart}" => chart.as_os_str(),
                word => word.as_ref(),
            }))
            // Nothing of the user's own is read, nothing is left in their home.
            .env_clear()
            .env("HOME", self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let done = finish(command, "").await.expect("the client runs");
        Finished {
            stdout: without_times(&done.stdout),
            stderr: without_times(&done.stderr),
            ..done
        }
    }

    /// Every object of the kinds that the chart has, made comparable.
    async fn objects(&self) -> Value {
        const KINDS: &str =
            "configmaps,secrets,services,deployments.apps,zones.kubi.zone,records.kubi.zone";
        let words = ["get", KINDS, "-o", "json", "--show-managed-fields"];
        let words = words.into_iter().chain(["--namespace", self.namespace]);
        let got = self.kubectl.run(words).await.expect("kubectl runs");
        let got = got.success().expect("the kinds are there");
        let mut objects: Value = serde_json::from_str(&got).expect("it is JSON");
        for object in objects["items"].as_array_mut().into_iter().flatten() {
            make_comparable(object);
        }
        objects
    }
}

fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/helm/chart")
}

async fn program(build: fn() -> Result<PathBuf, BuildError>) -> PathBuf {
    let built = spawn_blocking(build)
        .await
        .expect("building does not panic");
    built.unwrap_or_else(|error| panic!("no clients: {error}"))
}

/// When something was done, as helm prints it.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    let plain = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000 UTC";
    let spoken = r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}";
    let logged = r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d";
    Regex::new(&format!(r"(?:{plain}|{spoken}|{logged})\s*")).expect("a constant")
});

/// What fills up a cell: tables are as wide as the times in them.
static SPACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" +\t").expect("a constant"));

fn without_times(text: &str) -> String {
    let timeless = TIME.replace_all(text, "<time> ");
    SPACE.replace_all(&timeless, "\t").into_owned()
}

/// Takes away what a server or a clock chose.
fn make_comparable(object: &mut Value) {
    if object["type"] == "helm.sh/release.v1" {
        // Packed, with times in it.
        object["data"]["release"] = "<release>".into();
    }
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    for chosen in ["uid", "resourceVersion", "creationTimestamp"] {
        metadata.remove(chosen);
    }
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        for time in ["createdAt", "modifiedAt"] {
            labels.entry(time).and_modify(|at| *at = "<time>".into());
        }
    }
    if let Some(entries) = metadata
        .get_mut("managedFields")
        .and_then(Value::as_array_mut)
    {
        for entry in entries.iter_mut() {
            entry["time"] = "<time>".into();
        }
        entries.sort_by_key(ToString::to_string);
    }
}

/// Each command ends the same, prints the same and leaves the same objects on both sides; its output on the real one.
async fn check(namespace: &'static str, commands: &[(&Path, &str)]) -> Vec<Finished> {
    let (ours, theirs) = tokio::join!(Side::embedded(namespace), Side::real(namespace));
    let mut told = Vec::new();
    for (program, words) in commands {
        let (one, other) = tokio::join!(ours.run(program, words), theirs.run(program, words));
        assert_eq!(one, other, "{words}");
        let (one, real) = tokio::join!(ours.objects(), theirs.objects());
        assert_eq!(one, real, "{words}");
        told.push(other);
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_come_and_go_alike() {
    let helm = program(clients::helm).await;
    let commands = [
        "list",
        "status shop",
        "template shop {chart} --set second=www --validate",
        "install shop {chart} --dry-run=server",
        "install shop {chart}",
        "install shop {chart}",
        "list",
        "upgrade shop {chart} --set greeting=hello,replicas=2,second=www --dry-run=server",
        "upgrade shop {chart} --set greeting=hello,replicas=2,second=www",
        "get manifest shop",
        "get all shop",
        "upgrade shop {chart} --set port=0,second=www",
        "rollback shop 1",
        "upgrade shop {chart} --set greeting=merged,second=www --server-side=false",
        "history shop",
        "uninstall shop",
        "list",
        "get all shop",
        "install other {chart} --server-side=false",
        "upgrade other {chart} --server-side=false --set replicas=3",
        "uninstall other",
    ];
    let told = check("helm-releases", &commands.map(|words| (&*helm, words))).await;
    let codes: Vec<_> = told.iter().map(|told| told.code.unwrap_or(-1)).collect();
    // A release that is not there yet, one name twice, a number below zero, and a release that is gone.
    assert_eq!(
        codes,
        [
            0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0
        ],
        "{told:?}"
    );
    for (place, words) in [
        (3, "Kinds of names are there"),
        (4, "Kinds of names are there"),
        (11, "must be between 1 and 65535"),
        (14, "Rollback to 1"),
    ] {
        let Finished { stdout, stderr, .. } = &told[place];
        let there = stdout.contains(words) || stderr.contains(words);
        assert!(there, "{words} is not in {stdout}{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_helm_renders_is_applied_alike() {
    let helm = program(clients::helm).await;
    let namespace = "helm-applied";
    let (ours, theirs) = tokio::join!(Side::embedded(namespace), Side::real(namespace));
    let apply = async |side: &Side, values: &str| {
        let words = format!("template shop {{chart}} --no-hooks {values}");
        let rendered = side.run(&helm, &words).await.success();
        let rendered = rendered.expect("the chart can be rendered");
        let words = [
            "--namespace",
            namespace,
            "apply",
            "--server-side",
            "-f",
            "-",
        ];
        let applied = side.kubectl.run_with_input(words, &rendered).await;
        (applied.expect("kubectl runs"), side.objects().await)
    };
    for values in ["", "--set greeting=hello,second=www"] {
        let (one, other) = tokio::join!(apply(&ours, values), apply(&theirs, values));
        assert_eq!(one.0.code, Some(0), "{one:?}");
        assert_eq!(one, other);
    }
}
