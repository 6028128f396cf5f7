//! What a newcomer types on a real cluster: the definitions go in, and kubectl explains them.

use std::process::Command;

use testkit::control_plane::{self, Identity, Kubectl};

async fn kubectl_with_our_kinds() -> Kubectl {
    let kubectl = control_plane::shared().await.kubectl(Identity::Admin);
    let printed = Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .arg("crds")
        .output()
        .expect("it runs");
    let yaml = String::from_utf8(printed.stdout).expect("text");
    let applied = kubectl
        .run_with_input(["apply", "--server-side", "-f", "-"], &yaml)
        .await
        .expect("kubectl runs");
    assert_eq!(
        (applied.code, applied.stderr.as_str()),
        (Some(0), ""),
        "no error and no warning"
    );
    assert_eq!(
        applied.stdout.matches("serverside-applied").count(),
        8,
        "{}",
        applied.stdout
    );
    let kinds = [
        "wait",
        "--for=condition=Established",
        "--timeout=30s",
        "crd",
        "--all",
    ];
    kubectl
        .run(kinds)
        .await
        .expect("kubectl runs")
        .success()
        .expect("established");
    kubectl
}

async fn explain(kubectl: &Kubectl, field: &str) -> String {
    kubectl
        .run(["explain", field])
        .await
        .expect("kubectl runs")
        .success()
        .expect("explained")
}

/// K2: `kubectl explain` tells a newcomer what to write.
#[tokio::test]
async fn the_definitions_apply_without_a_warning_and_explain_themselves() {
    let kubectl = kubectl_with_our_kinds().await;
    let text = explain(&kubectl, "zone.spec.delegations").await;
    for part in [
        "Who may put names into this zone",
        "Example",
        "pattern",
        "namespaces",
        "records",
        "zones",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    for kind in [
        "record",
        "zoneslice",
        "dnsrecord",
        "dnspolicy",
        "dnshealthcheckprobe",
        "servicerecord",
        "domainverification",
    ] {
        let text = explain(&kubectl, &format!("{kind}.spec")).await;
        assert!(!text.contains("<no description>"), "{kind}\n{text}");
    }
}

/// K2: one word lists everything, and short names work.
#[tokio::test]
async fn all_kinds_are_found_by_category_and_short_name() {
    let kubectl = kubectl_with_our_kinds().await;
    let listed = kubectl
        .run(["api-resources", "--categories=dns", "--no-headers"])
        .await
        .expect("kubectl runs");
    let listed = listed.success().expect("listed");
    assert_eq!(listed.lines().count(), 8, "{listed}");
    for short in ["zn", "rec", "zs", "dnsr", "dnshcp", "dnsp", "svcrec", "dv"] {
        kubectl
            .run(["get", short])
            .await
            .expect("kubectl runs")
            .success()
            .expect(short);
    }
}
