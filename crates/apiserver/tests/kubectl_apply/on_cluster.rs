//! `kubectl apply --server-side` prints the same, whichever API it speaks to.

use std::net::TcpListener;

use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use tempfile::TempDir;
use testkit::control_plane::{self, Identity, Kubectl};

/// One command, and what it is given to read.
struct Step {
    arguments: &'static str,
    input: String,
}

fn step(arguments: &'static str, input: impl Into<String>) -> Step {
    let input = input.into();
    Step { arguments, input }
}

/// The embedded API with a door for kubectl. It is there as long as the value is.
struct Embedded {
    _apiserver: Apiserver,
    _folder: TempDir,
    kubectl: Kubectl,
}

impl Embedded {
    async fn open() -> Self {
        let mut apiserver = Apiserver::open(Options::default())
            .await
            .expect("an API without a disk opens");
        let folder = TempDir::new().expect("there is room for a file");
        let path = folder.path().join("kubeconfig");
        let kubeconfig = Kubeconfig {
            path: path.clone(),
            credential: AdminCredential::Token,
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        apiserver
            .listen(listener, kubeconfig)
            .expect("a port that is bound can be listened on");
        let program = control_plane::build::programs()
            .expect("they can be built")
            .kubectl();
        let kubectl = Kubectl::new(program, path, folder.path().join("cache"));
        Self {
            _apiserver: apiserver,
            _folder: folder,
            kubectl,
        }
    }
}

/// What the commands print, one after the other, in a namespace that both sides call the same.
async fn printed(kubectl: &Kubectl, namespace: &str, steps: &[Step]) -> Vec<String> {
    let made = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}");
    let made = kubectl.run_with_input(["create", "-f", "-"], &made).await;
    made.expect("kubectl runs")
        .success()
        .expect("there is no such namespace yet");
    let mut all = Vec::new();
    for Step { arguments, input } in steps {
        let words = arguments.split(' ').chain(["-n", namespace]);
        let done = kubectl
            .run_with_input(words, input)
            .await
            .expect("kubectl runs");
        let mut lines: Vec<&str> = done.stdout.lines().collect();
        if arguments.contains("managedFields") {
            // They are in the order of their times, which are those of two clocks.
            lines.sort_unstable();
        }
        all.push(format!(
            "$ kubectl {arguments}\n{:?}\n{}\n{}",
            done.code,
            lines.join("\n"),
            done.stderr
        ));
    }
    all
}

/// Both sides print the same, and these words are in it.
async fn check(namespace: &str, steps: Vec<Step>, told: &[&str]) {
    let embedded = Embedded::open().await;
    let real = control_plane::shared().await.kubectl(Identity::Admin);
    let ours = printed(&embedded.kubectl, namespace, &steps).await;
    let theirs = printed(&real, namespace, &steps).await;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    let all = theirs.join("\n");
    for words in told {
        assert!(all.contains(words), "{words} is not in\n{all}");
    }
}

fn config_map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{data}\n")
}

const OWNERS: &str = "get configmap a --show-managed-fields -o \
                      jsonpath={range.metadata.managedFields[*]}{.manager}{.operation}{.fieldsV1}{\"\\n\"}{end}";

#[tokio::test]
async fn a_manifest_is_applied_with_conflicts_and_force() {
    let steps = vec![
        step("apply --server-side -f -", config_map("a", "  k: one")),
        step("apply --server-side -f -", config_map("a", "  k: one")),
        step(
            "apply --server-side --field-manager=other -f -",
            config_map("a", "  k: two\n  l: two"),
        ),
        step(
            "apply --server-side --field-manager=other --force-conflicts -f -",
            config_map("a", "  k: two\n  l: two"),
        ),
        step(OWNERS, ""),
        step("apply --server-side -f -", config_map("a", "  k: one")),
        step("apply --server-side -f -", config_map("a", "  m: one")),
        step(
            "apply --server-side --dry-run=server -o jsonpath={.data} -f -",
            config_map("a", "  o: one"),
        ),
        step("diff --server-side -f -", config_map("a", "  m: one")),
        step("apply --server-side -f -", config_map("a", "  m: 1")),
        step(
            "apply --server-side -f -",
            config_map("a", "  m: one\nwhat: is this"),
        ),
        step(
            "apply --server-side --validate=false -f -",
            config_map("a", "  m: one\nwhat: is this"),
        ),
        step("get configmap a -o jsonpath={.data}", ""),
        step("delete configmap a", ""),
    ];
    let told = [
        "configmap/a serverside-applied",
        "Apply failed with 1 conflict: conflict with \"kubectl\": .data.k",
        "--force-conflicts",
        "{\"k\":\"two\",\"l\":\"two\",\"o\":\"one\"}",
    ];
    check("kubectl-applies", steps, &told).await;
}

#[tokio::test]
async fn who_applied_on_the_client_goes_on_on_the_server() {
    let steps = vec![
        step("apply -f -", config_map("a", "  k: one\n  l: one")),
        step(OWNERS, ""),
        step("apply --server-side -f -", config_map("a", "  k: two")),
        step(OWNERS, ""),
        step("get configmap a -o jsonpath={.data}", ""),
        step("apply view-last-applied configmap a", ""),
        step("apply -f -", config_map("a", "  k: three")),
        step("apply --server-side -f -", config_map("a", "  k: three")),
        step("apply --server-side -f -", config_map("b", "  k: one")),
        step("apply -f -", config_map("b", "  k: two")),
        step("label configmap a x=y", ""),
        step("annotate configmap a x=y", ""),
        step(OWNERS, ""),
    ];
    let told = ["configmap/a configured", "configmap/a serverside-applied"];
    check("kubectl-migrates", steps, &told).await;
}

#[tokio::test]
async fn definitions_and_their_objects_are_applied() {
    let definition = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.kubectl.example.dev}
spec:
  group: kubectl.example.dev
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {set: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}
          status: {type: object, properties: {ready: {type: boolean}}}
";
    let thing = |set: &str| {
        format!(
            "apiVersion: kubectl.example.dev/v1\nkind: Thing\nmetadata: {{name: a}}\nspec: {{set: {set}}}\nstatus: {{ready: true}}\n"
        )
    };
    let get = "get things a -o jsonpath={.spec.set}{.status}";
    let steps = vec![
        step("apply --server-side -f -", definition),
        step(
            "wait --for=condition=Established crd/things.kubectl.example.dev",
            "",
        ),
        step("apply --server-side -f -", thing("[a, b]")),
        step(
            "apply --server-side --field-manager=two -f -",
            thing("[c, a]"),
        ),
        step(get, ""),
        step(
            "apply --server-side --subresource=status -f -",
            thing("[d]"),
        ),
        step(get, ""),
        step("apply --server-side -f -", thing("[b]")),
        step(get, ""),
        step("delete crd things.kubectl.example.dev", ""),
    ];
    let told = [
        "thing.kubectl.example.dev/a serverside-applied",
        "[\"c\",\"a\",\"b\"]{\"ready\":true}",
    ];
    check("kubectl-defines", steps, &told).await;
}
