//! What is remembered of a record from pass to pass, beside what it says itself.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::Rng;
use reconcile::DnsRecordKey;
use reconcile::hosting::Stand;
use tokio::time::Instant;

use super::contention::Contention;
use crate::backoff::Backoff;
use crate::hosted_zone::HostedZoneKey;
use crate::metrics::{Metrics, Shown};

#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a reason to look that can come by itself"
)]
pub(super) struct Memory {
    /// When it is due without anybody asking.
    due: Option<Instant>,
    /// Something was done to the record, or to what it depends on.
    pub(super) asked: bool,
    /// What is there at the provider is not what it was.
    pub(super) drift: bool,
    /// Only what was read from this time on is believed.
    pub(super) fresh: Option<Instant>,
    /// The last pass failed or could not be reported, and is to be tried again.
    pub(super) retry: bool,
    /// When it was first seen that it is being deleted.
    deleting: Option<Instant>,
    /// Failures in a row.
    pub(super) failures: u32,
    /// It was written, and could not say so.
    pub(super) unreported: bool,
    /// How often what others changed was repaired.
    pub(super) contention: Contention,
    /// The zones it uses.
    pub(super) zones: BTreeSet<HostedZoneKey>,
    /// Its numbers.
    shown: Option<Shown>,
}

impl Memory {
    /// A full pass begins: what woke it is taken care of.
    pub(super) fn begin(&mut self) {
        self.asked = false;
        self.drift = false;
        self.fresh = None;
        self.due = None;
    }

    /// How long ago it was first seen that it is being deleted.
    pub(super) fn deleting_for(&mut self, deleting: bool, now: Instant) -> Duration {
        self.deleting = deleting.then(|| self.deleting.unwrap_or(now));
        self.deleting.map_or(Duration::ZERO, |since| now - since)
    }

    /// Whether the time has come to try again what failed.
    pub(super) fn retry_due(&self, now: Instant) -> bool {
        self.retry && self.due.is_none_or(|due| due <= now)
    }

    /// The next time it is due.
    pub(super) fn again(&mut self, due: Instant) -> Instant {
        self.due = Some(due);
        due
    }

    /// It was looked at too early: it is looked at again when what is known expires, or when it was due anyway.
    pub(super) fn premature(&mut self, now: Instant, valid_for: Duration) -> Instant {
        self.asked = false;
        self.drift = false;
        let expires = now + valid_for;
        let due = self.due.filter(|due| now < *due);
        self.again(due.map_or(expires, |due| due.min(expires)))
    }

    /// How long to wait after another failure.
    pub(super) fn fail(&mut self, backoff: &Backoff, chance: &mut impl Rng) -> Duration {
        self.failures = self.failures.saturating_add(1);
        backoff.delay(self.failures, chance)
    }

    /// Shows how it stands.
    pub(super) fn show(&mut self, key: &DnsRecordKey, stand: &Stand, metrics: &Metrics) {
        let shown = self.shown.take();
        let same = shown.filter(|shown| shown.root_host() == stand.root_host);
        let shown = same.unwrap_or_else(|| metrics.show_dns_record(key, &stand.root_host));
        shown.set(stand.writes, stand.ready);
        self.shown = Some(shown);
    }

    /// Shows no more how it stands.
    pub(super) fn hide(&mut self) {
        self.shown = None;
    }
}
