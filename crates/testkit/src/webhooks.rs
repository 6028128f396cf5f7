//! A webhook server on loopback, as small as one can be: TLS, paths, and behaviours that tests put there.
//!
//! It speaks `admission.k8s.io/v1`, remembers what it was asked, and has an authority of its own that configurations name.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Collected, Full};
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
pub type Behaviour = Arc<dyn Fn(Value) -> BoxFuture<'static, Response<Full<Bytes>>> + Send + Sync>;

/// A server that runs for as long as this lives.
pub struct Hooks {
    /// What it is believed by, as configurations want it.
    pub authority: String,
    address: SocketAddr,
    known: Arc<Known>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Known {
    behaviours: Mutex<HashMap<String, Behaviour>>,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Hooks {
    /// Starts one at a port of its own.
    pub async fn start() -> Self {
        let (authority, tls) = identity();
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let known = Arc::new(Known::default());
        let serving = tokio::spawn(serve(listener, tls, Arc::clone(&known)));
        Self {
            authority,
            address,
            known,
            serving,
        }
    }

    /// The port that it listens at.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where a path of it is.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// What is done with questions to a path from now on.
    pub fn on(&self, path: &str, behaviour: Behaviour) {
        let mut behaviours = locked(&self.known.behaviours);
        behaviours.insert(path.to_owned(), behaviour);
    }

    /// The questions since this was last asked, with their paths.
    pub fn asked(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *locked(&self.known.asked))
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A certificate for loopback, and the authority that issued it.
fn identity() -> (String, TlsAcceptor) {
    let mut params = CertificateParams::new([]).expect("no names are good names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = KeyPair::generate().expect("there is chance enough");
    // No two authorities have the same name.
    let name = STANDARD.encode(&issuer.public_key_raw()[1..9]);
    params.distinguished_name.push(DnType::CommonName, name);
    let authority = CertifiedIssuer::self_signed(params, issuer).expect("the key fits");
    let key = KeyPair::generate().expect("there is chance enough");
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("an address is a name");
    let leaf = params.signed_by(&key, &authority).expect("the key fits");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks them")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .expect("the key fits");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    (STANDARD.encode(authority.pem()), acceptor)
}

/// An authority that nobody was issued anything by.
pub fn stranger() -> String {
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
    // Whoever leaves in the middle of a question hears nothing.
    let body = request.into_body().collect().await;
    let body = body.map(Collected::to_bytes).unwrap_or_default();
    let Ok(review) = serde_json::from_slice::<Value>(&body) else {
        return Ok(raw(400, "text/plain", "no question"));
    };
    locked(&known.asked).push((path.clone(), review.clone()));
    let behaviour = locked(&known.behaviours).get(&path).cloned();
    Ok(match behaviour {
        Some(behaviour) => behaviour(review).await,
        None => raw(404, "text/plain", "nothing here"),
    })
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer as it is.
pub fn raw(code: u16, content_type: &str, body: &str) -> Response<Full<Bytes>> {
    Response::builder()
        .status(code)
        .header("content-type", content_type)
        .body(Full::from(body.to_owned()))
        .expect("a code and a content type that tests chose")
}

/// The answer to a review: what is given, and the uid.
pub fn respond(review: &Value, mut response: Value) -> Response<Full<Bytes>> {
    response["uid"] = review["request"]["uid"].clone();
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": response,
    });
    raw(200, "application/json", &answer.to_string())
}

/// Always the same answer.
pub fn always(response: Value) -> Behaviour {
    Arc::new(move |review| {
        let answer = respond(&review, response.clone());
        Box::pin(async move { answer })
    })
}

/// Something that is not even a review.
pub fn nonsense(code: u16, content_type: &'static str, body: &'static str) -> Behaviour {
    Arc::new(move |_| Box::pin(async move { raw(code, content_type, body) }))
}

/// Lets everything through.
pub fn allow() -> Behaviour {
    always(json!({ "allowed": true }))
}

/// Lets it through, with these operations.
pub fn patch(operations: &Value) -> Behaviour {
    let patch = STANDARD.encode(operations.to_string());
    always(json!({ "allowed": true, "patchType": "JSONPatch", "patch": patch }))
}

/// Whatever a function makes of a review.
pub fn judge(verdict: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Behaviour {
    Arc::new(move |review| {
        let answer = respond(&review, verdict(&review["request"]));
        Box::pin(async move { answer })
    })
}

/// Nobody ever hears from it.
pub fn silent() -> Behaviour {
    Arc::new(|_| Box::pin(std::future::pending()))
}
