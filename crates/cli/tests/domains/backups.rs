//! What a backup keeps of custom domains.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::hand::{hosts, ingress, only_host};
use crate::stage::Up;

const HOST: &str = "www.example.com";

fn zonewright(directory: &Path, words: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    let output = command.current_dir(directory).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
}

/// V4, V6: the key is among what is kept, so a token that stands in DNS still proves its domain, and what was proven is.
#[tokio::test]
async fn tokens_and_proofs_outlive_a_restore() {
    let directory = TempDir::new().unwrap();
    let place = directory.path();
    let up = Up::start_in(place, "before").await;
    let tenant = up.somebody("tenant");
    for (name, host) in [("web", HOST), ("late", "late.example.com")] {
        only_host(&tenant.create("shop", &ingress(name, &[host])).await);
    }
    tenant.prove(HOST, "web").await;
    let waiting = tenant.txt_record("shop", "late.example.com").await;
    zonewright(place, &["backup", "all.jsonl", "--data", "before"]);
    drop(up);

    zonewright(place, &["restore", "all.jsonl", "--data", "after"]);
    let up = Up::start_in(place, "after").await;
    let tenant = up.somebody("tenant");
    let again = tenant.txt_record("shop", "late.example.com").await;
    assert_eq!(again, waiting);
    let more = tenant.create("shop", &ingress("more", &[HOST])).await;
    assert_eq!(hosts(&more), [HOST], "it is proven");
}
