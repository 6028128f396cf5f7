//! When a pass is full, what it asks for, and what it comes to: as tables.

use std::time::Duration;

use api::dns_record::DnsRecordStatus;
use api::go_duration;
use api::parse::provider_secret::{Credentials, Domain, Place, ProviderSecret};
use jiff::{SignedDuration, Timestamp};
use provider::Error;
use provider::Retry;
use serde_json::{Value, json};

use super::*;
use crate::hosted::{Approval, Cause, Verdict, Work};

mod withdrawal;

const NOW: &str = "2026-03-04T05:06:07Z";

const PACE: Pace = Pace {
    valid_for: Duration::from_mins(14),
    requeue: Duration::from_mins(15),
    write_limit: 20,
    retry: true,
};

const WAIT: Duration = Duration::from_secs(4);

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

/// A record of generation 3 whose status says what `status` says.
fn view(status: Value) -> DnsRecordView {
    let object: api::DnsRecord = serde_json::from_value(json!({
        "metadata": { "name": "app", "namespace": "web", "uid": "u", "generation": 3 },
        "spec": {
            "rootHost": "app.example.org",
            "providerRef": { "name": "dns" },
            "endpoints": [{ "dnsName": "app.example.org", "recordTTL": 60, "recordType": "A", "targets": ["192.0.2.1"] }],
        },
    }))
    .expect("a DNSRecord");
    DnsRecordView {
        key: DnsRecordKey::new("web", "app"),
        uid: "u".to_owned(),
        generation: Some(3),
        resource_version: Some("1".to_owned()),
        claim: Ok(parse::dns_record::parse(&object).expect("nothing wrong")),
        status: serde_json::from_value(status).expect("a status"),
        deleting: false,
        in_cluster: false,
        ending: None,
        finalizers: vec![finalizer::DNS_RECORD.to_owned()],
        provider_label: Some("inmemory".to_owned()),
        provider: Ok(provider_at("example.org")),
        secret_version: Some("s/1".to_owned()),
        former: None,
        abandoned: false,
        approval: Approval::None,
        spared: BTreeSet::new(),
        names_wanted: NamesWanted::default(),
        owned_total: 0,
        checked: Checked::default(),
    }
}

fn provider_at(zone: &str) -> Provider {
    let domain = Name::parse("example.org.").expect("a name");
    Provider {
        secret: "dns".to_owned(),
        access: ProviderSecret {
            place: Some(Place {
                zone: zone.to_owned(),
                domain: Domain::AtOrBelow(domain),
            }),
            credentials: Credentials::InMemory,
        },
    }
}

/// A status that was written so many seconds ago.
fn status(ready: &str, seconds: i64, valid_for: &str, writes: i64) -> Value {
    let (status, reason) = ready.split_once('/').expect("a status and a reason");
    let queued_at = now() - SignedDuration::from_secs(seconds);
    json!({
        "observedGeneration": 3,
        "queuedAt": queued_at.to_string(),
        "validFor": valid_for,
        "writeCounter": writes,
        "conditions": [{ "type": "Ready", "status": status, "reason": reason, "message": "", "lastTransitionTime": NOW }],
    })
}

#[test]
fn a_pass_is_full_when_something_changed_failed_or_expired() {
    // C5, C6.
    let ready = "True/ProviderSuccess";
    let awaiting = "False/AwaitingValidation";
    let quiet = Wake::default();
    let inputs = Wake {
        inputs: true,
        ..quiet
    };
    let drift = Wake {
        drift: true,
        ..quiet
    };
    let retry = Wake {
        retry: true,
        ..quiet
    };
    let light = |minutes| Depth::Light {
        valid_for: Duration::from_mins(minutes),
    };
    let cases = [
        ("fresh", status(ready, 60, "14m0s", 0), quiet, light(14)),
        (
            "a second before",
            status(ready, 839, "14m0s", 0),
            quiet,
            light(14),
        ),
        (
            "expired",
            status(ready, 840, "14m0s", 0),
            quiet,
            Depth::Full,
        ),
        ("obeyed", status(ready, 840, "1h", 0), quiet, light(60)),
        (
            "unreadable",
            status(ready, 0, "soon", 0),
            quiet,
            Depth::Full,
        ),
        ("empty", status(ready, 0, "", 0), quiet, Depth::Full),
        ("negative", status(ready, 0, "-5m", 0), quiet, Depth::Full),
        ("to come", status(ready, -1, "14m0s", 0), quiet, Depth::Full),
        (
            "never queued",
            json!({ "observedGeneration": 3, "validFor": "14m0s" }),
            quiet,
            Depth::Full,
        ),
        (
            "never observed",
            json!({ "queuedAt": NOW, "validFor": "14m0s" }),
            quiet,
            Depth::Full,
        ),
        ("inputs", status(ready, 60, "14m0s", 0), inputs, Depth::Full),
        ("drift", status(ready, 60, "14m0s", 0), drift, Depth::Full),
        (
            "drift of what was just written",
            status(awaiting, 60, "14m0s", 1),
            drift,
            light(14),
        ),
        ("retry", status(ready, 60, "14m0s", 0), retry, Depth::Full),
        (
            "failed",
            status("False/ProviderError", 0, "0s", 0),
            quiet,
            Depth::Full,
        ),
    ];
    for (case, status, wake, expected) in cases {
        assert_eq!(depth(&view(status), wake, now()), expected, "{case}");
    }
}

#[test]
fn a_new_generation_and_a_new_deletion_make_a_pass_full() {
    // C5.
    let mut edited = view(status("True/ProviderSuccess", 60, "14m0s", 0));
    edited.generation = Some(4);
    assert_eq!(depth(&edited, Wake::default(), now()), Depth::Full);
    for (reason, full) in [
        ("True/ProviderSuccess", true),
        ("False/ProviderEndpointsDeletion", false),
    ] {
        let mut deleted = view(status(reason, 1, "14m0s", 0));
        deleted.deleting = true;
        let depth = depth(&deleted, Wake::default(), now());
        assert_eq!(depth == Depth::Full, full, "{reason}");
    }
}

#[test]
fn whoever_asked_for_a_change_is_not_suspected() {
    // P10: a move is asked for as much as an edit is, and an edit that has not been written yet is still one.
    let limits = provider::InMemory::usual_limits();
    let cause = |view: &DnsRecordView| {
        let asked = view.ask(&limits, &PACE, Want::Claim);
        asked.expect("something to ask for").cause
    };
    let endpoint =
        json!({ "dnsName": "app.example.org", "recordType": "A", "targets": ["192.0.2.1"] });
    let published = |endpoints: Value| {
        let mut status = status("True/ProviderSuccess", 60, "14m0s", 0);
        status["endpoints"] = endpoints;
        view(status)
    };
    let settled = || published(json!([endpoint]));
    assert_eq!(cause(&settled()), Cause::Unasked);
    assert_eq!(cause(&published(json!([]))), Cause::Edited);
    let edited = DnsRecordView {
        generation: Some(4),
        ..settled()
    };
    assert_eq!(cause(&edited), Cause::Edited);
    let moving = DnsRecordView {
        former: Some(Ok(provider_at("old"))),
        ..settled()
    };
    assert_eq!(cause(&moving), Cause::Edited);
    let deleted = DnsRecordView {
        deleting: true,
        ..settled()
    };
    assert_eq!(cause(&deleted), Cause::Deleted);
}

fn looked(work: Work) -> Answer {
    Answer::Looked {
        zone: (
            "example.org".to_owned(),
            Name::parse("example.org.").expect("a name"),
        ),
        verdict: Verdict {
            work,
            conflicts: Vec::new(),
            complaints: Vec::new(),
            domain_owners: Vec::new(),
        },
    }
}

fn failed(error: &Error) -> Answer {
    Answer::Failed(Failure::of(error))
}

fn concluded(view: &DnsRecordView, answer: &Answer, pace: &Pace, unreported: bool) -> Conclusion {
    concluded_after(Duration::ZERO, view, answer, pace, unreported)
}

fn concluded_after(
    deleting_for: Duration,
    view: &DnsRecordView,
    answer: &Answer,
    pace: &Pace,
    unreported: bool,
) -> Conclusion {
    let owner = OwnerId::new("owner".to_owned());
    let report = Report {
        answer,
        wanted: None,
        refused: &[],
        owner: &owner,
        secret: "dns",
        zone: "Z1",
        arrived: true,
        unreported,
        contested: None,
        began: now(),
        deleting_for,
        wait: WAIT,
    };
    conclude(view, &report, pace)
}

/// `Ready`, `Synchronised`, the counter and how long it is good for.
fn shown(status: &DnsRecordStatus) -> (String, String, i64, Duration) {
    let said = |type_| {
        let found = condition::find(&status.conditions, type_).expect("said");
        format!("{}/{}", found.status, found.reason)
    };
    let valid_for = status.valid_for.as_deref().expect("written");
    let valid_for = go_duration::parse(valid_for).expect("a duration");
    (
        said(ConditionType::Ready),
        said(ConditionType::Synchronised),
        status.write_counter.expect("written"),
        valid_for.unsigned_abs(),
    )
}

#[test]
fn what_a_pass_comes_to() {
    // C1, C2, C3, C7, C8, P5.
    let throttled = Error::Throttled {
        after: Duration::from_secs(30),
    };
    let unclear = Error::Unclear("reset".into());
    let denied = Error::Denied("no".into());
    let refused = Error::Refused {
        reason: "no".to_owned(),
    };
    let (valid, requeue) = (PACE.valid_for, Next::After(PACE.requeue));
    let zero = Duration::ZERO;
    let limit = "False/WriteLimitReached";
    let (way, error) = ("False/DNSProviderError", "False/ProviderError");
    let awaiting = ("False/AwaitingValidation", "Unknown/AwaitingValidation");
    let success = ("True/ProviderSuccess", "True/ProviderSuccess");
    let soon = Next::NotBefore(Duration::from_secs(30));
    let cases = [
        (4, looked(Work::Nothing), success, 0, valid, requeue),
        (0, looked(Work::Write), awaiting, 1, WAIT, Next::After(WAIT)),
        (4, looked(Work::Write), awaiting, 5, WAIT, Next::After(WAIT)),
        (
            20,
            looked(Work::Exhausted),
            (limit, limit),
            20,
            zero,
            Next::OnChange,
        ),
        (4, failed(&throttled), (error, error), 4, zero, soon),
        (
            4,
            failed(&Error::Stale),
            (error, error),
            4,
            zero,
            Next::Backoff,
        ),
        (4, failed(&unclear), (error, error), 5, zero, Next::Backoff),
        (
            4,
            failed(&Error::Missing),
            (way, way),
            5,
            zero,
            Next::OnChange,
        ),
        (4, failed(&denied), (way, way), 5, zero, Next::OnChange),
        (4, failed(&refused), (error, error), 5, zero, Next::OnChange),
    ];
    for (writes, answer, says, count, valid_for, next) in cases {
        let view = view(status("False/AwaitingValidation", 60, "4s", writes));
        let conclusion = concluded(&view, &answer, &PACE, false);
        let status = conclusion.status.expect("something to say");
        let (ready, synchronised) = (says.0.to_owned(), says.1.to_owned());
        assert_eq!(
            shown(&status),
            (ready, synchronised, count, valid_for),
            "{answer:?}"
        );
        assert_eq!(conclusion.next, next, "{answer:?}");
        assert_eq!(status.observed_generation, Some(3));
        assert_eq!(status.queued_at.map(|at| at.0), Some(now()));
        assert!(!conclusion.release, "{answer:?}");

        // The seed's letter: what has failed waits for a change.
        let never = Pace {
            retry: false,
            ..PACE
        };
        let letter = concluded(&view, &answer, &never, false);
        let expected = if letter.failed { Next::OnChange } else { next };
        assert_eq!(letter.next, expected, "{answer:?}");
    }
}

#[test]
fn a_new_generation_starts_to_count_again() {
    // C7.
    let mut view = view(status("False/WriteLimitReached", 60, "0s", 20));
    assert!(!view.may_write(&PACE));
    view.generation = Some(4);
    assert!(view.may_write(&PACE));
    for (answer, count) in [
        (looked(Work::Write), 1),
        (failed(&Error::Stale), 0),
        (failed(&Error::Unclear("reset".into())), 1),
    ] {
        let status = concluded(&view, &answer, &PACE, false)
            .status
            .expect("news");
        assert_eq!(status.write_counter, Some(count), "{answer:?}");
    }
}

#[test]
fn a_record_may_go_after_a_clean_look_alone() {
    // C4, P6.
    let mut view = view(status("False/ProviderEndpointsDeletion", 60, "4s", 1));
    view.deleting = true;
    view.status.zone_id = Some("Z1".to_owned());
    let cases = [
        (looked(Work::Nothing), true),
        (looked(Work::Write), false),
        (looked(Work::Exhausted), false),
        (failed(&Error::Missing), false),
        (failed(&Error::Unclear("reset".into())), false),
        (Answer::Unasked, false),
    ];
    for (answer, release) in &cases {
        let conclusion = concluded(&view, answer, &PACE, false);
        assert_eq!(conclusion.release, *release, "{answer:?}");
    }
    // What was written and not told is looked at once more.
    assert!(!concluded(&view, &looked(Work::Nothing), &PACE, true).release);
    view.abandoned = true;
    for (answer, _) in &cases {
        assert!(concluded(&view, answer, &PACE, false).release, "{answer:?}");
    }
}

#[test]
fn nothing_new_is_not_written_again() {
    // C5.
    let view = view(status("True/ProviderSuccess", 60, "14m0s", 0));
    let first = concluded(&view, &looked(Work::Nothing), &PACE, false);
    let again = DnsRecordView {
        status: first.status.expect("news"),
        ..view
    };
    let second = concluded(&again, &looked(Work::Nothing), &PACE, false);
    assert_eq!(second.status, None);
}

#[test]
fn the_other_writer_is_named_and_left_alone_for_a_while() {
    // C10.
    let view = view(status("True/ProviderSuccess", 60, "14m0s", 0));
    let owner = OwnerId::new("owner".to_owned());
    let answer = looked(Work::Exhausted);
    let report = Report {
        answer: &answer,
        wanted: None,
        refused: &[],
        owner: &owner,
        secret: "dns",
        zone: "Z1",
        arrived: true,
        unreported: false,
        contested: Some("owner rival"),
        began: now(),
        deleting_for: Duration::ZERO,
        wait: WAIT,
    };
    let conclusion = conclude(&view, &report, &PACE);
    assert_eq!(conclusion.next, Next::After(PACE.requeue));
    let status = conclusion.status.expect("news");
    let ready = condition::find(&status.conditions, ConditionType::Ready).expect("said");
    assert_eq!(ready.reason, "Contested");
    assert!(
        ready.message.starts_with("owner rival keeps"),
        "{}",
        ready.message
    );
    assert_eq!(status.write_counter, Some(0));
}

#[test]
fn a_provider_that_asks_for_time_is_not_written_to_in_vain() {
    // C7: also where a part of a batch may have been written.
    let view = view(status("False/AwaitingValidation", 60, "4s", 19));
    let throttled = Failure {
        attempt: Attempt::Unclear,
        ..Failure::of(&Error::Throttled { after: WAIT })
    };
    let conclusion = concluded(&view, &Answer::Failed(throttled), &PACE, false);
    assert_eq!(conclusion.status.expect("news").write_counter, Some(19));
}

#[test]
fn an_error_says_how_far_a_write_came_and_whose_it_is() {
    // C7, C8.
    let refused = || Error::Refused {
        reason: "no".to_owned(),
    };
    let throttled = Error::Throttled { after: WAIT };
    let cases = [
        (throttled, Retry::After(WAIT), false, Attempt::None),
        (Error::Stale, Retry::Backoff, false, Attempt::None),
        (Error::Missing, Retry::OnChange, true, Attempt::Refused),
        (
            Error::Denied("no".into()),
            Retry::OnChange,
            true,
            Attempt::Refused,
        ),
        (refused(), Retry::OnChange, false, Attempt::Refused),
        (
            Error::Unclear("reset".into()),
            Retry::Backoff,
            false,
            Attempt::Unclear,
        ),
    ];
    for (error, retry, way, attempt) in cases {
        let failure = Failure::of(&error);
        assert_eq!(failure.retry, retry, "{error}");
        assert_eq!(failure.way, way, "{error}");
        assert_eq!(failure.attempt, attempt, "{error}");
    }
}
