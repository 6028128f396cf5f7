//! What needs time, or a cluster of its own: kinds that come and go, and how long the last addresses are kept.

use std::time::Duration;

use api::foreign;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use reconcile::publishing::SourceKind;
use serde_json::json;

use crate::stage::{EXPORT, Home, SOON, Stage};

const HOST: &str = "app.example.org";
const PUBLISHED: &[&str] = &[
    "app.example.org 192.0.2.1:443",
    "app.example.org. A 192.0.2.1",
];

async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

async fn published() -> Stage {
    let stage = Stage::running(Home::Embedded).await;
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    stage.until(PUBLISHED).await;
    stage
}

#[tokio::test(start_paused = true)]
async fn the_last_addresses_are_kept_for_five_minutes() {
    // S7.
    let stage = published().await;
    stage.reach("app", &[]).await;
    pass(Duration::from_secs(290)).await;
    assert_eq!(stage.standing().await, PUBLISHED);
    stage
        .until_says(HOST, "Published", "True/", "all addresses are gone")
        .await;
    pass(Duration::from_secs(20)).await;
    stage.until(&[HOST]).await;
    stage
        .until_says(HOST, "Published", "False/NoAddress", "")
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_moment_without_addresses_begins_anew() {
    // S7.
    let stage = published().await;
    for _ in 0..3 {
        stage.reach("app", &[]).await;
        pass(Duration::from_secs(200)).await;
        stage.reach("app", &["192.0.2.1"]).await;
        pass(Duration::from_secs(1)).await;
        assert_eq!(stage.standing().await, PUBLISHED);
    }
}

#[tokio::test(start_paused = true)]
async fn the_host_of_a_source_that_is_gone_is_not_kept() {
    // S7.
    let stage = published().await;
    stage.reach("app", &[]).await;
    pass(Duration::from_secs(10)).await;
    assert_eq!(stage.standing().await, PUBLISHED);
    stage.delete("app").await;
    pass(Duration::from_secs(5)).await;
    assert!(stage.standing().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_removed_under_us_takes_nothing_along() {
    // S10.
    let stage = published().await;
    let definitions: Api<CustomResourceDefinition> = Api::all(stage.client.clone());
    let contour = foreign::http_proxy::crd().metadata.name.unwrap();
    definitions
        .delete(&contour, &DeleteParams::default())
        .await
        .unwrap();
    let gone = async || {
        definitions
            .get_opt(&contour)
            .await
            .unwrap()
            .is_none()
            .then_some(())
    };
    testkit::eventually(SOON, "the kind is gone", gone)
        .await
        .unwrap();
    pass(Duration::from_mins(20)).await;
    assert_eq!(stage.standing().await, PUBLISHED);
    // Installed again, its objects are seen to be gone.
    testkit::crds::install(&stage.client, &[foreign::http_proxy::crd()])
        .await
        .unwrap();
    stage.until(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_is_switched_on_when_it_is_installed() {
    // S8.
    let mut stage = Stage::bare(Home::Embedded).await;
    stage.run();
    let mut service = json!({
        "metadata": { "name": "mail", "labels": { EXPORT: "" } },
        "spec": { "type": "LoadBalancer", "ports": [{ "port": 25 }] },
        "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.2" }] } },
    });
    service["metadata"]["annotations"] =
        json!({ "external-dns.alpha.kubernetes.io/hostname": "mail.example.org" });
    let namespace = stage.namespace.clone();
    stage.create(SourceKind::Service, &namespace, service).await;
    let mail = [
        "mail.example.org 192.0.2.2:25",
        "mail.example.org. A 192.0.2.2",
    ];
    stage.until(&mail).await;
    testkit::crds::install(&stage.client, &foreign::crds())
        .await
        .unwrap();
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    stage
        .until(&[PUBLISHED[0], mail[0], PUBLISHED[1], mail[1]])
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_api_that_does_not_answer_for_a_source_removes_nothing() {
    // S10.
    let mut stage = Stage::open(Home::Embedded).await;
    let (way, deaf) = deaf(&stage.client);
    stage.way = way;
    stage.run();
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    stage.until(PUBLISHED).await;
    deaf.store(true, std::sync::atomic::Ordering::SeqCst);
    stage.delete("app").await;
    pass(Duration::from_mins(10)).await;
    // The Records belong to the source, and go with it as everything of its does.
    assert_eq!(stage.standing().await[0], PUBLISHED[0]);
    stage
        .until_says(HOST, "Published", "", "could not confirm")
        .await;
    deaf.store(false, std::sync::atomic::Ordering::SeqCst);
    stage.until(&[]).await;
}

/// A way to the API on which single HTTPProxies cannot be got while it is deaf.
fn deaf(api: &kube::Client) -> (kube::Client, std::sync::Arc<std::sync::atomic::AtomicBool>) {
    let deaf = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (api, is_deaf) = (api.clone(), std::sync::Arc::clone(&deaf));
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let (api, is_deaf) = (api.clone(), std::sync::Arc::clone(&is_deaf));
        async move {
            let single = request.uri().path().contains("/httpproxies/");
            if single && is_deaf.load(std::sync::atomic::Ordering::SeqCst) {
                let refusal = kube::core::Status::failure("busy", "ServiceUnavailable")
                    .with_code(503)
                    .boxed();
                return Err(kube::Error::Api(refusal));
            }
            api.send(request).await
        }
    });
    (kube::Client::new(service, "default"), deaf)
}

#[tokio::test(start_paused = true)]
async fn nodes_stand_in_where_there_is_nothing_else() {
    // S7, and the peer's S3 to S6.
    let mut stage = Stage::open(Home::Embedded).await;
    stage.options.policy.node_endpoints = true;
    stage.run();
    stage.proxy("app", HOST, &[]).await;
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(stage.client.clone());
    for (name, address, ready) in [
        ("a", "10.0.0.1", "True"),
        ("b", "10.0.0.2", "False"),
        ("c", "10.0.0.3", "True"),
    ] {
        let node = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        nodes.create(&PostParams::default(), &node).await.unwrap();
        let status = json!({ "status": {
            "addresses": [{ "type": "InternalIP", "address": address }],
            "conditions": [{ "type": "Ready", "status": ready }],
        } });
        nodes
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await
            .unwrap();
    }
    stage
        .until(&[
            "app.example.org 10.0.0.1:443 10.0.0.3:443",
            "app.example.org. A 10.0.0.1",
            "app.example.org. A 10.0.0.3",
        ])
        .await;
    nodes.delete("a", &DeleteParams::default()).await.unwrap();
    stage
        .until(&[
            "app.example.org 10.0.0.3:443",
            "app.example.org. A 10.0.0.3",
        ])
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_second_publisher_after_the_first_writes_nothing() {
    let mut stage = published().await;
    stage
        .until_says(HOST, "Published", "True/Published", "")
        .await;
    stage.stop().await;
    let versions = async || {
        let record = stage.service_records().get(HOST).await.unwrap();
        let records = stage
            .records()
            .list(&kube::api::ListParams::default())
            .await
            .unwrap();
        let records = records
            .items
            .into_iter()
            .map(|it| it.metadata.resource_version);
        (
            record.metadata.resource_version,
            records.collect::<Vec<_>>(),
        )
    };
    let before = versions().await;
    let mut running = stage.start();
    assert!(running.settled(SOON).await);
    pass(Duration::from_mins(10)).await;
    assert_eq!(versions().await, before);
}
