//! The same kinds, told by the real API.

use serde_json::Value;
use testkit::control_plane::{self, Identity};

use super::{Root, aggregated, group, resource_list};
use crate::resource::{Resource, Scope, Subresources};
use crate::table::fixtures::{self, Question};

/// Kinds of ours and some that Kubernetes brings along.
fn kinds() -> Vec<Resource> {
    let named = |mut resource: Resource, short: &[&str], status: bool| {
        resource.names.short_names = short.iter().map(|name| (*name).to_owned()).collect();
        resource.subresources = Subresources {
            status,
            scale: None,
        };
        resource
    };
    let builtin = fixtures::builtin;
    let rbac = "rbac.authorization.k8s.io";
    let mut kinds: Vec<Resource> = api::crds::all()
        .iter()
        .flat_map(fixtures::of_definition)
        .collect();
    kinds.extend([
        named(
            builtin("", "ConfigMap", "configmaps", Scope::Namespaced),
            &["cm"],
            false,
        ),
        named(
            builtin("", "Namespace", "namespaces", Scope::Cluster),
            &["ns"],
            true,
        ),
        named(
            builtin("", "Secret", "secrets", Scope::Namespaced),
            &[],
            false,
        ),
        named(
            builtin("", "ServiceAccount", "serviceaccounts", Scope::Namespaced),
            &["sa"],
            false,
        ),
        builtin(rbac, "Role", "roles", Scope::Namespaced),
        builtin(rbac, "RoleBinding", "rolebindings", Scope::Namespaced),
        builtin(rbac, "ClusterRole", "clusterroles", Scope::Cluster),
        builtin(
            rbac,
            "ClusterRoleBinding",
            "clusterrolebindings",
            Scope::Cluster,
        ),
        builtin("coordination.k8s.io", "Lease", "leases", Scope::Namespaced),
        builtin(
            "authorization.k8s.io",
            "SubjectAccessReview",
            "subjectaccessreviews",
            Scope::Cluster,
        ),
    ]);
    kinds
}

async fn client() -> kube::Client {
    let plane = control_plane::shared().await;
    plane.install(&api::crds::all()).await.unwrap();
    plane.client(Identity::Admin)
}

/// Of the real list only what ours has, by name and without hashes: the real API serves more kinds.
fn narrowed(real: &Value, ours: &Value, key: &str) -> Vec<Value> {
    let all = |list: &Value| list.as_array().unwrap().clone();
    let name = |entry: &Value| entry[key].as_str().unwrap().to_owned();
    let known: Vec<String> = all(ours).iter().map(name).collect();
    let mut kept: Vec<Value> = all(real)
        .into_iter()
        .filter(|entry| known.contains(&name(entry)))
        .collect();
    kept.sort_by_key(name);
    for entry in &mut kept {
        entry.as_object_mut().unwrap().remove("storageVersionHash");
    }
    kept
}

#[tokio::test]
async fn kinds_are_told_as_the_real_api_tells_them() {
    let (client, kinds) = (client().await, kinds());
    for resource in &kinds {
        let (name, version) = (&resource.names.group, &resource.version);
        let path = match name.as_str() {
            "" => format!("/api/{version}"),
            name => format!("/apis/{name}/{version}"),
        };
        let (_, real) = Question::get(&path, "").ask_json(&client).await;
        let ours = resource_list(&kinds, name, version).unwrap();
        let narrow = narrowed(&real["resources"], &ours["resources"], "name");
        assert_eq!(ours["resources"], Value::Array(narrow), "{path}");
        for field in ["kind", "apiVersion", "groupVersion"] {
            assert_eq!(ours[field], real[field], "{path} {field}");
        }
        if !name.is_empty() {
            let (_, real) = Question::get(&format!("/apis/{name}"), "")
                .ask_json(&client)
                .await;
            assert_eq!(group(&kinds, name).unwrap(), real);
        }
    }
}

#[tokio::test]
async fn aggregated_documents_tell_the_same() {
    let (client, kinds) = (client().await, kinds());
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    for (path, root) in [("/api", Root::Core), ("/apis", Root::Groups)] {
        let (_, real) = Question::get(path, accept).ask_json(&client).await;
        let ours = aggregated(&kinds, root).document;
        let groups = |document: &Value| document["items"].as_array().unwrap().clone();
        let known: Vec<Value> = groups(&ours)
            .iter()
            .map(|group| group["metadata"].clone())
            .collect();
        let real_groups = groups(&real).into_iter();
        let real_groups: Vec<Value> = real_groups
            .filter(|group| known.contains(&group["metadata"]))
            .collect();
        let order: Vec<Value> = real_groups
            .iter()
            .map(|group| group["metadata"].clone())
            .collect();
        assert_eq!(known, order, "the order of groups");
        for (ours, real) in groups(&ours).iter().zip(&real_groups) {
            let versions = |group: &Value| group["versions"].as_array().unwrap().clone();
            for (ours, real) in versions(ours).iter().zip(&versions(real)) {
                let narrow = narrowed(&real["resources"], &ours["resources"], "resource");
                assert_eq!(ours["resources"], Value::Array(narrow));
                assert_eq!(
                    (&ours["version"], &ours["freshness"]),
                    (&real["version"], &real["freshness"])
                );
            }
        }
        for field in ["kind", "apiVersion", "metadata"] {
            assert_eq!(ours[field], real[field], "{path} {field}");
        }
    }
}
