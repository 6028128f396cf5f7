//! Watches as streams of bytes: pulls events out of the engine as fast as the reader takes them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http_body::Frame;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, Sleep, interval_at, sleep_until};

use crate::catalog::Catalog;
use crate::engine::{Event, Subscription};
use crate::present::EventEncoder;
use crate::shared::Shared;

/// How many events are taken at a time: few enough that a reader that stops reading holds little.
const EVENTS_MAX: usize = 128;

/// How often a watcher that wants bookmarks is told how far it has come.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);

/// How long a watch lasts when nobody says: kube-apiserver ends one after thirty to sixty minutes.
const TIMEOUT: Duration = Duration::from_mins(45);

struct Watch {
    shared: Arc<Shared>,
    subscription: Subscription,
    encoder: EventEncoder,
    signal: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    bookmark: Interval,
    deadline: Pin<Box<Sleep>>,
    /// The catalog in which the kind was last found.
    catalog: Arc<Catalog>,
    /// The last line has been sent.
    over: bool,
}

/// The lines of a watch, until its time is up, its reader is gone or too slow, or the API stops.
pub(crate) fn lines(
    shared: Arc<Shared>,
    subscription: Subscription,
    encoder: EventEncoder,
) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    let timeout = subscription.timeout_seconds.filter(|seconds| *seconds > 0);
    let timeout = timeout.map_or(TIMEOUT, Duration::from_secs);
    let now = Instant::now();
    let watch = Watch {
        signal: shared.signal(subscription.kind()),
        stopping: shared.stopping(),
        bookmark: interval_at(now + BOOKMARK_EVERY, BOOKMARK_EVERY),
        deadline: Box::pin(sleep_until(now + timeout)),
        catalog: Arc::default(),
        shared,
        subscription,
        encoder,
        over: false,
    };
    stream::unfold(watch, |mut watch| async move {
        let chunk = watch.next().await?;
        Some((Ok(Frame::data(chunk)), watch))
    })
}

impl Watch {
    /// The next lines; nothing at the end.
    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            // Seen before looking, so that what comes in between wakes us.
            self.signal.borrow_and_update();
            if let Some(lines) = self.look() {
                return Some(lines);
            }
            if self.kind_is_gone() {
                return None;
            }
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
                changed = self.signal.changed() => if changed.is_err() { return None },
                () = &mut self.deadline => return None,
                _ = self.bookmark.tick(), if self.subscription.bookmarks => {
                    let revision = self.subscription.revision();
                    return Some(self.encoder.encode(&[Event::Bookmark { revision, initial: false }], self.shared.clock.now()));
                }
            }
        }
        None
    }

    fn look(&mut self) -> Option<Bytes> {
        let up_to = self.shared.published();
        let events = self
            .shared
            .engine()
            .next_events(&mut self.subscription, up_to, EVENTS_MAX);
        match events {
            Ok(events) if events.is_empty() => None,
            Ok(events) => Some(self.encoder.encode(&events, self.shared.clock.now())),
            Err(lagging) => {
                self.over = true;
                Some(EventEncoder::error(&lagging.refusal()))
            }
        }
    }

    /// Looks for the kind, if the catalog has changed since it was last found.
    fn kind_is_gone(&mut self) -> bool {
        let engine = self.shared.engine();
        if Arc::ptr_eq(&self.catalog, engine.catalog()) {
            return false;
        }
        self.catalog = Arc::clone(engine.catalog());
        drop(engine);
        let resource = &self.subscription.resource;
        let (names, version) = (&resource.names, &resource.version);
        self.catalog
            .find(&names.group, version, &names.plural)
            .is_none()
    }
}
