//! Rules of the source tree that no compiler knows.
//!
//! Each rule is a module with one function from [`Facts`] to findings, and tests that break it. The facts are read once;
//! no rule touches the disk.

mod crates;
mod dependencies;
mod forbidden;
mod layers;
mod links;
mod markdown;
mod module_tree;
mod paths;
mod purity;
mod requirements;
mod tree;

use std::fmt::{self, Display};

use anyhow::{Result, bail};

use crate::run::root;
use crates::Crate;
use tree::Tree;

/// Everything the rules look at.
struct Facts {
    tree: Tree,
    crates: Vec<Crate>,
}

/// A place where a rule is broken.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

struct Rule {
    name: &'static str,
    check: fn(&Facts) -> Vec<Finding>,
}

const RULES: [Rule; 8] = [
    Rule {
        name: "tests named by requirements exist",
        check: requirements::check,
    },
    Rule {
        name: "every source file belongs to a module",
        check: module_tree::check,
    },
    Rule {
        name: "imports follow the drawing",
        check: layers::check,
    },
    Rule {
        name: "paths in the architecture exist",
        check: paths::check,
    },
    Rule {
        name: "dependencies are used and explained",
        check: dependencies::check,
    },
    Rule {
        name: "pure crates ban what is impure",
        check: purity::check,
    },
    Rule {
        name: "nothing is ignored or left open",
        check: forbidden::check,
    },
    Rule {
        name: "links lead somewhere",
        check: links::check,
    },
];

/// Prints each rule with its findings; an error when there are any.
pub(crate) fn tidy() -> Result<()> {
    let facts = Facts {
        tree: Tree::load(root())?,
        crates: crates::load(root())?,
    };
    let mut broken = 0;
    for rule in RULES {
        let findings = (rule.check)(&facts);
        eprintln!(
            "{}  {}",
            if findings.is_empty() {
                "ok    "
            } else {
                "BROKEN"
            },
            rule.name
        );
        for finding in &findings {
            eprintln!("        {finding}");
        }
        broken += findings.len();
    }
    if broken > 0 {
        bail!("{broken} findings");
    }
    Ok(())
}

impl Finding {
    /// About one line of a file, counted from 1.
    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }

    /// About a file as a whole.
    fn about(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

#[cfg(test)]
impl Facts {
    /// Facts about a tree that exists only in a test.
    fn of(files: &[(&str, &str)], crates: Vec<Crate>) -> Self {
        Self {
            tree: Tree::of(files),
            crates,
        }
    }
}

/// Holds a rule to what it should find, one line of text per finding.
#[cfg(test)]
#[track_caller]
fn expect(rule: fn(&Facts) -> Vec<Finding>, facts: &Facts, expected: &[&str]) {
    let found: Vec<_> = rule(facts).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_the_line_when_it_has_one() {
        assert_eq!(Finding::at("a.md", 3, "gone").to_string(), "a.md:3: gone");
        assert_eq!(Finding::about("a.md", "gone").to_string(), "a.md: gone");
    }
}
