//! `zonewright up` with the example of a Gateway, and somebody who asks.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use domain::base::iana::Rtype;
use domain::base::{Message, MessageBuilder, Name, ParsedName};
use domain::rdata::AllRecordData;
use kube::Client;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::eventually;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// More than anything here takes on a busy machine.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// How long an answer may take: a datagram to this machine is not lost.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A client whose place nobody knows.
pub(crate) const SOMEBODY: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// `zonewright up`, ready. It goes when this value does, or the thread that started it.
pub(crate) struct Up {
    client: Client,
    pub(crate) dns: SocketAddr,
    _running: testkit::Up,
    _directory: TempDir,
}

impl Up {
    /// Starts with the example, and whatever else is asked for.
    pub(crate) async fn start(flags: &[&str]) -> Up {
        let directory = TempDir::new().unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
        let program = Path::new(env!("CARGO_BIN_EXE_zonewright"));
        let up = testkit::Up::start(program, |command| {
            command
                .args(["--ephemeral", "--dns", "127.0.0.1:0"])
                .args(["--min-requeue-time", "1s", "-f"])
                .arg(example)
                .args(flags)
                .current_dir(directory.path());
        });
        let up = up.await.expect("it starts");
        Up {
            client: up.client(),
            dns: up.ready["dns"][0].as_str().unwrap().parse().unwrap(),
            _running: up,
            _directory: directory,
        }
    }

    fn api(&self, version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("kuadrant.io", version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        Api::namespaced_with(self.client.clone(), "shop", &resource)
    }

    fn policies(&self) -> Api<DynamicObject> {
        self.api("v1", "DNSPolicy", "dnspolicies")
    }

    /// Changes the policy of the example.
    pub(crate) async fn edit(&self, spec: Value) {
        let (policies, patch) = (self.policies(), Patch::Merge(json!({ "spec": spec })));
        let by = PatchParams::default();
        policies.patch("public", &by, &patch).await.unwrap();
    }

    /// Creates a policy like another, but for what `spec` says.
    pub(crate) async fn copy(&self, policy: &str, name: &str, spec: Value) {
        let policies = self.policies();
        let like = policies.get(policy).await.unwrap();
        let mut copy = DynamicObject {
            types: like.types,
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            data: json!({ "spec": like.data["spec"] }),
        };
        let fields = copy.data["spec"].as_object_mut().unwrap();
        fields.extend(spec.as_object().unwrap().clone());
        let by = PostParams::default();
        policies.create(&by, &copy).await.unwrap();
    }

    pub(crate) async fn delete(&self, policy: &str) {
        let how = DeleteParams::default();
        self.policies().delete(policy, &how).await.unwrap();
    }

    /// Waits until a DNSRecord names a policy among its owners.
    pub(crate) async fn until_owned(&self, record: &str, by: &str) {
        let records = self.api("v1alpha1", "DNSRecord", "dnsrecords");
        let what = format!("{record} of {by}");
        let seen = eventually(SOON, &what, async || {
            let owners = records.get(record).await.unwrap().metadata.owner_references;
            let mut owners = owners.into_iter().flatten();
            owners.any(|owner| owner.name == by).then_some(())
        });
        seen.await.unwrap();
    }

    /// Waits until a client gets an answer of which something holds.
    pub(crate) async fn until(&self, client: Ipv4Addr, host: &str, holds: impl Fn(&str) -> bool) {
        let what = format!("another answer about {host} for {client}");
        let seen = eventually(SOON, &what, async || {
            let answer = ask(self.dns, client, host).await;
            if holds(&answer) { Ok(()) } else { Err(answer) }
        });
        seen.await.unwrap();
    }
}

/// What the name server tells a client about the addresses of a host: the code of the answer, and a line for each record.
pub(crate) async fn ask(server: SocketAddr, client: Ipv4Addr, host: &str) -> String {
    let socket = UdpSocket::bind((IpAddr::V4(client), 0)).await.unwrap();
    socket.connect(server).await.unwrap();
    let mut question = MessageBuilder::new_vec().question();
    let name = Name::<Vec<u8>>::from_str(host).unwrap();
    question.push((name, Rtype::A)).unwrap();
    socket.send(&question.finish()).await.unwrap();
    let mut buffer = [0; 1232];
    let received = timeout(ANSWER_WITHIN, socket.recv(&mut buffer)).await;
    let length = received.expect("an answer in time").unwrap();
    shown(Message::from_slice(&buffer[..length]).unwrap())
}

fn shown(message: &Message<[u8]>) -> String {
    let records = message.answer().unwrap().map(|record| {
        let record = record.unwrap();
        let record = record.to_any_record::<AllRecordData<_, ParsedName<_>>>();
        let record = record.unwrap();
        format!("\n{} {} {}", record.owner(), record.rtype(), record.data())
    });
    let records: String = records.collect();
    format!("{}{records}", message.header().rcode())
}
