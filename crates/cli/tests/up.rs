//! `zonewright up`, `backup` and `restore` as scripts see them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// More than anything here takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

/// Runs to the end, in a directory of its own and without variables that would change the outcome.
fn zonewright(directory: &Path, args: &[&str]) -> Output {
    let mut command = testkit::mortal(Path::new(env!("CARGO_BIN_EXE_zonewright")));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ZONEWRIGHT_") {
            command.env_remove(name);
        }
    }
    command
        .env_remove("KUBECONFIG")
        .args(args)
        .current_dir(directory);
    command.output().expect("the binary was built")
}

/// What standard error says when it ends with `code`.
#[track_caller]
fn check(args: &[&str], code: i32) -> String {
    let directory = TempDir::new().expect("a temporary directory");
    let output = zonewright(directory.path(), args);
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "results only");
    stderr
}

#[test]
fn wrong_flags_are_wrong_usage() {
    for (flags, told) in [
        (
            &["--valid-for", "14"][..],
            "every number of a duration needs a unit",
        ),
        (
            &["--allow-address", "10.0.0.1/8"],
            "the range is 10.0.0.0/8",
        ),
        (&["--nonsense"], "--nonsense"),
    ] {
        let stderr = check(&[&["up"], flags].concat(), 2);
        assert!(stderr.contains(told), "{stderr}");
    }
    check(&["backup"], 2);
    check(&["restore"], 2);
}

#[test]
fn a_port_that_is_taken_is_named_with_the_flag_to_change() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert_eq!(
        check(&["up", "--api", &address], 1),
        format!(
            "error: cannot listen on {address}: another process has the port; stop it, or choose another with --api\n"
        )
    );
}

#[test]
fn what_is_hardly_meant_is_a_warning_in_the_log() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let told = "WARN zonewright: --valid-for is not shorter than --requeue-time";
    let stderr = check(&["up", "--api", &address, "--valid-for", "15m"], 1);
    assert!(stderr.contains(told), "{stderr}");
    let stderr = check(&["up", "--api", &address], 1);
    assert!(!stderr.contains("--valid-for"), "{stderr}");
}

#[test]
fn an_address_of_another_machine_is_named_with_the_flag_to_change() {
    assert_eq!(
        check(&["up", "--api", "192.0.2.1:7443"], 1),
        "error: cannot listen on 192.0.2.1:7443: this machine has no such address; choose another with --api\n"
    );
}

#[test]
fn a_directory_that_cannot_be_made_is_named_with_the_flag_to_change() {
    let stderr = check(
        &[&["up", "--data", "/dev/null/data"], &FREE_PORTS[..]].concat(),
        1,
    );
    let told = "error: cannot create the directory /dev/null/data; choose another with --data: ";
    assert!(stderr.starts_with(told), "{stderr}");
}

/// N6.
#[test]
fn a_file_that_is_no_geo_database_is_named_with_the_flag_to_change() {
    let directory = TempDir::new().unwrap();
    let owners = directory.path().join("asn.mmdb");
    fs::write(&owners, testkit::geo_database::owners()).unwrap();
    let owners = owners.to_str().unwrap();
    for (file, why) in [
        ("/nowhere.mmdb", "the file cannot be read"),
        ("/dev/null", "the file is no database in MaxMind's format"),
        (owners, "knows no countries or continents"),
    ] {
        let stderr = check(
            &[&["up", "--geo-database", file], &FREE_PORTS[..]].concat(),
            1,
        );
        let told = format!(
            "error: cannot use {file} to find out where clients are; choose another with --geo-database: "
        );
        assert!(
            stderr.starts_with(&told) && stderr.contains(why),
            "{stderr}"
        );
    }
}

#[test]
fn a_manifest_that_is_not_there_stops_everything_before_it_begins() {
    let directory = TempDir::new().unwrap();
    let output = zonewright(
        directory.path(),
        &[&["up", "-f", "nowhere.yaml"], &FREE_PORTS[..]].concat(),
    );
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("error: cannot read nowhere.yaml: "),
        "{stderr}"
    );
    assert_eq!(
        fs::read_dir(directory.path()).unwrap().count(),
        0,
        "nothing was made"
    );
}

#[test]
fn a_backup_that_cannot_be_written_or_read_is_named() {
    let stderr = check(&["backup", "/nowhere/backup"], 1);
    assert!(
        stderr.starts_with("error: no backup in /nowhere/backup: cannot write to /nowhere: "),
        "{stderr}"
    );
    let stderr = check(&["restore", "/nowhere/backup"], 1);
    assert!(
        stderr.starts_with("error: cannot read /nowhere/backup: "),
        "{stderr}"
    );
}

/// Tests run side by side.
const FREE_PORTS: [&str; 6] = [
    "--api",
    "127.0.0.1:0",
    "--dns",
    "127.0.0.1:0",
    "--http",
    "127.0.0.1:0",
];

/// A process that has said it is ready.
struct Running {
    child: Child,
    ready: Value,
}

impl Running {
    fn start(directory: &Path, flags: &[&str]) -> Self {
        let mut command = testkit::mortal(Path::new(env!("CARGO_BIN_EXE_zonewright")));
        command
            .args(["up", "-o", "json"])
            .args(FREE_PORTS)
            .args(flags)
            .current_dir(directory);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("text");
        let ready = serde_json::from_str(&line).expect("one line of JSON");
        Self { child, ready }
    }

    /// Stops it as a service manager would; the time it took.
    fn stop(mut self, signal: &str) -> Duration {
        let began = Instant::now();
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .expect("kill runs")
                .success()
        );
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
        began.elapsed()
    }
}

#[test]
fn one_line_tells_where_everything_is() {
    let directory = TempDir::new().unwrap();
    let running = Running::start(directory.path(), &[]);
    let kubeconfig = directory.path().join("zonewright-data/kubeconfig");
    let ready = &running.ready;
    assert_eq!(ready["event"], "ready");
    for address in [&ready["api"], &ready["dns"][0], &ready["http"]] {
        let address: SocketAddr = address.as_str().unwrap().parse().unwrap();
        assert_ne!(address.port(), 0);
    }
    assert_eq!(ready["kubeconfig"], kubeconfig.to_str().unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&kubeconfig), mode(kubeconfig.parent().unwrap())),
        (0o600, 0o700)
    );
    assert!(running.stop("-TERM") < Duration::from_secs(5));
}

#[test]
fn an_ephemeral_run_leaves_nothing_behind() {
    let directory = TempDir::new().unwrap();
    let running = Running::start(directory.path(), &["--ephemeral"]);
    let kubeconfig = running.ready["kubeconfig"].as_str().unwrap().to_owned();
    assert!(Path::new(&kubeconfig).is_file());
    running.stop("-INT");
    assert!(!Path::new(&kubeconfig).parent().unwrap().exists());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

impl Running {
    /// What the API answers to a request that has to succeed.
    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = runtime().block_on(self.answer(method, path, body));
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Waits until what is at the path is so.
    #[track_caller]
    fn until(&self, path: &str, what: &str, holds: impl Fn(Result<&Value, u16>) -> bool) {
        let seen = testkit::eventually(SOON, what, async || {
            let seen = self.answer("GET", path, None).await;
            let holds = match &seen {
                Ok(object) => holds(Ok(object)),
                Err(kube::Error::Api(status)) => holds(Err(status.code)),
                Err(_) => false,
            };
            if holds {
                Ok(())
            } else {
                Err(format!("{seen:?}"))
            }
        });
        runtime().block_on(seen).expect(path);
    }

    async fn answer(&self, method: &str, path: &str, body: Option<&Value>) -> kube::Result<Value> {
        let kubeconfig = self.ready["kubeconfig"].as_str().expect("it runs");
        let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("it is whole");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let client = Client::try_from(config.expect("it is whole"))?;
        let media_type = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = http::Request::builder().method(method).uri(path);
        let request = request
            .header("content-type", media_type)
            .body(body.into_bytes());
        client.request(request.expect("a request")).await
    }
}

fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
}

/// Whether an object is there and says so about itself.
fn says(object: Result<&Value, u16>, condition: &str, status: &str) -> bool {
    let conditions = object
        .ok()
        .and_then(|it| it["status"]["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == condition && it["status"] == status)
}

/// Where Secrets are.
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

/// O1.
#[test]
fn the_quickstart_answers_once_it_says_that_it_is_ready() {
    let directory = TempDir::new().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart");
    let running = Running::start(directory.path(), &["-f", examples.to_str().unwrap()]);
    let server = format!("@{}", running.ready["dns"][0].as_str().unwrap());
    for (question, answer) in [
        (["www.example.org", "A"], "192.0.2.80"),
        (["any.dev.example.org", "AAAA"], "2001:db8::80"),
        (["example.org", "MX"], "10 mx.example.net."),
        (["chat.team.example.org", "A"], "192.0.2.90"),
        // P12: a DNSRecord, published by the zone of this cluster.
        (["app.dev.example.org", "A"], "192.0.2.82"),
        (["shop.example.org", "A"], "NXDOMAIN"),
    ] {
        let output = zonewright(
            directory.path(),
            &[&["query", &server], &question[..]].concat(),
        );
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains(answer), "{question:?}: {shown}");
    }
    let path = "/apis/kubi.zone/v1alpha1/namespaces/web/records/shop";
    let refused = running.ask("GET", path, None).to_string();
    assert!(refused.contains(r#""reason":"NotDelegated""#), "{refused}");
    running.stop("-TERM");
}

/// D1, D4, D5, O1.
#[test]
fn the_gateway_of_the_example_is_answered_once_it_says_that_it_is_ready() {
    let directory = TempDir::new().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
    let running = Running::start(directory.path(), &["-f", examples.to_str().unwrap()]);
    let server = format!("@{}", running.ready["dns"][0].as_str().unwrap());
    for (question, answer) in [
        (["shop.apps.example.org", "A"], "192.0.2.80"),
        (["shop.apps.example.org", "AAAA"], "2001:db8::80"),
        (["any.tenants.apps.example.org", "A"], "192.0.2.80"),
        (["later.apps.example.org", "A"], "NXDOMAIN"),
    ] {
        let output = zonewright(
            directory.path(),
            &[&["query", &server], &question[..]].concat(),
        );
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains(answer), "{question:?}: {shown}");
        assert!(!shown.contains("10.0.0.80"), "excluded: {shown}");
    }
    let policy = "/apis/kuadrant.io/v1/namespaces/shop/dnspolicies/public";
    running.until(policy, "the policy to be ready", |policy| {
        says(policy, "Ready", "True")
    });
    let path = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways/public";
    let gateway = running.ask("GET", path, None).to_string();
    assert!(
        gateway.contains("Object affected by DNSPolicy [shop/public]"),
        "{gateway}"
    );
    running.stop("-TERM");
}

/// S1, S2, S8, S9, O1.
#[test]
fn the_services_of_the_example_are_answered_until_they_are_exported_no_more() {
    let directory = TempDir::new().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/publishing");
    let running = Running::start(directory.path(), &["-f", examples.to_str().unwrap()]);
    let server = format!("@{}", running.ready["dns"][0].as_str().unwrap());
    let check = |host: &str, rtype: &str, answer: &str| {
        let output = zonewright(directory.path(), &["query", &server, host, rtype]);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains(answer), "{host} {rtype}: {shown}");
    };
    check("harbor.apps.example.org", "A", "192.0.2.10");
    check("cart.apps.example.org", "A", "192.0.2.20");
    check("cart.apps.example.org", "AAAA", "2001:db8::20");
    check("mail.apps.example.org", "CNAME", "lb-1.cloud.example.net.");
    let record = "/apis/connectivity.tanzu.vmware.com/v1alpha1/namespaces/cross-cluster-connectivity/servicerecords/harbor.apps.example.org";
    running.until(record, "the host to be published", |record| {
        says(record, "Published", "True")
    });
    let proxy = "/apis/projectcontour.io/v1/namespaces/shop/httpproxies/harbor";
    let export = json!({ "connectivity.tanzu.vmware.com/export": null });
    let unlabel = json!({ "metadata": { "labels": export } });
    running.ask("PATCH", proxy, Some(&unlabel));
    running.until(record, "the ServiceRecord to go", |record| {
        record == Err(404)
    });
    let own = "/apis/kubi.zone/v1alpha1/namespaces/shop/records?labelSelector=zonewright.dev%2Fservice-record%3Dharbor.apps.example.org";
    running.until(own, "its Records to go", |list| {
        list.is_ok_and(|list| list["items"] == json!([]))
    });
    check("cart.apps.example.org", "A", "192.0.2.20");
    running.stop("-TERM");
}

mod on_cluster {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use tempfile::TempDir;
    use testkit::control_plane::build;

    use super::Running;

    const SECRET: &str =
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: one}}";

    impl Running {
        /// What kubectl prints on standard output, if it succeeds.
        #[track_caller]
        fn kubectl(&self, args: &[&str], stdin: &str) -> String {
            let programs =
                build::programs().unwrap_or_else(|error| panic!("no control plane: {error}"));
            let kubeconfig = PathBuf::from(self.ready["kubeconfig"].as_str().expect("it runs"));
            let cache = kubeconfig.with_file_name("kubectl-cache");
            let mut command = Command::new(programs.kubectl());
            command
                .arg("--kubeconfig")
                .arg(&kubeconfig)
                .arg("--cache-dir")
                .arg(cache)
                .args(args);
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it runs");
            child
                .stdin
                .take()
                .expect("it runs")
                .write_all(stdin.as_bytes())
                .expect("it runs");
            let output = child.wait_with_output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "kubectl {args:?}: {stderr}");
            String::from_utf8(output.stdout).expect("it runs")
        }
    }

    #[test]
    fn kubectl_works_with_what_up_serves() {
        let directory = TempDir::new().unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart");
        let running = Running::start(directory.path(), &["-f", examples.to_str().unwrap()]);
        assert!(
            running
                .kubectl(&["get", "zones,records", "-A"], "")
                .contains("example-org")
        );
        // A second time discovery comes out of kubectl's cache.
        assert!(
            running
                .kubectl(&["api-resources", "--categories=dns"], "")
                .contains("zones")
        );
        assert!(
            running
                .kubectl(&["api-resources", "--categories=dns"], "")
                .contains("zones")
        );
        assert_eq!(
            running.kubectl(&["apply", "-f", "-"], SECRET),
            "secret/s created\n"
        );
        let changed = SECRET.replace("one", "two");
        assert_eq!(
            running.kubectl(&["apply", "-f", "-"], &changed),
            "secret/s configured\n"
        );
        assert_eq!(
            running.kubectl(&["get", "secret", "s", "-o", "jsonpath={.data.a}"], ""),
            "dHdv"
        );
        assert_eq!(
            running.kubectl(&["label", "secret", "s", "a=b"], ""),
            "secret/s labeled\n"
        );
        assert!(
            running
                .kubectl(&["describe", "secret", "s"], "")
                .contains("a=b")
        );
        running.kubectl(&["delete", "secret", "s"], "");
        running.stop("-TERM");
    }
}

#[test]
fn what_up_keeps_is_there_the_next_time_and_in_a_backup() {
    let directory = TempDir::new().unwrap();
    let running = Running::start(directory.path(), &[]);
    let metadata = json!({ "name": "s" });
    let secret = json!({ "metadata": metadata, "stringData": { "a": "one" } });
    running.ask("POST", SECRETS, Some(&secret));
    let online = zonewright(directory.path(), &["backup", "online.jsonl"]);
    assert_eq!(
        online.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&online.stderr)
    );
    running.stop("-TERM");

    let offline = zonewright(directory.path(), &["backup", "offline.jsonl"]);
    assert_eq!(
        offline.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&offline.stderr)
    );
    for backup in ["online.jsonl", "offline.jsonl"] {
        let data = backup.trim_end_matches(".jsonl");
        let restored = zonewright(directory.path(), &["restore", backup, "--data", data]);
        assert_eq!(
            restored.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&restored.stderr)
        );
        let running = Running::start(directory.path(), &["--data", data]);
        let secret = running.ask("GET", &format!("{SECRETS}/s"), None);
        assert_eq!(secret["data"]["a"], "b25l");
        running.stop("-INT");
    }
}

#[test]
fn a_second_process_on_the_same_directory_is_refused() {
    let directory = TempDir::new().unwrap();
    let running = Running::start(directory.path(), &[]);
    let second = zonewright(directory.path(), &[&["up"], &FREE_PORTS[..]].concat());
    assert_eq!(second.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&second.stderr);
    assert!(
        stderr.contains(&format!("process {}", running.child.id())),
        "{stderr}"
    );
    running.stop("-TERM");
}
