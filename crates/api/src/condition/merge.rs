//! Joining what a pass found with the conditions an object already carries.

use std::collections::BTreeSet;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{Condition, ConditionType, Finding};

/// The conditions of an object after a pass.
///
/// - The transition time moves only when the status changes; reason and message may change without
///   it.
/// - Known types keep their place, new ones follow in the order they were found: the order is
///   stable.
/// - Types the pass says nothing about are kept, whoever wrote them. To drop one, see [`without`].
/// - Of several entries with one type the first is kept: the list is a map in the API.
/// - If nothing changed the result equals `existing`, and there is nothing to write.
pub fn merge(existing: &[Condition], found: &[Finding], now: Timestamp) -> Vec<Condition> {
    let mut seen = BTreeSet::new();
    let mut merged: Vec<Condition> = existing
        .iter()
        .filter(|condition| seen.insert(condition.type_.as_str()))
        .cloned()
        .collect();
    for finding in found {
        match merged
            .iter_mut()
            .find(|kept| kept.type_ == finding.type_.as_str())
        {
            Some(kept) => update(kept, finding, now),
            None => merged.push(begin(finding, now)),
        }
    }
    merged
}

/// The conditions without those of the given types: for what no longer applies to an object.
pub fn without(conditions: &[Condition], types: &[ConditionType]) -> Vec<Condition> {
    let dropped =
        |condition: &Condition| types.iter().any(|type_| type_.as_str() == condition.type_);
    conditions
        .iter()
        .filter(|condition| !dropped(condition))
        .cloned()
        .collect()
}

fn update(kept: &mut Condition, finding: &Finding, now: Timestamp) {
    if kept.status != finding.status.as_str() {
        finding.status.as_str().clone_into(&mut kept.status);
        kept.last_transition_time = dated(now);
    }
    finding.reason.as_str().clone_into(&mut kept.reason);
    kept.message.clone_from(&finding.message);
    kept.observed_generation = finding.observed_generation;
}

fn begin(finding: &Finding, now: Timestamp) -> Condition {
    Condition {
        type_: finding.type_.to_string(),
        status: finding.status.to_string(),
        reason: finding.reason.to_string(),
        message: finding.message.clone(),
        observed_generation: finding.observed_generation,
        last_transition_time: dated(now),
    }
}

/// The API keeps whole seconds. Cutting here keeps a condition equal to itself after a round trip.
fn dated(now: Timestamp) -> Time {
    Time(
        Timestamp::from_second(now.as_second())
            .expect("whole seconds of a timestamp are a timestamp"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Reason, Status};
    use super::*;

    const START: i64 = 1_800_000_000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(START + second).unwrap()
    }

    fn found(type_: ConditionType, status: Status, reason: Reason, message: &str) -> Finding {
        Finding::new(type_, status, reason, message).at(Some(1))
    }

    fn foreign(type_: &str) -> Condition {
        Condition {
            type_: type_.to_owned(),
            status: "False".to_owned(),
            reason: "TheirReason".to_owned(),
            message: "not ours".to_owned(),
            observed_generation: None,
            last_transition_time: Time(at(-100)),
        }
    }

    fn brief(conditions: &[Condition]) -> Vec<(&str, &str, &str, &str, i64)> {
        conditions
            .iter()
            .map(|c| {
                let second = c.last_transition_time.0.as_second() - START;
                (
                    c.type_.as_str(),
                    c.status.as_str(),
                    c.reason.as_str(),
                    c.message.as_str(),
                    second,
                )
            })
            .collect()
    }

    // K3
    #[test]
    fn the_transition_time_moves_only_when_the_status_does() {
        let steps = [
            (
                0,
                Status::False,
                Reason::NotDelegated,
                "no",
                ("False", "NotDelegated", "no", 0),
            ),
            (
                5,
                Status::False,
                Reason::Conflicted,
                "still no",
                ("False", "Conflicted", "still no", 0),
            ),
            (
                9,
                Status::True,
                Reason::Accepted,
                "",
                ("True", "Accepted", "", 9),
            ),
            (
                12,
                Status::True,
                Reason::Accepted,
                "",
                ("True", "Accepted", "", 9),
            ),
            (
                15,
                Status::Unknown,
                Reason::NoNameServer,
                "?",
                ("Unknown", "NoNameServer", "?", 15),
            ),
        ];
        let mut conditions = Vec::new();
        for (second, status, reason, message, (s, r, m, time)) in steps {
            conditions = merge(
                &conditions,
                &[found(ConditionType::Accepted, status, reason, message)],
                at(second),
            );
            assert_eq!(brief(&conditions), [("Accepted", s, r, m, time)]);
        }
    }

    #[test]
    fn saying_the_same_again_changes_nothing() {
        let said = [
            found(
                ConditionType::Accepted,
                Status::True,
                Reason::Accepted,
                "ok",
            ),
            found(
                ConditionType::Published,
                Status::Unknown,
                Reason::NoNameServer,
                "",
            ),
        ];
        let first = merge(&[foreign("example.org/Painted")], &said, at(0));
        assert_eq!(merge(&first, &said, at(99)), first);
        assert_eq!(merge(&first, &[], at(99)), first);
        let reversed = [said[1].clone(), said[0].clone()];
        assert_eq!(
            merge(&first, &reversed, at(99)),
            first,
            "the order of findings does not reorder the list"
        );
    }

    #[test]
    fn a_round_trip_through_json_changes_nothing() {
        let now = Timestamp::new(START, 987_654_321).unwrap();
        let said = [found(
            ConditionType::Accepted,
            Status::True,
            Reason::Accepted,
            "ok",
        )];
        let written = merge(&[], &said, now);
        let read: Vec<Condition> =
            serde_json::from_str(&serde_json::to_string(&written).unwrap()).unwrap();
        assert_eq!(read, written);
    }

    #[test]
    fn foreign_types_are_kept_and_keep_their_place() {
        let existing = [
            foreign("a.example/One"),
            foreign("Accepted"),
            foreign("z.example/Two"),
        ];
        let said = [
            found(ConditionType::Published, Status::True, Reason::Served, ""),
            found(ConditionType::Accepted, Status::True, Reason::Accepted, ""),
        ];
        assert_eq!(
            brief(&merge(&existing, &said, at(1))),
            [
                ("a.example/One", "False", "TheirReason", "not ours", -100),
                ("Accepted", "True", "Accepted", "", 1),
                ("z.example/Two", "False", "TheirReason", "not ours", -100),
                ("Published", "True", "Served", "", 1),
            ]
        );
    }

    #[test]
    fn of_several_entries_of_one_type_the_first_stays() {
        let existing = [
            foreign("Accepted"),
            foreign("a.example/One"),
            foreign("Accepted"),
            foreign("a.example/One"),
        ];
        let types: Vec<String> = merge(&existing, &[], at(0))
            .into_iter()
            .map(|c| c.type_)
            .collect();
        assert_eq!(types, ["Accepted", "a.example/One"]);
    }

    #[test]
    fn a_condition_that_no_longer_applies_can_be_dropped() {
        let existing = [
            foreign("Healthy"),
            foreign("Ready"),
            foreign("a.example/Healthy"),
        ];
        let types: Vec<String> = without(&existing, &[ConditionType::Healthy, ConditionType::Held])
            .into_iter()
            .map(|c| c.type_)
            .collect();
        assert_eq!(types, ["Ready", "a.example/Healthy"]);
    }

    #[test]
    fn the_observed_generation_follows_the_finding() {
        let first = merge(
            &[],
            &[found(ConditionType::Ready, Status::True, Reason::Ready, "")],
            at(0),
        );
        let said = found(ConditionType::Ready, Status::True, Reason::Ready, "").at(Some(7));
        let second = merge(&first, &[said], at(5));
        assert_eq!(second[0].observed_generation, Some(7));
        assert_eq!(
            second[0].last_transition_time,
            first[0].last_transition_time
        );
    }
}
