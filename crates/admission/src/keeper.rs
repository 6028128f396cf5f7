//! Keeps our certificates, and what makes the API ask us: the shell around [`certificates`] and
//! [`configurations`].
//!
//! Every replica has a keeper and shows what the Secret holds, as soon as it changes. The one that leads also takes the steps of a rotation, and
//! writes the configurations: they are ours, so what others make of them is put back.
//!
//! Whoever leads may have been told so a while ago. Nothing it does then undoes what its successor did, because of the order: configurations are read
//! before the Secret, and each write names the revision that was read. To write a bundle from an older Secret, one would need the revision of a
//! configuration that was written later.

mod ours;
mod secret;
mod wakes;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration,
};
use kube::Client;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::certificates::{self, Facts, Found, Holding, Step, Terms};
use crate::clock::Clock;
use crate::configurations::{self, Installation, MUTATING, POLICY, VALIDATING};
use crate::serving::Serving;
use ours::{put, read};
use secret::Kept;

/// How often everything is looked at although nothing was heard: watches break, and clocks are set.
pub const LOOK_EVERY: Duration = Duration::from_mins(5);
/// The time between two looks because of what was heard. Whoever puts something else into our configurations again and again gets an answer once a second.
const APART: Duration = Duration::from_secs(1);
/// After an error the next look is this far away, and twice as far after each further one.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(1);

/// How a keeper works.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is installed, and where.
    pub installation: Installation,
    /// How long things last.
    pub terms: Terms,
    /// Where time comes from.
    pub clock: Clock,
    /// Where keys come from; [`certificates::fresh_key`] outside of tests.
    pub keys: fn() -> Result<x509::KeyPair, rcgen::Error>,
}

impl Options {
    /// As it is in a cluster.
    pub fn new(installation: Installation) -> Self {
        Self {
            installation,
            terms: Terms::default(),
            clock: Clock::system(),
            keys: certificates::fresh_key,
        }
    }
}

/// The keeper of one process.
pub struct Keeper {
    client: Client,
    options: Options,
    leading: watch::Receiver<bool>,
    serving: Arc<Serving>,
    /// The bundle that every configuration carries, and since when this is known.
    carried: Option<(String, Duration)>,
    /// Whether the API has policies at all, as far as is known.
    has_policies: bool,
}

/// What keeps a look from being finished.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The API did not do it.
    #[error("cannot {doing} {name}: {source}")]
    Api {
        /// What was tried.
        doing: &'static str,
        /// With what.
        name: &'static str,
        /// What the API said.
        source: Box<kube::Error>,
    },
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A certificate cannot be shown.
    #[error("cannot show the certificate in Secret zonewright-webhook: {0}")]
    Unshowable(#[from] rustls::Error),
}

impl Trouble {
    fn api(doing: &'static str, name: &'static str) -> impl FnOnce(kube::Error) -> Self {
        move |source| Self::Api {
            doing,
            name,
            source: Box::new(source),
        }
    }
}

/// What there was before anything was written.
struct Seen {
    mutating: Option<MutatingWebhookConfiguration>,
    validating: Option<ValidatingWebhookConfiguration>,
}

impl Keeper {
    /// A keeper that takes steps only while it leads. It does nothing before it is [run](Self::run).
    pub fn new(client: Client, options: Options, leading: watch::Receiver<bool>) -> Self {
        Self {
            client,
            options,
            leading,
            serving: Arc::default(),
            carried: None,
            has_policies: true,
        }
    }

    /// The same, for a listener that is already there.
    #[must_use]
    pub fn showing_at(mut self, serving: Arc<Serving>) -> Self {
        self.serving = serving;
        self
    }

    /// What the listener shows.
    pub fn serving(&self) -> &Arc<Serving> {
        &self.serving
    }

    /// Looks, acts and waits for as long as it is polled.
    pub async fn run(mut self) {
        let mut wakes = wakes::wakes(&self.client, &self.options.installation.namespace);
        let mut retry = RETRY_MIN;
        loop {
            let began = Instant::now();
            let rest = match self.pass().await {
                Ok(rest) => {
                    retry = RETRY_MIN;
                    rest.min(LOOK_EVERY)
                }
                Err(trouble) => {
                    let again = retry;
                    retry = (retry * 2).min(RETRY_MAX);
                    tracing::warn!(?again, "webhooks: {trouble}");
                    again
                }
            };
            let is_leading = *self.leading.borrow_and_update();
            tokio::select! {
                () = sleep(rest) => continue,
                Some(()) = wakes.next() => {}
                // Without anybody who could say so, nothing about it changes.
                () = changed(&mut self.leading) => {
                    if *self.leading.borrow() != is_leading {
                        continue;
                    }
                }
            }
            sleep_until(began + APART).await;
            while wakes.next().now_or_never().flatten().is_some() {}
        }
    }

    /// One look: shows what the Secret holds and, while it leads, takes at most one step. Says when to look again.
    pub async fn pass(&mut self) -> Result<Duration, Trouble> {
        if !*self.leading.borrow() {
            self.carried = None;
            return self.follow().await;
        }
        // Before the Secret: see the top of this file.
        let seen = Seen {
            mutating: read(&self.client, MUTATING).await?.object(),
            validating: read(&self.client, VALIDATING).await?.object(),
        };
        let Some(names) = self.options.installation.names() else {
            let published = self.publish(None, seen).await?;
            return Ok(again(published, LOOK_EVERY));
        };
        let kept = secret::read(&self.client, &self.options.installation.namespace).await?;
        let found = certificates::read(kept.fields());
        self.show(&found)?;
        let facts = Facts {
            now: self.options.clock.now().wall,
            names: &names,
            carried_for: self.carried_for(&found, &seen),
            terms: &self.options.terms,
        };
        let step = certificates::next(&found, &facts);
        let rest = step.rest();
        let held = found.bundle();
        let mut keys = self.options.keys;
        let holding = certificates::carry_out(&step, found, &facts, &mut keys)?;
        if let Some(holding) = &holding {
            self.write(&step, kept, holding).await?;
        }
        // There is always one or the other: from nothing there is a step.
        let Some(bundle) = holding.as_ref().map(Holding::bundle).or(held) else {
            return Ok(rest);
        };
        let published = self.publish(Some(&bundle), seen).await?;
        Ok(again(published, rest))
    }

    /// Shows what somebody else put into the Secret.
    async fn follow(&mut self) -> Result<Duration, Trouble> {
        if self.options.installation.names().is_none() {
            return Ok(LOOK_EVERY);
        }
        let kept = secret::read(&self.client, &self.options.installation.namespace).await?;
        self.show(&certificates::read(kept.fields()))?;
        Ok(LOOK_EVERY)
    }

    fn show(&self, found: &Found) -> Result<(), Trouble> {
        match found {
            Found::Whole(holding) => {
                if self.serving.show(&holding.leaf)? {
                    let until = holding.leaf.valid.until;
                    tracing::info!(%until, "webhooks: another certificate is shown from now on");
                }
            }
            // What was shown before is better than nothing.
            Found::Missing | Found::Damaged(_) => {}
        }
        Ok(())
    }

    /// For how long every configuration has been seen to carry what is held.
    fn carried_for(&mut self, found: &Found, seen: &Seen) -> Option<Duration> {
        let Found::Whole(holding) = found else {
            self.carried = None;
            return None;
        };
        let (bundle, now) = (holding.bundle(), self.options.clock.now().running);
        if !seen.carries(&self.options.installation, &bundle) {
            self.carried = None;
            return None;
        }
        let since = match self.carried.take() {
            Some((before, since)) if before == bundle => since,
            Some(_) | None => now,
        };
        self.carried = Some((bundle, since));
        Some(now.saturating_sub(since))
    }

    async fn write(&self, step: &Step, kept: Kept, holding: &Holding) -> Result<(), Trouble> {
        let namespace = &self.options.installation.namespace;
        secret::write(&self.client, namespace, kept, holding.fields()).await?;
        log(step);
        self.serving.show(&holding.leaf)?;
        Ok(())
    }

    /// Writes what is not as it should be. Says whether anything was.
    async fn publish(&mut self, bundle: Option<&str>, seen: Seen) -> Result<bool, Trouble> {
        let (client, installation) = (&self.client, &self.options.installation);
        let mutating = configurations::mutating(installation, bundle);
        let mutating = put(client, MUTATING, seen.mutating, mutating).await?;
        let validating = configurations::validating(installation, bundle);
        let validating = put(client, VALIDATING, seen.validating, validating).await?;
        let locked = self.lock().await?;
        Ok(mutating || validating || locked)
    }

    /// Writes the policy and its binding, where the API knows such things.
    async fn lock(&mut self) -> Result<bool, Trouble> {
        if !self.has_policies {
            return Ok(false);
        }
        let (client, installation) = (&self.client, &self.options.installation);
        let policy: ours::Found<ValidatingAdmissionPolicy> = read(client, POLICY).await?;
        if matches!(policy, ours::Found::UnknownKind) {
            tracing::info!(
                "webhooks: the API has no ValidatingAdmissionPolicies, so there is no second lock on DomainVerifications"
            );
            self.has_policies = false;
            return Ok(false);
        }
        let wanted = configurations::policy(installation);
        let policy = put(client, POLICY, policy.object(), wanted).await?;
        let binding: ours::Found<ValidatingAdmissionPolicyBinding> = read(client, POLICY).await?;
        let wanted = configurations::binding();
        let binding = put(client, POLICY, binding.object(), wanted).await?;
        Ok(policy || binding)
    }
}

impl Seen {
    fn carries(&self, installation: &Installation, bundle: &str) -> bool {
        let mutating = configurations::mutating(installation, Some(bundle));
        let validating = configurations::validating(installation, Some(bundle));
        ours::is_there(self.mutating.as_ref(), &mutating)
            && ours::is_there(self.validating.as_ref(), &validating)
    }
}

/// What was written is read back before it is relied on.
fn again(wrote: bool, rest: Duration) -> Duration {
    if wrote { Duration::ZERO } else { rest }
}

/// Comes when somebody says who leads; never, if there is nobody who could.
async fn changed(leading: &mut watch::Receiver<bool>) {
    if leading.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn log(step: &Step) {
    match step {
        Step::Rest(_) => {}
        Step::Replace { why } => {
            tracing::warn!(why, "webhooks: made new certificates and a new authority");
        }
        Step::Renew { why } => tracing::info!(why, "webhooks: renewed the certificate"),
        Step::Announce => tracing::info!("webhooks: a new authority is being made known"),
        Step::Switch => tracing::info!("webhooks: the new authority has taken over"),
        Step::Forget => tracing::info!("webhooks: the old authority is no longer believed"),
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
