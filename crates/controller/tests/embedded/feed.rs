//! Watches, in fair weather and in foul.

use std::time::Duration;

use apiserver::{Apiserver, Options};
use controller::feed::{ABSENT_EVERY, Event, Fed, Feed, Progress, SILENCE_MAX, Source, Standing};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
};
use kube::{Api, Client, ResourceExt as _};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::weather::{Sky, Weather};

/// Longer than anything here is waited for. The clock is paused: waiting costs nothing.
const LONG: Duration = Duration::from_mins(30);

/// An API, what is between it and the feed, and a feed.
struct Scene {
    _apiserver: Apiserver,
    api: Client,
    sky: Sky,
    feed: Feed<&'static str>,
    events: mpsc::Receiver<Fed<&'static str>>,
}

impl Scene {
    /// Watches the kinds, each given as name, resource and namespaces.
    async fn open(sources: &[(&'static str, ApiResource, &[&str])], seed: u64) -> Self {
        let (apiserver, api) = open().await;
        let sky = Sky::new();
        let source = |(kind, resource, namespaces): &(_, ApiResource, &[&str])| Source {
            kind: *kind,
            resource: resource.clone(),
            namespaces: namespaces.iter().map(ToString::to_string).collect(),
            fields: None,
            labels: None,
        };
        let sources: Vec<_> = sources.iter().map(source).collect();
        let chance = StdRng::seed_from_u64(seed);
        let (feed, events) = Feed::start(&sky.client(&api), &sources, chance);
        Self {
            _apiserver: apiserver,
            api,
            sky,
            feed,
            events,
        }
    }

    /// A scene in which config maps are watched everywhere, and have been told.
    async fn config_maps() -> Self {
        let mut scene = Self::open(&[("maps", config_maps(), &[])], 1).await;
        scene.expect(&["Restarted", "Synced"]).await;
        scene
    }

    async fn next(&mut self) -> String {
        let fed = timeout(LONG, self.events.recv()).await;
        shown(&fed.expect("an event").expect("a feed that goes on"))
    }

    /// The next events are these.
    async fn expect(&mut self, expected: &[&str]) {
        for expected in expected {
            assert_eq!(self.next().await, *expected);
        }
    }

    /// Nothing happens for a long time.
    async fn expect_nothing(&mut self) {
        let fed = timeout(LONG, self.events.recv()).await;
        assert!(fed.is_err(), "{:?}", fed.map(|fed| fed.as_ref().map(shown)));
    }

    /// The events until one begins with `last`, which is included.
    async fn until(&mut self, last: &str) -> Vec<String> {
        let mut seen = Vec::new();
        while seen
            .last()
            .is_none_or(|event: &String| !event.starts_with(last))
        {
            seen.push(self.next().await);
        }
        seen
    }

    fn progress(&self, kind: &str) -> Progress {
        let progress = self.feed.progress().into_iter();
        let mut progress = progress.filter(|(known, _)| *known == kind);
        progress.next().expect("a kind that is watched").1
    }

    async fn create(&self, resource: &ApiResource, namespace: &str, name: &str) {
        self.create_with(resource, namespace, name, &json!({}))
            .await;
    }

    async fn create_with(&self, resource: &ApiResource, namespace: &str, name: &str, data: &Value) {
        let api: Api<DynamicObject> = Api::namespaced_with(self.api.clone(), namespace, resource);
        let object = DynamicObject::new(name, resource).data(data.clone());
        api.create(&PostParams::default(), &object)
            .await
            .expect("a new object");
    }

    async fn delete(&self, resource: &ApiResource, name: &str) {
        let api: Api<DynamicObject> = Api::namespaced_with(self.api.clone(), "default", resource);
        api.delete(name, &DeleteParams::default())
            .await
            .expect("an object that is there");
    }

    async fn install(&self) {
        testkit::crds::install(&self.api, &[definition()])
            .await
            .expect("a good definition");
    }
}

async fn open() -> (Apiserver, Client) {
    let options = Options {
        seed: Some(1),
        ..Options::default()
    };
    let apiserver = Apiserver::open(options).await.expect("an empty API opens");
    let client = apiserver.client();
    (apiserver, client)
}

fn config_maps() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"))
}

fn boats() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("example.org", "v1", "Boat"))
}

/// A kind that a cluster does not have by itself, and whose spec may be anything.
fn definition() -> CustomResourceDefinition {
    serde_json::from_value(json!({
        "metadata": { "name": "boats.example.org" },
        "spec": {
            "group": "example.org", "scope": "Namespaced",
            "names": { "plural": "boats", "singular": "boat", "kind": "Boat" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object",
                "properties": { "spec": { "x-kubernetes-preserve-unknown-fields": true } },
            }}}],
        },
    }))
    .expect("a definition")
}

/// An event as a line; where there is a namespace of the watch it stands before it.
fn shown(fed: &Fed<&'static str>) -> String {
    let event = match &fed.event {
        Event::Restarted => "Restarted".to_owned(),
        Event::Applied(object) => format!("+{}", object.name_any()),
        Event::Deleted(object) => format!("-{}", object.name_any()),
        Event::Synced => "Synced".to_owned(),
        Event::Absent => "Absent".to_owned(),
        Event::Stalled(why) => format!("Stalled: {why}"),
        Event::Failed(why) => format!("Failed: {why}"),
    };
    match &fed.namespace {
        Some(namespace) => format!("{namespace}: {event}"),
        None => event,
    }
}

#[tokio::test(start_paused = true)]
async fn objects_are_told_then_that_this_was_all_then_changes() {
    let mut scene = Scene::open(&[("maps", config_maps(), &[])], 1).await;
    scene.sky.turn(Weather::Down);
    scene.create(&config_maps(), "default", "a").await;
    assert_eq!(scene.progress("maps").standing, Standing::Syncing);
    scene.until("Failed").await;
    scene.sky.turn(Weather::Fair);
    scene.expect(&["Restarted", "+a", "Synced"]).await;
    assert_eq!(scene.progress("maps").standing, Standing::Synced);
    scene.create(&config_maps(), "default", "b").await;
    scene.delete(&config_maps(), "a").await;
    scene.expect(&["+b", "-a"]).await;
}

/// K4.
#[tokio::test(start_paused = true)]
async fn an_object_is_passed_on_whatever_its_spec_is() {
    let mut scene = Scene::open(&[("boats", boats(), &[])], 1).await;
    scene.install().await;
    for (name, spec) in [("a", json!(7)), ("b", json!("x")), ("c", json!([{}]))] {
        let data = json!({ "spec": spec });
        scene.create_with(&boats(), "default", name, &data).await;
    }
    scene.until("Restarted").await;
    scene.expect(&["+a", "+b", "+c", "Synced"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_quiet_stays_as_it_is() {
    let mut scene = Scene::config_maps().await;
    scene.expect_nothing().await;
    let heard = scene.progress("maps").heard.expect("bookmarks are heard");
    assert!(heard.elapsed() < SILENCE_MAX, "{:?}", heard.elapsed());
    scene.create(&config_maps(), "default", "a").await;
    scene.expect(&["+a"]).await;
}

#[tokio::test(start_paused = true)]
async fn after_an_api_was_down_the_watch_goes_on_where_it_was() {
    let mut scene = Scene::config_maps().await;
    scene.sky.turn(Weather::Down);
    let failed = scene.next().await;
    assert!(failed.starts_with("Failed: "), "{failed}");
    let error = scene.progress("maps").error.expect("an error");
    assert_eq!(failed, format!("Failed: {error}"));
    scene.create(&config_maps(), "default", "a").await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    scene.sky.turn(Weather::Fair);
    let seen = scene.until("+a").await;
    let failures = seen.len() - 1;
    assert!((8..30).contains(&failures), "{failures} in five minutes");
    assert!(
        seen[..failures]
            .iter()
            .all(|seen| seen.starts_with("Failed: ")),
        "{seen:?}"
    );
    assert_eq!(scene.progress("maps").error, None);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_has_gone_silent_is_replaced() {
    let mut scene = Scene::config_maps().await;
    scene.sky.turn(Weather::Silent);
    scene.create(&config_maps(), "default", "a").await;
    let since = Instant::now();
    let stalled = "Stalled: neither events nor bookmarks came for too long";
    scene.expect(&[stalled]).await;
    assert_eq!(since.elapsed(), SILENCE_MAX);
    scene.sky.turn(Weather::Fair);
    let seen = scene.until("Synced").await;
    assert_eq!(seen, ["Restarted", "+a", "Synced"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_never_answered_counts_as_silence() {
    let mut scene = Scene::open(&[("maps", config_maps(), &[])], 1).await;
    scene.sky.turn(Weather::Silent);
    assert!(scene.next().await.starts_with("Stalled: "));
    assert_eq!(scene.progress("maps").standing, Standing::Syncing);
    scene.sky.turn(Weather::Fair);
    scene.until("Synced").await;
}

#[tokio::test(start_paused = true)]
async fn where_watching_is_forbidden_the_watch_is_stalled_until_it_is_allowed() {
    let mut scene = Scene::open(&[("maps", config_maps(), &[])], 1).await;
    let forbidden = Weather::Refusing("watch=", 403, "configmaps is forbidden: cannot watch");
    scene.sky.turn(forbidden);
    let stalled = "Stalled: configmaps is forbidden: cannot watch";
    scene.expect(&[stalled, stalled, stalled]).await;
    let progress = scene.progress("maps");
    assert_eq!(progress.heard, None);
    assert_eq!(progress.error.as_deref(), stalled.strip_prefix("Stalled: "));
    scene.sky.turn(Weather::Fair);
    scene.until("Synced").await;
    assert_eq!(scene.progress("maps").error, None);
}

#[tokio::test(start_paused = true)]
async fn an_api_that_does_not_stream_lists_is_asked_for_a_list() {
    let mut scene = Scene::open(&[("maps", config_maps(), &[])], 1).await;
    let unstreamed = "sendInitialEvents: Forbidden: the feature gate is off";
    scene
        .sky
        .turn(Weather::Refusing("sendInitialEvents", 422, unstreamed));
    scene.create(&config_maps(), "default", "a").await;
    scene.expect(&["Restarted", "+a", "Synced"]).await;
    scene.create(&config_maps(), "default", "b").await;
    scene.expect(&["+b"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_installed_later_is_found_without_a_restart() {
    let mut scene = Scene::open(&[("boats", boats(), &[]), ("maps", config_maps(), &[])], 1).await;
    let mut seen = [scene.next().await, scene.next().await, scene.next().await];
    seen.sort();
    assert_eq!(seen, ["Absent", "Restarted", "Synced"]);
    assert_eq!(scene.progress("boats").standing, Standing::Absent);
    scene.expect_nothing().await;

    scene.install().await;
    let installed = Instant::now();
    scene.create(&boats(), "default", "a").await;
    scene.expect(&["Restarted", "+a", "Synced"]).await;
    assert!(
        installed.elapsed() <= ABSENT_EVERY,
        "{:?}",
        installed.elapsed()
    );
    assert_eq!(scene.progress("boats").standing, Standing::Synced);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_removed_is_absent_until_it_comes_back() {
    let mut scene = Scene::open(&[("boats", boats(), &[])], 1).await;
    scene.install().await;
    scene.until("Synced").await;
    let definitions: Api<CustomResourceDefinition> = Api::all(scene.api.clone());
    let name = "boats.example.org";
    definitions
        .delete(name, &DeleteParams::default())
        .await
        .unwrap();
    scene.expect(&["Absent"]).await;
    scene.expect_nothing().await;
    scene.install().await;
    scene.expect(&["Restarted", "Synced"]).await;
}

#[tokio::test(start_paused = true)]
async fn namespaces_are_watched_one_by_one() {
    let sources = [("maps", config_maps(), &["default", "kube-system"][..])];
    let mut scene = Scene::open(&sources, 1).await;
    let slow = Weather::Refusing("namespaces/kube-system", 500, "slow");
    scene.sky.turn(slow);
    let seen = scene.until("default: Synced").await;
    assert!(
        seen.contains(&"kube-system: Failed: slow".to_owned()),
        "{seen:?}"
    );
    assert_eq!(scene.progress("maps").standing, Standing::Syncing);
    scene.sky.turn(Weather::Fair);
    scene.until("kube-system: Synced").await;
    assert_eq!(scene.progress("maps").standing, Standing::Synced);

    scene.create(&config_maps(), "kube-public", "a").await;
    scene.create(&config_maps(), "kube-system", "b").await;
    scene.expect(&["kube-system: +b"]).await;
    scene.create(&config_maps(), "default", "c").await;
    scene.expect(&["default: +c"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_fell_behind_is_told_everything_anew() {
    let mut scene = Scene::config_maps().await;
    scene.create(&config_maps(), "default", "a").await;
    scene.create(&config_maps(), "default", "b").await;
    scene.expect(&["+a", "+b"]).await;
    scene.sky.turn(Weather::Silent);
    scene.delete(&config_maps(), "b").await;
    let maps: Api<DynamicObject> = Api::default_namespaced_with(scene.api.clone(), &config_maps());
    // More changes than the API remembers at least, of more bytes than it remembers at most.
    let text = "x".repeat(200_000);
    for round in 0..300 {
        let patch = json!({ "data": { "text": format!("{round}{text}") } });
        let params = PatchParams::default();
        maps.patch("a", &params, &Patch::Merge(&patch))
            .await
            .unwrap();
    }
    scene.sky.turn(Weather::Fair);
    let seen = scene.until("Restarted").await;
    let quiet = seen
        .iter()
        .all(|event| event == "+a" || event == "-b" || event == "Restarted");
    assert!(quiet && seen.len() < 300, "{seen:?}");
    scene.expect(&["+a", "Synced"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_every_watch_at_once_is_not_flooded() {
    let mut scene = Scene::config_maps().await;
    scene.sky.turn(Weather::Down);
    scene.until("Failed").await;
    scene.sky.turn(Weather::Abrupt);
    let before = scene.sky.requests();
    tokio::time::sleep(Duration::from_mins(2)).await;
    let requests = scene.sky.requests() - before;
    assert!((20..=130).contains(&requests), "{requests} in two minutes");
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_busy_for_long_misses_nothing() {
    let mut scene = Scene::config_maps().await;
    for number in 0..1500 {
        scene
            .create(&config_maps(), "default", &format!("map-{number}"))
            .await;
    }
    tokio::time::sleep(LONG).await;
    for number in 0..1500 {
        assert_eq!(scene.next().await, format!("+map-{number}"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_run() {
    async fn run(seed: u64) -> Vec<(Duration, String)> {
        let sources = [
            ("boats", boats(), &[][..]),
            ("maps", config_maps(), &["default", "kube-system"]),
        ];
        let mut scene = Scene::open(&sources, seed).await;
        let (began, mut seen) = (Instant::now(), Vec::new());
        scene.sky.turn(Weather::Down);
        for number in 0..40 {
            let event = scene.next().await;
            seen.push((began.elapsed(), event));
            if number == 20 {
                scene.sky.turn(Weather::Fair);
                scene.install().await;
                scene.create(&boats(), "default", "a").await;
            }
            if number > 20
                && seen
                    .iter()
                    .filter(|(_, event)| event.ends_with("Synced"))
                    .count()
                    == 3
            {
                break;
            }
        }
        seen
    }
    let first = run(1).await;
    assert!(first.iter().any(|(_, event)| event == "+a"), "{first:?}");
    assert_eq!(first, run(1).await);
    assert_ne!(first, run(2).await);
}
