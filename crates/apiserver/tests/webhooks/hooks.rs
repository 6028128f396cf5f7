//! A webhook server on loopback, as small as one can be: TLS, paths, and behaviours that tests put there.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What is done with a question.
pub(crate) type Behaviour =
    Arc<dyn Fn(Value) -> BoxFuture<'static, Response<Full<Bytes>>> + Send + Sync>;

/// A server that runs for as long as this lives.
pub(crate) struct Hooks {
    address: SocketAddr,
    /// What it is believed by, as configurations want it.
    pub(crate) authority: String,
    known: Arc<Known>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Known {
    behaviours: Mutex<HashMap<String, Behaviour>>,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Hooks {
    pub(crate) async fn start() -> Self {
        let (authority, tls) = identity();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let known = Arc::new(Known::default());
        let serving = tokio::spawn(serve(listener, tls, Arc::clone(&known)));
        Self {
            address,
            authority,
            known,
            serving,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    pub(crate) fn on(&self, path: &str, behaviour: Behaviour) {
        let mut behaviours = self.known.behaviours.lock().unwrap();
        behaviours.insert(path.to_owned(), behaviour);
    }

    /// The questions since this was last asked, with their paths.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.known.asked.lock().unwrap())
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A certificate for loopback, and the authority that issued it.
fn identity() -> (String, TlsAcceptor) {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = KeyPair::generate().unwrap();
    // No two authorities have the same name.
    let name = STANDARD.encode(&issuer.public_key_raw()[1..9]);
    params.distinguished_name.push(DnType::CommonName, name);
    let authority = CertifiedIssuer::self_signed(params, issuer).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let leaf = params.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    (STANDARD.encode(authority.pem()), acceptor)
}

/// An authority that nobody was issued anything by.
pub(crate) fn stranger() -> String {
    identity().0
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, known: Arc<Known>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        let (tls, known) = (tls.clone(), Arc::clone(&known));
        tokio::spawn(async move {
            // Clients that do not believe us leave in the middle of the handshake.
            let Ok(stream) = tls.accept(stream).await else {
                return;
            };
            let service = service_fn(move |request| answer(Arc::clone(&known), request));
            let builder = auto::Builder::new(TokioExecutor::new());
            let _left = builder
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(
    known: Arc<Known>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    known
        .asked
        .lock()
        .unwrap()
        .push((path.clone(), review.clone()));
    let behaviour = known.behaviours.lock().unwrap().get(&path).cloned();
    Ok(match behaviour {
        Some(behaviour) => behaviour(review).await,
        None => raw(404, "text/plain", "nothing here"),
    })
}

/// An answer as it is.
pub(crate) fn raw(code: u16, content_type: &str, body: &str) -> Response<Full<Bytes>> {
    Response::builder()
        .status(code)
        .header("content-type", content_type)
        .body(Full::from(body.to_owned()))
        .unwrap()
}

/// The answer to a review: what is given, and the uid.
pub(crate) fn respond(review: &Value, mut response: Value) -> Response<Full<Bytes>> {
    response["uid"] = review["request"]["uid"].clone();
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": response,
    });
    raw(200, "application/json", &answer.to_string())
}

/// Always the same answer.
pub(crate) fn always(response: Value) -> Behaviour {
    Arc::new(move |review| {
        let answer = respond(&review, response.clone());
        Box::pin(async move { answer })
    })
}

/// Something that is not even a review.
pub(crate) fn nonsense(code: u16, content_type: &'static str, body: &'static str) -> Behaviour {
    Arc::new(move |_| Box::pin(async move { raw(code, content_type, body) }))
}

pub(crate) fn allow() -> Behaviour {
    always(json!({ "allowed": true }))
}

/// Lets it through, with these operations.
pub(crate) fn patch(operations: &Value) -> Behaviour {
    let patch = STANDARD.encode(operations.to_string());
    always(json!({ "allowed": true, "patchType": "JSONPatch", "patch": patch }))
}

/// Whatever a function makes of a review.
pub(crate) fn judge(verdict: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Behaviour {
    Arc::new(move |review| {
        let answer = respond(&review, verdict(&review["request"]));
        Box::pin(async move { answer })
    })
}

/// Nobody ever hears from it.
pub(crate) fn silent() -> Behaviour {
    Arc::new(|_| Box::pin(std::future::pending()))
}
