//! What a look comes to, sorted by what can be done next.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use dns::Name;
use egress::EgressError;

use crate::fault::{Fault, Stop};

/// What a look comes to. Its text is a sentence for the owner of the domain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// The text stands there: nothing is left to do.
    Found {
        /// Where it was looked for.
        at: Name,
        /// The aliases that were followed; the text stands at the last of them.
        through: Vec<Name>,
    },
    /// The text does not stand there: somebody has to write it.
    Absent {
        /// What stands there instead, name by name.
        looked_at: Vec<Sight>,
    },
    /// The name servers do not say the same: a change is on its way, or one of them was forgotten.
    Disagree {
        /// Where it was looked for.
        at: Name,
        /// Who has the text, or the alias that may lead to it.
        with: Vec<SocketAddr>,
        /// Who says something else.
        without: Vec<SocketAddr>,
    },
    /// Every name beside this one says the same, so it says nothing about this one: the text has to stand at the name itself.
    Synthesised {
        /// Where it was looked for.
        at: Name,
    },
    /// There are no name servers that may be asked: somebody has to change them, or to allow them.
    Refused {
        /// Where it was looked for.
        at: Name,
        /// Why.
        why: EgressError,
    },
    /// Nobody can tell, and nothing follows: look again later.
    Unclear {
        /// Where it was looked for.
        at: Name,
        /// Why.
        why: Fault,
    },
}

/// What stands at a name instead of the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sight {
    /// The name.
    pub at: Name,
    /// The aliases that were followed from there.
    pub through: Vec<Name>,
    /// How many other texts there are.
    pub others: usize,
}

impl Finding {
    /// It was looked too long.
    pub(crate) fn late(at: &Name, within: Duration) -> Finding {
        Finding::stopped(at, Stop::Unclear(Fault::Late(within)))
    }

    /// It could not be looked.
    pub(crate) fn stopped(at: &Name, stop: Stop) -> Finding {
        let at = at.clone();
        match stop {
            Stop::Refused(why) => Finding::Refused { at, why },
            Stop::Unclear(why) => Finding::Unclear { at, why },
        }
    }

    /// What several names together come to: the one that somebody can do most about. A text is absent only if it was
    /// looked for everywhere.
    pub(crate) fn of_all(findings: impl IntoIterator<Item = Finding>) -> Finding {
        let mut all = Vec::new();
        let mut rest = Vec::new();
        for finding in findings {
            match finding {
                Finding::Absent { looked_at } => all.extend(looked_at),
                Finding::Found { .. }
                | Finding::Disagree { .. }
                | Finding::Synthesised { .. }
                | Finding::Refused { .. }
                | Finding::Unclear { .. } => rest.push(finding),
            }
        }
        let told = rest.into_iter().min_by_key(Finding::rank);
        told.unwrap_or(Finding::Absent { looked_at: all })
    }

    fn rank(&self) -> usize {
        match self {
            Finding::Found { .. } => 0,
            Finding::Synthesised { .. } => 1,
            Finding::Disagree { .. } => 2,
            Finding::Refused { .. } => 3,
            Finding::Unclear { .. } => 4,
            Finding::Absent { .. } => 5,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Found { at, through } => write!(f, "found at {at}{}", Through(through)),
            Finding::Absent { looked_at } => {
                let sights = looked_at.iter().map(Sight::to_string);
                f.write_str(&sights.collect::<Vec<_>>().join("; "))
            }
            Finding::Disagree { at, with, without } => write!(
                f,
                "the name servers of {at} do not agree yet: {} and not {}",
                List(with),
                List(without)
            ),
            Finding::Synthesised { at } => write!(
                f,
                "a wildcard answers for {at}, which proves nothing; create the record at that very name"
            ),
            Finding::Refused { at, why } => {
                write!(f, "the name servers of {at} cannot be asked: {why}")
            }
            Finding::Unclear { at, why } => write!(f, "cannot look at {at} now: {why}"),
        }
    }
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sight {
            at,
            through,
            others,
        } = self;
        let through = Through(through);
        match others {
            0 => write!(f, "no TXT record at {at}{through}"),
            1 => write!(f, "another TXT record at {at}{through}"),
            more => write!(f, "{more} other TXT records at {at}{through}"),
        }
    }
}

/// The end of a chain of aliases, if there is one.
struct Through<'a>(&'a [Name]);

impl fmt::Display for Through<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.last() {
            Some(last) => write!(f, " (an alias of {last})"),
            None => Ok(()),
        }
    }
}

struct List<'a>(&'a [SocketAddr]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<_> = self.0.iter().map(SocketAddr::to_string).collect();
        f.write_str(&shown.join(", "))
    }
}

#[cfg(test)]
mod tests;
