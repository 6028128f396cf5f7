//! Killed between any two steps, and begun anew: everything comes to the same end.

use std::time::Duration;

use controller::Running;
use testkit::eventually;
use testkit::valve::Valve;

use crate::stage::{Home, SOON, Stage};

/// What happens while somebody is killed.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Create,
    Move,
    Rename,
    Prove,
    Unlabel,
    Delete,
}

/// More writes than any of the deeds takes.
const WRITES_MAX: usize = 30;

const OLD: &[&str] = &[
    "old.example.org 192.0.2.1:443",
    "old.example.org. A 192.0.2.1",
];

/// How long nothing happens once everything is done.
const QUIET: Duration = Duration::from_millis(300);

on_both! {
    /// S1, S9.
    while_a_host_is_published;
    /// S7.
    while_a_host_moves_to_a_load_balancer_that_has_a_name_only;
    /// S6.
    while_a_source_changes_its_host;
    /// S6.
    while_a_proven_owner_takes_a_host_over;
    /// S2.
    while_a_source_that_lost_its_label_is_withdrawn;
    /// S3: its Records belong to it, and go by themselves or by us.
    while_a_deleted_source_is_withdrawn;
}

async fn while_a_host_is_published(home: Home) {
    at_every_step(home, Deed::Create, 4).await;
}

async fn while_a_host_moves_to_a_load_balancer_that_has_a_name_only(home: Home) {
    at_every_step(home, Deed::Move, 3).await;
}

async fn while_a_source_changes_its_host(home: Home) {
    at_every_step(home, Deed::Rename, 5).await;
}

async fn while_a_proven_owner_takes_a_host_over(home: Home) {
    at_every_step(home, Deed::Prove, 4).await;
}

async fn while_a_source_that_lost_its_label_is_withdrawn(home: Home) {
    at_every_step(home, Deed::Unlabel, 2).await;
}

async fn while_a_deleted_source_is_withdrawn(home: Home) {
    at_every_step(home, Deed::Delete, 1).await;
}

/// Kills before and after each write, until a run ends by itself.
async fn at_every_step(home: Home, deed: Deed, least: usize) {
    for arrives in [false, true] {
        let mut steps = 0;
        while killed(home, deed, steps, arrives).await {
            steps += 1;
            assert!(steps < WRITES_MAX, "{deed:?} does not end");
        }
        assert!(steps >= least, "{deed:?} takes {steps} writes only");
    }
}

/// Whether there was somebody to kill at that write.
async fn killed(home: Home, deed: Deed, steps: usize, arrives: bool) -> bool {
    let mut stage = Stage::open(home).await;
    if !matches!(deed, Deed::Create) {
        stage.run();
        stage.proxy("app", "old.example.org", &["192.0.2.1"]).await;
        stage.until(OLD).await;
        stage.until_published("old.example.org").await;
        stage.stop().await;
    }
    let valve = Valve::new(steps, arrives);
    let api = stage.client.clone();
    stage.way = valve.client(&api);
    let mut dead = stage.start();
    match deed {
        Deed::Create => stage.proxy("app", "old.example.org", &["192.0.2.1"]).await,
        Deed::Move => stage.reach("app", &["lb.example.net"]).await,
        Deed::Rename => stage.rename("app", "new.example.org").await,
        Deed::Prove => prove(&stage).await,
        Deed::Unlabel => stage.unlabel("app").await,
        Deed::Delete => stage.delete("app").await,
    }
    let end = async || {
        let at = format!("{deed:?} after {steps} writes");
        let over = valve.is_closed() || is_done(&stage, deed, &mut dead).await;
        assert!(
            deed.may_be_silent() || is_answered(&stage).await,
            "{at}: nobody is answered"
        );
        over.then_some(())
    };
    eventually(SOON, "death, or the end", end).await.unwrap();
    let was_killed = valve.is_closed();
    stage.way = api;
    stage.run();
    stage.until(deed.end()).await;
    was_killed
}

/// Another namespace asks for the host, and has proven that it is its own.
async fn prove(stage: &Stage) {
    let owner = &stage.other;
    stage
        .proxy_in(owner, "app", "old.example.org", &["203.0.113.66"])
        .await;
    stage.prove(owner, "example.org", owner).await;
}

/// Whether everything is as it is to be, and nobody does anything more.
async fn is_done(stage: &Stage, deed: Deed, running: &mut Running) -> bool {
    stage.adopt().await;
    if stage.standing().await != deed.end() || !running.settled(QUIET).await {
        return false;
    }
    let (host, address) = match deed {
        Deed::Create => ("old.example.org", "192.0.2.1"),
        Deed::Move => ("old.example.org", "lb.example.net"),
        Deed::Rename => ("new.example.org", "192.0.2.1"),
        Deed::Prove => ("old.example.org", "203.0.113.66"),
        Deed::Unlabel | Deed::Delete => return true,
    };
    stage.is_published(host, address).await
}

/// Whether there is a Record for the host, whichever it is.
async fn is_answered(stage: &Stage) -> bool {
    stage.standing().await.iter().any(|it| it.contains(". "))
}

impl Deed {
    /// What stands in the end.
    fn end(self) -> &'static [&'static str] {
        match self {
            Deed::Create => OLD,
            Deed::Move => &[
                "old.example.org lb.example.net:443",
                "old.example.org. CNAME lb.example.net.",
            ],
            Deed::Rename => &[
                "new.example.org 192.0.2.1:443",
                "new.example.org. A 192.0.2.1",
            ],
            Deed::Prove => &[
                "old.example.org 203.0.113.66:443",
                "old.example.org. A 203.0.113.66",
            ],
            Deed::Unlabel | Deed::Delete => &[],
        }
    }

    /// Whether there is a moment without any Record.
    fn may_be_silent(self) -> bool {
        match self {
            Deed::Create | Deed::Unlabel | Deed::Delete => true,
            Deed::Move | Deed::Rename | Deed::Prove => false,
        }
    }
}
