//! `zonewright get`, and how every command finds its API.

use std::fs;

use crate::cluster::{Cluster, told};
use serde_json::{Value, json};

const ZONES: &str = "/apis/kubi.zone/v1alpha1/namespaces/dns/zones";

fn zone(name: &str, domain_name: &str) -> Value {
    json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "Zone", "metadata": { "name": name },
        "spec": { "domainName": domain_name, "delegations": [] } })
}

fn record(name: &str, domain_name: &str) -> Value {
    json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "Record", "metadata": { "name": name },
        "spec": { "domainName": domain_name, "type": "A", "rdata": "192.0.2.1" } })
}

async fn with_objects() -> Cluster {
    let cluster = Cluster::start().await;
    cluster
        .create(ZONES, &zone("example-org", "example.org."))
        .await;
    let records = "/apis/kubi.zone/v1alpha1/namespaces/web/records";
    cluster
        .create(records, &record("www", "www.example.org."))
        .await;
    let status = json!({ "fqdn": "example.org.", "serial": 2_026_111_500, "conditions": [
        { "type": "Accepted", "status": "True", "reason": "Accepted", "message": "",
          "lastTransitionTime": "2026-11-15T00:00:00Z" }] });
    cluster
        .set_status(&format!("{ZONES}/example-org"), &status)
        .await;
    cluster
}

/// Cells of a line.
fn cells(line: &str) -> Vec<&str> {
    line.split("   ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect()
}

/// O3: the columns are the API's own.
#[tokio::test(flavor = "multi_thread")]
async fn tables_have_the_columns_of_the_api() {
    let cluster = with_objects().await;
    let (stdout, stderr) = told(
        &cluster.zonewright(&["get", "zones", "-n", "dns"], "").await,
        0,
    );
    assert_eq!(stderr, "");
    let lines: Vec<Vec<&str>> = stdout.lines().map(cells).collect();
    assert_eq!(
        lines,
        [
            [
                "NAME",
                "DOMAIN NAME",
                "FQDN",
                "HASH",
                "SERIAL",
                "PARENT",
                "ACCEPTED",
                "PUBLISHED"
            ],
            [
                "example-org",
                "example.org.",
                "example.org.",
                "<none>",
                "2026111500",
                "<none>",
                "True",
                "<none>"
            ],
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn several_kinds_of_all_namespaces_are_several_tables() {
    let cluster = with_objects().await;
    let (stdout, stderr) = told(
        &cluster
            .zonewright(&["get", "zn,rec,policies", "-A"], "")
            .await,
        0,
    );
    assert_eq!(stderr, "no dnspolicies in any namespace\n");
    let lines: Vec<Vec<&str>> = stdout.lines().map(cells).collect();
    assert_eq!(lines.len(), 5, "{stdout}");
    assert_eq!(lines[1][..2], ["dns", "zone.kubi.zone/example-org"]);
    assert!(lines[2].is_empty());
    assert_eq!(lines[3][..3], ["NAMESPACE", "NAME", "DOMAIN NAME"]);
    assert_eq!(lines[4][..2], ["web", "record.kubi.zone/www"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_a_list_with_json_output() {
    let cluster = with_objects().await;
    let output = cluster
        .zonewright(&["get", "zones,records", "-A", "-o", "json"], "")
        .await;
    let list: Value = serde_json::from_str(&told(&output, 0).0).expect("JSON");
    assert_eq!(
        (&list["apiVersion"], &list["kind"]),
        (&json!("v1"), &json!("List"))
    );
    let items = list["items"].as_array().expect("a list");
    let shown: Vec<_> = items
        .iter()
        .map(|item| (&item["kind"], &item["metadata"]["name"]))
        .collect();
    assert_eq!(
        shown,
        [
            (&json!("Zone"), &json!("example-org")),
            (&json!("Record"), &json!("www"))
        ]
    );

    let output = cluster
        .zonewright(&["get", "zones", "-n", "web", "-o", "json"], "")
        .await;
    let list: Value = serde_json::from_str(&told(&output, 0).0).expect("JSON");
    assert_eq!(list["items"], json!([]));
}

/// O3.
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_shows_zones_and_records_on_a_pipe_as_indented_lines() {
    let cluster = with_objects().await;
    // The zone's record is in another namespace.
    for flags in [["--tree", "-A"], ["--tree", "--namespace=dns"]] {
        let args = [&["get", "zones"], &flags[..]].concat();
        let (stdout, _) = told(&cluster.zonewright(&args, "").await, 0);
        assert_eq!(
            stdout,
            "example.org.  dns/example-org  serial 2026111500, 1 record  accepted\n  \
             www A 192.0.2.1  web/www  no controller has looked at it yet\n"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_found_is_told_beside_the_results() {
    let cluster = Cluster::start().await;
    let output = cluster.zonewright(&["get", "zones"], "").await;
    let nothing = "no zones in namespace default; -A looks in all namespaces\n";
    assert_eq!(told(&output, 0), (String::new(), nothing.to_owned()));
    let output = cluster
        .zonewright(&["get", "zones", "--tree", "-A"], "")
        .await;
    assert_eq!(told(&output, 0).1, "no zones in any namespace\n");
}

/// More objects than one page of the API holds.
#[tokio::test(flavor = "multi_thread")]
async fn pages_are_put_together() {
    let cluster = Cluster::start().await;
    for number in 0..501 {
        cluster
            .create(
                ZONES,
                &zone(&format!("z{number}"), &format!("z{number}.example.")),
            )
            .await;
    }
    let (stdout, _) = told(
        &cluster.zonewright(&["get", "zones", "-n", "dns"], "").await,
        0,
    );
    assert_eq!(stdout.lines().count(), 502);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_the_api_does_not_know_can_be_taught() {
    let cluster = Cluster::without_kinds().await;
    let (_, stderr) = told(&cluster.zonewright(&["get", "zones"], "").await, 1);
    assert_eq!(
        stderr,
        "error: the API does not know the kind zone.kubi.zone; \
         teach it with `zonewright crds | kubectl apply --server-side -f -`\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_words_are_wrong_usage() {
    let cluster = Cluster::without_kinds().await;
    for (args, part) in [
        (&["get", "pods"][..], "there are zones (zn), records (rec)"),
        (&["get"], "<KIND>"),
        (
            &["get", "policies", "--tree"],
            "--tree shows zones and records, not dnspolicies",
        ),
        (
            &["get", "zones", "-n", "No"],
            "write the name of a namespace",
        ),
    ] {
        let (_, stderr) = told(&cluster.zonewright_bare(args, "").await, 2);
        assert!(stderr.contains(part), "{stderr}");
    }
}

/// O3: the flag, the variable, what `up` left here, the user's own; and a namespace from the context.
#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_is_found_where_people_keep_it() {
    let cluster = Cluster::start().await;
    let (_, stderr) = told(&cluster.zonewright_bare(&["get", "zones"], "").await, 1);
    assert_eq!(
        stderr,
        "error: no kubeconfig: there is none in --kubeconfig, $KUBECONFIG, ./zonewright-data/kubeconfig or \
         ~/.kube/config; run `zonewright up` here, which writes one, or name one with --kubeconfig\n"
    );

    let text = fs::read_to_string(&cluster.kubeconfig).expect("written");
    for (folder, namespace) in [
        (".kube/config", "of-user"),
        ("zonewright-data/kubeconfig", "of-up"),
    ] {
        let path = cluster.directory.path().join(folder);
        fs::create_dir(path.parent().expect("a folder")).expect("created");
        let mut kubeconfig: Value = serde_saphyr::from_str(&text).expect("YAML");
        kubeconfig["contexts"][0]["context"]["namespace"] = json!(namespace);
        fs::write(path, kubeconfig.to_string()).expect("written");
        let (_, stderr) = told(&cluster.zonewright_bare(&["get", "zones"], "").await, 0);
        assert_eq!(
            stderr,
            format!("no zones in namespace {namespace}; -A looks in all namespaces\n")
        );
    }
    let (_, stderr) = told(
        &cluster
            .zonewright_bare(&["get", "zones", "--kubeconfig", "nowhere"], "")
            .await,
        1,
    );
    let start = "error: the kubeconfig nowhere cannot be used; name another with --kubeconfig: ";
    assert!(stderr.starts_with(start), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_is_not_there_is_named_with_what_to_do() {
    let cluster = Cluster::without_kinds().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound");
    drop(taken);
    let text = fs::read_to_string(&cluster.kubeconfig).expect("written");
    let mut kubeconfig: Value = serde_saphyr::from_str(&text).expect("YAML");
    kubeconfig["clusters"][0]["cluster"]["server"] = json!(format!("https://{address}"));
    let path = cluster.directory.path().join("zonewright-data/kubeconfig");
    fs::create_dir(path.parent().expect("a folder")).expect("created");
    fs::write(&path, kubeconfig.to_string()).expect("written");
    let (_, stderr) = told(&cluster.zonewright_bare(&["get", "zones"], "").await, 1);
    assert_eq!(
        stderr,
        format!(
            "error: nobody listens at https://{address}, where the kubeconfig ./zonewright-data/kubeconfig leads; \
             start it with `zonewright up`, or name another with --kubeconfig\n"
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_are_not_accepted_are_told_as_such() {
    let (cluster, other) = (
        Cluster::without_kinds().await,
        Cluster::without_kinds().await,
    );
    let read = |cluster: &Cluster| -> Value {
        let text = fs::read_to_string(&cluster.kubeconfig).expect("written");
        serde_saphyr::from_str(&text).expect("YAML")
    };
    let mut kubeconfig = read(&cluster);
    kubeconfig["users"] =
        json!([{ "name": kubeconfig["users"][0]["name"], "user": { "token": "stale" } }]);
    fs::write(&other.kubeconfig, kubeconfig.to_string()).expect("written");
    let (_, stderr) = told(&other.zonewright(&["get", "zones"], "").await, 1);
    assert!(
        stderr.contains("does not know who we are: the credentials in the kubeconfig "),
        "{stderr}"
    );
}
