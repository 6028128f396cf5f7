//! Places to measure at: an API, ours or the real one, with our controllers and name server or alone.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use kube::Client;
use kube::api::{Api, ListParams};
use testkit::control_plane::{ControlPlane, Identity};

use crate::numbers;
use crate::program::{Program, Serving, client};

/// Whose API.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Home {
    /// The one inside `zonewright up`.
    Embedded,
    /// etcd and kube-apiserver, with `zonewright run` beside them.
    Cluster,
}

impl Home {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded API",
            Self::Cluster => "kube-apiserver",
        }
    }
}

/// An API.
pub(crate) struct Stage {
    kubeconfig: PathBuf,
    attended: Option<Attended>,
    parts: Parts,
}

/// Where our controllers and our name server are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attended {
    pub(crate) dns: SocketAddr,
    pub(crate) http: SocketAddr,
}

/// What runs, in the order in which it ends.
enum Parts {
    Embedded(Serving),
    Cluster {
        run: Option<Program>,
        _plane: Box<ControlPlane>,
    },
}

impl Stage {
    /// An API that nobody looks after.
    pub(crate) async fn alone(home: Home) -> Result<Stage> {
        match home {
            Home::Embedded => {
                let serving = Serving::api_alone()?;
                Ok(Stage {
                    kubeconfig: serving.ready.kubeconfig.clone(),
                    attended: None,
                    parts: Parts::Embedded(serving),
                })
            }
            Home::Cluster => {
                let plane = control_plane().await?;
                Ok(Stage {
                    kubeconfig: plane.kubeconfig(Identity::Admin),
                    attended: None,
                    parts: Parts::Cluster {
                        run: None,
                        _plane: Box::new(plane),
                    },
                })
            }
        }
    }

    /// An API with our controllers and our name server.
    pub(crate) async fn attended(home: Home, program: &Path) -> Result<Stage> {
        match home {
            Home::Embedded => {
                let serving = Serving::up(program)?;
                let ready = &serving.ready;
                Ok(Stage {
                    kubeconfig: ready.kubeconfig.clone(),
                    attended: Some(Attended {
                        dns: *ready.dns.first().context("nobody answers names")?,
                        http: ready.http.context("nobody answers at /metrics")?,
                    }),
                    parts: Parts::Embedded(serving),
                })
            }
            Home::Cluster => {
                let plane = control_plane().await?;
                let kubeconfig = plane.kubeconfig(Identity::Admin);
                let attended = Attended {
                    dns: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?,
                    http: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?,
                };
                let mut command = testkit::mortal(program);
                command.args(["run", "--log-level", "warn", "--kubeconfig"]);
                command.arg(&kubeconfig);
                command.args(["--dns", &attended.dns.to_string()]);
                command.args(["--http", &attended.http.to_string()]);
                let run = Program::start(&mut command)?;
                numbers::leading(attended.http).await?;
                Ok(Stage {
                    kubeconfig,
                    attended: Some(attended),
                    parts: Parts::Cluster {
                        run: Some(run),
                        _plane: Box::new(plane),
                    },
                })
            }
        }
    }

    /// A client with a connection of its own.
    pub(crate) async fn client(&self) -> Result<Client> {
        client(&self.kubeconfig).await
    }

    pub(crate) async fn clients(&self, count: usize) -> Result<Vec<Client>> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(self.client().await?);
        }
        Ok(clients)
    }

    /// Where our controllers and our name server are.
    pub(crate) fn attendance(&self) -> Result<Attended> {
        self.attended.context("nobody looks after this API")
    }

    /// How long processors have worked for us: in `up` that includes the API.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        match &self.parts {
            Parts::Embedded(serving) => serving.program.cpu(),
            Parts::Cluster { run, .. } => {
                run.as_ref().context("nobody looks after this API")?.cpu()
            }
        }
    }

    /// How many writes the API has seen since it was made.
    pub(crate) async fn revision(&self) -> Result<u64> {
        let records: Api<api::Record> = Api::default_namespaced(self.client().await?);
        let list = records
            .list_metadata(&ListParams::default().limit(1))
            .await?;
        let revision = list.metadata.resource_version.unwrap_or_default();
        revision.parse().context("a revision that is a number")
    }
}

async fn control_plane() -> Result<ControlPlane> {
    let plane = ControlPlane::start().await?;
    plane.install(&api::crds::all()).await?;
    Ok(plane)
}
