//! What can never be, and what never counts as a host of one's own (V2, V9).

use api::well_known::annotation;
use kube::api::{ListParams, PostParams};
use serde_json::{Value, json};

use crate::hand::{Hand, hosts, ingress, object, only_host, rule, value};
use crate::stage::Up;

async fn claims(hand: &Hand) -> Vec<String> {
    let listed = hand
        .verifications("shop")
        .list(&ListParams::default())
        .await;
    let names = listed.unwrap().items.into_iter().map(|it| it.metadata.name);
    names.map(Option::unwrap_or_default).collect()
}

/// V9.
#[tokio::test]
async fn hosts_that_nobody_can_prove_are_refused_by_field() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    let cases = [
        ("co.uk", "public suffix"),
        ("*.co.uk", "public suffix"),
        ("*.github.io", "public suffix"),
        ("apps.example.net", "managed domain"),
        ("*.apps.example.net", "managed domain"),
        ("me.apps.example.net", "managed domain"),
        ("api.default.svc.cluster.local", "cluster's domain"),
        ("printer.local", "special-use"),
        ("x.onion", "special-use"),
    ];
    for (host, why) in cases {
        let wanted = ingress("web", &["ok.example.com", host]);
        let told = tenant.try_create("shop", &wanted).await.unwrap_err();
        assert_eq!(told.code, 422, "{host}: {told:?}");
        for word in ["spec.rules[1].host", host, why] {
            assert!(told.message.contains(word), "{host}: {}", told.message);
        }
        let mut tls = ingress("web", &["ok.example.com"]);
        tls["spec"]["tls"] = json!([{ "hosts": ["ok.example.com", host] }]);
        let told = tenant.try_create("shop", &tls).await.unwrap_err();
        let field = "spec.tls[0].hosts[1]";
        assert!(told.message.contains(field), "{host}: {}", told.message);
    }
    assert_eq!(claims(&tenant).await, [""; 0], "nothing was claimed");

    // Somebody else's managed host is in the managed domain like any other.
    let first = only_host(
        &tenant
            .create("shop", &ingress("first", &["a.example.com"]))
            .await,
    );
    let told = tenant
        .try_create("shop", &ingress("second", &[&first]))
        .await;
    assert!(told.unwrap_err().message.contains("managed domain"));

    let mut wide = ingress("wide", &["a.example.co.uk"]);
    wide["metadata"]["annotations"] = json!({ annotation::VERIFY_DOMAIN: "co.uk" });
    let told = tenant.try_create("shop", &wide).await.unwrap_err();
    assert!(told.message.contains(annotation::VERIFY_DOMAIN), "{told:?}");
    assert!(told.message.contains("public suffix"), "{told:?}");
}

/// V9: hosts beside the rules.
#[tokio::test]
async fn annotations_do_not_serve_what_rules_may_not() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    for (key, text) in [
        (
            "nginx.ingress.kubernetes.io/server-alias",
            "bank.example.org",
        ),
        (
            "external-dns.alpha.kubernetes.io/hostname",
            "bank.example.org",
        ),
        ("cert-manager.io/common-name", "bank.example.org"),
        (
            "nginx.ingress.kubernetes.io/server-snippet",
            "server_name bank.example.org;",
        ),
    ] {
        let mut alias = ingress("alias", &["www.example.com"]);
        alias["metadata"]["annotations"] = json!({ key: text });
        let told = tenant.try_create("shop", &alias).await.unwrap_err();
        assert_eq!(told.code, 422, "{told:?}");
        assert!(told.message.contains(key), "{told:?}");
    }
    // Nor afterwards.
    tenant
        .create("shop", &ingress("web", &["www.example.com"]))
        .await;
    let mut web = tenant.ingress("shop", "web").await;
    let alias = "nginx.ingress.kubernetes.io/server-alias";
    web["metadata"]["annotations"][alias] = json!("bank.example.org");
    let ingresses = tenant.ingresses("shop");
    let by = PostParams::default();
    let told = ingresses.replace("web", &by, &object(&web)).await;
    assert!(told.unwrap_err().to_string().contains(alias));
}

/// V2.
#[tokio::test]
async fn a_dry_run_shows_what_would_be_and_claims_nothing() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let wanted = object(&ingress("web", &["www.example.com"]));
    let shown = tenant.ingresses("shop").create(&dry, &wanted).await;
    only_host(&value(shown.unwrap()));
    assert_eq!(claims(&tenant).await, [""; 0]);
    let there = tenant.ingresses("shop").get_opt("web").await.unwrap();
    assert!(there.is_none());
}

/// V2: neither is ever given back.
#[tokio::test]
async fn a_rule_without_a_host_and_the_default_backend_are_served_at_the_managed_host_for_good() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    let backend = json!({ "service": { "name": "rest", "port": { "number": 8080 } } });
    let mut open = ingress("open", &["www.example.com"]);
    open["spec"]["rules"] = json!([rule(None), rule(Some("www.example.com"))]);
    open["spec"]["defaultBackend"] = backend.clone();
    let created = tenant.create("shop", &open).await;
    let managed = only_host(&created);
    let rules = created["spec"]["rules"].as_array().unwrap();
    let leads = |it: &Value| it["http"]["paths"][0]["backend"] == backend;
    assert!(rules.iter().any(leads), "{created}");
    tenant.prove("www.example.com", "open").await;
    let back = |it: &Value| hosts(it).contains(&"www.example.com".to_owned());
    let back = tenant.until_ingress("shop", "open", back).await;
    let left = hosts(&back);
    let mut left = left.iter().filter(|it| *it != "www.example.com");
    assert!(left.all(|it| *it == managed), "{back}");
    assert!(back["spec"]["defaultBackend"].is_null(), "{back}");

    // On its own, and added later.
    let mut bare = ingress("bare", &[]);
    bare["spec"] = json!({ "defaultBackend": backend });
    only_host(&tenant.create("shop", &bare).await);
    tenant
        .create("shop", &ingress("later", &["b.example.com"]))
        .await;
    let patch = json!({ "spec": { "defaultBackend": backend } });
    only_host(&tenant.merge("shop", "later", patch).await);
}

/// V1: the gate is for every Ingress, whatever its class.
#[tokio::test]
async fn another_class_changes_nothing() {
    let up = Up::start().await;
    let tenant = up.somebody("tenant");
    let mut web = ingress("web", &["www.example.com"]);
    web["spec"]["ingressClassName"] = json!("nginx");
    let managed = only_host(&tenant.create("shop", &web).await);
    for class in [json!("other"), Value::Null, json!("nginx")] {
        let patch = json!({ "spec": { "ingressClassName": class, "rules": web["spec"]["rules"] } });
        let changed = tenant.merge("shop", "web", patch).await;
        assert_eq!(only_host(&changed), managed);
    }
    let old = json!({ "metadata": { "annotations": { "kubernetes.io/ingress.class": "x" } } });
    assert_eq!(only_host(&tenant.merge("shop", "web", old).await), managed);
}
