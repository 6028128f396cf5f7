//! Kinds in, documents out.

use serde_json::{Value, json};

use super::order::compare_versions;
use super::{Root, aggregated, api_versions, group, group_list, resource_list, version};
use crate::resource::{Resource, Scope, Subresources};
use crate::table::fixtures::{builtin, resource};

fn kinds() -> Vec<Resource> {
    let mut zones = resource("dns.example.org", "v1alpha1", "Zone", "zones");
    zones.names.short_names = vec!["zo".to_owned()];
    zones.names.categories = vec!["all".to_owned()];
    zones.subresources = Subresources {
        status: true,
        scale: None,
    };
    let mut namespaces = builtin("", "Namespace", "namespaces", Scope::Cluster);
    namespaces.subresources = Subresources {
        status: true,
        scale: None,
    };
    vec![
        resource("dns.example.org", "v1", "Record", "records"),
        zones,
        resource("another.example.org", "v1", "Thing", "things"),
        builtin(
            "rbac.authorization.k8s.io",
            "Role",
            "roles",
            Scope::Namespaced,
        ),
        builtin(
            "authorization.k8s.io",
            "SubjectAccessReview",
            "subjectaccessreviews",
            Scope::Cluster,
        ),
        builtin("", "ServiceAccount", "serviceaccounts", Scope::Namespaced),
        namespaces,
        resource("dns.example.org", "foo", "Record", "records"),
    ]
}

fn names<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|entry| entry[field].as_str().unwrap())
        .collect()
}

#[test]
fn better_versions_come_first() {
    let sorted = [
        "v10",
        "v2",
        "v1",
        "v11beta2",
        "v10beta3",
        "v3beta1",
        "v12alpha1",
        "v11alpha2",
        "foo1",
        "foo10",
        "v1beta+1",
        "v1gamma",
        "v1x2",
        "vbeta1",
    ];
    for (place, version) in sorted.iter().enumerate() {
        for (other_place, other) in sorted.iter().enumerate() {
            let order = compare_versions(version, other);
            assert_eq!(order, place.cmp(&other_place), "{version} {other}");
        }
    }
}

#[test]
fn groups_of_kubernetes_come_first_and_then_the_others() {
    let list = group_list(&kinds());
    assert_eq!(list["kind"], "APIGroupList");
    let expected = [
        "authorization.k8s.io",
        "rbac.authorization.k8s.io",
        "dns.example.org",
        "another.example.org",
    ];
    // `foo.dns.example.org` comes before `v1.another.example.org`.
    assert_eq!(names(&list["groups"], "name"), expected);
    let aggregated = aggregated(&kinds(), Root::Groups).document;
    let by_name: Vec<&Value> = aggregated["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["metadata"]["name"])
        .collect();
    let [first, second, third, fourth] = expected;
    assert_eq!(by_name, [first, second, fourth, third]);
}

#[test]
fn a_group_prefers_its_best_version() {
    let kinds = kinds();
    let group = group(&kinds, "dns.example.org").unwrap();
    assert_eq!(group["kind"], "APIGroup");
    assert_eq!(
        names(&group["versions"], "version"),
        ["v1", "v1alpha1", "foo"]
    );
    let preferred = json!({"groupVersion": "dns.example.org/v1", "version": "v1"});
    assert_eq!(group["preferredVersion"], preferred);
    assert_eq!(super::group(&kinds, "nope"), None);
    assert_eq!(super::group(&kinds, ""), None);
}

#[test]
fn kinds_are_listed_with_their_subresources() {
    let kinds = kinds();
    let core = resource_list(&kinds, "", "v1").unwrap();
    assert_eq!(core["groupVersion"], "v1");
    assert_eq!(core.get("apiVersion"), None);
    assert_eq!(
        names(&core["resources"], "name"),
        [
            "namespaces",
            "namespaces/finalize",
            "namespaces/status",
            "serviceaccounts",
            "serviceaccounts/token"
        ]
    );
    assert!(
        !core["resources"][0]["verbs"]
            .as_array()
            .unwrap()
            .contains(&json!("deletecollection"))
    );
    let token = &core["resources"][4];
    assert_eq!(token["kind"], "TokenRequest");
    assert_eq!(token["group"], "authentication.k8s.io");
    let ours = resource_list(&kinds, "dns.example.org", "v1alpha1").unwrap();
    assert_eq!(ours["apiVersion"], "v1");
    assert_eq!(ours["resources"][0]["shortNames"], json!(["zo"]));
    assert_eq!(ours["resources"][0]["categories"], json!(["all"]));
    assert_eq!(names(&ours["resources"], "name"), ["zones", "zones/status"]);
    let reviews = resource_list(&kinds, "authorization.k8s.io", "v1").unwrap();
    assert_eq!(reviews["resources"][0]["verbs"], json!(["create"]));
    assert_eq!(resource_list(&kinds, "dns.example.org", "v9"), None);
}

#[test]
fn the_etag_follows_the_content() {
    let kinds = kinds();
    let whole = aggregated(&kinds, Root::Groups);
    assert_eq!(whole, aggregated(&kinds, Root::Groups));
    let mut reordered = kinds.clone();
    reordered.reverse();
    assert_eq!(whole.etag, aggregated(&reordered, Root::Groups).etag);
    assert_eq!(
        aggregated(&kinds, Root::Core).etag,
        aggregated(&reordered, Root::Core).etag
    );
    let fewer = aggregated(&kinds[1..], Root::Groups);
    assert_ne!(whole.etag, fewer.etag);
    assert!(whole.is_known(&whole.etag));
    assert!(whole.is_known(&format!("\"x\", W/{}", whole.etag)));
    assert!(whole.is_known("*"));
    assert!(!whole.is_known(&fewer.etag));
    assert!(!whole.is_known(""));
}

#[test]
fn clients_can_tell_the_release() {
    assert_eq!(
        (version()["major"].as_str(), version()["minor"].as_str()),
        (Some("1"), Some("36"))
    );
    assert_eq!(
        api_versions("a:1")["serverAddressByClientCIDRs"][0]["serverAddress"],
        "a:1"
    );
}
