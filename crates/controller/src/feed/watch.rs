//! One watch: kube's watcher, begun again as often as it takes.

use std::pin::pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::watcher::{self, watcher};
use rand::rngs::StdRng;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::warn;

use super::progress::{Board, Standing};
use super::trouble::{Patience, Trouble};
use super::{Event, Fed, SILENCE_MAX};

/// A watch on a kind, everywhere or in one namespace.
pub(super) struct Watch<K> {
    pub(super) kind: K,
    pub(super) resource: ApiResource,
    pub(super) fields: Option<String>,
    pub(super) labels: Option<String>,
    pub(super) namespace: Option<Arc<str>>,
    pub(super) client: Client,
    pub(super) board: Arc<Board<K>>,
    pub(super) place: usize,
    pub(super) sender: mpsc::Sender<Fed<K>>,
    pub(super) chance: StdRng,
    pub(super) patience: Patience,
}

/// Nobody receives any more.
struct Unheard;

impl<K: Clone> Watch<K> {
    /// Watches until nobody receives any more.
    pub(super) async fn run(mut self) {
        let plain = watcher::Config {
            field_selector: self.fields.clone(),
            label_selector: self.labels.clone(),
            ..watcher::Config::default()
        };
        let mut config = plain.clone().streaming_lists();
        while let Ok(trouble) = self.watch(&config).await {
            if trouble == Trouble::Unstreamed {
                config = plain.clone();
            }
        }
    }

    /// Watches until the watch has lost its place.
    async fn watch(&mut self, config: &watcher::Config) -> Result<Trouble, Unheard> {
        let mut events = pin!(watcher(self.api(), config.clone()));
        loop {
            let next = tokio::select! {
                biased;
                next = events.next() => told(next.expect("kube's watcher does not end")),
                () = self.silence() => Err(Trouble::Silent),
            };
            match next {
                Ok(event) => self.tell(event).await?,
                Err(trouble) => {
                    self.endure(&trouble).await?;
                    if !trouble.keeps_its_place() {
                        return Ok(trouble);
                    }
                }
            }
        }
    }

    /// Tells of a trouble, and waits for as long as it asks for.
    async fn endure(&mut self, trouble: &Trouble) -> Result<(), Unheard> {
        let known = *trouble == Trouble::Absent && self.board.is_absent(self.place);
        if let Some(event) = trouble.event().filter(|_| !known) {
            self.tell(event).await?;
        }
        let pause = self
            .patience
            .pause(trouble, Instant::now(), &mut self.chance);
        sleep(pause).await;
        Ok(())
    }

    fn api(&self) -> Api<DynamicObject> {
        let client = self.client.clone();
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.resource),
            None => Api::all_with(client, &self.resource),
        }
    }

    /// Notes an event and passes it on, waiting for the receiver if it is busy.
    async fn tell(&self, event: Event) -> Result<(), Unheard> {
        match &event {
            Event::Applied(_) | Event::Deleted(_) => {}
            Event::Restarted => self.board.restarted(self.place),
            Event::Synced => self.board.stands(self.place, Standing::Synced),
            Event::Absent => {
                warn!(kind = self.resource.kind, "Kind is not installed");
                self.board.stands(self.place, Standing::Absent);
            }
            Event::Stalled(why) | Event::Failed(why) => {
                if self.board.failed(self.place, why) {
                    let namespace = self.namespace.as_deref();
                    warn!(
                        kind = self.resource.kind,
                        namespace, why, "Watch is in trouble"
                    );
                }
            }
        }
        let fed = Fed {
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            event,
        };
        self.sender.send(fed).await.map_err(|_closed| Unheard)
    }

    /// Returns when the API has not been heard for too long, counted from now at the earliest: while nobody listened
    /// there was nothing to hear.
    async fn silence(&self) {
        let listening = Instant::now();
        loop {
            let heard = self.board.last_heard(self.place);
            let deadline = heard.map_or(listening, |heard| heard.max(listening)) + SILENCE_MAX;
            if deadline <= Instant::now() {
                return;
            }
            sleep_until(deadline).await;
        }
    }
}

/// What kube's watcher tells, in our words.
fn told(next: watcher::Result<watcher::Event<DynamicObject>>) -> Result<Event, Trouble> {
    match next {
        Ok(watcher::Event::Init) => Ok(Event::Restarted),
        Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => {
            Ok(Event::Applied(Box::new(object)))
        }
        Ok(watcher::Event::InitDone) => Ok(Event::Synced),
        Ok(watcher::Event::Delete(object)) => Ok(Event::Deleted(Box::new(object))),
        Err(error) => Err(Trouble::of(&error)),
    }
}
