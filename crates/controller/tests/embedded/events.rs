//! Notes become Events.

use std::time::Duration;

use apiserver::{Apiserver, Options};
use controller::events::{Note, Severity};
use controller::{Clock, Metrics, Recorder};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event as CoreEvent, ObjectReference};
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, ListParams};
use kube::{Api, Client};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::time::sleep;

use crate::weather::{Sky, Weather};

/// Longer than anything here is waited for. The clock is paused: waiting costs nothing.
const LONG: Duration = Duration::from_mins(10);

struct Scene {
    _apiserver: Apiserver,
    api: Client,
    sky: Sky,
    recorder: Recorder,
    registry: Registry,
}

impl Scene {
    async fn open() -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let options = Options {
            seed: Some(1),
            ..Options::default()
        };
        let apiserver = Apiserver::open(options).await.expect("an empty API opens");
        let (api, sky) = (apiserver.client(), Sky::new());
        let mut registry = Registry::default();
        let recorder = Recorder::start(
            sky.client(&api),
            "zonewright-0".to_owned(),
            Clock::starting_at(start),
            StdRng::seed_from_u64(1),
            Metrics::new(&mut registry),
        );
        Self {
            _apiserver: apiserver,
            api,
            sky,
            recorder,
            registry,
        }
    }

    fn note(&self, object: &str, reason: &str) {
        self.recorder
            .note(&reference(object), note(reason, "it is so"));
    }

    /// Every Event, as `object reason count`, in order of names.
    async fn events(&self) -> Vec<String> {
        sleep(LONG).await;
        let events: Api<Event> = Api::all(self.api.clone());
        let list = events.list(&ListParams::default()).await;
        let mut shown: Vec<_> = list.expect("a list").items.iter().map(shown).collect();
        shown.sort();
        shown
    }

    fn dropped(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a text");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("zonewright_events_dropped_total "));
        line.expect("the metric").to_owned()
    }
}

fn reference(name: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("kubi.zone/v1alpha1".to_owned()),
        kind: Some("Zone".to_owned()),
        namespace: Some("default".to_owned()),
        name: Some(name.to_owned()),
        uid: Some(format!("uid-of-{name}")),
        ..ObjectReference::default()
    }
}

fn note(reason: &str, message: &str) -> Note {
    Note {
        severity: Severity::Warning,
        reason: reason.to_owned(),
        message: message.to_owned(),
        action: "Accepted".to_owned(),
    }
}

fn shown(event: &Event) -> String {
    let object = event
        .regarding
        .as_ref()
        .and_then(|regarding| regarding.name.as_deref());
    let reason = event.reason.as_deref().unwrap_or_default();
    let count = event.series.as_ref().map_or(1, |series| series.count);
    format!("{} {reason} {count}", object.unwrap_or_default())
}

/// K3, the peer's S5: what happened is there to be read, not only logged.
#[tokio::test(start_paused = true)]
async fn a_note_becomes_an_event_that_says_who_what_and_when() {
    let scene = Scene::open().await;
    scene.note("a", "Invalid");
    sleep(LONG).await;
    let events: Api<CoreEvent> = Api::namespaced(scene.api.clone(), "default");
    let list = events.list(&ListParams::default()).await.unwrap();
    let [event] = &list.items[..] else {
        panic!("{list:?}")
    };
    assert_eq!(event.type_.as_deref(), Some("Warning"));
    assert_eq!(event.reason.as_deref(), Some("Invalid"));
    assert_eq!(event.message.as_deref(), Some("it is so"));
    assert_eq!(event.action.as_deref(), Some("Accepted"));
    assert_eq!(event.involved_object, reference("a"));
    assert_eq!(event.reporting_component.as_deref(), Some("zonewright"));
    assert_eq!(event.reporting_instance.as_deref(), Some("zonewright-0"));
    let time = event.event_time.as_ref().unwrap().0;
    assert_eq!(time.to_string(), "2026-01-01T00:00:00Z");
    let name = event.metadata.name.as_deref().unwrap();
    assert!(name.starts_with("a.") && name.len() == 18, "{name}");
}

/// K3.
#[tokio::test(start_paused = true)]
async fn notes_that_repeat_are_one_event_with_a_count() {
    let scene = Scene::open().await;
    for _ in 0..3 {
        scene.note("a", "Invalid");
        sleep(Duration::from_secs(1)).await;
    }
    scene.note("b", "Invalid");
    assert_eq!(scene.events().await, ["a Invalid 3", "b Invalid 1"]);
}

/// K3.
#[tokio::test(start_paused = true)]
async fn an_event_that_was_deleted_is_made_anew() {
    let scene = Scene::open().await;
    scene.note("a", "Invalid");
    sleep(Duration::from_mins(1)).await;
    let events: Api<Event> = Api::namespaced(scene.api.clone(), "default");
    let (delete, list) = (DeleteParams::default(), ListParams::default());
    events.delete_collection(&delete, &list).await.unwrap();
    scene.note("a", "Invalid");
    assert_eq!(scene.events().await, ["a Invalid 1"]);
}

/// K3.
#[tokio::test(start_paused = true)]
async fn an_api_that_is_away_for_a_moment_loses_no_event() {
    let scene = Scene::open().await;
    for weather in [
        Weather::Down,
        Weather::Silent,
        Weather::Refusing("events", 500, "ill"),
    ] {
        scene.sky.turn(weather);
        scene.note("a", "Invalid");
        sleep(Duration::from_secs(2)).await;
        scene.sky.turn(Weather::Fair);
        sleep(LONG).await;
    }
    assert_eq!(
        scene.events().await,
        ["a Invalid 1", "a Invalid 1", "a Invalid 1"]
    );
    assert_eq!(scene.dropped(), "0");
}

/// K3.
#[tokio::test(start_paused = true)]
async fn an_answer_that_was_lost_does_not_double_the_event() {
    let scene = Scene::open().await;
    scene.sky.turn(Weather::Slow(Duration::ZERO, LONG));
    scene.note("a", "Invalid");
    sleep(Duration::from_secs(1)).await;
    scene.sky.turn(Weather::Fair);
    assert_eq!(scene.events().await, ["a Invalid 1"]);
    assert_eq!(scene.dropped(), "0");
}

/// K3.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_is_counted_and_hinders_nobody() {
    let scene = Scene::open().await;
    scene
        .sky
        .turn(Weather::Refusing("events", 403, "forbidden"));
    scene.note("a", "Invalid");
    sleep(LONG).await;
    assert_eq!(scene.dropped(), "1");
    scene.sky.turn(Weather::Down);
    scene.note("b", "Invalid");
    sleep(LONG).await;
    assert_eq!(scene.dropped(), "2");
    scene.sky.turn(Weather::Silent);
    scene.note("b", "Invalid");
    sleep(LONG).await;
    assert_eq!(scene.dropped(), "3");
    scene.sky.turn(Weather::Fair);
    scene.note("c", "Invalid");
    assert_eq!(scene.events().await, ["c Invalid 1"]);
}

/// K3.
#[tokio::test(start_paused = true)]
async fn a_flood_of_notes_about_one_object_is_a_trickle_of_events() {
    let scene = Scene::open().await;
    for number in 0..100 {
        scene.note("a", &format!("Reason{number}"));
    }
    sleep(Duration::from_secs(1)).await;
    let events: Api<Event> = Api::all(scene.api.clone());
    let list = events.list(&ListParams::default()).await.unwrap();
    assert_eq!(list.items.len(), 10);
}

#[tokio::test(start_paused = true)]
async fn names_and_texts_of_any_length_are_accepted() {
    let scene = Scene::open().await;
    let long = "ä".repeat(2_000);
    let name = format!("{}-{}", "a".repeat(235), "b".repeat(17));
    scene
        .recorder
        .note(&reference(&name), note("Invalid", &long));
    scene
        .recorder
        .note(&reference("short"), note(&"R".repeat(200), &long));
    sleep(LONG).await;
    assert_eq!(scene.dropped(), "0");
    assert_eq!(scene.events().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn closing_writes_what_was_noted() {
    let scene = Scene::open().await;
    scene.note("a", "Invalid");
    scene.note("b", "Invalid");
    scene.recorder.clone().close(Duration::from_secs(5)).await;
    scene.note("c", "Invalid");
    assert_eq!(scene.events().await, ["a Invalid 1", "b Invalid 1"]);
}
