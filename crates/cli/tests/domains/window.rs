//! No version of any Ingress, however short it stood, serves what is not proven (V2, V7).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use api::DomainVerification;
use futures_util::StreamExt as _;
use k8s_openapi::api::networking::v1::Ingress;
use kube::Client;
use kube::api::{Api, ApiResource, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::core::DynamicObject;
use serde_json::{Value, json};
use testkit::eventually;

use crate::hand::{hosts, ingress, is_managed, object, rule, value};
use crate::stage::{SOON, Up};

const PROVEN: &str = "www.example.com";

/// Every version of everything of a kind, in the order of a watch that began before there was any.
#[derive(Clone, Default)]
pub(crate) struct Versions(Arc<Mutex<Vec<Value>>>);

impl Versions {
    async fn record(client: &Client, resource: &ApiResource) -> Versions {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
        let versions = Versions::default();
        let seen = versions.clone();
        let events = api.watch(&WatchParams::default(), "0").await.unwrap();
        tokio::spawn(async move {
            let mut events = events.boxed();
            while let Some(event) = events.next().await {
                match event.unwrap() {
                    WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                        seen.0.lock().unwrap().push(value(object));
                    }
                    WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) => {}
                    WatchEvent::Error(status) => panic!("{status:?}"),
                }
            }
        });
        versions
    }

    fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    /// Waits until a version of which something holds was seen.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        let seen = eventually(SOON, what, async || {
            self.all().iter().any(&holds).then_some(())
        });
        seen.await.unwrap();
    }
}

fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.unwrap().parse().unwrap()
}

/// Every version of every Ingress and of every claim.
pub(crate) struct Watched {
    pub(crate) ingresses: Versions,
    claims: Versions,
}

impl Watched {
    pub(crate) async fn start(client: &Client) -> Watched {
        let ingresses = ApiResource::erase::<Ingress>(&());
        let claims = ApiResource::erase::<DomainVerification>(&());
        Watched {
            ingresses: Versions::record(client, &ingresses).await,
            claims: Versions::record(client, &claims).await,
        }
    }

    /// How many versions of Ingresses were seen, none of which served more than managed hosts and, once there was a proof,
    /// the domain that is `proven` and what is below it.
    pub(crate) async fn never_served_unproven(&self, proven: &str) -> usize {
        let proof = |it: &Value| it["status"]["proof"].is_string();
        self.claims.until("a proof", proof).await;
        let claims = self.claims.all();
        let since = claims.iter().filter(|it| proof(it)).map(version).min();
        let all = self.ingresses.all();
        for seen in &all {
            assert!(seen["spec"]["defaultBackend"].is_null(), "{seen}");
            for host in hosts(seen) {
                let ours = host == proven || host.ends_with(&format!(".{proven}"));
                let may = ours && Some(version(seen)) > since;
                assert!(is_managed(&host) || may, "{host} in {seen}");
            }
        }
        let versions: BTreeSet<u64> = all.iter().map(version).collect();
        versions.len()
    }
}

#[tokio::test]
async fn no_version_of_any_ingress_serves_what_is_not_proven() {
    let up = Up::start().await;
    let (admin, tenant) = (up.admin(), up.somebody("tenant"));
    let watched = Watched::start(&admin.client).await;

    for name in ["one", "two", "three", "four"] {
        let never = format!("{name}.example.org");
        let mut both = ingress(name, &[PROVEN, &never]);
        both["spec"]["tls"] = json!([{ "hosts": [PROVEN, never], "secretName": "x" }]);
        tenant.create("shop", &both).await;
    }
    let api = tenant.ingresses("shop");
    let by = PatchParams::default();
    let apply = PatchParams::apply("somebody").force();
    // Changed while they wait, and while they come back.
    let change = async |turn: usize| {
        let mut whole = ingress("one", &[PROVEN, &format!("never-{turn}.example.org")]);
        whole["metadata"]["resourceVersion"] =
            tenant.ingress("shop", "one").await["metadata"]["resourceVersion"].clone();
        // Somebody else may have been faster, and that is as good.
        let _ = api
            .replace("one", &PostParams::default(), &object(&whole))
            .await;
        let rules = json!([
            rule(Some(&format!("never-{turn}.example.org"))),
            rule(Some(PROVEN)),
            rule(None)
        ]);
        let patch = json!({ "spec": { "rules": rules, "tls": [{ "hosts": [PROVEN, "never.example.org"] }] } });
        api.patch("two", &by, &Patch::Merge(patch)).await.unwrap();
        let applied = ingress("three", &[&format!("never-{turn}.example.org"), PROVEN]);
        api.patch("three", &apply, &Patch::Apply(applied))
            .await
            .unwrap();
        let edit = json!({ "spec": { "rules": [rule(Some("never.example.org"))] } });
        api.patch("four", &by, &Patch::Merge(edit)).await.unwrap();
        let restore = json!({ "spec": { "rules": [rule(Some(PROVEN))] } });
        api.patch("four", &by, &Patch::Merge(restore))
            .await
            .unwrap();
    };
    for turn in 0..5 {
        change(turn).await;
    }
    let proving = tenant.prove(PROVEN, "one");
    let changing = async {
        for turn in 5..15 {
            change(turn).await;
        }
    };
    tokio::join!(proving, changing);
    for turn in 15..20 {
        change(turn).await;
    }
    for name in ["one", "two", "three", "four"] {
        let back = |it: &Value| hosts(it).contains(&PROVEN.to_owned());
        tenant.until_ingress("shop", name, back).await;
    }

    tenant.create("shop", &ingress("last", &[PROVEN])).await;
    let last = |it: &Value| it["metadata"]["name"] == "last";
    watched.ingresses.until("the last Ingress", last).await;
    let versions = watched.never_served_unproven(PROVEN).await;
    assert!(versions > 80, "every change was seen: {versions}");
}
