//! What a candidate knows and what it does next. Pure: the time and what was read and written are handed in.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use tokio::time::Instant;

use super::{Options, Timing};

/// One who would lead.
#[derive(Debug)]
pub(super) struct Candidate {
    options: Options,
    sight: Sight,
    /// When the last write that made or kept us leader was begun.
    renewed: Option<Instant>,
}

/// What is known of the Lease.
#[derive(Debug)]
enum Sight {
    /// There is none, as far as we know.
    Nothing,
    /// It looked like this, for the first time at `since`.
    Lease { lease: Box<Lease>, since: Instant },
}

impl Candidate {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            sight: Sight::Nothing,
            renewed: None,
        }
    }

    /// How long after the round that began at `began` the next is due. One that renewed is good for half of the deadline; the
    /// other half is left for trying again and again.
    pub(super) fn period(&self, began: Instant) -> Duration {
        let Timing {
            renew_deadline,
            retry_period,
            ..
        } = self.options.timing;
        let renewed = self.renewed.is_some_and(|renewed| renewed >= began);
        if renewed {
            renew_deadline / 2
        } else {
            retry_period
        }
    }

    /// Whether we lead.
    pub(super) fn leads(&self, now: Instant) -> bool {
        self.deadline(now).is_some()
    }

    /// Until when a round may take: as long as we lead, or would if it succeeded.
    pub(super) fn patience(&self, now: Instant) -> Instant {
        let longest = now + self.options.timing.renew_deadline;
        self.deadline(now).unwrap_or(longest)
    }

    /// When to wake up if the next round is at `next`: when we cease to lead, if that is earlier.
    pub(super) fn wake(&self, now: Instant, next: Instant) -> Instant {
        self.deadline(now)
            .map_or(next, |deadline| deadline.min(next))
    }

    /// Takes in what was read.
    pub(super) fn saw(&mut self, lease: Option<Lease>, now: Instant) {
        let Some(lease) = lease else {
            self.sight = Sight::Nothing;
            self.renewed = None;
            return;
        };
        let since = match &self.sight {
            Sight::Lease {
                lease: known,
                since,
            } if same_version(known, &lease) => *since,
            Sight::Lease { .. } | Sight::Nothing => now,
        };
        let lease = Box::new(lease);
        self.sight = Sight::Lease { lease, since };
        if !self.is_ours() {
            self.renewed = None;
        }
    }

    /// Takes in that our claim, begun at `began`, was written.
    pub(super) fn wrote(&mut self, lease: Lease, began: Instant) {
        let lease = Box::new(lease);
        self.sight = Sight::Lease {
            lease,
            since: began,
        };
        self.renewed = Some(began);
    }

    /// The Lease to write in order to lead or go on leading, if it is ours, free, or has run out.
    pub(super) fn claim(&self, now: Instant, time: Timestamp) -> Option<Lease> {
        let time = MicroTime(time);
        let Sight::Lease { lease, since } = &self.sight else {
            return Some(self.new_lease(time));
        };
        let mut claim = Lease::clone(lease);
        let spec = claim.spec.get_or_insert_default();
        if !self.is_ours() {
            if !is_free(spec) && now < *since + self.duration(spec) {
                return None;
            }
            spec.acquire_time = Some(time.clone());
            spec.lease_transitions = Some(spec.lease_transitions.unwrap_or(0).saturating_add(1));
        }
        spec.holder_identity = Some(self.options.identity.clone());
        spec.lease_duration_seconds = Some(self.lease_seconds());
        spec.renew_time = Some(time);
        Some(claim)
    }

    /// The Lease to write in order to give it up, if it is ours. From now on we do not lead.
    pub(super) fn release(&mut self, time: Timestamp) -> Option<Lease> {
        self.renewed = None;
        let Sight::Lease { lease, .. } = &self.sight else {
            return None;
        };
        self.is_ours().then(|| {
            let mut lease = Lease::clone(lease);
            let spec = lease.spec.get_or_insert_default();
            spec.holder_identity = None;
            // As Kubernetes' own library does, for candidates that do not look at who holds it.
            spec.lease_duration_seconds = Some(1);
            spec.renew_time = Some(MicroTime(time));
            lease
        })
    }

    /// When we cease to lead, if we do now: the renew deadline is counted from the beginning of the last renewal.
    fn deadline(&self, now: Instant) -> Option<Instant> {
        let deadline = self.renewed? + self.options.timing.renew_deadline;
        Some(deadline).filter(|deadline| now < *deadline)
    }

    fn is_ours(&self) -> bool {
        match &self.sight {
            Sight::Nothing => false,
            Sight::Lease { lease, .. } => {
                let holder = lease
                    .spec
                    .as_ref()
                    .and_then(|spec| spec.holder_identity.as_deref());
                holder == Some(&self.options.identity)
            }
        }
    }

    fn new_lease(&self, time: MicroTime) -> Lease {
        Lease {
            metadata: ObjectMeta {
                name: Some(self.options.name.clone()),
                namespace: Some(self.options.namespace.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.options.identity.clone()),
                lease_duration_seconds: Some(self.lease_seconds()),
                acquire_time: Some(time.clone()),
                renew_time: Some(time),
                lease_transitions: Some(0),
                ..LeaseSpec::default()
            }),
        }
    }

    /// How long a holder that says so may be silent.
    fn duration(&self, spec: &LeaseSpec) -> Duration {
        match spec.lease_duration_seconds {
            Some(seconds) => Duration::from_secs(u64::try_from(seconds).unwrap_or(0)),
            None => self.options.timing.lease_duration,
        }
    }

    fn lease_seconds(&self) -> i32 {
        let seconds = self.options.timing.lease_duration.as_secs();
        i32::try_from(seconds).unwrap_or(i32::MAX)
    }
}

fn is_free(spec: &LeaseSpec) -> bool {
    spec.holder_identity.as_deref().is_none_or(str::is_empty)
}

/// Whether nobody has written between the two, not even the same holder the same time.
fn same_version(one: &Lease, other: &Lease) -> bool {
    let version = |lease: &Lease| {
        let ObjectMeta {
            uid,
            resource_version,
            ..
        } = lease.metadata.clone();
        (uid, resource_version)
    };
    version(one) == version(other)
}
