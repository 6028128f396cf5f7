//! The two APIs, each of which can be ended and started again at the same address and over the same data.

use std::env;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};
use kube::config::KubeConfigOptions;
use kube::{Client, Config};
use serde_json::json;
use tempfile::TempDir;
use testkit::control_plane::{ControlPlane, Identity};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::script::NAMESPACE;

/// Set for the process that is the embedded API: its folder.
const SERVE: &str = "ZONEWRIGHT_TEST_SERVE";
/// Set for the same process: where it listens.
const PORT: &str = "ZONEWRIGHT_TEST_PORT";

/// What it says when it can be asked.
const SERVING: &str = "serving";

/// Longer than a start or an end takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

/// How an API comes to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// It is asked to.
    Stop,
    /// It is not.
    Kill,
}

/// An API that can be ended and started again.
pub(crate) enum Home {
    Embedded(Box<Embedded>),
    Real(Box<ControlPlane>),
}

impl Home {
    /// Ours, in a process of its own which is the running test once more.
    pub(crate) async fn embedded(test: &'static str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let port = free_port();
        let process = start(test, folder.path(), port).await;
        Self::Embedded(Box::new(Embedded {
            test,
            process,
            port,
            folder,
        }))
    }

    pub(crate) async fn real() -> Self {
        let plane = ControlPlane::start().await;
        Self::Real(Box::new(
            plane.unwrap_or_else(|error| panic!("no control plane: {error}")),
        ))
    }

    /// How it is called in what is printed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Embedded(_) => "embedded",
            Self::Real(_) => "real",
        }
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        match self {
            Self::Embedded(embedded) => kubeconfig(embedded.folder.path()),
            Self::Real(plane) => plane.kubeconfig(Identity::Admin),
        }
    }

    /// A client over TLS, for as long as this life of the API lasts.
    pub(crate) async fn client(&self) -> Client {
        let kubeconfig = kube::config::Kubeconfig::read_from(self.kubeconfig());
        let kubeconfig = kubeconfig.expect("the API writes a kubeconfig");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        Client::try_from(config.expect("it is whole")).expect("it can be used")
    }

    /// Ends it and starts it again. kube-apiserver is killed either way, and etcd with it if there is no asking.
    pub(crate) async fn restart(&mut self, end: End) {
        match (self, end) {
            (Self::Embedded(embedded), end) => embedded.restart(end).await,
            (Self::Real(plane), End::Stop) => {
                plane.restart_api_server().await.expect("it starts again");
            }
            (Self::Real(plane), End::Kill) => {
                plane.restart_servers().await.expect("they start again");
            }
        }
    }
}

/// The embedded API, its port and its data.
pub(crate) struct Embedded {
    test: &'static str,
    process: Child,
    port: u16,
    folder: TempDir,
}

impl Embedded {
    async fn restart(&mut self, end: End) {
        match end {
            End::Stop => drop(self.process.stdin.take()),
            End::Kill => self.process.start_kill().expect("it runs"),
        }
        let ended = timeout(SOON, self.process.wait()).await;
        ended.expect("it ends").expect("it can be waited for");
        self.process = start(self.test, self.folder.path(), self.port).await;
    }
}

/// Makes the namespace that everything is in.
pub(crate) async fn make_namespace(client: &Client) {
    let namespace = json!({ "metadata": { "name": NAMESPACE } });
    let namespace: Namespace = serde_json::from_value(namespace).expect("it is one");
    let namespaces = Api::all(client.clone());
    let made = namespaces.create(&PostParams::default(), &namespace).await;
    made.expect("there is no such namespace yet");
}

/// Serves until standard input ends, if this process was started for that.
pub(crate) async fn serve_if_told() -> bool {
    let (Some(folder), Some(port)) = (env::var_os(SERVE), env::var(PORT).ok()) else {
        return false;
    };
    let folder = PathBuf::from(folder);
    let options = Options {
        data: Some(folder.join("data")),
        ..Options::default()
    };
    let mut apiserver = Apiserver::open(options).await.expect("it opens");
    let port: u16 = port.parse().expect("a port is a number");
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let admin = Kubeconfig {
        path: kubeconfig(&folder),
        credential: AdminCredential::Certificate,
    };
    apiserver.listen(listener, admin).expect("it listens");
    println!("\n{SERVING}");
    let until_it_ends = || io::copy(&mut io::stdin(), &mut io::sink());
    let _ended = tokio::task::spawn_blocking(until_it_ends).await;
    apiserver.shutdown(Duration::from_secs(2)).await;
    true
}

async fn start(test: &str, folder: &Path, port: u16) -> Child {
    let program = env::current_exe().expect("this program has a path");
    let mut command = Command::from(testkit::mortal(&program));
    command
        .args(["--exact", test, "--nocapture"])
        .env(SERVE, folder)
        .env(PORT, port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().expect("this program can be run again");
    let output = child.stdout.take().expect("it was asked for as a pipe");
    let mut lines = BufReader::new(output).lines();
    let serving = async {
        while let Some(line) = lines.next_line().await.expect("it speaks UTF-8") {
            if line == SERVING {
                return true;
            }
        }
        false
    };
    let serving = timeout(SOON, serving).await;
    assert_eq!(serving, Ok(true), "the embedded API starts");
    // The harness has a few words to say at the end; nobody reads them, and they must not stop it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    child
}

fn kubeconfig(folder: &Path) -> PathBuf {
    folder.join("kubeconfig")
}

/// A port that was free a moment ago. The API keeps it over its lives, so somebody has to choose it.
fn free_port() -> u16 {
    let held = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    held.local_addr().expect("it is bound").port()
}
