//! Two clusters, each with an API and a loop of its own, in one zone (E4, E5).

use std::sync::Arc;

use serde_json::json;

use super::house::{marks, saying};
use crate::stage::{Stage, minutes};

/// Two of them, running.
async fn two() -> (Stage, Stage) {
    let one = Stage::running().await;
    let mut other = Stage::open().await;
    other.provider = Arc::clone(&one.provider);
    other.run();
    (one, other)
}

#[tokio::test(start_paused = true)]
async fn two_clusters_merge_their_targets_and_leave_cleanly() {
    // E4, P7.
    let (one, other) = two().await;
    one.create("app", &["app 60 A 192.0.2.1"]).await;
    other.create("app", &["app 60 A 192.0.2.2"]).await;
    one.until_ready("app").await;
    other.until_ready("app").await;
    assert_eq!(
        one.addresses("app").as_deref(),
        Some("60 192.0.2.1 192.0.2.2")
    );
    assert_eq!(marks(&one).len(), 2);
    let writes = one.provider.calls().1;
    for _ in 0..60 {
        one.pass_time(minutes(1)).await;
        let addresses = one.addresses("app");
        assert_eq!(addresses.as_deref(), Some("60 192.0.2.1 192.0.2.2"));
    }
    assert_eq!(one.provider.calls().1, writes, "nobody flaps");
    assert_eq!(one.status("app").await.domain_owners.len(), 2);

    other.edit("app", &["app 60 A 192.0.2.3"]).await;
    other.pass_time(minutes(1)).await;
    assert_eq!(
        one.addresses("app").as_deref(),
        Some("60 192.0.2.1 192.0.2.3")
    );
    one.delete("app").await;
    one.until_gone("app").await;
    assert_eq!(one.addresses("app").as_deref(), Some("60 192.0.2.3"));
    assert_eq!(marks(&one).len(), 1);
    other.pass_time(minutes(30)).await;
    assert_eq!(one.addresses("app").as_deref(), Some("60 192.0.2.3"));
    other.delete("app").await;
    other.until_gone("app").await;
    assert_eq!(one.sets(), 0);
}

#[tokio::test(start_paused = true)]
async fn two_clusters_that_want_different_lifetimes_do_not_take_turns() {
    // E4, P7: what cannot be merged is decided once.
    let (one, other) = two().await;
    one.create("app", &["app 60 A 192.0.2.1"]).await;
    one.until_ready("app").await;
    other.create("app", &["app 300 A 192.0.2.2"]).await;
    other.pass_time(minutes(40)).await;
    let writes = one.provider.calls().1;
    let before = one.addresses("app");
    other.pass_time(minutes(60)).await;
    assert_eq!(one.provider.calls().1, writes);
    assert_eq!(one.addresses("app"), before);
    let told = [&one, &other].map(|stage| saying(stage, "Conflicted", "True"));
    let [in_one, in_other] = told;
    let conflicts = in_one.await.len() + in_other.await.len();
    assert_eq!(conflicts, 1, "one of them is told");
}

#[tokio::test(start_paused = true)]
async fn one_owner_id_in_two_clusters_is_found_out_and_nothing_is_deleted() {
    // E5: by the cluster that marks name. Each came first at one of the names, and both want both.
    let (one, other) = two().await;
    let spec = json!({ "ownerID": "twin12" });
    one.create_with("app", spec.clone(), &["a.app 60 A 192.0.2.1"])
        .await;
    other
        .create_with("app", spec, &["b.app 60 A 192.0.2.2"])
        .await;
    one.until_ready("app").await;
    other.until_ready("app").await;
    let holdings = one.provider.holdings(&one.zone);
    let both = |address: &str| {
        [
            format!("a.app 60 A {address}"),
            format!("b.app 60 A {address}"),
        ]
    };
    let (ones, others) = (both("192.0.2.1"), both("192.0.2.2"));
    one.edit("app", &[&ones[0], &ones[1]]).await;
    other.edit("app", &[&others[0], &others[1]]).await;
    one.until("app", "Ready", "False/OwnerConflict").await;
    other.until("app", "Ready", "False/OwnerConflict").await;
    for stage in [&one, &other] {
        let message = stage.message("app", "Conflicted").await;
        assert!(
            message.contains("with the owner id of this record, twin12"),
            "{message}"
        );
        assert!(message.contains("another spec.ownerID"), "{message}");
    }
    let writes = one.provider.calls().1;
    one.pass_time(minutes(60)).await;
    assert_eq!(one.provider.holdings(&one.zone), holdings);
    assert_eq!(one.provider.calls().1, writes, "nobody flaps");
    // One of them goes, with what it has marked itself and nothing else.
    other.delete("app").await;
    other.until_gone("app").await;
    assert_eq!(one.addresses("a.app").as_deref(), Some("60 192.0.2.1"));
    one.until_ready("app").await;
    assert_eq!(one.addresses("b.app").as_deref(), Some("60 192.0.2.1"));
}
