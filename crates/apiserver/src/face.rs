//! The face: what the API shows to the network. TLS, who asks, and the file that lets kubectl in.
//!
//! ```text
//! pki ─────────────► authentication ─► listener ─► service, with a User in each request
//!  └─► kubeconfig     └─ tokens
//! ```
//!
//! What is asked and whether its sender may ask it is none of the face's business: it hands requests on.

pub(crate) mod authentication;
pub(crate) mod kubeconfig;
pub(crate) mod listener;
pub(crate) mod pki;
pub(crate) mod tokens;

mod renewal;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rustls::crypto;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use authentication::Authentication;
use kubeconfig::Credential;
use listener::{Answers, Listening, Sendable};
use pki::{Pki, PkiError};
use renewal::{Renewal, Serving};
use tokens::{ServiceAccounts, Tokens};

/// The API's identity and what it believes others by.
#[derive(Debug)]
pub(crate) struct Face {
    pki: Pki,
    admin_token: String,
    tokens: Arc<Tokens>,
}

/// What the administrator's kubeconfig proves them with.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum AdminCredential {
    /// A client certificate.
    #[default]
    Certificate,
    /// A bearer token.
    Token,
}

/// The administrator's kubeconfig, kept up to date for as long as someone listens.
#[derive(Clone, Debug)]
pub(crate) struct KubeconfigFile {
    pub(crate) path: PathBuf,
    pub(crate) credential: AdminCredential,
}

/// A face that can be seen.
#[derive(Debug)]
pub(crate) struct Shown {
    listening: Listening,
    renewing: JoinHandle<()>,
}

/// Why nobody can connect.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The listener does not work.
    #[error("cannot listen: {0}")]
    Listener(#[from] io::Error),
    /// There is nothing to prove ourselves with.
    #[error(transparent)]
    Pki(#[from] PkiError),
}

impl Face {
    /// Opens `<data>/pki`, or makes it; in memory if nothing is to be kept.
    pub(crate) fn open(data: Option<&Path>, now: Timestamp) -> Result<Self, PkiError> {
        let pki = Pki::open(data.map(|data| data.join("pki")), now)?;
        Ok(Self {
            admin_token: pki.admin_token()?,
            tokens: Arc::new(pki.tokens()?),
            pki,
        })
    }

    /// What issues the tokens of service accounts.
    pub(crate) fn tokens(&self) -> &Arc<Tokens> {
        &self.tokens
    }

    /// The administrator's kubeconfig for a listener at `address`.
    pub(crate) fn kubeconfig(
        &self,
        address: SocketAddr,
        credential: AdminCredential,
        now: Timestamp,
    ) -> Result<String, PkiError> {
        let authority = &self.pki.authority().pem;
        Ok(match credential {
            AdminCredential::Token => {
                let token = Credential::Token(&self.admin_token);
                kubeconfig::kubeconfig(address, authority, token)
            }
            AdminCredential::Certificate => {
                let leaf = self.pki.admin(now)?;
                kubeconfig::kubeconfig(address, authority, Credential::Certificate(&leaf))
            }
        })
    }

    /// Serves `service` at `listener`, to whoever can say who they are. The kubeconfig, if one is
    /// wanted, is in place when this returns.
    pub(crate) fn show<B: Sendable>(
        self: &Arc<Self>,
        listener: TcpListener,
        service: impl Answers<B>,
        accounts: Arc<dyn ServiceAccounts>,
        kubeconfig: Option<KubeconfigFile>,
    ) -> Result<Shown, ListenError> {
        let (address, now) = (listener.local_addr()?, Timestamp::now());
        let serving = Arc::new(Serving::new(self.pki.serving(address.ip(), now)?));
        let authentication = Arc::new(self.authentication(accounts));
        let mut renewal = Renewal {
            face: self.clone(),
            address,
            serving: serving.clone(),
            kubeconfig,
            written: None,
        };
        renewal.write_kubeconfig(now)?;
        Ok(Shown {
            listening: Listening::start(listener, serving, authentication, service)?,
            renewing: tokio::spawn(renewal.run()),
        })
    }

    fn authentication(&self, accounts: Arc<dyn ServiceAccounts>) -> Authentication {
        let provider = Arc::new(crypto::ring::default_provider());
        let authority = &self.pki.authority().certificate;
        let tokens = self.tokens.clone();
        Authentication::new(authority, &self.admin_token, tokens, accounts, provider)
    }
}

impl Shown {
    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// Stops; see [`Listening::shutdown`].
    pub(crate) async fn shutdown(self, within: Duration) {
        self.renewing.abort();
        self.listening.shutdown(within).await;
    }
}
