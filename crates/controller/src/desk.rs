//! What every loop over objects does: it takes in what is watched, begins what is due, and ends what has begun.
//!
//! ```text
//! feed ─► Work::fed ─► Desk::push ─► (due) ─► Work::begin ─► pass ─► Work::finished ─► done, or due again
//! ```
//!
//! One task owns the work and the desk, so nothing is locked and everything has an order. It never waits for I/O: passes
//! write on their own and come back when they are done. Nothing is begun before everything has been seen once, for an
//! object that has not been listed yet is not gone, and nothing while another process leads.
//!
//! What a loop is about is [`Work`]: what it knows, whom a change concerns, and what a pass is.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, interval};

use crate::clock::until;
use crate::feed::{Fed, Feed, Source};
use crate::health::Pulse;
use crate::metrics::Metrics;
use crate::queue::{self, Outcome, Queue};
use crate::running::{Running, checks_of};
use crate::surroundings::Surroundings;

/// How many events are taken in before what they touch is looked at: a burst is one look.
pub(crate) const EVENTS_AT_ONCE: usize = 256;

/// How often a loop turns when nothing happens, so that others can see that it does.
pub(crate) const BEAT: Duration = Duration::from_secs(10);

/// How long the last Events may take to be written: losing one is no harm.
pub(crate) const TELL_WITHIN: Duration = Duration::from_millis(500);

/// What a loop is about.
pub(crate) trait Work: Sized + Send + 'static {
    /// What is watched.
    type Kind: Clone + fmt::Display + PartialEq + Send + Sync + 'static;
    /// What passes are made over.
    type Key: Clone + Ord + Send + 'static;
    /// What a pass brings about.
    type Finished: Send + 'static;
    /// What comes from elsewhere than from watches.
    type News: Send;

    /// How many passes are under way at a time.
    const PASSES_AT_ONCE: usize;

    /// How long changes of one key are gathered.
    const DEBOUNCE: Duration = Duration::ZERO;

    /// Whether passes are waited for when the loop ends.
    const FINISHES: bool = true;

    /// Which keys stand in one line.
    fn lane(key: &Self::Key) -> String;

    /// Whether a cluster need not have a kind: then nobody waits for it.
    fn is_optional(_kind: &Self::Kind) -> bool {
        false
    }

    /// Takes in what a watch tells.
    fn fed(&mut self, fed: Fed<Self::Kind>, desk: &mut DeskOf<Self>);

    /// Whether everything that bears on a pass has been seen once.
    fn is_synced(&self) -> bool;

    /// Everything may have to be done: all has just been seen, or this process has just come to lead.
    fn look_at_all(&mut self, desk: &mut DeskOf<Self>);

    /// Another process leads from now on.
    fn step_back(&mut self) {}

    /// Begins a pass, if there is anything to do.
    fn begin(&mut self, key: &Self::Key, now: Instant) -> Begun<Self::Finished>;

    /// A pass has ended.
    fn finished(&mut self, finished: Self::Finished, desk: &mut DeskOf<Self>) -> Ended<Self::Key>;

    /// What comes next from elsewhere. Nothing is lost when it is no longer waited for.
    fn hear(&mut self) -> impl Future<Output = Self::News> + Send {
        pending()
    }

    /// Takes in what came from elsewhere.
    fn heard(&mut self, _news: Self::News, _desk: &mut DeskOf<Self>) {}

    /// Whether nothing is waited for that no key stands for.
    fn is_quiet(&self) -> bool {
        true
    }

    /// The loop has ended.
    fn close(self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// For work that hears from nobody.
pub(crate) type NoNews = Infallible;

/// How a pass begins.
pub(crate) enum Begun<F> {
    /// It is under way.
    Pass(BoxFuture<'static, F>),
    /// There was nothing to do.
    Over(Outcome),
}

/// How a pass ended.
pub(crate) struct Ended<K> {
    pub(crate) key: K,
    /// The kind that it was over, as in the API.
    pub(crate) kind: &'static str,
    pub(crate) outcome: Outcome,
}

/// The desk of some work.
pub(crate) type DeskOf<W> = Desk<<W as Work>::Key, <W as Work>::Finished>;

/// What lies on the desk: the keys that wait for their time, and the passes under way.
pub(crate) struct Desk<K, F> {
    queue: Queue<K, String>,
    passes: FuturesUnordered<BoxFuture<'static, (F, Instant)>>,
    metrics: Metrics,
    pulse: Pulse,
    synced: bool,
    leading: bool,
}

/// Begins to watch, and to do what follows.
pub(crate) fn start<W: Work>(
    work: W,
    sources: &[Source<W::Kind>],
    mut around: Surroundings,
) -> Running {
    let chance = around.draw();
    let (feed, fed) = Feed::start(&around.client, sources, chance);
    let feed = Arc::new(feed);
    let (stop, stopped) = watch::channel(false);
    let (report, idle) = watch::channel(false);
    let checks = checks_of(&feed, W::is_optional);
    let task = async move {
        run(work, around, fed, stopped, report).await;
        drop(feed);
    };
    Running {
        checks,
        idle,
        stop,
        task: tokio::spawn(task),
    }
}

/// Runs until `stop` says so. Passes that have begun are waited for, if that is wanted.
async fn run<W: Work>(
    mut work: W,
    around: Surroundings,
    mut fed: mpsc::Receiver<Fed<W::Kind>>,
    mut stop: watch::Receiver<bool>,
    idle: watch::Sender<bool>,
) {
    let mut leading = around.leading.clone();
    let mut desk = Desk::new::<W>(around);
    let mut beat = interval(BEAT);
    loop {
        desk.turn(&mut work, &idle);
        let due = desk.next_due::<W>();
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => break,
            Some((finished, began)) = desk.passes.next() => desk.finished(&mut work, finished, began),
            Some(event) = fed.recv() => {
                let waiting = std::iter::from_fn(|| fed.try_recv().ok());
                for fed in std::iter::once(event).chain(waiting.take(EVENTS_AT_ONCE)) {
                    work.fed(fed, &mut desk);
                }
            }
            news = work.hear() => work.heard(news, &mut desk),
            Ok(()) = leading.changed() => desk.lead(&mut work, *leading.borrow_and_update()),
            () = until(due) => {}
            _ = beat.tick() => {}
        }
    }
    while W::FINISHES
        && let Some((finished, began)) = desk.passes.next().await
    {
        desk.finished(&mut work, finished, began);
    }
    work.close().await;
}

impl<K: Clone + Ord, F: Send + 'static> Desk<K, F> {
    fn new<W: Work<Key = K, Finished = F>>(around: Surroundings) -> Desk<K, F> {
        let options = queue::Options {
            debounce: W::DEBOUNCE,
            ..queue::Options::default()
        };
        Desk {
            queue: Queue::new(options, W::lane, around.chance),
            passes: FuturesUnordered::new(),
            metrics: around.metrics,
            pulse: around.pulse,
            synced: false,
            leading: *around.leading.borrow(),
        }
    }

    /// Asks for keys now. Before everything has been seen nobody is asked for: then all are.
    pub(crate) fn push(&mut self, keys: impl IntoIterator<Item = K>) {
        let now = Instant::now();
        for key in keys.into_iter().filter(|_| self.synced) {
            self.queue.push(key, now);
        }
    }

    /// Asks for a key at a time.
    pub(crate) fn push_at(&mut self, key: K, due: Instant) {
        self.queue.push(key, due);
    }

    /// Whether this process looks after anything.
    pub(crate) fn is_leading(&self) -> bool {
        self.leading
    }

    fn may_write(&self) -> bool {
        self.synced && self.leading
    }

    /// Begins what is due, and tells how it stands.
    fn turn<W: Work<Key = K, Finished = F>>(&mut self, work: &mut W, idle: &watch::Sender<bool>) {
        if !self.synced && work.is_synced() {
            self.synced = true;
            work.look_at_all(self);
        }
        let now = Instant::now();
        while self.has_room::<W>()
            && let Some(key) = self.queue.take(now)
        {
            self.begin(work, &key, now);
        }
        let oldest = self.queue.oldest_due(now).filter(|_| self.may_write());
        self.pulse.turn(now, oldest.map(|age| now - age));
        let stands = self.synced && self.passes.is_empty() && oldest.is_none() && work.is_quiet();
        idle.send_if_modified(|before| std::mem::replace(before, stands) != stands);
    }

    fn has_room<W: Work>(&self) -> bool {
        self.may_write() && self.queue.working() < W::PASSES_AT_ONCE
    }

    fn next_due<W: Work>(&self) -> Option<Instant> {
        self.queue.next_due().filter(|_| self.has_room::<W>())
    }

    fn begin<W: Work<Key = K, Finished = F>>(&mut self, work: &mut W, key: &K, now: Instant) {
        match work.begin(key, now) {
            Begun::Pass(pass) => self.passes.push(Box::pin(async move { (pass.await, now) })),
            Begun::Over(outcome) => self.queue.done(key, now, outcome),
        }
    }

    fn finished<W: Work<Key = K, Finished = F>>(
        &mut self,
        work: &mut W,
        finished: F,
        began: Instant,
    ) {
        let Ended { key, kind, outcome } = work.finished(finished, self);
        let now = Instant::now();
        self.pulse.pass_ended(now);
        self.metrics.pass(kind, outcome, now - began);
        self.queue.done(&key, now, outcome);
    }

    fn lead<W: Work<Key = K, Finished = F>>(&mut self, work: &mut W, leading: bool) {
        self.leading = leading;
        if self.may_write() {
            work.look_at_all(self);
        } else {
            work.step_back();
        }
    }
}
