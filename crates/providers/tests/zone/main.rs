//! Zones of a cluster as a provider, on the embedded API and on kube-apiserver alike.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cut;
mod stage;

use std::collections::BTreeSet;

use dns::hosted::Change;
use provider::{Error, Provider as _, ZoneId};
use providers::Zones;

use testkit::control_plane::{self, Identity};

use cut::{Cut, Moment, overtaken};
use stage::{Home, Stage};

/// Each behaviour on each API.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* $name:ident;)+) => {
        mod embedded {
            use super::*;

            async fn stage() -> Stage { Stage::open(Home::Embedded).await }
            provider::battery!(stage);
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(stage().await).await; })+
        }
        mod on_cluster {
            use super::*;

            async fn stage() -> Stage { Stage::open(Home::Real).await }

            // The embedded API has no roles.
            #[tokio::test]
            async fn without_rights_it_is_denied() { super::without_rights_it_is_denied(stage().await).await; }

            provider::battery!(stage);
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(stage().await).await; })+
        }
    };
}

on_both! {
    /// P12.
    a_record_says_which_zone_it_is_for_and_whose_it_is;
    a_zone_of_another_namespace_is_written_into_from_the_own_one;
    a_zone_without_a_name_yet_says_what_it_waits_for;
    two_dns_records_have_their_share_of_one_name;
    other_records_of_the_zone_are_none_of_its_business;
    an_edit_by_hand_is_seen_and_put_right;
    a_record_that_was_led_astray_comes_back;
    a_record_deleted_by_hand_is_seen_and_comes_back;
    a_refusal_of_the_zone_is_a_complaint;
    an_object_of_somebody_else_under_our_name_is_refused_by_its_name;
    what_no_record_can_say_is_refused_before_anything_is_written;
    a_namespace_that_is_gone_is_missing;
    a_record_that_changes_at_the_last_moment_is_left_as_it_is;
    a_record_that_comes_at_the_last_moment_is_taken_for_ours_if_it_says_the_same;
    records_go_with_their_dns_record;
    a_batch_broken_off_anywhere_is_made_whole_by_writing_it_again;
    a_name_is_never_empty_while_its_data_changes;
}

async fn a_record_says_which_zone_it_is_for_and_whose_it_is(stage: Stage) {
    stage.write([stage.create("www A 192.0.2.1")]).await;
    let [record] = stage.records().await.try_into().unwrap();
    let name = record.metadata.name.clone().unwrap();
    assert!(name.starts_with("app-") && name.ends_with("-0"), "{name}");
    let owner = &record.metadata.owner_references.unwrap()[0];
    assert_eq!(
        (owner.kind.as_str(), owner.name.as_str(), owner.controller),
        ("DNSRecord", "app", Some(true))
    );
    let labels = record.metadata.labels.unwrap();
    assert_eq!(labels["zonewright.dev/dns-record"], "app");
    assert_eq!(labels["app.kubernetes.io/managed-by"], "zonewright");
    let zone_ref = record.spec.zone_ref.unwrap();
    assert_eq!(
        (zone_ref.name.as_str(), zone_ref.namespace),
        ("example-org", None)
    );
    assert_eq!(record.spec.domain_name, "www.example.org.");
}

async fn a_zone_of_another_namespace_is_written_into_from_the_own_one(mut stage: Stage) {
    stage.move_to_other_namespace().await;
    stage.write([stage.create("www A 192.0.2.1")]).await;
    let [record] = stage.records().await.try_into().unwrap();
    assert_eq!(
        record.spec.zone_ref.unwrap().namespace.as_deref(),
        Some(stage.other())
    );
    assert_eq!(stage.held().await, ["www A 300 192.0.2.1"]);
    assert_eq!(
        stage.zones().id("example-org"),
        stage::id(stage.own(), "example-org")
    );
}

async fn a_zone_without_a_name_yet_says_what_it_waits_for(stage: Stage) {
    let zone = stage.make_zone(stage.own(), "nameless", None).await;
    let read = stage.zones().read(&zone).await;
    assert!(matches!(read, Err(Error::Unclear(_))), "{read:?}");
    let story = read.unwrap_err().story();
    let told = "has no name in status.fqdn yet: WaitingForParent: its parent has none";
    assert!(story.contains(told), "{story}");
    let listed = stage.zones().zones().await.unwrap();
    assert!(listed.iter().all(|it| it.id != zone), "{listed:?}");
}

async fn two_dns_records_have_their_share_of_one_name(stage: Stage) {
    let other = stage.make_dns_record("other").await;
    let theirs = stage.create_for(&other, "www A 192.0.2.1 192.0.2.2");
    stage.write([stage.create("www A 192.0.2.1")]).await;
    stage.write([theirs.clone()]).await;
    assert_eq!(
        stage.held().await,
        ["www A 300 192.0.2.1", "www A 300 192.0.2.1 192.0.2.2"]
    );
    stage.write([stage.remove("www A 192.0.2.1")]).await;
    assert_eq!(stage.held().await, ["www A 300 192.0.2.1 192.0.2.2"]);
    stage.write([theirs.reverse()]).await;
    assert!(stage.held().await.is_empty());
}

async fn other_records_of_the_zone_are_none_of_its_business(stage: Stage) {
    stage
        .make_record("strangers", "www A 198.51.100.1", None)
        .await;
    let other = stage
        .make_zone(stage.own(), "example-com", Some("example.org."))
        .await;
    let ours = [stage.create("www A 192.0.2.1")];
    stage.write(ours.clone()).await;
    assert_eq!(stage.held().await, ["www A 300 192.0.2.1"]);
    assert!(
        stage
            .zones()
            .read(&other)
            .await
            .unwrap()
            .holdings
            .is_empty()
    );
    stage.write(ours.map(|change| change.reverse())).await;
    assert_eq!(stage.records().await[0].spec.rdata, "198.51.100.1");
}

async fn an_edit_by_hand_is_seen_and_put_right(stage: Stage) {
    stage
        .write([stage.create("www A 192.0.2.1 192.0.2.2")])
        .await;
    let edits = [
        (
            r#"{"rdata": "198.51.100.1"}"#,
            "www A 300 192.0.2.2 198.51.100.1",
        ),
        (r#"{"ttl": 5}"#, "www A 5 192.0.2.1 192.0.2.2"),
        (r#"{"ttl": null}"#, "www A 77 192.0.2.1 192.0.2.2"),
        // The same in other words.
        (r#"{"domainName": "WWW"}"#, "www A 300 192.0.2.1 192.0.2.2"),
        // No longer a Record that could be published.
        (r#"{"rdata": "nonsense"}"#, "www A 300 192.0.2.2"),
        (r#"{"class": "CH"}"#, "www A 300 192.0.2.2"),
    ];
    for (edit, seen) in edits {
        stage.edit(0, &format!(r#"{{"spec": {edit}}}"#)).await;
        assert_eq!(stage.held().await, [seen], "{edit}");
        stage.put_right("www A 192.0.2.1 192.0.2.2").await;
        assert_eq!(
            stage.held().await,
            ["www A 300 192.0.2.1 192.0.2.2"],
            "{edit}"
        );
        assert_eq!(stage.records().await.len(), 2, "{edit}");
    }
}

async fn a_record_that_was_led_astray_comes_back(stage: Stage) {
    let all = "www A 192.0.2.1";
    stage.write([stage.create(all)]).await;
    let edits = [
        r#"{"spec": {"domainName": "astray.example.org."}}"#,
        r#"{"spec": {"zoneRef": {"name": "example-com"}}}"#,
        r#"{"spec": {"routing": {"setIdentifier": "x"}}}"#,
        r#"{"metadata": {"labels": {"zonewright.dev/dns-record": null}}}"#,
        r#"{"metadata": {"labels": {"zonewright.dev/dns-record": "other"}}}"#,
    ];
    for edit in edits {
        stage.edit(0, edit).await;
        assert_ne!(stage.held().await, ["www A 300 192.0.2.1"], "{edit}");
        stage.put_right(all).await;
        assert_eq!(stage.held().await, ["www A 300 192.0.2.1"], "{edit}");
        assert_eq!(stage.records().await.len(), 1, "{edit}");
    }
}

async fn a_record_deleted_by_hand_is_seen_and_comes_back(stage: Stage) {
    stage
        .write([stage.create("www A 192.0.2.1 192.0.2.2")])
        .await;
    stage.delete(0).await;
    assert_eq!(stage.held().await, ["www A 300 192.0.2.2"]);
    let removal = stage.remove("www A 192.0.2.1 192.0.2.2");
    let kept = Change {
        after: stage.create("www A 192.0.2.1 192.0.2.2 192.0.2.3").after,
        ..removal
    };
    let written = stage.try_write([kept]).await;
    assert!(matches!(written, Err(Error::Stale)), "{written:?}");
    stage.put_right("www A 192.0.2.1 192.0.2.2").await;
    assert_eq!(stage.held().await, ["www A 300 192.0.2.1 192.0.2.2"]);
}

async fn a_refusal_of_the_zone_is_a_complaint(stage: Stage) {
    stage
        .write([stage.create("www A 192.0.2.1 192.0.2.2")])
        .await;
    stage.write([stage.create("good A 192.0.2.1")]).await;
    assert!(stage.complaints().await.is_empty());
    let refusal = "the Zone does not delegate www to own";
    for record in stage.records().await {
        let refused = record.spec.domain_name.starts_with("www");
        stage
            .judge(&record, !refused, "NotDelegated", refusal)
            .await;
    }
    let told = format!("www.example.org. A: NotDelegated: {refusal}");
    assert_eq!(stage.complaints().await, [told]);
    // What was said of an earlier version is said no more.
    stage.put_right("www A 192.0.2.3").await;
    assert!(stage.complaints().await.is_empty());
}

async fn an_object_of_somebody_else_under_our_name_is_refused_by_its_name(stage: Stage) {
    let www = stage.create("www A 192.0.2.1");
    stage.write([www.clone()]).await;
    let name = stage.records().await[0].metadata.name.clone().unwrap();
    stage.write([www.reverse()]).await;
    let other = stage.make_dns_record("other").await;
    for owner in [None, Some(&other)] {
        stage
            .make_record(&name, "elsewhere A 198.51.100.1", owner)
            .await;
        let written = stage.try_write([www.clone()]).await;
        let story = written.unwrap_err().story();
        let told = format!(
            "the provider refused: the Record {}/{name} has the name",
            stage.own()
        );
        assert!(story.starts_with(&told), "{story}");
        assert_eq!(stage.records().await[0].spec.rdata, "198.51.100.1");
        stage.delete(0).await;
    }
}

async fn what_no_record_can_say_is_refused_before_anything_is_written(stage: Stage) {
    let batch = [
        stage.create("good A 192.0.2.1"),
        stage.create("_no_host A 192.0.2.1"),
    ];
    let story = stage.try_write(batch).await.unwrap_err().story();
    assert!(
        story.contains("_no_host.example.org. A cannot be a Record: spec.domainName"),
        "{story}"
    );
    assert!(stage.held().await.is_empty());
}

async fn a_namespace_that_is_gone_is_missing(stage: Stage) {
    let lost = Zones::new(stage.client(), "nowhere");
    let zone = stage::id(stage.own(), "example-org");
    assert!(lost.read(&zone).await.unwrap().holdings.is_empty());
    let batch = stage::batch([stage.create("www A 192.0.2.1")]);
    let written = lost.write(&zone, &batch).await;
    assert!(matches!(written, Err(Error::Missing)), "{written:?}");
    let read = lost.read(&ZoneId("example-org".to_owned())).await;
    assert!(matches!(read, Err(Error::Missing)), "{read:?}");
}

async fn a_record_that_changes_at_the_last_moment_is_left_as_it_is(stage: Stage) {
    let www = "www A 192.0.2.1";
    stage.write([stage.create(www)]).await;
    for after in [&["www A 192.0.2.2"][..], &[]] {
        let edit = r#"{"spec": {"rdata": "198.51.100.1"}}"#;
        let edit = stage.edit_later(0, edit).await;
        let late = Zones::new(overtaken(&stage.client(), edit), stage.own());
        let written = late
            .write(stage.zone_id(), &stage.change(&[www], after))
            .await;
        assert!(matches!(written, Err(Error::Stale)), "{written:?}");
        assert_eq!(stage.held().await, ["www A 300 198.51.100.1"]);
        stage.put_right(www).await;
    }
}

async fn a_record_that_comes_at_the_last_moment_is_taken_for_ours_if_it_says_the_same(
    stage: Stage,
) {
    for (theirs, taken) in [("www A 192.0.2.1", true), ("www A 198.51.100.1", false)] {
        let www = stage.create("www A 192.0.2.1");
        stage.write([stage.create(theirs)]).await;
        let again = stage.make_again_later(0).await;
        stage.write([stage.remove(theirs)]).await;
        let late = Zones::new(overtaken(&stage.client(), again), stage.own());
        let written = late.write(stage.zone_id(), &stage::batch([www])).await;
        assert_eq!(written.is_ok(), taken, "{written:?}");
        assert!(taken || matches!(written, Err(Error::Stale)), "{written:?}");
        stage.holds(&[theirs]).await;
        stage.write([stage.remove(theirs)]).await;
    }
}

async fn without_rights_it_is_denied(stage: Stage) {
    let plane = control_plane::shared().await;
    let tenant = Zones::new(plane.client(Identity::Tenant), stage.own());
    let batch = stage::batch([stage.create("www A 192.0.2.1")]);
    let read = tenant.read(stage.zone_id()).await;
    assert!(matches!(read, Err(Error::Denied(_))), "{read:?}");
    let written = tenant.write(stage.zone_id(), &batch).await;
    assert!(matches!(written, Err(Error::Denied(_))), "{written:?}");
    let listed = tenant.zones().await;
    assert!(matches!(listed, Err(Error::Denied(_))), "{listed:?}");
    // Whoever may not see all namespaces sees the own one.
    plane.bind_tenant(stage.own()).await.unwrap();
    stage
        .make_zone(stage.other(), "unseen", Some("example.com."))
        .await;
    let listed = tenant.zones().await.unwrap();
    let listed: Vec<&ZoneId> = listed.iter().map(|zone| &zone.id).collect();
    assert_eq!(listed, [stage.zone_id()]);
    tenant.write(stage.zone_id(), &batch).await.unwrap();
}

async fn records_go_with_their_dns_record(stage: Stage) {
    stage
        .write([stage.create("www A 192.0.2.1 192.0.2.2")])
        .await;
    stage.delete_dns_record("app").await;
    stage.has_no_records().await;
}

async fn a_batch_broken_off_anywhere_is_made_whole_by_writing_it_again(stage: Stage) {
    let before = [
        "www A 192.0.2.1 192.0.2.2",
        "alias A 192.0.2.1 192.0.2.2",
        "gone TXT \"x\"",
    ];
    let after = [
        "www A 192.0.2.2 192.0.2.3 192.0.2.4",
        "alias CNAME target.example.",
        "new MX 1 mx.example.",
    ];
    let batch = stage.change(&before, &after);
    for moment in [Moment::Before, Moment::After] {
        for writes in 0.. {
            stage.write(before.map(|set| stage.create(set))).await;
            let recording = stage.record_from_here().await;
            let cut = Cut::after(writes, moment);
            let broken = Zones::new(cut.client(&stage.client()), stage.own());
            let written = broken.write(stage.zone_id(), &batch).await;
            assert_eq!(written.is_err(), cut.has_cut(), "{moment:?} {writes}");
            stage.zones().write(stage.zone_id(), &batch).await.unwrap();
            stage.holds(&after).await;
            never_empty(&stage.end(recording).await, &["www", "alias"]);
            stage.write(after.map(|set| stage.remove(set))).await;
            if !cut.has_cut() {
                // Two for www, two for alias, one each for gone and new.
                assert_eq!(writes, 6, "{moment:?}");
                break;
            }
        }
    }
}

async fn a_name_is_never_empty_while_its_data_changes(stage: Stage) {
    let sets = [
        "www A 192.0.2.1",
        "www A 192.0.2.2",
        "www A 192.0.2.3 192.0.2.4 192.0.2.5",
        "www A 192.0.2.5 192.0.2.6",
        "www CNAME target.example.",
        "www CNAME other.example.",
        "www MX 0 .",
        "www MX 10 mx.example. | 20 mx2.example.",
        "www MX 0 .",
        "www AAAA 2001:db8::1",
    ];
    stage.write([stage.create(sets[0])]).await;
    let recording = stage.record_from_here().await;
    for pair in sets.windows(2) {
        let batch = stage.change(&pair[..1], &pair[1..]);
        stage.zones().write(stage.zone_id(), &batch).await.unwrap();
        stage.holds(&pair[1..]).await;
    }
    never_empty(&stage.end(recording).await, &["www"]);
}

/// Names have Records at every moment. Whether they are answered is up to the Zone, see `steps`.
fn never_empty(moments: &[BTreeSet<String>], names: &[&str]) {
    for moment in moments {
        for name in names {
            let mut records = moment.iter();
            let here = records.any(|it| it.starts_with(&format!("{name}.example.org. ")));
            assert!(here, "{name} is empty: {moment:?}");
        }
    }
}
