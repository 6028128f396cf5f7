//! What the suite wants to find: a zone at Route 53 whose name server answers, and Secrets for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::control_plane::kuadrant::{self, Suite};
use testkit::route53::Route53;
use tokio::sync::Mutex;

use crate::specs::Specs;
use crate::zone::NameServer;

/// More than anything but the specs themselves takes on a busy machine.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// The zone, at Route 53 and in the suite's eyes.
pub(crate) const ZONE: &str = "e2e.example.org";

/// The Secret, of the same name in each namespace.
pub(crate) const SECRET: &str = "dns-provider-credentials-aws";

/// A key that Route 53 takes, and one that the suite expects to be refused.
pub(crate) const KEY: &str = "AKIDEXAMPLE";
const NO_KEY: &str = "1234";

/// Where the suite makes DNSRecords: two namespaces for one host, as if they were two clusters.
const SHARED: &str = "dnstest";
const SHARED_COUNT: usize = 2;

/// Where it makes those with health checks, one spec after the other: it wants to see no probes of others there.
const PROBED: &str = "dnstest-probed";

/// The same, for the one spec that listens itself.
const LISTENING: &str = "dnstest-listening";

/// What that one is called. It listens on a port that is the same for everybody on this machine.
const LISTENS: &str = "when health check passes";
static PORT: Mutex<()> = Mutex::const_new(());

/// How many of the other specs there are. They wait, mostly, and for each other never.
const OTHERS: usize = 10;

pub(crate) struct Stage {
    pub(crate) route53: Route53,
    _name_server: NameServer,
    suite: Suite,
    directory: TempDir,
}

impl Stage {
    pub(crate) async fn set() -> Stage {
        let built = tokio::task::spawn_blocking(kuadrant::suite).await.unwrap();
        let suite = built.unwrap_or_else(|error| panic!("no kuadrant suite: {error}"));
        let route53 = Route53::start().await.unwrap();
        route53.revoke(NO_KEY);
        let zone = route53.create_zone(ZONE);
        let directory = TempDir::new().unwrap();
        let name_server = NameServer::start(&route53.url(), &zone).await;
        let resolver = format!("nameserver {}\n", name_server.address());
        fs::write(directory.path().join("resolv.conf"), resolver).unwrap();
        let secrets = manifest(&route53.url());
        fs::write(directory.path().join("manifest.yaml"), secrets).unwrap();
        Stage {
            _name_server: name_server,
            route53,
            suite,
            directory,
        }
    }

    /// The namespaces and Secrets.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.directory.path().join("manifest.yaml")
    }

    /// Runs the suite in a cluster where Zonewright is at work.
    pub(crate) async fn specs_hold(&self, kubeconfig: &Path) {
        let specs = Specs {
            suite: &self.suite,
            resolv_conf: &self.directory.path().join("resolv.conf"),
            route53: self.route53.url(),
            kubeconfig,
        };
        let count = SHARED_COUNT.to_string();
        let shared = [
            ("TEST_DNS_NAMESPACES", SHARED),
            ("DEPLOYMENT_COUNT", &count),
        ];
        let procs = format!("--procs={OTHERS}");
        let others = [&procs, "--label-filter=!health_checks"];
        let probed = ["--label-filter=health_checks", "--skip", LISTENS];
        let listening = ["--label-filter=health_checks", "--focus", LISTENS];
        let listening = async {
            let _turn = PORT.lock().await;
            let namespace = [("TEST_DNS_NAMESPACES", LISTENING)];
            specs.run(&listening, &namespace).await
        };
        let ran = tokio::join!(
            specs.run(&others, &shared),
            specs.run(&probed, &[("TEST_DNS_NAMESPACES", PROBED)]),
            listening,
        );
        let failed = [ran.0, ran.1, ran.2].into_iter().filter_map(Result::err);
        let failed: Vec<String> = failed.collect();
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}

fn manifest(route53: &str) -> String {
    let shared = (1..=SHARED_COUNT).map(|number| format!("{SHARED}-{number}"));
    let namespaces = shared.chain([PROBED, LISTENING].map(str::to_owned));
    let objects = namespaces.flat_map(|namespace| objects(&namespace, route53));
    let documents: Vec<String> = objects.map(|it| it.to_string()).collect();
    documents.join("\n---\n")
}

/// The Secret names no zone: it is found by the names of hosts.
fn objects(namespace: &str, route53: &str) -> [Value; 2] {
    let metadata = json!({ "name": namespace });
    let namespaced = json!({ "name": SECRET, "namespace": namespace });
    let data = json!({
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": route53,
    });
    [
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata }),
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": namespaced,
            "type": "kuadrant.io/aws",
            "stringData": data,
        }),
    ]
}
