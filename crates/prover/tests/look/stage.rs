//! A tree of real name servers: each at an address of its own, all at one port.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::Range;

use dns::Name;
use egress::Egress;
use prover::{Finding, Looking, Prover, Sources};
use rand::Rng as _;
use tempfile::TempDir;
use testkit::name_server::{NameServer, Software, ZoneFile};

/// What is looked for.
pub(crate) const PROOF: &str = "0123456789abcdef";

/// A server: the last octet of its address, whose it is, and its zones with their records but for the SOA.
pub(crate) type Serving<'a> = (u8, Software, &'a [(&'a str, &'a str)]);

/// Where the servers are. What is written as `~` in zones is the part of the address that they share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Net {
    shared: [u8; 3],
    port: u16,
}

/// The server that is BIND's: it takes only addresses that an interface has, and that is one.
pub(crate) const BIND: u8 = 3;

/// Below the ports that the system gives to whoever asks for any.
const PORTS: Range<u16> = 10_000..30_000;

impl Net {
    /// One that nobody else has.
    pub(crate) fn new() -> Net {
        let mut chance = rand::rng();
        let shared = [127, chance.random_range(1..=255), chance.random()];
        loop {
            let port = chance.random_range(PORTS);
            let net = Net { shared, port };
            let at = net.at(BIND);
            if TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok() {
                return net;
            }
        }
    }

    pub(crate) fn at(self, last: u8) -> SocketAddr {
        let [one, two, three] = self.shared;
        let address = match last {
            BIND => Ipv4Addr::LOCALHOST,
            _ => Ipv4Addr::new(one, two, three, last),
        };
        SocketAddr::new(IpAddr::V4(address), self.port)
    }

    /// A prover that begins at the first server, and may ask all of them.
    pub(crate) fn prover(self) -> Prover {
        let egress = Egress {
            ranges: vec!["127.0.0.0/8".parse().unwrap()],
            hosts: Vec::new(),
        };
        let sources = Sources::Roots(vec![self.at(1)]);
        Prover::new(sources, egress).with_port(self.port)
    }

    fn fill(self, text: &str) -> String {
        let [one, two, three] = self.shared;
        let bind = format!("~.{BIND}\n");
        let text = text.replace(&bind, "127.0.0.1\n");
        text.replace('~', &format!("{one}.{two}.{three}"))
    }
}

/// The servers, for as long as they live.
pub(crate) struct Stage {
    _servers: Vec<NameServer>,
    _folder: TempDir,
}

impl Stage {
    pub(crate) async fn start(net: Net, servers: &[Serving<'_>]) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let mut started = Vec::new();
        for (last, software, zones) in servers {
            let zones = zones.iter().enumerate();
            let files: Vec<ZoneFile> = zones
                .map(|(index, (origin, records))| {
                    let path = folder.path().join(format!("{last}-{index}.zone"));
                    let text = format!(
                        "$TTL 300\n{origin} IN SOA ns. noc. 1 2 3 4 5\n{}",
                        net.fill(records)
                    );
                    fs::write(&path, text).unwrap();
                    let origin = (*origin).to_owned();
                    ZoneFile { origin, path }
                })
                .collect();
            let server = NameServer::start_at(*software, net.at(*last), &files).await;
            started.push(server.unwrap_or_else(|error| panic!("{software}: {error}")));
        }
        Stage {
            _servers: started,
            _folder: folder,
        }
    }
}

/// Looks at the challenge of a domain, and at the domain.
pub(crate) async fn look(prover: &Prover, domain: &str) -> Finding {
    let names = [format!("_c.{domain}."), format!("{domain}.")];
    let looking = Looking {
        names: names.iter().map(|it| Name::parse(it).unwrap()).collect(),
        text: PROOF.to_owned(),
    };
    prover.look(&looking).await
}
