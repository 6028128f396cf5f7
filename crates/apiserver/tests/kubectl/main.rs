//! kubectl does not notice.
//!
//! The command lines in `conformance/kubectl` are run against the embedded API, over its TLS listener, and
//! against kube-apiserver. Exit code, output and complaints are made comparable and compared. A difference that
//! `conformance/kubectl.toml` does not list is an error, and so is a line there that accepts none.
//!
//! `KUBECTL_ONLY=apply` runs the scripts whose place starts with that, and prints what kubectl said to the real API:
//! the way to write one. `KUBECTL_RELEASE=1.28` names the older release.

mod normal;
mod rules;
mod script;
mod side;

use std::env;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use testkit::control_plane::{ControlPlane, Identity, Kubectl};

use rules::{Difference, Rules};
use script::Script;
use side::{Outcome, Side};

mod on_cluster {
    use std::env;

    use testkit::control_plane::{self, ControlPlane, Identity, clients};
    use tokio::task::spawn_blocking;

    use super::{Strictness, compare};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn kubectl_of_the_same_release_sees_no_difference() {
        let plane = control_plane::shared().await;
        let program = plane.kubectl(Identity::Admin).program().to_owned();
        compare(&program, plane, Strictness::RulesMustApply).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn kubectl_of_an_older_release_sees_no_difference() {
        let turn = env::var(clients::KUBECTL_TURN)
            .ok()
            .and_then(|turn| turn.parse().ok());
        let program = spawn_blocking(move || clients::older_kubectl(turn.unwrap_or_default()));
        let program = program.await.expect("building does not panic");
        let program = program.unwrap_or_else(|error| panic!("no clients: {error}"));
        // Definitions are for a whole cluster, and both programs make the same ones.
        let plane = ControlPlane::start().await;
        let plane = plane.unwrap_or_else(|error| panic!("no control plane: {error}"));
        compare(&program, &plane, Strictness::RulesMayApply).await;
    }
}

/// Whether a rule that accepts nothing is an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Strictness {
    RulesMustApply,
    /// Another release may not print what a rule is about.
    RulesMayApply,
}

async fn compare(program: &Path, plane: &ControlPlane, strictness: Strictness) {
    let rules =
        Rules::read(&conformance().join("kubectl.toml")).unwrap_or_else(|why| panic!("{why}"));
    let folder = tempfile::tempdir().expect("there is room for files");
    let (_embedded, ours) = embedded(program, folder.path()).await;
    let theirs = real(program, plane, folder.path());
    tokio::join!(ours.install(), theirs.install());
    let mut problems = Vec::new();
    for script in scripts() {
        let namespace = &script.place;
        let (ours, theirs) =
            tokio::join!(ours.run(&script, namespace), theirs.run(&script, namespace));
        if only().is_some() {
            print(&script, &theirs);
        }
        let found = differences(&script, &ours, &theirs);
        let found = found.iter().filter(|difference| !rules.accept(difference));
        problems.extend(found.map(ToString::to_string));
    }
    if strictness == Strictness::RulesMustApply && only().is_none() {
        problems.extend(rules.unused());
    }
    let count = problems.len();
    assert!(
        count == 0,
        "{count} problems\n\n{}\n",
        problems.join("\n\n")
    );
}

/// The embedded API behind its listener. It lasts as long as the first value.
async fn embedded(program: &Path, folder: &Path) -> (Apiserver, Side) {
    let mut embedded = Apiserver::open(Options::default())
        .await
        .expect("an API without a disk opens");
    let path = folder.join("kubeconfig");
    let kubeconfig = Kubeconfig {
        path: path.clone(),
        credential: AdminCredential::Token,
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    embedded
        .listen(listener, kubeconfig)
        .expect("a port that is bound can be listened on");
    let kubectl = Kubectl::new(program.to_owned(), path, folder.join("cache"));
    let side = Side::new(embedded.client(), kubectl, folder.join("ours"));
    (embedded, side)
}

fn real(program: &Path, plane: &ControlPlane, folder: &Path) -> Side {
    let kubeconfig = plane.kubeconfig(Identity::Admin);
    let kubectl = Kubectl::new(program.to_owned(), kubeconfig, folder.join("real-cache"));
    Side::new(
        plane.client(Identity::Admin),
        kubectl,
        folder.join("theirs"),
    )
}

fn differences(script: &Script, ours: &[Outcome], theirs: &[Outcome]) -> Vec<Difference> {
    let pairs = ours.iter().zip(theirs);
    pairs
        .flat_map(|(ours, theirs)| {
            let code = |outcome: &Outcome| outcome.code.clone();
            [
                ("exit code", code(ours), code(theirs)),
                ("output", ours.output.clone(), theirs.output.clone()),
                (
                    "complaints",
                    ours.complaints.clone(),
                    theirs.complaints.clone(),
                ),
            ]
            .into_iter()
            .filter_map(|(place, one, other)| {
                let command = (script.place.as_str(), ours.command.as_str());
                Difference::between(&one, &other, command)
                    .map(|difference| difference.in_its(place))
            })
            .collect::<Vec<_>>()
        })
        .collect()
}

fn print(script: &Script, outcomes: &[Outcome]) {
    println!("{}: {}", script.place, script.name);
    for outcome in outcomes {
        let Outcome {
            command,
            code,
            output,
            complaints,
        } = outcome;
        println!("$ kubectl {command}\n[{code}]\n{output}{complaints}");
    }
}

fn scripts() -> Vec<Script> {
    let folder = conformance().join("kubectl");
    let mut scripts = script::read_folder(&folder).unwrap_or_else(|why| panic!("{why}"));
    scripts.retain(|script| only().is_none_or(|only| script.place.starts_with(&only)));
    assert!(!scripts.is_empty(), "no script has such a place");
    scripts
}

fn only() -> Option<String> {
    env::var("KUBECTL_ONLY").ok()
}

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}
