//! Which changes of conditions are worth an Event: into trouble, out of it, from one into another. The ordinary way of
//! an object to being well is not.

use api::condition::is_bad;
use api::{Condition, Reason, Status};

use super::{Note, Severity};

/// Reasons of conditions that do not hold yet or any more, and are as they should be: something is under way, or another
/// condition of the same object says what is wrong.
const ORDINARY: [Reason; 9] = [
    Reason::Pending,
    Reason::NotAccepted,
    Reason::AwaitingValidation,
    Reason::FinalizersSet,
    Reason::ProviderEndpointsDeletion,
    Reason::ProviderEndpointsRemoved,
    Reason::TokenPending,
    Reason::NothingToPublish,
    Reason::NotEnforced,
];

/// Reasons that stand for many causes: with another message it is another trouble.
const BROAD: [Reason; 4] = [
    Reason::DnsProviderError,
    Reason::ProviderError,
    Reason::ValidationError,
    Reason::Invalid,
];

/// How a condition reads.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Good,
    /// Nothing is said, nothing is known, or something is under way.
    Open,
    Bad,
}

/// The Events that the change of an object's conditions deserves, in the order of the conditions. What two conditions say
/// alike has happened once, and is told of the first.
pub(super) fn transitions(before: &[Condition], after: &[Condition]) -> Vec<Note> {
    let all = after.iter().filter_map(|after| transition(before, after));
    all.fold(Vec::new(), |mut told: Vec<Note>, note| {
        let alike = |it: &Note| {
            Note {
                action: note.action.clone(),
                ..it.clone()
            } == note
        };
        if !told.iter().any(alike) {
            told.push(note);
        }
        told
    })
}

fn transition(before: &[Condition], after: &Condition) -> Option<Note> {
    let before = before.iter().find(|before| before.type_ == after.type_);
    let was = before.map_or(Mood::Open, mood);
    let same = before.is_some_and(|before| is_same_trouble(before, after));
    match (was, mood(after)) {
        (Mood::Bad, Mood::Bad) if same => None,
        (Mood::Good | Mood::Open | Mood::Bad, Mood::Bad) => Some(note(Severity::Warning, after)),
        (Mood::Bad, Mood::Good | Mood::Open) => Some(note(Severity::Normal, after)),
        (Mood::Good | Mood::Open, Mood::Good | Mood::Open) => None,
    }
}

fn is_same_trouble(before: &Condition, after: &Condition) -> bool {
    let broad = Reason::from_spelling(&after.reason).is_some_and(|it| BROAD.contains(&it));
    before.reason == after.reason && (!broad || before.message == after.message)
}

fn mood(condition: &Condition) -> Mood {
    let reason = Reason::from_spelling(&condition.reason);
    let open = condition.status == Status::Unknown.as_str()
        || reason.is_some_and(|reason| ORDINARY.contains(&reason));
    match (is_bad(condition), open) {
        (false, _) => Mood::Good,
        (true, true) => Mood::Open,
        (true, false) => Mood::Bad,
    }
}

fn note(severity: Severity, condition: &Condition) -> Note {
    let message = if condition.message.is_empty() {
        let reason = Reason::from_spelling(&condition.reason);
        reason.map_or("", Reason::explanation).to_owned()
    } else {
        condition.message.clone()
    };
    Note {
        severity,
        reason: condition.reason.clone(),
        message,
        // Which of the object's sides it is about.
        action: condition.type_.clone(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    /// A condition written as `Type=Status/Reason`, or none.
    fn conditions(text: &str) -> Vec<Condition> {
        let condition = |text: &str| {
            let (type_, rest) = text.split_once('=').unwrap();
            let (status, reason) = rest.split_once('/').unwrap();
            Condition {
                type_: type_.to_owned(),
                status: status.to_owned(),
                reason: reason.to_owned(),
                message: format!("because of {reason}"),
                observed_generation: None,
                last_transition_time: Time(Timestamp::UNIX_EPOCH),
            }
        };
        text.split_whitespace().map(condition).collect()
    }

    /// Notes as `Severity Reason Action`, one after the other.
    fn check(before: &str, after: &str, expected: &str) {
        let notes = transitions(&conditions(before), &conditions(after));
        for note in &notes {
            assert_eq!(note.message, format!("because of {}", note.reason));
        }
        let shown = notes.iter().map(|note| {
            let severity = note.severity.as_str();
            format!("{severity} {} {}", note.reason, note.action)
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown.join(", "), expected, "{before} -> {after}");
    }

    /// K3.
    #[test]
    fn the_ordinary_way_to_true_says_nothing() {
        check(
            "",
            "Accepted=True/Accepted Published=Unknown/NoNameServer",
            "",
        );
        check("", "Published=False/Pending", "");
        check("Published=False/Pending", "Published=True/Served", "");
        check(
            "Published=Unknown/NoNameServer",
            "Published=True/Served",
            "",
        );
        check("", "Ready=False/AwaitingValidation", "");
        check(
            "Ready=False/AwaitingValidation",
            "Ready=True/ProviderSuccess",
            "",
        );
        check("", "Verified=False/TokenPending", "");
        check(
            "Synchronised=True/ProviderSuccess",
            "Synchronised=Unknown/AwaitingValidation",
            "",
        );
        check("", "Held=False/NotHeld Conflicted=False/NoConflict", "");
    }

    /// K3.
    #[test]
    fn the_way_into_trouble_is_a_warning() {
        let invalid = "Warning Invalid Accepted";
        check("", "Accepted=False/Invalid", invalid);
        check(
            "Accepted=Unknown/Unknown",
            "Accepted=False/Invalid",
            invalid,
        );
        check("Accepted=True/Accepted", "Accepted=False/Invalid", invalid);
        check(
            "Published=False/Pending",
            "Published=False/Incomplete",
            "Warning Incomplete Published",
        );
        check("Held=False/NotHeld", "Held=True/Held", "Warning Held Held");
        check(
            "",
            "Conflicted=True/Conflicted",
            "Warning Conflicted Conflicted",
        );
    }

    /// K3.
    #[test]
    fn the_way_out_of_trouble_is_normal() {
        check(
            "Accepted=False/Invalid",
            "Accepted=True/Accepted",
            "Normal Accepted Accepted",
        );
        check(
            "Ready=False/ProviderError",
            "Ready=False/AwaitingValidation",
            "Normal AwaitingValidation Ready",
        );
        check(
            "Held=True/Held",
            "Held=False/NotHeld",
            "Normal NotHeld Held",
        );
        check("Healthy=False/HealthChecksFailed", "", "");
    }

    /// K3.
    #[test]
    fn from_one_trouble_into_another_is_a_warning_and_staying_in_one_is_nothing() {
        check(
            "Accepted=False/Invalid",
            "Accepted=False/NoZone",
            "Warning NoZone Accepted",
        );
        check("Accepted=False/Invalid", "Accepted=False/Invalid", "");
        check("Accepted=True/Accepted", "Accepted=True/DifferingTtl", "");
    }

    /// C8.
    #[test]
    fn another_cause_of_a_broad_reason_is_another_trouble() {
        for (reason, told) in [("DNSProviderError", 1), ("NotReady", 0)] {
            let before = conditions(&format!("Ready=False/{reason}"));
            let mut after = before.clone();
            after[0].message = "because of something else".to_owned();
            assert_eq!(transitions(&before, &after).len(), told, "{reason}");
        }
    }

    /// K3.
    #[test]
    fn what_only_follows_from_another_condition_is_not_told_beside_it() {
        check(
            "Accepted=True/Accepted Published=True/Served",
            "Accepted=False/NotDelegated Published=False/NotAccepted",
            "Warning NotDelegated Accepted",
        );
        check(
            "Accepted=False/NotDelegated Published=False/NotAccepted",
            "Accepted=True/Accepted Published=True/Served",
            "Normal Accepted Accepted",
        );
    }

    /// C8.
    #[test]
    fn what_two_conditions_say_alike_is_told_once() {
        check(
            "",
            "Ready=False/ProviderError Synchronised=False/ProviderError Healthy=False/HealthChecksFailed",
            "Warning ProviderError Ready, Warning HealthChecksFailed Healthy",
        );
        check(
            "Ready=False/ProviderError Synchronised=False/ProviderError",
            "Ready=True/ProviderSuccess Synchronised=True/ProviderSuccess",
            "Normal ProviderSuccess Ready",
        );
    }

    #[test]
    fn a_condition_without_a_message_is_told_by_its_reason() {
        let mut after = conditions("Accepted=False/NoZone");
        after[0].message.clear();
        let notes = transitions(&[], &after);
        assert_eq!(notes[0].message, Reason::NoZone.explanation());
    }
}
