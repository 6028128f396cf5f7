//! PURE. What the statements of all servers together come to.

use std::net::SocketAddr;

use dns::Name;

use crate::fault::Fault;
use crate::statement::Statement;

/// What is looked for, without white space around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a>(&'a [u8]);

/// What somebody said, or why not.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) server: SocketAddr,
    pub(crate) statement: Result<Statement, Fault>,
}

/// Whose silence counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Quorum {
    /// One has to answer. A zone keeps several servers so that it outlives some of them: if each had to be up, domains
    /// with one dead server could not be proven at all, and nobody gains by silencing a server who cannot also speak for another.
    Reachable,
    /// Everyone has to answer: whoever named them, named them all.
    All,
}

/// What they come to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// All have the text.
    Here,
    /// All have the same alias.
    Elsewhere(Name),
    /// Nobody has the text; at most so many others.
    Nowhere { others: usize },
    /// Some have the text or an alias, others something else.
    Split {
        with: Vec<SocketAddr>,
        without: Vec<SocketAddr>,
    },
    /// Too few have answered.
    Unheard(Fault),
}

impl<'a> Wanted<'a> {
    pub(crate) fn new(text: &'a str) -> Wanted<'a> {
        Wanted(text.trim().as_bytes())
    }

    /// Whether it is among these. Nothing is nowhere.
    pub(crate) fn is_in(self, texts: &[Vec<u8>]) -> bool {
        let is_it = |text: &Vec<u8>| text.trim_ascii() == self.0;
        !self.0.is_empty() && texts.iter().any(is_it)
    }
}

/// What all of them together say about the text. They have to agree on it, and not on what stands beside it.
pub(crate) fn judge(wanted: Wanted<'_>, heard: &[Heard], quorum: Quorum) -> Verdict {
    if let Some(fault) = unheard(heard, quorum) {
        return Verdict::Unheard(fault);
    }
    let views = heard.iter().filter_map(|heard| {
        let statement = heard.statement.as_ref().ok()?;
        Some((heard.server, View::of(statement, wanted)))
    });
    let views: Vec<(SocketAddr, View<'_>)> = views.collect();
    let best = views.iter().map(|(_, view)| *view).min();
    let Some(best) = best else {
        return Verdict::Unheard(Fault::Nobody);
    };
    let (with, without): (Vec<_>, Vec<_>) = views.iter().partition(|(_, view)| view.agrees(best));
    if without.is_empty() {
        return best.shared(&views);
    }
    Verdict::Split {
        with: servers(with),
        without: servers(without),
    }
}

/// Whether a name that nobody has ever written anything at says the same as the one that was looked at: then it is a
/// wildcard that speaks, and whoever wrote it did not mean this name.
///
/// The first link is what counts, as the zone's own servers have it. The name and the one beside it have the same closest
/// encloser, so a wildcard that speaks for one speaks for both (RFC 4592 §3.3), with the same texts or the same alias. Where an
/// alias leads is not compared: whoever holds its end could tell one look from the other. A DNAME gives every name an
/// alias of its own, which is meant for that name, and passes.
pub(crate) fn is_repeated(
    wanted: Wanted<'_>,
    first: &Verdict,
    beside: &[Heard],
    quorum: Quorum,
) -> Result<bool, Fault> {
    let repeats = |heard: &Heard| match (&heard.statement, first) {
        (Ok(Statement::Texts(texts)), Verdict::Here) => wanted.is_in(texts),
        (Ok(Statement::Alias(target)), Verdict::Elsewhere(first)) => target == first,
        (Ok(Statement::Texts(_) | Statement::Alias(_)) | Err(_), _) => false,
    };
    if beside.iter().any(repeats) {
        return Ok(true);
    }
    unheard(beside, quorum).map_or(Ok(false), Err)
}

/// Those who gave an answer that counts.
pub(crate) fn who_spoke(heard: &[Heard]) -> Vec<SocketAddr> {
    let spoke = heard.iter().filter(|heard| heard.statement.is_ok());
    spoke.map(|heard| heard.server).collect()
}

/// The fault of somebody who should have answered.
fn unheard(heard: &[Heard], quorum: Quorum) -> Option<Fault> {
    let faults = heard.iter().filter_map(|heard| {
        let fault = heard.statement.as_ref().err()?;
        Some(Fault::At(heard.server, Box::new(fault.clone())))
    });
    let mut faults: Vec<Fault> = faults.collect();
    let enough = match quorum {
        Quorum::Reachable => faults.len() < heard.len(),
        Quorum::All => faults.is_empty(),
    };
    if enough { None } else { faults.pop() }
}

fn servers(views: Vec<(SocketAddr, View<'_>)>) -> Vec<SocketAddr> {
    views.into_iter().map(|(server, _)| server).collect()
}

/// A statement as far as it matters, the more promising the smaller.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum View<'a> {
    With,
    Alias(&'a Name),
    Without { others: usize },
}

impl<'a> View<'a> {
    fn of(statement: &'a Statement, wanted: Wanted<'_>) -> View<'a> {
        match statement {
            Statement::Texts(texts) if wanted.is_in(texts) => View::With,
            Statement::Texts(texts) => View::Without {
                others: texts.len(),
            },
            Statement::Alias(target) => View::Alias(target),
        }
    }

    fn agrees(self, other: View<'_>) -> bool {
        match (self, other) {
            (View::With, View::With) | (View::Without { .. }, View::Without { .. }) => true,
            (View::Alias(target), View::Alias(other)) => target == other,
            (View::With | View::Alias(_) | View::Without { .. }, _) => false,
        }
    }

    /// The verdict of many who see it this way.
    fn shared(self, views: &[(SocketAddr, View<'_>)]) -> Verdict {
        match self {
            View::With => Verdict::Here,
            View::Alias(target) => Verdict::Elsewhere(target.clone()),
            View::Without { .. } => {
                let others = views.iter().filter_map(|(_, view)| match view {
                    View::Without { others } => Some(*others),
                    View::With | View::Alias(_) => None,
                });
                Verdict::Nowhere {
                    others: others.max().unwrap_or(0),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
