//! Exported hosts, where domains can be proven.

use api::well_known::{annotation, label};
use k8s_openapi::api::core::v1::Service;
use kube::api::{Api, ApiResource, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::hand::{ingress, object, only_host};
use crate::stage::Up;

const HOST: &str = "www.example.com";

fn balanced(address: &str) -> Patch<serde_json::Value> {
    Patch::Merge(json!({ "status": { "loadBalancer": { "ingress": [{ "ip": address }] } } }))
}

/// S6, V6.
#[tokio::test]
async fn an_exported_host_goes_to_whoever_proves_its_domain() {
    let up = Up::start().await;
    let admin = up.admin();
    let by = PatchParams::default();
    admin.make_namespace("rival").await;
    let everybody = json!([{ "namespaces": ["shop", "rival"], "records": [{ "pattern": "*" }] }]);
    let zones: Api<api::Zone> = Api::namespaced(admin.client.clone(), "shop");
    let opened = Patch::Merge(json!({ "spec": { "delegations": everybody } }));
    zones.patch("example-com", &by, &opened).await.unwrap();

    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "web", "labels": { label::EXPORT: "" }, "annotations": { annotation::FQDN: HOST } },
        "spec": { "type": "LoadBalancer", "ports": [{ "port": 443 }] },
    });
    let resource = ApiResource::erase::<Service>(&());
    let services: Api<kube::core::DynamicObject> =
        Api::namespaced_with(admin.client.clone(), "rival", &resource);
    let anew = PostParams::default();
    services.create(&anew, &object(&service)).await.unwrap();
    let first = balanced("203.0.113.66");
    services.patch_status("web", &by, &first).await.unwrap();
    up.until_answer(HOST, |it| it == "NOERROR 203.0.113.66")
        .await;

    let tenant = up.somebody("tenant");
    let mut web = ingress("web", &[HOST]);
    web["metadata"]["labels"] = json!({ label::EXPORT: "" });
    only_host(&tenant.create("shop", &web).await);
    let ingresses = admin.ingresses("shop");
    let reached = balanced("192.0.2.60");
    ingresses.patch_status("web", &by, &reached).await.unwrap();
    tenant.prove(HOST, "web").await;
    up.until_answer(HOST, |it| it == "NOERROR 192.0.2.60").await;
}
