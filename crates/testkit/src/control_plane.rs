//! A real Kubernetes control plane: etcd, kube-apiserver and kube-controller-manager on loopback,
//! and the kubectl that belongs to them.
//!
//! [`build`] makes the programs once, from `conformance/control-plane`. [`ControlPlane::start`]
//! runs them in a directory of their own, with RBAC, TLS and four identities. Tests normally take
//! [`shared()`], one control plane for a whole test binary, and keep apart by namespace.
//!
//! What runs is the API and two things that make it feel like a cluster: garbage collection by
//! owner reference and the deletion of namespaces (a third controller fills the built-in roles).
//! There are no nodes, no pods and no service accounts but those that are asked for.
//!
//! Nothing outlives its owner. Dropping a control plane stops it, and so does the end of the test
//! process, whether it returns, panics or is killed. Its directory goes with it, except after a
//! panic or a failed start; what a process could not tidy up the next one does, keeping the logs
//! for a day.

pub mod build;
pub mod clients;
pub mod gateway_api;
pub mod kuadrant;

mod credentials;
mod go;
mod kubectl;
mod module;
mod runs;
mod shared;
mod start;
mod tenant;

use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;

pub use crate::process::Exited;
pub use credentials::{CredentialsError, Identity};
pub use go::GoError;
pub use kubectl::{Finished, Kubectl, finish};
pub use shared::shared;
pub use tenant::BindError;

use crate::StartError;
use crate::crds::{self, InstallError};
use crate::process::Process;
use build::Programs;
use credentials::Credentials;
use runs::Run;
use start::{Ports, Writes};

/// A control plane that runs for as long as this value lives.
///
/// The fields are dropped in the order they are written in: who depends on another stops first, and
/// the directory goes last.
#[derive(Debug)]
pub struct ControlPlane {
    _controller_manager: Process,
    api_server: Process,
    etcd: Process,
    programs: Programs,
    credentials: Credentials,
    ports: Ports,
    writes: Writes,
    url: String,
    run: Run,
}

impl ControlPlane {
    /// Builds the programs if need be and starts them, each on a port of its own.
    ///
    /// Returns when the API server is ready and the controllers run.
    pub async fn start() -> Result<Self, StartError> {
        start::start(Writes::Careless).await
    }

    /// The same, and no write is acknowledged before it is on disk. Tests do without, and are faster.
    pub async fn start_durable() -> Result<Self, StartError> {
        start::start(Writes::Durable).await
    }

    /// The ids of the processes that store and serve: etcd's and the API server's.
    pub fn server_ids(&self) -> [u32; 2] {
        [self.etcd.id(), self.api_server.id()]
    }

    /// Ends the API server as a crash would and starts it again, at the same address and over the same etcd.
    /// Connections break; the controllers find it again by themselves.
    pub async fn restart_api_server(&mut self) -> Result<(), StartError> {
        start::restart_api_server(self).await
    }

    /// The same for etcd and the API server together.
    pub async fn restart_servers(&mut self) -> Result<(), StartError> {
        start::restart_servers(self).await
    }

    /// The API server's address, `https://127.0.0.1:<port>`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A client that speaks as `identity`.
    ///
    /// A client belongs to the async runtime that it was made on, and every test has its own: make
    /// one per test and do not keep it in a static.
    pub fn client(&self, identity: Identity) -> Client {
        self.credentials.client(identity, &self.url)
    }

    /// A kubeconfig file with which any tool speaks as `identity`.
    pub fn kubeconfig(&self, identity: Identity) -> PathBuf {
        self.run.path().join(identity.kubeconfig())
    }

    /// The kubectl of the same release, speaking as `identity`.
    pub fn kubectl(&self, identity: Identity) -> Kubectl {
        let cache = self.run.path().join("kubectl-cache");
        Kubectl::new(self.programs.kubectl(), self.kubeconfig(identity), cache)
    }

    /// The directory with one log file for each program, named after it.
    pub fn logs(&self) -> &Path {
        self.run.path()
    }

    /// Installs kinds as the admin and returns when they can be used; see [`crds::install`].
    pub async fn install(
        &self,
        definitions: &[CustomResourceDefinition],
    ) -> Result<(), InstallError> {
        crds::install(&self.client(Identity::Admin), definitions).await
    }

    /// Lets [`Identity::Tenant`] into `namespace`: what the built-in role `edit` allows there, and
    /// everything on our kinds and those of the Gateway API and Contour, status included.
    ///
    /// That is more than a careful admin would give. A rule that holds against this tenant holds.
    pub async fn bind_tenant(&self, namespace: &str) -> Result<(), BindError> {
        let (admin, tenant) = (self.client(Identity::Admin), self.client(Identity::Tenant));
        tenant::bind(&admin, &tenant, namespace).await
    }
}
