//! One pass over a DNSRecord: whether to ask its provider now, what to ask, and what follows from the answer (C1–C10).
//!
//! ```text
//!                 full: something changed, failed or expired        light: nothing did
//! view ─► depth ─────────────────────────────────────────► ask      ──────────────────► the finalizer, and nothing else
//!                                                           │
//!                    conclude ◄─ answer ◄─ the zone's writer ┘
//! ```
//!
//! A record that was written is not ready before a later look has found nothing left to write. How long it waits for that
//! look, how long a look is good for, and how often it may be written in vain stands in its status, where people can see
//! it and edit it.

mod conclude;
mod endpoints;
mod finding;
mod withdrawal;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::dns_record::DnsRecordStatus;
use api::parse;
use api::parse::provider_secret::{Place, ProviderSecret};
use api::well_known::finalizer;
use api::{ConditionType, Problem, Reason, condition, go_duration};
use dns::Name;
use dns::hosted::{HostedKey, Share};
use dns::limits::Limits;
use dns::ownership::{Owner, OwnerId};
use dns::plan::Wanted;
use jiff::{SignedDuration, Timestamp};
use provider::{Attempt, Retry};

use crate::DnsRecordKey;
use crate::hosted::{Approval, Ask, Cause, NamesWanted, Verdict, Work};
use crate::probing::{Checked, Publish};
use crate::world::Faults;

pub use conclude::{Conclusion, Next, Report, conclude};
pub(crate) use endpoints::{key as key_of, published};
pub use withdrawal::{GRACE, LeftBehind};

/// How the operator wants records to be looked after.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How long a look that found nothing to do is good for.
    pub valid_for: Duration,
    /// When to look again after it.
    pub requeue: Duration,
    /// How often one generation may be written in a row.
    pub write_limit: u32,
    /// Whether to try again what may go away by itself.
    pub retry: bool,
}

/// Everything that bears on a DNSRecord.
#[derive(Clone, Debug)]
pub struct DnsRecordView {
    /// Which one.
    pub key: DnsRecordKey,
    /// Its uid.
    pub uid: String,
    /// The version of its spec.
    pub generation: Option<i64>,
    /// The version of all of it.
    pub resource_version: Option<String>,
    /// What it wants, or what is wrong with it.
    pub claim: Result<parse::dns_record::DnsRecord, Faults>,
    /// What it says about itself now.
    pub status: DnsRecordStatus,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether all that it has published is Records of this cluster, which go with it.
    pub in_cluster: bool,
    /// The uid of its namespace, if that is being deleted.
    pub ending: Option<String>,
    /// What keeps it from going.
    pub finalizers: Vec<String>,
    /// The provider that its label names (P13).
    pub provider_label: Option<String>,
    /// Where it is to be published.
    pub provider: Result<Provider, Trouble>,
    /// The version of the Secret, if there is one.
    pub secret_version: Option<String>,
    /// Where it has been published, if that is somewhere else.
    pub former: Option<Result<Provider, Trouble>>,
    /// Whether it is to be let go although its provider cannot be reached.
    pub abandoned: bool,
    /// What a person has approved.
    pub approval: Approval,
    /// What other records with the same owner want.
    pub spared: BTreeSet<HostedKey>,
    /// The names that any record wants.
    pub names_wanted: NamesWanted,
    /// How many sets all records of the Secret have put there.
    pub owned_total: usize,
    /// What the health of its targets comes to.
    pub checked: Checked,
}

/// A Secret that can be used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Provider {
    /// The name of the Secret.
    pub secret: String,
    /// What it says.
    pub access: ProviderSecret,
}

/// Why there is nobody to ask.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// The spec names no Secret, and none of the namespace is the default.
    NoDefault,
    /// More than one is.
    SeveralDefaults(Vec<String>),
    /// There is no such Secret.
    NoSecret(String),
    /// There is, and it cannot be used.
    BadSecret(String, Vec<Problem>),
    /// Its provider is not enabled.
    NotEnabled(String, &'static str),
    /// The host is not in the Secret's domain.
    Outside {
        /// The Secret.
        secret: String,
        /// Its domain.
        domain: String,
    },
}

/// Why a record is looked at now, beside what it says itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wake {
    /// Its Secret, or what a person asks for with an annotation, is another one than at the last full pass.
    pub inputs: bool,
    /// What is there at the provider is not what it was.
    pub drift: bool,
    /// The last pass failed, and the time to try again has come or another hand than ours has changed the record since.
    pub retry: bool,
}

/// What a record that is published carries in its metadata.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Upkeep {
    /// What keeps it from going before what it publishes has gone.
    pub finalizers: Vec<String>,
    /// The provider that its label names.
    pub provider: &'static str,
}

/// Whether a record says that it is all right.
pub(crate) fn is_ready(status: &DnsRecordStatus) -> bool {
    let ready = condition::find(&status.conditions, ConditionType::Ready);
    ready.is_some_and(|ready| !condition::is_bad(ready))
}

/// Whether a record says that its last pass failed.
pub(crate) fn has_failed(status: &DnsRecordStatus) -> bool {
    let ready = condition::find(&status.conditions, ConditionType::Ready);
    ready.is_some_and(condition::is_bad) && !is_awaiting(status)
}

fn is_awaiting(status: &DnsRecordStatus) -> bool {
    let awaiting = [
        Reason::AwaitingValidation,
        Reason::ProviderEndpointsDeletion,
    ];
    reason(status).is_some_and(|reason| awaiting.contains(&reason))
}

fn reason(status: &DnsRecordStatus) -> Option<Reason> {
    let ready = condition::find(&status.conditions, ConditionType::Ready)?;
    Reason::from_spelling(&ready.reason)
}

/// How thorough a pass is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Depth {
    /// The provider is asked.
    Full,
    /// Finalizers and the spec alone: what is there was looked at recently.
    Light {
        /// How long that is good for.
        valid_for: Duration,
    },
}

/// What the zone's writer told, or why it was not asked.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nobody was asked.
    Unasked,
    /// The zone was looked at.
    Looked {
        /// What it is called, and where it begins.
        zone: (String, Name),
        /// What was found.
        verdict: Verdict,
    },
    /// Something went wrong.
    Failed(Failure),
}

/// What went wrong with a provider. One failure can be many records'.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    /// What happened, in one line.
    pub story: String,
    /// When to try again.
    pub retry: Retry,
    /// Whether it is about the way to the zone rather than what was to be written there.
    pub way: bool,
    /// How far the write came, if it was one.
    pub attempt: Attempt,
}

impl Failure {
    /// What an error means for everybody it concerns.
    pub fn of(error: &provider::Error) -> Failure {
        use provider::Error;
        let way = match error {
            Error::Missing | Error::Denied(_) => true,
            Error::Throttled { .. } | Error::Stale | Error::Refused { .. } | Error::Unclear(_) => {
                false
            }
        };
        Failure {
            story: error.story(),
            retry: error.retry(),
            way,
            attempt: error.attempt(),
        }
    }
}

/// How thorough a pass has to be (C5, C6).
pub fn depth(view: &DnsRecordView, wake: Wake, now: Timestamp) -> Depth {
    let status = &view.status;
    let newly_deleted = view.deleting && reason(status) != Some(Reason::ProviderEndpointsDeletion);
    let valid_for = valid_for(status);
    let expired = status.queued_at.as_ref().is_none_or(|at| {
        // A time that is still to come would stop the record until then: nobody means that.
        at.0 > now
            || at
                .0
                .saturating_add(valid_for)
                .is_ok_and(|until| until <= now)
    });
    // What was just written is looked at in a moment anyway, and not before.
    let drift = wake.drift && !view.is_awaiting();
    let full = !view.is_observed()
        || newly_deleted
        || wake.inputs
        || drift
        || wake.retry
        || view.health_is_news()
        || expired;
    if full {
        Depth::Full
    } else {
        Depth::Light {
            valid_for: valid_for.unsigned_abs(),
        }
    }
}

/// What cannot be read is over (C6).
fn valid_for(status: &DnsRecordStatus) -> SignedDuration {
    let text = status.valid_for.as_deref().unwrap_or_default();
    let read = go_duration::parse(text).unwrap_or_default();
    read.max(SignedDuration::ZERO)
}

impl DnsRecordView {
    /// In whose name it is published.
    pub fn owner(&self) -> Owner {
        let chosen = self.claim.as_ref().ok();
        let chosen = chosen.and_then(|claim| claim.owner_id.clone());
        // What was used once stays: the marks carry it.
        let id = self.status.owner_id.clone().or(chosen);
        Owner {
            id: id.map_or_else(|| OwnerId::of_uid(&self.uid), OwnerId::new),
            share: Share {
                name: self.key.name.clone(),
                uid: self.uid.clone(),
            },
        }
    }

    /// What is to be asked of a zone: that it holds what the record wants, or nothing of it.
    pub fn ask(&self, limits: &Limits, pace: &Pace, want: Want) -> Result<Ask, Vec<String>> {
        let (root_host, wanted) = match (&self.claim, want) {
            (Ok(claim), Want::Claim) => {
                // What the provider cannot hold is told, healthy or not.
                let everything = endpoints::wanted(&claim.endpoints, limits)?;
                let wanted = match &self.checked.publish {
                    Publish::Everything => everything,
                    Publish::Part(left) | Publish::AsBefore(left) => {
                        endpoints::wanted(left, limits)?
                    }
                    Publish::Nothing => return Err(Vec::new()),
                };
                (claim.root_host.clone(), wanted)
            }
            (Ok(claim), Want::Nothing) => (claim.root_host.clone(), BTreeMap::new()),
            (Err(_), _) => return Err(Vec::new()),
        };
        let place = self.place(want);
        Ok(Ask {
            record: self.key.clone(),
            owner: self.owner(),
            scope: parse::fqdn::base(&root_host),
            root_host,
            domain: place.map(|place| place.domain.clone()),
            last: published(&self.status.endpoints),
            spared: self.spared.clone(),
            names_wanted: self.names_wanted.clone(),
            cause: self.cause(&wanted),
            approval: self.approval.clone(),
            may_write: self.may_write(pace) || self.health_moved(&wanted),
            owned_total: self.owned_total,
            wanted,
        })
    }

    /// Whether its spec is the one that the last full pass saw.
    pub fn is_observed(&self) -> bool {
        self.generation == self.status.observed_generation
    }

    /// Whether there is somebody to ask, and something to ask for.
    pub fn can_ask(&self) -> bool {
        let abandoned = self.deleting && self.abandoned;
        let claimed = self.claim.as_ref().is_ok_and(|claim| {
            // What goes needs no routing.
            !claim.delegate && (self.deleting || claim.unroutable.is_empty())
        });
        !abandoned && claimed && self.provider.is_ok() && !self.is_withheld()
    }

    /// Whether nothing is published before a target is healthy.
    pub fn is_withheld(&self) -> bool {
        self.checked.publish == Publish::Nothing
    }

    /// Whether it says something else about the health of its targets than is known, or has other probes than it should.
    pub fn health_is_news(&self) -> bool {
        let said = condition::find(&self.status.conditions, ConditionType::Healthy);
        let said = said.map(|said| (said.status.as_str(), said.reason.as_str(), &said.message));
        let told = self.checked.told.as_ref();
        let told =
            told.map(|(status, reason, message)| (status.as_str(), reason.as_str(), message));
        !self.checked.plan.is_empty() || said != told
    }

    /// Whether it carries our finalizer.
    pub fn is_kept(&self) -> bool {
        self.finalizers.iter().any(|it| it == finalizer::DNS_RECORD)
    }

    /// What its metadata is to say before anything is asked of its provider; nothing if it says so, or there is nothing to
    /// ask (C4, P13).
    pub fn upkeep(&self) -> Option<Upkeep> {
        let provider = self
            .provider
            .as_ref()
            .ok()?
            .access
            .credentials
            .kind()
            .name();
        let labelled = self.provider_label.as_deref() == Some(provider);
        if self.deleting || !self.can_ask() || (self.is_kept() && labelled) {
            return None;
        }
        let own = (!self.is_kept()).then(|| finalizer::DNS_RECORD.to_owned());
        Some(Upkeep {
            finalizers: self.finalizers.iter().cloned().chain(own).collect(),
            provider,
        })
    }

    /// Whether it was written and has not been seen to be right since.
    pub fn is_awaiting(&self) -> bool {
        is_awaiting(&self.status)
    }

    /// Whether its last pass failed.
    pub fn has_failed(&self) -> bool {
        has_failed(&self.status)
    }

    /// Whether it was left alone when it was last looked at, because somebody else keeps changing it.
    pub fn is_contested(&self) -> bool {
        reason(&self.status) == Some(Reason::Contested)
    }

    /// Whether it was all right when it was last looked at.
    pub fn is_ready(&self) -> bool {
        is_ready(&self.status)
    }

    fn place(&self, want: Want) -> Option<&Place> {
        let provider = match (want, &self.former) {
            (Want::Nothing, Some(former)) if !self.deleting => former,
            (Want::Nothing | Want::Claim, _) => &self.provider,
        };
        provider.as_ref().ok()?.access.place.as_ref()
    }

    /// Whoever changes the spec, or has the Secret lead elsewhere, has asked for what follows, for as long as it has not
    /// been published.
    fn cause(&self, wanted: &BTreeMap<HostedKey, Wanted>) -> Cause {
        if self.deleting {
            Cause::Deleted
        } else if self.is_observed() && self.former.is_none() && self.is_published(wanted) {
            Cause::Unasked
        } else {
            Cause::Edited
        }
    }

    /// Whether another part of it is to be published than last time because of the health of its targets: nobody has tried
    /// that in vain yet (C7).
    fn health_moved(&self, wanted: &BTreeMap<HostedKey, Wanted>) -> bool {
        let checked = self.checked.told.is_some() && self.is_observed();
        checked && !self.is_published(wanted)
    }

    /// Whether this is what was published last.
    fn is_published(&self, wanted: &BTreeMap<HostedKey, Wanted>) -> bool {
        let last = published(&self.status.endpoints);
        let is_same = |(key, set): (&HostedKey, &Wanted)| last.get(key) == Some(&set.data);
        last.len() == wanted.len() && wanted.iter().all(is_same)
    }

    /// Writes in a row of this generation so far.
    fn writes(&self) -> i64 {
        let counter = self.status.write_counter.filter(|_| self.is_observed());
        counter.unwrap_or_default()
    }

    /// C7.
    fn may_write(&self, pace: &Pace) -> bool {
        self.writes() < i64::from(pace.write_limit)
    }
}

/// What a record wants of a zone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Want {
    /// What its spec says.
    Claim,
    /// That nothing of it is left there.
    Nothing,
}

/// Whether a look found everything as it should be.
pub fn is_clean(answer: &Answer) -> bool {
    matches!(answer, Answer::Looked { verdict, .. } if verdict.work == Work::Nothing)
}

#[cfg(test)]
mod tests;
