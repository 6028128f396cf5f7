//! `zonewright import`, printed and applied.

use std::fs;

use serde_json::{Value, json};

use crate::cluster::{Cluster, told};

const ZONES: &str = "/apis/kubi.zone/v1alpha1/namespaces/dns/zones";
const RECORDS: &str = "/apis/kubi.zone/v1alpha1/namespaces/dns/records";
const FILE: &str = "\
$ORIGIN example.org.
$TTL 360
@ SOA ns noc 1 86400 7200 3600000 360
@ NS ns
ns A 192.0.2.53
www A 192.0.2.1
www A 192.0.2.2
";

async fn import(cluster: &Cluster, file: &str, flags: &[&str], code: i32) -> (String, String) {
    let args = [&["import", "-", "--zone", "example-org"], flags].concat();
    told(&cluster.zonewright(&args, file).await, code)
}

async fn apply(cluster: &Cluster, file: &str, code: i32) -> (String, String) {
    import(cluster, file, &["-n", "dns", "--apply"], code).await
}

/// Every Record's name, type, TTL and data.
async fn records(cluster: &Cluster) -> Vec<String> {
    let list = cluster.get(RECORDS).await;
    let items = list["items"].as_array().expect("a list");
    let shown = |item: &Value| {
        let spec = &item["spec"];
        let text = |field: &str| spec[field].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {} {} {}",
            text("domainName"),
            text("type"),
            spec["ttl"],
            text("rdata")
        )
    };
    let mut records: Vec<String> = items.iter().map(shown).collect();
    records.sort();
    records
}

/// O3: what is printed is a manifest that `check` accepts.
#[tokio::test(flavor = "multi_thread")]
async fn a_zone_file_is_printed_as_manifests() {
    let cluster = Cluster::without_kinds().await;
    for file in ["company", "reverse", "signed"] {
        let path = format!("{}/tests/zones/{file}.zone", env!("CARGO_MANIFEST_DIR"));
        let output = cluster
            .zonewright_bare(&["import", &path, "--zone", file], "")
            .await;
        let (yaml, _) = told(&output, 0);
        let (checked, _) = told(
            &cluster.zonewright_bare(&["check", "-f", "-"], &yaml).await,
            0,
        );
        let count = yaml.lines().filter(|line| *line == "---").count();
        assert_eq!(checked, format!("{count} checked, no problems\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_a_list_with_json_output() {
    let cluster = Cluster::without_kinds().await;
    let (stdout, _) = import(&cluster, FILE, &["-o", "json"], 0).await;
    let list: Value = serde_json::from_str(&stdout).expect("JSON");
    let items = list["items"].as_array().expect("a list");
    assert_eq!((&list["kind"], items.len()), (&json!("List"), 4));
    assert_eq!(
        items[0]["metadata"],
        json!({ "name": "example-org", "namespace": "default" })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_printed_or_applied_if_anything_is_wrong() {
    let cluster = Cluster::start().await;
    let file = format!("{FILE}a A 300.0.0.1\n_b A 192.0.2.1\n");
    for flags in [&["-n", "dns"][..], &["-n", "dns", "--apply"]] {
        let (stdout, stderr) = import(&cluster, &file, flags, 1).await;
        assert_eq!(stdout, "");
        let lines: Vec<&str> = stderr.lines().collect();
        assert!(
            lines[0].starts_with("-: line 8: A needs an IPv4 address"),
            "{stderr}"
        );
        assert!(
            lines[1].starts_with("-: line 9: _b A: type A needs a host name"),
            "{stderr}"
        );
        assert_eq!(lines[2..], ["error: 2 problems in -; nothing was imported"]);
    }
    assert_eq!(records(&cluster).await, Vec::<String>::new());
}

/// O3: applied, applied again, and changed.
#[tokio::test(flavor = "multi_thread")]
async fn applying_twice_changes_nothing_and_says_so() {
    let cluster = Cluster::start().await;
    let (stdout, stderr) = apply(&cluster, FILE, 0).await;
    assert_eq!(stderr, "");
    assert_eq!(
        stdout,
        "zone dns/example-org created; records: 3 created, 0 updated, 0 unchanged\n"
    );
    let expected = [
        "ns A null 192.0.2.53",
        "www A null 192.0.2.1",
        "www A null 192.0.2.2",
    ];
    assert_eq!(records(&cluster).await, expected);

    let before = (cluster.get(ZONES).await, cluster.get(RECORDS).await);
    let (stdout, _) = apply(&cluster, FILE, 0).await;
    assert_eq!(
        stdout,
        "zone dns/example-org and its 3 records are as the file says; nothing was changed\n"
    );
    let after = (cluster.get(ZONES).await, cluster.get(RECORDS).await);
    assert_eq!(before, after, "resource versions included");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_changes_what_differs_and_names_what_it_leaves() {
    let cluster = Cluster::start().await;
    apply(&cluster, FILE, 0).await;
    let file = FILE
        .replace("$TTL 360", "$TTL 60")
        .replace("ns A 192.0.2.53", "ns 300 A 192.0.2.54");
    let file = file.replace("www A 192.0.2.2\n", "mail A 192.0.2.25\n");
    let (stdout, stderr) = apply(&cluster, &file, 0).await;
    assert_eq!(
        stdout,
        "zone dns/example-org updated; records: 2 created, 1 updated, 0 unchanged\n"
    );
    assert!(
        stderr.starts_with("note: not in the file, and left alone: 2 Records of the zone (www-a-"),
        "{stderr}"
    );
    assert!(stderr.ends_with("` removes one\n"), "{stderr}");
    let zone = cluster.get(&format!("{ZONES}/example-org")).await;
    assert_eq!(zone["spec"]["ttl"], 60);
    assert!(
        records(&cluster)
            .await
            .contains(&"ns A 300 192.0.2.54".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_is_data_with_json_output() {
    let cluster = Cluster::start().await;
    let (stdout, _) = import(&cluster, FILE, &["-n", "dns", "--apply", "-o", "json"], 0).await;
    let outcome: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(
        outcome,
        json!({ "zone": "created", "created": 3, "updated": 0, "unchanged": 0, "refused": [], "leftAlone": [] })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_not_there_is_told_before_anything_is_written() {
    let cluster = Cluster::start().await;
    let (stdout, stderr) = import(&cluster, FILE, &["-n", "nowhere", "--apply"], 1).await;
    assert_eq!(stdout, "");
    assert_eq!(
        stderr,
        "error: zone nowhere/example-org: namespaces \"nowhere\" not found; \
         `kubectl create namespace nowhere` makes it\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_of_another_name_is_left_alone() {
    let cluster = Cluster::start().await;
    apply(&cluster, FILE, 0).await;
    let (_, stderr) = apply(&cluster, &FILE.replace("example.org", "example.net"), 1).await;
    assert_eq!(
        stderr,
        "error: zone dns/example-org: it is there, and it is example.org.; choose another name with --zone\n"
    );
    assert_eq!(records(&cluster).await.len(), 3);
}

/// One object that is not ours does not keep the others out.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_another_zone_is_left_alone_and_told() {
    let cluster = Cluster::start().await;
    let strange = json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "Record",
        "metadata": { "name": "ns-a.example-org" },
        "spec": { "domainName": "elsewhere.example.", "type": "A", "rdata": "192.0.2.9" } });
    cluster.create(RECORDS, &strange).await;
    let (stdout, stderr) = apply(&cluster, FILE, 1).await;
    assert_eq!(
        stdout,
        "zone dns/example-org created; records: 2 created, 0 updated, 0 unchanged\n"
    );
    assert_eq!(
        stderr,
        "Record dns/ns-a.example-org: it is there, and it belongs to another zone\nerror: 1 record refused\n"
    );
}

/// Two zones in one namespace do not write over each other.
#[tokio::test(flavor = "multi_thread")]
async fn zones_share_a_namespace() {
    let cluster = Cluster::start().await;
    apply(&cluster, FILE, 0).await;
    let args = [
        "import",
        "-",
        "--zone",
        "example-net",
        "-n",
        "dns",
        "--apply",
    ];
    let file = FILE.replace("example.org", "example.net");
    let (stdout, stderr) = told(&cluster.zonewright(&args, &file).await, 0);
    assert_eq!(
        (stdout.as_str(), stderr.as_str()),
        (
            "zone dns/example-net created; records: 3 created, 0 updated, 0 unchanged\n",
            ""
        )
    );
    assert_eq!(records(&cluster).await.len(), 6);
}

/// More records than fit on a page or in flight.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_records_are_applied() {
    use std::fmt::Write as _;
    let cluster = Cluster::start().await;
    let mut file = FILE.to_owned();
    for number in 0..1_000 {
        writeln!(file, "host-{number} A 192.0.2.{}", number % 256)
            .expect("a string takes any length");
    }
    let (stdout, _) = apply(&cluster, &file, 0).await;
    assert_eq!(
        stdout,
        "zone dns/example-org created; records: 1003 created, 0 updated, 0 unchanged\n"
    );
    let (stdout, _) = apply(&cluster, &file, 0).await;
    assert!(
        stdout.ends_with("its 1003 records are as the file says; nothing was changed\n"),
        "{stdout}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_zone_s_name_can_be_given_where_the_file_leaves_it_out() {
    let cluster = Cluster::without_kinds().await;
    let file = FILE.replace("$ORIGIN example.org.\n", "");
    let (_, stderr) = import(&cluster, &file, &[], 1).await;
    assert!(stderr.contains("give it with --origin\n"), "{stderr}");
    let (stdout, _) = import(&cluster, &file, &["--origin", "example.org"], 0).await;
    assert!(stdout.contains("  domainName: example.org.\n"), "{stdout}");
}

/// Printing needs no API; the namespace is the context's where there is one.
#[tokio::test(flavor = "multi_thread")]
async fn printing_needs_no_kubeconfig() {
    let cluster = Cluster::without_kinds().await;
    let args = ["import", "-", "--zone", "example-org"];
    let (stdout, _) = told(&cluster.zonewright_bare(&args, FILE).await, 0);
    assert!(stdout.contains("  namespace: default\n"), "{stdout}");
    let nowhere = [&args[..], &["-n", "dns", "--kubeconfig", "nowhere"]].concat();
    told(&cluster.zonewright_bare(&nowhere, FILE).await, 0);
    let args = [&args[..], &["--apply"]].concat();
    let (_, stderr) = told(&cluster.zonewright_bare(&args, FILE).await, 1);
    assert!(stderr.starts_with("error: no kubeconfig: "), "{stderr}");

    let text = fs::read_to_string(&cluster.kubeconfig).expect("written");
    let mut kubeconfig: Value = serde_saphyr::from_str(&text).expect("YAML");
    kubeconfig["contexts"][0]["context"]["namespace"] = json!("dns");
    fs::write(&cluster.kubeconfig, kubeconfig.to_string()).expect("written");
    let (stdout, _) = import(&cluster, FILE, &[], 0).await;
    assert!(stdout.contains("  namespace: dns\n"), "{stdout}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_words_are_wrong_usage() {
    let cluster = Cluster::without_kinds().await;
    for args in [
        &["import", "-"][..],
        &["import", "--zone", "a"],
        &["import", "-", "--zone", "Example"],
        &["import", "-", "--zone", "a", "-n", "a.b"],
        &["import", "-", "--zone", "a", "--origin", "a..b"],
    ] {
        told(&cluster.zonewright_bare(args, "").await, 2);
    }
    let (_, stderr) = told(
        &cluster
            .zonewright_bare(&["import", "nowhere", "--zone", "a"], "")
            .await,
        1,
    );
    assert!(
        stderr.starts_with("error: cannot read nowhere: "),
        "{stderr}"
    );
}
