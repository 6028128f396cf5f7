//! Only we write DomainVerifications (V3).

use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::hand::{Hand, ingress, object, only_host, refusal};
use crate::stage::{SOON, Up};

const DOMAIN: &str = "www.example.com";

fn claim(domain: &str) -> Value {
    json!({
        "apiVersion": "kuadrant.dev/v1alpha1",
        "kind": "DomainVerification",
        "metadata": { "name": domain },
        "spec": { "domain": domain },
    })
}

/// Every way to write a DomainVerification that stands, and one that does not; by what each is refused.
async fn attempts(hand: &Hand) -> Vec<(&'static str, Result<(), kube::Error>)> {
    let claims = hand.verifications("shop");
    let standing = claims.get(DOMAIN).await.unwrap();
    let by = PostParams::default();
    let patch = PatchParams::default();
    let apply = PatchParams::apply("somebody").force();
    let status = json!({ "status": { "proof": "x", "conditions": [] } });
    let labels = json!({ "metadata": { "labels": { "a": "b" } } });
    let mut applied = claim(DOMAIN);
    applied["metadata"]["labels"] = json!({ "a": "b" });
    let mut changed = standing.clone();
    changed.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
    let mut proven = standing.clone();
    proven.data["status"]["proof"] = json!("x");
    let orphan = json!({ "metadata": { "ownerReferences": [] } });
    let all = ListParams::default();
    vec![
        (
            "create",
            claims
                .create(&by, &object(&claim("bank.example")))
                .await
                .map(drop),
        ),
        (
            "create by apply",
            claims
                .patch("bank.example", &apply, &Patch::Apply(claim("bank.example")))
                .await
                .map(drop),
        ),
        (
            "replace",
            claims.replace(DOMAIN, &by, &changed).await.map(drop),
        ),
        (
            "merge",
            claims
                .patch(DOMAIN, &patch, &Patch::Merge(labels))
                .await
                .map(drop),
        ),
        (
            "take from its owners",
            claims
                .patch(DOMAIN, &patch, &Patch::Merge(orphan))
                .await
                .map(drop),
        ),
        (
            "apply",
            claims
                .patch(DOMAIN, &apply, &Patch::Apply(applied))
                .await
                .map(drop),
        ),
        (
            "replace status",
            claims.replace_status(DOMAIN, &by, &proven).await.map(drop),
        ),
        (
            "merge status",
            claims
                .patch_status(DOMAIN, &patch, &Patch::Merge(status))
                .await
                .map(drop),
        ),
        (
            "delete",
            claims
                .delete(DOMAIN, &DeleteParams::default())
                .await
                .map(drop),
        ),
        (
            "delete all",
            claims
                .delete_collection(&DeleteParams::default(), &all)
                .await
                .map(drop),
        ),
    ]
}

/// Whoever asks, nothing is written: 403, and the same object as before.
pub(crate) async fn holds(hand: &Hand) {
    let claims = hand.verifications("shop");
    let before = claims.get(DOMAIN).await.unwrap();
    // A look at DNS may change its version in between; then it is tried again.
    let refused = testkit::eventually(SOON, "a quiet moment", async || {
        let tried = attempts(hand).await.into_iter();
        let told: Vec<_> = tried
            .map(|(what, result)| (what, refusal(result.expect_err(what))))
            .collect();
        let quiet = told.iter().all(|(_, told)| told.code != 409);
        quiet.then_some(told)
    });
    for (what, told) in refused.await.unwrap() {
        assert_eq!(told.code, 403, "{what}: {told:?}");
        assert!(told.message.contains("DomainVerification"), "{told:?}");
    }
    let after = claims.get(DOMAIN).await.unwrap();
    assert_eq!(after.metadata.uid, before.metadata.uid);
    assert_eq!(after.metadata.labels, before.metadata.labels);
    assert_eq!(after.metadata.deletion_timestamp, None);
    assert_eq!(after.data["spec"], before.data["spec"]);
    assert!(after.data["status"]["proof"].is_null());
    let forged = claims.get_opt("bank.example").await.unwrap();
    assert!(forged.is_none(), "{forged:?}");
}

#[tokio::test]
async fn nobody_else_writes_a_domain_verification_or_its_status() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    only_host(&tenant.create("shop", &ingress("web", &[DOMAIN])).await);
    tenant.txt_record("shop", DOMAIN).await;
    holds(&tenant).await;
    holds(&up.admin()).await;
    // A service account of the same name elsewhere is somebody else.
    holds(&up.somebody("system:serviceaccount:shop:zonewright")).await;
}

/// The collector and the controller of namespaces keep books, and that is all.
#[tokio::test]
async fn those_who_keep_books_may_delete_but_not_prove() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    tenant.create("shop", &ingress("web", &[DOMAIN])).await;
    tenant.txt_record("shop", DOMAIN).await;
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    let claims = up.somebody(collector).verifications("shop");
    let patch = PatchParams::default();
    let proof = Patch::Merge(json!({ "status": { "proof": "x" } }));
    let proved = claims.patch_status(DOMAIN, &patch, &proof);
    assert_eq!(refusal(proved.await.unwrap_err()).code, 403);
    let by = PostParams::default();
    let created = claims.create(&by, &object(&claim("bank.example"))).await;
    assert_eq!(refusal(created.unwrap_err()).code, 403);
    let before = claims.get(DOMAIN).await.unwrap().metadata.uid;
    claims
        .delete(DOMAIN, &DeleteParams::default())
        .await
        .unwrap();
    // It is still used, so it comes back.
    let anew = |it: &Value| it["metadata"]["uid"].as_str() != before.as_deref();
    let again = async {
        let found = testkit::eventually(SOON, "it again", async || {
            claims.get_opt(DOMAIN).await.ok().flatten()
        });
        found.await.unwrap();
        tenant.until_verification("shop", DOMAIN, anew).await
    };
    again.await;
}
