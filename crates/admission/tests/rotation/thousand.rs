//! A thousand rotations, with a death at each write of each of them.
//!
//! There are two serving processes: one that hears of a new certificate at once, and one that hears of it as late as it may. To each of them
//! somebody connects all the time, with the bundle that is published at that moment. Time passes by as much as the keeper says that there is nothing to do,
//! once everybody has heard of what was written: that is what the times to wait promise.

use std::sync::Arc;
use std::time::Duration;

use admission::certificates::Phase;
use admission::{Keeper, Serving};

use crate::clients::{Caller, listening};
use crate::stage::{Fuse, Stage};

const ROTATIONS: usize = 1_000;

struct Scene {
    stage: Stage,
    leading: Arc<Serving>,
    following: Keeper,
    callers: Vec<Caller>,
    deaths: usize,
}

impl Scene {
    async fn open() -> Self {
        let mut stage = Stage::open().await;
        // The leaf is renewed once for each authority, not four times.
        stage.terms.leaf_life = stage.terms.authority_life;
        let mut first = stage.leader(stage.client.clone());
        while first.pass().await.unwrap() == Duration::ZERO {}
        let mut following = stage.follower();
        following.pass().await.unwrap();
        Self {
            leading: first.serving().clone(),
            following,
            callers: Vec::new(),
            deaths: 0,
            stage,
        }
    }

    /// Everybody hears of what there is, and then so much time passes.
    async fn pass(&mut self, time: Duration) {
        self.following.pass().await.unwrap();
        for caller in &mut self.callers {
            caller.moved_on().await;
        }
        self.stage.time.pass(time);
    }

    /// One keeper, until it dies at its first write or, if there is nothing to write any more, as soon as it is told to rest for months.
    ///
    /// In every fourth rotation each write is lost once before it gets there; in all of them each gets there and nobody hears of it.
    async fn life(&mut self, rotation: usize) -> Option<()> {
        const LONG: Duration = Duration::from_hours(30 * 24);
        let arrives = !rotation.is_multiple_of(4) || self.deaths.is_multiple_of(2);
        let client = Fuse::new(0, arrives).client(&self.stage.client);
        let mut keeper = self.stage.leader(client).showing_at(self.leading.clone());
        loop {
            match keeper.pass().await {
                Err(_dead) => {
                    self.deaths += 1;
                    return Some(());
                }
                Ok(rest) if rest > LONG => {
                    // Nothing is on its way to anybody.
                    self.stage.time.pass(rest);
                    return None;
                }
                Ok(Duration::ZERO) => {}
                Ok(rest) => self.pass(rest).await,
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_thousand_rotations_with_a_death_at_each_write_fail_no_handshake() {
    let mut scene = Scene::open().await;
    let mut listeners = Vec::new();
    for serving in [scene.leading.clone(), scene.following.serving().clone()] {
        let listener = listening(&serving).await;
        let (client, time) = (scene.stage.client.clone(), scene.stage.time.clone());
        scene
            .callers
            .push(Caller::start(client, listener.address(), time));
        listeners.push(listener);
    }

    let mut rotations = 0;
    let mut authority = scene.stage.held().await.unwrap().authority.pem;
    while rotations < ROTATIONS {
        if scene.life(rotations).await.is_some() {
            continue;
        }
        let held = scene.stage.held().await.unwrap();
        if matches!(held.phase, Phase::Steady) && held.authority.pem != authority {
            authority = held.authority.pem;
            rotations += 1;
        }
    }
    let failures: Vec<_> = scene.callers.iter().flat_map(Caller::failures).collect();
    assert!(
        failures.is_empty(),
        "{} failed: {:?}",
        failures.len(),
        &failures[..failures.len().min(5)]
    );
    let handshakes: u64 = scene.callers.iter().map(Caller::handshakes).sum();
    println!(
        "{rotations} rotations, {} deaths, {handshakes} handshakes",
        scene.deaths
    );
    // Three writes to announce, one to switch, three to forget.
    assert!(scene.deaths >= 7 * ROTATIONS, "{} deaths", scene.deaths);
}
