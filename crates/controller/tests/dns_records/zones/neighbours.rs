//! Records of one cluster that meet, and other tools in the same zone (E6–E9, E12).

use std::time::Duration;

use api::well_known::annotation;
use dns::Rtype;
use kube::api::DeleteParams;
use serde_json::json;

use super::house::{crowd, never_emptied, put, run_behind_door, saying, until_ready};
use crate::stage::{Stage, minutes};

#[tokio::test(start_paused = true)]
async fn what_external_dns_has_marked_is_respected() {
    // E6.
    let stage = Stage::running().await;
    put(&stage, "app", "300 A 203.0.113.1");
    put(
        &stage,
        "a-app",
        "300 TXT \"heritage=external-dns,external-dns/owner=theirs\"",
    );
    let holdings = stage.provider.holdings(&stage.zone);
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until("app", "Ready", "False/OwnerConflict").await;
    let message = stage.message("app", "Conflicted").await;
    assert!(message.contains("owner theirs"), "{message}");
    stage.pass_time(minutes(60)).await;
    stage.delete("app").await;
    stage.until_gone("app").await;
    assert_eq!(stage.provider.holdings(&stage.zone), holdings);
    assert_eq!(stage.provider.calls().1, 0);
}

#[tokio::test(start_paused = true)]
async fn two_records_with_one_name_are_merged_and_leave_cleanly() {
    // E7.
    let stage = Stage::running().await;
    let root = json!({ "rootHost": "www.example.org" });
    stage
        .create_with("one", root.clone(), &["www 60 A 192.0.2.1"])
        .await;
    stage
        .create_with("two", root, &["www 60 A 192.0.2.2"])
        .await;
    until_ready(&stage, 2).await;
    assert_eq!(
        stage.addresses("www").as_deref(),
        Some("60 192.0.2.1 192.0.2.2")
    );
    let owners = stage.status("one").await.domain_owners;
    let writes = stage.provider.calls().1;
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, writes, "nobody flaps");
    assert_eq!(owners.len(), 2);
    stage.delete("one").await;
    stage.until_gone("one").await;
    assert_eq!(stage.addresses("www").as_deref(), Some("60 192.0.2.2"));
    assert_eq!(stage.sets(), 2);
    stage.pass_time(minutes(16)).await;
    until_ready(&stage, 1).await;
    assert_eq!(stage.status("two").await.domain_owners.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_name_changes_hands_without_being_empty() {
    // E7, P11: one goes and another comes, in the same moment.
    let stage = Stage::open().await;
    let (_running, door) = run_behind_door(&stage);
    let root = json!({ "rootHost": "www.example.org" });
    stage
        .create_with("one", root.clone(), &["www 60 A 192.0.2.1"])
        .await;
    stage.until_ready("one").await;
    door.look(never_emptied(&["www"]));
    // While something else is being written, both come to wait.
    door.slow_down(Duration::from_secs(5));
    stage.create("busy", &["busy 60 A 192.0.2.9"]).await;
    stage.pass_time(Duration::from_secs(1)).await;
    stage.delete("one").await;
    stage
        .create_with("two", root, &["www 60 A 192.0.2.2"])
        .await;
    stage.until_gone("one").await;
    stage.until_ready("two").await;
    assert_eq!(stage.addresses("www").as_deref(), Some("60 192.0.2.2"));
    assert_eq!(stage.sets(), 4);
}

#[tokio::test(start_paused = true)]
async fn of_an_address_and_an_alias_for_one_name_one_is_rejected() {
    // E8: the zone stays valid, and when one goes the other comes.
    let stage = Stage::open().await;
    let root = json!({ "rootHost": "www.example.org" });
    stage
        .create_with("address", root.clone(), &["www 60 A 192.0.2.1"])
        .await;
    stage
        .create_with("alias", root, &["www 60 CNAME other.example.org"])
        .await;
    let (_running, door) = run_behind_door(&stage);
    door.look(|holdings| {
        let at = |rtype| {
            holdings
                .keys()
                .any(|key| key.rtype == rtype && key.name.to_string() == "www.example.org.")
        };
        assert!(!(at(Rtype::A) && at(Rtype::CNAME)));
    });
    until_ready(&stage, 1).await;
    stage.pass_time(minutes(30)).await;
    let (ready, rejected) = (
        saying(&stage, "Ready", "True").await,
        saying(&stage, "Conflicted", "True").await,
    );
    assert_eq!((ready.len(), rejected.len()), (1, 1));
    assert_ne!(ready, rejected);
    let writes = stage.provider.calls().1;
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, writes, "they do not take turns");
    stage.delete(&ready[0]).await;
    stage.until_gone(&ready[0]).await;
    let waited = stage.until_ready(&rejected[0]).await;
    assert!(waited <= minutes(16), "{waited:?}");
    assert_eq!(stage.sets(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_edit_during_a_write_is_not_taken_for_done() {
    // E9.
    let stage = Stage::open().await;
    let (_running, door) = run_behind_door(&stage);
    door.slow_down(Duration::from_secs(3));
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.pass_time(Duration::from_secs(4)).await;
    assert!(stage.addresses("app").is_none(), "the write is under way");
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    loop {
        let status = stage.status("app").await;
        let ready = status.conditions.iter().find(|it| it.type_ == "Ready");
        let new = ready.is_some_and(|it| it.observed_generation == Some(2));
        if new || status.observed_generation == Some(2) {
            assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.2"));
        }
        if new && ready.is_some_and(|it| it.status == "True") {
            break;
        }
        stage.pass_time(Duration::from_millis(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn records_that_outlive_their_secret_by_an_hour_say_so_and_can_be_let_go() {
    // E12, P4, P6: until then they are withdrawn with what it said.
    let stage = Stage::open().await;
    crowd(&stage, 2).await;
    let (_running, _) = run_behind_door(&stage);
    until_ready(&stage, 2).await;
    let secret = stage.secrets();
    secret
        .delete("dns", &DeleteParams::default())
        .await
        .unwrap();
    stage.pass_time(minutes(61)).await;
    for record in ["r000", "r001"] {
        stage.delete(record).await;
    }
    stage.pass_time(minutes(30)).await;
    let message = stage.message("r000", "Ready").await;
    assert!(message.contains("no Secret dns"), "{message}");
    assert!(message.contains(annotation::ABANDON), "{message}");
    let sets = stage.sets();
    stage.annotate("r000", annotation::ABANDON, "true").await;
    stage.until_gone("r000").await;
    assert_eq!(stage.sets(), sets, "what was published stays");
    // The other one has its Secret given back, and cleans up behind itself.
    stage
        .secret(
            "dns",
            &[("ZONE_ID", "example.org"), ("DOMAIN_NAME", "example.org")],
        )
        .await;
    stage.until_gone("r001").await;
    assert!(stage.addresses("r001").is_none());
}

#[tokio::test(start_paused = true)]
async fn what_two_records_share_stays_when_one_edits_it_away() {
    // E7: repaired at once, not at the other's next look.
    let stage = Stage::running().await;
    let root = json!({ "rootHost": "www.example.org" });
    let shared: &[&str] = &["www 60 A 192.0.2.1 192.0.2.2"];
    stage.create_with("one", root.clone(), shared).await;
    stage.create_with("two", root, shared).await;
    until_ready(&stage, 2).await;
    stage.edit("one", &["www 60 A 192.0.2.1"]).await;
    stage
        .until("one", "Ready", "False/AwaitingValidation")
        .await;
    stage.until_ready("one").await;
    stage.pass_time(Duration::from_secs(10)).await;
    assert_eq!(
        stage.addresses("www").as_deref(),
        Some("60 192.0.2.1 192.0.2.2")
    );
    let writes = stage.provider.calls().1;
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, writes, "nobody flaps");
}
