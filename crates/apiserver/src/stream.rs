//! Watches as streams of bytes: each pulls as fast as its reader takes.

mod alarm;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::time::Instant;

use crate::engine::{Event, Sight, Subscription};
use crate::feed::{News, Next, Seat};
use crate::present::EventEncoder;
use crate::shared::Shared;
use alarm::Alarm;

/// How many events are taken at a time: few enough that a reader that stops reading holds little.
const EVENTS_MAX: usize = 128;

/// How often a watcher that wants bookmarks is told how far it has come.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);

/// How long a watch lasts when nobody says: kube-apiserver ends one after thirty to sixty minutes.
const TIMEOUT: Duration = Duration::from_mins(45);

/// A watch: its lines, until its time is up, its reader is gone or too slow, its kind is gone, or the API stops.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    subscription: Subscription,
    encoder: EventEncoder,
    seat: Seat,
    /// How many turns its kind had taken when it was last found to be served; nothing if nobody has looked.
    turns: Option<u64>,
    deadline: Instant,
    /// Goes off at the deadline, and before it for each bookmark.
    alarm: Alarm,
    /// The last line has been told.
    over: bool,
}

impl Watch {
    pub(crate) fn new(
        shared: Arc<Shared>,
        subscription: Subscription,
        encoder: EventEncoder,
    ) -> Self {
        let timeout = subscription.timeout_seconds.filter(|seconds| *seconds > 0);
        let timeout = timeout.map_or(TIMEOUT, Duration::from_secs);
        let now = Instant::now();
        let deadline = now + timeout;
        Self {
            seat: shared.join(subscription.kind()),
            alarm: next_alarm(&subscription, now, deadline),
            shared,
            subscription,
            encoder,
            turns: None,
            deadline,
            over: false,
        }
    }

    fn poll_lines(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(lines) = self.look() {
            return Poll::Ready(Some(lines));
        }
        // Whatever comes from here on wakes us; what came since we looked is seen now.
        self.seat.wake(context.waker());
        if let Some(lines) = self.look() {
            return Poll::Ready(Some(lines));
        }
        if self.over {
            return Poll::Ready(None);
        }
        ready!(self.alarm.poll(context));
        Poll::Ready(self.bookmark())
    }

    /// The next lines, if there are any.
    fn look(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if !self.subscription.has_begun() {
            let events = self.subscription.beginning(EVENTS_MAX);
            return Some(self.encoder.encode(&events, &self.shared.clock));
        }
        while self.subscription.revision() < self.seat.newest() {
            let lines = match self.seat.after(self.subscription.revision()) {
                Next::News(news) => self.tell(&news),
                Next::Older => self.catch_up(),
                Next::Nothing => break,
            };
            if lines.is_some() {
                return lines;
            }
        }
        self.over = self.has_ended();
        None
    }

    fn tell(&mut self, news: &News) -> Option<Bytes> {
        let (encoder, clock) = (&mut self.encoder, &self.shared.clock);
        match self.subscription.see(&news.change)? {
            Sight::Happened(happened) => Some(encoder.encode_shared(&news.lines, happened, clock)),
            sight @ Sight::Left => Some(encoder.encode(&[sight.event(&news.change)], clock)),
        }
    }

    /// Out of the engine's log what the feed no longer has.
    fn catch_up(&mut self) -> Option<Bytes> {
        // What is in the feed is durable, even if it is just now being published.
        let up_to = self.shared.published().max(self.seat.newest());
        let engine = self.shared.engine();
        let caught_up = engine.catch_up(&mut self.subscription, up_to, EVENTS_MAX);
        drop(engine);
        match caught_up {
            Ok(events) if events.is_empty() => None,
            Ok(events) => Some(self.encoder.encode(&events, &self.shared.clock)),
            Err(lagging) => {
                self.over = true;
                Some(self.encoder.error(&lagging.refusal()))
            }
        }
    }

    /// Whether the API is stopping or the kind no longer served. Looked up only when there is reason to.
    fn has_ended(&mut self) -> bool {
        let turns = self.seat.turns();
        if self.turns == Some(turns) {
            return false;
        }
        self.turns = Some(turns);
        let resource = &self.subscription.resource;
        self.shared.is_stopping() || !self.shared.serves(resource)
    }

    /// The line for when the alarm has gone off; nothing at the end.
    fn bookmark(&mut self) -> Option<Bytes> {
        let now = Instant::now();
        if now >= self.deadline {
            self.over = true;
            return None;
        }
        self.alarm = next_alarm(&self.subscription, now, self.deadline);
        // Read in this order: what is published is in the feed before it counts as published.
        let published = self.shared.published();
        if self.seat.newest() <= self.subscription.revision() {
            self.subscription.reach(published);
        }
        let revision = self.subscription.revision();
        let initial = false;
        let bookmark = Event::Bookmark { revision, initial };
        Some(self.encoder.encode(&[bookmark], &self.shared.clock))
    }
}

impl Body for Watch {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let lines = ready!(self.get_mut().poll_lines(context));
        Poll::Ready(lines.map(|lines| Ok(Frame::data(lines))))
    }
}

fn next_alarm(subscription: &Subscription, now: Instant, deadline: Instant) -> Alarm {
    let bookmark = subscription.bookmarks.then(|| now + BOOKMARK_EVERY);
    Alarm::at(bookmark.map_or(deadline, |bookmark| bookmark.min(deadline)))
}
