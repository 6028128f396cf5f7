//! The same with kubectl, as typed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use testkit::control_plane::build;

use super::{SOON, Up, all_examples, examples, objects};

fn kubectl(up: &Up, args: &[&str]) -> Output {
    let programs = build::programs().unwrap_or_else(|error| panic!("no control plane: {error}"));
    let mut command = Command::new(programs.kubectl());
    command
        .arg("--kubeconfig")
        .arg(up.running.ready["kubeconfig"].as_str().unwrap())
        .arg("--cache-dir")
        .arg(up.directory.path().join("kubectl-cache"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.output().unwrap()
}

/// The commands that the comments of an example tell its reader to type, without the `kubectl` before them.
fn commands(example: &str) -> Vec<Vec<String>> {
    let files = fs::read_dir(examples().join(example)).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let commands = texts.flat_map(|text| {
        let typed = text
            .lines()
            .filter_map(|line| line.strip_prefix("#   kubectl "));
        let typed = typed.map(|line| line.split_whitespace().map(str::to_owned).collect());
        typed.collect::<Vec<Vec<String>>>()
    });
    commands.collect()
}

/// P6.
#[tokio::test]
async fn kubectl_applies_every_example_and_deletes_it_to_the_end() {
    let up = Up::start().await;
    for example in all_examples() {
        let directory = examples().join(&example);
        let directory = directory.to_str().unwrap();
        let applied = kubectl(&up, &["apply", "-f", directory]);
        let stderr = String::from_utf8_lossy(&applied.stderr);
        assert!(applied.status.success(), "{example}: {stderr}");
        for command in commands(&example) {
            let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            let done = kubectl(&up, &arguments);
            let stderr = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{example}: {command:?}: {stderr}");
        }
        up.until_answered(&example).await;

        let timeout = format!("--timeout={}s", SOON.as_secs());
        let deleted = kubectl(&up, &["delete", "-f", directory, &timeout]);
        let stderr = String::from_utf8_lossy(&deleted.stderr);
        // What has gone with its namespace already is told, and is no failure of ours.
        let told = stderr.lines().filter(|line| !line.contains("(NotFound)"));
        let told: Vec<&str> = told
            .filter(|line| line.starts_with("Error") || line.starts_with("error"))
            .collect();
        assert!(told.is_empty(), "{example}: {told:?}");
        up.until_gone(&objects(&example)).await;
        up.until_not_answered(&example).await;
    }
}
