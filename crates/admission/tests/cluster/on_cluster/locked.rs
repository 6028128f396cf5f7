//! The second lock: what the API server refuses by itself, also when nobody can be asked.

use std::time::Duration;

use admission::configurations::{BOOKKEEPERS, POLICY};
use api::DomainVerification;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt as _};
use serde_json::{Value, json};
use testkit::control_plane::Identity;
use testkit::{eventually, manifest};

use crate::stage::{NAMESPACE, SOON, Stage};

/// Kubernetes' collector looks for new kinds every 30 seconds.
const COLLECTED: Duration = Duration::from_mins(2);

/// What custom domains will need; the keeper's rights come from `deploy/rbac.yaml`.
const RIGHTS: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: verifications }
rules:
  - apiGroups: [kuadrant.dev]
    resources: [domainverifications, domainverifications/status, domainverifications/finalizers]
    verbs: ["*"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: verifications }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: verifications }
subjects: [{ kind: ServiceAccount, name: zonewright, namespace: zonewright-system }]
"#;

fn verification(name: &str, owners: &[&ConfigMap]) -> DomainVerification {
    let owners: Vec<Value> = owners
        .iter()
        .map(|owner| {
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": owner.name_any(), "uid": owner.uid().unwrap() })
        })
        .collect();
    serde_json::from_value(json!({
        "apiVersion": "kuadrant.dev/v1alpha1",
        "kind": "DomainVerification",
        "metadata": { "name": name, "ownerReferences": owners },
        "spec": { "domain": "example.com" },
    }))
    .unwrap()
}

fn dry() -> PostParams {
    PostParams {
        dry_run: true,
        ..PostParams::default()
    }
}

fn refused<T: std::fmt::Debug>(what: &str, result: kube::Result<T>) {
    match result {
        Err(kube::Error::Api(status)) => {
            let words = "DomainVerifications are written by system:serviceaccount:zonewright-system:zonewright only";
            assert!(status.message.contains(words), "{what}: {}", status.message);
            assert_eq!(status.code, 403, "{what}");
        }
        other => panic!("{what}: {other:?}"),
    }
}

async fn owner(client: &Client, namespace: &str, name: &str) -> ConfigMap {
    let map = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    maps.create(&PostParams::default(), &map).await.unwrap()
}

/// What is locked, and who tries.
struct Scene {
    stage: Stage,
    admin: Client,
    namespace: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_we_write_domain_verifications_and_housekeeping_goes_on() {
    let scene = Scene::open().await;
    scene.lock().await;

    // We may do everything.
    let first = owner(&scene.admin, &scene.namespace, "first").await;
    let second = owner(&scene.admin, &scene.namespace, "second").await;
    let ours = scene.of(Identity::ServiceAccount);
    let fresh = verification("a", &[&first, &second]);
    ours.create(&PostParams::default(), &fresh).await.unwrap();
    let status = Patch::Merge(json!({ "status": { "token": "abc" } }));
    let params = PatchParams::default();
    ours.patch_status("a", &params, &status).await.unwrap();

    // A tenant with every right, and the administrator, may look at it.
    viewed_only("tenant", &scene.of(Identity::Tenant)).await;
    viewed_only("admin", &scene.of(Identity::Admin)).await;
    for bookkeeper in BOOKKEEPERS {
        let theirs = scene.impersonated(bookkeeper).await;
        kept_but_not_written(bookkeeper, &theirs).await;
    }
    scene.collected().await;
    scene.ended().await;
}

impl Scene {
    async fn open() -> Self {
        let stage = Stage::open().await;
        let admin = stage.plane.client(Identity::Admin);
        for object in manifest::read(RIGHTS).unwrap() {
            manifest::apply(&admin, NAMESPACE, &object).await.unwrap();
        }
        let namespace = testkit::namespace(&admin, "locked").await.unwrap();
        stage.plane.bind_tenant(&namespace).await.unwrap();
        Self {
            stage,
            admin,
            namespace,
        }
    }

    fn of(&self, identity: Identity) -> Api<DomainVerification> {
        Api::namespaced(self.stage.plane.client(identity), &self.namespace)
    }

    /// The keeper does what it does, and is quiet afterwards.
    async fn lock(&self) {
        let mut keeper = self.stage.keeper();
        while keeper.pass().await.unwrap() == Duration::ZERO {}
        let tenants = self.of(Identity::Tenant);
        let in_force = eventually(SOON, "the policy to be in force", async || {
            match tenants.create(&dry(), &verification("a", &[])).await {
                Err(kube::Error::Api(status)) if status.message.contains("are written by") => {
                    Ok(())
                }
                other => Err(format!("{other:?}")),
            }
        });
        in_force.await.unwrap();

        let before = self.revisions().await;
        assert!(keeper.pass().await.unwrap() > Duration::ZERO);
        // What the API filled in is what was written.
        assert_eq!(self.revisions().await, before);
    }

    /// Which versions of the policy and its binding are there. The API finds nothing wrong with them.
    async fn revisions(&self) -> (Option<i64>, Option<String>) {
        let policies: Api<ValidatingAdmissionPolicy> = Api::all(self.admin.clone());
        let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(self.admin.clone());
        let policy = policies.get(POLICY).await.unwrap();
        let checked = policy.status.and_then(|status| status.type_checking);
        let warnings = checked.and_then(|checked| checked.expression_warnings);
        assert_eq!(warnings, None);
        let binding = bindings.get(POLICY).await.unwrap();
        (policy.metadata.generation, binding.resource_version())
    }

    /// The administrator, who says that it is somebody else.
    async fn impersonated(&self, user: &str) -> Api<DomainVerification> {
        let file = self.stage.plane.kubeconfig(Identity::Admin);
        let kubeconfig = Kubeconfig::read_from(file).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let mut config = config.unwrap();
        config.auth_info.impersonate = Some(user.to_owned());
        config.auth_info.impersonate_groups = Some(vec!["system:masters".to_owned()]);
        Api::namespaced(Client::try_from(config).unwrap(), &self.namespace)
    }

    /// Kubernetes' own collector: an owner that is gone is taken out, and with the last one it goes.
    async fn collected(&self) {
        let ours = self.of(Identity::ServiceAccount);
        let maps: Api<ConfigMap> = Api::namespaced(self.admin.clone(), &self.namespace);
        maps.delete("first", &DeleteParams::default())
            .await
            .unwrap();
        let left = eventually(COLLECTED, "one owner to be left", async || {
            let owners = ours.get("a").await.unwrap().owner_references().len();
            if owners == 1 {
                Ok(())
            } else {
                Err(format!("{owners} owners"))
            }
        });
        left.await.unwrap();
        maps.delete("second", &DeleteParams::default())
            .await
            .unwrap();
        let gone = eventually(COLLECTED, "the verification to be collected", async || {
            ours.get_opt("a").await.unwrap().is_none().then_some(())
        });
        gone.await.unwrap();
    }

    /// The end of a namespace is the end of what is in it.
    async fn ended(&self) {
        let fresh = verification("c", &[]);
        let ours = self.of(Identity::ServiceAccount);
        ours.create(&PostParams::default(), &fresh).await.unwrap();
        let namespaces: Api<Namespace> = Api::all(self.admin.clone());
        let params = DeleteParams::default();
        namespaces.delete(&self.namespace, &params).await.unwrap();
        let gone = eventually(COLLECTED, "the namespace to be gone", async || {
            let found = namespaces.get_opt(&self.namespace).await.unwrap();
            found.is_none().then_some(())
        });
        gone.await.unwrap();
    }
}

fn labelled() -> Patch<Value> {
    Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }))
}

fn proven() -> Patch<Value> {
    Patch::Merge(json!({ "status": { "token": "mine", "proof": "mine" } }))
}

async fn viewed_only(who: &str, theirs: &Api<DomainVerification>) {
    let (post, patch, delete) = (
        PostParams::default(),
        PatchParams::default(),
        DeleteParams::default(),
    );
    assert_eq!(theirs.get("a").await.unwrap().spec.domain, "example.com");
    refused(who, theirs.create(&post, &verification("b", &[])).await);
    refused(who, theirs.patch("a", &patch, &labelled()).await);
    refused(who, theirs.patch_status("a", &patch, &proven()).await);
    refused(who, theirs.delete("a", &delete).await);
    let all = ListParams::default();
    refused(who, theirs.delete_collection(&delete, &all).await);
}

/// Housekeeping writes no spec and no status.
async fn kept_but_not_written(who: &str, theirs: &Api<DomainVerification>) {
    let dry_patch = PatchParams {
        dry_run: true,
        ..PatchParams::default()
    };
    let orphaned = Patch::Merge(json!({ "metadata": { "finalizers": ["orphan"] } }));
    theirs.patch("a", &dry_patch, &orphaned).await.unwrap();
    let dry_delete = DeleteParams {
        dry_run: true,
        ..DeleteParams::default()
    };
    theirs.delete("a", &dry_delete).await.unwrap();

    let (post, patch) = (PostParams::default(), PatchParams::default());
    refused(who, theirs.create(&post, &verification("b", &[])).await);
    refused(who, theirs.patch_status("a", &patch, &proven()).await);
    refused(who, theirs.patch_status("a", &patch, &labelled()).await);
}
