//! The command line as scripts see it: standard output, standard error, exit code.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

const GOOD: &str = "\
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example-org, namespace: dns}
spec:
  domainName: example.org.
  delegations: [{records: [{pattern: '*'}]}]
---
apiVersion: v1
kind: Namespace
metadata: {name: dns}
";

const BAD: &str = "\
# a comment first

apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: web}
spec:
  domainName: www
  domainname: typo
  type: A
  ttl: 4294967295
  rdata: 300.0.0.1
---
apiVersion: [
---
just: data
";

fn zonewright(args: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .args(args)
        .env_remove("ZONEWRIGHT_OUTPUT")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(stdin.as_bytes())
        .expect("it reads or ends");
    child.wait_with_output().expect("it ends")
}

#[track_caller]
fn check(args: &[&str], stdin: &str, code: i32) -> String {
    let output = zonewright(args, stdin);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("output is text")
}

#[test]
fn good_manifests_pass() {
    assert_eq!(
        check(&["check", "-f", "-"], GOOD, 0),
        "1 checked, 1 of other kinds left alone, no problems\n"
    );
}

#[test]
fn every_problem_of_every_document_is_shown_with_its_place() {
    let text = check(&["check", "-f", "-"], BAD, 1);
    let lines: Vec<&str> = text.lines().collect();
    for expected in [
        "-:3: Record web/www: spec.domainname: unknown field",
        "-:3: Record web/www: spec.domainName: must end in a dot, or spec.zoneRef must name",
        "-:3: Record web/www: spec.ttl: ",
        "-:3: Record web/www: spec.rdata: A needs an IPv4 address such as 192.0.2.1",
        "-:13: ",
        "-:15: no apiVersion and kind: not a Kubernetes object",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(expected)),
            "{expected} is not in\n{text}"
        );
    }
    assert!(text.ends_with("1 checked, 6 problems\n"), "{text}");
}

#[test]
fn problems_are_data_with_json_output() {
    for args in [
        ["-o", "json", "check", "-f", "-"],
        ["check", "-f", "-", "-o", "json"],
    ] {
        let report: serde_json::Value = serde_json::from_str(&check(&args, BAD, 1)).expect("JSON");
        assert_eq!(report["checked"], 1);
        let problems = report["problems"].as_array().expect("a list");
        let rdata = problems
            .iter()
            .find(|problem| problem["field"] == "spec.rdata")
            .expect("found");
        assert_eq!(rdata["value"], "300.0.0.1");
        assert_eq!(
            (&rdata["kind"], &rdata["namespace"], &rdata["name"]),
            (&"Record".into(), &"web".into(), &"www".into())
        );
    }
}

#[test]
fn folders_are_read_whole_and_in_order() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("deep")).expect("created");
    fs::write(folder.path().join("deep/a.yml"), GOOD).expect("written");
    fs::write(folder.path().join("b.yaml"), GOOD).expect("written");
    fs::write(folder.path().join("notes.txt"), "not a manifest").expect("written");
    let path = folder.path().to_str().expect("text");
    assert_eq!(
        check(&["check", "-f", path], "", 0),
        "2 checked, 2 of other kinds left alone, no problems\n"
    );
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let output = zonewright(&["check", "-f", "/nowhere.yaml"], "");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("error: cannot read /nowhere.yaml: "),
        "{stderr}"
    );
}

#[test]
fn wrong_usage_is_told_from_failure() {
    for args in [
        &["check"][..],
        &["nonsense"],
        &["check", "--nonsense"],
        &["crds", "-o", "xml"],
        &[],
    ] {
        assert_eq!(zonewright(args, "").status.code(), Some(2), "{args:?}");
    }
}

/// K2: one definition per kind, each printed as a document of its own.
#[test]
fn crds_prints_a_definition_for_every_kind() {
    let yaml = check(&["crds"], "", 0);
    let definitions: Vec<serde_json::Value> = serde_saphyr::from_multiple(&yaml).expect("YAML");
    let names: Vec<&str> = definitions
        .iter()
        .filter_map(|crd| crd["metadata"]["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "zones.kubi.zone",
            "records.kubi.zone",
            "zoneslices.kubi.zone",
            "dnsrecords.kuadrant.io",
            "dnshealthcheckprobes.kuadrant.io",
            "dnspolicies.kuadrant.io",
            "servicerecords.connectivity.tanzu.vmware.com",
            "domainverifications.kuadrant.dev",
        ]
    );
}

#[test]
fn version_and_completions_are_printed() {
    assert_eq!(
        check(&["version"], "", 0),
        format!("zonewright {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(
        check(&["version", "-o", "json"], "", 0),
        format!("{{\"version\":\"{}\"}}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(check(&["completions", "bash"], "", 0).contains("zonewright"));
}
