//! Questions as kube-apiserver puts them, answered beside an embedded API.

use apiserver::{Apiserver, Options};
use dns::Name;
use http_body_util::BodyExt as _;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;

const USER: &str = "system:serviceaccount:zonewright-system:zonewright";

struct Stage {
    _api: Apiserver,
    client: Client,
    reviews: Reviews,
    keyring: Keyring,
}

impl Stage {
    async fn new() -> Stage {
        let api = Apiserver::open(Options::default()).await.unwrap();
        let client = api.client();
        let crds: Api<_> = Api::all(client.clone());
        let crd = api::crds::all()
            .into_iter()
            .find(|crd| crd.spec.names.kind == "DomainVerification");
        crds.create(&PostParams::default(), &crd.unwrap())
            .await
            .unwrap();
        let established = kube::runtime::wait::conditions::is_crd_established();
        let name = "domainverifications.kuadrant.dev";
        kube::runtime::wait::await_condition(crds, name, established)
            .await
            .unwrap();
        let keyring = Keyring::new(&[3; Keyring::BYTES]).unwrap();
        let reviews = Reviews::default();
        reviews.open(House {
            client: client.clone(),
            user: USER.to_owned(),
            managed: Some(ManagedDomain {
                domain: Name::parse("apps.example.net.").unwrap(),
                tls_secret: None,
            }),
            keyring: keyring.clone(),
        });
        Stage {
            _api: api,
            client,
            reviews,
            keyring,
        }
    }

    async fn post(&self, path: &str, body: impl Into<Bytes>) -> (StatusCode, Value) {
        let request = Request::post(path).body(Full::new(body.into())).unwrap();
        let response = self.reviews.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn ask(&self, path: &str, request: Value) -> Value {
        let (status, review) = self.post(path, review(request).to_string()).await;
        assert_eq!(status, StatusCode::OK);
        review["response"].clone()
    }

    async fn claims(&self) -> Vec<String> {
        let claims: Api<api::DomainVerification> = Api::namespaced(self.client.clone(), "default");
        let listed = claims.list(&ListParams::default()).await.unwrap();
        listed.items.into_iter().map(|it| it.spec.domain).collect()
    }

    async fn verify(&self, domain: &str) {
        let claims: Api<api::DomainVerification> = Api::namespaced(self.client.clone(), "default");
        let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(self.client.clone());
        let uid = namespaces
            .get("default")
            .await
            .unwrap()
            .metadata
            .uid
            .unwrap();
        let proof = self
            .keyring
            .proof(&uid, &Name::parse(&format!("{domain}.")).unwrap());
        let claim = reconcile::domains::claim(&reconcile::ObjectKey::new("default", domain));
        claims.create(&PostParams::default(), &claim).await.unwrap();
        let status = Patch::Merge(json!({ "status": { "proof": proof } }));
        claims
            .patch_status(domain, &PatchParams::default(), &status)
            .await
            .unwrap();
    }
}

fn review(mut request: Value) -> Value {
    request["uid"] = json!("0001");
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request })
}

fn question(operation: &str, user: &str, object: &Value) -> Value {
    json!({
        "kind": { "group": "networking.k8s.io", "version": "v1", "kind": "Ingress" },
        "resource": { "group": "networking.k8s.io", "version": "v1", "resource": "ingresses" },
        "namespace": "default", "name": "web", "operation": operation, "dryRun": false,
        "userInfo": { "username": user }, "object": object, "oldObject": null, "options": null,
    })
}

fn ingress(host: &str) -> Value {
    let backend = json!({ "service": { "name": "x", "port": { "number": 80 } } });
    let paths = json!([{ "path": "/", "pathType": "Prefix", "backend": backend }]);
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": { "name": "web", "namespace": "default" },
        "spec": { "rules": [{ "host": host, "http": { "paths": paths } }] },
    })
}

/// The object after the patch of a verdict.
fn patched(object: &Value, response: &Value) -> Value {
    use base64::Engine as _;
    let patch = response["patch"].as_str().unwrap();
    let patch = base64::engine::general_purpose::STANDARD
        .decode(patch)
        .unwrap();
    let patch: json_patch::Patch = serde_json::from_slice(&patch).unwrap();
    let mut object = object.clone();
    json_patch::patch(&mut object, &patch).unwrap();
    object
}

#[tokio::test]
async fn an_unproven_host_is_taken_out_and_its_author_is_told_what_to_create() {
    // V2, F4: a review makes nothing, dry run or not. The controller does, from what is stored.
    let stage = Stage::new().await;
    let object = ingress("shop.example.com");
    let answer = stage
        .ask(
            path::MUTATE_INGRESSES,
            question("CREATE", "tenant", &object),
        )
        .await;
    assert_eq!(answer["allowed"], true);
    let host = patched(&object, &answer)["spec"]["rules"][0]["host"].clone();
    assert!(
        host.as_str().unwrap().ends_with(".apps.example.net"),
        "{host}"
    );
    assert_eq!(stage.claims().await, [""; 0]);
    let warning = answer["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains(
            "create the TXT record _kuadrant-challenge.shop.example.com. with the value "
        ),
        "{warning}"
    );
}

#[tokio::test]
async fn what_is_proven_above_passes() {
    let stage = Stage::new().await;
    stage.verify("example.com").await;
    let object = ingress("shop.example.com");
    let answer = stage
        .ask(
            path::MUTATE_INGRESSES,
            question("CREATE", "tenant", &object),
        )
        .await;
    assert_eq!(patched(&object, &answer)["spec"], object["spec"]);
    assert_eq!(answer["warnings"], Value::Null);
}

#[tokio::test]
async fn what_can_never_be_is_refused_with_its_field() {
    // V9.
    let stage = Stage::new().await;
    let answer = stage
        .ask(
            path::MUTATE_INGRESSES,
            question("CREATE", "tenant", &ingress("co.uk")),
        )
        .await;
    assert_eq!(answer["allowed"], false);
    assert_eq!(answer["status"]["code"], 422);
    let message = answer["status"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("spec.rules[0].host: is a public suffix"),
        "{message}"
    );
}

#[tokio::test]
async fn what_another_webhook_puts_back_is_found() {
    let stage = Stage::new().await;
    let object = ingress("shop.example.com");
    let asked = question("CREATE", "tenant", &object);
    assert_eq!(
        stage.ask(path::VALIDATE_INGRESSES, asked.clone()).await["allowed"],
        false
    );
    let answer = stage.ask(path::MUTATE_INGRESSES, asked).await;
    let asked = question("CREATE", "tenant", &patched(&object, &answer));
    assert_eq!(
        stage.ask(path::VALIDATE_INGRESSES, asked).await["allowed"],
        true
    );
}

#[tokio::test]
async fn only_we_write_domain_verifications() {
    // V3.
    let stage = Stage::new().await;
    let claim = json!({
        "apiVersion": "kuadrant.dev/v1alpha1", "kind": "DomainVerification",
        "metadata": { "name": "a", "namespace": "default" }, "spec": { "domain": "example.com" },
    });
    let mut proven = claim.clone();
    proven["status"] = json!({ "proof": "mine" });
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    let cases = [
        ("CREATE", USER, json!(null), true),
        ("UPDATE", USER, claim.clone(), true),
        ("DELETE", USER, claim.clone(), true),
        ("CREATE", "zonewright-admin", json!(null), false),
        ("UPDATE", "tenant", claim.clone(), false),
        ("DELETE", "tenant", claim.clone(), false),
        ("DELETE", collector, claim.clone(), true),
        ("UPDATE", collector, proven.clone(), true),
        ("UPDATE", collector, claim.clone(), false),
        ("CREATE", collector, json!(null), false),
    ];
    for (operation, user, old, allowed) in cases {
        let object = if operation == "DELETE" {
            json!(null)
        } else {
            proven.clone()
        };
        let mut asked = question(operation, user, &object);
        asked["oldObject"] = old;
        let answer = stage.ask(path::VALIDATE_DOMAIN_VERIFICATIONS, asked).await;
        assert_eq!(
            answer["allowed"], allowed,
            "{operation} by {user}: {answer}"
        );
    }
}

#[tokio::test]
async fn an_object_of_ours_with_a_mistake_is_accepted_with_a_warning() {
    // R5.
    let stage = Stage::new().await;
    let record = json!({
        "apiVersion": "kubi.zone/v1alpha1", "kind": "Record",
        "metadata": { "name": "a", "namespace": "default" },
        "spec": { "domainName": "www.example.org.", "type": "A", "rdata": "not an address" },
    });
    let answer = stage
        .ask(
            path::VALIDATE_OBJECTS,
            question("CREATE", "tenant", &record),
        )
        .await;
    assert_eq!(answer["allowed"], true);
    assert!(
        answer["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("spec.rdata"),
        "{answer}"
    );
}

#[tokio::test]
async fn what_cannot_be_found_out_is_a_no() {
    // V10.
    let stage = Stage::new().await;
    let mut asked = question("CREATE", "tenant", &ingress("shop.example.com"));
    asked["namespace"] = json!("nowhere");
    let answer = stage.ask(path::MUTATE_INGRESSES, asked).await;
    assert_eq!(answer["allowed"], false);
    let message = answer["status"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("cannot see which domains are verified"),
        "{message}"
    );
}

#[tokio::test]
async fn whatever_is_no_question_is_no_yes() {
    let stage = Stage::new().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases = [
        (
            path::MUTATE_INGRESSES,
            "{".to_owned(),
            StatusCode::BAD_REQUEST,
        ),
        (path::MUTATE_INGRESSES, deep, StatusCode::BAD_REQUEST),
        (
            path::MUTATE_INGRESSES,
            "{}".to_owned(),
            StatusCode::BAD_REQUEST,
        ),
        (
            "/elsewhere",
            review(question("CREATE", "x", &ingress("a.b.c"))).to_string(),
            StatusCode::NOT_FOUND,
        ),
    ];
    for (path, body, expected) in cases {
        assert_eq!(stage.post(path, body).await.0, expected);
    }
    let get = Request::get(path::MUTATE_INGRESSES)
        .body(Full::default())
        .unwrap();
    let answer = stage.reviews.clone().oneshot(get).await.unwrap();
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
    let nobody = Reviews::default();
    let asked = Request::post(path::MUTATE_INGRESSES)
        .body(Full::default())
        .unwrap();
    assert_eq!(
        nobody.oneshot(asked).await.unwrap().status(),
        StatusCode::SERVICE_UNAVAILABLE
    );
}
