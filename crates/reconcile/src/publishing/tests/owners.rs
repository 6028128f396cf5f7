//! Whose a host is, and what belongs to others (S5, S6).

use api::ConditionType::{Accepted, Conflicted, Published};
use serde_json::json;

use super::cluster::{Cluster, GRACE, proxy};
use super::{APP, open};
use crate::ObjectKey;
use crate::publishing::Placement;

#[test]
fn two_sources_of_one_namespace_share_a_host_until_the_last_goes() {
    // S6, N3.
    let mut cluster = open();
    cluster.proxy("web", "more", APP, &["192.0.2.2", "192.0.2.1"]);
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443", "192.0.2.2 443"]);
    cluster.says(APP, Conflicted, "False/NoConflict", "");
    let owners = cluster
        .records
        .values()
        .map(|it| it.metadata.owner_references.as_ref().unwrap().len());
    assert_eq!(owners.collect::<Vec<_>>(), [2, 2]);
    cluster.delete_source(&proxy("web", "app"));
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443", "192.0.2.2 443"]);
    cluster.proxy("web", "more", APP, &["192.0.2.2"]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.2"]);
    cluster.delete_source(&proxy("web", "more"));
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

#[test]
fn a_host_stays_with_the_namespace_that_has_it() {
    // S6, N2: whoever came first, and however old the other is.
    let mut cluster = Cluster::new();
    cluster.proxy("evil", "app", "old.example.com", &["203.0.113.1"]);
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    cluster.proxy("evil", "app", APP, &["203.0.113.1"]);
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    cluster.restart();
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    cluster.says(
        APP,
        Conflicted,
        "True/FQDNClaimed",
        "refused for as long as this one does: 1",
    );
    cluster.says(APP, Published, "True/Published", "");
    let told = cluster.told(&proxy("evil", "app"));
    assert!(
        told[0].starts_with("FQDNClaimed app.example.com") && !told[0].contains("web"),
        "{told:?}"
    );
    assert!(cluster.told(&proxy("web", "app")).is_empty());
}

#[test]
fn of_two_namespaces_that_ask_at_once_the_older_source_has_the_host() {
    // S6.
    let mut cluster = Cluster::new();
    cluster.proxy("b", "app", APP, &["192.0.2.2"]);
    cluster.proxy("a", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["b app.example.com. A 192.0.2.2"]);
}

#[test]
fn whoever_has_proven_the_domain_has_the_host_before_whoever_has_it() {
    // S6: the host itself, or a domain above it.
    for domain in [APP, "example.com"] {
        let mut cluster = open();
        cluster.proxy("owner", "app", APP, &["198.51.100.1"]);
        cluster.settle();
        assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
        cluster.prove("owner", domain, "owner");
        cluster.settle();
        assert_eq!(cluster.answers(), ["owner app.example.com. A 198.51.100.1"]);
        assert_eq!(cluster.endpoints(APP), ["198.51.100.1 443"]);
        assert_eq!(cluster.names(), ["central/app.example.com"]);
        cluster.says(APP, Conflicted, "True/FQDNClaimed", "");
        let told = cluster.told(&proxy("web", "app"));
        assert!(told[0].starts_with("FQDNClaimed app.example.com"));
        assert!(cluster.told(&proxy("owner", "app")).is_empty());
        cluster.restart();
        cluster.settle();
        assert_eq!(cluster.answers(), ["owner app.example.com. A 198.51.100.1"]);
        // The claim goes with the last Ingress that uses it; what is answered does not change hands for that.
        cluster.forget_proof("owner", domain);
        cluster.settle();
        assert_eq!(cluster.answers(), ["owner app.example.com. A 198.51.100.1"]);
    }
}

#[test]
fn a_proof_is_for_its_own_domain_and_namespace_and_for_those_who_ask() {
    // S6, V6: another's proof, a domain beside it, one below it, and an owner who asks for nothing.
    let forgeries = [
        ("evil", APP, "web"),
        ("evil", "example.net", "evil"),
        ("evil", "deep.app.example.com", "evil"),
        ("idle", APP, "idle"),
    ];
    for (namespace, domain, proof_of) in forgeries {
        let mut cluster = open();
        cluster.proxy("evil", "app", APP, &["203.0.113.1"]);
        cluster.prove(namespace, domain, proof_of);
        cluster.settle();
        assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    }
}

#[test]
fn a_host_stays_where_it_is_answered_until_its_proven_owner_can_be_reached() {
    // S6: no name is emptied; once it has the host, the owner keeps it through an hour without addresses, as anybody does.
    let mut cluster = open();
    cluster.prove("owner", "example.com", "owner");
    cluster.proxy("owner", "app", APP, &[]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    cluster.proxy("owner", "app", APP, &["198.51.100.1"]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["owner app.example.com. A 198.51.100.1"]);
    cluster.proxy("owner", "app", APP, &[]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["owner app.example.com. A 198.51.100.1"]);
    cluster.pass_time(GRACE);
    cluster.settle();
    assert!(cluster.answers().is_empty());
    // Of two that ask for what nobody has, the owner has it, reached or not.
    let mut cluster = Cluster::new();
    cluster.prove("owner", "example.com", "owner");
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.proxy("owner", "app", APP, &[]);
    cluster.settle();
    assert!(cluster.answers().is_empty());
    cluster.says(APP, Published, "False/NoAddress", "");
}

#[test]
fn of_two_that_have_proven_a_domain_the_one_that_has_the_host_keeps_it() {
    // S6.
    let mut cluster = open();
    cluster.proxy("other", "app", APP, &["198.51.100.1"]);
    cluster.prove("web", "example.com", "web");
    cluster.prove("other", APP, "other");
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    cluster.delete_source(&proxy("web", "app"));
    cluster.settle();
    assert_eq!(cluster.answers(), ["other app.example.com. A 198.51.100.1"]);
}

#[test]
fn whoever_has_proven_a_domain_has_hosts_below_the_wildcard_of_another_namespace() {
    // S6, N6; and the wildcard itself.
    let mut cluster = Cluster::new();
    cluster.proxy("web", "any", "*.apps.example.com", &["192.0.2.1"]);
    cluster.settle();
    cluster.proxy("owner", "app", "own.apps.example.com", &["198.51.100.1"]);
    cluster.settle();
    assert_eq!(cluster.answers().len(), 1);
    cluster.prove("owner", "apps.example.com", "owner");
    cluster.settle();
    let answers = cluster.answers();
    assert_eq!(
        answers,
        [
            "owner own.apps.example.com. A 198.51.100.1",
            "web *.apps.example.com. A 192.0.2.1"
        ]
    );
    cluster.proxy("owner", "any", "*.apps.example.com", &["198.51.100.1"]);
    cluster.settle();
    assert!(cluster.answers().iter().all(|it| it.starts_with("owner ")));
}

#[test]
fn a_proven_owner_takes_a_host_over_whatever_we_are_killed_between() {
    // S6: it is answered after every write, by the one or by the other.
    for placement in [Placement::Central, Placement::Source] {
        for writes in 0..8 {
            let mut cluster = Cluster::with(|policy| policy.placement = placement);
            cluster.proxy("web", "app", APP, &["192.0.2.1"]);
            cluster.settle();
            cluster.proxy("owner", "app", APP, &["198.51.100.1"]);
            cluster.settle();
            cluster.writes_left = Some(writes);
            cluster.prove("owner", "example.com", "owner");
            cluster.settle();
            assert!(!cluster.answers().is_empty(), "after {writes} writes");
            cluster.writes_left = None;
            cluster.settle();
            assert_eq!(cluster.answers(), ["owner app.example.com. A 198.51.100.1"]);
            assert_eq!(cluster.names().len(), 1);
        }
    }
}

#[test]
fn a_host_whose_namespace_gives_it_up_goes_to_the_next() {
    // S6.
    let mut cluster = open();
    cluster.proxy("next", "app", APP, &["198.51.100.1"]);
    cluster.settle();
    cluster.delete_source(&proxy("web", "app"));
    cluster.settle();
    assert_eq!(cluster.answers(), ["next app.example.com. A 198.51.100.1"]);
    assert_eq!(cluster.endpoints(APP), ["198.51.100.1 443"]);
    cluster.says(APP, Conflicted, "False/NoConflict", "");
    assert!(cluster.lookups.contains(&"HTTPProxy web/app".to_owned()));
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    assert_eq!(
        cluster.endpoints(APP),
        ["198.51.100.1 443"],
        "and is not given back"
    );
}

#[test]
fn a_host_that_is_passed_on_does_not_keep_the_addresses_of_the_one_before() {
    // S7.
    let mut cluster = open();
    cluster.proxy("next", "app", APP, &[]);
    cluster.settle();
    cluster.delete_source(&proxy("web", "app"));
    cluster.settle();
    assert!(cluster.answers().is_empty() && cluster.endpoints(APP).is_empty());
    cluster.says(APP, Published, "False/NoAddress", "");
}

#[test]
fn a_service_record_in_another_namespace_cannot_claim_a_host_for_it() {
    // S6: whoever may write there may write anything into it.
    for placement in [Placement::Central, Placement::Source] {
        let mut cluster = Cluster::with(|policy| policy.placement = placement);
        cluster.proxy("web", "app", APP, &["192.0.2.1"]);
        cluster.settle();
        let mut forged = cluster.service_record(APP).clone();
        cluster.proxy("evil", "app", APP, &["203.0.113.1"]);
        forged.metadata.namespace = Some("evil".to_owned());
        let annotations = forged.metadata.annotations.as_mut().unwrap();
        let sources = annotations.get_mut("zonewright.dev/sources").unwrap();
        *sources = sources.replace("\"web\"", "\"evil\"");
        cluster.put_service_record(forged);
        cluster.settle();
        assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
        assert_eq!(cluster.names().len(), 1);
    }
}

#[test]
fn a_service_record_speaks_for_its_own_namespace_alone() {
    // S6.
    let mut cluster = Cluster::new();
    let friend = json!([{ "group": "projectcontour.io", "kind": "HTTPProxy", "namespace": "friend", "name": "app", "uid": "u" }]);
    let metadata = json!({
        "labels": { "connectivity.tanzu.vmware.com/export": "" },
        "annotations": { "zonewright.dev/sources": friend.to_string() },
    });
    cluster.foreign("evil", APP, &metadata);
    cluster.foreign.clear();
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.proxy("friend", "app", APP, &["203.0.113.1"]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    assert_eq!(cluster.names(), ["central/app.example.com"]);
}

#[test]
fn a_host_stays_with_its_namespace_although_somebody_broke_the_annotation() {
    // S4, S6: one without addresses, so that no Record tells either.
    for broken in [None, Some("{")] {
        let mut cluster = Cluster::new();
        cluster.proxy("evil", "app", "old.example.com", &["203.0.113.1"]);
        cluster.proxy("web", "app", APP, &[]);
        cluster.settle();
        cluster.proxy("evil", "app", APP, &["203.0.113.1"]);
        cluster.settle();
        cluster.tamper(APP, |it| {
            let annotations = it.metadata.annotations.as_mut().unwrap();
            annotations.remove("zonewright.dev/sources");
            let broken = broken.map(|it| ("zonewright.dev/sources".to_owned(), it.to_owned()));
            annotations.extend(broken);
        });
        cluster.settle();
        let annotations = cluster.service_record(APP).metadata.annotations.clone();
        let sources = annotations.unwrap()["zonewright.dev/sources"].clone();
        assert!(
            sources.contains("\"web\"") && !sources.contains("\"evil\""),
            "{sources}"
        );
        assert!(cluster.endpoints(APP).is_empty());
    }
}

#[test]
fn a_host_stays_with_its_namespace_although_somebody_deleted_its_service_record() {
    // S4, S6.
    let mut cluster = Cluster::new();
    cluster.proxy("evil", "app", "old.example.com", &["203.0.113.1"]);
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    cluster.proxy("evil", "app", APP, &["203.0.113.1"]);
    cluster.delete_service_record(&ObjectKey::new("central", APP));
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    assert_eq!(
        cluster
            .answers()
            .iter()
            .filter(|it| it.contains(APP))
            .count(),
        1
    );
}

#[test]
fn a_service_record_of_somebody_elses_is_never_touched() {
    // S5, N4: imported, or without our label; and nothing is made beside it.
    let imported = json!({ "labels": {
        "connectivity.tanzu.vmware.com/export": "", "connectivity.tanzu.vmware.com/imported": "",
    }});
    for metadata in [json!({}), imported] {
        let mut cluster = Cluster::new();
        cluster.foreign("central", APP, &metadata);
        let theirs = cluster.service_records.clone();
        cluster.proxy("web", "app", APP, &["192.0.2.1"]);
        cluster.settle();
        assert_eq!(cluster.service_records, theirs);
        assert!(cluster.answers().is_empty());
        let told = cluster.told(&proxy("web", "app"));
        assert!(told[0].starts_with("NameTaken app.example.com"), "{told:?}");
        cluster.delete_source(&proxy("web", "app"));
        cluster.restart();
        cluster.settle();
        assert_eq!(cluster.service_records, theirs);
    }
}

#[test]
fn a_service_record_that_is_handed_over_is_taken_over() {
    // S5, N4.
    let mut cluster = Cluster::new();
    cluster.foreign("central", APP, &json!({ "labels": { "theirs": "stays" } }));
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    cluster.foreign.clear();
    cluster.tamper(APP, |it| {
        let adopt = ("zonewright.dev/adopt".to_owned(), "true".to_owned());
        it.metadata.annotations = Some([adopt].into());
    });
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    let labels = cluster.service_record(APP).metadata.labels.clone().unwrap();
    assert_eq!(labels["theirs"], "stays");
    assert_eq!(labels["connectivity.tanzu.vmware.com/export"], "");
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    cluster.delete_source(&proxy("web", "app"));
    cluster.settle();
    assert!(
        cluster.names().is_empty(),
        "and goes like any other of ours"
    );
}

#[test]
fn a_service_record_that_is_handed_over_before_anybody_asks_stays() {
    // S5.
    let mut cluster = Cluster::new();
    let adopt = json!({ "annotations": { "zonewright.dev/adopt": "true" } });
    cluster.foreign("central", APP, &adopt);
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    assert!(cluster.order.is_empty());
}

#[test]
fn what_stands_is_frozen_while_somebody_else_has_the_name() {
    // S5: here because the placement changed.
    let mut cluster = open();
    cluster.foreign("web", APP, &json!({}));
    cluster.policy.placement = Placement::Source;
    cluster.restart();
    let done = cluster.order.len();
    cluster.proxy("web", "app", APP, &["192.0.2.2"]);
    cluster.settle();
    assert_eq!(cluster.order.len(), done);
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    cluster.says(APP, Accepted, "False/NameTaken", "");
    cluster.delete_service_record(&ObjectKey::new("web", APP));
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.2"]);
    assert_eq!(cluster.names(), ["web/app.example.com"]);
}

#[test]
fn a_wildcard_is_published_under_a_name_that_objects_can_have() {
    // S6, N6.
    let mut cluster = Cluster::new();
    cluster.proxy("web", "any", "*.apps.example.com", &["192.0.2.1"]);
    cluster.settle();
    let name = "wildcard-a303882f63.apps.example.com";
    assert_eq!(cluster.names(), [format!("central/{name}")]);
    assert_eq!(cluster.service_record(name).spec.fqdn, "*.apps.example.com");
    assert_eq!(cluster.answers(), ["web *.apps.example.com. A 192.0.2.1"]);
    cluster.delete_source(&proxy("web", "any"));
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

#[test]
fn a_wildcard_too_long_for_its_name_is_found_again() {
    // N5.
    let parent = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "a".repeat(59));
    let mut cluster = Cluster::new();
    cluster.proxy("web", "any", &format!("*.{parent}"), &["192.0.2.1"]);
    cluster.settle();
    cluster.restart();
    cluster.settle();
    assert_eq!((cluster.names().len(), cluster.answers().len()), (1, 1));
    cluster.delete_source(&proxy("web", "any"));
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

#[test]
fn a_host_below_the_wildcard_of_another_namespace_is_refused() {
    // S6, N6: unless it stood there before.
    let mut cluster = Cluster::new();
    cluster.proxy("first", "app", "first.apps.example.com", &["192.0.2.1"]);
    cluster.settle();
    cluster.proxy("web", "any", "*.apps.example.com", &["192.0.2.2"]);
    cluster.settle();
    cluster.proxy("late", "app", "late.apps.example.com", &["192.0.2.3"]);
    cluster.proxy("late", "deep", "very.late.apps.example.com", &["192.0.2.3"]);
    cluster.proxy("late", "out", "late.example.com", &["192.0.2.3"]);
    cluster.proxy("web", "own", "own.apps.example.com", &["192.0.2.2"]);
    cluster.settle();
    let expected = [
        "first first.apps.example.com. A 192.0.2.1",
        "late late.example.com. A 192.0.2.3",
        "web *.apps.example.com. A 192.0.2.2",
        "web own.apps.example.com. A 192.0.2.2",
    ];
    assert_eq!(cluster.answers(), expected);
    for name in ["app", "deep"] {
        assert!(
            cluster.told(&proxy("late", name))[0].starts_with("FQDNClaimed"),
            "{name}"
        );
    }
    cluster.restart();
    cluster.settle();
    assert_eq!(cluster.answers(), expected);
    cluster.delete_source(&proxy("web", "any"));
    cluster.settle();
    assert_eq!(
        cluster.answers().len(),
        5,
        "the wildcard gone, both are free"
    );
}

#[test]
fn a_host_that_is_spelled_like_the_service_record_of_a_wildcard_is_refused() {
    let mut cluster = Cluster::new();
    let name = "wildcard-a303882f63.apps.example.com";
    cluster.proxy("web", "any", "*.apps.example.com", &["192.0.2.1"]);
    cluster.proxy("web", "odd", name, &["192.0.2.2"]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["web *.apps.example.com. A 192.0.2.1"]);
    assert!(cluster.told(&proxy("web", "odd"))[0].starts_with("NameTaken"));
}
