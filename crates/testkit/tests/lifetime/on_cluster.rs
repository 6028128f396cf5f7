//! A control plane lives exactly as long as its owner, however the owner ends.

#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests call may panic like tests"
)]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use testkit::control_plane::{ControlPlane, Identity};
use testkit::eventually;
use tokio::runtime::Builder;

/// Longer than any of this takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

/// Set for the process that holds a control plane until it is killed.
const HOLD: &str = "ZONEWRIGHT_TESTKIT_HOLD";

#[tokio::test]
async fn two_run_side_by_side_and_each_stops_when_it_is_dropped() {
    let (first, second) = tokio::join!(ControlPlane::start(), ControlPlane::start());
    let (first, second) = (first.unwrap(), second.unwrap());
    let namespace = testkit::namespace(&first.client(Identity::Admin), "first")
        .await
        .unwrap();
    let looked = second
        .kubectl(Identity::Admin)
        .run(["get", "namespace", &namespace])
        .await;
    assert_eq!(looked.unwrap().code, Some(1), "they do not share a store");

    let (directory, url) = (first.logs().to_owned(), first.url().to_owned());
    assert_eq!(processes_of(&directory).len(), 3);
    drop(first);
    assert_eq!(processes_of(&directory), [] as [String; 0]);
    assert!(!directory.exists());
    assert!(connect(&url).is_err());
    second
        .client(Identity::Admin)
        .apiserver_version()
        .await
        .unwrap();
}

#[test]
fn a_panic_stops_it_and_keeps_the_logs() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let owner = thread::spawn(move || {
        let plane = block_on(ControlPlane::start()).expect("no control plane");
        sender.send(plane.logs().to_owned()).unwrap();
        panic!("on purpose");
    });
    assert!(owner.join().is_err());
    let directory: PathBuf = receiver.recv().unwrap();
    assert_eq!(processes_of(&directory), [] as [String; 0]);
    for name in [
        "etcd.log",
        "kube-apiserver.log",
        "kube-controller-manager.log",
    ] {
        assert!(
            fs::metadata(directory.join(name)).unwrap().len() > 0,
            "{name}"
        );
    }
}

#[test]
fn it_outlives_the_thread_that_started_it() {
    let plane = thread::spawn(|| block_on(ControlPlane::start()).expect("no control plane"))
        .join()
        .unwrap();
    block_on(async {
        let admin = plane.client(Identity::Admin);
        admin.apiserver_version().await.unwrap();
        assert_eq!(processes_of(plane.logs()).len(), 3);
    });
}

/// The test runs itself once more as the process to be killed.
#[test]
fn it_does_not_outlive_a_killed_process() {
    if env::var_os(HOLD).is_some() {
        hold_until_killed();
    }
    let mut holder = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "on_cluster::it_does_not_outlive_a_killed_process",
            "--nocapture",
        ])
        .env(HOLD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let told = lines.find_map(|line| line.strip_prefix("holding ").map(PathBuf::from));
    let directory = told.expect("the holder starts a control plane");
    assert_eq!(processes_of(&directory).len(), 3);

    holder.kill().unwrap();
    holder.wait().unwrap();
    let gone = async || match processes_of(&directory) {
        none if none.is_empty() => Ok(()),
        left => Err(left.join("\n")),
    };
    block_on(eventually(SOON, "the children to go", gone)).unwrap();

    // Whoever starts next tidies up, but for the logs.
    let _next = block_on(ControlPlane::start()).expect("no control plane");
    assert!(directory.join("etcd.log").exists());
    assert!(!directory.join("data").exists());
}

fn hold_until_killed() -> ! {
    let plane = block_on(ControlPlane::start()).expect("no control plane");
    println!("\nholding {}", plane.logs().display());
    loop {
        thread::park();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// The command lines of all processes that work in `directory`.
fn processes_of(directory: &Path) -> Vec<String> {
    let works_there = |process: &Path| {
        fs::read_link(process.join("cwd")).is_ok_and(|working| working == directory)
    };
    let processes = fs::read_dir("/proc")
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let ours = processes.filter(|process| works_there(process));
    ours.map(|process| fs::read_to_string(process.join("cmdline")).unwrap_or_default())
        .collect()
}

fn connect(url: &str) -> std::io::Result<TcpStream> {
    let address: SocketAddr = url.strip_prefix("https://").unwrap().parse().unwrap();
    TcpStream::connect(address)
}
