//! `zonewright up` with a managed domain, over the zones of the example.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use domain::base::iana::Rtype;
use domain::base::{Message, MessageBuilder, Name, ParsedName};
use domain::rdata::AllRecordData;
use kube::Client;
use tempfile::TempDir;
use testkit::eventually;
use tokio::time::timeout;

use crate::hand::Hand;

/// More than anything here takes on a busy machine.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// Where every Ingress gets a host.
pub(crate) const MANAGED: &str = "apps.example.net";

/// How long an answer may take: a datagram to this machine is not lost.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How often a start is tried when others take its port. One collision is rare already.
const ATTEMPTS: usize = 5;

/// A file of the example, or all of them.
pub(crate) fn example(file: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/domains");
    examples.join(file)
}

/// `zonewright up`, ready. It goes when this value does, or the thread that started it.
pub(crate) struct Up {
    running: testkit::Up,
    pub(crate) dns: SocketAddr,
    _directory: TempDir,
}

impl Up {
    /// With the zones of the example; it verifies domains by asking itself.
    pub(crate) async fn start() -> Up {
        start(&Start::default()).await
    }

    /// With a file of choice; it verifies domains by asking `resolver`, or itself.
    pub(crate) async fn start_with(file: &Path, resolver: Option<SocketAddr>) -> Up {
        let start_with = Start {
            file: file.to_owned(),
            resolver,
            ..Start::default()
        };
        start(&start_with).await
    }

    /// With the zones of the example, keeping what it is told in a folder of a directory.
    pub(crate) async fn start_in(directory: &Path, data: &str) -> Up {
        let kept = Some((directory, data));
        start(&Start {
            kept,
            ..Start::default()
        })
        .await
    }

    /// The same, without a managed domain: nothing is gated.
    pub(crate) async fn start_ungated_in(directory: &Path, data: &str) -> Up {
        let ungated = Start {
            kept: Some((directory, data)),
            gated: false,
            ..Start::default()
        };
        start(&ungated).await
    }

    /// Whoever may do everything.
    pub(crate) fn admin(&self) -> Hand {
        Hand::new(self.client(None))
    }

    /// Whoever is called so, and in no group that matters.
    pub(crate) fn somebody(&self, user: &str) -> Hand {
        Hand::new(self.client(Some(user)))
    }

    /// Ourselves, as the API knows us: by this name anything can be written that a bug of ours could write.
    pub(crate) fn ourselves(&self) -> Hand {
        self.somebody("system:serviceaccount:zonewright-system:zonewright")
    }

    fn client(&self, user: Option<&str>) -> Client {
        let mut config = self.running.config.clone();
        config.auth_info.impersonate = user.map(str::to_owned);
        Client::try_from(config).unwrap()
    }

    /// Waits until a name has an answer of which something holds.
    pub(crate) async fn until_answer(&self, host: &str, holds: impl Fn(&str) -> bool) {
        until_answer(self.dns, host, holds).await;
    }
}

/// What it is started with.
struct Start<'a> {
    /// Where what it is told is kept: a directory, and a folder in it.
    kept: Option<(&'a Path, &'a str)>,
    file: PathBuf,
    resolver: Option<SocketAddr>,
    gated: bool,
}

impl Default for Start<'_> {
    fn default() -> Self {
        Start {
            kept: None,
            file: example("dns-zones.yaml"),
            resolver: None,
            gated: true,
        }
    }
}

async fn start(with: &Start<'_>) -> Up {
    for _ in 1..ATTEMPTS {
        if let Some(up) = start_once(with).await {
            return up;
        }
    }
    let last = start_once(with).await;
    last.expect("it starts")
}

async fn start_once(with: &Start<'_>) -> Option<Up> {
    let directory = TempDir::new().unwrap();
    let keeping = match with.kept {
        Some((_, data)) => vec!["--data", data],
        None => vec!["--ephemeral"],
    };
    let dns = free_address();
    let resolver = with.resolver.unwrap_or(dns).to_string();
    let gate: &[&str] = if with.gated {
        &["--managed-domain", MANAGED]
    } else {
        &[]
    };
    let program = Path::new(env!("CARGO_BIN_EXE_zonewright"));
    let running = testkit::Up::start(program, |command| {
        command
            .args(keeping)
            .arg("-f")
            .arg(&with.file)
            .args(["--dns", &dns.to_string(), "--resolver", &resolver])
            .args(gate)
            .current_dir(with.kept.map_or(directory.path(), |it| it.0));
    });
    Some(Up {
        running: running.await?,
        dns,
        _directory: directory,
    })
}

/// A port that was free over UDP and TCP a moment ago.
pub(crate) fn free_address() -> SocketAddr {
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        if UdpSocket::bind(address).is_ok() {
            return address;
        }
    }
}

/// Waits until a name server says something about a host of which something holds.
pub(crate) async fn until_answer(server: SocketAddr, host: &str, holds: impl Fn(&str) -> bool) {
    let what = format!("another answer about {host}");
    let seen = eventually(SOON, &what, async || {
        let answer = ask(server, host).await;
        if holds(&answer) { Ok(()) } else { Err(answer) }
    });
    seen.await.unwrap();
}

/// The code of an answer about the addresses of a host, and the data of each record.
async fn ask(server: SocketAddr, host: &str) -> String {
    let socket = tokio::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let socket = socket.unwrap();
    socket.connect(server).await.unwrap();
    let mut question = MessageBuilder::new_vec().question();
    let name = Name::<Vec<u8>>::from_str(host).unwrap();
    question.push((name, Rtype::A)).unwrap();
    socket.send(&question.finish()).await.unwrap();
    let mut buffer = [0; 1232];
    let received = timeout(ANSWER_WITHIN, socket.recv(&mut buffer)).await;
    let length = received.expect("an answer in time").unwrap();
    let message = Message::from_slice(&buffer[..length]).unwrap();
    let records = message.answer().unwrap().map(|record| {
        let record = record.unwrap();
        let record = record.to_any_record::<AllRecordData<_, ParsedName<_>>>();
        format!(" {}", record.unwrap().data())
    });
    let records: String = records.collect();
    format!("{}{records}", message.header().rcode())
}
