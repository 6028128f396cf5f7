//! Why a provider did not do as asked, sorted by what can be done next.

use std::time::Duration;

/// What a provider's own library said.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a provider did not do as asked, sorted by what the caller can do next.
///
/// What an error says is shown to people and compared: it holds nothing that differs from one attempt to the next, such as
/// the number of a request, and no secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ask again, but not before `after`.
    #[error("the provider takes no more requests for now")]
    Throttled {
        /// How long to wait at least.
        after: Duration,
    },
    /// A set is not as the change expected it: read, plan and write again.
    #[error("the zone has changed since it was read")]
    Stale,
    /// The provider says that there is no such zone. One hidden for lack of rights is `Denied`.
    #[error("there is no such zone")]
    Missing,
    /// The credentials are wrong or too weak: a person has to act.
    #[error("access is denied")]
    Denied(#[source] Source),
    /// The provider understood and said no; `reason` is shown to the user.
    #[error("the provider refused: {reason}")]
    Refused {
        /// What the provider said.
        reason: String,
    },
    /// No answer, or a broken one: a write may or may not have happened.
    #[error("there was no clear answer")]
    Unclear(#[source] Source),
}

/// When to try again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Retry {
    /// Not before this much time.
    After(Duration),
    /// Later and later.
    Backoff,
    /// When something has changed that could help.
    OnChange,
}

/// How far a write came that failed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Attempt {
    /// It was not made, or put off before it was judged.
    None,
    /// The provider judged it, and wrote nothing.
    Refused,
    /// Some of it may have been written.
    Unclear,
}

impl Error {
    /// When to try again.
    pub fn retry(&self) -> Retry {
        match self {
            Error::Throttled { after } => Retry::After(*after),
            // `Stale` is left to the caller's caller only after reading and planning again several times.
            Error::Stale | Error::Unclear(_) => Retry::Backoff,
            Error::Missing | Error::Denied(_) | Error::Refused { .. } => Retry::OnChange,
        }
    }

    /// How far the write came that failed with it.
    pub fn attempt(&self) -> Attempt {
        match self {
            Error::Throttled { .. } | Error::Stale => Attempt::None,
            Error::Missing | Error::Denied(_) | Error::Refused { .. } => Attempt::Refused,
            Error::Unclear(_) => Attempt::Unclear,
        }
    }

    /// The whole story in one line, for people.
    pub fn story(&self) -> String {
        let mut story = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            story.push_str(": ");
            story.push_str(&error.to_string());
            source = error.source();
        }
        // What libraries say may have lines; a condition has one.
        story.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_one_line_with_every_cause() {
        let inner = std::io::Error::other("connection\n\trefused");
        let error = Error::Unclear(Box::new(inner));
        assert_eq!(
            error.story(),
            "there was no clear answer: connection refused"
        );
    }
}
