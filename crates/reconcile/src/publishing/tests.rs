//! Sources and what is made for them, in a cluster where every pass is carried out at once.

mod cluster;
mod history;
mod index;
mod kinds;
mod leaving;
mod owners;

use api::ConditionType::{Accepted, Conflicted, Published};
use k8s_openapi::api::core::v1::Service;
use serde_json::json;

use super::{Placement, SourceKey, SourceKind, SourceObject as _};
use crate::ObjectKey;
use cluster::{Cluster, GRACE, proxy};

const APP: &str = "app.example.com";

/// A cluster with HTTPProxy `web/app` for `app.example.com`, reached at 192.0.2.1.
fn open() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    cluster
}

#[test]
fn an_exported_proxy_has_a_service_record_named_as_its_host() {
    // S1: name, labels, annotations and spec are the peer's.
    let cluster = open();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    let record = cluster.service_record(APP);
    assert_eq!(record.spec.fqdn, APP);
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    let labels = record.metadata.labels.as_ref().unwrap();
    assert_eq!(labels["connectivity.tanzu.vmware.com/export"], "");
    assert_eq!(labels["app.kubernetes.io/managed-by"], "zonewright");
    let annotations = record.metadata.annotations.as_ref().unwrap();
    assert_eq!(
        annotations["connectivity.tanzu.vmware.com/service-port"],
        "443"
    );
    assert_eq!(annotations["zonewright.dev/host"], APP);
    let sources = r#"[{"group":"projectcontour.io","kind":"HTTPProxy","namespace":"web","name":"app","uid":"uid-1"}]"#;
    assert_eq!(annotations["zonewright.dev/sources"], sources);
    assert_eq!(
        record.metadata.owner_references, None,
        "never across namespaces"
    );
}

#[test]
fn a_host_is_answered_in_the_namespace_of_its_source() {
    // S9.
    let cluster = open();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    let (key, record) = cluster.records.first_key_value().unwrap();
    assert!(
        key.name.starts_with("app.example.com-") && key.name.ends_with("-0"),
        "{key}"
    );
    assert_eq!(record.spec.ttl, Some(60));
    assert_eq!(record.spec.zone_ref, None);
    let labels = record.metadata.labels.as_ref().unwrap();
    assert_eq!(labels["zonewright.dev/service-record"], APP);
    let owners = record.metadata.owner_references.as_ref().unwrap();
    assert_eq!(owners.len(), 1);
    let owner = &owners[0];
    assert_eq!(
        (owner.kind.as_str(), owner.name.as_str()),
        ("HTTPProxy", "app")
    );
    assert_eq!(owner.api_version, "projectcontour.io/v1");
    assert_eq!(owner.controller, None);
}

#[test]
fn a_published_host_says_so_and_comes_to_rest() {
    let mut cluster = open();
    cluster.says(APP, Accepted, "True/Accepted", "HTTPProxy web/app");
    cluster.says(APP, Published, "True/Published", "192.0.2.1");
    cluster.says(APP, Conflicted, "False/NoConflict", "");
    let status = cluster.service_record(APP).status.clone().unwrap();
    assert_eq!(status.addresses, ["192.0.2.1"]);
    assert_eq!(status.sources[0].name, "app");
    let writes = cluster.order.len();
    cluster.restart();
    cluster.settle();
    assert_eq!(cluster.order.len(), writes, "nothing is written twice");
}

#[test]
fn a_host_without_an_address_has_an_empty_service_record() {
    // S1.
    let mut cluster = Cluster::new();
    cluster.proxy("web", "app", APP, &[]);
    cluster.settle();
    assert!(cluster.endpoints(APP).is_empty());
    assert!(cluster.answers().is_empty());
    cluster.says(APP, Published, "False/NoAddress", "");
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    cluster.says(APP, Published, "True/Published", "");
}

#[test]
fn what_a_zone_does_not_take_is_not_published() {
    // S9.
    let mut cluster = open();
    cluster.zone_says(
        APP,
        "False",
        "NotDelegated",
        "example-org does not delegate it to web",
    );
    cluster.settle();
    cluster.says(APP, Published, "False/NotDelegated", "does not delegate");
    cluster.zone_says(APP, "True", "Served", "");
    cluster.settle();
    cluster.says(APP, Published, "True/Published", "");
    cluster.serves = false;
    cluster.proxy("web", "new", "new.example.com", &["192.0.2.2"]);
    cluster.settle();
    cluster.says("new.example.com", Published, "False/Pending", "");
}

#[test]
fn annotations_of_the_peer_travel_and_a_virtual_address_is_only_copied() {
    // S1, S7.
    let mut cluster = open();
    let annotations = json!({
        "connectivity.tanzu.vmware.com/vip": "198.51.100.7",
        "connectivity.tanzu.vmware.com/service-port": "1",
        "example.com/other": "stays",
    });
    let mut object = cluster::proxy_object(APP, &["192.0.2.1"]);
    object["metadata"] = json!({ "annotations": annotations });
    cluster.source(&proxy("web", "app"), &object);
    cluster.settle();
    let copied = cluster
        .service_record(APP)
        .metadata
        .annotations
        .clone()
        .unwrap();
    assert_eq!(copied["connectivity.tanzu.vmware.com/vip"], "198.51.100.7");
    assert_eq!(copied["connectivity.tanzu.vmware.com/service-port"], "443");
    assert!(!copied.contains_key("example.com/other"));
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    let copied = cluster
        .service_record(APP)
        .metadata
        .annotations
        .clone()
        .unwrap();
    assert!(
        !copied.contains_key("connectivity.tanzu.vmware.com/vip"),
        "and goes"
    );
}

#[test]
fn one_of_ours_that_was_edited_or_deleted_is_restored() {
    // S4: whatever was edited; what others put beside it stays.
    let mut cluster = open();
    let whole = cluster.service_record(APP).clone();
    cluster.tamper(APP, |it| it.spec.fqdn = "other.example.com".to_owned());
    cluster.tamper(APP, |it| it.spec.endpoints.clear());
    cluster.tamper(APP, |it| {
        let annotations = it.metadata.annotations.as_mut().unwrap();
        annotations.clear();
        annotations.insert("example.com/mine".to_owned(), "1".to_owned());
    });
    cluster.settle();
    let restored = cluster.service_record(APP);
    assert_eq!(restored.spec, whole.spec);
    let annotations = restored.metadata.annotations.clone().unwrap();
    assert_eq!(annotations["example.com/mine"], "1");
    assert_eq!(
        annotations["zonewright.dev/sources"],
        whole.metadata.annotations.unwrap()["zonewright.dev/sources"]
    );
    cluster.delete_service_record(&ObjectKey::new("central", APP));
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    assert_eq!(cluster.service_record(APP).spec, whole.spec);
}

#[test]
fn a_record_that_was_edited_or_deleted_is_restored() {
    let mut cluster = open();
    let (key, whole) = cluster
        .records
        .first_key_value()
        .map(|it| (it.0.clone(), it.1.clone()))
        .unwrap();
    let mut edited = whole.clone();
    edited.spec.domain_name = "elsewhere.example.com.".to_owned();
    edited.spec.rdata = "203.0.113.1".to_owned();
    cluster.put_record(edited);
    cluster.settle();
    assert_eq!(cluster.records[&key].spec, whole.spec);
    cluster.delete_record(&key);
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
}

#[test]
fn a_record_of_somebody_elses_with_our_name_is_left_alone() {
    let mut cluster = open();
    let (key, mut record) = cluster.records.pop_first().unwrap();
    record.metadata.labels = None;
    record.spec.rdata = "203.0.113.1".to_owned();
    cluster.put_record(record.clone());
    cluster.settle();
    assert_eq!(cluster.records[&key].spec, record.spec);
    assert_eq!(cluster.answers().len(), 2);
}

#[test]
fn a_set_of_addresses_changes_without_a_gap() {
    // S7, S9: the last Record never goes before the next has come.
    let mut cluster = open();
    cluster.proxy("web", "app", APP, &["192.0.2.2", "2001:db8::1"]);
    cluster.settle();
    let expected = [
        "web app.example.com. A 192.0.2.2",
        "web app.example.com. AAAA 2001:db8::1",
    ];
    assert_eq!(cluster.answers(), expected);
    assert_eq!(cluster.endpoints(APP), ["192.0.2.2 443", "2001:db8::1 443"]);
    let writes: Vec<char> = cluster.order[2..]
        .iter()
        .map(|it| it.chars().next().unwrap())
        .collect();
    assert_eq!(
        writes,
        ['~', '+', '~'],
        "the ServiceRecord, what comes, what changes: {:?}",
        cluster.order
    );
}

#[test]
fn an_alias_and_addresses_change_places_in_one_write() {
    // S7, N9: a host is published as an alias, and only without addresses.
    let mut cluster = Cluster::new();
    cluster.proxy("web", "app", APP, &["b.lb.example.net", "a.lb.example.net"]);
    cluster.settle();
    assert_eq!(
        cluster.answers(),
        ["web app.example.com. CNAME a.lb.example.net."]
    );
    assert_eq!(
        cluster.endpoints(APP),
        ["a.lb.example.net 443", "b.lb.example.net 443"]
    );
    cluster.says(
        APP,
        Published,
        "True/Published",
        "left out, for a name has one CNAME at most and none beside addresses: b.lb.example.net",
    );
    let key = cluster.records.keys().next().unwrap().clone();
    let done = cluster.order.len();
    cluster.proxy(
        "web",
        "app",
        APP,
        &["a.lb.example.net", "192.0.2.1", "192.0.2.2"],
    );
    cluster.settle();
    let expected = [
        "web app.example.com. A 192.0.2.1",
        "web app.example.com. A 192.0.2.2",
    ];
    assert_eq!(cluster.answers(), expected);
    assert_eq!(
        cluster.records[&key].spec.type_, "A",
        "the oldest changes sides"
    );
    let order: Vec<&str> = cluster.order[done..].iter().map(|it| &it[..1]).collect();
    assert_eq!(order, ["~", "+", "~"], "{:?}", cluster.order);
    cluster.proxy("web", "app", APP, &["a.lb.example.net"]);
    cluster.settle();
    assert_eq!(
        cluster.answers(),
        ["web app.example.com. CNAME a.lb.example.net."]
    );
    assert_eq!(cluster.records.keys().next(), Some(&key));
    let last: Vec<&str> = cluster
        .order
        .iter()
        .rev()
        .take(2)
        .map(|it| &it[..1])
        .collect();
    assert_eq!(last, ["-", "~"], "what is left over goes last");
}

#[test]
fn an_alias_becomes_the_address_that_was_made_to_wait_for_it() {
    // S9: were it removed instead, nobody would answer until the zone has noticed.
    let mut cluster = Cluster::new();
    cluster.proxy("web", "app", APP, &["lb.example.net"]);
    cluster.settle();
    let alias = cluster.records.keys().next().unwrap().clone();
    cluster.proxy("web", "app", APP, &["192.0.2.1", "192.0.2.2"]);
    cluster.writes_left = Some(2);
    cluster.settle();
    assert_eq!(cluster.answers().len(), 2, "one waits");
    cluster.proxy("web", "app", APP, &["192.0.2.2"]);
    cluster.settle();
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.2"]);
    assert_eq!(cluster.records.keys().next(), Some(&alias));
}

#[test]
fn an_entry_with_an_address_and_a_host_is_the_address() {
    // S7: and one with neither is nothing.
    let mut cluster = Cluster::new();
    let mut object = cluster::proxy_object(APP, &[]);
    object["status"]["loadBalancer"]["ingress"] = json!([
        { "ip": "192.0.2.1", "hostname": "lb.example.net" }, { "ip": "" }, { "hostname": "" }, {}, { "ip": "192.0.2" },
    ]);
    cluster.source(&proxy("web", "app"), &object);
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    let told = cluster.told(&proxy("web", "app"));
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("Invalid status: is neither an address nor a host"),
        "{told:?}"
    );
}

#[test]
fn a_host_is_no_alias_of_itself() {
    let mut cluster = Cluster::new();
    cluster.proxy("web", "app", APP, &["App.Example.com"]);
    cluster.settle();
    assert!(cluster.answers().is_empty());
    cluster.says(APP, Published, "False/NoAddress", "");
}

#[test]
fn the_configured_service_stands_in_for_missing_addresses_and_nodes_for_that() {
    // S7.
    let mut cluster = Cluster::with(|policy| policy.node_endpoints = true);
    cluster.proxy("web", "app", APP, &[]);
    cluster.proxy("web", "own", "own.example.com", &["192.0.2.9"]);
    cluster.node("n1", "10.0.0.1", true);
    cluster.node("n2", "10.0.0.2", false);
    cluster.node("n3", "10.0.0.3", true);
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["10.0.0.1 443", "10.0.0.3 443"]);
    cluster.endpoint_service(&["192.0.2.1"]);
    assert_eq!(
        cluster.due,
        [cluster::host(APP)].into(),
        "only who has no address is concerned"
    );
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    assert_eq!(cluster.endpoints("own.example.com"), ["192.0.2.9 443"]);
    cluster.endpoint_service(&[]);
    cluster.node("n3", "10.0.0.3", false);
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["10.0.0.1 443"]);
}

#[test]
fn nodes_do_not_stand_in_unless_they_are_to() {
    // S7.
    let mut cluster = Cluster::new();
    cluster.proxy("web", "app", APP, &[]);
    cluster.node("n1", "10.0.0.1", true);
    cluster.settle();
    assert!(cluster.endpoints(APP).is_empty());
}

#[test]
fn a_host_that_loses_its_addresses_keeps_them_for_a_while() {
    // S7.
    let mut cluster = open();
    cluster.proxy("web", "app", APP, &[]);
    cluster.settle();
    cluster.pass_time(GRACE / 2);
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.1"]);
    cluster.says(
        APP,
        Published,
        "True/Published",
        "kept for a while although all addresses are gone",
    );
    cluster.pass_time(GRACE);
    assert!(cluster.endpoints(APP).is_empty());
    assert!(cluster.answers().is_empty());
    cluster.says(APP, Published, "False/NoAddress", "");
}

#[test]
fn addresses_that_come_back_in_time_end_the_wait() {
    // S7.
    let mut cluster = open();
    for _ in 0..3 {
        cluster.proxy("web", "app", APP, &[]);
        cluster.settle();
        cluster.pass_time(GRACE / 2);
        cluster.proxy("web", "app", APP, &["192.0.2.1"]);
        cluster.settle();
        cluster.pass_time(GRACE / 2);
    }
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
}

#[test]
fn a_service_record_deleted_while_addresses_are_missing_is_restored_with_the_last() {
    // S4, S7.
    let mut cluster = open();
    cluster.proxy("web", "app", APP, &[]);
    cluster.settle();
    cluster.delete_service_record(&ObjectKey::new("central", APP));
    cluster.settle();
    assert_eq!(cluster.endpoints(APP), ["192.0.2.1 443"]);
    assert_eq!(cluster.answers().len(), 1);
}

#[test]
fn a_service_record_may_stand_beside_its_source() {
    // S1: and then goes with it.
    let mut cluster = Cluster::with(|policy| policy.placement = Placement::Source);
    cluster.proxy("web", "app", APP, &["192.0.2.1"]);
    cluster.settle();
    assert_eq!(cluster.names(), ["web/app.example.com"]);
    let owners = cluster
        .service_record(APP)
        .metadata
        .owner_references
        .clone()
        .unwrap();
    assert_eq!(
        (owners[0].kind.as_str(), owners[0].controller),
        ("HTTPProxy", None)
    );
}

#[test]
fn service_records_move_when_the_placement_changes() {
    // S1: the new one comes before the old one goes, and the Records stay.
    let mut cluster = open();
    let records = cluster.records.clone();
    for (placement, name) in [(Placement::Source, "web"), (Placement::Central, "central")] {
        cluster.policy.placement = placement;
        cluster.restart();
        let done = cluster.order.len();
        cluster.settle();
        assert_eq!(cluster.names(), [format!("{name}/{APP}")]);
        let order: Vec<&str> = cluster.order[done..].iter().map(|it| &it[..1]).collect();
        assert_eq!(order, ["+", "-"]);
        assert_eq!(cluster.records, records);
    }
}

#[test]
fn invalid_hosts_are_told_and_never_published() {
    // S6, N5.
    let long = format!("{}.example.com", "a".repeat(64));
    let longest = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "a".repeat(62));
    let cases = [
        ("app", "Invalid"),
        ("192.0.2.1", "Invalid"),
        ("a_b.example.com", "Invalid"),
        ("app.example.com/path", "Invalid"),
        ("", "Invalid"),
        ("*.co.uk", "Invalid"),
        (long.as_str(), "FQDNTooLong"),
        (longest.as_str(), "FQDNTooLong"),
    ];
    for (host, reason) in cases {
        let mut cluster = Cluster::new();
        cluster.proxy("web", "app", host, &["192.0.2.1"]);
        cluster.settle();
        assert!(
            cluster.names().is_empty() && cluster.answers().is_empty(),
            "{host}"
        );
        let told = cluster.told(&proxy("web", "app"));
        assert!(
            told.len() == 1 && told[0].starts_with(reason),
            "{host}: {told:?}"
        );
    }
}

#[test]
fn hosts_are_published_in_one_form() {
    // S6, N5: upper case, trailing dot, beyond ASCII, the longest there is.
    let longest = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "a".repeat(61));
    let fits = format!("{}.example.com", "a".repeat(63));
    let cases = [
        ("App.Example.COM.", APP),
        ("bücher.example", "xn--bcher-kva.example"),
        (longest.as_str(), longest.as_str()),
        (fits.as_str(), fits.as_str()),
    ];
    for (written, name) in cases {
        let mut cluster = Cluster::new();
        cluster.proxy("web", "app", written, &["192.0.2.1"]);
        cluster.settle();
        assert_eq!(cluster.names(), [format!("central/{name}")]);
        assert_eq!(cluster.service_record(name).spec.fqdn, name);
        assert_eq!(cluster.answers(), [format!("web {name}. A 192.0.2.1")]);
    }
}

#[test]
fn a_proxy_that_is_a_part_of_others_is_ignored_and_told() {
    // S6, N7.
    let mut cluster = Cluster::new();
    cluster.source(&proxy("web", "part"), &json!({ "spec": {} }));
    cluster.settle();
    assert!(cluster.names().is_empty());
    assert!(cluster.told(&proxy("web", "part"))[0].starts_with("NoHost spec.virtualhost"));
}

#[test]
fn a_proxy_without_the_label_is_ignored_whatever_it_says() {
    // S1: any value of the label will do.
    let mut cluster = Cluster::new();
    let object = |labels| {
        let mut object = cluster::proxy_object(APP, &["192.0.2.1"]);
        object["metadata"] = json!({ "labels": labels });
        object
    };
    cluster.source(&proxy("web", "app"), &object(json!(null)));
    cluster.settle();
    assert!(cluster.names().is_empty());
    cluster.source(
        &proxy("web", "app"),
        &object(json!({ "connectivity.tanzu.vmware.com/export": "false" })),
    );
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
}

#[test]
fn kinds_are_spelled_as_in_the_api() {
    for kind in SourceKind::ALL {
        assert_eq!(SourceKind::find(kind.group(), kind.kind()), Some(kind));
        let key = SourceKey::new(kind, "web", "app");
        assert_eq!(SourceKey::of(&key.named("uid")), Some(key));
    }
    assert_eq!(SourceKind::find("networking.k8s.io", "Service"), None);
    assert_eq!(SourceKind::Service.api_version(), "v1");
    assert_eq!(SourceKind::Ingress.api_version(), "networking.k8s.io/v1");
    assert_eq!(Service::KIND.plural(), "services");
}
