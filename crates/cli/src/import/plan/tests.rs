//! What an import changes, and what it leaves.

use super::*;

fn wanted() -> Zone {
    let zone = json!({ "metadata": { "namespace": "dns", "name": "example-org" }, "spec": {
        "domainName": "example.org.", "ttl": 60, "nameservers": ["ns"],
        "delegations": [{ "namespaces": ["dns"], "records": [{ "pattern": "*" }] }] } });
    serde_json::from_value(zone).unwrap()
}

/// The Zone as an API holds it that took what is wanted.
fn held() -> Value {
    serde_json::to_value(wanted()).unwrap()
}

fn record(more: &Value) -> Value {
    let mut record = json!({ "metadata": { "namespace": "dns", "name": "www-a" }, "spec": {
        "domainName": "www", "type": "A", "class": "IN", "rdata": "192.0.2.1", "zoneRef": { "name": "example-org" } } });
    for (key, value) in more.as_object().unwrap() {
        record["spec"][key] = value.clone();
    }
    record
}

fn key() -> ZoneKey {
    ZoneKey::new("dns", "example-org")
}

#[test]
fn what_is_not_there_is_created() {
    assert_eq!(zone(None, &wanted()), Step::Create);
    assert_eq!(
        super::record(None, &record(&json!({})), &key()),
        Step::Create
    );
}

#[test]
fn what_is_there_as_wanted_is_kept() {
    assert_eq!(zone(Some(&held()), &wanted()), Step::Keep);
    let there = record(&json!({}));
    assert_eq!(super::record(Some(&there), &there, &key()), Step::Keep);
}

#[test]
fn only_what_differs_is_changed() {
    let mut there = held();
    there["spec"]["ttl"] = json!(300);
    there["spec"]["nameservers"] = json!(["ns1", "ns2"]);
    assert_eq!(
        zone(Some(&there), &wanted()),
        Step::Update(json!({ "spec": { "ttl": 60, "nameservers": ["ns"] } }))
    );

    let there =
        record(&json!({ "ttl": 60, "rdata": "192.0.2.9", "routing": { "setIdentifier": "eu" } }));
    let wanted = record(&json!({}));
    let patch = json!({ "spec": { "ttl": null, "rdata": "192.0.2.1", "routing": null } });
    assert_eq!(
        super::record(Some(&there), &wanted, &key()),
        Step::Update(patch)
    );
}

#[test]
fn leave_that_others_were_given_stays() {
    let mut there = held();
    let others = json!({ "namespaces": ["web"], "zones": [], "records": [{ "pattern": "www", "types": [] }] });
    there["spec"]["delegations"] = json!([others]);
    let ours = held()["spec"]["delegations"][0].clone();
    let both = json!({ "spec": { "delegations": [others, ours] } });
    assert_eq!(zone(Some(&there), &wanted()), Step::Update(both.clone()));
    there["spec"]["delegations"] = both["spec"]["delegations"].clone();
    assert_eq!(zone(Some(&there), &wanted()), Step::Keep);
}

#[test]
fn a_zone_keeps_the_way_it_came_by_its_name() {
    let mut there = held();
    there["spec"]["domainName"] = json!("example");
    there["spec"]["zoneRef"] = json!({ "name": "org" });
    there["status"] = json!({ "fqdn": "example.org." });
    assert_eq!(zone(Some(&there), &wanted()), Step::Keep);
}

#[test]
fn a_zone_of_another_name_is_not_renamed() {
    let mut there = held();
    there["spec"]["domainName"] = json!("example.net.");
    let Step::Refuse(why) = zone(Some(&there), &wanted()) else {
        panic!()
    };
    assert_eq!(
        why,
        "it is there, and it is example.net.; choose another name with --zone"
    );
    there["spec"]["domainName"] = json!("example");
    there["spec"]["zoneRef"] = json!({ "name": "net" });
    let Step::Refuse(why) = zone(Some(&there), &wanted()) else {
        panic!()
    };
    assert_eq!(
        why,
        "it is there, and it is not placed yet; choose another name with --zone"
    );
}

#[test]
fn a_record_of_another_zone_is_left_to_it() {
    for reference in [
        json!({ "name": "other" }),
        json!({ "name": "example-org", "namespace": "web" }),
        Value::Null,
    ] {
        let there = record(&json!({ "zoneRef": reference }));
        let step = super::record(Some(&there), &record(&json!({})), &key());
        assert_eq!(
            step,
            Step::Refuse("it is there, and it belongs to another zone".to_owned())
        );
    }
    let spelled_out = record(&json!({ "zoneRef": { "name": "example-org", "namespace": "dns" } }));
    let patch = json!({ "spec": { "zoneRef": { "namespace": null } } });
    assert_eq!(
        super::record(Some(&spelled_out), &record(&json!({})), &key()),
        Step::Update(patch)
    );
}
