//! Differences that are accepted, as `conformance/differences.toml` lists them.

use std::path::Path;

use testkit::accepted::{Accepted, Letters};

use crate::compare::Difference;

/// The accepted differences: of a step's line, such as `GET /api/v1/namespaces/{ns}/*`, at `code`, a header's name, or a path
/// such as `/metadata/*`, where `/` is the body itself.
pub(crate) struct Rules(Accepted<4>);

impl Rules {
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let fields = ["request", "where", "ours", "theirs"];
        Accepted::read(file, fields, Letters::AsWritten).map(Self)
    }

    /// Whether a rule accepts the difference.
    pub(crate) fn accept(&self, difference: &Difference) -> bool {
        self.0.accept(texts(difference))
    }

    /// Whether a rule would, which is not counted.
    pub(crate) fn would_accept(&self, difference: &Difference) -> bool {
        self.0.would_accept(texts(difference))
    }

    /// What is wrong with rules that were not needed.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.0.unused()
    }
}

fn texts(difference: &Difference) -> [&str; 4] {
    let Difference {
        step: _,
        request,
        place,
        ours,
        theirs,
    } = difference;
    [request, place, ours, theirs]
}
