//! Rotations under an API server that asks all the time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use admission::certificates::{self, Found, Holding, Phase};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::networking::v1::Ingress;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use testkit::control_plane::Identity;
use testkit::eventually;

use crate::stage::{NAMESPACE, SOON, Stage};

/// Each takes two waits of three seconds.
const ROTATIONS: usize = 3;

async fn held(client: &Client) -> Result<Box<Holding>, String> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let secret = secrets.get("zonewright-webhook").await;
    let secret = secret.map_err(|error| error.to_string())?;
    match certificates::read(secret.data.as_ref()) {
        Found::Whole(holding) => Ok(holding),
        other @ (Found::Missing | Found::Damaged(_)) => Err(format!("{other:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_certificates_are_rotated() {
    let stage = Stage::open().await;
    let admin = stage.plane.client(Identity::Admin);
    let namespace = testkit::namespace(&admin, "rotating").await.unwrap();
    let running = tokio::spawn(stage.keeper().run());

    // From the first request that is let through: the API server hears of webhooks and certificates in any order.
    let ingresses: Api<Ingress> = Api::namespaced(admin.clone(), &namespace);
    let ingress: Ingress = serde_json::from_value(json!({
        "metadata": { "name": "a" },
        "spec": { "defaultBackend": { "service": { "name": "a", "port": { "number": 80 } } } },
    }))
    .unwrap();
    let asked = eventually(SOON, "an Ingress that was asked about", async || {
        let params = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        ingresses
            .create(&params, &ingress)
            .await
            .map_err(|error| error.to_string())?;
        let questions = stage.questions.load(Ordering::SeqCst);
        if questions > 1 {
            Ok(())
        } else {
            Err(format!("{questions} questions"))
        }
    });
    asked.await.unwrap();
    ingresses
        .create(&PostParams::default(), &ingress)
        .await
        .unwrap();

    let ended = AtomicBool::new(false);
    let asking = async {
        let (mut requests, mut failures) = (0_u64, Vec::new());
        while !ended.load(Ordering::SeqCst) {
            requests += 1;
            let change =
                json!({ "metadata": { "annotations": { "count": requests.to_string() } } });
            let patched = ingresses
                .patch("a", &PatchParams::default(), &Patch::Merge(change))
                .await;
            failures.extend(patched.err().map(|error| error.to_string()));
        }
        (requests, failures)
    };
    let rotating = async {
        let secrets: Api<Secret> = Api::namespaced(admin.clone(), NAMESPACE);
        for rotation in 0..ROTATIONS {
            let before = held(&admin).await.unwrap().authority.pem;
            stage.time.set_forward(Duration::from_hours(244 * 24));
            // Whatever happens to the Secret is heard of: the clock alone would be looked at in five minutes.
            let touched =
                json!({ "metadata": { "annotations": { "rotation": rotation.to_string() } } });
            let touched = Patch::Merge(touched);
            secrets
                .patch("zonewright-webhook", &PatchParams::default(), &touched)
                .await
                .unwrap();
            let rotated = eventually(SOON, "another authority, alone", async || {
                let held = held(&admin).await?;
                match &held.phase {
                    Phase::Steady if held.authority.pem != before => Ok(()),
                    Phase::Steady | Phase::Announced { .. } | Phase::Switched { .. } => {
                        Err(format!("{:?}", held.phase))
                    }
                }
            });
            rotated.await.unwrap();
        }
        // Until the API server has heard of the last one.
        let requests = stage.questions.load(Ordering::SeqCst) + 100;
        let more = eventually(SOON, "another hundred questions", async || {
            (stage.questions.load(Ordering::SeqCst) > requests).then_some(())
        });
        more.await.unwrap();
        ended.store(true, Ordering::SeqCst);
    };
    let ((requests, failures), ()) = tokio::join!(asking, rotating);
    running.abort();
    println!(
        "{requests} requests, {} questions over {ROTATIONS} rotations",
        stage.questions.load(Ordering::SeqCst)
    );
    assert!(
        failures.is_empty(),
        "{} of {requests} failed: {:?}",
        failures.len(),
        failures.first()
    );
}
