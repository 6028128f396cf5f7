//! An API with managers on controller-runtime that compete for the lead of one controller.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ListParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::home::{self, End, Home};
use crate::script::NAMESPACE;
use crate::witness::{Line, Witness};

/// A lease lasts for 15 seconds, and an API that comes back is found within half a minute.
const DONE_WITHIN: Duration = Duration::from_mins(2);

/// One side: an API, and the managers that run beside it.
pub(crate) struct Managed {
    home: Home,
    client: Client,
    program: PathBuf,
    managers: Vec<Witness>,
    started: usize,
    folder: TempDir,
}

/// What there is of a mirror: its data, and whom it belongs to.
pub(crate) type Mirrors = BTreeMap<String, Value>;

impl Managed {
    /// With two managers, of which one leads.
    pub(crate) async fn open(home: Home, program: PathBuf) -> Self {
        let client = home.client().await;
        home::make_namespace(&client).await;
        let mut managed = Self {
            home,
            client,
            program,
            managers: Vec::new(),
            started: 0,
            folder: TempDir::new().expect("a temporary folder"),
        };
        for _ in 0..2 {
            managed.start().await;
        }
        managed
    }

    /// Makes an object, and waits until the manager that leads has mirrored it.
    pub(crate) async fn mirror(&mut self, name: &str) {
        let map = json!({
            "metadata": { "name": name, "labels": { "mirrored": "yes" } },
            "data": { "text": format!("of {name}") },
        });
        let map: ConfigMap = serde_json::from_value(map).expect("it is one");
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), NAMESPACE);
        let made = maps.create(&PostParams::default(), &map).await;
        made.expect("there is none of this name yet");
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), NAMESPACE);
        let mirror = format!("mirror-of-{name}");
        let done = testkit::eventually(DONE_WITHIN, &mirror, async || {
            // A manager that has lost the lead ends by itself, and a cluster starts it again.
            self.replace_ended().await;
            let found = secrets.get_opt(&mirror).await;
            found.map_err(|error| error.to_string())?.ok_or_else(|| {
                let words = self.managers.iter().map(Witness::last_words);
                words.collect::<Vec<_>>().join("\n\n")
            })
        });
        if let Err(overdue) = done.await {
            panic!("{}: {overdue}", self.home.name());
        }
    }

    /// Kills the API, and starts it again.
    pub(crate) async fn kill_the_api(&mut self) {
        self.home.restart(End::Kill).await;
        self.client = self.home.client().await;
    }

    /// Kills the manager that leads, and starts another one.
    pub(crate) async fn kill_the_leader(&mut self) {
        let leads = Line::Leads { leads: true };
        let leader = self.managers.iter().position(|it| it.has_said(0, &leads));
        let leader = self.managers.remove(leader.expect("one leads"));
        leader.kill().await;
        self.start().await;
    }

    /// What the managers have made.
    pub(crate) async fn close(self) -> (Mirrors, bool) {
        let all = ListParams::default();
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), NAMESPACE);
        let secrets = secrets.list(&all).await.expect("they can be listed");
        let mirrors = secrets
            .into_iter()
            .map(|secret| (secret.name_any(), shown(&secret)));
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), NAMESPACE);
        let leases = leases.list(&all).await.expect("they can be listed");
        let held = leases.iter().any(|lease| {
            let spec = lease.spec.as_ref();
            spec.is_some_and(|it| it.holder_identity.is_some() && it.lease_transitions > Some(0))
        });
        (mirrors.collect(), held)
    }

    async fn start(&mut self) {
        self.started += 1;
        let name = format!("manager-{}", self.started);
        let kubeconfig = self.home.kubeconfig();
        let folder = self.folder.path();
        let manager = Witness::start(&self.program, &kubeconfig, &name, folder, |_| ());
        manager.says(&Line::Synced { synced: true }).await;
        self.managers.push(manager);
    }

    async fn replace_ended(&mut self) {
        let before = self.managers.len();
        self.managers.retain_mut(|manager| !manager.has_ended());
        for _ in self.managers.len()..before {
            self.start().await;
        }
    }
}

fn shown(secret: &Secret) -> Value {
    let data = secret.data.iter().flatten();
    let data = data.map(|(key, ByteString(value))| (key, String::from_utf8_lossy(value)));
    let owners = secret.owner_references().iter();
    let owners = owners.map(|it| (&it.api_version, &it.kind, &it.name, it.controller));
    json!({
        "data": data.collect::<BTreeMap<_, _>>(),
        "owners": owners.collect::<Vec<_>>(),
        "type": secret.type_,
    })
}
