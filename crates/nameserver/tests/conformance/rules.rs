//! Differences that are accepted, as `conformance/dns/differences.toml` lists them.

use std::path::Path;

use testkit::accepted::{Accepted, Letters};

use crate::compare::Difference;

/// The accepted differences: from `nsd`, `knot` or `bind`, for a query such as `udp *.example.org. ANY, *`, at `rcode`, a flag,
/// `edns`, `question` or a section.
pub(crate) struct Rules(Accepted<5>);

impl Rules {
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let fields = ["server", "query", "where", "ours", "theirs"];
        Accepted::read(file, fields, Letters::InEitherCase).map(Self)
    }

    /// Whether a rule accepts the difference.
    pub(crate) fn accept(&self, difference: &Difference) -> bool {
        let Difference {
            server,
            query,
            place,
            ours,
            theirs,
            ..
        } = difference;
        self.0.accept([server, query, place, ours, theirs])
    }

    /// What is wrong with rules, or texts of them, that were not needed.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.0.unused()
    }

    /// How many rules there are, and how many differences they accepted.
    pub(crate) fn uses(&self) -> (usize, usize) {
        self.0.uses()
    }
}
