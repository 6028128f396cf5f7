//! `zonewright export`, with statuses as a controller would write them.

use std::time::Duration;

use crate::cluster::{Cluster, told};
use serde_json::{Value, json};
use testkit::eventually;

/// How soon one version follows another, as controllers do it.
const DEBOUNCE: Duration = Duration::from_millis(50);
/// How often a zone is read while it changes.
const READINGS: usize = 20;
const ZONES: &str = "/apis/kubi.zone/v1alpha1/namespaces/dns/zones";
const SLICES: &str = "/apis/kubi.zone/v1alpha1/namespaces/dns/zoneslices";

async fn with_zone() -> Cluster {
    let cluster = Cluster::start().await;
    let zone = json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "Zone", "metadata": { "name": "example-org" },
        "spec": { "domainName": "example.org.", "delegations": [] } });
    cluster.create(ZONES, &zone).await;
    cluster
}

fn entry(name: &str, rtype: &str, rdata: &str) -> Value {
    json!({ "fqdn": name, "type": rtype, "class": "IN", "ttl": 360, "rdata": rdata })
}

fn soa(serial: u32) -> Value {
    let rdata = format!("ns.example.org. noc.example.org. ({serial} 86400 7200 3600000 360)");
    entry("example.org.", "SOA", &rdata)
}

async fn set_status(cluster: &Cluster, serial: u32, entries: &[Value], slices: &[&str]) {
    let entries: Vec<Value> = [soa(serial)]
        .into_iter()
        .chain(entries.iter().cloned())
        .collect();
    let status =
        json!({ "fqdn": "example.org.", "serial": serial, "entries": entries, "slices": slices });
    cluster
        .set_status(&format!("{ZONES}/example-org"), &status)
        .await;
}

async fn create_slice(cluster: &Cluster, name: &str, content: &str) {
    let slice = json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "ZoneSlice", "metadata": { "name": name },
        "spec": { "content": content } });
    cluster.create(SLICES, &slice).await;
}

async fn export(cluster: &Cluster, flags: &[&str], code: i32) -> (String, String) {
    let args = [&["export", "zone/dns/example-org"], flags].concat();
    told(&cluster.zonewright(&args, "").await, code)
}

/// O3, Z8.
#[tokio::test(flavor = "multi_thread")]
async fn a_zone_becomes_a_zone_file() {
    let cluster = with_zone().await;
    let entries = [
        entry("example.org.", "NS", "ns.example.org."),
        entry("ns.example.org.", "A", "192.0.2.53"),
    ];
    set_status(&cluster, 2_026_111_500, &entries, &[]).await;
    let (stdout, stderr) = export(&cluster, &[], 0).await;
    assert_eq!(stderr, "");
    assert_eq!(
        stdout,
        "$ORIGIN example.org.\n$TTL 360\n\
         @ 360 IN SOA ns.example.org. noc.example.org. 2026111500 86400 7200 3600000 360\n\
         @ 360 IN NS ns.example.org.\nns 360 IN A 192.0.2.53\n"
    );
    let (stdout, _) = export(&cluster, &["-o", "json"], 0).await;
    let exported: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(
        (&exported["origin"], &exported["serial"]),
        (&json!("example.org."), &json!(2_026_111_500))
    );
    let types: Vec<&Value> = exported["records"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["type"])
        .collect();
    assert_eq!(types, ["SOA", "NS", "A"]);
}

/// Z11.
#[tokio::test(flavor = "multi_thread")]
async fn a_zone_in_slices_is_put_together() {
    let cluster = with_zone().await;
    let names: Vec<String> = (0..40).map(|number| format!("slice-{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        let content = format!("host-{number}.example.org. 60 IN A 192.0.2.{number}\n");
        create_slice(&cluster, name, &content).await;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    set_status(&cluster, 7, &[], &names).await;
    let (stdout, _) = export(&cluster, &[], 0).await;
    assert_eq!(stdout.matches(" 60 IN A 192.0.2.").count(), 40);
    assert!(
        stdout.contains("\n@ 360 IN SOA ns.example.org. noc.example.org. 7 "),
        "{stdout}"
    );
}

/// Publishes version after version at the pace of a controller, each in two slices that say which version they are of.
async fn publish(cluster: &Cluster, versions: std::ops::RangeFrom<u32>) {
    let mut pace = tokio::time::interval(DEBOUNCE);
    for version in versions {
        pace.tick().await;
        let names = ["a", "b"].map(|letter| format!("{letter}-{version}"));
        for (name, owner) in names.iter().zip(["a", "b"]) {
            let content = format!("{owner}.example.org. 60 IN TXT \"{version}\"\n");
            create_slice(cluster, name, &content).await;
        }
        set_status(cluster, version, &[], &names.each_ref().map(String::as_str)).await;
        for letter in ["a", "b"].into_iter().filter(|_| version > 1) {
            let old = format!("{SLICES}/{letter}-{}", version - 1);
            cluster.delete(&old).await;
        }
    }
}

/// Z11: whatever is published meanwhile, a reader has one version and all of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_never_mixes_two_versions() {
    let cluster = with_zone().await;
    let reader = async {
        for _ in 0..READINGS {
            let (stdout, _) = export(&cluster, &[], 0).await;
            let soa = stdout.lines().nth(2).expect("an SOA");
            let serial = soa.split(' ').nth(6).expect("a serial");
            let owners = ["a", "b"].map(|owner| format!("{owner} 60 IN TXT \"{serial}\""));
            assert_eq!(stdout.lines().skip(3).collect::<Vec<_>>(), owners);
        }
    };
    set_status(&cluster, 0, &[entry("a.example.org.", "TXT", "first")], &[]).await;
    let published = eventually(Duration::from_secs(30), "a version in slices", async || {
        let zone = cluster.get(&format!("{ZONES}/example-org")).await;
        (zone["status"]["serial"] != 0).then_some(())
    });
    let reader = async {
        published.await.expect("published");
        reader.await;
    };
    tokio::select! {
        () = publish(&cluster, 1..) => {}
        () = reader => {}
    }
}

/// Z11.
#[tokio::test(flavor = "multi_thread")]
async fn a_slice_that_stays_away_is_named() {
    let cluster = with_zone().await;
    set_status(&cluster, 1, &[], &["gone"]).await;
    let (stdout, stderr) = export(&cluster, &[], 1).await;
    assert_eq!(stdout, "");
    let start = "error: zone dns/example-org: the slice gone of its content is not there, and was not after 10 readings: ";
    assert!(stderr.starts_with(start), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_without_content_says_what_it_waits_for() {
    let cluster = with_zone().await;
    let (stdout, stderr) = export(&cluster, &[], 1).await;
    assert_eq!(stdout, "");
    assert_eq!(
        stderr,
        "error: zone dns/example-org: it has no content yet: no controller has looked at it yet\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_that_is_not_there_is_told_with_where_to_look() {
    let cluster = Cluster::start().await;
    let (_, stderr) = export(&cluster, &[], 1).await;
    assert_eq!(
        stderr,
        "error: there is no zone dns/example-org; `zonewright get zones -A` lists those there are\n"
    );
    let (_, stderr) = told(&cluster.zonewright(&["export", "example.org"], "").await, 2);
    assert!(stderr.contains("such as zone/dns/example-org"), "{stderr}");
}
