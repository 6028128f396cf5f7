//! From manifests to what name servers are told and what objects say about themselves, on the embedded API and on
//! kube-apiserver alike.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stage;

use std::collections::BTreeSet;
use std::ops::Range;

use stage::{Home, Stage};

const ZONE: &str = "
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example-org, namespace: OWN}
spec:
  domainName: example.org.
  delegations: [{records: [{pattern: '*'}, {pattern: '@'}]}]
";

const WWW: &str = "
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: OWN}
spec: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
";

/// Each behaviour on each API.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* $name:ident;)+) => {
        mod embedded {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(super::Stage::open(super::Home::Embedded).await).await; })+
        }
        mod on_cluster {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(super::Stage::open(super::Home::Real).await).await; })+
        }
    };
}

on_both! {
    /// R1, R3, R8, Z4, Z8.
    a_record_is_adopted_published_and_says_so;
    /// R8: label and status, nothing else.
    a_record_costs_two_writes;
    /// R8, Z10.
    records_made_in_a_rush_are_all_answered_and_cost_two_writes_each;
    /// Z2, R1: woken by the parent, not by time.
    what_comes_before_its_zone_waits_for_it;
    /// R2, R5, K3.
    what_is_refused_says_which_field_and_why;
    /// Z3, Z5, Z13.
    a_sub_zone_of_another_namespace_is_delegated_with_its_glue;
    /// Z5.
    the_addresses_of_a_sub_zones_name_servers_are_carried_wherever_its_ns_stands;
    /// Z2.
    a_full_name_beside_a_reference_to_nothing_is_served_and_told;
    /// R1.
    a_relative_name_that_looks_full_is_concatenated_and_told;
    /// Z14.
    deleting_a_zone_orphans_its_records_at_once;
    /// Z9: nothing changed, nothing written.
    a_second_controller_after_the_first_writes_nothing;
    /// Z11.
    a_zone_moves_to_slices_and_back;
    /// Z11.
    a_zone_is_in_its_status_up_to_a_thousand_entries_and_again_below_eight_hundred;
    /// Z4, Z9, G42.
    what_strangers_write_into_a_status_is_put_right;
}

async fn a_record_is_adopted_published_and_says_so(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    stage.create(WWW).await;
    stage
        .shows(
            "record/www",
            &[
                "fqdn: www.example.org.",
                "label: example-org.OWN",
                "Accepted: True Accepted",
                "Published: True Served",
            ],
        )
        .await;
    stage
        .shows(
            "zone/example-org",
            &[
                "fqdn: example.org.",
                "label: -",
                "Accepted: True NoNameServers",
                "Published: True Served",
                "entry: www.example.org. 360 IN A 192.0.2.1",
            ],
        )
        .await;
    let lines = stage.lines("zone/example-org").await;
    assert!(
        lines
            .iter()
            .find(|line| line.starts_with("entry: "))
            .unwrap()
            .contains(" IN SOA "),
        "{lines:?}"
    );
    stage
        .serves("example.org.", &["www.example.org. 360 IN A 192.0.2.1"])
        .await;
}

async fn a_record_costs_two_writes(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    stage
        .shows("zone/example-org", &["Published: True Served"])
        .await;
    let created = stage.create(WWW).await;
    let changes = stage
        .changes_until(&created, "Published: True Served")
        .await;
    assert!(changes.len() <= 2, "{changes:#?}");
}

async fn records_made_in_a_rush_are_all_answered_and_cost_two_writes_each(mut stage: Stage) {
    const RECORDS: usize = 200;
    stage.run();
    stage.create(ZONE).await;
    stage.settled().await;
    let before = stage.revision().await;
    stage.create_at_once((0..RECORDS).map(numbered)).await;
    stage.serves_all("example.org.", hosts(0..RECORDS)).await;
    stage.settled().await;
    let changes = stage.changes_since(&before).await;
    assert_eq!(changes.len(), RECORDS);
    assert!(changes.values().all(|count| *count == 2), "{changes:?}");
}

async fn what_comes_before_its_zone_waits_for_it(mut stage: Stage) {
    stage.run();
    let child = "
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: dev, namespace: OWN}
spec: {domainName: dev, zoneRef: {name: example-org}, delegations: [{records: [{pattern: '*'}]}]}
";
    let record = "
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: app, namespace: OWN}
spec: {domainName: app, zoneRef: {name: dev}, type: AAAA, rdata: '2001:db8::1'}
";
    stage.create(record).await;
    stage
        .shows("record/app", &["fqdn: -", "Accepted: False ParentNotFound"])
        .await;
    stage.create(child).await;
    stage
        .shows("record/app", &["Accepted: False WaitingForParent"])
        .await;
    stage
        .shows("zone/dev", &["fqdn: -", "Accepted: False ParentNotFound"])
        .await;
    stage.create(ZONE).await;
    stage
        .shows(
            "record/app",
            &[
                "fqdn: app.dev.example.org.",
                "label: dev.OWN",
                "Published: True Served",
            ],
        )
        .await;
    stage
        .shows(
            "zone/dev",
            &["fqdn: dev.example.org.", "label: example-org.OWN"],
        )
        .await;
}

async fn what_is_refused_says_which_field_and_why(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    stage.create(&WWW.replace("192.0.2.1", "192.0.2.256")).await;
    stage
        .shows(
            "record/www",
            &[
                "fqdn: www.example.org.",
                "label: -",
                "Accepted: False Invalid",
                "Published: False NotAccepted",
            ],
        )
        .await;
    let lines = stage.lines("record/www").await;
    assert!(
        lines.iter().any(|line| line.contains("spec.rdata: ")),
        "{lines:?}"
    );
    stage
        .patch("record/www", r#"{"spec": {"rdata": "192.0.2.2"}}"#)
        .await;
    stage
        .shows(
            "record/www",
            &["label: example-org.OWN", "Published: True Served"],
        )
        .await;
    stage
        .serves("example.org.", &["www.example.org. 360 IN A 192.0.2.2"])
        .await;
}

async fn the_addresses_of_a_sub_zones_name_servers_are_carried_wherever_its_ns_stands(
    mut stage: Stage,
) {
    stage.run();
    let sub = "
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: team, namespace: OWN}
spec: {domainName: team, zoneRef: {name: example-org}, delegations: [{records: [{pattern: '*'}]}]}
";
    let delegation = "
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: team-ns, namespace: OWN}
spec: {domainName: team.example.org., zoneRef: {name: example-org}, type: NS, rdata: ns1.team.example.org.}
";
    let address = "
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ns1, namespace: OWN}
spec: {domainName: ns1, zoneRef: {name: team}, type: A, rdata: 192.0.2.53}
";
    stage.create(ZONE).await;
    stage.create(sub).await;
    stage.create(delegation).await;
    stage
        .shows("record/team-ns", &["Accepted: True TargetMissing"])
        .await;
    stage.create(address).await;
    stage
        .shows("record/team-ns", &["Accepted: True Accepted"])
        .await;
    let glue = [
        "team.example.org. 360 IN NS ns1.team.example.org.",
        "ns1.team.example.org. 360 IN A 192.0.2.53",
    ];
    stage.serves("example.org.", &glue).await;
}

async fn a_full_name_beside_a_reference_to_nothing_is_served_and_told(mut stage: Stage) {
    stage.run();
    let zone = "
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example-net, namespace: OWN}
spec: {domainName: example.net., zoneRef: {name: nothing}, delegations: []}
";
    stage.create(zone).await;
    stage
        .shows(
            "zone/example-net",
            &[
                "fqdn: example.net.",
                "Accepted: False ParentNotFound",
                "Published: True Served",
            ],
        )
        .await;
}

async fn a_relative_name_that_looks_full_is_concatenated_and_told(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    let record = "
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: OWN}
spec: {domainName: www.example.org, zoneRef: {name: example-org}, type: A, rdata: 192.0.2.1}
";
    stage.create(record).await;
    stage
        .shows(
            "record/www",
            &[
                "fqdn: www.example.org.example.org.",
                "Accepted: True LooksFull",
                "Published: True Served",
            ],
        )
        .await;
}

async fn a_sub_zone_of_another_namespace_is_delegated_with_its_glue(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    let sub = "
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: team, namespace: OTHER}
spec:
  domainName: team.example.org.
  nameservers: [ns1]
  delegations: [{records: [{pattern: '*'}]}]
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ns1, namespace: OTHER}
spec: {domainName: ns1, zoneRef: {name: team}, type: A, rdata: 192.0.2.53}
";
    stage
        .shows("zone/example-org", &["Published: True Served"])
        .await;
    stage.ages("zone/example-org").await;
    stage.create(sub).await;
    stage
        .shows(
            "other-zone/team",
            &[
                "label: -",
                "Accepted: False NotDelegated",
                "Published: False NotAccepted",
            ],
        )
        .await;
    stage
        .patch(
            "zone/example-org",
            r#"{"spec": {"delegations": [{"zones": ["team"]}]}}"#,
        )
        .await;
    stage
        .shows(
            "other-zone/team",
            &[
                "label: example-org.OWN",
                "Accepted: True Accepted",
                "Published: True Served",
            ],
        )
        .await;
    stage
        .serves(
            "example.org.",
            &[
                "team.example.org. 360 IN NS ns1.team.example.org.",
                "ns1.team.example.org. 360 IN A 192.0.2.53",
            ],
        )
        .await;
    stage.delete("other-zone/team").await;
    stage.serves_nothing("team.example.org.").await;
    stage.serves("example.org.", &[]).await;
}

async fn deleting_a_zone_orphans_its_records_at_once(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    stage.create(WWW).await;
    stage.shows("record/www", &["Published: True Served"]).await;
    stage.delete("zone/example-org").await;
    stage
        .shows(
            "record/www",
            &[
                "fqdn: www.example.org.",
                "label: -",
                "Accepted: False NoZone",
                "Published: False NotAccepted",
            ],
        )
        .await;
    stage.serves_nothing("example.org.").await;
}

async fn a_second_controller_after_the_first_writes_nothing(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    stage.create(WWW).await;
    stage.shows("record/www", &["Published: True Served"]).await;
    stage
        .shows("zone/example-org", &["Published: True Served"])
        .await;
    stage.settled().await;
    let before = stage.versions().await;
    stage.stop().await;
    stage.run();
    stage
        .serves("example.org.", &["www.example.org. 360 IN A 192.0.2.1"])
        .await;
    stage.settled().await;
    assert_eq!(stage.versions().await, before);
}

async fn a_zone_moves_to_slices_and_back(mut stage: Stage) {
    stage.inline_max(10);
    stage.run();
    stage.create(ZONE).await;
    for number in 1..=12 {
        stage.create(&numbered(number)).await;
    }
    stage
        .shows("record/host-12", &["Published: True Served"])
        .await;
    stage
        .shows("zone/example-org", &["entries: 1", "slices: some"])
        .await;
    stage.settled().await;
    assert_eq!(
        stage.slices().await,
        stage.named_slices("zone/example-org").await
    );
    for number in 7..=12 {
        stage.delete(&format!("record/host-{number}")).await;
    }
    stage
        .shows("zone/example-org", &["entries: 7", "slices: none"])
        .await;
    stage.settled().await;
    assert!(stage.slices().await.is_empty());
}

/// A zone without name servers has an entry more than it has Records: its SOA.
async fn a_zone_is_in_its_status_up_to_a_thousand_entries_and_again_below_eight_hundred(
    mut stage: Stage,
) {
    stage.run();
    stage.create(ZONE).await;
    let mut there: Range<usize> = 0..0;
    for (records, entries, slices) in [
        (0, 1, "none"),
        (1, 2, "none"),
        (999, 1_000, "none"),
        (1_000, 1, "some"),
        (799, 1, "some"),
        (798, 799, "none"),
    ] {
        let gone = there.start..there.start.max(there.end.saturating_sub(records));
        let new = there.end..gone.end + records;
        there = gone.end..gone.end + records;
        stage
            .delete_at_once(gone.map(|number| format!("record/host-{number}")))
            .await;
        stage.create_at_once(new.map(numbered)).await;
        stage.serves_all("example.org.", hosts(there.clone())).await;
        let (entries, slices) = (format!("entries: {entries}"), format!("slices: {slices}"));
        stage.shows("zone/example-org", &[&entries, &slices]).await;
    }
    stage.settled().await;
    assert!(stage.slices().await.is_empty());
}

async fn what_strangers_write_into_a_status_is_put_right(mut stage: Stage) {
    stage.run();
    stage.create(ZONE).await;
    stage.create(WWW).await;
    let good = &[
        "fqdn: example.org.",
        "entry: www.example.org. 360 IN A 192.0.2.1",
        "entries: 2",
    ];
    stage.shows("zone/example-org", good).await;
    stage
        .patch_status(
            "zone/example-org",
            r#"{"status": {"fqdn": "evil.example.", "entries": []}}"#,
        )
        .await;
    stage.shows("zone/example-org", good).await;
    stage
        .patch_status("record/www", r#"{"status": {"conditions": []}}"#)
        .await;
    stage
        .shows(
            "record/www",
            &["Accepted: True Accepted", "Published: True Served"],
        )
        .await;
    stage
        .patch(
            "record/www",
            r#"{"metadata": {"labels": {"kubi.zone/parent-zone": "other.zone"}}}"#,
        )
        .await;
    stage.shows("record/www", &["label: example-org.OWN"]).await;
}

/// A Record for one of many hosts.
fn numbered(number: usize) -> String {
    WWW.replace("name: www", &format!("name: host-{number}"))
        .replace("www.example.org.", &format!("host-{number}.example.org."))
}

/// What is served of many hosts.
fn hosts(numbers: Range<usize>) -> BTreeSet<String> {
    numbers
        .map(|number| format!("host-{number}.example.org. 360 IN A 192.0.2.1"))
        .collect()
}
