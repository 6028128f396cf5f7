//! What can be measured: a module for each.

mod api;
mod changes;
mod dns_policies;
mod dns_records;
mod quiet;
mod records;
mod watchers;

use std::path::Path;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use tokio::runtime::Runtime;

use crate::report::Findings;

/// A promise that can be put to the test.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// Writes, lists, watches and starts of the embedded API cost a part of what they cost with kube-apiserver and etcd
    Api,
    /// A write reaches the last of a thousand watchers within ten times the time it takes to reach one
    Watchers,
    /// Ten thousand Records are answered a second after the last is acknowledged, at little cost to whoever makes them
    Records,
    /// One change among ten thousand Records is answered within 150 ms, and costs at a hundred thousand what it costs at a thousand
    Changes,
    /// A minute in which nobody changes anything costs nothing
    Quiet,
    /// Two thousand names at a provider cost a handful of calls, and one change is there within 150 ms
    DnsRecords,
    /// A change of one policy among sixteen Gateways costs what it touches, and an event among a thousand listeners what it costs among ten
    DnsPolicies,
}

impl Scenario {
    /// As it is asked for, and as its results are called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Watchers => "watchers",
            Self::Records => "records",
            Self::Changes => "changes",
            Self::Quiet => "quiet",
            Self::DnsRecords => "dns-records",
            Self::DnsPolicies => "dns-policies",
        }
    }

    /// Measures `program` or its parts, which takes minutes and ends by itself.
    pub(crate) fn measure(self, program: &Path) -> Result<Findings> {
        match self {
            Self::Api => runtime()?.block_on(api::measure()),
            Self::Watchers => watchers::measure(),
            Self::Records => runtime()?.block_on(records::measure(program)),
            Self::Changes => runtime()?.block_on(changes::measure(program)),
            Self::Quiet => runtime()?.block_on(quiet::measure(program)),
            Self::DnsRecords => runtime()?.block_on(dns_records::measure(program)),
            Self::DnsPolicies => runtime()?.block_on(dns_policies::measure(program)),
        }
    }
}

/// As `zonewright up` starts it.
pub(crate) fn runtime() -> Result<Runtime> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    built.context("cannot start threads")
}
