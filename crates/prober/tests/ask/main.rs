//! The prober and real servers on this machine: good ones, bad ones, and some that should not even be asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod certificates;
mod server;

use std::net::IpAddr;
use std::time::{Duration, Instant};

use api::parse::health_check::Protocol;
use api::parse::target::Target;
use dns::Name;
use egress::Egress;
use http::{HeaderMap, HeaderValue};
use prober::{Asking, Prober};
use rustls::RootCertStore;

use certificates::{Authority, HOST};
use server::{Behaviour, Server};

/// More than a server on this machine takes, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(9);

/// Long enough that an answer would have come.
const BRIEFLY: Duration = Duration::from_millis(300);

fn asking(server: &Server, protocol: Protocol) -> Asking {
    Asking {
        host: Name::parse(&format!("{HOST}.")).unwrap(),
        target: Target::Address(server.address.ip()),
        port: server.address.port(),
        protocol,
        path: "/healthz?deep=1".to_owned(),
        headers: HeaderMap::new(),
        insecure: false,
        within: PATIENCE,
    }
}

/// One that may ask this machine, and believes one authority.
fn prober(authority: Option<&Authority>) -> Prober {
    let mut roots = RootCertStore::empty();
    if let Some(authority) = authority {
        roots.add(authority.certificate()).unwrap();
    }
    let ranges = ["127.0.0.0/8", "::1/128"].map(|range| range.parse().unwrap());
    let egress = Egress {
        ranges: ranges.to_vec(),
        hosts: Vec::new(),
    };
    Prober::new(egress, roots).unwrap()
}

async fn told(prober: &Prober, asking: &Asking) -> Result<u16, String> {
    prober.ask(asking).await.map_err(|fault| fault.to_string())
}

#[tokio::test]
async fn the_status_of_the_answer_is_told_and_redirects_are_not_followed() {
    // D6.
    for status in [200, 201, 204, 302, 404, 503] {
        let server = Server::start(Behaviour::Answers(status)).await;
        let asked = told(&prober(None), &asking(&server, Protocol::Http)).await;
        assert_eq!(asked, Ok(status));
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn the_request_asks_for_the_host_and_carries_the_headers() {
    let server = Server::start(Behaviour::Answers(200)).await;
    let mut asking = asking(&server, Protocol::Http);
    let token = HeaderValue::from_static("Bearer s3cret");
    asking.headers.insert("authorization", token);
    asking
        .headers
        .insert("user-agent", HeaderValue::from_static("mine"));
    assert_eq!(told(&prober(None), &asking).await, Ok(200));
    let requests = server.requests();
    let lines: Vec<&str> = requests[0].lines().collect();
    assert_eq!(lines[0], "GET /healthz?deep=1 HTTP/1.1");
    let host = format!("host: {HOST}:{}", server.address.port());
    for line in [
        host.as_str(),
        "connection: close",
        "authorization: Bearer s3cret",
        "user-agent: mine",
    ] {
        assert!(lines.contains(&line), "{line} in {lines:?}");
    }
}

#[tokio::test]
async fn what_hangs_is_given_up_in_time() {
    // D6.
    for behaviour in [Behaviour::Hangs, Behaviour::Trickles] {
        let server = Server::start(behaviour).await;
        let asking = Asking {
            within: BRIEFLY,
            ..asking(&server, Protocol::Http)
        };
        let began = Instant::now();
        let asked = told(&prober(None), &asking).await;
        assert_eq!(asked, Err("no answer within 300ms".to_owned()));
        assert!(began.elapsed() < PATIENCE, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_body_that_hangs_or_never_ends_is_not_waited_for() {
    // D6.
    for behaviour in [Behaviour::HangsInBody, Behaviour::NeverEnds] {
        let server = Server::start(behaviour).await;
        let asked = told(&prober(None), &asking(&server, Protocol::Http)).await;
        assert_eq!(asked, Ok(200), "{behaviour:?}");
        server.until_left().await;
    }
}

#[tokio::test]
async fn what_goes_wrong_on_the_way_is_told_in_words() {
    let nobody = Server::gone().await;
    let asked = told(&prober(None), &asking(&nobody, Protocol::Http)).await;
    assert_eq!(asked, Err("connection refused".to_owned()));
    let cases = [
        (Behaviour::Resets, "connection reset"),
        (Behaviour::Closes, "connection closed before an answer"),
        (Behaviour::Babbles, "HTTP: invalid HTTP version parsed"),
        (
            Behaviour::NeverEndingHead,
            "HTTP: message head is too large",
        ),
    ];
    for (behaviour, words) in cases {
        let server = Server::start(behaviour).await;
        let asked = told(&prober(None), &asking(&server, Protocol::Http)).await;
        assert_eq!(asked, Err(words.to_owned()), "{behaviour:?}");
    }
}

#[tokio::test]
async fn nothing_that_a_target_sends_is_repeated() {
    // H14.
    let server = Server::start(Behaviour::Babbles).await;
    for protocol in [Protocol::Http, Protocol::Https] {
        let asked = told(&prober(None), &asking(&server, protocol)).await;
        let words = asked.unwrap_err();
        assert!(!words.contains(server::BABBLE), "{words}");
    }
}

#[tokio::test]
async fn a_certificate_has_to_be_good_for_the_host() {
    // D6: verified by default.
    let authority = Authority::new("ours");
    let good = prober(Some(&authority));
    let server = Server::start_tls(Behaviour::Answers(200), authority.for_host(HOST)).await;
    let asking_it = asking(&server, Protocol::Https);
    assert_eq!(told(&good, &asking_it).await, Ok(200));
    assert_eq!(server.sni(), [Some(HOST.to_owned())], "SNI is the host's");

    let untrusted = "certificate: signed by nobody this process trusts";
    let cases = [
        (
            authority.for_host("other.example.org"),
            "certificate: is for another host than spec.hostname",
        ),
        (authority.expired(HOST), "certificate: has expired"),
        (Authority::new("theirs").for_host(HOST), untrusted),
        (certificates::self_signed(HOST), untrusted),
    ];
    for (identity, words) in cases {
        let server = Server::start_tls(Behaviour::Answers(200), identity).await;
        let asking_it = asking(&server, Protocol::Https);
        let refused = told(&good, &asking_it).await.unwrap_err();
        assert!(refused.starts_with(words), "{words}: {refused}");
        assert_eq!(server.requests(), [""; 0], "nothing is sent: {words}");
        let insecure = Asking {
            insecure: true,
            ..asking_it
        };
        assert_eq!(told(&good, &insecure).await, Ok(200), "{words}");
    }
}

#[tokio::test]
async fn a_server_without_tls_says_so_when_asked_over_tls() {
    let server = Server::start(Behaviour::Babbles).await;
    let asked = told(&prober(None), &asking(&server, Protocol::Https)).await;
    assert_eq!(
        asked,
        Err("answers with something else than TLS".to_owned())
    );
}

#[tokio::test]
async fn a_target_of_ipv6_is_asked() {
    let server = Server::start_at("[::1]:0", Behaviour::Answers(201)).await;
    let asked = told(&prober(None), &asking(&server, Protocol::Http)).await;
    assert_eq!(asked, Ok(201));
}

#[tokio::test]
async fn a_host_is_as_healthy_as_the_best_of_its_addresses() {
    let server = Server::start(Behaviour::Answers(200)).await;
    let asking = Asking {
        target: Target::Host(Name::parse("localhost.").unwrap()),
        ..asking(&server, Protocol::Http)
    };
    // It listens on 127.0.0.1 alone, and localhost may have another address.
    assert_eq!(told(&prober(None), &asking).await, Ok(200));
    let refused = Prober::new(Egress::default(), RootCertStore::empty()).unwrap();
    let words = told(&refused, &asking).await.unwrap_err();
    assert!(words.contains("is not a public address"), "{words}");
    let nowhere = Asking {
        target: Target::Host(Name::parse("nowhere.invalid.").unwrap()),
        ..asking
    };
    let words = told(&refused, &nowhere).await.unwrap_err();
    assert_eq!(words, "nowhere.invalid has no address");
}

#[tokio::test]
async fn only_addresses_that_may_be_connected_to_are() {
    // H12, H14.
    let server = Server::start(Behaviour::Answers(200)).await;
    let prober = Prober::new(Egress::default(), RootCertStore::empty()).unwrap();
    for address in [
        "127.0.0.1",
        "::1",
        "::ffff:127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "fd00::1",
        "192.168.0.1",
        "0.0.0.0",
    ] {
        let address: IpAddr = address.parse().unwrap();
        let asking = Asking {
            target: Target::Address(address),
            ..asking(&server, Protocol::Http)
        };
        let refused = told(&prober, &asking).await.unwrap_err();
        let words = format!(
            "{} is not a public address; the operator can allow it with --allow-address",
            address.to_canonical()
        );
        assert_eq!(refused, words);
    }
    assert_eq!(server.requests(), [""; 0]);
}
