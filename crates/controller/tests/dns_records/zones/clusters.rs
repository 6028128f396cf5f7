//! Two clusters, each with an API and a loop of its own, in one zone (E4, E5).

use std::sync::Arc;

use dns::hosted::Held;
use dns::{Name, Rdata, RecordSet, Rtype};
use serde_json::json;
use tokio::time::Instant;

use super::house::{marks, saying};
use crate::stage::{Stage, minutes};

/// What the marks say.
fn texts(stage: &Stage) -> Vec<String> {
    let holdings = stage.provider.holdings(&stage.zone);
    let sets = holdings.iter().filter(|(key, _)| key.rtype == Rtype::TXT);
    let sets = sets.filter_map(|(_, held)| held.set());
    sets.map(|set| set.records.data()[0].to_string()).collect()
}

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
async fn one_owner_id_in_two_clusters_ends_in_contention_that_is_named() {
    // E5, C10: neither can tell the other's marks from its own, and each takes back what the other changed.
    let (one, other) = two().await;
    let spec = json!({ "ownerID": "twin12" });
    one.create_with("app", spec.clone(), &["app 60 A 192.0.2.1"])
        .await;
    one.until_ready("app").await;
    other.pass_time(minutes(7)).await;
    other
        .create_with("app", spec, &["app 60 A 192.0.2.2"])
        .await;
    let contested = async |stage: &Stage| {
        stage.condition("app", "Ready").await.as_deref() == Some("False/Contested")
    };
    let began = Instant::now();
    let (loser, winner) = loop {
        if contested(&one).await {
            break (&one, &other);
        }
        if contested(&other).await {
            break (&other, &one);
        }
        assert!(began.elapsed() < minutes(120), "nobody is told");
        one.pass_time(minutes(1)).await;
    };
    let message = loser.message("app", "Ready").await;
    assert!(message.contains("the same owner id (twin12)"), "{message}");
    assert!(message.contains("another spec.ownerID"), "{message}");
    winner.until_ready("app").await;
    let writes = one.provider.calls().1;
    one.pass_time(minutes(4 * 60)).await;
    // Both write once more now and then: the other may be gone.
    let more = one.provider.calls().1 - writes;
    assert!(more <= 6, "{more} writes in four hours");
    // One of them gives way, and the other has it.
    loser.delete("app").await;
    loser.until_gone("app").await;
    winner.pass_time(minutes(60)).await;
    winner.until_ready("app").await;
    let address = winner.records().get("app").await.unwrap();
    let address = &address.spec.endpoints[0].targets[0];
    assert_eq!(one.addresses("app"), Some(format!("60 {address}")));
}

#[tokio::test(start_paused = true)]
async fn after_a_lost_cluster_the_same_manifests_take_over() {
    // P7: also where the lost one marked what it wrote with its own name, as we did once.
    let (mut lost, new) = two().await;
    let spec = json!({ "ownerID": "pinned" });
    let endpoints = ["app 60 A 192.0.2.1", "www.app 60 A 192.0.2.1"];
    lost.create_with("app", spec.clone(), &endpoints).await;
    lost.until_ready("app").await;
    lost.stop().await;
    for (key, held) in lost.provider.holdings(&lost.zone) {
        let old = "\"heritage=external-dns,external-dns/cluster=c1,external-dns/owner=pinned,external-dns/version=1\"";
        if key.rtype == Rtype::TXT {
            let mut mark = held.set().unwrap().clone();
            let data = Rdata::parse(Rtype::TXT, old, &Name::root()).unwrap();
            mark.records = RecordSet::new([(mark.records.ttl(), data)]).unwrap();
            lost.provider
                .tamper(&lost.zone, &key, Some(Held::Set(mark)));
        }
    }
    let writes = lost.provider.calls().1;
    new.create_with("app", spec, &endpoints).await;
    new.until_ready("app").await;
    assert_eq!(new.provider.calls().1, writes, "everything is there");
    new.edit("app", &["app 60 A 192.0.2.9", "www.app 60 A 192.0.2.1"])
        .await;
    new.until_ready("app").await;
    let marks = texts(&new);
    let old = marks.iter().filter(|mark| mark.contains("cluster=c1"));
    assert_eq!((marks.len(), old.count()), (2, 1), "{marks:?}");
    new.delete("app").await;
    new.until_gone("app").await;
    assert_eq!(new.sets(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_lost_cluster_left_behind_is_removed_by_a_record_with_its_owner_id() {
    // P7: as the peer's guide has it: a record with the owner id and the host of the orphans, made and deleted.
    let (mut lost, new) = two().await;
    let spec = json!({ "ownerID": "pinned" });
    let endpoints = ["klb.app 60 A 192.0.2.1", "app 60 CNAME klb.app.example.org"];
    lost.create_with("app", spec.clone(), &endpoints).await;
    lost.until_ready("app").await;
    lost.create("other", &["other 60 A 192.0.2.7"]).await;
    lost.until_ready("other").await;
    lost.stop().await;
    new.create_with("app", spec, &["klb.app 60 A 192.0.2.1"])
        .await;
    new.until_ready("app").await;
    new.delete("app").await;
    new.until_gone("app").await;
    assert_eq!(new.addresses("klb.app"), None);
    assert_eq!(new.held("app", Rtype::CNAME), None);
    assert_eq!(new.sets(), 2, "what others own stays: a set and its mark");
}
