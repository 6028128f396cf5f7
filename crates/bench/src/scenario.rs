//! What can be measured: a module for each.

mod watchers;

use anyhow::Result;
use clap::ValueEnum;

use crate::report::Findings;

/// A promise that can be put to the test.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// A write reaches the last of a thousand watchers within ten times the time it takes to reach one
    Watchers,
}

impl Scenario {
    /// As it is asked for, and as its results are called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Watchers => "watchers",
        }
    }

    /// Measures, which takes seconds, not minutes, and ends by itself.
    pub(crate) fn measure(self) -> Result<Findings> {
        match self {
            Self::Watchers => watchers::measure(),
        }
    }
}
