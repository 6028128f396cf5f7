//! The shell on a real Kubernetes API.

use std::time::Duration;

use controller::events::{Note, Severity};
use controller::feed::{Event, Fed, Feed, Source, Standing};
use controller::lease::{self, Election, Timing};
use controller::{Clock, Metrics, Recorder};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ApiResource, DeleteParams, GroupVersionKind, PostParams};
use kube::{Api, Resource as _, ResourceExt as _};
use prometheus_client::registry::Registry;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::json;
use testkit::control_plane::{self, ControlPlane, Identity};
use testkit::eventually;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

/// What is waited for takes well under a second; the rest is for a machine that is busy building.
const SOON: Duration = Duration::from_mins(1);

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": name } })).expect("a ConfigMap")
}

/// The next events until one is `last`, which is included.
async fn until(events: &mut Receiver<Fed<&'static str>>, last: &str) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    while seen.last().is_none_or(|event| event != last) {
        let fed = timeout(SOON, events.recv()).await;
        let fed = fed.unwrap_or_else(|_| panic!("no {last} after {seen:?}"));
        seen.push(match fed.expect("a feed that goes on").event {
            Event::Restarted => "Restarted".to_owned(),
            Event::Applied(object) => format!("+{}", object.name_any()),
            Event::Deleted(object) => format!("-{}", object.name_any()),
            Event::Synced => "Synced".to_owned(),
            Event::Absent => "Absent".to_owned(),
            Event::Stalled(_) => "Stalled".to_owned(),
            Event::Failed(_) => "Failed".to_owned(),
        });
    }
    seen
}

#[tokio::test]
async fn a_feed_follows_a_real_api_through_its_restart() {
    let mut plane = ControlPlane::start().await.unwrap();
    let client = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&client, "feed").await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let create = async |name| maps.create(&PostParams::default(), &config_map(name)).await;
    create("a").await.unwrap();

    let source = |kind, resource| Source {
        kind,
        resource: ApiResource::from_gvk(&resource),
        namespaces: vec![namespace.clone()],
        fields: None,
        labels: None,
    };
    let maps_source = source("maps", GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let chance = StdRng::seed_from_u64(1);
    let (feed, mut events) = Feed::start(&client, &[maps_source], chance.clone());
    // A list may come from a cache that is behind: what was just made is told by the list, or by the watch after it.
    let seen = until(&mut events, "+a").await;
    assert_eq!(seen.first().map(String::as_str), Some("Restarted"));
    create("b").await.unwrap();
    until(&mut events, "+b").await;

    plane.restart_api_server().await.unwrap();
    create("c").await.unwrap();
    until(&mut events, "+c").await;
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    until(&mut events, "-a").await;
    let progress = &feed.progress()[0].1;
    assert_eq!(progress.standing, Standing::Synced);
    assert_eq!(progress.error, None);

    let boats = source("boats", GroupVersionKind::gvk("example.org", "v1", "Boat"));
    let (_feed, mut events) = Feed::start(&client, &[boats], chance);
    assert_eq!(until(&mut events, "Absent").await, ["Absent"]);
}

/// K3.
#[tokio::test]
async fn kubectl_describes_an_object_with_its_events_and_their_count() {
    let plane = control_plane::shared().await;
    let client = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&client, "events").await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let map = maps.create(&PostParams::default(), &config_map("a")).await;
    let object = map.unwrap().object_ref(&());

    let recorder = Recorder::start(
        client,
        "zonewright-0".to_owned(),
        Clock::System,
        StdRng::seed_from_u64(1),
        Metrics::new(&mut Registry::default()),
    );
    let note = || Note {
        severity: Severity::Warning,
        reason: "Invalid".to_owned(),
        message: "spec.domainName: is not a name".to_owned(),
        action: "Accepted".to_owned(),
    };
    let described = async || {
        let kubectl = plane.kubectl(Identity::Admin);
        let finished = kubectl
            .run(&["describe", "configmap", "a", "-n", &namespace])
            .await;
        finished.unwrap().success().unwrap()
    };
    recorder.note(&object, note());
    let once = eventually(SOON, "the event", async || {
        let text = described().await;
        if text.contains("Invalid") {
            Ok(text)
        } else {
            Err(text)
        }
    });
    let line = once.await.unwrap();
    let line = line.lines().find(|line| line.contains("Invalid")).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words[..2], ["Warning", "Invalid"]);
    assert_eq!(
        words[3..],
        ["zonewright", "spec.domainName:", "is", "not", "a", "name"]
    );

    recorder.note(&object, note());
    let twice = eventually(SOON, "the count", async || {
        let text = described().await;
        if text.contains("(x2 over ") {
            Ok(())
        } else {
            Err(text)
        }
    });
    twice.await.unwrap();
}

/// O2.
#[tokio::test]
async fn a_lease_of_a_real_api_is_held_and_given_up() {
    let plane = control_plane::shared().await;
    let client = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&client, "lease").await.unwrap();
    let leases: Api<Lease> = Api::namespaced(client.clone(), &namespace);
    let options = lease::Options {
        namespace,
        name: "zonewright".to_owned(),
        identity: "zonewright-0".to_owned(),
        timing: Timing::default(),
    };
    let holder = async || {
        leases
            .get("zonewright")
            .await
            .unwrap()
            .spec
            .unwrap()
            .holder_identity
    };
    let election = Election::start(client, options, Clock::System, StdRng::seed_from_u64(1));
    let mut leadership = election.leadership();
    let leads = timeout(SOON, leadership.wait_for(|leads| *leads)).await;
    assert!(*leads.unwrap().unwrap());
    assert_eq!(holder().await.as_deref(), Some("zonewright-0"));
    election.release().await;
    assert!(!*leadership.borrow());
    assert_eq!(holder().await, None);
}
