//! What is made from policies, field by field, and what is removed.

use std::collections::BTreeMap;

use kube::api::PostParams;
use serde_json::json;

use crate::stage::{Home, Stage, endpoints};

/// What users of the peers have in their repositories.
const PEERS: &str = include_str!("../../../api/tests/manifests/accepted.yaml");

on_both! {
    /// D1: labels, owner and provider are the peer's.
    a_record_says_whose_it_is_and_what_for;
    /// D1: listeners without a host, hosts that others share.
    every_listener_with_a_host_has_a_record_of_its_own;
    /// D5: by range, address and host.
    what_is_excluded_is_not_published;
    /// K1: as their users have them.
    policies_of_the_peers_are_enforced_as_they_are;
    /// D5: the tree of the peer.
    a_shared_host_leads_by_place_and_weight_to_the_addresses;
    /// D1: ours without a listener goes, whatever is not ours stays.
    what_no_listener_needs_any_more_goes_and_what_is_not_ours_stays;
}

async fn a_record_says_whose_it_is_and_what_for(home: Home) {
    let stage = Stage::published(&["web app.example.org"], home).await;
    let check = json!({ "path": "/healthz", "port": 8080, "protocol": "HTTP", "failureThreshold": 3, "interval": "30s" });
    stage.edit("all", json!({ "healthCheck": check })).await;
    stage
        .until("all", "SubResourcesHealthy", "Unknown/Unknown", "")
        .await;
    let record = stage.records().get("gw-web").await.unwrap();
    assert_eq!(
        record.metadata.labels.unwrap(),
        BTreeMap::from(
            [
                ("app", "kuadrant"),
                ("app.kubernetes.io/component", "kuadrant"),
                ("app.kubernetes.io/instance", "kuadrant"),
                ("app.kubernetes.io/managed-by", "kuadrant-operator"),
                ("app.kubernetes.io/name", "kuadrant"),
                ("app.kubernetes.io/part-of", "kuadrant"),
                ("kuadrant.io/listener-name", "web"),
            ]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
        )
    );
    let policy = stage.policies().get("all").await.unwrap();
    assert_eq!(
        serde_json::to_value(record.metadata.owner_references).unwrap(),
        json!([{
            "apiVersion": "kuadrant.io/v1", "kind": "DNSPolicy", "name": "all",
            "uid": policy.metadata.uid, "controller": true, "blockOwnerDeletion": true,
        }])
    );
    assert_eq!(
        serde_json::to_value(record.spec).unwrap(),
        json!({
            "rootHost": "app.example.org", "providerRef": { "name": "dns" }, "healthCheck": check,
            "endpoints": [{ "dnsName": "app.example.org", "recordType": "A", "recordTTL": 60, "targets": ["192.0.2.1"] }],
        })
    );
}

async fn every_listener_with_a_host_has_a_record_of_its_own(home: Home) {
    let mut stage = Stage::open(home).await;
    let listeners = [
        "web app.example.org",
        "https app.example.org",
        "all *.example.org",
        "any",
    ];
    stage.gateway(&listeners).await;
    stage.reached(&["192.0.2.1"], 1).await;
    stage.policy("all", json!({})).await;
    stage.run();
    for (record, host) in [
        ("gw-all", "*.example.org"),
        ("gw-https", "app.example.org"),
        ("gw-web", "app.example.org"),
    ] {
        let record = stage.until_record(record, "192.0.2.1").await;
        assert_eq!(record.spec.root_host, host);
    }
    stage.until("all", "Accepted", "True/Accepted", "").await;
    assert_eq!(stage.names().await, ["gw-all", "gw-https", "gw-web"]);
    assert_eq!(stage.status("all").await.total_records, Some(3));
}

async fn what_is_excluded_is_not_published(home: Home) {
    let stage = Stage::published(&["web app.example.org"], home).await;
    let addresses = [
        "192.0.2.1",
        "10.0.0.1",
        "10.255.0.1",
        "2001:db8::1",
        "lb.example.net",
    ];
    stage.reached(&addresses, 1).await;
    let four = "app.example.org A 10.0.0.1 10.255.0.1 192.0.2.1";
    let six = "app.example.org AAAA 2001:db8::1";
    let host = "app.example.org CNAME lb.example.net";
    let public = "app.example.org A 192.0.2.1";
    for (excluded, published) in [
        (&[][..], &[four, six][..]),
        (&["lb.example.net"], &[four, six]),
        (&["10.0.0.0/8"], &[public, six]),
        (&["10.0.0.1", "10.255.0.1", "2001:db8::1"], &[public]),
        (
            &["10.0.0.0/8", "2001:DB8:0::1", "LB.example.NET"],
            &[public],
        ),
        (&["0.0.0.0/0", "2001:db8::/32"], &[host]),
    ] {
        stage
            .edit("all", json!({ "excludeAddresses": excluded }))
            .await;
        stage.until_endpoints("gw-web", published).await;
    }
    let all = json!(["0.0.0.0/0", "::/0", "lb.example.net"]);
    stage.edit("all", json!({ "excludeAddresses": all })).await;
    stage.until_gone("gw-web").await;
}

async fn policies_of_the_peers_are_enforced_as_they_are(home: Home) {
    let mut stage = Stage::open(home).await;
    let policies = PEERS.split("---\n").filter(|it| it.contains("DNSPolicy"));
    let policies = policies.filter(|it| !it.contains("delegate: true"));
    let policies: Vec<_> = policies
        .flat_map(|it| testkit::manifest::read(it).unwrap())
        .collect();
    assert_eq!(policies.len(), 5);
    let listeners: Vec<String> = (0..policies.len())
        .map(|it| format!("l{it} l{it}.example.org"))
        .collect();
    let listeners: Vec<&str> = listeners.iter().map(String::as_str).collect();
    stage.gateway(&listeners).await;
    stage.reached(&["192.0.2.1"], 1).await;
    stage.run();
    for (at, mut policy) in policies.into_iter().enumerate() {
        // Nothing but what they are for is another.
        let target = &mut policy.data["spec"]["targetRef"];
        target["name"] = json!("gw");
        target["sectionName"] = json!(format!("l{at}"));
        let created = testkit::manifest::create(&stage.client, &stage.namespace, &policy);
        created.await.unwrap();
        let name = policy.metadata.name.unwrap();
        stage.until(&name, "Accepted", "True/Accepted", "").await;
        let awaits = "False/AwaitingValidation";
        stage.until(&name, "Enforced", awaits, "").await;
        assert_eq!(stage.status(&name).await.total_records, Some(1), "{name}");
    }
}

async fn a_shared_host_leads_by_place_and_weight_to_the_addresses(home: Home) {
    let stage = Stage::published(&["web app.example.org"], home).await;
    stage.reached(&["192.0.2.1", "2001:db8::1"], 1).await;
    let simple = [
        "app.example.org A 192.0.2.1",
        "app.example.org AAAA 2001:db8::1",
    ];
    stage.until_endpoints("gw-web", &simple).await;
    let rule = json!({ "weight": 7, "geo": "IE", "defaultGeo": true });
    stage.edit("all", json!({ "loadBalancing": rule })).await;
    let record = stage.until_record("gw-web", "klb.app.example.org").await;
    let mut shown = endpoints(&record);
    shown.sort();
    // What stands for the cluster and the Gateway comes from uids.
    let gateway = shown.iter().find_map(|it| it.strip_suffix(" A 192.0.2.1"));
    let gateway = gateway.unwrap().to_owned();
    let mut expected = [
        format!("{gateway} A 192.0.2.1"),
        format!("{gateway} AAAA 2001:db8::1"),
        "app.example.org CNAME klb.app.example.org".to_owned(),
        format!("ie.klb.app.example.org CNAME {gateway}"),
        "klb.app.example.org CNAME ie.klb.app.example.org".to_owned(),
        "klb.app.example.org CNAME ie.klb.app.example.org".to_owned(),
    ];
    expected.sort();
    assert_eq!(shown, expected);
    assert!(gateway.ends_with(".klb.app.example.org"), "{gateway}");
    let routed = record
        .spec
        .endpoints
        .iter()
        .filter(|it| !it.set_identifier.is_empty());
    let routed = routed.map(|it| {
        let property = &it.provider_specific[0];
        format!("{} {}={}", it.set_identifier, property.name, property.value)
    });
    assert_eq!(
        routed.collect::<Vec<_>>(),
        [
            format!("{gateway} weight=7"),
            "IE geo-code=IE".to_owned(),
            "default geo-code=*".to_owned()
        ]
    );
}

async fn what_no_listener_needs_any_more_goes_and_what_is_not_ours_stays(home: Home) {
    let stage = Stage::published(&["web app.example.org", "api api.example.org"], home).await;
    let like_ours = stage.records().get("gw-api").await.unwrap().metadata.labels;
    for (name, labels) in [("by-hand", None), ("labelled", like_ours)] {
        let mut record = api::DnsRecord::new(
            name,
            serde_json::from_value(json!({ "rootHost": "theirs.example.org" })).unwrap(),
        );
        record.metadata.labels = labels;
        stage
            .records()
            .create(&PostParams::default(), &record)
            .await
            .unwrap();
    }
    stage.listeners(&["web app.example.org"]).await;
    stage.until_gone("gw-api").await;
    stage
        .edit("all", json!({ "targetRef": { "sectionName": "web" } }))
        .await;
    stage
        .listeners(&["other other.example.org", "web app.example.org"])
        .await;
    stage
        .until("all", "Enforced", "False/AwaitingValidation", "")
        .await;
    assert_eq!(stage.names().await, ["by-hand", "gw-web", "labelled"]);
    assert_eq!(stage.status("all").await.total_records, Some(1));
}
