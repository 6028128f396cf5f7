//! One zone at a provider: the one place where it is read and written.
//!
//! Records do not each ask the provider. Whoever is due asks here, and waits. The writer keeps what it last read, plans for
//! everybody who waits, writes what is to be written in batches as large as the provider takes them, and tells each record
//! what became of it. So ten thousand records cost one read and a handful of writes, and no two of them race.
//!
//! ```text
//! ask ─► waiting ─► (read, if somebody needs a newer look) ─► agenda ─► batches ─► verdicts
//!                        ▲                                                │
//!                        └──────────── a set was not as expected ◄────────┘
//! ```
//!
//! Every so often it reads without being asked: what is different from what it left there is drift, and whoever wants
//! something at those names is told.
//!
//! What is to be written is decided in `reconcile::hosted`; when a record asks, in `reconcile::dns_record`.

mod reading;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use dns::Name;
use dns::guard::Guard;
use provider::{Attempt, Error, Provider, Retry, ZoneId};
use reconcile::DnsRecordKey;
use reconcile::dns_record::Failure;
use reconcile::hosted::{Ask, GuardRules, Guarded, Verdict, Work, agenda};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tracing::info;

use crate::clock::{Clock, until};
use reading::Reading;
use writing::Written;

/// How many records wait at a zone before those behind them wait to be let in.
const WAITING_MAX: usize = 4096;

/// How soon after the beginning of a read the next may begin: those who need one meanwhile share it.
const READ_EVERY: Duration = Duration::from_secs(1);

/// How often a zone is read and planned again because a set was not as expected (C8).
const REPLANS_MAX: usize = 3;

/// How long a provider that takes no more requests is left alone, whatever it says itself: a wait that is absurd would
/// be one for ever (D1).
const REST: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_mins(15);

/// How a zone is looked after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// How often it is read without being asked, and how long a read is good for.
    pub(crate) requeue: Duration,
    /// How long changes are gathered after a write.
    pub(crate) debounce: Duration,
    /// What is too much.
    pub(crate) guard: GuardRules,
    /// Where the time comes from.
    pub(crate) clock: Clock,
}

/// Which zone: whoever has the same credentials means the same one.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct HostedZoneKey {
    pub(crate) account: String,
    pub(crate) zone: ZoneId,
}

/// What a zone has to say unasked.
#[derive(Debug)]
pub(crate) enum News {
    /// Something else is there at these names than was left there.
    Changed(BTreeSet<Name>),
    /// It can be read again. These records were refused when it could not.
    Recovered(BTreeSet<DnsRecordKey>),
}

/// The zone's name and what a record is told, or why it is told nothing.
pub(crate) type Reply = Result<(Name, Verdict), Failure>;

/// The way to a zone.
#[derive(Clone)]
pub(crate) struct HostedZone {
    provider: Arc<dyn Provider>,
    requests: mpsc::Sender<Message>,
    /// Tells requests apart.
    numbers: Arc<AtomicU64>,
    /// Whether the last read succeeded.
    known: Arc<AtomicBool>,
}

enum Message {
    Ask(Box<Request>),
    /// Whoever asked as this number does not want to know any more.
    Leave(u64),
}

struct Request {
    /// Which request, if it may be taken back.
    number: Option<u64>,
    ask: Ask,
    /// Only what was read from this time on is believed.
    fresh: Option<Instant>,
    reply: oneshot::Sender<Reply>,
}

impl HostedZone {
    /// Begins to look after a zone, on the runtime that this is called on, for as long as there is a way to it.
    pub(crate) fn start(
        provider: Arc<dyn Provider>,
        zone: ZoneId,
        options: Options,
        news: mpsc::Sender<News>,
    ) -> HostedZone {
        let (requests, asked) = mpsc::channel(WAITING_MAX);
        let known = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            known: Arc::clone(&known),
            reading: Reading::new(Arc::clone(&provider), zone),
            guard: Guard::new(options.guard.percent_max),
            options,
            news,
            waiting: Vec::new(),
            wrote: None,
            users: BTreeSet::new(),
            held: BTreeMap::new(),
            refused: BTreeSet::new(),
            misled: BTreeSet::new(),
        };
        tokio::spawn(writer.run(asked));
        HostedZone {
            provider,
            requests,
            numbers: Arc::default(),
            known,
        }
    }

    /// Whether it was there when it was last read.
    pub(crate) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// What the provider can hold.
    pub(crate) fn limits(&self) -> &dns::limits::Limits {
        self.provider.limits()
    }

    /// Asks, and waits for what becomes of it.
    pub(crate) async fn ask(&self, ask: Ask, fresh: Option<Instant>) -> Reply {
        let told = self.send(ask, fresh, None).await?;
        told.await.unwrap_or_else(|_| Err(abandoned()))
    }

    /// The same, unless something else comes before it is looked at. What has begun is waited for.
    pub(crate) async fn ask_unless(
        &self,
        ask: Ask,
        fresh: Option<Instant>,
        leave: impl Future<Output = ()>,
    ) -> Option<Reply> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let mut told = match self.send(ask, fresh, Some(number)).await {
            Ok(told) => told,
            Err(failure) => return Some(Err(failure)),
        };
        tokio::select! {
            biased;
            reply = &mut told => return Some(reply.unwrap_or_else(|_| Err(abandoned()))),
            () = leave => {}
        }
        // A zone that is no longer looked after says so below.
        let _ = self.requests.send(Message::Leave(number)).await;
        told.await.ok()
    }

    async fn send(
        &self,
        ask: Ask,
        fresh: Option<Instant>,
        number: Option<u64>,
    ) -> Result<oneshot::Receiver<Reply>, Failure> {
        let (reply, told) = oneshot::channel();
        let request = Request {
            number,
            ask,
            fresh,
            reply,
        };
        let sent = self.requests.send(Message::Ask(Box::new(request))).await;
        sent.map_err(|_| abandoned()).map(|()| told)
    }
}

fn abandoned() -> Failure {
    failure_of(&Error::Unclear("the zone is no longer looked after".into()))
}

impl fmt::Debug for HostedZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostedZone").finish_non_exhaustive()
    }
}

struct Writer {
    /// Whether the last read succeeded, for those who have the way to the zone.
    known: Arc<AtomicBool>,
    reading: Reading,
    guard: Guard,
    options: Options,
    news: mpsc::Sender<News>,
    waiting: Vec<Request>,
    /// When it was last written.
    wrote: Option<Instant>,
    /// The records that have something here.
    users: BTreeSet<DnsRecordKey>,
    /// The records that wait for a person, and how many sets they would change.
    held: BTreeMap<DnsRecordKey, usize>,
    /// The records that were told that the zone cannot be read.
    refused: BTreeSet<DnsRecordKey>,
    /// The records that were told that the zone is another one than their Secret is for.
    misled: BTreeSet<DnsRecordKey>,
}

impl Writer {
    async fn run(mut self, mut asked: mpsc::Receiver<Message>) {
        loop {
            let due = self.due();
            tokio::select! {
                biased;
                message = asked.recv() => match message {
                    Some(message) => self.hear(message),
                    None => return,
                },
                () = until(due) => {}
            }
            while let Ok(message) = asked.try_recv() {
                self.hear(message);
            }
            self.turn().await;
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Ask(request) => self.waiting.push(*request),
            Message::Leave(number) => self.waiting.retain(|it| it.number != Some(number)),
        }
    }

    /// When there is something to do without anybody asking.
    fn due(&self) -> Option<Instant> {
        let now = Instant::now();
        let waiting = self.waiting.iter().map(|request| {
            if self.serves(request, now) {
                self.write_from(now)
            } else {
                self.reading.from(READ_EVERY, now)
            }
        });
        waiting.chain(self.scheduled()).min()
    }

    /// When the zone is read unasked: not while nobody has anything here.
    fn scheduled(&self) -> Option<Instant> {
        let began = self.reading.began().filter(|_| !self.users.is_empty());
        began.map(|began| began + self.options.requeue)
    }

    /// The first change is written at once, those behind it are gathered.
    fn write_from(&self, now: Instant) -> Instant {
        let rested = self.wrote.map(|wrote| wrote + self.options.debounce);
        rested.map_or(now, |rested| rested.max(now))
    }

    /// Whether what was read is new enough for a request.
    fn serves(&self, request: &Request, now: Instant) -> bool {
        let Some(began) = self.reading.good_since() else {
            return false;
        };
        let recent = now <= began + self.options.requeue + READ_EVERY;
        recent && request.fresh.is_none_or(|fresh| fresh <= began)
    }

    async fn turn(&mut self) {
        let now = Instant::now();
        let wants_newer = self
            .waiting
            .iter()
            .any(|request| !self.serves(request, now));
        let may_read = self.reading.from(READ_EVERY, now) <= now;
        if wants_newer && may_read || self.scheduled().is_some_and(|due| due <= now) {
            // Whoever waited for it has been told.
            let _ = self.read().await;
        }
        let now = Instant::now();
        if self.write_from(now) > now {
            return;
        }
        let all = std::mem::take(&mut self.waiting);
        let (served, waiting) = all
            .into_iter()
            .partition(|request| self.serves(request, now));
        self.waiting = waiting;
        self.serve(served).await;
    }

    /// Reads the zone. Whoever waits for it and cannot have it is told why.
    async fn read(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        let apex = self.reading.apex().clone();
        let read = self.reading.read(began).await;
        self.known.store(read.is_ok(), Ordering::Relaxed);
        match read {
            Ok(changed) => {
                let mut recovered = std::mem::take(&mut self.refused);
                if apex != *self.reading.apex() {
                    recovered.append(&mut self.misled);
                }
                self.tell(News::Changed(changed)).await;
                self.tell(News::Recovered(recovered)).await;
                Ok(())
            }
            Err(error) => {
                let failure = unread(&error);
                info!(zone = %self.reading.zone(), why = failure.story, "Could not read a zone");
                let now = Instant::now();
                let all = std::mem::take(&mut self.waiting);
                let (waiting, failed): (Vec<_>, Vec<_>) = all
                    .into_iter()
                    .partition(|request| self.serves(request, now));
                self.waiting = waiting;
                for request in failed {
                    self.users.insert(request.ask.record.clone());
                    self.refused.insert(request.ask.record.clone());
                    // Whoever does not wait any more does not need to know.
                    let _ = request.reply.send(Err(failure.clone()));
                }
                Err(failure)
            }
        }
    }

    async fn tell(&self, news: News) {
        let silent = match &news {
            News::Changed(names) => names.is_empty(),
            News::Recovered(records) => records.is_empty(),
        };
        if !silent {
            // Whoever does not listen any more is stopping.
            let _ = self.news.send(news).await;
        }
    }

    /// Plans and writes for everybody whose request can be served.
    async fn serve(&mut self, requests: Vec<Request>) {
        let (mut open, outside): (Vec<_>, Vec<_>) = requests
            .into_iter()
            .partition(|request| self.reading.contains(&request.ask));
        for request in outside {
            let failure = self.reading.outside(&request.ask);
            self.users.insert(request.ask.record.clone());
            self.misled.insert(request.ask.record.clone());
            let _ = request.reply.send(Err(failure));
        }
        let mut failure = failure_of(&Error::Stale);
        for _ in 0..=REPLANS_MAX {
            if open.is_empty() {
                return;
            }
            open = self.attempt(open).await;
            if open.is_empty() {
                return;
            }
            if let Err(why) = self.read().await {
                failure = why;
                break;
            }
        }
        for request in open {
            let _ = request.reply.send(Err(failure.clone()));
        }
    }

    /// Tells everybody what became of their request, but for those who found the zone changed: they are handed back.
    async fn attempt(&mut self, requests: Vec<Request>) -> Vec<Request> {
        let asks: Vec<&Ask> = requests.iter().map(|request| &request.ask).collect();
        let now = self.options.clock.now();
        let limits = self.reading.limits().clone();
        let Some(hosted) = self.reading.hosted() else {
            return requests;
        };
        // Whoever is held counts for as long as it waits: one after the other they are no fewer.
        let asking: BTreeSet<_> = asks.iter().map(|ask| &ask.record).collect();
        let others = self
            .held
            .iter()
            .filter(|(record, _)| !asking.contains(record));
        let waiting = others.map(|(_, sets)| sets).sum();
        let guarded = Guarded {
            guard: &self.guard,
            rules: self.options.guard,
            waiting,
            now,
        };
        let agenda = agenda(hosted, &asks, &limits, &guarded);
        let written = if agenda.groups.is_empty() {
            Written::default()
        } else {
            self.wrote = Some(Instant::now());
            self.reading.write(&agenda.groups).await
        };
        let made = agenda.unasked.iter();
        let made = made.filter(|(record, _)| written.may_have(record));
        self.guard
            .let_through(made.map(|(_, count)| count).sum(), now);
        self.refused.extend(written.homeless.iter().cloned());
        let mut stale = Vec::new();
        for (request, verdict) in requests.into_iter().zip(agenda.verdicts) {
            let record = &request.ask.record;
            if written.stale.contains(record) {
                stale.push(request);
                continue;
            }
            self.note(&request.ask, &verdict);
            let reply = match written.failed.get(record) {
                Some(failure) => Err(failure.clone()),
                None => Ok((self.reading.apex().clone(), verdict)),
            };
            let _ = request.reply.send(reply);
        }
        stale
    }

    /// Remembers who has something here, and who waits for a person.
    fn note(&mut self, ask: &Ask, verdict: &Verdict) {
        match &verdict.work {
            Work::Held { sets, .. } => self.held.insert(ask.record.clone(), *sets),
            Work::Nothing | Work::Write | Work::Exhausted => self.held.remove(&ask.record),
        };
        let gone = ask.wanted.is_empty() && verdict.work == Work::Nothing;
        if gone {
            self.users.remove(&ask.record);
        } else {
            self.users.insert(ask.record.clone());
        }
    }
}

/// What an error means for everybody it concerns.
fn failure_of(error: &Error) -> Failure {
    let mut failure = Failure::of(error);
    if let Retry::After(time) = &mut failure.retry {
        *time = (*time).clamp(*REST.start(), *REST.end());
    }
    failure
}

/// What it means that a zone could not be read or found: nothing was written.
pub(crate) fn unread(error: &Error) -> Failure {
    Failure {
        attempt: Attempt::None,
        ..failure_of(error)
    }
}
