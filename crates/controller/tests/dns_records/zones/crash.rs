//! Killed between any two steps, and begun anew (B, D3): everything comes to the same end.

use std::sync::Arc;
use std::time::Duration;

use controller::Running;
use dns::hosted::{Held, HostedKey};
use serde_json::json;
use testkit::valve::Valve;

use super::house::{Door, Doors, never_emptied, run, set, until_ready, untouched};
use crate::stage::{Stage, minutes};

/// What happens while somebody is killed.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// Two records are created that share a name.
    Create,
    /// One of them moves its addresses.
    Edit,
    /// One of them goes.
    Delete,
}

/// More writes than any of the deeds takes.
const WRITES_MAX: usize = 40;

#[tokio::test(start_paused = true)]
async fn whoever_is_killed_while_records_are_created_is_taken_over_from() {
    at_every_step(Deed::Create).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_is_killed_while_a_record_is_edited_is_taken_over_from() {
    at_every_step(Deed::Edit).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_is_killed_while_a_record_is_deleted_is_taken_over_from() {
    at_every_step(Deed::Delete).await;
}

/// Kills before and after each write, to the provider and to the API, until a run ends by itself.
async fn at_every_step(deed: Deed) {
    for arrives in [false, true] {
        let mut steps = 0;
        while killed(deed, steps, arrives).await {
            steps += 1;
            assert!(steps < WRITES_MAX, "{deed:?} does not end");
        }
        assert!(steps >= 3, "{deed:?} takes {steps} writes only");
    }
}

/// Whether there was somebody to kill at that write.
async fn killed(deed: Deed, steps: usize, arrives: bool) -> bool {
    let stage = Stage::open().await;
    let foreign = foreign(&stage);
    if !matches!(deed, Deed::Create) {
        let (running, _) = watched(&stage, &Valve::open(), &foreign, &[]);
        create(&stage).await;
        until_ready(&stage, 2).await;
        assert!(running.shutdown(minutes(2)).await);
    }
    let kept: &[&str] = match deed {
        Deed::Create => &[],
        Deed::Edit | Deed::Delete => &["www", "two.www"],
    };
    let valve = Valve::new(steps, arrives);
    let (_dead, _) = watched(&stage, &valve, &foreign, kept);
    match deed {
        Deed::Create => create(&stage).await,
        Deed::Edit => stage.edit("one", &["www 60 A 192.0.2.9"]).await,
        Deed::Delete => stage.delete("one").await,
    }
    stage.pass_time(Duration::from_secs(20)).await;
    let was_killed = valve.is_closed();
    let (_running, _) = watched(&stage, &Valve::open(), &foreign, kept);
    stage.pass_time(minutes(1)).await;
    let (ready, www, sets) = match deed {
        Deed::Create => (2, "60 192.0.2.1 192.0.2.2", 5),
        Deed::Edit => (2, "60 192.0.2.2 192.0.2.9", 5),
        Deed::Delete => (1, "60 192.0.2.2", 4),
    };
    if matches!(deed, Deed::Delete) {
        stage.until_gone("one").await;
    }
    until_ready(&stage, ready).await;
    let at = format!("{deed:?}, {steps} writes, the next arrives: {arrives}");
    assert_eq!(stage.addresses("www").as_deref(), Some(www), "{at}");
    assert_eq!(stage.sets(), sets + foreign.len(), "{at}");
    let writes = stage.provider.calls().1;
    stage.pass_time(minutes(20)).await;
    assert_eq!(
        stage.provider.calls().1,
        writes,
        "{at}: it has come to rest"
    );
    was_killed
}

async fn create(stage: &Stage) {
    let root = json!({ "rootHost": "www.example.org" });
    stage
        .create_with("one", root.clone(), &["www 60 A 192.0.2.1"])
        .await;
    stage
        .create_with(
            "two",
            root,
            &["www 60 A 192.0.2.2", "two.www 60 A 192.0.2.3"],
        )
        .await;
}

/// Sets of others, one of them under the host of ours.
fn foreign(stage: &Stage) -> Vec<(HostedKey, Held)> {
    let foreign = vec![
        set("mail", "300 A 203.0.113.1"),
        set("theirs.www", "300 A 203.0.113.2"),
    ];
    for (key, held) in &foreign {
        stage.provider.tamper(&stage.zone, key, Some(held.clone()));
    }
    foreign
}

/// A loop whose every write is looked at: nothing foreign is touched, and these names are never empty.
fn watched(
    stage: &Stage,
    valve: &Arc<Valve>,
    foreign: &[(HostedKey, Held)],
    kept: &[&str],
) -> (Running, Arc<Door>) {
    let door = Door::behind(&stage.provider, valve);
    let (untouched, kept) = (untouched(foreign.to_vec()), never_emptied(kept));
    door.look(move |holdings| {
        untouched(holdings);
        kept(holdings);
    });
    let client = valve.client(&stage.client);
    (run(stage, client, Doors::one(&door)), door)
}
