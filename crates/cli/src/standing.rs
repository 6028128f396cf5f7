//! What the conditions of an object come to, in a few words.

use std::fmt;

use api::condition::{ConditionType, Status, find, is_bad};
use api::{Condition, Problem};

use crate::output::{BAD, GOOD, UNSURE, harmless, styled};

/// Whether an object is answered, or why not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Standing {
    /// A name server answers with it.
    Published,
    /// It is well formed; whether it is answered nobody has said.
    Accepted,
    /// No controller has looked at it.
    Unknown,
    /// Something cannot be said yet.
    Waiting(String),
    /// Something is wrong.
    Trouble(String),
}

impl Standing {
    pub(crate) fn of(conditions: &[Condition]) -> Standing {
        let holds = |type_| {
            find(conditions, type_)
                .is_some_and(|condition| condition.status == Status::True.as_str())
        };
        let bad: Vec<&Condition> = conditions
            .iter()
            .filter(|condition| is_bad(condition))
            .collect();
        let open = |condition: &&Condition| condition.status == Status::Unknown.as_str();
        match bad.as_slice() {
            [] if holds(ConditionType::Published) => Standing::Published,
            [] if holds(ConditionType::Accepted) => Standing::Accepted,
            [] => Standing::Unknown,
            bad if bad.iter().all(open) => Standing::Waiting(told(bad)),
            bad => Standing::Trouble(told(bad)),
        }
    }

    /// An object that does not have the shape of its kind.
    pub(crate) fn unreadable(problems: &[Problem]) -> Standing {
        Standing::Trouble(format!(
            "cannot be read: {}",
            api::problem::summary(problems)
        ))
    }

    pub(crate) fn is_bad(&self) -> bool {
        matches!(self, Standing::Trouble(_))
    }

    /// For a person who looks over many.
    pub(crate) fn styled(&self) -> String {
        let style = match self {
            Standing::Published | Standing::Accepted => GOOD,
            Standing::Unknown | Standing::Waiting(_) => UNSURE,
            Standing::Trouble(_) => BAD,
        };
        styled(style, self)
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::Published => f.write_str("published"),
            Standing::Accepted => f.write_str("accepted"),
            Standing::Unknown => f.write_str("no controller has looked at it yet"),
            Standing::Waiting(why) | Standing::Trouble(why) => f.write_str(&harmless(why)),
        }
    }
}

/// What every condition says, in its own words.
fn told(conditions: &[&Condition]) -> String {
    let one = |condition: &&Condition| {
        let Condition {
            type_,
            status,
            reason,
            message,
            ..
        } = *condition;
        format!("{type_} is {status}: {reason}: {message}")
    };
    conditions.iter().map(one).collect::<Vec<_>>().join("; ")
}
