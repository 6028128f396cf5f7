//! Proofs in a real name server that is somebody else's.

use std::net::SocketAddr;

use serde_json::Value;
use tempfile::TempDir;
use testkit::name_server::{NameServer, Software, ZoneFile};

use crate::hand::{condition, hosts, ingress, only_host};
use crate::stage::{Up, example, free_address};

/// How often a start is tried when others take its port.
const ATTEMPTS: usize = 5;

/// BIND over the tenant's zone.
pub(crate) struct Bind {
    server: Option<NameServer>,
    address: SocketAddr,
    folder: TempDir,
}

impl Bind {
    /// Without any proof.
    pub(crate) async fn start() -> Bind {
        let folder = TempDir::new().unwrap();
        for _ in 1..ATTEMPTS {
            let address = free_address();
            if let Ok(server) = serve(&folder, address, "").await {
                return Bind {
                    server: Some(server),
                    address,
                    folder,
                };
            }
        }
        let address = free_address();
        let server = serve(&folder, address, "").await.unwrap();
        Bind {
            server: Some(server),
            address,
            folder,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Nobody answers there any more.
    pub(crate) fn stop(&mut self) {
        self.server = None;
    }

    /// At the same address again, with records of choice.
    pub(crate) async fn serve(&mut self, records: &str) {
        self.stop();
        let server = serve(&self.folder, self.address, records).await;
        self.server = Some(server.unwrap());
    }
}

async fn serve(
    folder: &TempDir,
    address: SocketAddr,
    records: &str,
) -> Result<NameServer, testkit::StartError> {
    let path = folder.path().join("example.com.zone");
    let head = "$TTL 300\nexample.com. IN SOA ns1.example.com. noc.example.com. 1 2 3 4 5\n\
                example.com. IN NS ns1.example.com.\nns1.example.com. IN A 192.0.2.53\n";
    std::fs::write(&path, format!("{head}{records}\n")).unwrap();
    let zone = ZoneFile {
        origin: "example.com.".to_owned(),
        path,
    };
    NameServer::start_at(Software::Bind, address, &[zone]).await
}

/// V5, V6.
#[tokio::test]
async fn a_proof_in_bind_is_found_and_until_then_the_reason_is_told() {
    let mut bind = Bind::start().await;
    let up = Up::start_with(&example("dns-zones.yaml"), Some(bind.address())).await;
    let tenant = up.somebody("tenant");
    let domain = "www.example.com";
    tenant.create("shop", &ingress("web", &[domain])).await;
    let (name, text) = tenant.txt_record("shop", domain).await;
    let wildcard = format!("*.example.com. IN TXT \"{text}\"");
    let steps = [
        ("", "RecordNotFound"),
        (
            "_kuadrant-challenge.www.example.com. IN TXT \"another\"",
            "TokenMismatch",
        ),
        (&wildcard, "WildcardSynthesised"),
    ];
    for (step, (records, reason)) in steps.into_iter().enumerate() {
        bind.serve(records).await;
        tenant.check("shop", "web", &step.to_string()).await;
        let told = |it: &Value| condition(it)["reason"] == reason;
        let seen = tenant.until_verification("shop", domain, told).await;
        assert_eq!(condition(&seen)["status"], "False", "{seen}");
        assert!(condition(&seen)["nextVerification"].is_string(), "{seen}");
        only_host(&tenant.ingress("shop", "web").await);
    }
    bind.stop();
    tenant.check("shop", "web", "down").await;
    let told = |it: &Value| condition(it)["reason"] == "Indeterminate";
    let seen = tenant.until_verification("shop", domain, told).await;
    assert_eq!(condition(&seen)["status"], "False", "{seen}");

    bind.serve(&format!("{name} IN TXT \"{text}\"")).await;
    tenant.check("shop", "web", "proven").await;
    tenant.until_verified("shop", domain).await;
    let back = |it: &Value| hosts(it).first().is_some_and(|it| it == domain);
    tenant.until_ingress("shop", "web", back).await;
}

/// V5: at the domain itself, among others' records.
#[tokio::test]
async fn a_proof_at_the_domain_itself_counts_as_well() {
    let mut bind = Bind::start().await;
    let up = Up::start_with(&example("dns-zones.yaml"), Some(bind.address())).await;
    let tenant = up.somebody("tenant");
    let (host, domain) = ("*.www.example.com", "www.example.com");
    tenant.create("shop", &ingress("web", &[host])).await;
    let (_, text) = tenant.txt_record("shop", domain).await;
    let records = format!("{domain}. IN TXT \"v=spf1 -all\"\n{domain}. IN TXT \"{text}\"");
    bind.serve(&records).await;
    tenant.check("shop", "web", "proven").await;
    tenant.until_verified("shop", domain).await;
    let back = |it: &Value| hosts(it).first().is_some_and(|it| it == host);
    tenant.until_ingress("shop", "web", back).await;
}
