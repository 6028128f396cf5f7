//! `zonewright backup`: what the embedded API holds, into a file that is complete or not there.

use std::fs::File;
use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use http::Request;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;

use crate::args::{self, Output};
use crate::client::{self, Access, Source};
use crate::embedded;

/// The path at which a running process gives its backup.
const PATH: &str = "/zonewright/backup";

/// Saves everything.
pub(crate) fn run(
    backup: &args::Backup,
    kubeconfig: Option<&Path>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    if backup.file == Path::new("-") {
        write(backup, kubeconfig, &mut stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = backup.file.display();
    let bytes = save(backup, kubeconfig).with_context(|| format!("no backup in {shown}"))?;
    match output {
        Output::Text => println!("{shown}: {bytes} bytes"),
        Output::Json => println!(
            "{}",
            serde_json::json!({ "file": backup.file, "bytes": bytes })
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the file in place when it is complete and on the disk.
fn save(backup: &args::Backup, kubeconfig: Option<&Path>) -> anyhow::Result<u64> {
    let directory = match backup.file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    // Temporary files are made for their owner only.
    let mut file = tempfile::Builder::new()
        .prefix(".zonewright-backup-")
        .tempfile_in(directory)
        .with_context(|| format!("cannot write to {}", directory.display()))?;
    write(backup, kubeconfig, file.as_file_mut())?;
    file.as_file().sync_all()?;
    let bytes = file.as_file().metadata()?.len();
    file.persist(&backup.file)?;
    File::open(directory)?.sync_all()?;
    Ok(bytes)
}

/// From the running process if there is one, from its directory otherwise.
fn write(
    backup: &args::Backup,
    kubeconfig: Option<&Path>,
    to: &mut dyn Write,
) -> anyhow::Result<()> {
    let asked = match source(backup, kubeconfig) {
        Some(source) => ask(source, to)?,
        None => Asked::NobodyThere,
    };
    match asked {
        Asked::Done => Ok(()),
        Asked::NobodyThere => embedded::backup(&backup.data, to),
    }
}

/// How to reach the process whose directory it is. What the user's kubeconfigs name is another API.
fn source(backup: &args::Backup, kubeconfig: Option<&Path>) -> Option<Source> {
    let own = backup.data.join("kubeconfig");
    match kubeconfig {
        Some(given) => Some(Source::Given(given.to_owned())),
        None => own.is_file().then_some(Source::Own(own)),
    }
}

/// Whether a running process gave its backup.
enum Asked {
    Done,
    NobodyThere,
}

fn ask(source: Source, to: &mut dyn Write) -> anyhow::Result<Asked> {
    client::block_on(async {
        let cluster = Access::read(source).await?.connect()?;
        stream(cluster.client(), to).await
    })
}

async fn stream(client: &Client, to: &mut dyn Write) -> anyhow::Result<Asked> {
    let response = match client.send(Request::get(PATH).body(Body::empty())?).await {
        Ok(response) => response,
        Err(error) if client::nobody_listens(&error) => return Ok(Asked::NobodyThere),
        Err(error) => return Err(error).context("the running process did not answer"),
    };
    let status = response.status();
    anyhow::ensure!(status.is_success(), "the running process answered {status}");
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        let frame = frame.context("the running process stopped in the middle of it")?;
        if let Some(data) = frame.data_ref() {
            to.write_all(data).context("cannot write it")?;
        }
    }
    Ok(Asked::Done)
}
