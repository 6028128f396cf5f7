//! `zonewright query`: a small dig. Asks one question and shows the whole answer.
//!
//! Any answer is a success, "there is no such name" among them; only silence, and what is no answer to the question,
//! are not.

mod exchange;
mod message;
mod report;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::args::Output;
use crate::args::query::{Inquiry, Query, Server};
use crate::args::value::Endpoint;
use crate::{client, output};
use exchange::{Answered, Transport, ask};
use message::Asked;
use report::Report;

/// How many addresses of a server are tried: more than anyone gives a name server, few enough that each gets its time.
const ADDRESSES_MAX: usize = 8;

/// Asks, and shows the answer.
pub(crate) fn run(query: &Query, inquiry: &Inquiry, output: Output) -> anyhow::Result<ExitCode> {
    let Inquiry {
        name,
        rtype,
        server,
    } = inquiry;
    let asked = Asked::new(name.clone(), *rtype, StdRng::from_os_rng().random());
    let transport = if query.tcp {
        Transport::Tcp
    } else {
        Transport::Udp
    };
    let answered = client::block_on(answer(server, &asked, transport, query.timeout))?;
    let report = Report::new(name, *rtype, &answered);
    match output {
        Output::Text => output::print(&report.to_string())?,
        Output::Json => output::json(&report)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The first answer that any address of the server gives; each gets an equal share of the time.
async fn answer(
    server: &Server,
    asked: &Asked,
    transport: Transport,
    within: Duration,
) -> anyhow::Result<Answered> {
    let addresses = addresses(server, within).await?;
    let share = within / u32::try_from(addresses.len()).expect("few addresses");
    let mut failures = Vec::new();
    for address in addresses {
        match ask(address, asked, transport, share).await {
            Ok(answered) => return Ok(answered),
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    anyhow::bail!("{}; {}", failures.join("; "), advice(server))
}

/// Where a server is to be found.
async fn addresses(server: &Server, within: Duration) -> anyhow::Result<Vec<SocketAddr>> {
    let name = match &server.host {
        Endpoint::Address(address) => return Ok(vec![SocketAddr::new(*address, server.port)]),
        Endpoint::Name(name) => name.to_string(),
    };
    let host = name.trim_end_matches('.');
    let found = timeout(within, lookup_host((host, server.port)))
        .await
        .with_context(|| format!("the system did not find the address of {host} in time"))?
        .with_context(|| format!("the system does not know the address of {host}; write one"))?;
    let found: Vec<SocketAddr> = found.take(ADDRESSES_MAX).collect();
    anyhow::ensure!(!found.is_empty(), "{host} has no address; write one");
    Ok(found)
}

/// What to look at when no answer comes.
fn advice(server: &Server) -> &'static str {
    if server.is_of_up() {
        "check that `zonewright up` runs, or name another server with @"
    } else {
        "check that a name server runs there, and that nothing on the way drops its port over UDP and TCP"
    }
}
