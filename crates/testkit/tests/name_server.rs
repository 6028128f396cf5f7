//! Real name servers answer from the files they are given, and end with their owner.

#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests call may panic like tests"
)]

use std::fs;
use std::net::UdpSocket;
use std::time::Duration;

use testkit::StartError;
use testkit::name_server::{NameServer, Software, ZoneFile};

const SOON: Duration = Duration::from_secs(10);

fn zone_file(folder: &tempfile::TempDir, text: &str) -> ZoneFile {
    let path = folder.path().join("example.org.zone");
    fs::write(&path, text).unwrap();
    ZoneFile {
        origin: "example.org.".to_owned(),
        path,
    }
}

async fn start(software: Software, zone: ZoneFile) -> Result<NameServer, StartError> {
    let started = NameServer::start(software, &[zone]).await;
    if let Err(StartError::Missing(error)) = &started {
        panic!("no name servers: {error}");
    }
    started
}

#[tokio::test]
async fn each_server_comes_up_and_gives_its_port_back() {
    let folder = tempfile::tempdir().unwrap();
    let text = "$ORIGIN example.org.\n@ 300 IN SOA ns noc 1 2 3 4 5\n@ 300 IN NS ns.example.net.\n";
    for software in Software::ALL {
        let server = start(software, zone_file(&folder, text)).await.unwrap();
        let address = server.address();
        assert!(UdpSocket::bind(address).is_err(), "{software} has its port");
        drop(server);
        // The last of its processes may end a moment later.
        let back = testkit::eventually(SOON, "the port", async || UdpSocket::bind(address));
        back.await.unwrap();
    }
}

#[tokio::test]
async fn two_of_a_kind_run_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let zone = zone_file(
        &folder,
        "example.org. 300 IN SOA ns noc 1 2 3 4 5\nexample.org. 300 IN NS ns.\n",
    );
    for software in Software::ALL {
        let one = start(software, zone.clone());
        let (one, other) = tokio::join!(one, start(software, zone.clone()));
        assert_ne!(one.unwrap().address(), other.unwrap().address());
    }
}
