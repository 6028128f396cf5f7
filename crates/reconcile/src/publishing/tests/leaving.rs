//! When something goes, and when it stays (S2–S4, S6, S10).

use api::ConditionType::Published;
use k8s_openapi::api::networking::v1::Ingress;
use serde_json::{Value, json};

use super::cluster::{Cluster, GRACE, host, proxy, proxy_object};
use super::{APP, open};
use crate::publishing::{Proof, Seen, SourceKey, SourceKind};

const NEW: &str = "new.example.com";

#[test]
fn a_source_without_its_label_withdraws_its_host() {
    // S2.
    let mut cluster = open();
    cluster.unlabel(&proxy("web", "app"));
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
    assert_eq!(
        cluster.lookups,
        ["HTTPProxy web/app"],
        "it was looked at live"
    );
    let last = &cluster.order[cluster.order.len() - 2..];
    assert!(
        last[0].starts_with("-web/") && last[1].starts_with("-central/"),
        "{last:?}"
    );
}

#[test]
fn a_deleted_source_withdraws_its_host_at_once() {
    // S3, S7: without grace.
    let mut cluster = open();
    cluster.delete_source(&proxy("web", "app"));
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

#[test]
fn a_source_on_its_way_out_withdraws_its_host() {
    // S3.
    let mut cluster = open();
    let mut object = proxy_object(APP, &["192.0.2.1"]);
    object["metadata"] =
        json!({ "deletionTimestamp": "2026-03-04T05:06:07Z", "finalizers": ["x/y"] });
    cluster.source(&proxy("web", "app"), &object);
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

#[test]
fn what_went_while_nobody_looked_is_found_on_start() {
    // S4, N10: deleted, unlabelled, renamed.
    let changes: [fn(&mut Cluster); 3] = [
        |cluster| {
            cluster.sources.clear();
        },
        |cluster| {
            let source = cluster.sources.values_mut().next().unwrap();
            source["metadata"]["labels"] = json!({});
        },
        |cluster| {
            let source = cluster.sources.values_mut().next().unwrap();
            source["spec"]["virtualhost"]["fqdn"] = json!(NEW);
        },
    ];
    for change in changes {
        let mut cluster = open();
        change(&mut cluster);
        cluster.restart();
        cluster.settle();
        assert!(
            !cluster.names().contains(&format!("central/{APP}")),
            "{:?}",
            cluster.names()
        );
        assert!(cluster.answers().iter().all(|it| !it.contains(APP)));
    }
}

#[test]
fn nothing_goes_while_a_live_look_finds_the_source() {
    // S4: the watch lost it, the API server has it.
    let mut cluster = open();
    let due = cluster.index.delete_source(&proxy("web", "app"));
    cluster.due.extend(due);
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    assert_eq!(cluster.answers().len(), 1);
    cluster.says(APP, Published, "True/Kept", "could not confirm");
}

#[test]
fn a_source_of_a_kind_that_cannot_be_read_keeps_its_host() {
    // S10: also after a start at which nothing of it was seen; and goes once the kind is back.
    let mut cluster = open();
    cluster.set_readable(SourceKind::HttpProxy, false);
    let due = cluster.index.delete_source(&proxy("web", "app"));
    cluster.due.extend(due);
    cluster.settle();
    cluster.restart();
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    assert_eq!(cluster.answers().len(), 1);
    assert!(cluster.lookups.is_empty());
    cluster.says(
        APP,
        Published,
        "True/Kept",
        "HTTPProxy web/app cannot be read now",
    );
    cluster.sources.clear();
    cluster.set_readable(SourceKind::HttpProxy, true);
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

#[test]
fn a_shared_host_keeps_the_addresses_of_a_source_that_cannot_be_read() {
    // S10.
    let mut cluster = open();
    let ingress = SourceKey::new(SourceKind::Ingress, "web", "more");
    cluster.source(&ingress, &ingress_object(&[APP], "192.0.2.2"));
    cluster.settle();
    cluster.set_readable(SourceKind::HttpProxy, false);
    cluster.restart();
    cluster.source(&ingress, &ingress_object(&[APP], "192.0.2.3"));
    cluster.settle();
    assert_eq!(
        cluster.endpoints(APP),
        ["192.0.2.1 443", "192.0.2.2 80", "192.0.2.3 80"]
    );
    cluster.set_readable(SourceKind::HttpProxy, true);
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443", "192.0.2.3 80"]);
    assert_eq!(cluster.answers().len(), 2);
}

#[test]
fn a_source_that_cannot_be_decoded_keeps_its_host() {
    // S10, K4: whether it was known before or not; and is told.
    let mut cluster = open();
    let source = cluster.sources[&proxy("web", "app")].clone();
    let mut broken = source.clone();
    broken["spec"] = json!({ "virtualhost": 1 });
    cluster.source(&proxy("web", "app"), &broken);
    for reason in ["True/Published", "True/Kept"] {
        cluster.settle();
        cluster.says(APP, Published, reason, "");
        assert_eq!(cluster.names(), ["central/app.example.com"]);
        assert_eq!(cluster.answers().len(), 1);
        assert!(cluster.told(&proxy("web", "app"))[0].starts_with("Undecodable"));
        cluster.restart();
    }
}

#[test]
fn a_service_record_of_the_peer_goes_once_nobody_asks_for_its_host() {
    // S4, S5: it names no source, so everybody is looked at.
    let mut cluster = open();
    let exported = json!({ "labels": { "connectivity.tanzu.vmware.com/export": "" } });
    cluster.foreign("central", "gone.example.com", &exported);
    cluster.foreign.clear();
    cluster.set_readable(SourceKind::HttpProxy, false);
    cluster.settle();
    assert_eq!(
        cluster.names().len(),
        2,
        "not while it is not known who asks"
    );
    cluster.set_readable(SourceKind::HttpProxy, true);
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    assert_eq!(cluster.lookups, ["HTTPProxy web/app"]);
}

#[test]
fn nothing_goes_with_a_source_that_may_belong_to_another_that_nobody_named() {
    // S4: one of two ServiceRecords does not say whom it was made for, and the watch has lost who asks.
    let mut cluster = open();
    let exported = json!({ "labels": { "connectivity.tanzu.vmware.com/export": "" } });
    cluster.foreign("web", APP, &exported);
    cluster.foreign.clear();
    cluster.proxy("web", "lost", APP, &["192.0.2.1"]);
    cluster.index.delete_source(&proxy("web", "lost"));
    cluster.delete_source(&proxy("web", "app"));
    cluster.settle();
    assert_eq!(cluster.names().len(), 2);
    assert_eq!(cluster.answers().len(), 1);
}

#[test]
fn a_service_record_of_the_peer_is_taken_over_by_its_source() {
    // S5.
    let mut cluster = Cluster::new();
    let exported = json!({ "labels": { "connectivity.tanzu.vmware.com/export": "yes" } });
    cluster.foreign("central", APP, &exported);
    cluster.foreign.clear();
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    assert_eq!(cluster.order[0], "~central/app.example.com");
    let labels = cluster.service_record(APP).metadata.labels.clone().unwrap();
    assert_eq!(labels["connectivity.tanzu.vmware.com/export"], "yes");
}

#[test]
fn a_source_deleted_and_made_again_keeps_its_host() {
    let mut cluster = open();
    cluster.sources.clear();
    cluster.proxy("web", "app", APP, &["192.0.2.2"]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.2"]);
    assert!(
        cluster.order.iter().all(|it| !it.starts_with('-')),
        "{:?}",
        cluster.order
    );
    let uid = cluster.sources.values().next().unwrap()["metadata"]["uid"].clone();
    let owners = cluster
        .records
        .values()
        .next()
        .unwrap()
        .metadata
        .owner_references
        .clone();
    assert_eq!(owners.unwrap()[0].uid, uid.as_str().unwrap());
}

#[test]
fn a_host_that_is_renamed_is_published_before_the_old_one_goes() {
    // S6, N1.
    let mut cluster = open();
    cluster.serves = false;
    cluster.proxy("web", "app", NEW, &["192.0.2.1"]);
    cluster.settle();
    cluster.restart();
    cluster.settle();
    assert_eq!(
        cluster.names(),
        ["central/app.example.com", "central/new.example.com"]
    );
    assert_eq!(cluster.answers().len(), 2);
    cluster.says(
        APP,
        Published,
        "True/Kept",
        "new.example.com, which is not published yet",
    );
    cluster.zone_says(NEW, "True", "Served", "");
    cluster.settle();
    assert_eq!(cluster.names(), ["central/new.example.com"]);
    assert_eq!(cluster.answers(), ["web new.example.com. A 192.0.2.1"]);
}

#[test]
fn another_source_of_the_same_name_keeps_nothing_of_the_one_before() {
    // S3, S6.
    let mut cluster = open();
    cluster.serves = false;
    cluster.sources.clear();
    cluster.proxy("web", "app", NEW, &["192.0.2.1"]);
    cluster.settle();
    assert_eq!(cluster.names(), ["central/new.example.com"]);
}

#[test]
fn a_shared_host_does_not_wait_for_a_source_that_has_no_address() {
    // S6.
    let mut cluster = open();
    cluster.proxy("web", "more", APP, &[]);
    cluster.settle();
    cluster.proxy("web", "more", NEW, &[]);
    cluster.settle();
    let status = cluster.service_record(APP).status.clone().unwrap();
    assert_eq!(status.sources.len(), 1);
    cluster.says(APP, Published, "True/Published", "");
}

#[test]
fn a_renamed_host_without_an_address_is_not_kept() {
    // S6.
    let mut cluster = Cluster::new();
    cluster.proxy("web", "app", APP, &[]);
    cluster.settle();
    cluster.proxy("web", "app", NEW, &[]);
    cluster.settle();
    assert_eq!(cluster.names(), ["central/new.example.com"]);
}

#[test]
fn a_host_is_not_kept_for_ever_for_one_that_has_no_address() {
    // S6, S7.
    let mut cluster = open();
    cluster.proxy("web", "app", NEW, &[]);
    cluster.settle();
    cluster.pass_time(GRACE / 2);
    assert_eq!(cluster.names().len(), 2);
    cluster.pass_time(GRACE);
    assert_eq!(cluster.names(), ["central/new.example.com"]);
    assert!(cluster.answers().is_empty());
}

#[test]
fn a_host_stays_if_the_new_one_cannot_be_published() {
    // S6: it is none, another namespace has it, or an object is in the way.
    let cases = [
        ("new_example", "which cannot be published"),
        ("theirs.example.com", "which another namespace has"),
        (
            "taken.example.com",
            "which somebody else's ServiceRecord is in the way of",
        ),
    ];
    for (new, why) in cases {
        let mut cluster = open();
        cluster.proxy("theirs", "app", "theirs.example.com", &["203.0.113.1"]);
        cluster.foreign("central", "taken.example.com", &json!({}));
        cluster.settle();
        cluster.proxy("web", "app", new, &["192.0.2.1"]);
        cluster.settle();
        cluster.pass_time(GRACE * 2);
        cluster.says(APP, Published, "True/Kept", why);
        assert!(
            cluster
                .answers()
                .contains(&"web app.example.com. A 192.0.2.1".to_owned())
        );
        cluster.unlabel(&proxy("web", "app"));
        cluster.settle();
        assert!(
            !cluster.names().contains(&format!("central/{APP}")),
            "the label takes both"
        );
    }
}

#[test]
fn a_source_that_gives_up_one_of_its_hosts_withdraws_it() {
    // S6: one that was never published does not hold it up.
    let mut cluster = Cluster::new();
    cluster.proxy("theirs", "app", "theirs.example.com", &["203.0.113.1"]);
    cluster.settle();
    let key = SourceKey::new(SourceKind::Ingress, "web", "app");
    let hosts = [APP, NEW, "theirs.example.com", "in_valid"];
    cluster.source(&key, &ingress_object(&hosts, "192.0.2.1"));
    cluster.settle();
    assert_eq!(cluster.names().len(), 3);
    cluster.source(&key, &ingress_object(&hosts[1..], "192.0.2.1"));
    cluster.settle();
    assert_eq!(
        cluster.names(),
        ["central/new.example.com", "central/theirs.example.com"]
    );
}

#[test]
fn a_source_that_asks_for_nothing_any_more_withdraws_its_host() {
    // S4.
    let mut cluster = open();
    cluster.sources.get_mut(&proxy("web", "app")).unwrap()["spec"] = json!({});
    let bare = json!({ "spec": {} });
    cluster.source(&proxy("web", "app"), &bare);
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

#[test]
fn garbage_that_kubernetes_collects_first_is_no_trouble() {
    let mut cluster = open();
    cluster.delete_source(&proxy("web", "app"));
    cluster.collect_garbage();
    cluster.settle();
    assert!(cluster.names().is_empty() && cluster.answers().is_empty());
}

pub(super) fn ingress_object(hosts: &[&str], address: &str) -> Value {
    let rules: Vec<Value> = hosts.iter().map(|it| json!({ "host": it })).collect();
    json!({
        "spec": { "rules": rules },
        "status": { "loadBalancer": { "ingress": [{ "ip": address }] } },
    })
}

fn seen(objects: impl IntoIterator<Item = (SourceKind, Value)>) -> Seen {
    let mut seen = Seen::default();
    for (kind, object) in objects {
        seen.show(kind, serde_json::from_value(object).unwrap());
    }
    seen
}

fn exported(name: &str, rest: &Value) -> Value {
    let mut object = rest.clone();
    let labels = json!({ "connectivity.tanzu.vmware.com/export": "" });
    object["metadata"] = json!({ "name": name, "namespace": "web", "uid": "u", "labels": labels });
    object
}

#[test]
fn a_proof_is_given_by_what_no_longer_asks_for_the_host() {
    // S4, S10.
    let proof = Proof {
        host: host(APP),
        sources: vec![proxy("web", "app").named("u")],
        gateways: Vec::new(),
        kinds: Vec::new(),
    };
    let kind = SourceKind::HttpProxy;
    let asks = exported("app", &proxy_object(APP, &[]));
    let mut unlabelled = asks.clone();
    unlabelled["metadata"]["labels"] = json!({});
    let mut deleting = asks.clone();
    deleting["metadata"]["deletionTimestamp"] = json!("2026-03-04T05:06:07Z");
    let cases = [
        (vec![], true, "not found"),
        (vec![asks.clone()], false, "it asks"),
        (
            vec![exported("app", &proxy_object("APP.example.com.", &[]))],
            false,
            "in other letters",
        ),
        (
            vec![exported("app", &proxy_object(NEW, &[]))],
            true,
            "it asks for another",
        ),
        (vec![unlabelled], true, "it is not exported"),
        (vec![deleting], true, "it is on its way out"),
        (
            vec![exported("app", &json!({ "spec": { "virtualhost": 1 } }))],
            false,
            "it cannot be read",
        ),
    ];
    for (found, given, why) in cases {
        let found = seen(found.into_iter().map(|it| (kind, it)));
        assert_eq!(proof.is_given(&found), given, "{why}");
    }
    let everybody = Proof {
        sources: Vec::new(),
        kinds: vec![kind, SourceKind::Ingress],
        ..proof
    };
    let other = exported("other", &ingress_object(&[APP], "192.0.2.1"));
    serde_json::from_value::<Ingress>(other.clone()).unwrap();
    assert!(!everybody.is_given(&seen([(SourceKind::Ingress, other)])));
    assert!(everybody.is_given(&seen([(kind, exported("app", &proxy_object(NEW, &[])))])));
}

#[test]
fn a_route_proves_nothing_without_the_gateways_it_takes_its_hosts_from() {
    // S10.
    let route = SourceKey::new(SourceKind::HttpRoute, "web", "app");
    let bare = exported(
        "app",
        &json!({ "spec": { "parentRefs": [{ "name": "gw" }] } }),
    );
    let gateway = |host: &str| {
        let spec =
            json!({ "spec": { "listeners": [{ "name": "l", "hostname": host, "port": 443 }] } });
        let mut object = exported("gw", &spec);
        object["metadata"]["labels"] = json!({});
        (SourceKind::Gateway, object)
    };
    let mut proof = Proof {
        host: host(APP),
        sources: vec![route.named("u")],
        gateways: Vec::new(),
        kinds: Vec::new(),
    };
    let found = (SourceKind::HttpRoute, bare);
    let alone = seen([found.clone()]);
    assert!(!proof.is_given(&alone));
    proof.gateways.push(crate::ObjectKey::new("web", "gw"));
    assert!(proof.is_given(&alone));
    assert!(!proof.is_given(&seen([found.clone(), gateway(APP)])));
    assert!(proof.is_given(&seen([found, gateway(NEW)])));
}
