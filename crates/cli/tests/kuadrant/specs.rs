//! The suite, run.

use std::env;
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
    /// Says which resolver to ask.
    pub(crate) resolv_conf: &'a Path,
    /// The URL of Route 53.
    pub(crate) route53: String,
    pub(crate) kubeconfig: &'a Path,
}

impl Specs<'_> {
    /// Runs those specs that the flags choose. The error is what the suite printed: everything about the specs that failed,
    /// and a dot for each of the others.
    pub(crate) async fn run(
        &self,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<(), String> {
        let began = Instant::now();
        let mut command = Command::from(self.suite.command(self.resolv_conf));
        for (name, _) in env::vars_os() {
            let prefixes = ["AWS_", "DEPLOYMENT_", "CLUSTER_", "TEST_DNS_", "GINKGO_"];
            let text = name.to_string_lossy();
            if prefixes.iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .args(["--no-color", "--silence-skips", "--fail-on-empty"])
            .args(flags)
            .arg(self.suite.specs())
            .env("TEST_DNS_ZONE_DOMAIN_NAME", ZONE)
            .env("TEST_DNS_PROVIDER_SECRET_NAME", SECRET)
            .env("AWS_ENDPOINT_URL", &self.route53)
            .env("KUBECONFIG", self.kubeconfig)
            .envs(variables.iter().copied())
            .kill_on_drop(true);
        let asked = flags.join(" ");
        let output = timeout(WITHIN, command.output()).await;
        let output = output.map_err(|_| format!("{asked}: no end after {WITHIN:?}"))?;
        let output = output.map_err(|error| format!("{asked}: {error}"))?;
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let said = String::from_utf8_lossy(&said);
        println!("{asked}: {} after {:?}", output.status, began.elapsed());
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{asked}: {}\n{said}", output.status))
    }
}
