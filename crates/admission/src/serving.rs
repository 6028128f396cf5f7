//! The certificate that is shown, and may be exchanged while it is.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::crypto;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::watch;
use x509::Leaf;

/// The certificate that new connections see. Until there is one, handshakes fail.
#[derive(Debug)]
pub struct Serving {
    current: ArcSwapOption<CertifiedKey>,
    ready: watch::Sender<bool>,
}

impl Default for Serving {
    fn default() -> Self {
        Self {
            current: ArcSwapOption::empty(),
            ready: watch::Sender::new(false),
        }
    }
}

impl Serving {
    /// Whether there is a certificate. Once there is, there always is.
    pub fn ready(&self) -> watch::Receiver<bool> {
        self.ready.subscribe()
    }

    /// From now on, new connections see this one. Says whether it is another one than before.
    pub(crate) fn show(&self, leaf: &Leaf) -> Result<bool, rustls::Error> {
        let shown = self.current.load();
        if shown
            .as_ref()
            .is_some_and(|shown| shown.cert.first() == Some(&leaf.certificate))
        {
            return Ok(false);
        }
        let provider = crypto::ring::default_provider();
        let chain = vec![leaf.certificate.clone()];
        let key = CertifiedKey::from_der(chain, leaf.key.clone_key(), &provider)?;
        self.current.store(Some(Arc::new(key)));
        self.ready.send_replace(true);
        Ok(true)
    }
}

impl ResolvesServerCert for Serving {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current.load_full()
    }
}
