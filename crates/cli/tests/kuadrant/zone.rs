//! The name server of the zone: it answers with what the double of Route 53 holds.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use api::parse::provider_secret::{Aws as Access, Confidential, StaticKeys};
use dns::hosted::{Holdings, HostedKey, HostedSet};
use dns::routing::Membership;
use dns::{Name, Publication, Rdata, RecordSet, Rtype, Serial, SetKey, Soa, Ttl, Version, Zone};
use egress::Egress;
use nameserver::{Options, Server};
use provider::{Provider as _, ZoneId};
use providers::aws::Aws;
use testkit::control_plane::kuadrant;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::stage::{KEY, ZONE};

/// How often the zone is read. The suite looks for something every second at most.
const EVERY: Duration = Duration::from_millis(250);

/// How many versions wait for the server, which takes them at once.
const WAITING_MAX: usize = 8;

/// A name server at port 53 of an address of its own, which goes with this value.
pub(crate) struct NameServer {
    address: Ipv4Addr,
    _server: Server,
    _copying: JoinSet<()>,
}

impl NameServer {
    pub(crate) async fn start(route53: &str, zone: &str) -> NameServer {
        let aws = provider(route53).await;
        let (publish, publications) = mpsc::channel(WAITING_MAX);
        let (seen, mut sightings) = mpsc::channel(WAITING_MAX);
        let address = kuadrant::free_address().unwrap();
        let options = Options {
            listeners: vec![SocketAddr::from((address, 53))],
            workers: Some(1),
            ..Options::default()
        };
        let server = Server::open(options, publications, seen).unwrap();
        let zone = ZoneId(zone.to_owned());
        let mut copying = JoinSet::new();
        copying.spawn(async move { copy(&aws, &zone, address, publish).await });
        // There is something to ask for from the beginning.
        sightings.recv().await.expect("the zone is answered");
        copying.spawn(async move { while sightings.recv().await.is_some() {} });
        NameServer {
            address,
            _server: server,
            _copying: copying,
        }
    }

    pub(crate) fn address(&self) -> Ipv4Addr {
        self.address
    }
}

async fn provider(route53: &str) -> Aws {
    let access = Access {
        keys: Some(StaticKeys {
            id: KEY.to_owned(),
            secret: Confidential::new("secret".to_owned()),
        }),
        region: "us-east-1".to_owned(),
        endpoint: Some(route53.to_owned()),
    };
    let loopback = Egress {
        ranges: vec!["127.0.0.0/8".parse().unwrap()],
        ..Egress::default()
    };
    let pace = Arc::new(Aws::pace());
    Aws::new(&access, Arc::new(loopback), pace).await.unwrap()
}

/// Publishes what the zone holds whenever it is something else.
async fn copy(aws: &Aws, zone: &ZoneId, address: Ipv4Addr, publish: mpsc::Sender<Publication>) {
    let mut last = None;
    for serial in (1..).map(Serial) {
        let held = loop {
            let snapshot = aws.read(zone).await.unwrap();
            let held = answered(&snapshot.holdings, address);
            if last.as_ref() != Some(&held) {
                break held;
            }
            tokio::time::sleep(EVERY).await;
        };
        last = Some(held.clone());
        let version = Version { zone: held, serial };
        if publish.send(Publication::Version(version)).await.is_err() {
            return;
        }
    }
}

/// What a name server answers that holds these sets. It is the only one.
fn answered(holdings: &Holdings, address: Ipv4Addr) -> Zone {
    let apex = Name::parse(&format!("{ZONE}.")).unwrap();
    let server = Name::parse(&format!("ns.{ZONE}.")).unwrap();
    let ttl = Ttl::from_secs(60).unwrap();
    let soa = Soa {
        ttl,
        mname: server.clone(),
        rname: apex.clone(),
        refresh: 7200,
        retry: 900,
        expire: 1_209_600,
        minimum: ttl,
    };
    let mut zone = Zone::new(apex.clone(), soa);
    let mut put = |name: &Name, rtype, data: String| {
        let data = Rdata::parse(rtype, &data, &Name::root()).unwrap();
        let set = RecordSet::new([(ttl, data)]).unwrap();
        zone.put(SetKey::new(name.clone(), rtype), set).unwrap();
    };
    put(&apex, Rtype::NS, server.to_string());
    put(&server, Rtype::A, address.to_string());
    let mut sets = BTreeMap::<SetKey, Vec<_>>::new();
    for (key, held) in holdings {
        let set = held.set().expect("there are only sets of DNS");
        if key.name != apex {
            sets.entry(key.set()).or_default().extend(records(key, set));
        }
    }
    for (key, records) in sets {
        zone.put(key, RecordSet::assemble(records).unwrap())
            .unwrap();
    }
    zone
}

fn records<'a>(
    key: &'a HostedKey,
    set: &'a HostedSet,
) -> impl Iterator<Item = (Option<Membership>, Ttl, Rdata)> + 'a {
    let membership = (!set.routing.is_plain()).then(|| Membership {
        identifier: key.identifier.parse().unwrap(),
        routing: set.routing.clone(),
    });
    let data = set.records.data().iter();
    data.map(move |data| (membership.clone(), set.records.ttl(), data.clone()))
}
