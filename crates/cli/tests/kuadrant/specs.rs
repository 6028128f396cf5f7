//! The suite, run.

use std::env;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::control_plane::kuadrant::Suite;
use tokio::process::Command;
use tokio::time::timeout;

use crate::stage::{SECRET, ZONE};

/// The longest that the suite waits for something, twice.
const WITHIN: Duration = Duration::from_mins(10);

/// What the suite is told.
pub(crate) struct Specs<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) resolver: Ipv4Addr,
    /// The URL of Route 53.
    pub(crate) route53: String,
    pub(crate) kubeconfig: &'a Path,
    pub(crate) directory: &'a Path,
}

impl Specs<'_> {
    /// Runs specs by their labels, so many at a time. The error is what the suite printed: everything about those that
    /// failed, and a line about the others.
    pub(crate) async fn run(
        &self,
        labels: &str,
        at_a_time: usize,
        variables: &[(&str, &str)],
    ) -> Result<(), String> {
        let began = Instant::now();
        let command = self.suite.command(self.resolver, self.directory).unwrap();
        let mut command = Command::from(command);
        for (name, _) in env::vars_os() {
            let prefixes = ["AWS_", "DEPLOYMENT_", "CLUSTER_", "TEST_DNS_", "GINKGO_"];
            let text = name.to_string_lossy();
            if prefixes.iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .args(["--no-color", "--keep-going", "--silence-skips"])
            .arg(format!("--procs={at_a_time}"))
            .arg(format!("--label-filter={labels}"))
            .arg(self.suite.specs())
            .env("TEST_DNS_ZONE_DOMAIN_NAME", ZONE)
            .env("TEST_DNS_PROVIDER_SECRET_NAME", SECRET)
            .env("AWS_ENDPOINT_URL", &self.route53)
            .env("KUBECONFIG", self.kubeconfig)
            .envs(variables.iter().copied())
            .kill_on_drop(true);
        let output = timeout(WITHIN, command.output()).await;
        let output = output.map_err(|_| format!("{labels}: no end after {WITHIN:?}"))?;
        let output = output.map_err(|error| format!("{labels}: {error}"))?;
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let said = String::from_utf8_lossy(&said);
        println!("{labels}: {} after {:?}", output.status, began.elapsed());
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{labels}: {}\n{said}", output.status))
    }
}
