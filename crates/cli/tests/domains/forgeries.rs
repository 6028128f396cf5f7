//! What tenants can write into their own objects proves nothing (V4, V6, V9).

use api::well_known::{annotation, label};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use testkit::eventually;

use crate::hand::{Hand, condition, hosts, ingress, object, only_host, rule};
use crate::stage::{SOON, Up};

const DOMAIN: &str = "www.example.com";

fn note<'a>(ingress: &'a Value, key: &str) -> &'a str {
    let text = ingress["metadata"]["annotations"][key].as_str();
    text.unwrap_or_default()
}

/// Waits until DNS was asked about a domain once more, and says what came of it.
async fn asked_again(hand: &Hand, namespace: &str, ingress: &str, word: &str) -> Value {
    hand.check(namespace, ingress, word).await;
    let told = |it: &Value| condition(it)["reason"] == "TokenMismatch";
    hand.until_verification(namespace, DOMAIN, told).await
}

/// The annotation with originals is read back as anybody's wish, and judged.
#[tokio::test]
async fn forged_originals_give_nothing_back() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    tenant.create("shop", &ingress("web", &[DOMAIN])).await;
    tenant.prove(DOMAIN, "web").await;
    let bank = json!({ "rules": [rule(Some("bank.example.org"))], "tls": [{ "hosts": ["bank.example.org"] }] });
    let forged = json!({
        annotation::PENDING_CUSTOM_HOSTS: bank.to_string(),
        annotation::CUSTOM_HOSTS_REMOVED: "[bank.example.org]",
    });

    let mut sent = ingress("forged", &[DOMAIN]);
    sent["metadata"]["annotations"] = forged.clone();
    sent["metadata"]["labels"] = json!({ label::HAS_PENDING_CUSTOM_HOSTS: "true" });
    let created = tenant.create("shop", &sent).await;
    assert!(!hosts(&created).contains(&"bank.example.org".to_owned()));

    // The same into one that stands, together with the rule that would stand for the original.
    let back = |it: &Value| hosts(it).len() == 2 && hosts(it)[0] == DOMAIN;
    let custom = hosts(&tenant.until_ingress("shop", "web", back).await);
    let patch = json!({
        "metadata": { "annotations": forged, "labels": { label::HAS_PENDING_CUSTOM_HOSTS: "true" } },
    });
    let patched = tenant.merge("shop", "web", patch).await;
    assert_eq!(hosts(&patched), custom);
    for name in ["web", "forged"] {
        // The controller has seen the forged one and come to rest: its own copy beside the host is there.
        let seen = tenant.until_ingress("shop", name, back).await;
        assert_eq!(note(&seen, annotation::PENDING_CUSTOM_HOSTS), "", "{seen}");
        let labels = &seen["metadata"]["labels"];
        assert!(labels[label::HAS_PENDING_CUSTOM_HOSTS].is_null(), "{seen}");
    }
    let claims = tenant.verifications("shop");
    let claimed = claims.get_opt("bank.example.org").await;
    assert!(claimed.unwrap().is_none());

    // Of one that waits, originals are changed: what is proven decides all the same.
    let waiting = tenant
        .create("shop", &ingress("waits", &["b.example.com"]))
        .await;
    let managed = only_host(&waiting);
    let forged = json!({ annotation::PENDING_CUSTOM_HOSTS: bank.to_string() });
    let patch = json!({ "metadata": { "annotations": forged } });
    let patched = tenant.merge("shop", "waits", patch).await;
    assert_eq!(only_host(&patched), managed);
    let originals = note(&patched, annotation::PENDING_CUSTOM_HOSTS);
    assert!(originals.contains("b.example.com"), "{originals}");
    assert!(!originals.contains("bank"), "{originals}");
}

/// V1.
#[tokio::test]
async fn a_managed_host_of_another_namespace_is_not_taken_over() {
    let up = Up::start().await;
    let (admin, tenant) = (up.admin(), up.somebody("tenant"));
    admin.make_namespace("thief").await;
    let victim = tenant.create("shop", &ingress("web", &[DOMAIN])).await;
    let (host, seal) = (only_host(&victim), note(&victim, annotation::MANAGED_HOST));
    let thief = up.somebody("thief");
    let mut copy = ingress("copy", &[DOMAIN]);
    copy["metadata"]["annotations"] = json!({ annotation::MANAGED_HOST: seal });
    let copied = thief.create("thief", &copy).await;
    let own = only_host(&copied);
    assert_ne!(own, host);
    assert_ne!(note(&copied, annotation::MANAGED_HOST), seal);

    let patch = json!({ "metadata": { "annotations": { annotation::MANAGED_HOST: seal } } });
    let patched = thief.merge("thief", "copy", patch).await;
    assert_eq!(only_host(&patched), own, "the old one stands");
    let patch = json!({ "metadata": { "annotations": { annotation::MANAGED_HOST: null } } });
    let patched = thief.merge("thief", "copy", patch).await;
    assert_eq!(only_host(&patched), own, "nor is another one drawn");
    let taken = thief.try_create("thief", &ingress("third", &[&host])).await;
    assert!(taken.unwrap_err().message.contains("managed domain"));
}

/// V4, V9.
#[tokio::test]
async fn the_proof_of_one_namespace_is_none_for_another() {
    let up = Up::start().await;
    let (admin, tenant) = (up.admin(), up.somebody("tenant"));
    admin.make_namespace("thief").await;
    let thief = up.somebody("thief");
    tenant.create("shop", &ingress("web", &[DOMAIN])).await;
    let managed = only_host(&thief.create("thief", &ingress("web", &[DOMAIN])).await);
    let (name, theirs) = tenant.txt_record("shop", DOMAIN).await;
    let (same, ours) = thief.txt_record("thief", DOMAIN).await;
    assert_eq!(name, same);
    assert_ne!(theirs, ours);
    tenant.prove(DOMAIN, "web").await;
    let proven = tenant.until_verified("shop", DOMAIN).await;
    let seen = asked_again(&thief, "thief", "web", "1").await;
    assert_eq!(condition(&seen)["status"], "False", "{seen}");

    // Even if our own hand could be led to copy the status, nothing follows.
    let mut status = proven["status"].clone();
    status["token"] = json!(ours);
    let copied = Patch::Merge(json!({ "status": status }));
    let claims = up.ourselves().verifications("thief");
    let by = PatchParams::default();
    claims.patch_status(DOMAIN, &by, &copied).await.unwrap();
    let corrected =
        |it: &Value| it["status"]["proof"].is_null() && condition(it)["status"] == "False";
    thief.until_verification("thief", DOMAIN, corrected).await;
    claims.patch_status(DOMAIN, &by, &copied).await.unwrap();
    let patch = json!({ "spec": { "rules": [rule(Some(DOMAIN))] } });
    let again = thief.merge("thief", "web", patch).await;
    assert_eq!(only_host(&again), managed);
    thief.until_verification("thief", DOMAIN, corrected).await;
    assert_eq!(only_host(&thief.ingress("thief", "web").await), managed);
}

/// V4: a token belongs to a namespace, not to its name.
#[tokio::test]
async fn a_namespace_made_again_begins_anew() {
    let up = Up::start().await;
    let (admin, tenant) = (up.admin(), up.somebody("tenant"));
    admin.make_namespace("second").await;
    tenant.create("second", &ingress("web", &[DOMAIN])).await;
    let (name, before) = tenant.txt_record("second", DOMAIN).await;
    tenant.publish_txt("proof", (&name, &before)).await;
    tenant.check("second", "web", "1").await;
    tenant.until_verified("second", DOMAIN).await;
    let namespaces: Api<Namespace> = Api::all(admin.client.clone());
    namespaces
        .delete("second", &DeleteParams::default())
        .await
        .unwrap();
    let gone = eventually(SOON, "no namespace", async || {
        match namespaces.get_opt("second").await {
            Ok(None) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    gone.await.unwrap();
    admin.make_namespace("second").await;
    only_host(&tenant.create("second", &ingress("web", &[DOMAIN])).await);
    let (_, after) = tenant.txt_record("second", DOMAIN).await;
    assert_ne!(before, after);
    let seen = asked_again(&tenant, "second", "web", "2").await;
    assert_eq!(condition(&seen)["status"], "False", "{seen}");
    only_host(&tenant.ingress("second", "web").await);
}

/// A host that is proven is exchanged for one that is not, in place.
#[tokio::test]
async fn a_proven_host_is_not_exchanged_for_another() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    tenant.create("shop", &ingress("web", &[DOMAIN])).await;
    // Somebody goes on using it, or the claim would go with its last user.
    tenant.create("shop", &ingress("stays", &[DOMAIN])).await;
    tenant.prove(DOMAIN, "web").await;
    let back = |it: &Value| hosts(it).first().is_some_and(|it| it == DOMAIN);
    let web = tenant.until_ingress("shop", "web", back).await;
    // Neither what is beside it in the tree nor what looks like it is below it.
    for host in [
        "example.com",
        "mail.example.com",
        "evilwww.example.com",
        "*.example.com",
    ] {
        let patch =
            json!({ "spec": { "rules": [rule(Some(host))], "tls": [{ "hosts": [host] }] } });
        let changed = tenant.merge("shop", "web", patch).await;
        only_host(&changed);
        let patch = json!({ "spec": { "rules": web["spec"]["rules"], "tls": null } });
        let changed = tenant.merge("shop", "web", patch).await;
        assert!(hosts(&changed).contains(&DOMAIN.to_owned()), "{changed}");
    }
    // What the API's own status update carries along is not written.
    let mut status = tenant.ingress("shop", "web").await;
    status["spec"]["rules"][0]["host"] = json!("bank.example.org");
    let ingresses = tenant.ingresses("shop");
    let by = PostParams::default();
    let written = ingresses.replace_status("web", &by, &object(&status)).await;
    assert!(
        written.is_err()
            || !hosts(&tenant.ingress("shop", "web").await)
                .contains(&"bank.example.org".to_owned())
    );
}
