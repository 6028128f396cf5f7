//! What a pass comes to: the status, the finalizer, and when to look again.

use std::collections::BTreeMap;
use std::time::Duration;

use api::condition::{merge, without};
use api::dns_record::{DnsRecordStatus, ProviderRef};
use api::problem::summary;
use api::{ConditionType, Finding, Reason, Status, go_duration};
use dns::hosted::HostedKey;
use dns::ownership::OwnerId;
use dns::plan::Wanted;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use provider::{Attempt, Retry};

use super::withdrawal::{self, End, LeftBehind};
use super::{Answer, DnsRecordView, Failure, Pace, endpoints, finding};
use crate::hosted::{Verdict, Work};

/// What a full pass comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// What the record says of itself from now on; nothing if that is what it says already.
    pub status: Option<DnsRecordStatus>,
    /// Whether the record may go.
    pub release: bool,
    /// What stays behind when it goes.
    pub left_behind: Option<LeftBehind>,
    /// Whether it did not come to what was wanted.
    pub failed: bool,
    /// When to look again.
    pub next: Next,
}

/// When to look at a record again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Next {
    /// After this time.
    After(Duration),
    /// Some time after this, not everybody at once.
    NotBefore(Duration),
    /// Later and later.
    Backoff,
    /// When something changes.
    OnChange,
}

/// What a full pass found out.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What the zones told, the one that is to be published in first.
    pub answer: &'a Answer,
    /// What was asked for, if anything could be.
    pub wanted: Option<&'a BTreeMap<HostedKey, Wanted>>,
    /// What the provider cannot hold of it.
    pub refused: &'a [String],
    /// In whose name.
    pub owner: &'a OwnerId,
    /// The Secret of the zone that was asked.
    pub secret: &'a str,
    /// What the provider calls that zone, if it was reached.
    pub zone: &'a str,
    /// Whether the record has arrived there, and is nowhere else.
    pub arrived: bool,
    /// Whether an earlier pass wrote and could not say so.
    pub unreported: bool,
    /// Somebody who keeps changing what was written, if it has been too often.
    pub contested: Option<&'a str>,
    /// When the pass began.
    pub began: Timestamp,
    /// How long ago it was first seen that the record is being deleted. No clock is asked for this but the process' own:
    /// those of other machines may be ahead or behind.
    pub deleting_for: Duration,
    /// How long to wait for what was written to show, if anything was.
    pub wait: Duration,
}

/// What follows from a full pass.
pub fn conclude(view: &DnsRecordView, report: &Report<'_>, pace: &Pace) -> Conclusion {
    let found = Found::new(view, report, pace);
    let wait = match found.outcome {
        Outcome::Clean => pace.valid_for,
        Outcome::Wrote => report.wait,
        Outcome::Contested | Outcome::Failed(_) => Duration::ZERO,
    };
    let before = &view.status;
    let healthy = view.checked.told.clone().map(finding::healthy);
    let findings: Vec<Finding> = found
        .findings
        .into_iter()
        .chain(healthy)
        .map(|finding| finding.at(view.generation))
        .collect();
    let stale: Vec<ConditionType> = [
        ConditionType::Held,
        ConditionType::Conflicted,
        ConditionType::Healthy,
    ]
    .into_iter()
    .filter(|type_| findings.iter().all(|finding| finding.type_ != *type_))
    .collect();
    let conditions = without(&before.conditions, &stale);
    let mut status = DnsRecordStatus {
        conditions: merge(&conditions, &findings, report.began),
        observed_generation: view.generation,
        queued_at: Some(whole_seconds(report.began)),
        valid_for: Some(go_duration::format(signed(wait))),
        write_counter: Some(counted(view, report, &found.outcome)),
        owner_id: Some(report.owner.to_string()),
        secret_version: view.secret_version.clone(),
        ..before.clone()
    };
    if let Some(place) = found.place {
        place.write(&mut status, report, view);
    }
    if let Some(zone) = found.may_hold {
        status.zone_id.get_or_insert(zone);
    }
    let mut release = view.deleting && found.outcome == Outcome::Clean;
    let mut next = next(&found.outcome, pace, report.wait);
    let mut left_behind = None;
    if let Outcome::Failed(failed) = found.outcome {
        match withdrawal::end(view, failed, report.deleting_for) {
            End::Stays => {}
            End::Waits(time) => next = Next::After(time),
            End::Goes => release = true,
            End::LeavesBehind(left) => (release, left_behind) = (true, Some(left)),
        }
    }
    Conclusion {
        status: (status != *before && !release).then_some(status),
        release,
        left_behind,
        failed: matches!(found.outcome, Outcome::Contested | Outcome::Failed(_)),
        next,
    }
}

/// How a pass went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    /// There was nothing to write.
    Clean,
    /// Something was written.
    Wrote,
    /// Somebody else wants it otherwise: it is left alone for a while.
    Contested,
    /// It was not to be.
    Failed(Failed),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Failed {
    pub(super) retry: Retry,
    attempt: Attempt,
    /// Whether there is no way to the zone, so that nothing can be withdrawn from it (P6).
    pub(super) stuck: bool,
}

impl Failed {
    /// Whether it was a write in vain. A provider that asks for time has not refused one.
    fn counts(self) -> bool {
        self.attempt != Attempt::None && !matches!(self.retry, Retry::After(_))
    }
}

const ON_CHANGE: Outcome = Outcome::Failed(Failed {
    retry: Retry::OnChange,
    attempt: Attempt::None,
    stuck: false,
});

const STUCK: Outcome = Outcome::Failed(Failed {
    retry: Retry::OnChange,
    attempt: Attempt::None,
    stuck: true,
});

struct Found {
    outcome: Outcome,
    findings: Vec<Finding>,
    place: Option<PlaceFound>,
    /// The zone that a write may have reached.
    may_hold: Option<String>,
}

/// The zone that a record is published in.
struct PlaceFound {
    zone: String,
    apex: String,
    domain_owners: Vec<String>,
    published: bool,
}

impl Found {
    fn new(view: &DnsRecordView, report: &Report<'_>, pace: &Pace) -> Found {
        let blocked = |why| Found::of(ON_CHANGE, finding::failed(why));
        let stuck = |why| Found::of(STUCK, finding::failed(finding::stuck(why, view)));
        if view.abandoned && view.deleting {
            return Found::of(Outcome::Clean, Vec::new());
        }
        let claim = match &view.claim {
            Ok(claim) => claim,
            Err(faults) => {
                let reason = if faults.undecodable {
                    Reason::Undecodable
                } else {
                    Reason::ValidationError
                };
                let problems = summary(&faults.problems);
                let message = format!("validation of DNSRecord failed: {problems}");
                return stuck((reason, message));
            }
        };
        if claim.delegate {
            return blocked(crate::finding::delegated());
        }
        if !claim.unroutable.is_empty() && !view.deleting {
            return blocked(finding::unroutable(&claim.unroutable));
        }
        if !report.refused.is_empty() {
            return blocked(finding::refused(report.refused));
        }
        if let Err(trouble) = &view.provider {
            return stuck(finding::trouble(trouble));
        }
        if view.is_withheld() {
            return blocked(finding::withheld());
        }
        match report.answer {
            Answer::Unasked => blocked((Reason::Unknown, "nobody was asked".to_owned())),
            Answer::Failed(failure) => Found::failed(failure, view, report),
            Answer::Looked { zone, verdict } => {
                let mut found = Found::looked(view, verdict, report, pace);
                found.place = Some(PlaceFound {
                    zone: zone.0.clone(),
                    apex: zone.1.to_string().trim_end_matches('.').to_owned(),
                    domain_owners: verdict
                        .domain_owners
                        .iter()
                        .map(ToString::to_string)
                        .collect(),
                    published: matches!(verdict.work, Work::Nothing | Work::Write),
                });
                found
            }
        }
    }

    fn of(outcome: Outcome, findings: Vec<Finding>) -> Found {
        Found {
            outcome,
            findings,
            place: None,
            may_hold: None,
        }
    }

    fn failed(failure: &Failure, view: &DnsRecordView, report: &Report<'_>) -> Found {
        let zone = view.status.zone_id.clone();
        let named = view.provider.as_ref().ok();
        let named = named.and_then(|it| it.access.place.as_ref().map(|place| place.zone.clone()));
        let zone = named.or(zone).unwrap_or_default();
        let why = finding::failure(failure, report.secret, &zone);
        let outcome = Outcome::Failed(Failed {
            retry: failure.retry,
            attempt: failure.attempt,
            stuck: failure.way,
        });
        let findings = finding::failed(if failure.way {
            finding::stuck(why, view)
        } else {
            why
        });
        let unclear = failure.attempt == Attempt::Unclear;
        Found {
            may_hold: unclear.then(|| report.zone.to_owned()),
            ..Found::of(outcome, findings)
        }
    }

    fn looked(view: &DnsRecordView, verdict: &Verdict, report: &Report<'_>, pace: &Pace) -> Found {
        let with = Found::of;
        let mut found = match &verdict.work {
            Work::Held {
                hash,
                sets,
                empties,
            } => {
                let why = finding::held(hash, *sets, *empties);
                let mut findings = finding::failed(why.clone());
                let held = Finding::new(ConditionType::Held, Status::True, why.0, why.1);
                findings.push(held);
                with(ON_CHANGE, findings)
            }
            Work::Exhausted => with(
                ON_CHANGE,
                finding::failed(finding::exhausted(pace.write_limit)),
            ),
            Work::Nothing if !report.unreported => match &view.former {
                // It has arrived, and cannot leave.
                Some(Err(trouble)) => {
                    let why = finding::left_behind(finding::trouble(trouble));
                    with(STUCK, finding::failed(why))
                }
                Some(Ok(_)) | None => Found::settled(verdict),
            },
            Work::Nothing | Work::Write => {
                let why = if view.deleting {
                    finding::deleting()
                } else {
                    finding::awaiting()
                };
                let findings = vec![
                    finding::ready(Status::False, why.clone()),
                    finding::synchronised(Status::Unknown, why),
                ];
                with(Outcome::Wrote, findings)
            }
        };
        if let Some(writer) = report.contested {
            found.findings = finding::failed(finding::contested(writer));
            found.outcome = Outcome::Contested;
        }
        if !verdict.conflicts.is_empty() {
            let (reason, message) = finding::conflicted(&verdict.conflicts);
            let conflict = Finding::new(ConditionType::Conflicted, Status::True, reason, message);
            found.findings.push(conflict);
        }
        found
    }

    /// There was nothing to write.
    fn settled(verdict: &Verdict) -> Found {
        let why = if !verdict.conflicts.is_empty() {
            Some(finding::conflicted(&verdict.conflicts))
        } else if !verdict.complaints.is_empty() {
            Some(finding::complained(&verdict.complaints))
        } else {
            None
        };
        let findings = match why {
            Some(why) => finding::failed(why),
            None => vec![
                finding::ready(Status::True, finding::success()),
                finding::synchronised(Status::True, finding::success()),
            ],
        };
        Found::of(Outcome::Clean, findings)
    }
}

impl PlaceFound {
    fn write(self, status: &mut DnsRecordStatus, report: &Report<'_>, view: &DnsRecordView) {
        if report.arrived {
            status.zone_id = Some(self.zone);
            status.zone_domain_name = Some(self.apex);
            status.domain_owners = self.domain_owners;
            status.provider_ref = Some(ProviderRef {
                name: report.secret.to_owned(),
            });
        }
        if self.published && !view.deleting {
            status.endpoints = report.wanted.map(endpoints::shown).unwrap_or_default();
        }
    }
}

/// C7.
fn counted(view: &DnsRecordView, report: &Report<'_>, outcome: &Outcome) -> i64 {
    let anew = report
        .wanted
        .is_some_and(|wanted| view.health_moved(wanted));
    match outcome {
        Outcome::Clean => 0,
        Outcome::Wrote if anew => 1,
        Outcome::Wrote => view.writes() + 1,
        Outcome::Contested => view.writes(),
        Outcome::Failed(failed) => view.writes() + i64::from(failed.counts()),
    }
}

fn next(outcome: &Outcome, pace: &Pace, wait: Duration) -> Next {
    match outcome {
        // The seed's letter: whoever wants it tried again changes something.
        Outcome::Contested | Outcome::Failed(_) if !pace.retry => Next::OnChange,
        Outcome::Clean | Outcome::Contested => Next::After(pace.requeue),
        Outcome::Wrote => Next::After(wait),
        Outcome::Failed(failed) => match failed.retry {
            Retry::After(time) => Next::NotBefore(time),
            Retry::Backoff => Next::Backoff,
            Retry::OnChange => Next::OnChange,
        },
    }
}

/// The API keeps whole seconds.
fn whole_seconds(time: Timestamp) -> Time {
    Time(Timestamp::from_second(time.as_second()).unwrap_or(time))
}

fn signed(time: Duration) -> SignedDuration {
    SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)
}
