//! One full pass over a DNSRecord: ask the zone, conclude, report. No step runs twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use api::well_known::{finalizer, label};
use api::{Condition, Decoded};
use dns::Name;
use dns::hosted::HostedKey;
use dns::ownership::OwnerId;
use dns::plan::Wanted;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::{Client, Resource as _};
use provider::Attempt;
use reconcile::DnsRecordKey;
use reconcile::dns_record::{
    Answer, DnsRecordView, Failure, LeftBehind, Next, Pace, Provider, Report, Upkeep, Want,
    conclude, is_clean,
};
use reconcile::hosted::{Ask, Cause, Verdict, Work};
use reconcile::hosting::Inputs;
use serde_json::json;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use super::probes;
use crate::hosted_zone::{HostedZone, HostedZoneKey, Reply};
use crate::hosted_zones::HostedZones;
use crate::write::{Target, WriteError, Writing};

/// Everything a pass is made from.
pub(super) struct Pass {
    pub(super) view: DnsRecordView,
    pub(super) inputs: Option<Inputs>,
    /// Only what was read from this time on is believed.
    pub(super) fresh: Option<Instant>,
    /// Only what was read from this time on shows that what was written took effect (C3).
    pub(super) proof: Option<Instant>,
    /// Somebody else keeps changing what is written.
    pub(super) contested: bool,
    /// An earlier pass wrote and could not say so.
    pub(super) unreported: bool,
    pub(super) began: Timestamp,
    /// How long ago it was first seen that it is being deleted.
    pub(super) deleting_for: Duration,
    /// How long to wait until what is written should show.
    pub(super) wait: Duration,
    pub(super) pace: Pace,
    /// Told when the record is no longer what the view shows.
    pub(super) changed: Arc<Notify>,
}

/// What a pass brought about.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each can be so by itself, and means something else to another"
)]
pub(super) struct Finished {
    pub(super) key: DnsRecordKey,
    pub(super) inputs: Option<Inputs>,
    /// What stands in the API now, if anything was written.
    pub(super) written: Option<Decoded<api::DnsRecord>>,
    pub(super) result: Result<(), WriteError>,
    /// Whether the provider was written to.
    pub(super) wrote: bool,
    /// Whether that undid what somebody else had done.
    pub(super) fought: bool,
    /// Whether all was as it had been left.
    pub(super) undisturbed: bool,
    /// Whether its zone was looked at.
    pub(super) reached: bool,
    /// What stays behind at its provider, now that it has gone.
    pub(super) left_behind: Option<LeftBehind>,
    /// Whether the pass did not come to what was wanted.
    pub(super) failed: bool,
    /// Whether it ended before it came to anything, because the record has changed.
    pub(super) superseded: bool,
    pub(super) next: Next,
    /// The zones it uses.
    pub(super) zones: BTreeSet<HostedZoneKey>,
    /// What the record said about itself, and what it says now.
    pub(super) conditions: Option<(Vec<Condition>, Vec<Condition>)>,
}

impl Finished {
    fn nothing(key: DnsRecordKey) -> Finished {
        Finished {
            key,
            inputs: None,
            written: None,
            result: Ok(()),
            wrote: false,
            fought: false,
            undisturbed: false,
            reached: false,
            left_behind: None,
            failed: false,
            superseded: false,
            next: Next::OnChange,
            zones: BTreeSet::new(),
            conditions: None,
        }
    }

    /// The record, for Events about it.
    pub(super) fn reference(&self) -> Option<ObjectReference> {
        Some(self.written.as_ref()?.object_ref(&()))
    }
}

/// Where a pass gets what it needs, and leaves what it did.
struct Reach<'a, 'w> {
    zones: &'a HostedZones,
    /// The zones it uses.
    used: &'a mut BTreeSet<HostedZoneKey>,
    writing: &'a mut Writing<'w, api::DnsRecord>,
    writers: &'a Semaphore,
}

/// What zones told.
struct Told {
    answer: Answer,
    wanted: Option<BTreeMap<HostedKey, Wanted>>,
    refused: Vec<String>,
    secret: String,
    /// What its provider calls the zone that was reached.
    zone: String,
    arrived: bool,
    wrote: bool,
    /// Whether nobody asked for anything else than what was published.
    unasked: bool,
}

impl Pass {
    pub(super) async fn run(
        mut self,
        client: &Client,
        zones: &HostedZones,
        writers: &Semaphore,
    ) -> Finished {
        let key = self.view.key.clone();
        let mut writing = writing(client, &self.view, &key);
        let mut finished = Finished {
            inputs: self.inputs.take(),
            ..Finished::nothing(key.clone())
        };
        finished.result = self
            .perform(&mut writing, zones, writers, &mut finished)
            .await;
        finished.written = writing.into_written();
        finished
    }

    async fn perform(
        &mut self,
        writing: &mut Writing<'_, api::DnsRecord>,
        zones: &HostedZones,
        writers: &Semaphore,
        finished: &mut Finished,
    ) -> Result<(), WriteError> {
        if self.view.deleting && !self.view.is_kept() {
            // Others keep it: nothing of ours is left.
            return Ok(());
        }
        // A probe that cannot be made is tried again with the next pass, and stops nothing else.
        let plan = &self.view.checked.plan;
        let probed = probes::carry_out(plan, &self.view.key, writing.target.client, writers).await;
        let owner = self.view.owner().id;
        let mut reach = Reach {
            zones,
            used: &mut finished.zones,
            writing,
            writers,
        };
        let told = if self.view.can_ask() {
            self.ask(&mut reach).await?
        } else {
            Some(Told::nothing())
        };
        let Some(told) = told else {
            finished.superseded = true;
            return Ok(());
        };
        finished.wrote = told.wrote;
        finished.reached = matches!(told.answer, Answer::Looked { .. });
        finished.fought = told.wrote && told.unasked && self.is_settled();
        finished.undisturbed = is_clean(&told.answer) && self.is_settled();
        let contested = self.rival(&told, &owner);
        let report = Report {
            answer: &told.answer,
            wanted: told.wanted.as_ref(),
            refused: &told.refused,
            owner: &owner,
            secret: &told.secret,
            zone: &told.zone,
            arrived: told.arrived,
            unreported: self.unreported,
            contested: contested.as_deref(),
            began: self.began,
            deleting_for: self.deleting_for,
            wait: self.wait,
        };
        let conclusion = conclude(&self.view, &report, &self.pace);
        finished.next = conclusion.next;
        finished.failed = conclusion.failed;
        let _turn = writers.acquire().await;
        if let Some(status) = &conclusion.status {
            let before = &self.view.status;
            writing.status(before, status).await?;
            finished.conditions = Some((before.conditions.clone(), status.conditions.clone()));
        }
        if conclusion.release {
            let all = self.view.finalizers.iter();
            let left: Vec<&String> = all.filter(|it| *it != finalizer::DNS_RECORD).collect();
            let patch = json!({ "metadata": { "finalizers": left } });
            writing.merge(patch).await?;
            finished.left_behind = conclusion.left_behind;
        }
        probed
    }

    /// Whether everything was as wanted or left to a rival, and nobody wants it otherwise now or elsewhere.
    fn is_settled(&self) -> bool {
        let view = &self.view;
        (view.is_ready() || view.is_contested())
            && view.is_observed()
            && view.former.is_none()
            && !view.deleting
    }

    /// Asks the zone that the record is to be in, and when it is there as wanted, the one that it was in before (P9).
    /// Nothing, if the record has changed before it was looked at.
    async fn ask(&self, reach: &mut Reach<'_, '_>) -> Result<Option<Told>, WriteError> {
        let want = if self.view.deleting {
            Want::Nothing
        } else {
            Want::Claim
        };
        let Ok(provider) = &self.view.provider else {
            return Ok(Some(Told::nothing()));
        };
        let Some(told) = self.ask_one(provider, want, reach).await? else {
            return Ok(None);
        };
        let former = match &self.view.former {
            None => return Ok(Some(told)),
            Some(former) => former.as_ref().ok().filter(|_| is_clean(&told.answer)),
        };
        let Some(former) = former else {
            return Ok(Some(Told {
                arrived: false,
                ..told
            }));
        };
        let left = self.ask_one(former, Want::Nothing, reach).await?;
        Ok(left.map(|left| {
            if is_clean(&left.answer) {
                return told;
            }
            Told {
                wanted: told.wanted,
                arrived: false,
                ..left
            }
        }))
    }

    async fn ask_one(
        &self,
        provider: &Provider,
        want: Want,
        reach: &mut Reach<'_, '_>,
    ) -> Result<Option<Told>, WriteError> {
        let mut told = Told {
            secret: provider.secret.clone(),
            arrived: true,
            ..Told::nothing()
        };
        let host = self.host();
        let found = reach
            .zones
            .get(&self.view.key.namespace, &provider.access, &host)
            .await;
        let (key, zone) = match found {
            Ok(found) => found,
            Err(failure) => {
                told.answer = Answer::Failed(failure);
                return Ok(Some(told));
            }
        };
        reach.used.insert(key.clone());
        told.zone.clone_from(&key.zone.0);
        let ask = self.view.ask(zone.limits(), &self.pace, want);
        let mut ask = match ask {
            Ok(ask) => ask,
            Err(refused) => {
                told.refused = refused;
                return Ok(Some(told));
            }
        };
        if self.view.upkeep().is_some() {
            if let Err(failure) = self.sight(&zone, &ask).await {
                told.answer = Answer::Failed(failure);
                return Ok(Some(told));
            }
            keep(&self.view, reach.writing, reach.writers).await?;
        }
        ask.may_write &= !self.contested;
        told.unasked = ask.cause == Cause::Unasked;
        told.wanted = Some(ask.wanted.clone());
        let Some(reply) = self.look(&zone, ask).await else {
            return Ok(None);
        };
        match reply {
            Ok((apex, verdict)) => {
                told.wrote = verdict.work == Work::Write;
                told.answer = Answer::Looked {
                    zone: (key.zone.0, apex),
                    verdict,
                };
            }
            Err(failure) => {
                told.wrote = failure.attempt == Attempt::Unclear;
                told.answer = Answer::Failed(failure);
            }
        }
        Ok(Some(told))
    }

    /// Whether a zone is there at all, seen without writing anything. A record is kept from going by what it may have left
    /// there, and not by credentials that never let it in (C4, P6).
    async fn sight(&self, zone: &HostedZone, ask: &Ask) -> Result<(), Failure> {
        if zone.is_known() {
            return Ok(());
        }
        let look = Ask {
            may_write: false,
            ..ask.clone()
        };
        zone.ask(look, self.fresh).await.map(drop)
    }

    /// Asks a zone. A spec that has changed is written on what is known, and at once; whether anything else took effect is
    /// seen by a look of its own. Nobody waits for that look when the record has changed again.
    async fn look(&self, zone: &HostedZone, ask: Ask) -> Option<Reply> {
        let proof = self.fresh.max(self.proof);
        if proof == self.fresh {
            return Some(zone.ask(ask, proof).await);
        }
        if !self.view.is_observed() {
            let reply = zone.ask(ask.clone(), self.fresh).await;
            let is_there = |(_, verdict): &(Name, Verdict)| verdict.work == Work::Nothing;
            if !reply.as_ref().is_ok_and(is_there) {
                return Some(reply);
            }
        }
        zone.ask_unless(ask, proof, self.changed.notified()).await
    }

    fn host(&self) -> Name {
        let claim = self.view.claim.as_ref().ok();
        claim.map_or_else(Name::root, |claim| claim.root_host.clone())
    }

    /// Who keeps changing what is written, if it has been too often and would be once more.
    fn rival(&self, told: &Told, own: &OwnerId) -> Option<String> {
        let Answer::Looked { verdict, .. } = &told.answer else {
            return None;
        };
        if !self.contested || verdict.work != Work::Exhausted {
            return None;
        }
        let others = verdict.domain_owners.iter().filter(|other| *other != own);
        let others: Vec<String> = others.map(|owner| format!("owner {owner}")).collect();
        Some(if others.is_empty() {
            format!("a writer that leaves no mark, or has the same owner id ({own}) elsewhere,")
        } else {
            others.join(", ")
        })
    }
}

/// A pass that is not full: finalizer and label, and nothing else.
pub(super) async fn light(
    view: DnsRecordView,
    zones: BTreeSet<HostedZoneKey>,
    next: Next,
    client: &Client,
    writers: &Semaphore,
) -> Finished {
    let key = view.key.clone();
    let mut writing = writing(client, &view, &key);
    let result = keep(&view, &mut writing, writers).await;
    Finished {
        written: writing.into_written(),
        result,
        next,
        zones,
        ..Finished::nothing(key)
    }
}

/// Makes sure that the record does not go before what it publishes has gone: from here on something may be there.
async fn keep(
    view: &DnsRecordView,
    writing: &mut Writing<'_, api::DnsRecord>,
    writers: &Semaphore,
) -> Result<(), WriteError> {
    let Some(Upkeep {
        finalizers,
        provider,
    }) = view.upkeep()
    else {
        return Ok(());
    };
    let _turn = writers.acquire().await;
    let labels = json!({ label::PROVIDER_NAME: provider });
    let patch = json!({ "metadata": { "finalizers": finalizers, "labels": labels } });
    writing.merge(patch).await
}

fn writing<'a>(
    client: &'a Client,
    view: &DnsRecordView,
    key: &'a DnsRecordKey,
) -> Writing<'a, api::DnsRecord> {
    let target = Target {
        client,
        namespace: &key.namespace,
        name: &key.name,
    };
    Writing::new(target, view.resource_version.clone())
}

impl Told {
    fn nothing() -> Told {
        Told {
            answer: Answer::Unasked,
            wanted: None,
            refused: Vec::new(),
            secret: String::new(),
            zone: String::new(),
            arrived: false,
            wrote: false,
            unasked: false,
        }
    }
}
