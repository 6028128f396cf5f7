//! What `up` says: what it refused, and that it is ready.

use std::fmt;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::apply::Applied;
use crate::args::Output;
use crate::manifest::Document;

/// Where everything can be reached.
#[derive(Debug, Serialize)]
pub(super) struct Ready {
    event: &'static str,
    api: SocketAddr,
    dns: Vec<SocketAddr>,
    http: SocketAddr,
    kubeconfig: PathBuf,
    /// A name and a type that something stands at.
    #[serde(skip)]
    question: Option<String>,
}

impl Ready {
    pub(super) fn new(api: SocketAddr, http: SocketAddr, kubeconfig: PathBuf) -> Self {
        Self {
            event: "ready",
            api,
            dns: Vec::new(),
            http,
            kubeconfig,
            question: None,
        }
    }

    /// The same, with where names are answered, and one to ask for.
    pub(super) fn answering(self, addresses: &[SocketAddr], documents: &[Document]) -> Self {
        let mut objects = documents.iter().filter_map(|it| it.content.as_ref().ok());
        Self {
            dns: addresses.to_vec(),
            question: objects.find_map(question),
            ..self
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

/// What to ask for to see a Record answered, if the Record says it all.
fn question(object: &Value) -> Option<String> {
    let text = |field: &str| object.get("spec")?.get(field)?.as_str();
    let name = text("domainName").filter(|name| name.ends_with('.') && !name.starts_with('*'))?;
    (object.get("kind")? == "Record").then_some(())?;
    Some(format!("{} {}", name.trim_end_matches('.'), text("type")?))
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
        writeln!(f, "Metrics, health http://{}", ready.http)?;
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
        writeln!(f, "  kubectl get zones,records --all-namespaces")?;
        if let (Some(server), Some(question)) = (ready.dns.first(), &ready.question) {
            let (host, port) = (server.ip(), server.port());
            writeln!(f, "  dig @{host} -p {port} +noall +answer {question}")?;
        }
        writeln!(f)?;
        writeln!(f, "It runs until Ctrl-C.")
    }
}
