//! Who is let in, and where nobody is.

use std::sync::Arc;
use std::time::Duration;

use api::parse::provider_secret::{Confidential, Tsig, TsigAlgorithm};
use dns::Rtype;
use egress::Egress;
use provider::battery::Stage as _;
use provider::{Error, Provider as _, ZoneId};
use providers::pace::Pace;
use providers::rfc2136::Rfc2136;
use testkit::name_server::Software;
use tokio::net::TcpSocket;

use crate::stage::{APEX, Server, access, batch, change, name, provider, tsig};

/// What listing, reading and writing say.
async fn errors(provider: &Rfc2136, zone: &str) -> [Error; 3] {
    let (id, owner) = (ZoneId(zone.to_owned()), format!("www.{zone}"));
    let www = batch([change(&owner, Rtype::A, &[], &["192.0.2.1"])]);
    [
        provider.zones().await.unwrap_err(),
        provider.read(&id).await.unwrap_err(),
        provider.write(&id, &www).await.unwrap_err(),
    ]
}

#[tokio::test]
async fn a_key_that_the_server_does_not_take_is_denied_and_named() {
    // D22.
    let wrong = [
        (
            "BADKEY",
            Tsig {
                name: name("other."),
                ..tsig()
            },
        ),
        (
            "BADKEY",
            Tsig {
                algorithm: TsigAlgorithm::Sha512,
                ..tsig()
            },
        ),
        (
            "BADSIG",
            Tsig {
                secret: Confidential::new("b3RoZXI=".to_owned()),
                ..tsig()
            },
        ),
    ];
    for software in [Software::Bind, Software::Knot] {
        let server = Server::start(software).await;
        for (code, key) in &wrong {
            for error in errors(&server.access(key, APEX), APEX).await {
                let story = error.story();
                assert!(matches!(error, Error::Denied(_)), "{software}: {story}");
                assert!(story.contains(code), "{software}: {story}");
            }
        }
        let read = server.provider.read(server.zone()).await.unwrap();
        assert_eq!(read.holdings.len(), 3, "nothing was written to {software}");
    }
}

#[tokio::test]
async fn a_zone_that_the_server_does_not_have_is_missing() {
    for software in [Software::Bind, Software::Knot] {
        let server = Server::start(software).await;
        for zone in ["example.net.", "sub.example.org.", "org."] {
            for error in errors(&server.access(&tsig(), zone), zone).await {
                assert!(
                    matches!(error, Error::Missing),
                    "{software}, {zone}: {}",
                    error.story()
                );
            }
        }
    }
}

#[tokio::test]
async fn a_zone_is_called_by_its_name_with_or_without_the_dot() {
    let server = Server::start(Software::Knot).await;
    for id in ["example.org.", "example.org", "EXAMPLE.org"] {
        let read = server.provider.read(&ZoneId(id.to_owned())).await;
        assert!(read.is_ok(), "{id}");
    }
    for id in ["", ".", "org", "badexample.org", "not a name"] {
        let read = server.provider.read(&ZoneId(id.to_owned())).await;
        assert!(matches!(read, Err(Error::Missing)), "{id}");
    }
}

#[tokio::test]
async fn a_server_that_takes_no_updates_refuses_them() {
    let server = Server::start(Software::Nsd).await;
    let www = batch([change("www.example.org.", Rtype::A, &[], &["192.0.2.1"])]);
    let error = server
        .provider
        .write(server.zone(), &www)
        .await
        .unwrap_err();
    assert_eq!(
        error.story(),
        "the provider refused: the name server answers NOTIMP: it takes no updates"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unclear() {
    // Who has a port and does not listen keeps others from it.
    let nobody = TcpSocket::new_v4().unwrap();
    nobody.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = nobody.local_addr().unwrap();
    for error in errors(&provider(address, &tsig(), APEX), APEX).await {
        assert_eq!(
            error.story(),
            "there was no clear answer: cannot connect to the name server: Connection refused (os error 111)"
        );
    }
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_not_connected_to() {
    let server = Server::start(Software::Knot).await;
    let access = access(server.address(), &tsig());
    let pace = Arc::new(Pace::new(Duration::ZERO, 1));
    let provider = Rfc2136::new(&access, name(APEX), Arc::new(Egress::default()), pace).unwrap();
    for error in errors(&provider, APEX).await {
        assert_eq!(
            error.story(),
            "access is denied: 127.0.0.1 is not a public address; the operator can allow it with --allow-address"
        );
    }
}
