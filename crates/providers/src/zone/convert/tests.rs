use api::condition::Finding;
use api::{Reason, ZoneKey};
use dns::Rtype;

use super::*;

fn home(zone: &str) -> Home {
    let (namespace, name) = zone.split_once('/').unwrap();
    Home {
        zone: ZoneKey::new(namespace, name),
        namespace: "own".to_owned(),
        apex: Name::parse("example.org.").unwrap(),
        ttl: Ttl::from_secs(77).unwrap(),
    }
}

fn share(name: &str) -> Share {
    Share {
        name: name.to_owned(),
        uid: format!("uid-of-{name}"),
    }
}

fn datum(name: &str, rtype: Rtype, text: &str) -> Datum {
    Datum {
        key: HostedKey {
            share: Some(share("app")),
            ..HostedKey::plain(Name::parse(name).unwrap(), rtype)
        },
        routing: Routing::default(),
        ttl: Ttl::from_secs(60).unwrap(),
        data: Rdata::parse(rtype, text, &Name::root()).unwrap(),
    }
}

fn routed(identifier: &str) -> Datum {
    let mut datum = datum("www.example.org.", Rtype::A, "192.0.2.1");
    identifier.clone_into(&mut datum.key.identifier);
    datum.routing = Routing {
        weight: Some("120".parse().unwrap()),
        geo: Some("GEO-EU".parse().unwrap()),
    };
    datum
}

#[test]
fn every_datum_becomes_a_record_and_comes_back() {
    let data = [
        datum("www.example.org.", Rtype::A, "192.0.2.1"),
        datum("example.org.", Rtype::TXT, r#""say \"hi\"" "gr\195\188n;""#),
        datum("*.example.org.", Rtype::CNAME, "target.example."),
        datum(
            "_sip._tcp.example.org.",
            Rtype::SRV,
            "1 2 5060 sip.example.",
        ),
        datum("example.org.", Rtype::MX, "0 ."),
        routed("eu-1"),
    ];
    for zone in ["own/zone", "dns/zone"] {
        let home = home(zone);
        for datum in &data {
            let record = home.record("name", datum, &share("app")).unwrap();
            let read = home.read(&Decoded::Object(record)).unwrap();
            assert_eq!(read.datum.as_ref(), Some(datum), "{zone}");
            assert_eq!((read.share, read.labelled), (share("app"), true));
        }
    }
}

#[test]
fn a_patch_says_what_a_new_record_would_say() {
    let home = home("own/zone");
    let [plain, routed] = [
        datum("a.example.org.", Rtype::A, "192.0.2.1"),
        routed("eu-1"),
    ];
    for (from, to) in [(&plain, &routed), (&routed, &plain)] {
        let patch = home.patch(&Version::default(), to, &share("app"));
        let record = |datum| serde_json::to_value(home.spec(datum)).unwrap();
        let mut spec = record(from);
        merge(&mut spec, &patch["spec"]);
        assert_eq!(spec, record(to));
    }
}

/// RFC 7386 §2.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        patch.clone_into(target);
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (field, value) in patch {
        if value.is_null() {
            target.remove(field);
        } else {
            merge(target.entry(field).or_insert(Value::Null), value);
        }
    }
}

#[test]
fn what_could_not_be_read_back_does_not_leave() {
    let odd = datum("no_host.example.org.", Rtype::A, "192.0.2.1");
    let refused = home("own/zone").record("name", &odd, &share("app"));
    let reason = refused.unwrap_err();
    assert!(reason.contains("needs a host name"), "{reason}");
}

#[test]
fn names_of_objects_are_valid_and_tell_everything_apart() {
    let (own, dns) = (home("own/zone"), home("dns/zone"));
    let names = ["www.example.org.", "*.example.org.", "example.org."];
    let names = names.map(|name| Name::parse(name).unwrap());
    let mut stems = Vec::new();
    for name in &names {
        for share in [
            share("app"),
            share("app.b"),
            share(&"a".repeat(253)),
            share(&"a".repeat(252)),
        ] {
            stems.extend([own.stem(&share, name), dns.stem(&share, name)]);
        }
        let namesake = Share {
            uid: "another".to_owned(),
            ..share("app")
        };
        stems.push(own.stem(&namesake, name));
    }
    for stem in &stems {
        assert!(stem.len() <= 253 - "-1000000".len(), "{stem}");
    }
    let count = stems.len();
    stems.sort();
    stems.dedup();
    assert_eq!(stems.len(), count);
    let dotted = share(&format!("{}.-b", "a".repeat(199)));
    assert!(!own.stem(&dotted, &names[0]).contains(".-"));
    // Objects are found by their names again: the spelling must never change.
    assert_eq!(
        own.stem(&share("app"), &names[0]),
        "app-ec0bfaeafaedcc990a3a33e8141380a7"
    );
}

#[test]
fn a_record_is_somebody_elses_without_an_owner_that_is_a_dns_record() {
    let home = home("own/zone");
    let datum = datum("www.example.org.", Rtype::A, "192.0.2.1");
    let record = home.record("name", &datum, &share("app")).unwrap();
    let owned = |owner: Option<OwnerReference>| {
        let mut record = record.clone();
        record.metadata.owner_references = owner.map(|owner| vec![owner]);
        home.read(&Decoded::Object(record)).is_some()
    };
    let of = |api_version: &str, kind: &str| OwnerReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        ..OwnerReference::default()
    };
    assert!(owned(Some(of("kuadrant.io/v1alpha1", "DNSRecord"))));
    assert!(
        owned(Some(of("kuadrant.io/v2", "DNSRecord"))),
        "in any version"
    );
    assert!(!owned(Some(of("example.org/v1", "DNSRecord"))));
    assert!(!owned(Some(of("kuadrant.io/v1alpha1", "DNSPolicy"))));
    assert!(!owned(None));
}

#[test]
fn data_that_makes_no_set_stands_for_the_first_of_it() {
    let home = home("own/zone");
    let aliases = ["b.example.", "a.example."];
    let aliases = aliases.map(|text| datum("www.example.org.", Rtype::CNAME, text));
    let standing = aliases.map(|datum| {
        let record = home.record("name", &datum, &share("app")).unwrap();
        home.read(&Decoded::Object(record)).unwrap()
    });
    let holdings = snapshot(home.apex.clone(), &standing).holdings;
    let held: Vec<_> = holdings
        .values()
        .map(|held| held.set().unwrap().records.data())
        .collect();
    assert_eq!(held, [[standing[1].datum.clone().unwrap().data]]);
}

#[test]
fn complaints_of_one_set_are_told_once_and_in_order() {
    let home = home("own/zone");
    let says = [("192.0.2.1", "b"), ("192.0.2.2", "a"), ("192.0.2.3", "b")];
    let standing = says.map(|(text, message)| {
        let datum = datum("www.example.org.", Rtype::A, text);
        let mut record = home.record("name", &datum, &share("app")).unwrap();
        let finding = Finding::new(
            ConditionType::Accepted,
            Status::False,
            Reason::NotDelegated,
            message,
        );
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        record.status = Some(api::record::RecordStatus {
            conditions: api::condition::merge(&[], &[finding], now),
            ..api::record::RecordStatus::default()
        });
        home.read(&Decoded::Object(record)).unwrap()
    });
    let complaints = snapshot(home.apex.clone(), &standing).complaints;
    let told: Vec<_> = complaints.values().collect();
    assert_eq!(told, ["NotDelegated: a; NotDelegated: b"]);
}
