//! What is in a zone beyond plain sets, and how it is named.

use dns::hosted::{Batch, Held, HostedKey};
use dns::{Name, Rtype};
use provider::{Provider, ZoneId};
use testkit::route53::{
    AliasTarget, GeoLocation, ResourceRecord, ResourceRecordSet, ResourceRecords,
};

use crate::stage::{Doubled, doubled, send};

/// A set of Route 53 with an address.
fn address(name: &str) -> ResourceRecordSet {
    let value = "192.0.2.1".to_owned();
    ResourceRecordSet {
        name: name.to_owned(),
        r#type: "A".to_owned(),
        ttl: Some(60),
        resource_records: Some(ResourceRecords {
            resource_record: vec![ResourceRecord { value }],
        }),
        ..ResourceRecordSet::default()
    }
}

/// The same, told apart from others.
fn routed(name: &str) -> ResourceRecordSet {
    ResourceRecordSet {
        set_identifier: Some("one".to_owned()),
        ..address(name)
    }
}

#[tokio::test]
async fn what_is_no_set_of_dns_is_told_as_what_it_is() {
    let foreign = [
        (
            ResourceRecordSet {
                ttl: None,
                resource_records: None,
                alias_target: Some(AliasTarget {
                    hosted_zone_id: "Z2FDTNDATAQYW2".to_owned(),
                    dns_name: "d1.cloudfront.net.".to_owned(),
                    evaluate_target_health: false,
                }),
                ..address("alias.example.org")
            },
            "an alias of d1.cloudfront.net.",
        ),
        (
            ResourceRecordSet {
                health_check_id: Some("1234".to_owned()),
                ..address("checked.example.org")
            },
            "a set with a health check",
        ),
        (
            ResourceRecordSet {
                region: Some("eu-west-1".to_owned()),
                ..routed("latency.example.org")
            },
            "a set for the latency of a region",
        ),
        (
            ResourceRecordSet {
                failover: Some("PRIMARY".to_owned()),
                ..routed("failover.example.org")
            },
            "a set for failover",
        ),
        (
            ResourceRecordSet {
                geo_location: Some(GeoLocation {
                    country_code: Some("US".to_owned()),
                    subdivision_code: Some("CA".to_owned()),
                    ..GeoLocation::default()
                }),
                ..routed("state.example.org")
            },
            "a set for the place US-CA",
        ),
        (
            routed("unknown.example.org"),
            "a set with an unknown kind of routing",
        ),
        (
            ResourceRecordSet {
                resource_records: Some(ResourceRecords {
                    resource_record: vec![ResourceRecord {
                        value: "not an address".to_owned(),
                    }],
                }),
                ..address("broken.example.org")
            },
            "data that cannot be read: ",
        ),
    ];
    let Doubled { route53, account } = doubled().await;
    for (set, _) in &foreign {
        route53.put(&account.zone.0, set.clone());
    }
    let ours = account.create("ours", Rtype::A, &["192.0.2.2"]);
    account.write(&[ours]).await.unwrap();
    let held = account.holdings().await;
    for (set, told) in foreign {
        let key = HostedKey {
            identifier: set.set_identifier.unwrap_or_default(),
            ..HostedKey::plain(Name::parse(&format!("{}.", set.name)).unwrap(), Rtype::A)
        };
        let held = held.get(&key);
        let Some(Held::Opaque(what)) = held else {
            panic!("{key}: {held:?}");
        };
        assert!(what.starts_with(told), "{key}: {what}");
    }
}

#[tokio::test]
async fn names_with_odd_characters_survive() {
    let Doubled { route53, account } = doubled().await;
    let names = [
        "*",
        "*.deep",
        r"a\.b",
        r"\007bell",
        "0/25.rev",
        r"\*.lit",
        "_x._tcp",
        r"\\",
        r"\255",
    ];
    let changes: Vec<_> = names
        .iter()
        .map(|name| account.create(name, Rtype::CNAME, &[r"od\.d\000.example."]))
        .collect();
    // Written with a backslash, an asterisk is still the same octet: `*` and `\*` are one name.
    account.write(&changes).await.unwrap();
    let held = account.holdings().await;
    for change in &changes {
        let after = change.after.clone().map(Held::Set);
        assert_eq!(held.get(&change.key), after.as_ref(), "{}", change.key);
    }
    let path = format!("/hostedzone/{}/rrset", account.zone);
    let (_, listing) = send(route53.address(), "GET", &path, "").await;
    for escaped in [
        r"\052.example.org.",
        r"a\056b.example.org.",
        r"\007bell",
        r"0\05725",
        r"\134",
        r"\377",
    ] {
        assert!(listing.contains(escaped), "{escaped} is in {listing}");
    }
}

#[tokio::test]
async fn a_zone_goes_by_its_id_with_or_without_what_stands_before_it() {
    let Doubled {
        account,
        route53: _running,
    } = doubled().await;
    let long = ZoneId(format!("/hostedzone/{}", account.zone));
    let changes = vec![account.create("www", Rtype::A, &["192.0.2.1"])];
    account.aws.write(&long, &Batch { changes }).await.unwrap();
    let read = account.aws.read(&long).await.unwrap();
    assert_eq!(read.holdings, account.holdings().await);
    let listed = account.aws.zones().await.unwrap();
    assert_eq!(listed[0].id, account.zone);
}

#[tokio::test]
async fn zones_are_listed_to_the_end_in_the_order_of_their_names() {
    let Doubled { route53, account } = doubled().await;
    for index in 0..250 {
        route53.create_zone(&format!("z{index}.example"));
    }
    // Two zones of one name are two zones.
    route53.create_zone("example.org");
    let zones = account.aws.zones().await.unwrap();
    assert_eq!(zones.len(), 252);
    assert!(zones.is_sorted_by_key(|zone| zone.apex.clone()));
    let same = zones.iter().filter(|zone| zone.apex == account.apex);
    assert_eq!(same.count(), 2);
}
