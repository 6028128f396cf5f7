//! A real server with one zone, and access to it.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api::parse::provider_secret::{Confidential, Rfc2136 as Access, Tsig, TsigAlgorithm};
use dns::hosted::{Batch, Change, Held, HostedKey, HostedSet};
use dns::{Name, Rdata, RecordSet, Rtype, Ttl};
use egress::Egress;
use provider::battery::Stage;
use provider::{Boxed, Provider, ZoneId};
use providers::pace::Pace;
use providers::rfc2136::Rfc2136;
use tempfile::TempDir;
use testkit::name_server::{NameServer, Software, TsigKey, ZoneFile};

pub(crate) const APEX: &str = "example.org.";
pub(crate) const KEY: &str = "zonewright";
/// As `openssl rand -base64 32` makes them.
pub(crate) const SECRET: &str = "bWVldCBtZSBhdCB0aGUgZW5kIG9mIHRoZSB0cmFuc2Y=";

const ZONE: &str = "$ORIGIN example.org.
$TTL 300
@ IN SOA ns hostmaster 1 7200 900 1209600 300
@ IN NS ns
ns IN A 192.0.2.53
";

/// A server that takes transfers and updates with our key.
pub(crate) struct Server {
    pub(crate) provider: Rfc2136,
    zone: ZoneId,
    apex: Name,
    process: NameServer,
    _folder: TempDir,
}

impl Server {
    pub(crate) async fn start(software: Software) -> Server {
        Server::start_with(software, "").await
    }

    /// With more lines in the zone file.
    pub(crate) async fn start_with(software: Software, lines: &str) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let zone = zone_file(&folder, lines);
        let server = NameServer::start_with_key(software, &[zone], &tsig_key()).await;
        let server = server.unwrap_or_else(|error| panic!("{error}"));
        Server {
            provider: provider(server.address(), &tsig(), APEX),
            zone: ZoneId(APEX.to_owned()),
            apex: name(APEX),
            process: server,
            _folder: folder,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.process.address()
    }

    /// Access as somebody else has it.
    pub(crate) fn access(&self, key: &Tsig, zone: &str) -> Rfc2136 {
        provider(self.address(), key, zone)
    }
}

impl Stage for Server {
    fn provider(&self) -> &dyn Provider {
        &self.provider
    }

    fn zone(&self) -> &ZoneId {
        &self.zone
    }

    fn apex(&self) -> &Name {
        &self.apex
    }

    fn tamper<'a>(&'a self, change: &'a Change) -> Boxed<'a, ()> {
        Box::pin(async {
            let other = self.access(&tsig(), APEX);
            let held = other.read(&self.zone).await.unwrap().holdings;
            let change = Change {
                before: held.get(&change.key).and_then(Held::set).cloned(),
                ..change.clone()
            };
            let changes = vec![change];
            other.write(&self.zone, &Batch { changes }).await.unwrap();
        })
    }
}

fn zone_file(folder: &TempDir, lines: &str) -> ZoneFile {
    let path = folder.path().join("zone");
    let mut text = ZONE.to_owned();
    write!(text, "{lines}").unwrap();
    fs::write(&path, text).unwrap();
    let origin = APEX.to_owned();
    ZoneFile { origin, path }
}

/// The key in the words of the server.
pub(crate) fn tsig_key() -> TsigKey {
    TsigKey {
        name: KEY.to_owned(),
        algorithm: "hmac-sha256".to_owned(),
        secret: SECRET.to_owned(),
    }
}

/// The key in the words of a Secret.
pub(crate) fn tsig() -> Tsig {
    Tsig {
        name: name(&format!("{KEY}.")),
        secret: Confidential::new(SECRET.to_owned()),
        algorithm: TsigAlgorithm::Sha256,
    }
}

/// Access to a server on loopback.
pub(crate) fn provider(server: SocketAddr, key: &Tsig, zone: &str) -> Rfc2136 {
    let egress = Egress {
        ranges: vec!["127.0.0.0/8".parse().unwrap()],
        ..Egress::default()
    };
    let pace = Pace::new(Duration::ZERO, 1);
    let access = access(server, key);
    Rfc2136::new(&access, name(zone), Arc::new(egress), Arc::new(pace)).unwrap()
}

pub(crate) fn access(server: SocketAddr, key: &Tsig) -> Access {
    Access {
        host: server.ip().to_string(),
        port: server.port(),
        key: key.clone(),
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(crate) fn zone_id() -> ZoneId {
    ZoneId(APEX.to_owned())
}

pub(crate) fn set(ttl: u32, rtype: Rtype, data: &[&str]) -> HostedSet {
    let ttl = Ttl::from_secs(ttl).unwrap();
    let data = data.iter();
    let data = data.map(|text| (ttl, Rdata::parse(rtype, text, &Name::root()).unwrap()));
    HostedSet::plain(RecordSet::new(data).unwrap())
}

/// A set that becomes another one; an empty list is no set.
pub(crate) fn change(owner: &str, rtype: Rtype, before: &[&str], after: &[&str]) -> Change {
    let side = |data: &[&str]| (!data.is_empty()).then(|| set(300, rtype, data));
    Change {
        key: HostedKey::plain(name(owner), rtype),
        before: side(before),
        after: side(after),
    }
}

pub(crate) fn batch<const N: usize>(changes: [Change; N]) -> Batch {
    Batch {
        changes: changes.into(),
    }
}
