//! From an unverified host to one that is served, and away again.

use api::well_known::{annotation, label};
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::{Value, json};
use testkit::eventually;

use crate::hand::{condition, hosts, ingress, only_host, value};
use crate::stage::{SOON, Up, example};

/// The names of those who own something.
fn owners(object: &Value) -> Vec<&str> {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let owners = owners.map(Vec::as_slice).unwrap_or_default().iter();
    let mut owners: Vec<&str> = owners.filter_map(|it| it["name"].as_str()).collect();
    owners.sort_unstable();
    owners
}

/// The rules of a manifest, followed by a copy of each under the managed host.
fn served(manifest: &Value, managed: &str) -> Value {
    let wanted = manifest["spec"]["rules"].as_array().unwrap();
    let mut rules = wanted.clone();
    for rule in wanted {
        let mut copy = rule.clone();
        copy["host"] = json!(managed);
        if !rules.contains(&copy) {
            rules.push(copy);
        }
    }
    Value::Array(rules)
}

/// V1, V2, V4–V8, with the example as it is.
#[tokio::test]
async fn a_host_waits_until_it_is_proven_is_served_then_and_leaves_nothing_behind() {
    let up = Up::start_with(&example(""), None).await;
    let admin = up.admin();
    let text = std::fs::read_to_string(example("ingress.yaml")).unwrap();
    let manifest = testkit::manifest::read(&text).unwrap().remove(0);
    let manifest = value(manifest);
    let web = admin.ingress("shop", "web").await;
    let managed = only_host(&web);
    assert!(web["spec"]["tls"].is_null(), "{web}");
    let notes = &web["metadata"]["annotations"];
    let pending = notes[annotation::PENDING_CUSTOM_HOSTS].as_str().unwrap();
    let pending: Value = serde_json::from_str(pending).unwrap();
    assert_eq!(pending["rules"], manifest["spec"]["rules"]);
    assert_eq!(pending["tls"], manifest["spec"]["tls"]);
    assert_eq!(notes[annotation::CUSTOM_HOSTS_REMOVED], "[www.example.com]");
    let labels = &web["metadata"]["labels"];
    assert_eq!(labels[label::HAS_PENDING_CUSTOM_HOSTS], "true");

    let mut second = ingress("other", &["www.example.com", "*.www.example.com"]);
    second["spec"]["tls"] = json!([{ "hosts": ["*.www.example.com"], "secretName": "more" }]);
    let tenant = up.somebody("tenant");
    let created = tenant.create("shop", &second).await;
    let other = only_host(&created);
    assert_ne!(other, managed, "no host is given twice");
    let claim = |it: &Value| owners(it) == ["other", "web"] && condition(it)["status"] == "False";
    let claim = admin.until_verification("shop", "www.example.com", claim);
    let claim = claim.await;
    assert_eq!(claim["spec"]["domain"], "www.example.com");
    assert!(claim["status"]["proof"].is_null(), "{claim}");
    let record = &claim["status"]["txtRecord"];
    assert_eq!(record["name"], "_kuadrant-challenge.www.example.com.");
    assert_eq!(record["value"], claim["status"]["token"]);
    let token = record["value"].as_str().unwrap();
    assert!(token.len() >= 22, "at least 128 bits: {token}");
    up.until_answer(&managed, |it| it == "NOERROR 192.0.2.60")
        .await;

    tenant.prove("www.example.com", "web").await;
    for (name, manifest, managed) in [("web", &manifest, &managed), ("other", &second, &other)] {
        let rules = served(manifest, managed);
        let back = admin.until_ingress("shop", name, |it| it["spec"]["rules"] == rules);
        let back = back.await;
        assert_eq!(back["spec"]["tls"], manifest["spec"]["tls"], "{back}");
        let metadata = &back["metadata"];
        assert!(metadata["labels"][label::HAS_PENDING_CUSTOM_HOSTS].is_null());
        for gone in [
            annotation::PENDING_CUSTOM_HOSTS,
            annotation::CUSTOM_HOSTS_REMOVED,
        ] {
            assert!(metadata["annotations"][gone].is_null(), "{metadata}");
        }
    }
    // Below a verified domain nothing waits, and the webhook changes nothing.
    let below = ingress("below", &["deep.down.www.example.com"]);
    let below = tenant.create("shop", &below).await;
    assert_eq!(hosts(&below), ["deep.down.www.example.com"]);

    for (gone, left) in [
        ("below", &["other", "web"][..]),
        ("other", &["web"]),
        ("web", &[]),
    ] {
        tenant.delete("shop", gone).await;
        if !left.is_empty() {
            let fewer = |it: &Value| owners(it) == left;
            admin
                .until_verification("shop", "www.example.com", fewer)
                .await;
        }
    }
    let verifications = admin.verifications("shop");
    admin.until_gone(&verifications, "www.example.com").await;
    let gone = eventually(SOON, "no managed Record", async || {
        let left = admin.managed_records().await;
        if left.is_empty() {
            Ok(())
        } else {
            Err(left.join(" "))
        }
    });
    gone.await.unwrap();
    up.until_answer(&managed, |it| it == "NXDOMAIN").await;
}

/// V2, V6: a claim above the host proves it, too.
#[tokio::test]
async fn an_ancestor_can_be_claimed_instead_of_every_host() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    let mut wide = ingress("wide", &["a.example.com", "*.b.example.com"]);
    wide["metadata"]["annotations"] = json!({ annotation::VERIFY_DOMAIN: "example.com" });
    only_host(&tenant.create("shop", &wide).await);
    tenant.prove("example.com", "wide").await;
    let back = |it: &Value| it["spec"]["rules"][0]["host"] == "a.example.com";
    let back = tenant.until_ingress("shop", "wide", back).await;
    assert_eq!(back["spec"]["rules"][1]["host"], "*.b.example.com");
    let claims = tenant.verifications("shop");
    let claims = claims.list(&ListParams::default()).await.unwrap();
    let claims: Vec<String> = claims.iter().map(ResourceExt::name_any).collect();
    assert_eq!(claims, ["example.com"]);
}
