//! Somebody who connects all the time, as an API server would: with the bundle that is published.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use admission::Serving;
use admission::listener::{Caps, Listener};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use kube::{Api, Client};
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore, crypto};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tower::service_fn;

use crate::stage::{HOST, Time};

/// A listener that shows this, and answers anything.
pub(crate) async fn listening(serving: &Arc<Serving>) -> Listener {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let service = service_fn(async |_: Request<Full<Bytes>>| {
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    });
    Listener::start(socket, serving.clone(), service, Caps::default()).unwrap()
}

/// Connects again and again, for as long as this lives.
pub(crate) struct Caller {
    done: watch::Receiver<u64>,
    failures: Arc<Mutex<Vec<String>>>,
    calling: JoinHandle<()>,
}

impl Caller {
    pub(crate) fn start(client: Client, address: SocketAddr, time: Time) -> Self {
        let (done, heard) = watch::channel(0);
        let failures = Arc::new(Mutex::new(Vec::new()));
        let failed = Arc::clone(&failures);
        let calling = tokio::spawn(async move {
            loop {
                let count = *done.borrow();
                let bundle = published(&client, count).await;
                if let Err(error) = connect(address, &bundle, &time).await {
                    failed
                        .lock()
                        .unwrap()
                        .push(format!("{}: {error}", time.now()));
                }
                done.send_replace(count + 1);
            }
        });
        Self {
            done: heard,
            failures,
            calling,
        }
    }

    /// Comes when whatever it had read before has been used for the last time.
    pub(crate) async fn moved_on(&mut self) {
        let now = *self.done.borrow();
        let next = self.done.wait_for(|done| *done > now);
        tokio::time::timeout(Duration::from_mins(1), next)
            .await
            .unwrap()
            .unwrap();
    }

    pub(crate) fn handshakes(&self) -> u64 {
        *self.done.borrow()
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.calling.abort();
    }
}

/// The bundle of one configuration or the other.
async fn published(client: &Client, count: u64) -> Vec<u8> {
    let bundle = |config: &WebhookClientConfig| config.ca_bundle.clone().unwrap().0;
    if count.is_multiple_of(2) {
        let all: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
        let found = all.get("zonewright-ingresses").await.unwrap();
        bundle(&found.webhooks.unwrap()[0].client_config)
    } else {
        let all: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
        let found = all.get("zonewright").await.unwrap();
        bundle(&found.webhooks.unwrap()[0].client_config)
    }
}

/// A handshake that believes this bundle only.
pub(crate) async fn connect(address: SocketAddr, bundle: &[u8], time: &Time) -> io::Result<()> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_slice_iter(bundle).map(Result::unwrap);
    roots.add_parsable_certificates(certificates);
    // The one way to agree on a key that is fast without optimisation.
    let provider = Arc::new(crypto::CryptoProvider {
        kx_groups: vec![crypto::ring::kx_group::SECP256R1],
        ..crypto::ring::default_provider()
    });
    let config = ClientConfig::builder_with_details(provider, Arc::new(HandedIn(time.clone())));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.resumption = Resumption::disabled();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(HOST).unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(name, stream).await.map(drop)
}

/// The time on the wall of the test.
struct HandedIn(Time);

impl std::fmt::Debug for HandedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HandedIn")
    }
}

impl TimeProvider for HandedIn {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).ok()?;
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}
