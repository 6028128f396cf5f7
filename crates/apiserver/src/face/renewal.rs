//! Certificates that are replaced while they are in use, so that a process may run for years.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use rustls::crypto;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::pki::{Leaf, PkiError, files};
use super::{Face, KubeconfigFile};

/// How often certificates are looked at. They live for a year and are due after eight months; an hour
/// is soon enough, also after a machine has slept or its clock was set.
const LOOK_EVERY: Duration = Duration::from_hours(1);

/// The certificate that is served, and may be exchanged.
#[derive(Debug)]
pub(super) struct Serving(RwLock<Current>);

#[derive(Debug)]
struct Current {
    leaf: Leaf,
    key: Arc<CertifiedKey>,
}

impl Serving {
    pub(super) fn new(leaf: Leaf) -> Self {
        Self(RwLock::new(Current::new(leaf)))
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        current.leaf.is_due(now)
    }

    /// From now on, new connections see this one.
    fn exchange(&self, leaf: Leaf) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Current::new(leaf);
    }
}

impl ResolvesServerCert for Serving {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(current.key.clone())
    }
}

impl Current {
    fn new(leaf: Leaf) -> Self {
        let provider = crypto::ring::default_provider();
        let (chain, key) = (vec![leaf.certificate.clone()], leaf.key.clone_key());
        let key = CertifiedKey::from_der(chain, key, &provider)
            .expect("the key was found to belong to the certificate when it was read");
        Self {
            leaf,
            key: Arc::new(key),
        }
    }
}

/// What is renewed for one listener.
#[derive(Debug)]
pub(super) struct Renewal {
    pub(super) face: Arc<Face>,
    pub(super) address: SocketAddr,
    pub(super) serving: Arc<Serving>,
    pub(super) kubeconfig: Option<KubeconfigFile>,
    /// The kubeconfig as it was last written. Its owner may have changed the file since: it is
    /// written again only for a new certificate.
    pub(super) written: Option<String>,
}

impl Renewal {
    /// Looks at the certificates for as long as it is polled.
    pub(super) async fn run(mut self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Err(error) = self.look(Timestamp::now()) {
                tracing::error!("certificates were not renewed, trying again in an hour: {error}");
            }
        }
    }

    /// Renews the certificates that are due.
    pub(super) fn look(&mut self, now: Timestamp) -> Result<(), PkiError> {
        if self.serving.is_due(now) {
            let leaf = self.face.pki.serving(self.address.ip(), now)?;
            self.serving.exchange(leaf);
            tracing::info!("the serving certificate was renewed");
        }
        self.write_kubeconfig(now)
    }

    /// Puts the kubeconfig in place, unless it says what it said the last time.
    pub(super) fn write_kubeconfig(&mut self, now: Timestamp) -> Result<(), PkiError> {
        let Some(file) = &self.kubeconfig else {
            return Ok(());
        };
        let text = self.face.kubeconfig(self.address, file.credential, now)?;
        if self.written.as_ref() != Some(&text) {
            files::write_anew(&file.path, &text)?;
            self.written = Some(text);
        }
        Ok(())
    }
}
