//! Clients of all kinds, and the service they talk to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response, StatusCode, Version, header};
use http_body_util::{BodyExt as _, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

use crate::face::listener::BoxError;
use crate::face::pki::{Authority, Leaf};
use crate::user::User;

/// Told when the service has begun with `/slow`, which takes a moment.
pub(super) static SLOW_BEGAN: Notify = Notify::const_new();

type Body = Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>;

/// Says who asked; `/slow` takes a moment, `/stream` begins and never ends.
pub(super) fn service()
-> impl tower::Service<Request<Incoming>, Response = Response<Body>, Error = Infallible, Future: Send>
+ Clone
+ Send
+ 'static {
    tower::service_fn(|request: Request<Incoming>| async move {
        let user = request.extensions().get::<User>().expect("always there");
        let authorization = request.headers().get(header::AUTHORIZATION);
        let told = json!({
            "name": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra,
            "version": format!("{:?}", request.version()),
            "authorization": authorization.map(|value| format!("{value:?}")),
        });
        let body: Body = match request.uri().path() {
            "/stream" => {
                let ticks = stream::unfold(true, |first| async move {
                    if !first {
                        std::future::pending::<()>().await;
                    }
                    Some((Ok(Frame::data(Bytes::from_static(b"tick"))), false))
                });
                Box::pin(StreamBody::new(ticks))
            }
            path => {
                if path == "/slow" {
                    SLOW_BEGAN.notify_one();
                    sleep(Duration::from_millis(100)).await;
                }
                Box::pin(Full::from(told.to_string()).map_err(|never| match never {}))
            }
        };
        Ok(Response::new(body))
    })
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

impl Protocol {
    pub(super) fn name(self) -> String {
        format!("{:?}", self.version())
    }

    fn version(self) -> Version {
        match self {
            Self::Http1 => Version::HTTP_11,
            Self::Http2 => Version::HTTP_2,
        }
    }

    fn alpn(self) -> Vec<u8> {
        match self {
            Self::Http1 => b"http/1.1".to_vec(),
            Self::Http2 => b"h2".to_vec(),
        }
    }
}

/// A client certificate that did not come with the server.
pub(super) struct Stranger {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Stranger {
    pub(super) fn issued(authority: &Authority, name: &str, groups: &[&str]) -> Self {
        Self::by(authority.issuer(), &params(name, groups))
    }

    pub(super) fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    pub(super) fn of_another_authority() -> Self {
        let key = KeyPair::generate().unwrap();
        Self::by(
            &Issuer::new(params("another", &[]), key),
            &params("zonewright-admin", &["system:masters"]),
        )
    }

    pub(super) fn self_signed_as_admin() -> Self {
        let key = KeyPair::generate().unwrap();
        let params = params("zonewright-admin", &["system:masters"]);
        Self {
            certificate: params.self_signed(&key).unwrap().der().clone(),
            key: key.serialize_der(),
        }
    }

    pub(super) fn expired(authority: &Authority) -> Self {
        let mut params = params("late", &[]);
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        Self::by(authority.issuer(), &params)
    }

    pub(super) fn not_yet_valid(authority: &Authority) -> Self {
        let mut params = params("early", &[]);
        params.not_before = rcgen::date_time_ymd(2090, 1, 1);
        Self::by(authority.issuer(), &params)
    }

    pub(super) fn for_serving(authority: &Authority) -> Self {
        let mut params = params("server", &[]);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        Self::by(authority.issuer(), &params)
    }

    pub(super) fn without_a_name(authority: &Authority) -> Self {
        let mut params = params("", &["system:masters"]);
        params.distinguished_name.remove(DnType::CommonName);
        Self::by(authority.issuer(), &params)
    }

    fn by(issuer: &Issuer<'_, impl rcgen::SigningKey>, params: &CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, issuer).unwrap();
        Self {
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }
}

fn params(name: &str, groups: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    for (number, group) in (0..).zip(groups) {
        let kind = if number == 0 {
            DnType::OrganizationName
        } else {
            DnType::CustomDnType(vec![2, 5, 4, 10])
        };
        params.distinguished_name.push(kind, *group);
    }
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params
}

#[derive(Clone)]
pub(super) struct Client {
    address: SocketAddr,
    roots: Arc<RootCertStore>,
    certificate: Option<(CertificateDer<'static>, Vec<u8>)>,
    authorization: Option<String>,
    protocol: Protocol,
}

impl Client {
    pub(super) fn new(address: SocketAddr, authority: &CertificateDer<'static>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone()).unwrap();
        Self {
            address,
            roots: roots.into(),
            certificate: None,
            authorization: None,
            protocol: Protocol::Http1,
        }
    }

    pub(super) fn with_certificate(mut self, leaf: &Leaf) -> Self {
        self.certificate = Some((leaf.certificate.clone(), leaf.key.secret_der().to_vec()));
        self
    }

    pub(super) fn with_stranger(mut self, stranger: &Stranger) -> Self {
        self.certificate = Some((stranger.certificate.clone(), stranger.key.clone()));
        self
    }

    pub(super) fn with_authorization(&self, header: &str) -> Self {
        let mut client = self.clone();
        client.authorization = Some(header.to_owned());
        client
    }

    pub(super) fn speaking(&self, protocol: Protocol) -> Self {
        let mut client = self.clone();
        client.protocol = protocol;
        client
    }

    /// One request on a connection of its own.
    pub(super) async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send("GET", path).await
    }

    pub(super) async fn send(&self, method: &str, path: &str) -> (StatusCode, Value) {
        self.connect()
            .await
            .send(method, path)
            .await
            .expect("an answer")
    }

    pub(super) async fn connect(&self) -> Connected {
        self.try_connect().await.expect("a connection")
    }

    pub(super) async fn try_connect(&self) -> Result<Connected, BoxError> {
        let stream = TcpStream::connect(self.address).await?;
        let tls = TlsConnector::from(Arc::new(self.configuration()));
        let name = ServerName::from(self.address.ip());
        let stream = TokioIo::new(tls.connect(name, stream).await?);
        let (sender, task) = match self.protocol {
            Protocol::Http1 => {
                let (sender, connection) = hyper::client::conn::http1::handshake(stream).await?;
                (
                    Sender::Http1(sender.into()),
                    tokio::spawn(async { drop(connection.await) }),
                )
            }
            Protocol::Http2 => {
                let executor = TokioExecutor::new();
                let (sender, connection) =
                    hyper::client::conn::http2::handshake(executor, stream).await?;
                (
                    Sender::Http2(sender),
                    tokio::spawn(async { drop(connection.await) }),
                )
            }
        };
        Ok(Connected {
            client: self.clone(),
            sender,
            task,
        })
    }

    fn configuration(&self) -> ClientConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots.clone());
        let mut configuration = match &self.certificate {
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.clone()));
                builder
                    .with_client_auth_cert(vec![certificate.clone()], key)
                    .unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        configuration.alpn_protocols = vec![self.protocol.alpn()];
        configuration
    }
}

enum Sender {
    Http1(tokio::sync::Mutex<hyper::client::conn::http1::SendRequest<Empty<Bytes>>>),
    Http2(hyper::client::conn::http2::SendRequest<Empty<Bytes>>),
}

pub(super) struct Connected {
    client: Client,
    sender: Sender,
    task: JoinHandle<()>,
}

impl Connected {
    pub(super) async fn get(&self, path: &str) -> Result<(StatusCode, Value), BoxError> {
        self.send("GET", path).await
    }

    async fn send(&self, method: &str, path: &str) -> Result<(StatusCode, Value), BoxError> {
        let response = self.request(method, path).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// The body of an answer, which may never end.
    pub(super) async fn open(self, path: &str) -> (Incoming, Connected) {
        let response = self.request("GET", path).await.expect("an answer");
        (response.into_body(), self)
    }

    /// Waits until the server has ended the connection.
    pub(super) async fn closed(self, within: Duration) {
        timeout(within, self.task)
            .await
            .expect("closed in time")
            .unwrap();
    }

    async fn request(&self, method: &str, path: &str) -> Result<Response<Incoming>, BoxError> {
        let Client {
            address,
            authorization,
            protocol,
            ..
        } = &self.client;
        let mut request = Request::builder()
            .method(method)
            .uri(format!("https://{address}{path}"))
            .version(protocol.version());
        if let Some(authorization) = authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let request = request.body(Empty::new())?;
        Ok(match &self.sender {
            Sender::Http1(sender) => sender.lock().await.send_request(request).await?,
            Sender::Http2(sender) => sender.clone().send_request(request).await?,
        })
    }
}

/// The next part of a body; nothing if it ended or was cut off.
pub(super) async fn next((body, _): &mut (Incoming, Connected)) -> Option<String> {
    let frame = body.frame().await?.ok()?;
    Some(String::from_utf8(frame.into_data().ok()?.to_vec()).unwrap())
}

/// What a server says to octets that are no TLS.
pub(super) async fn plain(address: SocketAddr, octets: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(octets).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// What kube's own client gets with a kubeconfig.
pub(super) async fn kube(kubeconfig: &Path) -> Value {
    let kubeconfig = kube::config::Kubeconfig::read_from(kubeconfig).unwrap();
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options);
    let client = kube::Client::try_from(config.await.unwrap()).unwrap();
    client
        .request(Request::get("/api").body(Vec::new()).unwrap())
        .await
        .unwrap()
}
