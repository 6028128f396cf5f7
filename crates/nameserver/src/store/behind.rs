//! Contents are written behind the answers: a zone that changes all the time is written now and then.
//!
//! What waits is the latest version of each zone, whatever came before it. A zone that was written rests for a while,
//! longer if writing took long, so that a large zone that changes twenty times a second costs a small part of the disk.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dns::{Name, Publication, Serial};
use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::contents::Contents;

/// How long a zone rests after it was written, at least: what a crash may cost of its content, though not of its serial.
const REST_MIN: Duration = Duration::from_secs(5);

/// How much longer than writing took it rests at least: a hundredth of one processor and disk is for this.
const REST_FACTOR: u32 = 100;

/// What is to be written.
#[derive(Debug)]
pub(crate) struct Behind {
    contents: Contents,
    waiting: Mutex<Waiting>,
    wake: Notify,
}

/// The plan: pure, so that it can be asked about any time.
#[derive(Debug, Default)]
struct Waiting {
    /// The latest of each zone.
    latest: BTreeMap<Name, Publication>,
    /// Zones that rest, and until when.
    resting: BTreeMap<Name, Instant>,
    /// What is on disk.
    written: BTreeMap<Name, Serial>,
    /// The zone that is being written, so that nobody knows what is on disk.
    writing: Option<Name>,
    /// Whether the last write failed, which is told once.
    is_failing: bool,
}

impl Behind {
    pub(super) fn new(contents: Contents, written: BTreeMap<Name, Serial>) -> Behind {
        Behind {
            contents,
            waiting: Mutex::new(Waiting {
                written,
                ..Waiting::default()
            }),
            wake: Notify::new(),
        }
    }

    /// Takes publications in, without waiting for the disk.
    pub(crate) fn take(&self, batch: &[Publication]) {
        self.lock(|waiting| {
            for publication in batch {
                waiting.take(publication);
            }
        });
        self.wake.notify_one();
    }

    /// Writes what is due until `stop` tells a deadline, then all that is left.
    pub(crate) async fn run(self: &Arc<Self>, stop: impl Future<Output = Instant>) {
        let mut stop = pin!(stop);
        loop {
            let now = Instant::now();
            let next = self.lock(|waiting| waiting.next(now));
            let (origin, due) = next.map_or((None, now), |(origin, due)| (Some(origin), due));
            tokio::select! {
                deadline = &mut stop => return self.finish(deadline).await,
                () = self.wake.notified() => {}
                () = sleep_until(due.into()), if origin.is_some() => {
                    if let Some(origin) = origin {
                        self.write(origin).await;
                    }
                }
            }
        }
    }

    async fn finish(self: &Arc<Self>, deadline: Instant) {
        while Instant::now() < deadline
            && let Some((origin, _)) = self.lock(|waiting| waiting.next(deadline))
        {
            self.write(origin).await;
            if self.lock(|waiting| waiting.is_failing) {
                break;
            }
        }
        let left = self.lock(|waiting| waiting.latest.len());
        if left > 0 {
            tracing::warn!(zones = left, "Stopped before all zones were stored");
        }
    }

    async fn write(self: &Arc<Self>, origin: Name) {
        let Some(latest) = self.lock(|waiting| waiting.begin(&origin)) else {
            return;
        };
        let (behind, started) = (self.clone(), Instant::now());
        let writing = tokio::task::spawn_blocking(move || {
            let written = behind.contents.apply(&latest);
            let now = Instant::now();
            behind.lock(|waiting| waiting.wrote(latest, written, now, now - started));
        });
        // It does not panic, and nobody aborts it.
        let _ = writing.await;
    }

    fn lock<T>(&self, work: impl FnOnce(&mut Waiting) -> T) -> T {
        work(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Contents {
    fn apply(&self, latest: &Publication) -> io::Result<()> {
        match latest {
            Publication::Version(version) => self.write(version),
            Publication::Withdrawal(origin) => self.remove(origin),
        }
    }
}

impl Waiting {
    fn take(&mut self, publication: &Publication) {
        let origin = publication.origin();
        let serial = serial(publication);
        let is_news = self.latest.contains_key(origin)
            || self.writing.as_ref() == Some(origin)
            || self.written.get(origin).copied() != serial;
        if is_news {
            self.latest.insert(origin.clone(), publication.clone());
        }
    }

    /// The zone to write next, and when.
    fn next(&self, now: Instant) -> Option<(Name, Instant)> {
        let due = |origin: &Name| self.resting.get(origin).copied().unwrap_or(now);
        let rested = self
            .latest
            .keys()
            .find(|origin| !self.resting.contains_key(*origin));
        let origin = rested.or_else(|| self.latest.keys().min_by_key(|origin| due(origin)))?;
        Some((origin.clone(), due(origin)))
    }

    /// Hands out what is to be written of a zone.
    fn begin(&mut self, origin: &Name) -> Option<Publication> {
        let latest = self.latest.remove(origin)?;
        self.writing = Some(origin.clone());
        Some(latest)
    }

    fn wrote(
        &mut self,
        latest: Publication,
        written: io::Result<()>,
        now: Instant,
        took: Duration,
    ) {
        let origin = latest.origin().clone();
        self.writing = None;
        self.resting.retain(|_, until| *until > now);
        self.resting
            .insert(origin.clone(), now + REST_MIN.max(took * REST_FACTOR));
        match written {
            Ok(()) => {
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("Zones can be stored again");
                }
                match serial(&latest) {
                    Some(serial) => self.written.insert(origin, serial),
                    None => self.written.remove(&origin),
                };
            }
            Err(err) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::error!(zone = %origin, error = %err, "Cannot store zone; serving it all the same");
                }
                self.latest.entry(origin).or_insert(latest);
            }
        }
    }
}

/// The serial that a file of the zone would have; nothing if there is to be none.
fn serial(publication: &Publication) -> Option<Serial> {
    match publication {
        Publication::Version(version) => Some(version.serial),
        Publication::Withdrawal(_) => None,
    }
}

#[cfg(test)]
mod tests;
