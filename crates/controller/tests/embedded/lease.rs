//! Elections: two candidates, one dies, the API is gone, the network is slow. There is never more than one leader.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use apiserver::{Apiserver, Options};
use controller::Clock;
use controller::lease::{self, Election, Timing};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::weather::{Sky, Weather};

/// How long it takes at least and at most until a lease that is not renewed is another's: it may have been renewed half
/// of the renew deadline before the leader died or just then, and is noticed to have run out (15 s) one or two retry periods
/// (2 s) later.
const TAKEN_OVER: RangeInclusive<Duration> = Duration::from_secs(10)..=Duration::from_secs(19);
/// How long it takes until a leader that cannot renew steps down: the last renewal was up to half of that ago.
const STEPPED_DOWN: RangeInclusive<Duration> = Duration::from_secs(5)..=RENEW;
const RENEW: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(2);

/// Longer than anything here is waited for. The clock is paused: waiting costs nothing.
const LONG: Duration = Duration::from_mins(30);

/// An API, and the candidates that have stood so far.
struct Scene {
    _apiserver: Apiserver,
    api: Client,
    stood: u64,
}

struct Stand {
    election: Election,
    leadership: watch::Receiver<bool>,
    sky: Sky,
}

impl Scene {
    async fn open() -> Self {
        let options = Options {
            seed: Some(1),
            ..Options::default()
        };
        let apiserver = Apiserver::open(options).await.expect("an empty API opens");
        Self {
            api: apiserver.client(),
            _apiserver: apiserver,
            stood: 0,
        }
    }

    /// One more candidate, whose wall clock shows `time`.
    fn stand(&mut self, time: &str) -> Stand {
        self.stood += 1;
        let sky = Sky::new();
        let options = lease::Options {
            namespace: "default".to_owned(),
            name: "zonewright".to_owned(),
            identity: format!("candidate-{}", self.stood),
            timing: Timing::default(),
        };
        let start: Timestamp = time.parse().expect("a time");
        let chance = StdRng::seed_from_u64(self.stood);
        let client = sky.client(&self.api);
        let election = Election::start(client, options, Clock::starting_at(start), chance);
        Stand {
            leadership: election.leadership(),
            election,
            sky,
        }
    }

    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.api.clone(), "default")
    }

    async fn spec(&self) -> LeaseSpec {
        let lease = self.leases().get("zonewright").await.expect("a lease");
        lease.spec.unwrap_or_default()
    }

    /// How long after its clock was started the holder last renewed.
    async fn renewed(&self) -> Duration {
        let renewed = self.spec().await.renew_time.expect("a time").0;
        let start: Timestamp = NOW.parse().expect("a time");
        Duration::try_from(renewed - start).expect("a time after the start")
    }

    async fn holder(&self) -> Option<String> {
        self.spec().await.holder_identity
    }
}

impl Stand {
    fn leads(&self) -> bool {
        *self.leadership.borrow()
    }

    /// Waits until it leads, or no longer does, and tells for how long.
    async fn becomes(&mut self, leader: bool) -> Duration {
        let began = Instant::now();
        let became = timeout(LONG, self.leadership.wait_for(|leads| *leads == leader)).await;
        drop(
            became
                .expect("it becomes so")
                .expect("an election that goes on"),
        );
        began.elapsed()
    }
}

const NOW: &str = "2026-01-01T00:00:00Z";

/// O2.
#[tokio::test(start_paused = true)]
async fn of_two_candidates_one_leads_for_as_long_as_it_renews() {
    let mut scene = Scene::open().await;
    let mut first = scene.stand(NOW);
    assert!(!first.leads(), "nobody leads before the lease is theirs");
    first.becomes(true).await;
    let second = scene.stand(NOW);
    sleep(LONG).await;
    assert!(first.leads() && !second.leads());
    let spec = scene.spec().await;
    assert_eq!(spec.holder_identity.as_deref(), Some("candidate-1"));
    assert_eq!(spec.lease_duration_seconds, Some(15));
    assert_eq!(spec.lease_transitions, Some(0));
    let renewed = spec.renew_time.expect("a time").0;
    assert!(
        renewed > "2026-01-01T00:29:50Z".parse().unwrap(),
        "{renewed}"
    );
}

/// O2: renewing is all that a leader writes when nothing happens.
#[tokio::test(start_paused = true)]
async fn a_leader_renews_every_four_or_five_seconds() {
    let mut scene = Scene::open().await;
    let began = Instant::now();
    let mut leader = scene.stand(NOW);
    leader.becomes(true).await;
    let mut renewals = BTreeSet::new();
    while began.elapsed() < Duration::from_mins(1) {
        sleep(Duration::from_millis(100)).await;
        renewals.insert(scene.renewed().await);
    }
    assert!((12..=16).contains(&renewals.len()), "{renewals:?}");
}

/// O2.
#[tokio::test(start_paused = true)]
async fn when_the_leader_dies_another_leads_after_the_lease_has_run_out() {
    let mut scene = Scene::open().await;
    let mut first = scene.stand(NOW);
    first.becomes(true).await;
    let mut second = scene.stand(NOW);
    sleep(LONG).await;
    drop(first.election);
    let waited = second.becomes(true).await;
    assert!(TAKEN_OVER.contains(&waited), "{waited:?}");
    assert_eq!(scene.spec().await.lease_transitions, Some(1));
}

/// O2.
#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_up_is_taken_at_once() {
    let mut scene = Scene::open().await;
    let mut first = scene.stand(NOW);
    first.becomes(true).await;
    let mut second = scene.stand(NOW);
    sleep(LONG).await;
    first.election.release().await;
    assert_eq!(scene.holder().await, None);
    let waited = second.becomes(true).await;
    assert!(waited <= RETRY, "{waited:?}");
}

/// O2.
#[tokio::test(start_paused = true)]
async fn who_gives_up_has_stopped_leading_before_anyone_can_know() {
    let mut scene = Scene::open().await;
    let mut first = scene.stand(NOW);
    first.becomes(true).await;
    let mut leadership = first.leadership.clone();
    first
        .sky
        .turn(Weather::Slow(Duration::from_secs(1), Duration::ZERO));
    let release = tokio::spawn(first.election.release());
    leadership.wait_for(|leads| !leads).await.unwrap();
    assert_eq!(scene.holder().await.as_deref(), Some("candidate-1"));
    release.await.unwrap();
    assert_eq!(scene.holder().await, None);
}

/// O2.
#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_steps_down_before_the_lease_has_run_out() {
    for weather in [
        Weather::Down,
        Weather::Silent,
        Weather::Refusing("leases", 403, "forbidden"),
        Weather::Slow(RENEW, RENEW),
    ] {
        let mut scene = Scene::open().await;
        let mut first = scene.stand(NOW);
        first.becomes(true).await;
        let mut second = scene.stand(NOW);
        sleep(Duration::from_mins(1)).await;
        first.sky.turn(weather.clone());
        let waited = first.becomes(false).await;
        assert!(STEPPED_DOWN.contains(&waited), "{weather:?}: {waited:?}");
        assert!(!second.leads());
        second.becomes(true).await;
        assert!(!first.leads());
        first.sky.turn(Weather::Fair);
        sleep(Duration::from_mins(1)).await;
        assert!(second.leads() && !first.leads());
    }
}

/// O2.
#[tokio::test(start_paused = true)]
async fn a_leader_steps_down_at_the_deadline_and_not_a_round_later() {
    for weather in [
        Weather::Down,
        Weather::Silent,
        Weather::Refusing("leases", 403, "forbidden"),
    ] {
        for outage_after in [3.3, 5.1, 8.9] {
            let mut scene = Scene::open().await;
            let began = Instant::now();
            let mut first = scene.stand(NOW);
            first.becomes(true).await;
            sleep(Duration::from_secs_f64(outage_after)).await;
            first.sky.turn(weather.clone());
            first.becomes(false).await;
            assert_eq!(
                began.elapsed(),
                scene.renewed().await + RENEW,
                "{weather:?}"
            );
        }
    }
}

/// O2.
#[tokio::test(start_paused = true)]
async fn a_renewal_counts_from_when_it_was_sent_not_from_when_it_was_answered() {
    let mut scene = Scene::open().await;
    let began = Instant::now();
    let mut first = scene.stand(NOW);
    first.becomes(true).await;
    let before = scene.renewed().await;
    first
        .sky
        .turn(Weather::Slow(Duration::ZERO, Duration::from_secs(4)));
    while scene.renewed().await == before {
        sleep(Duration::from_millis(100)).await;
    }
    first.sky.turn(Weather::Down);
    first.becomes(false).await;
    assert_eq!(began.elapsed(), scene.renewed().await + RENEW);
}

/// O2.
#[tokio::test(start_paused = true)]
async fn a_short_outage_changes_nothing() {
    let mut scene = Scene::open().await;
    let mut first = scene.stand(NOW);
    first.becomes(true).await;
    let mut leadership = first.leadership.clone();
    leadership.mark_unchanged();
    for _ in 0..10 {
        first.sky.turn(Weather::Down);
        sleep(Duration::from_secs(3)).await;
        first.sky.turn(Weather::Fair);
        sleep(RETRY * 2).await;
    }
    assert!(!leadership.has_changed().unwrap());
    assert_eq!(scene.spec().await.lease_transitions, Some(0));
}

/// O2.
#[tokio::test(start_paused = true)]
async fn clocks_that_differ_change_nothing() {
    for other in ["1999-01-01T00:00:00Z", "2099-01-01T00:00:00Z"] {
        let mut scene = Scene::open().await;
        let mut first = scene.stand(NOW);
        first.becomes(true).await;
        let mut second = scene.stand(other);
        sleep(LONG).await;
        assert!(first.leads() && !second.leads());
        drop(first.election);
        let waited = second.becomes(true).await;
        assert!(TAKEN_OVER.contains(&waited), "{waited:?}");
    }
}

/// O2.
#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_was_given_to_another_by_hand_stops() {
    let mut scene = Scene::open().await;
    let mut first = scene.stand(NOW);
    first.becomes(true).await;
    let patch = json!({ "spec": { "holderIdentity": "someone" } });
    let params = PatchParams::default();
    let leases = scene.leases();
    leases
        .patch("zonewright", &params, &Patch::Merge(&patch))
        .await
        .unwrap();
    let waited = first.becomes(false).await;
    assert!(waited <= RENEW / 2, "{waited:?}");
}

/// O2.
#[tokio::test(start_paused = true)]
async fn a_lease_that_was_deleted_is_made_anew() {
    let mut scene = Scene::open().await;
    let mut first = scene.stand(NOW);
    first.becomes(true).await;
    let leases = scene.leases();
    leases
        .delete("zonewright", &kube::api::DeleteParams::default())
        .await
        .unwrap();
    sleep(RENEW / 2).await;
    assert!(first.leads());
    assert_eq!(scene.holder().await.as_deref(), Some("candidate-1"));
}

#[test]
fn a_timing_that_allows_two_leaders_is_refused() {
    let timing = |lease, renew, retry| {
        let seconds = Duration::from_secs_f64;
        let timing = Timing::new(seconds(lease), seconds(renew), seconds(retry));
        timing.map(|_| ()).map_err(|error| error.to_string())
    };
    let longer = "the renew deadline must be shorter than the lease duration";
    let twice = "the retry period must be less than half of the renew deadline";
    assert_eq!(timing(15.0, 10.0, 2.0), Ok(()));
    assert_eq!(timing(10.0, 10.0, 2.0), Err(longer.to_owned()));
    assert_eq!(timing(15.0, 10.0, 5.0), Err(twice.to_owned()));
    assert!(timing(15.0, 10.0, 0.0).is_err());
    assert!(timing(15.5, 10.0, 2.0).is_err());
}

/// What happens to one of the candidates, after a while.
#[derive(Clone, Debug)]
enum Turn {
    Weather(Weather),
    /// It dies, and another takes its place.
    Death,
    /// It gives up, and another takes its place.
    Release,
}

fn turn() -> impl Strategy<Value = (u64, usize, Turn)> {
    let delay = || (0..20_000_u64).prop_map(Duration::from_millis);
    let turn = prop_oneof![
        3 => Just(Turn::Weather(Weather::Fair)),
        1 => Just(Turn::Weather(Weather::Down)),
        1 => Just(Turn::Weather(Weather::Silent)),
        4 => (delay(), delay()).prop_map(|(there, back)| Turn::Weather(Weather::Slow(there, back))),
        1 => Just(Turn::Death),
        1 => Just(Turn::Release),
    ];
    (0..15_000_u64, 0..3_usize, turn)
}

/// For how long each candidate led, from when to when.
type Reigns = Vec<(usize, Instant, Instant)>;

/// Notes from when to when a candidate leads, until it is gone.
async fn note(number: usize, mut leadership: watch::Receiver<bool>) -> Reigns {
    let mut reigns = Vec::new();
    let mut since = None;
    loop {
        let (leads, now) = (*leadership.borrow_and_update(), Instant::now());
        match (leads, since) {
            (true, None) => since = Some(now),
            (false, Some(from)) => {
                reigns.push((number, from, now));
                since = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
        if leadership.changed().await.is_err() {
            reigns.extend(since.map(|from| (number, from, Instant::now())));
            return reigns;
        }
    }
}

/// Plays the turns on three candidates, and returns who led when.
async fn reigns(turns: Vec<(u64, usize, Turn)>) -> Reigns {
    let mut scene = Scene::open().await;
    let mut notes = Vec::new();
    let mut stand = |scene: &mut Scene| {
        let candidate = scene.stand(NOW);
        let number = notes.len();
        notes.push(tokio::spawn(note(number, candidate.leadership.clone())));
        candidate
    };
    let mut candidates = [stand(&mut scene), stand(&mut scene), stand(&mut scene)];
    for (after, which, turn) in turns {
        sleep(Duration::from_millis(after)).await;
        match turn {
            Turn::Weather(weather) => candidates[which].sky.turn(weather),
            Turn::Death => candidates[which] = stand(&mut scene),
            Turn::Release => {
                let gone = std::mem::replace(&mut candidates[which], stand(&mut scene));
                tokio::spawn(gone.election.release());
            }
        }
    }
    for candidate in &candidates {
        candidate.sky.turn(Weather::Fair);
    }
    sleep(Duration::from_mins(1)).await;
    let leaders = candidates.iter().filter(|candidate| candidate.leads());
    assert_eq!(leaders.count(), 1, "after a minute of fair weather");
    drop(candidates);
    let mut reigns = Vec::new();
    for noted in notes {
        reigns.extend(noted.await.expect("a candidate that is gone"));
    }
    reigns.sort_by_key(|(_, from, _)| *from);
    reigns
}

fn check(turns: Vec<(u64, usize, Turn)>) -> TestCaseResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let reigns = runtime.expect("a runtime").block_on(reigns(turns));
    for pair in reigns.windows(2) {
        prop_assert!(pair[0].2 <= pair[1].1, "two leaders at a time: {pair:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// O2.
    #[test]
    fn whatever_happens_there_are_never_two_leaders(turns in prop::collection::vec(turn(), 1..30)) {
        check(turns)?;
    }
}
