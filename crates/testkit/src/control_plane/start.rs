//! From built programs to a control plane that answers.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use http::Request;
use kube::Client;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::ControlPlane;
use super::build::{self, Programs};
use super::credentials::{
    Credentials, Identity, SERVER_CERTIFICATE, SERVER_KEY, SERVICE_ACCOUNT_KEY,
    SERVICE_ACCOUNT_PUBLIC_KEY, TOKENS,
};
use super::runs::Run;
use crate::process::Process;
use crate::start::{self, StartError, system};

/// A start takes three seconds on an idle machine; the rest is for one that is busy building.
const READY_WITHIN: Duration = Duration::from_secs(90);

/// A server that is ready says so at once.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// What runs in kube-controller-manager. The third is there because the built-in roles `admin`,
/// `edit` and `view` are empty until it has filled them.
const CONTROLLERS: &str =
    "garbage-collector-controller,namespace-controller,clusterrole-aggregation-controller";

/// Whether etcd waits for its disk before it acknowledges a write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Writes {
    /// It does, as in a cluster that matters.
    Durable,
    /// The data is thrown away in the end; nobody waits for a disk.
    Careless,
}

pub(super) async fn start(writes: Writes) -> Result<ControlPlane, StartError> {
    let programs = spawn_blocking(build::programs)
        .await
        .expect("building does not panic")
        .map_err(StartError::missing)?;
    start::start(async || {
        let ports = Ports::free().map_err(system("free ports"))?;
        start_once(&programs, ports, writes).await
    })
    .await
}

/// Ends the API server as a crash would, and starts it again.
pub(super) async fn restart_api_server(plane: &mut ControlPlane) -> Result<(), StartError> {
    plane.api_server.end();
    plane.api_server = api_server(&plane.programs, plane.run.path(), &plane.ports)
        .map_err(system("kube-apiserver"))?;
    let admin = plane.credentials.client(Identity::Admin, &plane.url);
    let processes = &mut [&mut plane.etcd, &mut plane.api_server];
    ready(&admin, "/readyz", processes).await
}

/// Ends the API server and etcd as a crash would, and starts both again over the same data.
pub(super) async fn restart_servers(plane: &mut ControlPlane) -> Result<(), StartError> {
    plane.api_server.end();
    plane.etcd.end();
    plane.etcd =
        etcd(&plane.programs, &plane.run, &plane.ports, plane.writes).map_err(system("etcd"))?;
    restart_api_server(plane).await
}

async fn start_once(
    programs: &Programs,
    ports: Ports,
    writes: Writes,
) -> Result<ControlPlane, StartError> {
    let mut run = Run::begin().map_err(system("the directory of the run"))?;
    let credentials = Credentials::create(run.path()).map_err(StartError::missing)?;
    let url = format!("https://127.0.0.1:{}", ports.api_server);
    credentials
        .write_kubeconfigs(run.path(), &url)
        .map_err(system("kubeconfig files"))?;

    // The API server waits for etcd by itself, so both start at once. Should a stranger have etcd's
    // port, ours ends long before the API server is ready, and is seen to.
    let mut etcd = etcd(programs, &run, &ports, writes).map_err(system("etcd"))?;
    let mut api_server =
        api_server(programs, run.path(), &ports).map_err(system("kube-apiserver"))?;
    let admin = credentials.client(Identity::Admin, &url);
    ready(&admin, "/readyz", &mut [&mut etcd, &mut api_server]).await?;

    let mut controllers = controller_manager(programs, run.path(), &ports)
        .map_err(system("kube-controller-manager"))?;
    let controllers_url = format!("https://127.0.0.1:{}", ports.controller_manager);
    let prober = credentials.client(Identity::ControllerManager, &controllers_url);
    ready(
        &prober,
        "/healthz",
        &mut [&mut api_server, &mut controllers],
    )
    .await?;

    run.is_up();
    Ok(ControlPlane {
        _controller_manager: controllers,
        api_server,
        etcd,
        programs: programs.clone(),
        credentials,
        ports,
        writes,
        url,
        run,
    })
}

/// Ports that were free a moment ago. Who comes too late is told by the program that lost its port.
#[derive(Debug)]
pub(super) struct Ports {
    etcd_client: u16,
    etcd_peer: u16,
    api_server: u16,
    controller_manager: u16,
}

impl Ports {
    fn free() -> io::Result<Self> {
        let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        // All are held until all are known, so that they differ.
        let held = [listen()?, listen()?, listen()?, listen()?];
        let port = |index: usize| held[index].local_addr().map(|address| address.port());
        Ok(Self {
            etcd_client: port(0)?,
            etcd_peer: port(1)?,
            api_server: port(2)?,
            controller_manager: port(3)?,
        })
    }
}

fn etcd(programs: &Programs, run: &Run, ports: &Ports, writes: Writes) -> io::Result<Process> {
    let client = format!("http://127.0.0.1:{}", ports.etcd_client);
    let peer = format!("http://127.0.0.1:{}", ports.etcd_peer);
    let mut arguments = vec![
        format!("--data-dir={}", run.data().display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
    ];
    match writes {
        Writes::Durable => {}
        Writes::Careless => arguments.push("--unsafe-no-fsync".to_owned()),
    }
    Process::spawn("etcd", &programs.etcd(), arguments, run.path())
}

fn api_server(programs: &Programs, directory: &Path, ports: &Ports) -> io::Result<Process> {
    let arguments = [
        format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd_client),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={}", ports.api_server),
        // Otherwise it looks for a default route, which a machine without a network does not have.
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--tls-cert-file={SERVER_CERTIFICATE}"),
        format!("--tls-private-key-file={SERVER_KEY}"),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={SERVICE_ACCOUNT_PUBLIC_KEY}"),
        format!("--service-account-signing-key-file={SERVICE_ACCOUNT_KEY}"),
        "--authorization-mode=RBAC".to_owned(),
        format!("--token-auth-file={TOKENS}"),
    ];
    Process::spawn(
        "kube-apiserver",
        &programs.kube_apiserver(),
        arguments,
        directory,
    )
}

fn controller_manager(programs: &Programs, directory: &Path, ports: &Ports) -> io::Result<Process> {
    let arguments = [
        format!("--kubeconfig={}", Identity::ControllerManager.kubeconfig()),
        format!("--controllers={CONTROLLERS}"),
        // As in real clusters each controller has a service account that admission can tell apart.
        "--use-service-account-credentials=true".to_owned(),
        "--leader-elect=false".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={}", ports.controller_manager),
        format!("--tls-cert-file={SERVER_CERTIFICATE}"),
        format!("--tls-private-key-file={SERVER_KEY}"),
    ];
    let program = programs.kube_controller_manager();
    Process::spawn("kube-controller-manager", &program, arguments, directory)
}

/// Waits until `path` answers with success; fails at once when one of `processes` has ended.
async fn ready(
    client: &Client,
    path: &'static str,
    processes: &mut [&mut Process],
) -> Result<(), StartError> {
    start::ready(path, READY_WITHIN, processes, async || {
        ask(client, path).await
    })
    .await
}

/// A stranger on our port may take the connection and say nothing, so each answer has a deadline.
async fn ask(client: &Client, path: &str) -> Result<(), String> {
    let request = Request::get(path)
        .body(Vec::new())
        .map_err(|error| error.to_string())?;
    match timeout(ANSWER_WITHIN, client.request_text(request)).await {
        Ok(answer) => answer.map(|_| ()).map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {ANSWER_WITHIN:?}")),
    }
}

#[cfg(test)]
mod on_cluster {
    use super::*;

    /// Holds the chosen port of an otherwise good set: the start fails for that reason.
    async fn check(choose: impl Fn(&Ports) -> u16) {
        let programs = spawn_blocking(build::programs).await.unwrap().unwrap();
        let ports = Ports::free().unwrap();
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, choose(&ports))).unwrap();
        let error = start_once(&programs, ports, Writes::Careless)
            .await
            .unwrap_err();
        let told = matches!(&error, StartError::Exited(exited) if exited.port_was_taken());
        assert!(told, "{error}");
    }

    #[tokio::test]
    async fn a_port_that_was_taken_meanwhile_is_recognised_whosever_it_was() {
        check(|ports| ports.etcd_client).await;
        check(|ports| ports.etcd_peer).await;
        check(|ports| ports.api_server).await;
        check(|ports| ports.controller_manager).await;
    }
}
