//! What the keeper makes of what it finds.

use std::time::Duration;

use admission::certificates::Phase;
use admission::{Installation, Keeper, Target};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use serde_json::json;
use testkit::eventually;
use tokio::sync::watch;

use crate::clients::{connect, listening};
use crate::stage::{Fuse, Stage, installation};

const SOON: Duration = Duration::from_secs(30);

/// Looks until there is nothing to do.
async fn settle(keeper: &mut Keeper) {
    for _ in 0..10 {
        if keeper.pass().await.unwrap() > Duration::ZERO {
            return;
        }
    }
    panic!("a keeper that never rests");
}

#[tokio::test]
async fn a_first_look_makes_everything_and_a_second_writes_nothing() {
    let stage = Stage::open().await;
    let fuse = Fuse::endless();
    let mut keeper = stage.leader(fuse.client(&stage.client));
    settle(&mut keeper).await;
    let held = stage.held().await.unwrap();
    let bundle = Some(ByteString(held.bundle().into_bytes()));
    for webhook in stage.mutating().await.unwrap().webhooks.unwrap() {
        assert_eq!(webhook.client_config.ca_bundle, bundle);
    }
    for webhook in stage.validating().await.unwrap().webhooks.unwrap() {
        assert_eq!(webhook.client_config.ca_bundle, bundle);
    }
    assert_eq!(
        stage.secret().await.unwrap().type_.as_deref(),
        Some("Opaque")
    );

    let listener = listening(keeper.serving()).await;
    let bundle = held.bundle();
    connect(listener.address(), bundle.as_bytes(), &stage.time)
        .await
        .unwrap();

    let writes = fuse.writes();
    for _ in 0..3 {
        settle(&mut keeper).await;
    }
    assert_eq!(fuse.writes(), writes);
}

#[tokio::test]
async fn only_whoever_leads_writes_and_everybody_shows_the_same() {
    let stage = Stage::open().await;
    let mut follower = stage.follower();
    follower.pass().await.unwrap();
    assert!(stage.secret().await.is_none());
    assert!(!*follower.serving().ready().borrow());

    settle(&mut stage.leader(stage.client.clone())).await;
    follower.pass().await.unwrap();
    assert!(*follower.serving().ready().borrow());
    let listener = listening(follower.serving()).await;
    let bundle = stage.held().await.unwrap().bundle();
    connect(listener.address(), bundle.as_bytes(), &stage.time)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_damaged_secret_is_replaced_and_a_follower_shows_what_it_had() {
    let stage = Stage::open().await;
    let (mut leader, mut follower) = (stage.leader(stage.client.clone()), stage.follower());
    settle(&mut leader).await;
    follower.pass().await.unwrap();
    let before = stage.held().await.unwrap();
    let damage =
        json!({ "data": { "tls.key": null }, "metadata": { "labels": { "mine": "stays" } } });
    let (params, damage) = (PatchParams::default(), Patch::Merge(damage));
    stage
        .secrets()
        .patch("zonewright-webhook", &params, &damage)
        .await
        .unwrap();

    follower.pass().await.unwrap();
    let listener = listening(follower.serving()).await;
    let bundle = before.bundle();
    connect(listener.address(), bundle.as_bytes(), &stage.time)
        .await
        .unwrap();

    settle(&mut leader).await;
    let after = stage.held().await.unwrap();
    assert_ne!(after.authority.pem, before.authority.pem);
    assert_eq!(stage.secret().await.unwrap().labels()["mine"], "stays");
    let bundle = stage.mutating().await.unwrap().webhooks.unwrap()[0]
        .client_config
        .ca_bundle
        .clone();
    assert_eq!(bundle.unwrap().0, after.bundle().into_bytes());
}

#[tokio::test]
async fn a_stale_leader_cannot_take_back_what_its_successor_published() {
    let stage = Stage::open().await;
    settle(&mut stage.leader(stage.client.clone())).await;
    // It has read everything and is about to write, when its successor announces another authority.
    let mut stale = stage.leader(stage.client.clone());
    stage.time.pass(Duration::from_hours(60 * 24));
    let mut successor = stage.leader(stage.client.clone());
    settle(&mut successor).await;
    settle(&mut stale).await;
    for _ in 0..4 {
        stage.time.pass(Duration::from_hours(50 * 24));
        // Whoever of them is faster: the other's write is refused, or finds nothing to do.
        let (first, second) = tokio::join!(successor.pass(), stale.pass());
        assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
    }
    settle(&mut stale).await;
    settle(&mut successor).await;
    let held = stage.held().await.unwrap();
    assert!(
        matches!(held.phase, Phase::Announced { .. }),
        "{:?}",
        held.phase
    );
    let bundle = stage.mutating().await.unwrap().webhooks.unwrap()[0]
        .client_config
        .ca_bundle
        .clone();
    assert_eq!(bundle.unwrap().0, held.bundle().into_bytes());
}

#[tokio::test]
async fn configurations_that_somebody_changes_or_deletes_are_put_back() {
    let stage = Stage::open().await;
    let keeper = stage.leader(stage.client.clone());
    let running = tokio::spawn(keeper.run());
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(stage.client.clone());
    let mutating: Api<MutatingWebhookConfiguration> = Api::all(stage.client.clone());
    let made = eventually(SOON, "both configurations", async || {
        Some((stage.mutating().await?, stage.validating().await?))
    });
    let (_, wanted) = made.await.unwrap();

    // Somebody lets everything pass, and marks it as theirs as well.
    let change = json!({ "metadata": { "labels": { "theirs": "yes" } }, "webhooks": null });
    let (params, change) = (PatchParams::default(), Patch::Merge(change));
    let patched = validating
        .patch("zonewright", &params, &change)
        .await
        .unwrap();
    assert!(patched.webhooks.unwrap_or_default().is_empty());
    let back = eventually(SOON, "the webhooks", async || {
        stage
            .validating()
            .await
            .filter(|there| there.webhooks == wanted.webhooks)
    });
    assert_eq!(back.await.unwrap().labels()["theirs"], "yes");

    mutating
        .delete("zonewright-ingresses", &DeleteParams::default())
        .await
        .unwrap();
    let back = eventually(SOON, "the configuration", async || stage.mutating().await);
    back.await.unwrap();
    running.abort();
}

#[tokio::test]
async fn whoever_begins_to_lead_begins_to_write() {
    let stage = Stage::open().await;
    let (lead, leading) = watch::channel(false);
    let keeper = Keeper::new(stage.client.clone(), stage.options(), leading);
    let mut ready = keeper.serving().ready();
    let running = tokio::spawn(keeper.run());
    lead.send_replace(true);
    let waited = tokio::time::timeout(SOON, ready.wait_for(|ready| *ready)).await;
    assert!(waited.is_ok());
    running.abort();
}

#[tokio::test]
async fn in_one_process_there_are_configurations_and_no_certificates() {
    let stage = Stage::open().await;
    let mut options = stage.options();
    options.installation = Installation {
        target: Target::InProcess,
        ..installation()
    };
    let mut keeper = Keeper::new(stage.client.clone(), options, watch::channel(true).1);
    settle(&mut keeper).await;
    assert!(stage.secret().await.is_none());
    let webhooks = stage.validating().await.unwrap().webhooks.unwrap();
    assert_eq!(webhooks[0].client_config.ca_bundle, None);
    assert!(webhooks[0].client_config.service.is_some());
}
