//! What is claimed for an Ingress, in an order that nobody chooses: before the gate is there, and beside claims of others.

use api::well_known::annotation;
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hand::{Hand, condition, hosts, ingress, is_managed, only_host, rule};
use crate::stage::Up;

const HOST: &str = "old.example.com";

/// An Ingress from before the gate.
pub(crate) async fn create_ungated(tenant: &Hand) -> Value {
    let mut old = ingress("old", &[HOST]);
    old["spec"]["tls"] = json!([{ "hosts": [HOST], "secretName": "old-tls" }]);
    let created = tenant.create("shop", &old).await;
    assert_eq!(hosts(&created), [HOST, HOST], "nothing is gated yet");
    created
}

/// V1, V7, F6: what the controller makes of it passes the webhook, and it comes back as it was.
pub(crate) async fn older_is_gated_and_comes_back(
    tenant: &Hand,
    old: &Value,
    prove: impl AsyncFnOnce(&str, &str),
) {
    let gated = |it: &Value| hosts(it).iter().all(|host| is_managed(host));
    let gated = tenant.until_ingress("shop", "old", gated).await;
    let managed = only_host(&gated);
    let pending = gated["metadata"]["annotations"][annotation::PENDING_CUSTOM_HOSTS].as_str();
    let pending: Value = serde_json::from_str(pending.unwrap()).unwrap();
    assert_eq!(pending["rules"], old["spec"]["rules"]);
    assert_eq!(pending["tls"], old["spec"]["tls"]);
    prove(HOST, "old").await;
    let rules = json!([rule(Some(HOST)), rule(Some(&managed))]);
    let back = |it: &Value| it["spec"]["rules"] == rules;
    let back = tenant.until_ingress("shop", "old", back).await;
    assert_eq!(back["spec"]["tls"], old["spec"]["tls"]);
}

/// V2, V8: an unproven claim above a host is no reason to wait for it.
pub(crate) async fn a_host_below_an_unproven_claim_is_proven_by_itself(
    tenant: &Hand,
    prove: impl AsyncFn(&str, &str),
) {
    tenant
        .create("shop", &ingress("wide", &["*.example.com"]))
        .await;
    tenant.txt_record("shop", "example.com").await;
    tenant
        .create("shop", &ingress("web", &["web.example.com"]))
        .await;
    let mut deep = ingress("deep", &["a.deep.example.com"]);
    deep["metadata"]["annotations"] = json!({ annotation::VERIFY_DOMAIN: "deep.example.com" });
    tenant.create("shop", &deep).await;
    for (domain, name, host) in [
        ("web.example.com", "web", "web.example.com"),
        ("deep.example.com", "deep", "a.deep.example.com"),
    ] {
        prove(domain, name).await;
        let back = |it: &Value| it["spec"]["rules"][0]["host"] == host;
        tenant.until_ingress("shop", name, back).await;
    }
    let claims = tenant.verifications("shop");
    let claim = claims.get("example.com").await.unwrap();
    let owners: Vec<String> = claim
        .owner_references()
        .iter()
        .map(|it| it.name.clone())
        .collect();
    assert_eq!(owners, ["wide"], "nothing below it uses it yet");
    only_host(&tenant.ingress("shop", "wide").await);
}

#[tokio::test]
async fn an_ingress_older_than_the_gate_is_gated_and_comes_back() {
    let directory = TempDir::new().unwrap();
    let up = Up::start_ungated_in(directory.path(), "data").await;
    let old = create_ungated(&up.somebody("tenant")).await;
    drop(up);
    let up = Up::start_in(directory.path(), "data").await;
    let tenant = up.somebody("tenant");
    let prove = async |domain: &str, name: &str| tenant.prove(domain, name).await;
    older_is_gated_and_comes_back(&tenant, &old, prove).await;
}

#[tokio::test]
async fn a_host_below_a_claim_of_others_does_not_wait_for_it() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    let prove = async |domain: &str, name: &str| tenant.prove(domain, name).await;
    a_host_below_an_unproven_claim_is_proven_by_itself(&tenant, prove).await;
}

/// V2, V8: once the domain above is proven, a claim that is not proven itself is needed no longer.
#[tokio::test]
async fn a_claim_below_a_proven_domain_goes() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    tenant
        .create("shop", &ingress("web", &["web.example.com"]))
        .await;
    tenant.txt_record("shop", "web.example.com").await;
    tenant
        .create("shop", &ingress("wide", &["*.example.com"]))
        .await;
    tenant.prove("example.com", "wide").await;
    let back = |it: &Value| it["spec"]["rules"][0]["host"] == "web.example.com";
    tenant.until_ingress("shop", "web", back).await;
    let claims = tenant.verifications("shop");
    tenant.until_gone(&claims, "web.example.com").await;
    tenant.delete("shop", "wide").await;
    let used = |it: &Value| it["metadata"]["ownerReferences"][0]["name"] == "web";
    let kept = tenant.until_verification("shop", "example.com", used).await;
    assert_eq!(
        condition(&kept)["status"],
        "True",
        "what is served stays proven"
    );
    let listed = claims.list(&ListParams::default()).await.unwrap();
    let names: Vec<String> = listed.iter().map(kube::ResourceExt::name_any).collect();
    assert_eq!(names, ["example.com"]);
}
