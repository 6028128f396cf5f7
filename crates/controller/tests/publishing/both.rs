//! The life of an exported source, on the embedded API and on kube-apiserver alike.

use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use reconcile::publishing::{Placement, SourceKind};
use serde_json::json;

use crate::stage::{EXPORT, Home, Stage, balanced};

on_both! {
    /// S1, and the peer's S1 and S2.
    a_labelled_proxy_is_published_as_soon_as_it_is_reached;
    /// S2, and the peer's S7.
    a_proxy_that_loses_its_label_is_withdrawn;
    /// S3, and the peer's S8.
    a_deleted_proxy_is_withdrawn;
    /// S4, N10.
    whatever_left_while_nobody_ran_is_found;
    /// S4.
    what_is_edited_or_deleted_by_hand_is_restored;
    /// S5, O2, N4.
    what_others_made_is_never_touched;
    /// S5, N4.
    what_is_handed_over_is_taken;
    /// S4, O1, O3.
    a_record_of_the_peers_without_a_proxy_goes_and_one_with_it_stays;
    /// S6, N1.
    a_host_that_changes_is_made_before_the_old_one_is_broken;
    /// S6.
    a_host_that_cannot_be_had_keeps_the_old_one;
    /// S6, N3.
    two_sources_of_a_namespace_share_a_host_until_the_last_goes;
    /// S6, N2.
    a_host_of_another_namespace_is_refused_and_its_answer_survives;
    /// S6.
    whoever_has_proven_the_domain_has_the_host_before_whoever_has_it;
    /// S7, N9.
    addresses_of_every_sort_are_published;
    /// S7.
    a_source_without_an_address_borrows_that_of_the_endpoint_service;
    /// S8.
    every_kind_is_published_the_same_way;
    /// S1.
    records_can_be_put_beside_their_sources;
    /// N5, N6, N7.
    a_host_that_cannot_be_published_is_told_to_its_source;
    /// S9.
    a_record_that_no_zone_takes_is_told;
}

const HOST: &str = "app.example.org";
const PUBLISHED: &[&str] = &[
    "app.example.org 192.0.2.1:443",
    "app.example.org. A 192.0.2.1",
];

async fn published(home: Home) -> Stage {
    let stage = Stage::running(home).await;
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    stage.until(PUBLISHED).await;
    stage
        .until_says(HOST, "Published", "True/Published", "")
        .await;
    stage
}

async fn a_labelled_proxy_is_published_as_soon_as_it_is_reached(home: Home) {
    let stage = Stage::running(home).await;
    stage.proxy("app", HOST, &[]).await;
    let travels = json!({ "metadata": { "annotations": {
        "connectivity.tanzu.vmware.com/vip": "192.0.2.99", "example.org/stays": "here",
    } } });
    stage.patch(SourceKind::HttpProxy, "app", travels).await;
    stage.until(&[HOST]).await;
    stage
        .until_says(HOST, "Published", "False/NoAddress", "")
        .await;

    stage.reach("app", &["192.0.2.1"]).await;
    stage.until(PUBLISHED).await;
    stage
        .until_says(HOST, "Published", "True/Published", "192.0.2.1")
        .await;
    let record = stage.service_records().get(HOST).await.unwrap();
    let meta = &record.metadata;
    assert_eq!(record.spec.fqdn, HOST);
    assert_eq!(meta.labels.as_ref().unwrap()[EXPORT], "");
    assert_eq!(meta.owner_references, None);
    let annotations = meta.annotations.as_ref().unwrap();
    assert_eq!(
        annotations["connectivity.tanzu.vmware.com/service-port"],
        "443"
    );
    assert_eq!(
        annotations["connectivity.tanzu.vmware.com/vip"],
        "192.0.2.99"
    );
    assert!(!annotations.contains_key("example.org/stays"));
    let status = stage.status(HOST).await;
    assert_eq!(status.addresses, ["192.0.2.1"]);
    assert_eq!((status.sources.len(), &*status.sources[0].name), (1, "app"));
}

async fn a_proxy_that_loses_its_label_is_withdrawn(home: Home) {
    let stage = published(home).await;
    stage.unlabel("app").await;
    stage.until(&[]).await;
}

async fn a_deleted_proxy_is_withdrawn(home: Home) {
    let stage = published(home).await;
    stage.proxy("two", "two.example.org", &["192.0.2.2"]).await;
    stage.delete("app").await;
    stage
        .until(&[
            "two.example.org 192.0.2.2:443",
            "two.example.org. A 192.0.2.2",
        ])
        .await;
}

async fn whatever_left_while_nobody_ran_is_found(home: Home) {
    let mut stage = Stage::running(home).await;
    for name in ["deleted", "renamed", "stays", "unlabelled"] {
        stage
            .proxy(name, &format!("{name}.example.org"), &["192.0.2.1"])
            .await;
    }
    stage
        .until(&[
            "deleted.example.org 192.0.2.1:443",
            "renamed.example.org 192.0.2.1:443",
            "stays.example.org 192.0.2.1:443",
            "unlabelled.example.org 192.0.2.1:443",
            "deleted.example.org. A 192.0.2.1",
            "renamed.example.org. A 192.0.2.1",
            "stays.example.org. A 192.0.2.1",
            "unlabelled.example.org. A 192.0.2.1",
        ])
        .await;
    stage.stop().await;
    stage.delete("deleted").await;
    stage.rename("renamed", "new.example.org").await;
    stage.unlabel("unlabelled").await;
    stage.run();
    stage
        .until(&[
            "new.example.org 192.0.2.1:443",
            "stays.example.org 192.0.2.1:443",
            "new.example.org. A 192.0.2.1",
            "stays.example.org. A 192.0.2.1",
        ])
        .await;
}

async fn what_is_edited_or_deleted_by_hand_is_restored(home: Home) {
    let stage = published(home).await;
    let records = stage.service_records();
    let edit = Patch::Merge(json!({ "spec": { "fqdn": "evil.example.org", "endpoints": [] } }));
    let by_hand = PatchParams::default();
    records.patch(HOST, &by_hand, &edit).await.unwrap();
    stage.until(PUBLISHED).await;
    assert_eq!(records.get(HOST).await.unwrap().spec.fqdn, HOST);

    records
        .delete(HOST, &DeleteParams::default())
        .await
        .unwrap();
    stage.until(PUBLISHED).await;

    let record = stage.records().list(&ListParams::default()).await.unwrap();
    let name = record.items[0].metadata.name.clone().unwrap();
    let edit = Patch::Merge(json!({ "spec": { "rdata": "203.0.113.66" } }));
    stage.records().patch(&name, &by_hand, &edit).await.unwrap();
    stage.until(PUBLISHED).await;
    stage
        .records()
        .delete(&name, &DeleteParams::default())
        .await
        .unwrap();
    stage.until(PUBLISHED).await;
}

/// A ServiceRecord of somebody else's.
fn foreign(host: &str, labels: &serde_json::Value) -> serde_json::Value {
    json!({
        "apiVersion": "connectivity.tanzu.vmware.com/v1alpha1",
        "kind": "ServiceRecord",
        "metadata": { "name": host, "labels": labels },
        "spec": { "fqdn": host, "endpoints": [{ "address": "203.0.113.1", "port": 443 }] },
    })
}

async fn what_others_made_is_never_touched(home: Home) {
    let mut stage = Stage::open(home).await;
    stage
        .service_record(foreign("hand.example.org", &json!({})))
        .await;
    let imported = "connectivity.tanzu.vmware.com/imported";
    let labels = json!({ EXPORT: "", imported: "" });
    stage
        .service_record(foreign("far.example.org", &labels))
        .await;
    stage.run();
    stage.proxy("far", "far.example.org", &["192.0.2.1"]).await;
    stage
        .proxy("hand", "hand.example.org", &["192.0.2.1"])
        .await;
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    stage
        .until(&[
            "app.example.org 192.0.2.1:443",
            "far.example.org 203.0.113.1:443",
            "hand.example.org 203.0.113.1:443",
            "app.example.org. A 192.0.2.1",
        ])
        .await;
    let namespace = stage.namespace.clone();
    for name in ["far", "hand"] {
        stage.until_told(&namespace, name, "NameTaken", "").await;
    }
    for host in ["far.example.org", "hand.example.org"] {
        let record = stage.service_records().get(host).await.unwrap();
        assert_eq!(
            (record.status, record.metadata.annotations),
            (None, None),
            "{host}"
        );
    }
}

async fn what_is_handed_over_is_taken(home: Home) {
    let mut stage = Stage::open(home).await;
    stage.service_record(foreign(HOST, &json!({}))).await;
    stage.run();
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    let namespace = stage.namespace.clone();
    stage.until_told(&namespace, "app", "NameTaken", "").await;
    let adopt = json!({ "metadata": { "annotations": { "zonewright.dev/adopt": "true" } } });
    let records = stage.service_records();
    records
        .patch(HOST, &PatchParams::default(), &Patch::Merge(adopt))
        .await
        .unwrap();
    stage.until(PUBLISHED).await;
    stage.delete("app").await;
    stage.until(&[]).await;
}

async fn a_record_of_the_peers_without_a_proxy_goes_and_one_with_it_stays(home: Home) {
    let mut stage = Stage::open(home).await;
    let labels = json!({ EXPORT: "" });
    stage
        .service_record(foreign("orphan.example.org", &labels))
        .await;
    stage.service_record(foreign(HOST, &labels)).await;
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    stage.run();
    stage.until(PUBLISHED).await;
}

async fn a_host_that_changes_is_made_before_the_old_one_is_broken(home: Home) {
    let mut stage = published(home).await;
    stage.adopts = false;
    stage.rename("app", "new.example.org").await;
    let both = [
        "app.example.org 192.0.2.1:443",
        "new.example.org 192.0.2.1:443",
        "app.example.org. A 192.0.2.1",
        "new.example.org. A 192.0.2.1",
    ];
    stage.until(&both).await;
    stage
        .until_says(
            HOST,
            "Published",
            "True/Kept",
            "new.example.org, which is not published yet",
        )
        .await;
    assert_eq!(stage.standing().await, both);
    stage.adopts = true;
    stage
        .until(&[
            "new.example.org 192.0.2.1:443",
            "new.example.org. A 192.0.2.1",
        ])
        .await;
}

async fn a_host_that_cannot_be_had_keeps_the_old_one(home: Home) {
    let stage = published(home).await;
    let other = stage.other.clone();
    stage
        .proxy_in(&other, "theirs", "their.example.org", &["192.0.2.9"])
        .await;
    let theirs = "their.example.org 192.0.2.9:443";
    let both = [
        PUBLISHED[0],
        theirs,
        PUBLISHED[1],
        "their.example.org. A 192.0.2.9",
    ];
    stage.until(&both).await;
    stage.rename("app", "their.example.org").await;
    stage
        .until_says(HOST, "Published", "True/Kept", "another namespace has")
        .await;
    stage.until(&both).await;
    stage.unlabel("app").await;
    stage
        .until(&[theirs, "their.example.org. A 192.0.2.9"])
        .await;
}

async fn two_sources_of_a_namespace_share_a_host_until_the_last_goes(home: Home) {
    let stage = published(home).await;
    stage.proxy("two", HOST, &["192.0.2.2", "192.0.2.1"]).await;
    let shared = [
        "app.example.org 192.0.2.1:443 192.0.2.2:443",
        "app.example.org. A 192.0.2.1",
        "app.example.org. A 192.0.2.2",
    ];
    stage.until(&shared).await;
    stage.delete("two").await;
    stage.until(PUBLISHED).await;
    stage.delete("app").await;
    stage.until(&[]).await;
}

async fn a_host_of_another_namespace_is_refused_and_its_answer_survives(home: Home) {
    let mut stage = published(home).await;
    let other = stage.other.clone();
    stage
        .proxy_in(&other, "rival", HOST, &["203.0.113.66"])
        .await;
    stage.until_told(&other, "rival", "FQDNClaimed", HOST).await;
    stage
        .until_says(HOST, "Conflicted", "True/FQDNClaimed", ": 1")
        .await;
    stage.until(PUBLISHED).await;
    // Whoever has it keeps it, whoever comes and goes meanwhile.
    stage.stop().await;
    stage.run();
    stage
        .until_says(HOST, "Conflicted", "True/FQDNClaimed", ": 1")
        .await;
    stage.until(PUBLISHED).await;
    stage.delete("app").await;
    stage
        .until(&[
            "app.example.org 203.0.113.66:443",
            "app.example.org. A 203.0.113.66",
        ])
        .await;
    stage
        .until_says(HOST, "Conflicted", "False/NoConflict", "")
        .await;
}

async fn whoever_has_proven_the_domain_has_the_host_before_whoever_has_it(home: Home) {
    let mut stage = published(home).await;
    let (first, owner) = (stage.namespace.clone(), stage.other.clone());
    stage.proxy_in(&owner, "app", HOST, &["203.0.113.66"]).await;
    // One that was written for another namespace proves nothing.
    stage.prove(&owner, "app.example.org", &first).await;
    stage.until_told(&owner, "app", "FQDNClaimed", HOST).await;
    stage.prove(&owner, "example.org", &owner).await;
    let owned = [
        "app.example.org 203.0.113.66:443",
        "app.example.org. A 203.0.113.66",
    ];
    stage.until(&owned).await;
    stage.until_told(&first, "app", "FQDNClaimed", HOST).await;
    stage
        .until_says(HOST, "Conflicted", "True/FQDNClaimed", ": 1")
        .await;
    stage.stop().await;
    stage.run();
    stage.until_published(HOST).await;
    stage.until(&owned).await;
    // Without the proof it is the one that has the host.
    let claims = stage.verifications(&owner);
    let params = DeleteParams::default();
    claims.delete("example.org", &params).await.unwrap();
    stage.reach("app", &["192.0.2.7"]).await;
    stage
        .proxy("seen", "seen.example.org", &["192.0.2.8"])
        .await;
    let both = [
        owned[0],
        "seen.example.org 192.0.2.8:443",
        "seen.example.org. A 192.0.2.8",
        owned[1],
    ];
    stage.until(&both).await;
}

async fn addresses_of_every_sort_are_published(home: Home) {
    let stage = published(home).await;
    stage.reach("app", &["192.0.2.2", "2001:db8::1"]).await;
    stage
        .until(&[
            "app.example.org 192.0.2.2:443 2001:db8::1:443",
            "app.example.org. A 192.0.2.2",
            "app.example.org. AAAA 2001:db8::1",
        ])
        .await;
    stage
        .reach("app", &["b.lb.example.net", "a.lb.example.net"])
        .await;
    stage
        .until(&[
            "app.example.org a.lb.example.net:443 b.lb.example.net:443",
            "app.example.org. CNAME a.lb.example.net.",
        ])
        .await;
    stage
        .until_says(HOST, "Published", "True/Published", "b.lb.example.net")
        .await;
    stage.reach("app", &["192.0.2.1"]).await;
    stage.until(PUBLISHED).await;
}

async fn a_source_without_an_address_borrows_that_of_the_endpoint_service(home: Home) {
    let stage = Stage::running(home).await;
    stage.proxy("app", HOST, &[]).await;
    stage.until(&[HOST]).await;
    let envoy = json!({
        "metadata": { "name": "envoy" },
        "spec": { "type": "LoadBalancer", "ports": [{ "port": 443 }] },
        "status": balanced(&["192.0.2.1"]),
    });
    let namespace = stage.namespace.clone();
    stage.create(SourceKind::Service, &namespace, envoy).await;
    stage.until(PUBLISHED).await;
    stage.reach("app", &["192.0.2.2"]).await;
    stage
        .until(&[
            "app.example.org 192.0.2.2:443",
            "app.example.org. A 192.0.2.2",
        ])
        .await;
}

async fn every_kind_is_published_the_same_way(home: Home) {
    let stage = Stage::running(home).await;
    let namespace = stage.namespace.clone();
    let meta = |name: &str| json!({ "name": name, "labels": { EXPORT: "yes" } });
    let backend = json!({ "service": { "name": "x", "port": { "number": 80 } } });
    let ingress = json!({
        "metadata": meta("ingress"),
        "spec": {
            "rules": [
                { "host": "plain.example.org", "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": backend }] } },
                { "host": "tls.example.org" },
            ],
            "tls": [{ "hosts": ["tls.example.org"] }],
        },
        "status": balanced(&["192.0.2.1"]),
    });
    stage.create(SourceKind::Ingress, &namespace, ingress).await;
    let mut service = json!({
        "metadata": meta("service"),
        "spec": { "type": "LoadBalancer", "ports": [{ "port": 25 }] },
        "status": balanced(&["192.0.2.2"]),
    });
    service["metadata"]["annotations"] =
        json!({ "connectivity.tanzu.vmware.com/fqdn": "mail.example.org" });
    stage.create(SourceKind::Service, &namespace, service).await;
    let gateway = json!({
        "metadata": { "name": "gateway" },
        "spec": {
            "gatewayClassName": "x",
            "listeners": [{ "name": "web", "port": 8080, "protocol": "HTTP", "hostname": "*.web.example.org" }],
        },
        "status": { "addresses": [{ "type": "IPAddress", "value": "192.0.2.3" }] },
    });
    stage.create(SourceKind::Gateway, &namespace, gateway).await;
    let route = json!({
        "metadata": meta("route"),
        "spec": { "parentRefs": [{ "name": "gateway" }], "hostnames": ["a.web.example.org"] },
    });
    stage.create(SourceKind::HttpRoute, &namespace, route).await;
    let own = [
        "a.web.example.org 192.0.2.3:8080",
        "mail.example.org 192.0.2.2:25",
        "plain.example.org 192.0.2.1:80",
        "tls.example.org 192.0.2.1:443",
        "a.web.example.org. A 192.0.2.3",
        "mail.example.org. A 192.0.2.2",
        "plain.example.org. A 192.0.2.1",
        "tls.example.org. A 192.0.2.1",
    ];
    stage.until(&own).await;
    let export = json!({ "metadata": { "labels": { EXPORT: "" } } });
    stage.patch(SourceKind::Gateway, "gateway", export).await;
    stage
        .until_says(
            "wildcard-54987c82d6.web.example.org",
            "Published",
            "True/Published",
            "",
        )
        .await;
    for (kind, name) in [
        (SourceKind::Ingress, "ingress"),
        (SourceKind::Service, "service"),
        (SourceKind::HttpRoute, "route"),
        (SourceKind::Gateway, "gateway"),
    ] {
        let sources = stage.sources(kind);
        sources
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }
    stage.until(&[]).await;
}

async fn records_can_be_put_beside_their_sources(home: Home) {
    let mut stage = published(home).await;
    stage.stop().await;
    stage.options.policy.placement = Placement::Source;
    stage.run();
    let look = async || {
        let beside: kube::Api<api::ServiceRecord> =
            kube::Api::namespaced(stage.client.clone(), &stage.namespace);
        let owners = beside.get_opt(HOST).await.unwrap();
        let owners = owners.and_then(|it| it.metadata.owner_references);
        let central = stage.service_records().get_opt(HOST).await.unwrap();
        let moved = owners.is_some_and(|it| it.len() == 1) && central.is_none();
        moved.then_some(())
    };
    testkit::eventually(
        crate::stage::SOON,
        "the ServiceRecord beside its source",
        look,
    )
    .await
    .unwrap();
    stage.until(PUBLISHED).await;
    stage.delete("app").await;
    stage.until(&[]).await;
}

async fn a_host_that_cannot_be_published_is_told_to_its_source(home: Home) {
    let stage = published(home).await;
    let namespace = stage.namespace.clone();
    let long = format!("{0}.{0}.{0}.{1}.org", "a".repeat(62), "b".repeat(61));
    assert_eq!(long.len(), 254);
    let bad = [
        ("address", "192.0.2.1", "Invalid"),
        ("single", "localhost", "Invalid"),
        ("everybody", "*.co.uk", "Invalid"),
        ("long", long.as_str(), "FQDNTooLong"),
    ];
    for (name, host, reason) in bad {
        stage.proxy(name, host, &["192.0.2.1"]).await;
        stage.until_told(&namespace, name, reason, host).await;
    }
    let included = json!({ "metadata": { "name": "included", "labels": { EXPORT: "" } }, "spec": { "routes": [] } });
    stage
        .create(SourceKind::HttpProxy, &namespace, included)
        .await;
    stage
        .until_told(&namespace, "included", "NoHost", "virtualhost")
        .await;
    let tcp = json!({ "metadata": { "name": "tcp", "labels": { EXPORT: "" } }, "spec": { "ports": [{ "port": 25 }] } });
    stage.create(SourceKind::Service, &namespace, tcp).await;
    stage
        .until_told(&namespace, "tcp", "NotSupported", "LoadBalancer")
        .await;
    stage.until(PUBLISHED).await;
}

async fn a_record_that_no_zone_takes_is_told(home: Home) {
    let mut stage = Stage::running(home).await;
    stage.adopts = false;
    stage.proxy("app", HOST, &["192.0.2.1"]).await;
    stage.until(PUBLISHED).await;
    stage
        .until_says(HOST, "Published", "False/Pending", "")
        .await;
    let name = stage
        .records()
        .list(&ListParams::default())
        .await
        .unwrap()
        .items[0]
        .metadata
        .name
        .clone();
    let refused = json!({ "status": { "conditions": [{
        "type": "Accepted", "status": "False", "reason": "NotDelegated", "message": "no zone lets it",
        "lastTransitionTime": "2026-03-04T05:06:07Z", "observedGeneration": 1,
    }] } });
    let records = stage.records();
    records
        .patch_status(
            &name.unwrap(),
            &PatchParams::default(),
            &Patch::Merge(refused),
        )
        .await
        .unwrap();
    stage
        .until_says(HOST, "Published", "False/NotDelegated", "no zone lets it")
        .await;
}
