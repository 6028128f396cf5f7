//! What a pass comes to: what the policy says about itself (D3).

use std::collections::BTreeMap;

use api::condition::{self, is_bad, merge, without};
use api::dns_policy::DnsPolicyStatus;
use api::parse::provider_secret::Domain;
use api::{Condition, ConditionType, Finding, Reason, Status};
use jiff::Timestamp;

use super::{Decision, DnsPolicyView, MadeRecord, Progress, finding};
use crate::finding::Why;

/// What a policy says about itself after a pass; nothing if it says so already. `refused` is what the API did not take.
pub fn conclude(
    view: &DnsPolicyView,
    decision: &Decision,
    refused: &[String],
    now: Timestamp,
) -> Option<DnsPolicyStatus> {
    if view.deleting {
        return None;
    }
    let standing = Records::after(view, decision);
    let found = findings(view, decision, refused, &standing);
    let found: Vec<Finding> = found.into_iter().map(|it| it.at(view.generation)).collect();
    let ours = [ConditionType::Enforced, ConditionType::SubResourcesHealthy];
    let silent = ours.into_iter();
    let silent = silent.filter(|type_| found.iter().all(|finding| finding.type_ != *type_));
    let silent: Vec<ConditionType> = silent.collect();
    let kept = without(&view.status.conditions, &silent);
    let status = DnsPolicyStatus {
        conditions: merge(&kept, &found, now),
        observed_generation: view.generation,
        record_conditions: standing.troubles(),
        total_records: i32::try_from(standing.total()).ok(),
        ..view.status.clone()
    };
    (status != view.status).then_some(status)
}

fn findings(
    view: &DnsPolicyView,
    decision: &Decision,
    refused: &[String],
    records: &Records<'_>,
) -> Vec<Finding> {
    if let Err(refusal) = &view.standing {
        let (reason, message) = finding::refused(view, refusal);
        let not_ready = "not accepted, so nothing new is published: condition Accepted says why";
        return vec![
            Finding::new(ConditionType::Accepted, Status::False, reason, message),
            Finding::new(
                ConditionType::Ready,
                Status::False,
                Reason::NotAccepted,
                not_ready,
            ),
        ];
    }
    let (reason, message) = finding::accepted();
    let mut findings = vec![Finding::new(
        ConditionType::Accepted,
        Status::True,
        reason,
        message,
    )];
    let lapsing: Vec<String> = decision.lapsing.keys().cloned().collect();
    let remarks = finding::remarks(&decision.sights, &lapsing, refused);
    let told = |message: String| {
        let mut all = vec![message];
        all.extend(remarks.iter().cloned());
        all.join("; ")
    };
    let (enforced, why) = enforced(view, decision, refused, records);
    let (reason, message) = why;
    findings.push(Finding::new(
        ConditionType::Enforced,
        enforced,
        reason,
        told(message),
    ));
    findings.extend(view.health_check.as_ref().map(|_| healthy(records)));
    findings.push(ready(&findings, refused, records));
    findings
}

fn enforced(
    view: &DnsPolicyView,
    decision: &Decision,
    refused: &[String],
    records: &Records<'_>,
) -> (Status, Why) {
    let sights = &decision.sights;
    if is_outside(view, decision) {
        let domains: Vec<&Domain> = view.domains.values().collect();
        let secrets: Vec<String> = view.domains.keys().cloned().collect();
        return (Status::False, finding::outside(&domains, &secrets));
    }
    let unready = records.unready();
    let waiting = unready.len() + records.new;
    if !refused.is_empty() && waiting == records.total() {
        return (Status::False, (Reason::Unknown, finding::not_at_all()));
    }
    if records.total() == 0 {
        return (Status::True, (Reason::Enforced, finding::nothing(sights)));
    }
    if waiting == records.total() {
        let reason = if records.is_troubled() {
            Reason::Unknown
        } else {
            Reason::AwaitingValidation
        };
        return (Status::False, (reason, finding::not_at_all()));
    }
    let message = if waiting == 0 {
        finding::enforced()
    } else {
        let new = decision.create.iter();
        let new = new.filter_map(|record| record.metadata.name.clone());
        let mut names: Vec<String> = unready.into_iter().chain(new).collect();
        names.sort();
        finding::partially(&names)
    };
    (Status::True, (Reason::Enforced, message))
}

/// Whether every provider says which domain it is for, and no listener has a host there (D2).
fn is_outside(view: &DnsPolicyView, decision: &Decision) -> bool {
    let claim = view.claim.as_ref().ok();
    let providers = claim.map_or(0, |claim| claim.providers.len());
    let judged = providers > 0 && view.domains.len() == providers;
    let gateway = view.gateway.as_ref();
    let listens = gateway.is_some_and(|it| !it.listeners.is_empty());
    let sights = &decision.sights;
    judged && listens && sights.outside.len() == sights.hosts * providers
}

fn healthy(records: &Records<'_>) -> Finding {
    let health = |record: &MadeRecord| {
        let healthy = condition::find(&record.conditions, ConditionType::Healthy);
        healthy.map(|it| !is_bad(it))
    };
    // Nobody knows a host below a wildcard that could be asked.
    let wildcard = |record: &MadeRecord| record.host.as_ref().is_some_and(dns::Name::is_wildcard);
    let unhealthy = records.named(|it| health(it) == Some(false));
    let unknown = records.named(|it| health(it).is_none() && !wildcard(it));
    let (status, reason, message) = if !unhealthy.is_empty() {
        let message = finding::unhealthy(&unhealthy);
        (Status::False, Reason::Unknown, message)
    } else if records.total() == 0 {
        let message = "No sub-resources present".to_owned();
        (Status::True, Reason::SubResourcesHealthy, message)
    } else if unknown.len() + records.new > 0 {
        let message = "not every DNSRecord has been checked yet".to_owned();
        (Status::Unknown, Reason::Unknown, message)
    } else {
        let message = "All sub-resources are healthy".to_owned();
        (Status::True, Reason::SubResourcesHealthy, message)
    };
    Finding::new(ConditionType::SubResourcesHealthy, status, reason, message)
}

/// Whether everything that the policy should publish is published.
fn ready(found: &[Finding], refused: &[String], records: &Records<'_>) -> Finding {
    let ready = |status, reason, message: String| {
        Finding::new(ConditionType::Ready, status, reason, message)
    };
    let enforced = found.iter().find(|it| it.type_ == ConditionType::Enforced);
    if enforced.is_some_and(|it| it.status != Status::True) {
        let message = "not enforced: condition Enforced says why".to_owned();
        return ready(Status::False, Reason::NotEnforced, message);
    }
    let unready = records.unready();
    if unready.len() + records.new > 0 {
        let message = format!(
            "not every DNSRecord is ready: {} of {} are not; status.recordConditions says why",
            unready.len() + records.new,
            records.total()
        );
        let reason = if records.is_troubled() {
            Reason::NotReady
        } else {
            Reason::AwaitingValidation
        };
        return ready(Status::False, reason, message);
    }
    if !refused.is_empty() {
        let message = "not every DNSRecord could be written: condition Enforced says why";
        return ready(Status::False, Reason::NotReady, message.to_owned());
    }
    if records.total() == 0 {
        let message = "nothing to publish: condition Enforced says why".to_owned();
        return ready(Status::False, Reason::NothingToPublish, message);
    }
    let message = format!("{} DNSRecords are ready", records.total());
    ready(Status::True, Reason::Ready, message)
}

/// The records of a policy once a decision is carried out.
struct Records<'a> {
    /// Those that stay, taken over ones among them; whether each is changed.
    standing: Vec<(&'a MadeRecord, bool)>,
    /// How many are made.
    new: usize,
}

impl<'a> Records<'a> {
    fn after(view: &'a DnsPolicyView, decision: &'a Decision) -> Records<'a> {
        let goes = |record: &MadeRecord| decision.delete.iter().any(|it| it.name == record.name);
        let changed = |record: &MadeRecord| {
            let mut updates = decision.update.iter();
            updates.any(|it| it.before.name == record.name && it.changes_spec())
        };
        let taken = decision.update.iter().map(|it| &it.before);
        let taken = taken.filter(|it| it.policy_uid != view.uid);
        let own = view
            .own
            .iter()
            .filter(|it| it.marked || decision.updates(it));
        let all = own.chain(taken).filter(|it| !goes(it));
        Records {
            standing: all.map(|it| (it, changed(it))).collect(),
            new: decision.create.len(),
        }
    }

    fn total(&self) -> usize {
        self.standing.len() + self.new
    }

    /// The names of those of which something holds.
    fn named(&self, holds: impl Fn(&MadeRecord) -> bool) -> Vec<String> {
        let all = self.standing.iter().filter(|(record, _)| holds(record));
        all.map(|(record, _)| record.name.clone()).collect()
    }

    /// The names of those that are not published as wanted. What is just being changed is nowhere yet.
    fn unready(&self) -> Vec<String> {
        let is_ready = |record: &MadeRecord| record.progress() == Progress::Ready;
        let all = self.standing.iter();
        let all = all.filter(|(record, changed)| *changed || !is_ready(record));
        all.map(|(record, _)| record.name.clone()).collect()
    }

    /// Whether something is in the way of one of them; otherwise those that are not ready are on their way.
    fn is_troubled(&self) -> bool {
        let mut standing = self.standing.iter();
        standing.any(|(record, changed)| !changed && record.progress() == Progress::Troubled)
    }

    /// What is wrong with each, by its host.
    fn troubles(&self) -> BTreeMap<String, Vec<Condition>> {
        let mut troubles: BTreeMap<String, Vec<Condition>> = BTreeMap::new();
        for (record, _) in &self.standing {
            let Some(spec) = &record.spec else {
                continue;
            };
            for condition in record.conditions.iter().filter(|it| is_bad(it)) {
                let known = troubles.entry(spec.root_host.clone()).or_default();
                // Listeners may share a host: what both say is said once.
                let twin =
                    |it: &Condition| it.type_ == condition.type_ && it.message == condition.message;
                if !known.iter().any(twin) {
                    known.push(condition.clone());
                }
            }
        }
        troubles
    }
}
