//! Asks a target whether it is healthy: one request, one answer, and nothing is believed beyond its status.
//!
//! Whoever may write a DNSRecord chooses whom we ask, so this is careful with everybody: only addresses that may be
//! connected to are ([`egress`]), and the address that was judged is the one that is connected to; redirects are not
//! followed; a body is never read, and never shown to anybody; the whole of it, from finding an address to the status,
//! is over after a time. A certificate has to be good for the host that is asked for, unless the operator lets it pass.
//!
//! The border: one question is asked once. When, how often, and what follows is up to others.

mod exchange;
mod fault;
mod trust;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api::health_check::is_healthy;
use api::parse::health_check::Protocol;
use api::parse::target::Target;
use dns::Name;
use egress::Egress;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use http::HeaderMap;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;

pub use fault::Fault;
pub use trust::system_roots;

/// Longer than a healthy target takes, shorter than anybody wants to wait for a dead one.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How many addresses of one host are asked: whoever has more is found healthy or not by these.
const ADDRESSES_MAX: usize = 16;

/// What to ask, and whom.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The host to ask for.
    pub host: Name,
    /// What to connect to.
    pub target: Target,
    /// The port.
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
    /// The path and query, with its leading slash.
    pub path: String,
    /// What is sent beside what has to be.
    pub headers: HeaderMap,
    /// Whether any certificate is good enough.
    pub insecure: bool,
    /// How long it may take at most; there is a limit beside it.
    pub within: Duration,
}

/// Asks targets.
#[derive(Clone, Debug)]
pub struct Prober {
    egress: Arc<Egress>,
    verified: Arc<ClientConfig>,
    unverified: Arc<ClientConfig>,
}

impl Prober {
    /// Asks whom `egress` allows, and believes certificates that come from `roots`.
    pub fn new(egress: Egress, roots: RootCertStore) -> Result<Prober, rustls::Error> {
        Ok(Prober {
            egress: Arc::new(egress),
            verified: Arc::new(trust::verified(roots)?),
            unverified: Arc::new(trust::unverified()?),
        })
    }

    /// The status that the target answers with. A host with several addresses answers with the first that is healthy.
    pub async fn ask(&self, asking: &Asking) -> Result<u16, Fault> {
        let within = asking.within.min(ANSWER_WITHIN);
        let asked = timeout(within, self.ask_target(asking)).await;
        asked.unwrap_or(Err(Fault::Late(within)))
    }

    async fn ask_target(&self, asking: &Asking) -> Result<u16, Fault> {
        let tls = if asking.insecure {
            &self.unverified
        } else {
            &self.verified
        };
        match &asking.target {
            Target::Address(address) => {
                self.egress.check_address(*address)?;
                let address = SocketAddr::new(*address, asking.port);
                exchange::ask(address, asking, tls).await
            }
            Target::Host(name) => {
                let found = self.find(name, asking.port).await?;
                let asked = found.into_iter().take(ADDRESSES_MAX).map(|at| async move {
                    let answer = exchange::ask(at, asking, tls).await;
                    answer.map_err(|fault| Fault::At(at.ip(), Box::new(fault)))
                });
                first_healthy(asked.collect()).await
            }
        }
    }

    /// The addresses of a host that may be connected to.
    async fn find(&self, name: &Name, port: u16) -> Result<Vec<SocketAddr>, Fault> {
        // The final dot keeps the resolver from trying the name below the machine's own domains first. The files of the
        // machine know names without it.
        let mut found = look_up(&name.to_string(), port).await;
        if found.is_empty() {
            found = look_up(&bare(name), port).await;
        }
        Ok(self.egress.admit(&bare(name), &found)?)
    }
}

async fn look_up(host: &str, port: u16) -> Vec<SocketAddr> {
    let found = tokio::net::lookup_host((host, port)).await;
    found.into_iter().flatten().collect()
}

/// The first answer that is healthy; else the last answer, or the last fault if nobody answered.
async fn first_healthy(
    mut asked: FuturesUnordered<impl Future<Output = Result<u16, Fault>>>,
) -> Result<u16, Fault> {
    let mut last = None;
    while let Some(answer) = asked.next().await {
        match answer {
            Ok(status) if is_healthy(status) => return Ok(status),
            Ok(status) => last = Some(Ok(status)),
            Err(fault) => last = last.filter(Result::is_ok).or(Some(Err(fault))),
        }
    }
    last.unwrap_or(Err(Fault::Silent))
}

/// A host as certificates and requests have it.
fn bare(name: &Name) -> String {
    name.to_string().trim_end_matches('.').to_owned()
}
