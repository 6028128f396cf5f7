//! An API with our kinds for the commands that talk to one, and the commands run against it.
//!
//! It is the API of `zonewright up` alone: no controller is there to change what a test has written.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use http::Request;
use kube::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

/// An API for one test.
pub(crate) struct Cluster {
    pub(crate) client: Client,
    pub(crate) kubeconfig: PathBuf,
    /// Where commands run: empty, so that nothing but their arguments counts.
    pub(crate) directory: TempDir,
    _server: Apiserver,
}

impl Cluster {
    /// An API that knows our kinds and the namespaces `dns` and `web`.
    pub(crate) async fn start() -> Cluster {
        let cluster = Cluster::without_kinds().await;
        for definition in api::crds::all() {
            let definition = serde_json::to_value(definition).expect("plain data");
            cluster
                .create(
                    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                    &definition,
                )
                .await;
        }
        for name in ["dns", "web"] {
            let namespace =
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
            cluster.create("/api/v1/namespaces", &namespace).await;
        }
        cluster
    }

    pub(crate) async fn without_kinds() -> Cluster {
        let directory = TempDir::new().expect("a temporary directory");
        let kubeconfig = directory.path().join("admin.kubeconfig");
        let mut server = Apiserver::open(Options::default()).await.expect("it opens");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let shown = Kubeconfig {
            path: kubeconfig.clone(),
            credential: AdminCredential::Certificate,
        };
        server.listen(listener, shown).expect("it listens");
        Cluster {
            client: server.client(),
            kubeconfig,
            directory,
            _server: server,
        }
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) -> Value {
        self.send(Request::post(path), "application/json", object)
            .await
    }

    /// Writes the status of an object, as a controller would.
    pub(crate) async fn set_status(&self, path: &str, status: &Value) -> Value {
        let patch = json!({ "status": status });
        let request = Request::patch(format!("{path}/status"));
        self.send(request, "application/merge-patch+json", &patch)
            .await
    }

    pub(crate) async fn delete(&self, path: &str) {
        self.send(Request::delete(path), "application/json", &json!({}))
            .await;
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.send(Request::get(path), "application/json", &Value::Null)
            .await
    }

    async fn send(&self, request: http::request::Builder, media_type: &str, body: &Value) -> Value {
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = request
            .header("content-type", media_type)
            .body(body)
            .expect("a request");
        self.client
            .request(request)
            .await
            .expect("the API takes it")
    }

    /// Runs a command against this API, to its end.
    pub(crate) async fn zonewright(&self, args: &[&str], stdin: &str) -> Output {
        let kubeconfig = self.kubeconfig.to_str().expect("text");
        self.zonewright_bare(&[args, &["--kubeconfig", kubeconfig]].concat(), stdin)
            .await
    }

    /// Runs a command that finds its API by itself, to its end.
    pub(crate) async fn zonewright_bare(&self, args: &[&str], stdin: &str) -> Output {
        let mut command = command(args);
        command
            .current_dir(self.directory.path())
            .env("HOME", self.directory.path());
        let stdin = stdin.to_owned();
        let run = move || {
            let mut child = command.spawn().expect("the binary was built");
            let mut input = child.stdin.take().expect("piped");
            // What ends before it has read everything says why by itself.
            let _ = input.write_all(stdin.as_bytes());
            drop(input);
            child.wait_with_output().expect("it ends")
        };
        tokio::task::spawn_blocking(run).await.expect("it runs")
    }
}

/// A command without variables that would change the outcome.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("ZONEWRIGHT_") || name.starts_with("KUBE") {
            command.env_remove(name);
        }
    }
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Standard output and standard error of a command that ended with `code`.
#[track_caller]
pub(crate) fn told(output: &Output, code: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{stdout}\n{stderr}");
    (stdout, stderr)
}
