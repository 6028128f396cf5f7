//! An account with one zone, asked by two who do not know of each other; and the words of the tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use api::parse::provider_secret::{Aws as Access, Confidential, StaticKeys};
use dns::hosted::{Batch, Change, Holdings, HostedKey, HostedSet};
use dns::{Name, Rdata, RecordSet, Rtype, Ttl};
use egress::Egress;
use provider::battery::Stage;
use provider::{Boxed, Error, Provider, ZoneId};
use providers::aws::Aws;
use providers::pace::Pace;
use testkit::route53::Route53;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Whom the provider asks as; the other one has another key.
pub(crate) const KEY_ID: &str = "AKIDEXAMPLE";
const OTHER_KEY_ID: &str = "AKIDOTHER";

pub(crate) struct Account {
    pub(crate) aws: Aws,
    pub(crate) pace: Arc<Pace>,
    pub(crate) zone: ZoneId,
    pub(crate) apex: Name,
    other: Aws,
}

/// A double and an account there.
pub(crate) struct Doubled {
    pub(crate) route53: Route53,
    pub(crate) account: Account,
}

pub(crate) async fn doubled() -> Doubled {
    let route53 = Route53::start().await.unwrap();
    let zone = route53.create_zone("example.org");
    let account = Account::new(&route53.url(), &zone, "example.org.").await;
    Doubled { route53, account }
}

/// A zone of its own in the one moto of this process.
pub(crate) async fn on_moto() -> Account {
    static ZONES: AtomicU32 = AtomicU32::new(0);
    let moto = testkit::moto::shared().await;
    let apex = format!("z{}.example.", ZONES.fetch_add(1, Ordering::Relaxed));
    let (_, answer) = send(moto.address(), "POST", "/hostedzone", &create_zone(&apex)).await;
    Account::new(&moto.url(), zone_id(&answer), &apex).await
}

impl Account {
    pub(crate) async fn new(url: &str, zone: &str, apex: &str) -> Account {
        let pace = Arc::new(Pace::new(Duration::ZERO, 1));
        Account {
            aws: connect(url, KEY_ID, &pace).await,
            other: connect(url, OTHER_KEY_ID, &pace).await,
            pace,
            zone: ZoneId(zone.to_owned()),
            apex: Name::parse(apex).unwrap(),
        }
    }

    pub(crate) async fn write(&self, changes: &[Change]) -> Result<(), Error> {
        let changes = changes.to_vec();
        self.aws.write(&self.zone, &Batch { changes }).await
    }

    pub(crate) async fn holdings(&self) -> Holdings {
        self.aws.read(&self.zone).await.unwrap().holdings
    }

    pub(crate) async fn error_of_reading(&self) -> Error {
        self.aws.read(&self.zone).await.unwrap_err()
    }

    pub(crate) fn key(&self, name: &str, rtype: Rtype) -> HostedKey {
        let name = format!("{name}.{}", self.apex);
        HostedKey::plain(Name::parse(&name).unwrap(), rtype)
    }

    pub(crate) fn create(&self, name: &str, rtype: Rtype, data: &[&str]) -> Change {
        Change {
            key: self.key(name, rtype),
            before: None,
            after: Some(set(rtype, data)),
        }
    }
}

impl Stage for Account {
    fn provider(&self) -> &dyn Provider {
        &self.aws
    }

    fn zone(&self) -> &ZoneId {
        &self.zone
    }

    fn apex(&self) -> &Name {
        &self.apex
    }

    fn tamper<'a>(&'a self, change: &'a Change) -> Boxed<'a, ()> {
        Box::pin(async {
            let changes = vec![change.clone()];
            let written = self.other.write(&self.zone, &Batch { changes }).await;
            written.unwrap();
        })
    }
}

impl Stage for Doubled {
    fn provider(&self) -> &dyn Provider {
        self.account.provider()
    }

    fn zone(&self) -> &ZoneId {
        self.account.zone()
    }

    fn apex(&self) -> &Name {
        self.account.apex()
    }

    fn tamper<'a>(&'a self, change: &'a Change) -> Boxed<'a, ()> {
        self.account.tamper(change)
    }
}

pub(crate) fn access(url: &str, key_id: &str) -> Access {
    Access {
        keys: Some(StaticKeys {
            id: key_id.to_owned(),
            secret: Confidential::new("a secret".to_owned()),
        }),
        region: "us-east-1".to_owned(),
        endpoint: Some(url.to_owned()),
    }
}

pub(crate) async fn connect(url: &str, key_id: &str, pace: &Arc<Pace>) -> Aws {
    let loopback = Egress {
        ranges: vec!["127.0.0.0/8".parse().unwrap()],
        ..Egress::default()
    };
    let aws = Aws::new(&access(url, key_id), Arc::new(loopback), Arc::clone(pace)).await;
    aws.unwrap()
}

pub(crate) fn set(rtype: Rtype, data: &[&str]) -> HostedSet {
    let ttl = Ttl::from_secs(300).unwrap();
    let data = data.iter().map(|text| {
        let data = Rdata::parse(rtype, text, &Name::root());
        (ttl, data.unwrap_or_else(|error| panic!("{text}: {error}")))
    });
    HostedSet::plain(RecordSet::new(data).unwrap())
}

pub(crate) fn create_zone(apex: &str) -> String {
    request(
        "CreateHostedZoneRequest",
        &format!("<Name>{apex}</Name><CallerReference>{apex}</CallerReference>"),
    )
}

pub(crate) fn request(root: &str, inside: &str) -> String {
    format!("<{root} xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\">{inside}</{root}>")
}

/// The id in the answer to a request for a new zone.
pub(crate) fn zone_id(answer: &str) -> &str {
    let (_, id) = answer.split_once("<Id>/hostedzone/").unwrap();
    id.split_once('<').unwrap().0
}

/// Asks without a client: the status and the body of the answer.
pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} /2013-04-01{path} HTTP/1.1\r\n\
         host: route53.amazonaws.com\r\n\
         authorization: AWS4-HMAC-SHA256 Credential={KEY_ID}/20260101/us-east-1/route53/aws4_request\r\n\
         content-type: application/xml\r\n\
         content-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}
