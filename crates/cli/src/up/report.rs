//! What `up` says: what it refused, and that it is ready.

use std::fmt;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Serialize;

use super::apply::Applied;
use crate::args::Output;

/// Where everything can be reached.
#[derive(Debug, Serialize)]
pub(super) struct Ready {
    event: &'static str,
    api: SocketAddr,
    dns: Vec<SocketAddr>,
    http: Option<SocketAddr>,
    kubeconfig: PathBuf,
}

impl Ready {
    pub(super) fn new(api: SocketAddr, kubeconfig: PathBuf) -> Self {
        Self {
            event: "ready",
            api,
            dns: Vec::new(),
            http: None,
            kubeconfig,
        }
    }

    /// Tells that everything is ready, and how to go on.
    pub(super) fn print(&self, output: Output, applied: &Applied) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        match output {
            Output::Json => writeln!(stdout, "{}", serde_json::to_string(self)?)?,
            Output::Text => write!(stdout, "{}", Text(self, applied))?,
        }
        Ok(stdout.flush()?)
    }
}

/// Tells on standard error what did not get in, one line each.
pub(super) fn refused(applied: &Applied) {
    for refused in &applied.refused {
        eprintln!("{refused}");
    }
    match applied.refused.len() {
        0 => {}
        1 => eprintln!(
            "1 object was refused; everything else runs. Correct it and apply it with kubectl."
        ),
        count => eprintln!(
            "{count} objects were refused; everything else runs. Correct them and apply them with kubectl."
        ),
    }
}

struct Text<'a>(&'a Ready, &'a Applied);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(ready, applied) = self;
        writeln!(f, "Kubernetes API  https://{}", ready.api)?;
        for address in &ready.dns {
            writeln!(f, "DNS             {address}")?;
        }
        if let Some(address) = ready.http {
            writeln!(f, "HTTP            http://{address}")?;
        }
        let count = applied.created + applied.configured;
        if count > 0 {
            let objects = if count == 1 { "object" } else { "objects" };
            writeln!(
                f,
                "Applied         {count} {objects}, {} of them new",
                applied.created
            )?;
        }
        writeln!(f, "\nTry it:\n")?;
        writeln!(f, "  export KUBECONFIG={}", ready.kubeconfig.display())?;
        writeln!(f, "  kubectl api-resources --categories=dns")?;
        writeln!(f, "  kubectl get zones,records --all-namespaces\n")?;
        writeln!(f, "It runs until Ctrl-C.")
    }
}
