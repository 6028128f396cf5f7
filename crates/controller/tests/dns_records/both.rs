//! The life of a record as it really takes its time, on the embedded API and on kube-apiserver alike.

use std::time::Duration;

use api::well_known::finalizer::DNS_RECORD;
use api::well_known::label::PROVIDER_NAME;
use dns::ownership::OwnerId;
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt as _;
use kube::api::{Api, Patch, PatchParams};
use provider::{Error, Fault};
use serde_json::json;
use testkit::eventually;

use crate::log::Log;
use crate::stage::{Home, Stage};

/// What is waited for takes a second or two; the rest is for a machine that is busy building.
const SOON: Duration = Duration::from_mins(1);

const APP: &[&str] = &["app 60 A 192.0.2.1"];

/// Each behaviour on each API.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* $name:ident;)+) => {
        mod embedded {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(super::quick(super::Home::Embedded).await).await; })+
        }
        mod on_cluster {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(super::quick(super::Home::Real).await).await; })+
        }
    };
}

on_both! {
    /// C1–C4.
    a_record_is_written_looked_at_ready_and_gone;
    /// C1–C3: the finalizer, what was written, and that it is there.
    a_record_costs_three_writes;
    /// C10.
    what_somebody_changes_is_put_right;
    /// P5, P6.
    a_secret_that_goes_takes_nothing_along_and_is_used_when_it_comes_back;
    /// P3, P6, C8.
    a_record_before_its_secret_is_published_when_the_secret_comes;
    /// P2.
    a_secret_that_cannot_be_used_says_which_field;
    /// P9.
    a_record_with_another_secret_moves;
    /// P10.
    what_a_person_did_not_ask_for_is_held_until_approved;
    /// C5: what was looked at is not looked at again.
    a_second_controller_after_the_first_writes_nothing;
    /// C4, E13.
    a_record_deleted_while_nobody_runs_is_cleaned_up;
    /// K4.
    a_record_that_breaks_keeps_what_it_published;
    /// C8.
    each_cause_of_trouble_is_one_warning_in_the_log;
    /// C5, C8: annotations and labels count.
    a_failed_record_is_tried_again_whatever_somebody_changes_about_it;
    /// P13.
    a_record_names_its_provider_in_a_label;
    /// C4, P6.
    a_record_whose_zone_was_never_reached_goes_at_once;
}

/// Where everything runs, and nothing is waited for longer than it must.
async fn quick(home: Home) -> Stage {
    let mut stage = Stage::at(home).await;
    stage.options.validation = Duration::from_millis(200);
    stage.options.pace.requeue = Duration::from_secs(2);
    stage.options.pace.valid_for = Duration::from_secs(1);
    stage.run();
    stage
}

/// Waits until something of the provider is so.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let seen = eventually(
        SOON,
        what,
        async || if holds() { Ok(()) } else { Err("not yet") },
    );
    seen.await.unwrap();
}

async fn a_record_is_written_looked_at_ready_and_gone(stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    assert_eq!(stage.sets(), 2, "the set and its mark");
    let status = stage.status("app").await;
    assert_eq!(status.observed_generation, Some(1));
    assert_eq!(status.write_counter, Some(0));
    assert_eq!(status.zone_id.as_deref(), Some("example.org"));
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    until("the new address", || {
        stage.addresses("app").as_deref() == Some("60 192.0.2.2")
    })
    .await;
    stage.delete("app").await;
    stage.until_gone("app").await;
    assert_eq!(stage.sets(), 0);
}

async fn a_record_costs_three_writes(mut stage: Stage) {
    stage.stop().await;
    // What is looked at again is written again.
    stage.options.pace.requeue = SOON;
    stage.options.pace.valid_for = SOON;
    stage.run();
    for record in ["one", "two", "three"] {
        let endpoint = format!("{record} 60 A 192.0.2.1");
        stage.create(record, &[&endpoint]).await;
    }
    for record in ["one", "two", "three"] {
        stage.until_ready(record).await;
    }
    let text = stage.measured();
    let writes = text
        .lines()
        .filter(|line| line.starts_with("zonewright_api_writes_total{resource=\"dnsrecords"));
    let counts = writes.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u32>().unwrap());
    assert_eq!(counts.sum::<u32>(), 9, "{text}");
}

async fn what_somebody_changes_is_put_right(stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.tamper("app", &["203.0.113.1"]);
    until("the address to be back", || {
        stage.addresses("app").as_deref() == Some("60 192.0.2.1")
    })
    .await;
    stage.until_ready("app").await;
}

async fn a_secret_that_goes_takes_nothing_along_and_is_used_when_it_comes_back(stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.delete_secret("dns").await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    let place = [("ZONE_ID", "example.org"), ("DOMAIN_NAME", "example.org")];
    stage.secret("dns", &place).await;
    stage.until_ready("app").await;
}

async fn a_record_before_its_secret_is_published_when_the_secret_comes(stage: Stage) {
    let later = json!({ "providerRef": { "name": "later" } });
    stage.create_with("app", later, APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("later"), "{message}");
    let place = [("ZONE_ID", "example.org"), ("DOMAIN_NAME", "example.org")];
    stage.secret("later", &place).await;
    stage.until_ready("app").await;
}

async fn a_secret_that_cannot_be_used_says_which_field(stage: Stage) {
    stage.secret("bad", &[("DOMAIN_NAME", "example.org")]).await;
    let bad = json!({ "providerRef": { "name": "bad" } });
    stage.create_with("app", bad, APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("ZONE_ID"), "{message}");
    stage
        .patch_secret("bad", json!({ "stringData": { "ZONE_ID": "example.org" } }))
        .await;
    stage.until_ready("app").await;
}

async fn each_cause_of_trouble_is_one_warning_in_the_log(stage: Stage) {
    let log = Log::capture();
    let until_told = async |told: &[&str]| {
        let seen = eventually(SOON, "the log", async || {
            let warnings = log.warnings();
            let messages: Vec<&str> = warnings.iter().map(|it| it.2.as_str()).collect();
            let in_order = messages.len() == told.len()
                && messages
                    .iter()
                    .zip(told)
                    .all(|(it, told)| it.contains(told));
            in_order.then_some(()).ok_or(format!("{warnings:?}"))
        });
        seen.await.unwrap();
    };
    let later = json!({ "providerRef": { "name": "later" } });
    stage.create_with("app", later, APP).await;
    until_told(&["no Secret later"]).await;
    stage
        .secret("later", &[("DOMAIN_NAME", "example.net")])
        .await;
    until_told(&["no Secret later", "ZONE_ID"]).await;
    let zone = json!({ "stringData": { "ZONE_ID": "example.org" } });
    stage.patch_secret("later", zone).await;
    until_told(&["no Secret later", "ZONE_ID", "outside the DOMAIN_NAME"]).await;
    let domain = json!({ "stringData": { "DOMAIN_NAME": "example.org" } });
    stage.patch_secret("later", domain).await;
    stage.until_ready("app").await;
    for (object, reason, _) in log.warnings() {
        let told = (object.ends_with("/app"), reason.as_str());
        assert_eq!(told, (true, "DNSProviderError"), "{object}");
    }
}

async fn a_record_with_another_secret_moves(stage: Stage) {
    stage.second_zone("second", "new").await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let new = json!({ "spec": { "providerRef": { "name": "new" } } });
    stage.patch("app", new).await;
    until("the record to have moved", || {
        let places = (
            stage.is_in("example.org", "app"),
            stage.is_in("second", "app"),
        );
        assert_ne!(places, (false, false), "never absent from both");
        places == (false, true)
    })
    .await;
    stage.until_ready("app").await;
    let status = stage.status("app").await;
    assert_eq!(status.zone_id.as_deref(), Some("second"));
}

async fn what_a_person_did_not_ask_for_is_held_until_approved(mut stage: Stage) {
    let names: Vec<String> = (0..20).map(|index| format!("r{index}")).collect();
    for name in &names {
        let endpoint = format!("{name} 60 A 192.0.2.1");
        stage.create(name, &[&endpoint]).await;
    }
    for name in &names {
        stage.until_ready(name).await;
    }
    stage.stop().await;
    for name in &names {
        stage.tamper(name, &["203.0.113.1"]);
    }
    stage.run();
    eventually(SOON, "a record to be held", async || {
        let held = stage.condition("r0", "Held").await;
        match held.as_deref() {
            Some(says) if says.starts_with("True/") => Ok(()),
            _ => Err(format!("{held:?}")),
        }
    })
    .await
    .unwrap();
    assert_eq!(stage.addresses("r0").as_deref(), Some("60 203.0.113.1"));
    let namespaces: Api<Namespace> = Api::all(stage.client.clone());
    let all = json!({ "metadata": { "annotations": { "zonewright.dev/approve": "all" } } });
    namespaces
        .patch(
            &stage.namespace,
            &PatchParams::default(),
            &Patch::Merge(all),
        )
        .await
        .unwrap();
    until("everything to be as wanted", || {
        let mut names = names.iter();
        names.all(|name| stage.addresses(name).as_deref() == Some("60 192.0.2.1"))
    })
    .await;
}

async fn a_second_controller_after_the_first_writes_nothing(mut stage: Stage) {
    stage.stop().await;
    stage.options.pace.requeue = SOON;
    stage.options.pace.valid_for = SOON;
    stage.run();
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.settled().await;
    stage.stop().await;
    let (version, calls) = (stage.version("app").await, stage.provider.calls());
    stage.run();
    stage.settled().await;
    assert_eq!(stage.version("app").await, version);
    assert_eq!(stage.provider.calls(), calls);
}

async fn a_record_deleted_while_nobody_runs_is_cleaned_up(mut stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.stop().await;
    stage.delete("app").await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    stage.run();
    stage.until_gone("app").await;
    assert_eq!(stage.sets(), 0);
}

async fn a_record_that_breaks_keeps_what_it_published(stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let owner = stage.status("app").await.owner_id.map(OwnerId::new);
    stage.edit("app", &["app 60 A none"]).await;
    stage.until("app", "Ready", "False/ValidationError").await;
    let message = stage.message("app", "Ready").await;
    assert!(
        message.contains("spec.endpoints[0].targets[0]"),
        "{message}"
    );
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    stage.edit("app", &["app 60 A 192.0.2.9"]).await;
    stage.until_ready("app").await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.9"));
    assert_eq!(stage.status("app").await.owner_id.map(OwnerId::new), owner);
}

async fn a_failed_record_is_tried_again_whatever_somebody_changes_about_it(stage: Stage) {
    let changes = [
        (
            "note",
            json!({ "metadata": { "annotations": { "example.org/note": "x" } } }),
        ),
        (
            "team",
            json!({ "metadata": { "labels": { "example.org/team": "x" } } }),
        ),
        (
            "kept",
            json!({ "metadata": { "finalizers": ["example.org/kept", DNS_RECORD] } }),
        ),
    ];
    for (record, change) in changes {
        let reason = "not now".to_owned();
        let refused = Fault::Fails(Error::Refused { reason });
        stage.provider.fail_writes([Some(refused)]);
        let endpoint = format!("{record} 60 A 192.0.2.1");
        stage.create(record, &[&endpoint]).await;
        stage.until(record, "Ready", "False/ProviderError").await;
        assert_eq!(stage.status(record).await.write_counter, Some(1), "C7");
        let writes = stage.provider.calls().1;
        stage.pass_time(Duration::from_secs(1)).await;
        assert_eq!(stage.provider.calls().1, writes, "not by itself");
        stage.patch(record, change).await;
        stage.until_ready(record).await;
    }
}

async fn a_record_names_its_provider_in_a_label(stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let label = async || {
        let record = stage.records().get("app").await.unwrap();
        record.labels().get(PROVIDER_NAME).cloned()
    };
    assert_eq!(label().await.as_deref(), Some("inmemory"));
    let calls = stage.provider.calls();
    for change in [json!(null), json!("aws")] {
        let labels = json!({ "metadata": { "labels": { PROVIDER_NAME: change } } });
        stage.patch("app", labels).await;
        let seen = eventually(SOON, "the label", async || {
            (label().await.as_deref() == Some("inmemory")).then_some(())
        });
        seen.await.unwrap();
    }
    assert_eq!(stage.provider.calls(), calls, "nobody was asked");
}

async fn a_record_whose_zone_was_never_reached_goes_at_once(stage: Stage) {
    let denied = || Some(Fault::Fails(Error::Denied("no such key".into())));
    stage.provider.fail_reads((0..100).map(|_| denied()));
    stage.create("app", APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let record = stage.records().get("app").await.unwrap();
    assert!(record.finalizers().is_empty(), "nothing can be there");
    stage.delete("app").await;
    stage.until_gone("app").await;
    assert_eq!(stage.provider.calls().1, 0);
}
