//! What a pass comes to: what the ServiceRecord says about itself.

use api::condition::merge;
use api::service_record::ServiceRecordStatus;
use api::{ConditionType, Finding, Reason, Status};
use jiff::Timestamp;

use super::records::published;
use super::service_record::shown;
use super::{Decision, HostView, Progress, StandingServiceRecord, Version, Write};
use crate::finding::Why;

/// Hosts or sources, as a sentence names them. More than these nobody reads.
const LISTED_MAX: usize = 10;

/// What a ServiceRecord is to say about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusUpdate {
    /// Which one, in which version.
    pub version: Version,
    /// What it is to say.
    pub status: ServiceRecordStatus,
}

/// What the ServiceRecord of a host says about itself after a pass; nothing if it says so already, or is only being made,
/// or goes. Not for one that was withdrawn: what a decision only offers is told as not confirmed.
pub fn conclude(view: &HostView, decision: &Decision, now: Timestamp) -> Option<StatusUpdate> {
    let standing = spoken_of(view, decision)?;
    let found = [
        accepted(decision),
        told(view, decision),
        conflicted(decision),
    ];
    let found = found.map(|it| it.at(standing.generation));
    let sights = &decision.sights;
    let addresses = published(sights.endpoints.iter().map(|it| &it.target));
    let status = ServiceRecordStatus {
        conditions: merge(&standing.status.conditions, &found, now),
        observed_generation: standing.generation,
        sources: sights.sources.clone(),
        addresses: addresses.into_iter().map(shown).collect(),
    };
    (status != standing.status).then(|| StatusUpdate {
        version: standing.version.clone(),
        status,
    })
}

/// The ServiceRecord that speaks for the host: the one that is where it should be, else the oldest.
fn spoken_of<'a>(view: &'a HostView, decision: &Decision) -> Option<&'a StandingServiceRecord> {
    let goes = |it: &&StandingServiceRecord| {
        let mut writes = decision.writes.iter();
        writes.any(|write| matches!(write, Write::DeleteServiceRecord(version) if version.key == *it.key()))
    };
    let mut standing = view.standing.iter().filter(|it| !goes(it) && !it.deleting);
    let home = decision.sights.home.as_ref();
    let at_home = standing.clone().find(|it| Some(it.key()) == home);
    at_home.or_else(|| standing.next())
}

fn accepted(decision: &Decision) -> Finding {
    let (status, (reason, message)) = if decision.sights.taken {
        let message = "where this ServiceRecord should be there is an object of the same name that was made by someone else; remove that one, or hand it over with the annotation zonewright.dev/adopt: \"true\"; until then everything stays as it is";
        (Status::False, (Reason::NameTaken, message.to_owned()))
    } else {
        let sources = decision.sights.sources.iter();
        let sources = sources.map(|it| format!("{} {}/{}", it.kind, it.namespace, it.name));
        let message = format!("asked for by {}", listed(&sources.collect::<Vec<_>>()));
        (Status::True, (Reason::Accepted, message))
    };
    Finding::new(ConditionType::Accepted, status, reason, message)
}

fn told(view: &HostView, decision: &Decision) -> Finding {
    let (status, (reason, message)) = is_published(view, decision);
    let message = [message].into_iter().chain(remarks(decision));
    let message = message.collect::<Vec<_>>().join("; ");
    Finding::new(ConditionType::Published, status, reason, message)
}

fn is_published(view: &HostView, decision: &Decision) -> (Status, Why) {
    let sights = &decision.sights;
    if sights.endpoints.is_empty() {
        let message =
            "the source has no address yet; as soon as it has one, this goes on by itself";
        return (Status::False, (Reason::NoAddress, message.to_owned()));
    }
    let fares = || view.records.iter().map(|it| &it.progress);
    let refusal = fares().find_map(|it| match it {
        Progress::Refused(reason, message) => Some((*reason, message.clone())),
        Progress::Served | Progress::Pending => None,
    });
    if let Some(why) = refusal {
        return (Status::False, why);
    }
    if !fares().any(|it| *it == Progress::Served) {
        let message = "its Records are on their way to a zone".to_owned();
        return (Status::False, (Reason::Pending, message));
    }
    let reason = if sights.kept.is_empty() && decision.withdrawal.is_none() {
        Reason::Published
    } else {
        Reason::Kept
    };
    let targets = published(sights.endpoints.iter().map(|it| &it.target));
    let targets: Vec<String> = targets.into_iter().map(shown).collect();
    (
        Status::True,
        (reason, format!("published with {}", listed(&targets))),
    )
}

/// What else is to be told: why something stays, and what is left out.
fn remarks(decision: &Decision) -> Vec<String> {
    let sights = &decision.sights;
    let kept = sights.kept.iter().map(|it| format!("kept: {it}"));
    let mut remarks: Vec<String> = kept.collect();
    if decision.withdrawal.is_some() {
        let message = "kept: no source is known that asks for it any more, and a look at them could not confirm that yet";
        remarks.push(message.to_owned());
    }
    if decision.next.is_some() && sights.kept.is_empty() {
        let message = "kept for a while although all addresses are gone";
        remarks.push(message.to_owned());
    }
    let targets = published(sights.endpoints.iter().map(|it| &it.target));
    let left_out = sights.endpoints.iter().map(|it| &it.target);
    let mut left_out: Vec<String> = left_out
        .filter(|it| !targets.contains(it))
        .map(shown)
        .collect();
    left_out.dedup();
    if !left_out.is_empty() {
        remarks.push(format!(
            "left out, for a name has one CNAME at most and none beside addresses: {}",
            listed(&left_out)
        ));
    }
    remarks
}

fn conflicted(decision: &Decision) -> Finding {
    let (status, (reason, message)) = match decision.sights.refused {
        0 => {
            let message = "no other namespace asks for the host".to_owned();
            (Status::False, (Reason::NoConflict, message))
        }
        others => {
            let message = format!(
                "namespaces that ask for the host too, and are refused for as long as this one does: {others}"
            );
            (Status::True, (Reason::FqdnClaimed, message))
        }
    };
    Finding::new(ConditionType::Conflicted, status, reason, message)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "nobody that is known".to_owned();
    }
    let shown: Vec<String> = names.iter().take(LISTED_MAX).cloned().collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
