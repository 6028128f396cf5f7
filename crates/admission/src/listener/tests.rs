//! What strangers can do, and what they cannot.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use testkit::eventually;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower::service_fn;

use super::*;
use crate::certificates::{self, Facts, Found, Holding, Terms};
use crate::serving::Serving;

const SOON: Duration = Duration::from_secs(20);

fn holding() -> Holding {
    let names = ["localhost".to_owned()].into();
    let facts = Facts {
        now: jiff::Timestamp::now(),
        names: &names,
        carried_for: None,
        terms: &Terms::default(),
    };
    let step = certificates::next(&Found::Missing, &facts);
    let keys = &mut certificates::fresh_key;
    let made = certificates::carry_out(&step, Found::Missing, &facts, keys);
    made.unwrap().unwrap()
}

struct Stage {
    listener: Listener,
    bundle: String,
}

/// A listener whose service answers so.
async fn listening<F>(
    caps: Caps,
    answer: impl Fn(Request<Full<Bytes>>) -> F + Clone + Send + 'static,
) -> Stage
where
    F: Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
{
    let (serving, holding) = (Arc::new(Serving::default()), holding());
    serving.show(&holding.leaf).unwrap();
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    Stage {
        listener: Listener::start(socket, serving, service_fn(answer), caps).unwrap(),
        bundle: holding.bundle(),
    }
}

/// Answers with the path and the length of the question.
async fn told(request: Request<Full<Bytes>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    Ok(Response::new(Full::from(format!("{path} {}", body.len()))))
}

impl Stage {
    async fn connect(
        &self,
        alpn: &str,
        versions: &[&'static SupportedProtocolVersion],
    ) -> io::Result<TlsStream<TcpStream>> {
        use rustls::pki_types::pem::PemObject as _;
        let mut roots = RootCertStore::empty();
        let pems = rustls::pki_types::CertificateDer::pem_slice_iter(self.bundle.as_bytes());
        roots.add_parsable_certificates(pems.map(Result::unwrap));
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_protocol_versions(versions).unwrap();
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
        let stream = TcpStream::connect(self.listener.address()).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }

    /// One request on a connection of its own.
    async fn post(&self, path: &str, body: Vec<u8>) -> (StatusCode, String) {
        let stream = self.connect("http/1.1", &[&TLS13]).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        let driven = tokio::spawn(connection);
        let request = Request::post(path).header("host", "localhost");
        let request = request.body(Full::<Bytes>::from(body)).unwrap();
        let answered = read(sender.send_request(request).await.unwrap()).await;
        driven.abort();
        answered
    }
}

async fn read(response: Response<hyper::body::Incoming>) -> (StatusCode, String) {
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn questions_are_answered_over_both_versions_of_tls_and_of_http() {
    let stage = listening(Caps::default(), told).await;
    let answered = stage.post("/validate/objects", vec![0; 70_000]).await;
    assert_eq!(
        answered,
        (StatusCode::OK, "/validate/objects 70000".to_owned())
    );
    for version in [&TLS12, &TLS13] {
        let stream = stage.connect("h2", &[version]).await.unwrap();
        let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let request = Request::post("https://localhost/mutate/ingresses");
        let request = request.body(Full::<Bytes>::from(vec![0; 200_000])).unwrap();
        let answered = read(sender.send_request(request).await.unwrap()).await;
        assert_eq!(answered.1, "/mutate/ingresses 200000");
    }
}

#[tokio::test]
async fn a_question_of_three_mebibytes_is_taken_and_a_longer_one_is_refused() {
    let stage = listening(Caps::default(), told).await;
    let (status, _) = stage.post("/", vec![0; 3 << 20]).await;
    assert_eq!(status, StatusCode::OK);
    let (status, words) = stage.post("/", vec![0; (3 << 20) + 1]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(words, "the request is too long\n");
}

#[tokio::test]
async fn a_question_without_a_length_is_cut_off_at_the_same_size() {
    let caps = Caps {
        body_bytes: 1000,
        ..Caps::default()
    };
    let stage = listening(caps, told).await;
    let mut stream = stage.connect("http/1.1", &[&TLS13]).await.unwrap();
    let head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    stream.write_all(chunk.as_bytes()).await.unwrap();
    let answered = first_line(&mut stream).await;
    assert_eq!(answered, "HTTP/1.1 413 Payload Too Large");
}

async fn first_line(stream: &mut TlsStream<TcpStream>) -> String {
    let mut text = Vec::new();
    let reading = async {
        while !text.contains(&b'\r') {
            let mut octet = [0];
            if stream.read(&mut octet).await.unwrap_or(0) == 0 {
                break;
            }
            text.extend(octet);
        }
    };
    timeout(SOON, reading).await.unwrap();
    String::from_utf8(text).unwrap().trim_end().to_owned()
}

#[tokio::test]
async fn whoever_takes_too_long_is_told_or_left() {
    let short = Duration::from_millis(200);
    let caps = Caps {
        handshake: short,
        headers: short,
        body: short,
        answer: short,
        ..Caps::default()
    };
    let stage = listening(caps, |_| pending()).await;
    // No answer.
    let (status, _) = stage.post("/", Vec::new()).await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    // Half a body.
    let mut stream = stage.connect("http/1.1", &[&TLS13]).await.unwrap();
    let head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf";
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(
        first_line(&mut stream).await,
        "HTTP/1.1 408 Request Timeout"
    );
    // Half a head.
    let mut stream = stage.connect("http/1.1", &[&TLS13]).await.unwrap();
    stream.write_all(b"POST / HT").await.unwrap();
    assert_eq!(first_line(&mut stream).await, "");
    // Half a handshake.
    let mut stream = TcpStream::connect(stage.listener.address()).await.unwrap();
    stream.write_all(&[22, 3, 1]).await.unwrap();
    let mut rest = Vec::new();
    let read = timeout(SOON, stream.read_to_end(&mut rest)).await.unwrap();
    assert!(read.is_err() || rest.is_empty(), "{rest:?}");
}

#[tokio::test]
async fn one_address_cannot_have_all_connections() {
    let caps = Caps {
        connections_per_address: 2,
        ..Caps::default()
    };
    let stage = listening(caps, told).await;
    let first = stage.connect("http/1.1", &[&TLS13]).await.unwrap();
    let _second = stage.connect("http/1.1", &[&TLS13]).await.unwrap();
    assert!(stage.connect("http/1.1", &[&TLS13]).await.is_err());
    drop(first);
    let again = eventually(SOON, "a free place", async || {
        stage.connect("http/1.1", &[&TLS13]).await
    });
    again.await.unwrap();
}

#[tokio::test]
async fn no_more_requests_are_held_than_allowed() {
    let (caps, inside) = (
        Caps {
            requests: 2,
            body: Duration::from_millis(200),
            ..Caps::default()
        },
        Arc::new(AtomicUsize::new(0)),
    );
    let counted = Arc::clone(&inside);
    let stage = listening(caps, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        pending()
    });
    let stage = Arc::new(stage.await);
    for _ in 0..2 {
        let stage = Arc::clone(&stage);
        tokio::spawn(async move { stage.post("/", Vec::new()).await });
    }
    let full = eventually(SOON, "two questions", async || {
        (inside.load(Ordering::SeqCst) == 2).then_some(())
    });
    full.await.unwrap();
    let (status, _) = stage.post("/", Vec::new()).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_stop_lets_questions_be_answered_and_takes_no_more() {
    let (go, gone) = watch::channel(false);
    let (asked, mut is_asked) = watch::channel(false);
    let stage = listening(Caps::default(), move |_| {
        asked.send_replace(true);
        let mut gone = gone.clone();
        async move {
            gone.wait_for(|go| *go).await.unwrap();
            Ok(Response::new(Full::from("late")))
        }
    })
    .await;
    let address = stage.listener.address();
    let stream = stage.connect("http/1.1", &[&TLS13]).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post("/").body(Full::<Bytes>::default()).unwrap();
    let answer = tokio::spawn(sender.send_request(request));
    is_asked.wait_for(|asked| *asked).await.unwrap();
    let stopping = tokio::spawn(stage.listener.shutdown(SOON));
    let refused = eventually(SOON, "a refused connection", async || {
        TcpStream::connect(address).await.err()
    });
    refused.await.unwrap();
    go.send_replace(true);
    let answered = read(answer.await.unwrap().unwrap()).await;
    assert_eq!(answered, (StatusCode::OK, "late".to_owned()));
    timeout(SOON, stopping).await.unwrap().unwrap();
}

#[tokio::test]
async fn without_a_certificate_nobody_gets_in() {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let serving = Arc::new(Serving::default());
    let stage = Stage {
        listener: Listener::start(socket, serving.clone(), service_fn(told), Caps::default())
            .unwrap(),
        bundle: holding().bundle(),
    };
    assert!(stage.connect("http/1.1", &[&TLS13]).await.is_err());
    assert!(!*serving.ready().borrow());
}
