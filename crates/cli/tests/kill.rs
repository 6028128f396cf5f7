//! Nothing that was acknowledged is lost, however the process ends.
//!
//! `zonewright up` is killed with SIGKILL, hundreds of times, while several clients write as fast as they can. After
//! each death it must open again, hold everything that was acknowledged, and nothing that nobody asked for.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How often it is killed.
const KILLS: usize = 300;
/// How many clients write at once.
const WRITERS: usize = 4;
/// How many objects each of them has.
const NAMES: usize = 8;

struct Running {
    child: Child,
    client: Client,
}

impl Running {
    async fn start(data: &Path) -> Self {
        let mut command = testkit::mortal(Path::new(env!("CARGO_BIN_EXE_zonewright")));
        command
            .args([
                "up",
                "-o",
                "json",
                "--api",
                "127.0.0.1:0",
                "--dns",
                "127.0.0.1:0",
                "--http",
                "127.0.0.1:0",
                "--log-level",
                "error",
                "--data",
            ])
            .arg(data);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("text");
        let ready: Value = serde_json::from_str(&line).expect("it gets ready");
        let path = ready["kubeconfig"].as_str().expect("a path");
        let kubeconfig = Kubeconfig::read_from(path).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .expect("a usable kubeconfig");
        let client = Client::try_from(config).expect("a client");
        Self { child, client }
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was started here");
    }
}

/// What a writer knows of one object.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    /// The value that was acknowledged last; nothing if the object is not there.
    acknowledged: Option<u64>,
    /// What may or may not have happened since: asked for, and not answered.
    asked: Asked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Asked {
    #[default]
    Nothing,
    Value(u64),
    Removal,
}

impl Known {
    fn allows(&self, found: Option<u64>) -> bool {
        let asked = match self.asked {
            Asked::Nothing => self.acknowledged,
            Asked::Value(value) => Some(value),
            Asked::Removal => None,
        };
        found == self.acknowledged || found == asked
    }
}

/// Writes until the API stops answering. Returns what the writer then knows.
async fn write(
    client: Client,
    writer: usize,
    mut known: BTreeMap<String, Known>,
    mut value: u64,
    done: Arc<AtomicUsize>,
) -> (BTreeMap<String, Known>, u64) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    loop {
        value += 1;
        let step = usize::try_from(value).expect("small") % NAMES;
        let name = format!("w{writer}-{step}");
        let entry = known.entry(name.clone()).or_default();
        let wanted = (!value.is_multiple_of(5)).then_some(value);
        entry.asked = wanted.map_or(Asked::Removal, Asked::Value);
        let answered = match (entry.acknowledged, wanted) {
            (None, Some(value)) => {
                let map =
                    json!({ "metadata": { "name": name }, "data": { "value": value.to_string() } });
                let map = serde_json::from_value(map).expect("a ConfigMap");
                maps.create(&PostParams::default(), &map).await.map(drop)
            }
            (Some(_), Some(value)) => {
                let patch = json!({ "data": { "value": value.to_string() } });
                maps.patch(&name, &PatchParams::default(), &Patch::Merge(&patch))
                    .await
                    .map(drop)
            }
            (Some(_), None) => maps.delete(&name, &DeleteParams::default()).await.map(drop),
            (None, None) => Ok(()),
        };
        match answered {
            Ok(()) => {
                *entry = Known {
                    acknowledged: wanted,
                    asked: Asked::Nothing,
                }
            }
            Err(kube::Error::Api(status)) => panic!("{name}: {status:?}"),
            Err(_) => return (known, value),
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

async fn stored(client: &Client) -> (BTreeMap<String, u64>, u64) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let list = maps.list(&ListParams::default()).await.expect("it answers");
    let revision = list.metadata.resource_version.expect("a revision");
    let value = |map: &ConfigMap| map.data.as_ref()?.get("value")?.parse().ok();
    let found = list
        .items
        .iter()
        .filter_map(|map| Some((map.name_any(), value(map)?)));
    (found.collect(), revision.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_three_hundred_kills() {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data");
    let mut known: Vec<BTreeMap<String, Known>> = vec![BTreeMap::new(); WRITERS];
    let mut value = 0;
    let mut newest = 0;
    let done = Arc::new(AtomicUsize::new(0));
    for kill in 0..KILLS {
        let running = Running::start(&data).await;
        let (found, revision) = stored(&running.client).await;
        assert!(
            revision >= newest,
            "after {kill} kills revision {newest} became {revision}"
        );
        newest = revision;
        for (name, known) in known.iter_mut().flatten() {
            let found = found.get(name).copied();
            assert!(
                known.allows(found),
                "after {kill} kills {name} is {found:?}, not {known:?}"
            );
            *known = Known {
                acknowledged: found,
                asked: Asked::Nothing,
            };
        }
        let before = done.load(Ordering::Relaxed);
        let writers: Vec<_> = known
            .iter()
            .enumerate()
            .map(|(writer, known)| {
                let (client, known, done) =
                    (running.client.clone(), known.clone(), Arc::clone(&done));
                tokio::spawn(write(client, writer, known, value, done))
            })
            .collect();
        // The blow falls somewhere in the middle of things: after a few writes, a different few each time.
        while done.load(Ordering::Relaxed) < before + 1 + kill % 17 {
            tokio::task::yield_now().await;
        }
        running.kill();
        for (writer, task) in writers.into_iter().enumerate() {
            let (knows, reached) = task.await.unwrap();
            known[writer] = knows;
            value = value.max(reached);
        }
    }
    assert!(
        done.load(Ordering::Relaxed) > KILLS,
        "hardly anything was written"
    );
}
