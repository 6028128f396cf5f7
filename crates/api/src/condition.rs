//! Conditions: what an object says about itself, in a closed vocabulary.
//!
//! Every condition type and every reason the project writes is a variant here, spelled as it
//! appears in the API, with the sentence the reference documentation prints. A pass states
//! [`Finding`]s; [`merge()`] dates them and joins them with the conditions already there. Which
//! finding follows from which situation is decided in `reconcile`.

mod merge;
mod vocabulary;

use std::fmt;

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

pub use merge::{merge, without};
pub use vocabulary::{ConditionType, Reason};

/// The longest message `metav1.Condition` allows.
const MESSAGE_CHARS_MAX: usize = 32_768;

/// The three states of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// It cannot be said yet.
    Unknown,
}

impl Status {
    /// The spelling in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for Status {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a pass found about one condition type, before it is dated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is being said.
    pub type_: ConditionType,
    /// Whether it holds.
    pub status: Status,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people.
    pub message: String,
    /// The generation of the object this was found at.
    pub observed_generation: Option<i64>,
}

impl Finding {
    /// A finding that is not tied to a generation.
    pub fn new(
        type_: ConditionType,
        status: Status,
        reason: Reason,
        message: impl Into<String>,
    ) -> Self {
        Self {
            type_,
            status,
            reason,
            message: bounded(message.into()),
            observed_generation: None,
        }
    }

    /// The same finding, tied to the generation it was found at.
    #[must_use]
    pub fn at(self, generation: Option<i64>) -> Self {
        Self {
            observed_generation: generation,
            ..self
        }
    }
}

/// Whether a condition tells of trouble: anything but True, or True where the type itself is
/// trouble. A type that is not ours is judged like most of ours, by not being True.
pub fn is_bad(condition: &Condition) -> bool {
    let trouble =
        ConditionType::from_spelling(&condition.type_).is_some_and(ConditionType::is_trouble);
    (condition.status == Status::True.as_str()) == trouble
}

/// The condition of one type, if the object has it.
pub fn find(conditions: &[Condition], type_: ConditionType) -> Option<&Condition> {
    conditions
        .iter()
        .find(|condition| condition.type_ == type_.as_str())
}

fn bounded(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
        message.truncate(end);
    }
    message
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    #[test]
    fn trouble_is_recognised_by_type_and_status() {
        // D3: not True; True for Held and Conflicted.
        let cases = [
            ("Ready", "True", false),
            ("Ready", "False", true),
            ("Ready", "Unknown", true),
            ("Held", "True", true),
            ("Held", "False", false),
            ("Conflicted", "True", true),
            ("Conflicted", "Unknown", false),
            ("example.org/Painted", "True", false),
            ("example.org/Painted", "False", true),
        ];
        for (type_, status, bad) in cases {
            let condition = Condition {
                type_: type_.to_owned(),
                status: status.to_owned(),
                reason: "Because".to_owned(),
                message: String::new(),
                observed_generation: None,
                last_transition_time: Time(jiff::Timestamp::UNIX_EPOCH),
            };
            assert_eq!(is_bad(&condition), bad, "{type_}={status}");
        }
    }

    #[test]
    fn a_message_never_exceeds_what_the_api_allows() {
        let finding = |message| {
            Finding::new(
                ConditionType::Ready,
                Status::False,
                Reason::Invalid,
                message,
            )
        };
        let fits = "é".repeat(MESSAGE_CHARS_MAX);
        assert_eq!(finding(fits.clone()).message, fits);
        assert_eq!(finding(format!("{fits}x")).message, fits);
    }
}
