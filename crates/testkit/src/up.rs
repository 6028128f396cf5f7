//! `zonewright up`, as the tests of the command line start it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;

use crate::process::mortal;

/// A running `zonewright up` that has said that it is ready. It goes when this value does, or the thread that started it.
pub struct Up {
    child: Child,
    /// What it said of itself then.
    pub ready: Value,
    /// Where its API is, as the administrator.
    pub config: Config,
}

impl Up {
    /// Starts it with what `say` adds, with an API and metrics on ports that are free, and waits until it is ready. None if it
    /// ends before: another process may have taken a port.
    pub async fn start(program: &Path, say: impl FnOnce(&mut Command)) -> Option<Up> {
        let mut command = mortal(program);
        command
            .args(["up", "-o", "json"])
            .args(["--api", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .stdout(Stdio::piped());
        say(&mut command);
        let mut child = command.spawn().expect("the program can be started");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was asked for as a pipe");
        let read = BufReader::new(stdout).read_line(&mut line);
        if read.expect("it writes UTF-8") == 0 {
            child.wait().expect("a child can be waited for");
            return None;
        }
        let ready: Value = serde_json::from_str(&line).expect("it speaks JSON");
        let kubeconfig = ready["kubeconfig"].as_str().unwrap_or_default();
        let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("it writes a kubeconfig");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        Some(Up {
            child,
            ready,
            config: config.expect("the kubeconfig is whole"),
        })
    }

    /// A client of its API.
    pub fn client(&self) -> Client {
        Client::try_from(self.config.clone()).expect("the kubeconfig can be used")
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
