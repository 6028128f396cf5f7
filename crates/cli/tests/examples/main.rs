//! Every example from `apply` to the end of `delete`: a directory at a time, in the order of its file names, as kubectl
//! takes it. Nothing else has to be there, and nothing stays.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod on_cluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::networking::v1::Ingress;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};
use kube::{Client, ResourceExt as _};
use tempfile::TempDir;
use testkit::{eventually, manifest};

/// What is waited for takes seconds; the rest is for a machine that is busy building.
const SOON: Duration = Duration::from_mins(2);

/// Questions about what each example publishes under names that it chooses, and their answers.
const ANSWERS: [(&str, &str, &str); 6] = [
    ("gateway", "shop.apps.example.org", "192.0.2.80"),
    ("publishing", "cart.apps.example.org", "192.0.2.20"),
    ("publishing", "harbor.apps.example.org", "192.0.2.10"),
    (
        "publishing",
        "mail.apps.example.org",
        "lb-1.cloud.example.net.",
    ),
    ("quickstart", "app.dev.example.org", "192.0.2.82"),
    ("quickstart", "www.example.org", "192.0.2.80"),
];

/// `zonewright up` without manifests, ready, as an example's guide has it started.
struct Up {
    running: testkit::Up,
    client: Client,
    directory: TempDir,
}

impl Up {
    async fn start(example: &str) -> Up {
        let gate: &[&str] = match example {
            "domains" => &["--managed-domain", "apps.example.net"],
            _ => &[],
        };
        let directory = TempDir::new().unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_zonewright"));
        let running = testkit::Up::start(program, |command| {
            command
                .args(["--dns", "127.0.0.1:0", "--min-requeue-time", "1s"])
                .args(gate)
                .current_dir(directory.path());
        });
        let running = running.await.expect("it starts");
        Up {
            client: running.client(),
            running,
            directory,
        }
    }

    fn answers(&self, name: &str) -> String {
        let server = format!("@{}", self.running.ready["dns"][0].as_str().unwrap());
        let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["query", &server, name, "A"])
            .current_dir(self.directory.path())
            .output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    }

    /// What is answered about everything that an example publishes: names, and what their answers contain.
    async fn answers_of(&self, example: &str) -> Vec<(String, &'static str)> {
        let chosen = ANSWERS.iter().filter(|it| it.0 == example);
        let mut all: Vec<_> = chosen.map(|it| (it.1.to_owned(), it.2)).collect();
        if example == "domains" {
            // Its name is drawn.
            let ingresses: Api<Ingress> = Api::namespaced(self.client.clone(), "shop");
            let ingress = ingresses.get("web").await.unwrap();
            let rules = ingress.spec.unwrap().rules.unwrap();
            all.push((rules[0].host.clone().unwrap(), "192.0.2.60"));
        }
        assert!(!all.is_empty(), "{example} publishes something");
        all
    }

    async fn until_answered(&self, answers: &[(String, &str)]) {
        for (name, address) in answers {
            let answered = eventually(SOON, name, async || {
                let told = self.answers(name);
                told.contains(address).then_some(()).ok_or(told)
            });
            answered.await.unwrap();
        }
    }

    async fn until_not_answered(&self, answers: &[(String, &str)]) {
        for (name, address) in answers {
            let gone = eventually(SOON, name, async || {
                let told = self.answers(name);
                (!told.contains(address)).then_some(()).ok_or(told)
            });
            gone.await.unwrap();
        }
    }

    /// Waits until the namespaces of an example have gone, and what was in them.
    async fn until_gone(&self, objects: &[DynamicObject]) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let own = objects.iter().filter(|it| is_namespace(it));
        for name in own.map(kube::ResourceExt::name_any) {
            let gone = eventually(SOON, &name, async || {
                let found = namespaces.get_opt(&name).await.unwrap();
                found.map_or(Ok(()), |it| Err(format!("{:?}", it.status)))
            });
            gone.await.unwrap();
        }
        for object in objects {
            let left = self.api(object).await.list(&ListParams::default()).await;
            let left: Vec<String> = left
                .unwrap()
                .iter()
                .map(kube::ResourceExt::name_any)
                .collect();
            assert!(!left.contains(&object.name_any()), "{left:?}");
        }
    }

    /// Writes the status of an object that has one in its file, as the controller would that is not there.
    async fn apply_status(&self, object: &DynamicObject) {
        if object.data.get("status").is_none() {
            return;
        }
        let api = self.api(object).await;
        let params = PatchParams::apply("example").force();
        api.patch_status(&object.name_any(), &params, &Patch::Apply(object))
            .await
            .unwrap();
    }

    async fn api(&self, object: &DynamicObject) -> Api<DynamicObject> {
        let types = object.types.clone().unwrap();
        let kind = GroupVersionKind::try_from(&types).unwrap();
        let (resource, capabilities) = pinned_kind(&self.client, &kind).await.unwrap();
        match capabilities.scope {
            Scope::Cluster => Api::all_with(self.client.clone(), &resource),
            Scope::Namespaced => {
                let namespace = object.namespace().unwrap();
                Api::namespaced_with(self.client.clone(), &namespace, &resource)
            }
        }
    }
}

fn is_namespace(object: &DynamicObject) -> bool {
    object
        .types
        .as_ref()
        .is_some_and(|it| it.kind == "Namespace")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The names of the directories.
fn all_examples() -> Vec<String> {
    let entries = fs::read_dir(examples()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 4, "{names:?}");
    names
}

/// The files of a directory, in the order of their names.
fn files(example: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(examples().join(example)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What a directory holds.
fn objects(example: &str) -> Vec<DynamicObject> {
    let files = files(example).into_iter();
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
    texts
        .flat_map(|text| manifest::read(&text).unwrap())
        .collect()
}

#[test]
fn every_example_brings_its_namespaces_before_what_is_in_them() {
    for example in all_examples() {
        let mut there = Vec::new();
        for object in objects(&example) {
            if is_namespace(&object) {
                there.push(object.name_any());
            } else {
                let namespace = object.namespace().unwrap();
                let what = object.name_any();
                assert!(there.contains(&namespace), "{example}: {what}");
            }
        }
    }
}

/// P6.
#[tokio::test]
async fn every_example_is_applied_and_deleted_to_the_end() {
    for example in all_examples() {
        let up = Up::start(&example).await;
        let objects = objects(&example);
        for object in &objects {
            let applied = manifest::apply(&up.client, "default", object).await;
            applied.unwrap_or_else(|error| panic!("{example}: {error}"));
            up.apply_status(object).await;
        }
        let answers = up.answers_of(&example).await;
        up.until_answered(&answers).await;
        for object in &objects {
            let api = up.api(object).await;
            match api
                .delete(&object.name_any(), &DeleteParams::default())
                .await
            {
                Ok(_) => {}
                // It has gone with its namespace.
                Err(kube::Error::Api(status)) if status.is_not_found() => {}
                Err(error) => panic!("{example}: {error}"),
            }
        }
        up.until_gone(&objects).await;
        up.until_not_answered(&answers).await;
    }
}
