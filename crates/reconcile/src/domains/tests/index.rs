//! Whom a change concerns.

use std::time::Duration;

use api::domain_verification::{DomainVerificationSpec, DomainVerificationStatus};
use api::{Decoded, DomainVerification, Zone};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::json;

use super::*;
use crate::ObjectKey;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn domains() -> Domains {
    let mut domains = Domains::new(managed(), key());
    domains.apply_namespace("team", Some(UID), NOW);
    domains.apply_namespace("other", Some("uid-other"), NOW);
    domains
}

fn at(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(namespace, name)
}

fn ingress_of(namespace: &str, name: &str, host: &str) -> Value {
    let mut ingress = ingress(&[(host, "x")]);
    ingress["metadata"] =
        json!({ "name": name, "namespace": namespace, "uid": format!("uid-{name}") });
    ingress
}

fn claim(domain: &str, proof: Option<String>) -> Decoded<DomainVerification> {
    let spec = DomainVerificationSpec {
        domain: domain.to_owned(),
    };
    let mut claim = DomainVerification::new(domain, spec);
    claim.status = Some(DomainVerificationStatus {
        proof,
        ..DomainVerificationStatus::default()
    });
    Decoded::Object(claim)
}

fn owned(claim: Decoded<DomainVerification>, owners: &[&str]) -> Decoded<DomainVerification> {
    let owners = owners.iter().map(|uid| OwnerReference {
        uid: (*uid).to_owned(),
        ..OwnerReference::default()
    });
    let mut claim = claim.into_result().expect("it can be read");
    claim.metadata.owner_references = Some(owners.collect());
    Decoded::Object(claim)
}

fn ingresses(touched: &Touched) -> Vec<String> {
    let keys = touched.iter().filter_map(|key| match key {
        Key::Ingress(key) => Some(key.to_string()),
        Key::Verification(_) | Key::Host(_) => None,
    });
    keys.collect()
}

#[test]
fn a_proof_wakes_every_ingress_at_or_below_the_domain_in_its_namespace() {
    // V7: on every Ingress waiting for it.
    let mut domains = domains();
    let hosts = [
        ("team", "a", "example.com"),
        ("team", "b", "deep.below.example.com"),
        ("team", "c", "*.example.com"),
        ("team", "d", "badexample.com"),
        ("team", "e", "example.org"),
        ("other", "f", "example.com"),
    ];
    for (namespace, name, host) in hosts {
        let key = at(namespace, name);
        domains.apply_ingress(&key, Some(ingress_of(namespace, name, host)), NOW);
    }
    let key = at("team", "example.com");
    domains.apply_verification(&key, Some(claim("example.com", None)));
    let proof = super::key().proof(UID, &name("example.com"));
    let touched = domains.apply_verification(&key, Some(claim("example.com", Some(proof.clone()))));
    assert_eq!(ingresses(&touched), ["team/a", "team/b", "team/c"]);
    let again = domains.apply_verification(&key, Some(claim("example.com", Some(proof))));
    assert_eq!(ingresses(&again), [""; 0], "nothing has changed for them");
    assert_eq!(
        domains.ingress(&at("team", "b")).unwrap().verified,
        names(&["example.com"])
    );
    assert_eq!(
        domains.ingress(&at("other", "f")).unwrap().verified,
        names(&[])
    );
    let gone = domains.apply_verification(&key, None);
    assert_eq!(ingresses(&gone), ["team/a", "team/b", "team/c"]);
}

#[test]
fn a_proof_of_another_namespace_proves_nothing_here() {
    // V9.
    let mut domains = domains();
    let key = at("team", "example.com");
    domains.apply_ingress(
        &at("team", "a"),
        Some(ingress_of("team", "a", "example.com")),
        NOW,
    );
    let stolen = super::key().proof("uid-other", &name("example.com"));
    domains.apply_verification(&key, Some(claim("example.com", Some(stolen))));
    assert_eq!(
        domains.ingress(&at("team", "a")).unwrap().verified,
        names(&[])
    );
}

#[test]
fn a_namespace_that_is_made_anew_inherits_nothing() {
    let mut domains = domains();
    let key = at("team", "example.com");
    let proof = super::key().proof(UID, &name("example.com"));
    domains.apply_ingress(
        &at("team", "a"),
        Some(ingress_of("team", "a", "example.com")),
        NOW,
    );
    domains.apply_verification(&key, Some(claim("example.com", Some(proof))));
    let touched = domains.apply_namespace("team", Some("another uid"), NOW);
    assert_eq!(ingresses(&touched), ["team/a"]);
    assert_eq!(
        domains.ingress(&at("team", "a")).unwrap().verified,
        names(&[])
    );
}

#[test]
fn users_of_a_claim_come_and_go() {
    // V8.
    let mut domains = domains();
    let key = at("team", "example.com");
    domains.apply_verification(&key, Some(claim("example.com", None)));
    let users = |domains: &Domains| {
        let users = domains.verification(&key).unwrap().users.into_iter();
        users.map(|(name, _)| name).collect::<Vec<_>>()
    };
    let touched = domains.apply_ingress(
        &at("team", "a"),
        Some(ingress_of("team", "a", "*.example.com")),
        NOW,
    );
    assert!(touched.contains(&Key::Verification(key.clone())));
    assert_eq!(users(&domains), ["a"]);
    // Waiting under the managed host is using it, too.
    let waiting = door(&ingress_of("team", "a", "example.com"), None, &[])
        .unwrap()
        .object;
    domains.apply_ingress(&at("team", "a"), Some(waiting), NOW);
    assert_eq!(users(&domains), ["a"]);
    domains.apply_ingress(
        &at("team", "a"),
        Some(ingress_of("team", "a", "example.org")),
        NOW,
    );
    assert_eq!(users(&domains), [""; 0]);
}

#[test]
fn what_is_below_a_claim_uses_it_once_it_is_proven() {
    // V2, V8: until then it has a claim of its own, which nothing needs afterwards.
    let mut domains = domains();
    let (above, below) = (at("team", "example.com"), at("team", "www.example.com"));
    for (name, host) in [("wide", "*.example.com"), ("web", "www.example.com")] {
        let ingress = ingress_of("team", name, host);
        domains.apply_ingress(&at("team", name), Some(ingress), NOW);
    }
    domains.apply_verification(&above, Some(claim("example.com", None)));
    domains.apply_verification(&below, Some(claim("www.example.com", None)));
    let users = |domains: &Domains| {
        [&above, &below].map(|key| {
            let users = domains.verification(key).unwrap().users.into_iter();
            users.map(|(name, _)| name).collect::<Vec<_>>()
        })
    };
    assert_eq!(users(&domains), [["wide"], ["web"]]);
    let proof = |domain: &str| Some(key().proof(UID, &name(domain)));
    let proven = claim("example.com", proof("example.com"));
    let touched = domains.apply_verification(&above, Some(proven.clone()));
    assert!(touched.contains(&Key::Verification(below.clone())));
    // Its own goes only after the other one has it for an owner.
    assert_eq!(users(&domains), [vec!["web", "wide"], vec!["web"]]);
    let touched = domains.apply_verification(&above, Some(owned(proven, &["uid-web"])));
    assert!(touched.contains(&Key::Verification(below.clone())));
    assert_eq!(users(&domains), [vec!["web", "wide"], vec![]]);
    // What is proven for itself is used as well.
    let proven = claim("www.example.com", proof("www.example.com"));
    domains.apply_verification(&below, Some(proven));
    assert_eq!(users(&domains), [vec!["web", "wide"], vec!["web"]]);
}

#[test]
fn an_ancestor_that_an_ingress_claims_is_used_by_it() {
    // V2, V8.
    let mut domains = domains();
    let key = at("team", "example.com");
    domains.apply_verification(&key, Some(claim("example.com", None)));
    let ingress = annotated(
        ingress_of("team", "a", "a.b.example.com"),
        "zonewright.dev/verify-domain",
        "example.com",
    );
    domains.apply_ingress(&at("team", "a"), Some(ingress), NOW);
    assert_eq!(domains.verification(&key).unwrap().users.len(), 1);
    let ingress = ingress_of("team", "a", "a.b.example.com");
    domains.apply_ingress(&at("team", "a"), Some(ingress), NOW);
    assert_eq!(domains.verification(&key).unwrap().users.len(), 0);
}

#[test]
fn a_new_word_in_the_check_annotation_asks_for_a_look() {
    // V6.
    let mut domains = domains();
    let (key, web) = (at("team", "example.com"), at("team", "a"));
    domains.apply_verification(&key, Some(claim("example.com", None)));
    let with = |word: &str| {
        annotated(
            ingress_of("team", "a", "example.com"),
            "zonewright.dev/check",
            word,
        )
    };
    domains.apply_ingress(&web, Some(with("1")), NOW);
    assert!(
        !domains.verification(&key).unwrap().asked,
        "it was there when we came"
    );
    domains.apply_ingress(&web, Some(with("1")), NOW);
    assert!(!domains.verification(&key).unwrap().asked);
    domains.apply_ingress(&web, Some(with("2")), NOW);
    assert!(domains.verification(&key).unwrap().asked);
    domains.looked(&key);
    assert!(!domains.verification(&key).unwrap().asked);
}

fn zone(fqdn: &str) -> Zone {
    let zone = json!({
        "apiVersion": "kubi.zone/v1alpha1", "kind": "Zone",
        "metadata": { "name": "apps", "namespace": "dns" },
        "spec": { "domainName": fqdn, "delegations": [] },
        "status": { "fqdn": fqdn, "conditions": [{
            "type": "Accepted", "status": "True", "reason": "Accepted", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }] },
    });
    serde_json::from_value(zone).unwrap()
}

#[test]
fn a_managed_host_leads_to_its_ingress_for_as_long_as_there_is_one() {
    // V1.
    let mut domains = domains();
    let web = at("team", "a");
    let guid = Guid::new([7; Guid::BYTES]);
    let mut object = door(&ingress_of("team", "a", ""), None, &[])
        .unwrap()
        .object;
    object["status"] =
        json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }, { "ip": "2001:db8::1" }] } });
    domains.apply_ingress(&web, Some(object.clone()), NOW);
    let grace = Duration::from_mins(5);
    let writes = |domains: &Domains, now| {
        decide_host(
            &domains.managed_host(&guid).unwrap(),
            &managed(),
            grace,
            now,
        )
    };
    assert_eq!(
        writes(&domains, NOW),
        (vec![], None),
        "no zone has the managed domain"
    );
    domains.apply_zone(
        &api::ZoneKey::new("dns", "apps"),
        Some(&zone("example.net.")),
    );
    let (created, _) = writes(&domains, NOW);
    let mut shown = Vec::new();
    for write in created {
        let RecordWrite::Create(record) = write else {
            panic!("{write:?}")
        };
        assert_eq!(
            record.metadata.namespace.as_deref(),
            Some("dns"),
            "where the zone is"
        );
        assert_eq!(record.spec.domain_name, format!("{}.", own()));
        shown.push((record.spec.type_.clone(), record.spec.rdata.clone()));
        let key = at("dns", record.metadata.name.as_deref().unwrap());
        domains.apply_record(&key, Some(Decoded::Object(*record)), NOW);
    }
    shown.sort();
    assert_eq!(shown, pairs(&[("A", "192.0.2.1"), ("AAAA", "2001:db8::1")]));
    assert_eq!(writes(&domains, NOW).0, vec![]);
    // Without an address it keeps the last ones for a while.
    object["status"] = json!({});
    domains.apply_ingress(&web, Some(object), NOW);
    let later = NOW + jiff::SignedDuration::from_mins(5);
    assert_eq!(writes(&domains, NOW), (vec![], Some(later)));
    assert_eq!(writes(&domains, later).0.len(), 2);
    // Without an Ingress everything goes.
    domains.apply_ingress(&web, None, NOW);
    let (gone, _) = writes(&domains, NOW);
    assert!(
        gone.iter().all(|it| matches!(it, RecordWrite::Delete(..))),
        "{gone:?}"
    );
    assert_eq!(gone.len(), 2);
}

#[test]
fn managed_hosts_are_published_in_a_zone_that_is_refused_for_anything_but_its_standing() {
    // V1, Z2.
    let guid = Guid::new([7; Guid::BYTES]);
    let mut object = door(&ingress_of("team", "a", ""), None, &[])
        .unwrap()
        .object;
    object["status"] = json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } });
    let cases = [
        ("ParentNotFound", 1),
        ("Invalid", 1),
        ("NotDelegated", 0),
        ("Conflicted", 0),
    ];
    for (reason, made) in cases {
        let mut domains = domains();
        domains.apply_ingress(&at("team", "a"), Some(object.clone()), NOW);
        let mut zone = zone("example.net.");
        let accepted = &mut zone.status.as_mut().unwrap().conditions[0];
        accepted.status = "False".to_owned();
        accepted.reason = reason.to_owned();
        domains.apply_zone(&api::ZoneKey::new("dns", "apps"), Some(&zone));
        let host = domains.managed_host(&guid).unwrap();
        let (writes, _) = decide_host(&host, &managed(), Duration::ZERO, NOW);
        assert_eq!(writes.len(), made, "{reason}: {writes:?}");
    }
}

#[test]
fn a_record_that_only_looks_like_that_of_a_managed_host_is_somebodys_own() {
    // V1: whoever writes the label does not hand it over.
    let guid = Guid::new([7; Guid::BYTES]);
    let ours = format!("managed-{guid}-0a0a0a0a");
    let cases = [
        (ours.as_str(), "zonewright", true),
        (ours.as_str(), "somebody", false),
        ("theirs", "zonewright", false),
    ];
    for (name, by, known) in cases {
        let mut domains = domains();
        let record = json!({
            "metadata": { "name": name, "namespace": "team", "labels": {
                "zonewright.dev/managed-host": guid.to_string(), "app.kubernetes.io/managed-by": by,
            } },
            "spec": { "domainName": "theirs.example.com.", "type": "A", "rdata": "192.0.2.1" },
        });
        let record = serde_json::from_value(record).unwrap();
        domains.apply_record(&at("team", name), Some(Decoded::Object(record)), NOW);
        let host = domains.managed_host(&guid);
        assert_eq!(host.is_some(), known, "{name} by {by}");
    }
}
