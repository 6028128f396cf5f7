//! Leader election: of several processes, one may write (O2).
//!
//! Candidates share a `coordination.k8s.io/v1` Lease. The leader renews it, twice as often as it has to; the others
//! watch whether it does, and take it over when it has not changed for as long as it says. Nobody compares clocks: what
//! counts is how long ago a candidate itself saw the Lease change, on its own clock. Every write names the version it
//! replaces, so of two who take it one succeeds.
//!
//! There are never two leaders. A leader counts from the moment it *began* its last successful renewal, and stops
//! leading at the renew deadline; others count from when they saw the result of that renewal, which is later, and wait
//! for the lease duration, which is longer.
//!
//! The border: this says who leads, not what a leader does. A leader that is told to stop in the middle of a write
//! relies on the version that its write names.

mod candidate;

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::PostParams;
use kube::{Api, Client};
use rand::Rng as _;
use rand::rngs::StdRng;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tracing::{info, warn};

use crate::clock::Clock;
use candidate::Candidate;

/// How long giving up the Lease may take at the end: whoever comes next waits no longer for it than for a crash.
const RELEASE_MAX: Duration = Duration::from_secs(5);

/// Which Lease to hold, and as whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// Who holds it: a name that no other process has, now or after a restart.
    pub identity: String,
    /// How long everything takes.
    pub timing: Timing,
}

/// How long a lease lasts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timing {
    lease_duration: Duration,
    renew_deadline: Duration,
    retry_period: Duration,
}

/// Why a [`Timing`] cannot be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TimingError {
    /// Another process could take the lease while the leader still leads.
    #[error("the renew deadline must be shorter than the lease duration")]
    LeaseTooShort,
    /// A leader would step down before it tried to renew twice.
    #[error("the retry period must be less than half of the renew deadline")]
    RetryTooLong,
    /// A Lease counts in seconds.
    #[error("the lease duration must be whole seconds")]
    NotSeconds,
    /// Requests without pause.
    #[error("the retry period must not be zero")]
    RetryTooShort,
}

impl Timing {
    /// A timing in which there cannot be two leaders.
    pub fn new(
        lease_duration: Duration,
        renew_deadline: Duration,
        retry_period: Duration,
    ) -> Result<Self, TimingError> {
        if lease_duration <= renew_deadline {
            return Err(TimingError::LeaseTooShort);
        }
        if renew_deadline <= retry_period * 2 {
            return Err(TimingError::RetryTooLong);
        }
        if retry_period.is_zero() {
            return Err(TimingError::RetryTooShort);
        }
        if lease_duration.subsec_nanos() != 0 {
            return Err(TimingError::NotSeconds);
        }
        Ok(Self {
            lease_duration,
            renew_deadline,
            retry_period,
        })
    }
}

impl Default for Timing {
    /// Kubernetes' own: 15, 10 and 2 seconds.
    fn default() -> Self {
        Self {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// Taking part in an election. Dropped, it stops as a crash would: others wait until the lease runs out.
#[derive(Debug)]
pub struct Election {
    leadership: watch::Receiver<bool>,
    release: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Election {
    /// Stands as a candidate from now on. Call it on the runtime that it is to run on.
    pub fn start(client: Client, options: Options, clock: Clock, chance: StdRng) -> Self {
        let (sender, leadership) = watch::channel(false);
        let (release, released) = oneshot::channel();
        let elector = Elector {
            leases: Api::namespaced(client, &options.namespace),
            name: options.name.clone(),
            candidate: Candidate::new(options),
            clock,
            chance,
            leadership: sender,
            error: None,
        };
        Self {
            leadership,
            release: Some(release),
            task: tokio::spawn(elector.run(released)),
        }
    }

    /// Whether this process leads. It says no from the very beginning, and again before anyone else could lead.
    pub fn leadership(&self) -> watch::Receiver<bool> {
        self.leadership.clone()
    }

    /// Stops leading, and then gives up the Lease, so that another may lead at once.
    pub async fn release(mut self) {
        if let Some(release) = self.release.take() {
            let _stopped = release.send(());
        }
        let _stopped = (&mut self.task).await;
    }
}

impl Drop for Election {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Does what the candidate says.
struct Elector {
    leases: Api<Lease>,
    name: String,
    candidate: Candidate,
    clock: Clock,
    chance: StdRng,
    leadership: watch::Sender<bool>,
    /// What went wrong in the last round, which need not be said again.
    error: Option<String>,
}

impl Elector {
    async fn run(mut self, mut released: oneshot::Receiver<()>) {
        loop {
            let began = Instant::now();
            let patience = self.candidate.patience(began);
            tokio::select! {
                biased;
                _ = &mut released => break,
                round = timeout_at(patience, self.round()) => {
                    self.end_round(round.unwrap_or_else(|_late| Err("no answer in time".to_owned())));
                }
            }
            let next = began + self.pause(began);
            let wake = self.candidate.wake(Instant::now(), next);
            tokio::select! {
                biased;
                _ = &mut released => break,
                () = sleep_until(wake) => self.tell(),
            }
        }
        self.leadership.send_replace(false);
        let given_up = timeout(RELEASE_MAX, self.give_up()).await;
        if let Err(error) = given_up.unwrap_or_else(|_late| Err("no answer in time".to_owned())) {
            warn!(lease = self.name, error, "Could not give up the lease");
        }
    }

    /// Claims the Lease, if it may be claimed. A leader wrote it and need not look first, unless that goes wrong.
    async fn round(&mut self) -> Result<(), String> {
        if self.candidate.leads(Instant::now()) && self.claim().await.is_ok() {
            return Ok(());
        }
        self.look().await?;
        self.claim().await
    }

    async fn look(&mut self) -> Result<(), String> {
        let seen = self.leases.get_opt(&self.name).await;
        let seen = seen.map_err(|error| error.to_string())?;
        self.candidate.saw(seen, Instant::now());
        Ok(())
    }

    async fn claim(&mut self) -> Result<(), String> {
        let (began, time) = (Instant::now(), self.clock.now());
        if let Some(claim) = self.candidate.claim(began, time) {
            let written = self.write(&claim).await?;
            self.candidate.wrote(written, began);
        }
        Ok(())
    }

    /// Gives up the Lease. It is read first: a renewal that was under way may or may not have been written.
    async fn give_up(&mut self) -> Result<(), String> {
        self.look().await?;
        if let Some(lease) = self.candidate.release(self.clock.now()) {
            self.write(&lease).await?;
        }
        Ok(())
    }

    fn end_round(&mut self, round: Result<(), String>) {
        let error = round.err();
        if let Some(error) = &error
            && self.error.as_ref() != Some(error)
        {
            warn!(
                lease = self.name,
                error, "Could not take part in the election"
            );
        }
        self.error = error;
        self.tell();
    }

    /// Tells whether we lead, if that is news.
    fn tell(&self) {
        let leads = self.candidate.leads(Instant::now());
        let news = self
            .leadership
            .send_if_modified(|told| std::mem::replace(told, leads) != leads);
        if news {
            info!(lease = self.name, leads, "Leadership changed");
        }
    }

    /// Creates the Lease, or replaces the version that was seen.
    async fn write(&self, lease: &Lease) -> Result<Lease, String> {
        let params = PostParams::default();
        let written = if lease.metadata.resource_version.is_some() {
            self.leases.replace(&self.name, &params, lease).await
        } else {
            self.leases.create(&params, lease).await
        };
        written.map_err(|error| error.to_string())
    }

    /// From the beginning of a round to that of the next. Those who wait for the Lease do not all ask at the same time.
    fn pause(&mut self, began: Instant) -> Duration {
        let period = self.candidate.period(began);
        period.mul_f64(self.chance.random_range(0.8..=1.0))
    }
}
