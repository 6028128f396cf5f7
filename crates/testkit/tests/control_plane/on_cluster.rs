//! The control plane is what tests take it for: the right release, three kinds of people with the
//! right rights, and the two controllers that a cluster is not one without.

#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests call may panic like tests"
)]

use std::time::Duration;

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::{Api, Client, Config, Resource, ResourceExt};
use serde_json::json;
use testkit::control_plane::{self, ControlPlane, Identity, gateway_api};
use testkit::manifest::{self, ManifestError};
use testkit::{crds, eventually};

/// Longer than any of this takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_release_is_the_one_that_the_module_names() {
    let plane = control_plane::shared().await;
    let server = plane
        .client(Identity::Admin)
        .apiserver_version()
        .await
        .unwrap();
    assert_eq!(server.git_version, "v1.36.3");
    let versions = plane
        .kubectl(Identity::Admin)
        .run(["version", "-o", "json"])
        .await
        .unwrap();
    let versions: serde_json::Value = serde_json::from_str(&versions.success().unwrap()).unwrap();
    assert_eq!(versions["clientVersion"]["gitVersion"], "v1.36.3");
    assert_eq!(versions["serverVersion"]["gitVersion"], "v1.36.3");
}

#[tokio::test]
async fn a_client_that_does_not_know_the_authority_does_not_talk() {
    let plane = control_plane::shared().await;
    let stranger = Client::try_from(Config::new(plane.url().parse().unwrap())).unwrap();
    let error = stranger.apiserver_version().await.unwrap_err();
    assert!(format!("{error:?}").contains("UnknownIssuer"), "{error:?}");
}

#[tokio::test]
async fn everyone_is_who_they_say() {
    let plane = control_plane::shared().await;
    let check = async |identity: Identity, groups: &[&str]| {
        let api: Api<SelfSubjectReview> = Api::all(plane.client(identity));
        let review = api
            .create(&PostParams::default(), &SelfSubjectReview::default())
            .await
            .unwrap();
        let seen = review.status.unwrap().user_info.unwrap();
        assert_eq!(seen.username.as_deref(), Some(identity.user()));
        assert_eq!(seen.groups.unwrap(), groups, "{identity:?}");
        // A tool that reads the kubeconfig is taken for the same user.
        let whoami = [
            "auth",
            "whoami",
            "-o",
            "jsonpath={.status.userInfo.username}",
        ];
        let whoami = plane
            .kubectl(identity)
            .run(whoami)
            .await
            .unwrap()
            .success()
            .unwrap();
        assert_eq!(whoami, identity.user());
    };
    check(Identity::Admin, &["system:masters", "system:authenticated"]).await;
    check(Identity::Tenant, &["system:authenticated"]).await;
    let service_account = [
        "system:serviceaccounts",
        "system:serviceaccounts:zonewright-system",
        "system:authenticated",
    ];
    check(Identity::ServiceAccount, &service_account).await;
}

#[tokio::test]
async fn the_admin_may_do_everything_and_the_others_nothing_by_themselves() {
    let plane = control_plane::shared().await;
    let check = async |identity: Identity, expected: &str| {
        let kubectl = plane.kubectl(identity);
        let asked = kubectl
            .run(["auth", "can-i", "*", "*", "--all-namespaces"])
            .await
            .unwrap();
        assert_eq!(asked.stdout.trim(), expected, "{identity:?}");
    };
    check(Identity::Admin, "yes").await;
    check(Identity::Tenant, "no").await;
    check(Identity::ServiceAccount, "no").await;
}

#[tokio::test]
async fn the_tenant_is_refused_outside_and_allowed_inside_their_namespace() {
    let plane = control_plane::shared().await;
    let admin = plane.client(Identity::Admin);
    let tenant = plane.client(Identity::Tenant);
    let ours = testkit::namespace(&admin, "ours").await.unwrap();
    let theirs = testkit::namespace(&admin, "theirs").await.unwrap();
    let config_map =
        &manifest::read("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}").unwrap()[0];

    let refusal = manifest::create(&tenant, &ours, config_map)
        .await
        .unwrap_err();
    assert_eq!(
        refusal.refusal().unwrap().code,
        403,
        "bound to nothing yet: {refusal}"
    );
    plane.bind_tenant(&ours).await.unwrap();
    manifest::create(&tenant, &ours, config_map).await.unwrap();

    let refusal = manifest::create(&tenant, &theirs, config_map)
        .await
        .unwrap_err();
    let expected = format!(
        "configmaps is forbidden: User \"tenant\" cannot create resource \"configmaps\" in API \
         group \"\" in the namespace \"{theirs}\""
    );
    assert_eq!(
        (refusal.refusal().unwrap().code, refusal.to_string()),
        (403, expected)
    );
}

#[tokio::test]
async fn the_tenant_may_edit_our_kinds_and_their_status_but_no_cluster_wide_object() {
    let plane = control_plane::shared().await;
    let admin = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&admin, "tenant").await.unwrap();
    plane.bind_tenant(&namespace).await.unwrap();
    let reviews: Api<SelfSubjectAccessReview> = Api::all(plane.client(Identity::Tenant));
    let check = async |verb: &str, group: &str, resource: &str, expected: bool| {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let attributes = json!({
            "namespace": namespace,
            "verb": verb,
            "group": group,
            "resource": resource,
            "subresource": subresource,
        });
        let review = json!({ "spec": { "resourceAttributes": attributes } });
        let review = serde_json::from_value(review).unwrap();
        let review = reviews
            .create(&PostParams::default(), &review)
            .await
            .unwrap();
        assert_eq!(
            review.status.unwrap().allowed,
            expected,
            "{verb} {resource} of {group:?}"
        );
    };
    check("create", "kubi.zone", "zones", true).await;
    check("patch", "kubi.zone", "records/status", true).await;
    check("delete", "kuadrant.io", "dnsrecords", true).await;
    check("update", "kuadrant.dev", "domainverifications", true).await;
    check(
        "create",
        "connectivity.tanzu.vmware.com",
        "servicerecords",
        true,
    )
    .await;
    check("create", "projectcontour.io", "httpproxies", true).await;
    check("create", "networking.k8s.io", "ingresses", true).await;
    check("create", "", "secrets", true).await;
    check("create", "rbac.authorization.k8s.io", "rolebindings", false).await;
    check("update", "", "namespaces", false).await;
}

#[tokio::test]
async fn an_object_goes_when_its_owner_goes() {
    let plane = control_plane::shared().await;
    let admin = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&admin, "owners").await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(admin.clone(), &namespace);
    let owner = api
        .create(&PostParams::default(), &config_map("owner", None))
        .await
        .unwrap();
    let owned = config_map("owned", owner.controller_owner_ref(&()));
    api.create(&PostParams::default(), &owned).await.unwrap();
    api.create(&PostParams::default(), &config_map("bystander", None))
        .await
        .unwrap();

    api.delete("owner", &DeleteParams::background())
        .await
        .unwrap();
    eventually(SOON, "the owned object to go", async || {
        gone(&api, "owned").await
    })
    .await
    .unwrap();
    api.get("bystander").await.unwrap();

    // It is done under the name that admission expects the garbage collector to have.
    let accounts: Api<ServiceAccount> = Api::namespaced(admin, "kube-system");
    accounts.get("generic-garbage-collector").await.unwrap();
}

#[tokio::test]
async fn a_namespace_goes_with_all_that_is_in_it() {
    let plane = control_plane::shared().await;
    let admin = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&admin, "short-lived").await.unwrap();
    let config_maps: Api<ConfigMap> = Api::namespaced(admin.clone(), &namespace);
    config_maps
        .create(&PostParams::default(), &config_map("a", None))
        .await
        .unwrap();
    let namespaces: Api<Namespace> = Api::all(admin);
    namespaces
        .delete(&namespace, &DeleteParams::default())
        .await
        .unwrap();
    eventually(SOON, "the namespace to go", async || {
        gone(&namespaces, &namespace).await
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn fresh_namespaces_differ() {
    let plane = control_plane::shared().await;
    let admin = plane.client(Identity::Admin);
    let first = testkit::namespace(&admin, "fresh").await.unwrap();
    let second = testkit::namespace(&admin, "fresh").await.unwrap();
    assert!(
        first.starts_with("fresh-") && second.starts_with("fresh-"),
        "{first} {second}"
    );
    assert_ne!(first, second);
}

#[tokio::test]
async fn the_gateway_api_can_be_installed_and_used_at_once() {
    let plane = control_plane::shared().await;
    install_gateway_api(plane).await;
    let admin = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&admin, "gateways").await.unwrap();
    plane.bind_tenant(&namespace).await.unwrap();
    let tenant = plane.client(Identity::Tenant);

    let created = manifest::create(&tenant, &namespace, &gateway(80))
        .await
        .unwrap();
    assert_eq!(created.namespace().as_deref(), Some(&*namespace));
    let listener = &created.data["spec"]["listeners"][0];
    assert_eq!(
        listener["allowedRoutes"]["namespaces"]["from"], "Same",
        "a default of the schema"
    );

    let refusal = manifest::apply(&tenant, &namespace, &gateway(0))
        .await
        .unwrap_err();
    assert_eq!(refusal.refusal().unwrap().reason, "Invalid");
    assert!(
        refusal.to_string().contains("spec.listeners[0].port"),
        "{refusal}"
    );
    manifest::apply(&tenant, &namespace, &gateway(8080))
        .await
        .unwrap();
}

#[tokio::test]
async fn installing_twice_at_once_changes_nothing() {
    let plane = control_plane::shared().await;
    tokio::join!(install_gateway_api(plane), install_gateway_api(plane));
}

#[tokio::test]
async fn a_definition_that_the_api_refuses_is_named() {
    let plane = control_plane::shared().await;
    let mut definition = gateway_api::crds().unwrap().remove(0);
    definition.metadata.name = Some("misnamed.example.org".into());
    let error = plane.install(&[definition]).await.unwrap_err();
    assert!(
        matches!(error, crds::InstallError::Refused { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().starts_with("misnamed.example.org: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_kind_that_is_not_there_is_named() {
    let plane = control_plane::shared().await;
    let object =
        &manifest::read("{apiVersion: no.such/v1, kind: Thing, metadata: {name: a}}").unwrap()[0];
    let error = manifest::create(&plane.client(Identity::Admin), "default", object)
        .await
        .unwrap_err();
    assert!(
        matches!(error, ManifestError::UnknownKind { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("kind Thing of no.such/v1"),
        "{error}"
    );
}

#[tokio::test]
async fn kubectl_reads_its_input_and_tells_how_it_ended() {
    let plane = control_plane::shared().await;
    let admin = plane.client(Identity::Admin);
    let namespace = testkit::namespace(&admin, "kubectl").await.unwrap();
    let kubectl = plane.kubectl(Identity::Admin);
    let yaml = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}";
    let apply = ["apply", "--namespace", &namespace, "-f", "-"];
    let applied = kubectl
        .run_with_input(apply, yaml)
        .await
        .unwrap()
        .success()
        .unwrap();
    assert_eq!(applied, "configmap/a created\n");

    let missing = kubectl
        .run(["get", "configmap", "b", "--namespace", &namespace])
        .await
        .unwrap();
    assert_eq!(missing.code, Some(1));
    assert_eq!(
        missing.stderr,
        "Error from server (NotFound): configmaps \"b\" not found\n"
    );
}

async fn install_gateway_api(plane: &ControlPlane) {
    let definitions = gateway_api::crds().unwrap();
    let names: Vec<_> = definitions.iter().map(ResourceExt::name_any).collect();
    assert!(
        names.contains(&"gateways.gateway.networking.k8s.io".to_owned()),
        "{names:?}"
    );
    plane.install(&definitions).await.unwrap();
}

fn gateway(port: u16) -> kube::api::DynamicObject {
    let yaml = format!(
        "apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{ name: web }}
spec:
  gatewayClassName: example
  listeners: [{{ name: http, port: {port}, protocol: HTTP, hostname: example.org }}]
"
    );
    manifest::read(&yaml).unwrap().remove(0)
}

fn config_map(name: &str, owner: Option<OwnerReference>) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            owner_references: owner.map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

async fn gone<K>(api: &Api<K>, name: &str) -> Result<(), String>
where
    K: Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    match api.get_opt(name).await {
        Ok(None) => Ok(()),
        Ok(Some(object)) => Err(format!("{:?}", object.meta())),
        Err(error) => Err(error.to_string()),
    }
}
