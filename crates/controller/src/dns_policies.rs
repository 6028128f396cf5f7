//! The loop over DNSPolicies: what is watched goes into the index of Gateways, what is due is passed over.
//!
//! It makes DNSRecords and reads what became of them; the loop over DNSRecords does the rest. The two meet in the
//! Kubernetes API. One task owns the index and the queue; passes write on their own and come back when they are done.
//! Nothing is written before every kind has been seen once: a Gateway that has not been listed yet is not gone. A cluster
//! without the kind Gateway is one without Gateways until it is installed.

mod inbox;
mod pass;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use api::Condition;
use kube::Client;
use reconcile::dns_policy::decide;
use reconcile::gateways::Concerned;
use reconcile::{GatewayKey, Gateways, PolicyKey};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::info;

use crate::clock::Clock;
use crate::desk::{self, Begun, DeskOf, Ended, NoNews, TELL_WITHIN, Work};
use crate::events::Recorder;
use crate::feed::Fed;
use crate::metrics::Metrics;
use crate::queue::{self, Outcome};
use crate::running::Running;
use crate::surroundings::Surroundings;
use inbox::{Inbox, Watched};
use pass::{Finished, affect, enforce};

/// How many write to the Kubernetes API at a time.
const WRITES_AT_ONCE: usize = 8;

type Desk = DeskOf<Shell>;

/// What the loop over DNSPolicies is made of.
pub struct DnsPolicies {
    /// Where it runs.
    pub around: Surroundings,
    /// What the operator has chosen.
    pub options: Options,
}

/// What the operator has chosen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to look; empty: everywhere.
    pub namespaces: Vec<String>,
    /// How long what has lost its Gateway, its routes or its addresses is kept.
    pub grace: Duration,
}

/// What is passed over. Gateways come first: what is said about them costs little.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Key {
    Gateway(GatewayKey),
    Policy(PolicyKey),
}

impl Key {
    fn namespace(&self) -> String {
        match self {
            Key::Gateway(key) | Key::Policy(key) => key.namespace.clone(),
        }
    }

    /// The kind, as in the API.
    fn kind(&self) -> &'static str {
        match self {
            Key::Gateway(_) => "Gateway",
            Key::Policy(_) => "DNSPolicy",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Gateway(key) | Key::Policy(key) => write!(f, "{} {key}", self.kind()),
        }
    }
}

impl DnsPolicies {
    /// Begins to watch, and to do what follows. It has settled when every DNSRecord that was made has been looked at.
    pub fn start(mut self) -> Running {
        let sources = Watched::sources(&self.options.namespaces);
        let shell = Shell::new(&mut self.around, self.options, Inbox::new(&sources));
        desk::start(shell, &sources, self.around)
    }
}

struct Shell {
    client: Client,
    clock: Clock,
    metrics: Metrics,
    recorder: Recorder,
    options: Options,
    gateways: Gateways,
    inbox: Inbox,
    /// What each policy was last seen to say about itself.
    said: BTreeMap<PolicyKey, Vec<Condition>>,
    writers: Arc<Semaphore>,
    /// When the loop began: the grace period is counted on a clock that does not jump.
    began: Instant,
}

impl Work for Shell {
    type Kind = Watched;
    type Key = Key;
    type Finished = Finished;
    type News = NoNews;

    const PASSES_AT_ONCE: usize = 64;
    const DEBOUNCE: Duration = queue::DEBOUNCE;

    fn lane(key: &Key) -> String {
        key.namespace()
    }

    fn is_optional(kind: &Watched) -> bool {
        *kind == Watched::Gateway
    }

    fn fed(&mut self, fed: Fed<Watched>, desk: &mut Desk) {
        self.metrics.watched(fed.kind.name(), &fed.event);
        let concerned = self.inbox.take_in(fed, &mut self.gateways);
        follow(concerned, desk);
        self.forget_gone();
    }

    fn is_synced(&self) -> bool {
        self.inbox.is_synced()
    }

    fn look_at_all(&mut self, desk: &mut Desk) {
        let all = Concerned {
            policies: self.gateways.policies().cloned().collect(),
            gateways: self.gateways.gateways().cloned().collect(),
        };
        info!(
            policies = all.policies.len(),
            "Looking after every DNSPolicy"
        );
        follow(all, desk);
    }

    fn begin(&mut self, key: &Key, now: Instant) -> Begun<Finished> {
        let (client, writers) = (self.client.clone(), Arc::clone(&self.writers));
        let began = self.clock.now();
        match key {
            Key::Gateway(gateway) => {
                let Some(view) = self.gateways.affected(gateway) else {
                    return Begun::Over(Outcome::Done);
                };
                self.inbox.begin(key);
                let gateway = gateway.clone();
                Begun::Pass(Box::pin(async move {
                    affect(gateway, view, began, &client, &writers).await
                }))
            }
            Key::Policy(policy) => {
                let Some(view) = self.gateways.view(policy) else {
                    return Begun::Over(Outcome::Done);
                };
                self.inbox.begin(key);
                let decision = decide(&view, self.options.grace, now - self.began);
                Begun::Pass(Box::pin(async move {
                    enforce(view, decision, began, &client, &writers).await
                }))
            }
        }
    }

    fn finished(&mut self, finished: Finished, desk: &mut Desk) -> Ended<Key> {
        self.note(&finished);
        let key = finished.key.clone();
        let concerned = self.inbox.end(&key, finished.written, &mut self.gateways);
        follow(concerned, desk);
        if let Key::Policy(policy) = &key {
            // What could not be done is due still.
            if finished.result.is_ok() {
                self.gateways.passed(policy, finished.lapsing);
            }
            self.show(policy);
        }
        let outcome = match &finished.result {
            Ok(()) if finished.refused => Outcome::Failed,
            Ok(()) => match finished.next {
                Some(next) => Outcome::Again(self.began + next),
                None => Outcome::Done,
            },
            Err(error) => error.outcome(&key),
        };
        let kind = key.kind();
        Ended { key, kind, outcome }
    }

    fn is_quiet(&self) -> bool {
        !self.gateways.is_waiting()
    }

    async fn close(self) {
        self.recorder.close(TELL_WITHIN).await;
    }
}

fn follow(concerned: Concerned, desk: &mut Desk) {
    desk.push(concerned.gateways.into_iter().map(Key::Gateway));
    desk.push(concerned.policies.into_iter().map(Key::Policy));
}

impl Shell {
    fn new(around: &mut Surroundings, options: Options, inbox: Inbox) -> Shell {
        Shell {
            client: around.counted(),
            clock: around.clock,
            metrics: around.metrics.clone(),
            recorder: around.recorder(),
            options,
            gateways: Gateways::default(),
            inbox,
            said: BTreeMap::new(),
            writers: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
            began: Instant::now(),
        }
    }

    /// Tells people of transitions into and out of trouble (K3).
    fn note(&self, finished: &Finished) {
        let Some(object) = finished.reference() else {
            return;
        };
        let (before, after) = &finished.conditions;
        self.recorder.transitions(&object, before, after);
    }

    /// Shows operators how a policy stands.
    fn show(&mut self, policy: &PolicyKey) {
        let now = self.gateways.conditions(policy).map(<[Condition]>::to_vec);
        let before = self.said.remove(policy);
        let name = (policy.namespace.as_str(), policy.name.as_str());
        self.metrics
            .policy_stands(name, before.as_deref(), now.as_deref());
        self.said.extend(now.map(|now| (policy.clone(), now)));
    }

    /// Policies that are gone are shown no longer.
    fn forget_gone(&mut self) {
        for policy in self.inbox.take_gone() {
            self.show(&policy);
        }
    }
}
