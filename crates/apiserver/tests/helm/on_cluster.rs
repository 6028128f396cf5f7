//! Charts on the embedded API and on kube-apiserver.
//!
//! What helm does works when it is done in JSON, as a program on helm's own library can (`conformance/helm`): releases, hooks,
//! upgrades and rollbacks leave the same objects. helm itself stores its releases in protocol buffers, which the embedded API
//! does not speak: it is told so before it has made anything, and what it renders can be applied.

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
async fn releases_of_helms_library_come_and_go_alike_when_it_speaks_json() {
    let releases = program(clients::releases).await;
    let commands = [
        "--chart {chart} install shop",
        "--chart {chart} install shop",
        "list",
        "--chart {chart} --set greeting=hello,replicas=2,second=www upgrade shop",
        "--chart {chart} --set replicas=-1,second=www upgrade shop",
        "rollback shop 1",
        "--chart {chart} --set greeting=merged,second=www --client-side upgrade shop",
        "history shop",
        "get shop",
        "uninstall shop",
        "list",
        "get shop",
        "--chart {chart} --client-side install other",
        "--chart {chart} --client-side --set replicas=3 upgrade other",
        "uninstall other",
    ];
    let told = check("helm-releases", &commands.map(|words| (&*releases, words))).await;
    let codes: Vec<_> = told.iter().map(|told| told.code.unwrap_or(-1)).collect();
    // One name twice, a number below zero, and a release that is gone.
    assert_eq!(
        codes,
        [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        "{told:?}"
    );
    for (place, words) in [
        (0, "Kinds of names are there"),
        (4, "must be greater than or equal to 0"),
        (7, "Rollback to 1"),
    ] {
        let Finished { stdout, stderr, .. } = &told[place];
        let there = stdout.contains(words) || stderr.contains(words);
        assert!(there, "{words} is not in {stdout}{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn helm_itself_reads_and_renders_alike() {
    let (helm, releases) = tokio::join!(program(clients::helm), program(clients::releases));
    let commands = [
        (&*helm, "list"),
        (&*helm, "status shop"),
        (&*helm, "template shop {chart} --set second=www --validate"),
        (&*helm, "install shop {chart} --dry-run=server"),
        (&*releases, "--chart {chart} --set second=www install shop"),
        // Not `status`, which lists objects in the order of a map.
        (&*helm, "list"),
        (&*helm, "history shop"),
        (&*helm, "get manifest shop"),
        (&*helm, "get all shop"),
        (&*helm, "upgrade shop {chart} --dry-run=server"),
    ];
    let told = check("helm-reads", &commands).await;
    let codes: Vec<_> = told.iter().map(|told| told.code.unwrap_or(-1)).collect();
    assert_eq!(codes, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], "{told:?}");
    let rendered = &told[3].stdout;
    assert!(rendered.contains("Kinds of names are there"), "{rendered}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn helm_itself_is_told_that_protocol_buffers_are_not_spoken_before_it_makes_anything() {
    const WHY: &str = "the body of the request was in an unknown format - accepted media types include: \
                       application/json, application/yaml";
    let (helm, releases) = tokio::join!(program(clients::helm), program(clients::releases));
    let ours = Side::embedded("helm-itself").await;
    let refused = async |words: &str| {
        let refused = ours.run(&helm, words).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(WHY), "{refused:?}");
        ours.objects().await
    };
    let nothing = ours.objects().await;
    assert_eq!(refused("install shop {chart}").await, nothing);
    for words in [
        "--chart {chart} install shop",
        "--chart {chart} upgrade shop",
    ] {
        let stored = ours.run(&releases, words).await;
        stored.success().expect("JSON is spoken");
    }
    let stored = ours.objects().await;
    let upgraded = refused("upgrade shop {chart} --set second=www").await;
    assert_eq!(upgraded, stored);
    assert_eq!(refused("rollback shop 1").await, stored);
    // This one removes first, and stores that it did afterwards.
    refused("uninstall shop").await;
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
