//! The face as clients see it: real TLS over loopback.

mod client;

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::authentication::Papers;
use super::tokens::Grant;
use super::*;
use client::{Client, Protocol, Stranger};

const SOON: Duration = Duration::from_secs(5);

/// A face on a port of its own. Its service tells who asked; `/stream` never ends.
struct Server {
    face: Arc<Face>,
    shown: Shown,
}

impl Server {
    async fn start() -> Self {
        let face = Arc::new(Face::open(None, Timestamp::now()).unwrap());
        Self::show(face, None).await
    }

    async fn show(face: Arc<Face>, kubeconfig: Option<KubeconfigFile>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let accounts = Arc::new(|namespace: &str, name: &str, uid: &str| {
            (namespace, name, uid) == ("dns", "robot", "7")
        });
        let shown = face
            .show(listener, client::service(), accounts, kubeconfig)
            .unwrap();
        Self { face, shown }
    }

    fn client(&self) -> Client {
        Client::new(self.shown.address(), &self.face.pki.authority().certificate)
    }

    fn token(&self, expires: SignedDuration, audiences: &[String]) -> String {
        let now = Timestamp::now();
        let grant = Grant {
            namespace: "dns",
            name: "robot",
            uid: "7",
            audiences,
            expires: now + expires,
            id: Uuid::from_u128(1),
        };
        self.face
            .tokens()
            .issue(&grant, now - SignedDuration::from_mins(10))
    }
}

const HOUR: SignedDuration = SignedDuration::from_hours(1);

fn refusal() -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Unauthorized", "reason": "Unauthorized", "code": 401,
    })
}

/// Asks for `/api` and expects the name of the one who asked.
async fn check_known(client: &Client, name: &str) -> Value {
    let (status, body) = client.get("/api").await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["name"], name);
    body
}

/// Asks for `path` and expects the refusal of an API server that does not know who asks.
async fn check_refused(client: &Client, path: &str) {
    let (status, body) = client.get(path).await;
    assert_eq!((status, body), (StatusCode::UNAUTHORIZED, refusal()));
}

#[tokio::test]
async fn the_admins_certificate_is_known_by_its_name_and_groups() {
    let server = Server::start().await;
    let admin = server.face.pki.admin(Timestamp::now()).unwrap();
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let client = server.client().with_certificate(&admin).speaking(protocol);
        let user = check_known(&client, "zonewright-admin").await;
        assert_eq!(
            user["groups"],
            json!(["system:masters", "system:authenticated"])
        );
        let id = user["extra"]["authentication.kubernetes.io/credential-id"][0]
            .as_str()
            .unwrap();
        assert_eq!(id.len(), "X509SHA256=".len() + 64, "{id}");
        assert_eq!(user["version"], protocol.name());
    }
}

#[tokio::test]
async fn nobody_gets_in_without_saying_who_they_are() {
    let server = Server::start().await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let client = server.client().speaking(protocol);
        check_refused(&client, "/api").await;
        check_refused(&client, "/livez/ping").await;
        let basic = client.with_authorization("Basic YTpi");
        check_refused(&basic, "/api").await;
    }
}

#[tokio::test]
async fn anyone_may_ask_whether_the_api_lives() {
    let server = Server::start().await;
    for path in [
        "/livez",
        "/readyz",
        "/healthz",
        "/version",
        "/version/",
        "/livez?verbose",
    ] {
        let (status, user) = server.client().get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert_eq!(user["name"], "system:anonymous");
        assert_eq!(user["groups"], json!(["system:unauthenticated"]));
    }
    let (status, _) = server.client().send("HEAD", "/livez").await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let (status, _) = server.client().send("POST", "/version").await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_bad_credential_is_refused_even_where_none_is_needed() {
    let server = Server::start().await;
    let garbage = server.client().with_authorization("Bearer garbage");
    check_refused(&garbage, "/livez").await;
    let foreign = server
        .client()
        .with_stranger(&Stranger::of_another_authority());
    check_refused(&foreign, "/livez").await;
}

#[tokio::test]
async fn certificates_that_prove_nothing_get_an_answer_and_no_broken_handshake() {
    let server = Server::start().await;
    let authority = server.face.pki.authority();
    for stranger in [
        Stranger::of_another_authority(),
        Stranger::expired(authority),
        Stranger::not_yet_valid(authority),
        Stranger::for_serving(authority),
        Stranger::self_signed_as_admin(),
        Stranger::without_a_name(authority),
    ] {
        let client = server.client().with_stranger(&stranger);
        check_refused(&client, "/api").await;
        check_refused(&client.speaking(Protocol::Http2), "/api").await;
    }
}

#[test]
fn a_certificate_is_worth_nothing_once_it_has_expired_on_an_open_connection() {
    let face = Face::open(None, Timestamp::now()).unwrap();
    let authentication = face.authentication(Arc::new(|_: &str, _: &str, _: &str| false));
    let stranger = Stranger::expired(face.pki.authority());
    let papers = Papers::new(std::slice::from_ref(stranger.certificate()));
    let (request, ()) = http::Request::get("/api").body(()).unwrap().into_parts();
    let expired: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    let known = [-2, -1, 0, 1, 2].map(|second| {
        let now = expired + SignedDuration::from_secs(second);
        authentication.judge(&request, &papers, now).is_ok()
    });
    assert_eq!(known, [true, true, true, false, false]);
}

#[tokio::test]
async fn a_good_certificate_of_our_authority_is_known_whatever_its_name() {
    let server = Server::start().await;
    let jane = Stranger::issued(server.face.pki.authority(), "jane", &["dev", "ops"]);
    let user = check_known(&server.client().with_stranger(&jane), "jane").await;
    assert_eq!(
        user["groups"],
        json!(["dev", "ops", "system:authenticated"])
    );
}

#[tokio::test]
async fn the_admins_token_is_as_good_as_their_certificate() {
    let server = Server::start().await;
    let token = &server.face.admin_token;
    for header in [
        format!("Bearer {token}"),
        format!("bearer {token} "),
        format!("BEARER {token} x"),
    ] {
        check_known(
            &server.client().with_authorization(&header),
            "zonewright-admin",
        )
        .await;
    }
    for header in [
        format!("Bearer {token}x"),
        format!("Bearer {}", &token[1..]),
        format!("Bearer  {token}"),
        token.clone(),
    ] {
        check_refused(&server.client().with_authorization(&header), "/api").await;
    }
}

#[tokio::test]
async fn a_service_account_is_known_by_its_token() {
    let server = Server::start().await;
    let token = server.token(HOUR, &[]);
    let client = server
        .client()
        .with_authorization(&format!("Bearer {token}"));
    let user = check_known(&client, "system:serviceaccount:dns:robot").await;
    assert_eq!(user["uid"], "7");
    assert_eq!(
        user["groups"],
        json!([
            "system:serviceaccounts",
            "system:serviceaccounts:dns",
            "system:authenticated"
        ])
    );
    assert_eq!(
        user["extra"],
        json!({ "authentication.kubernetes.io/credential-id": [format!("JTI={}", Uuid::from_u128(1))] })
    );
    assert_eq!(
        user["authorization"],
        Value::Null,
        "the service does not see the secret"
    );
}

#[tokio::test]
async fn tokens_that_prove_nothing_are_refused() {
    let (server, other) = (Server::start().await, Server::start().await);
    let now = Timestamp::now();
    let gone = Grant {
        namespace: "dns",
        name: "robot",
        uid: "8",
        audiences: &[],
        expires: now + HOUR,
        id: Uuid::nil(),
    };
    for token in [
        server.token(SignedDuration::from_mins(-2), &[]),
        server.token(HOUR, &["elsewhere".to_owned()]),
        server.face.tokens().issue(&gone, now),
        other.token(HOUR, &[]),
        "a.b.c".to_owned(),
        "..".to_owned(),
    ] {
        let client = server
            .client()
            .with_authorization(&format!("Bearer {token}"));
        check_refused(&client, "/api").await;
    }
}

#[tokio::test]
async fn one_good_credential_is_enough() {
    let server = Server::start().await;
    let token = format!("Bearer {}", server.token(HOUR, &[]));
    let foreign = Stranger::of_another_authority();
    let client = server
        .client()
        .with_stranger(&foreign)
        .with_authorization(&token);
    check_known(&client, "system:serviceaccount:dns:robot").await;
    let admin = server.face.pki.admin(Timestamp::now()).unwrap();
    let client = server
        .client()
        .with_certificate(&admin)
        .with_authorization("Bearer garbage");
    check_known(&client, "zonewright-admin").await;
}

#[tokio::test]
async fn whoever_speaks_http_without_tls_is_told_so() {
    let server = Server::start().await;
    let answer = client::plain(server.shown.address(), b"GET / HTTP/1.1\r\n\r\n").await;
    assert_eq!(
        answer,
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    );
}

#[tokio::test]
async fn strangers_get_one_request_per_http2_connection() {
    let server = Server::start().await;
    let stranger = server.client().speaking(Protocol::Http2).connect().await;
    stranger.get("/version").await.unwrap();
    stranger.closed(SOON).await;
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_says_nothing_is_sent_away_and_a_friend_is_not() {
    let server = Server::start().await;
    let token = format!("Bearer {}", server.face.admin_token);
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let stranger = server.client().speaking(protocol);
        let friend = stranger.with_authorization(&token).connect().await;
        friend.get("/api").await.unwrap();
        stranger
            .connect()
            .await
            .closed(Duration::from_secs(33))
            .await;
        friend.get("/api").await.expect("still open");
    }
}

#[tokio::test]
async fn a_request_that_is_being_answered_outlives_the_stop_and_a_stream_does_not() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let server = Server::start().await;
        let token = format!("Bearer {}", server.face.admin_token);
        let client = server
            .client()
            .with_authorization(&token)
            .speaking(protocol);
        let (slow, stream) = (client.connect().await, client.connect().await);
        let mut endless = stream.open("/stream").await;
        assert_eq!(client::next(&mut endless).await.as_deref(), Some("tick"));
        let answer = tokio::spawn(async move { slow.get("/slow").await });
        client::SLOW_BEGAN.notified().await;
        let shutdown = tokio::spawn(server.shown.shutdown(Duration::from_millis(300)));
        assert_eq!(answer.await.unwrap().unwrap().0, StatusCode::OK);
        shutdown.await.unwrap();
        assert_eq!(client::next(&mut endless).await, None, "cut off");
        assert!(
            client.try_connect().await.is_err(),
            "nobody listens any more"
        );
    }
}

#[tokio::test]
async fn a_stop_waits_for_no_connection_that_is_idle() {
    let server = Server::start().await;
    let token = format!("Bearer {}", server.face.admin_token);
    let client = server.client().with_authorization(&token);
    let idle = [
        client.speaking(Protocol::Http1).connect().await,
        client.speaking(Protocol::Http2).connect().await,
    ];
    for connection in &idle {
        connection.get("/api").await.unwrap();
    }
    let stop = server.shown.shutdown(Duration::from_hours(1));
    tokio::time::timeout(SOON, stop).await.expect("stopped");
}

#[tokio::test]
async fn kubectl_and_its_like_get_in_with_the_kubeconfig() {
    let directory = TempDir::new().unwrap();
    for credential in [AdminCredential::Certificate, AdminCredential::Token] {
        let face = Arc::new(Face::open(Some(directory.path()), Timestamp::now()).unwrap());
        let path = directory.path().join("kubeconfig");
        let file = KubeconfigFile {
            path: path.clone(),
            credential,
        };
        let _server = Server::show(face, Some(file)).await;
        let user = client::kube(&path).await;
        assert_eq!(user["name"], "zonewright-admin");
    }
}

#[tokio::test]
async fn certificates_are_exchanged_while_they_are_in_use() {
    let face = Arc::new(Face::open(None, Timestamp::now()).unwrap());
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("kubeconfig");
    let now = Timestamp::now();
    let address: SocketAddr = "127.0.0.1:1".parse().unwrap();
    let serving = Arc::new(Serving::new(face.pki.serving(address.ip(), now).unwrap()));
    let credential = AdminCredential::Certificate;
    let kubeconfig = Some(KubeconfigFile {
        path: path.clone(),
        credential,
    });
    let mut renewal = Renewal {
        face,
        address,
        serving: serving.clone(),
        kubeconfig,
        written: None,
    };
    renewal.write_kubeconfig(now).unwrap();
    let before = (
        format!("{serving:?}"),
        std::fs::read_to_string(&path).unwrap(),
    );

    std::fs::write(&path, "edited").unwrap();
    renewal
        .look(now + SignedDuration::from_hours(243 * 24))
        .unwrap();
    let edited = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        (format!("{serving:?}"), edited.as_str()),
        (before.0.clone(), "edited")
    );

    renewal
        .look(now + SignedDuration::from_hours(244 * 24))
        .unwrap();
    assert_ne!(format!("{serving:?}"), before.0);
    let after = std::fs::read_to_string(&path).unwrap();
    assert!(after != before.1 && after != "edited", "{after}");
}
