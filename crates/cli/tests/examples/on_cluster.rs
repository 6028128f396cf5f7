//! The same with kubectl, as typed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use testkit::control_plane::build;

use super::{SOON, Up, all_examples, files, objects};

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

/// Types a command, which succeeds.
fn done(up: &Up, args: &[&str]) {
    let Output { status, stderr, .. } = kubectl(up, args);
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{args:?}: {stderr}");
}

/// The commands that the comments of an example tell its reader to type, without the `kubectl` before them.
fn commands(example: &str) -> Vec<Vec<String>> {
    let files = files(example).into_iter();
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
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
    for example in all_examples() {
        let up = Up::start(&example).await;
        let directory = format!("examples/{example}");
        done(&up, &["apply", "-f", &directory]);
        for command in commands(&example) {
            done(&up, &command.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let answers = up.answers_of(&example).await;
        up.until_answered(&answers).await;

        let timeout = format!("--timeout={}s", SOON.as_secs());
        let Output { stderr, .. } = kubectl(&up, &["delete", "-f", &directory, &timeout]);
        let stderr = String::from_utf8_lossy(&stderr);
        // What has gone with its namespace already is told, and is no failure of ours.
        let told = stderr.lines().filter(|line| !line.contains("(NotFound)"));
        let told: Vec<&str> = told.filter(|line| !line.starts_with("Warning:")).collect();
        assert!(told.is_empty(), "{example}: {told:?}");
        up.until_gone(&objects(&example)).await;
        up.until_not_answered(&answers).await;
    }
}
