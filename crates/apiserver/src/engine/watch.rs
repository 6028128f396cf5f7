//! `watch`: what happens to the objects of a kind, as it happens.
//!
//! A subscription is a place in the log. Whoever serves it shows it what is new whenever there may be something,
//! as often or as seldom as its reader takes it: change by change, or out of the log where it has fallen behind. A
//! reader that is too slow falls behind the log's memory, is told so and has to list again; nobody else pays for it.

use std::sync::Arc;

use super::{Answer, Call, Content, Engine};
use crate::key::Kind;
use crate::refusal::Refusal;
use crate::request::ListOptions;
use crate::resource::Resource;
use crate::selection::Selection;
use crate::store::{Change, Forgotten, Stored};

/// A watch: what it is about, and how far it has come.
#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) resource: Arc<Resource>,
    pub(crate) bookmarks: bool,
    pub(crate) timeout_seconds: Option<u64>,
    kind: Kind,
    namespace: Option<String>,
    selection: Selection,
    /// Objects that were there at the beginning, still to be told; last first.
    initial: Vec<Arc<Stored>>,
    /// Whether the end of `initial` is still to be announced.
    announce: bool,
    /// Everything up to here has been told.
    revision: u64,
}

/// One line of a watch.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Object(EventType, Arc<Stored>),
    /// Nothing happened up to this revision. `initial`: all objects that were there have been told.
    Bookmark {
        revision: u64,
        initial: bool,
    },
}

/// What happened to an object, as the watcher sees it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EventType {
    Added,
    Modified,
    Deleted,
}

/// What a change is to one watch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sight {
    /// This happened to the object, as everyone sees it.
    Happened(EventType),
    /// The object is still there but no longer matches: to this watch it is deleted.
    Left,
}

/// The reader was away for longer than the log remembers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Lagging {
    at: u64,
    oldest: u64,
}

impl EventType {
    /// As the lines of a watch say it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

impl Lagging {
    /// What the reader is told.
    pub(crate) fn refusal(self) -> Refusal {
        Refusal::expired(format!(
            "too old resource version: {} ({})",
            self.at, self.oldest
        ))
    }
}

impl Engine {
    pub(super) fn watch(&self, resource: &Arc<Resource>, call: &Call) -> Result<Answer, Refusal> {
        let options = ListOptions::for_watch(&call.query)?;
        let selection = Selection::new(resource, &options)?;
        let namespace = call.target.place.namespace().map(str::to_owned);
        let mut subscription = Subscription {
            kind: resource.key_kind(),
            resource: Arc::clone(resource),
            bookmarks: options.bookmarks,
            timeout_seconds: options.timeout_seconds,
            namespace,
            selection,
            initial: Vec::new(),
            announce: false,
            revision: self.store.revision(),
        };
        match (options.initial_events, options.revision) {
            (Some(true), asked) => {
                if let Some(asked) = asked.filter(|asked| *asked > self.store.revision()) {
                    return Err(Refusal::too_large_revision(asked, self.store.revision()));
                }
                subscription.initial = self.present(&subscription);
                subscription.announce = options.bookmarks;
            }
            (None, None | Some(0)) => subscription.initial = self.present(&subscription),
            (Some(false), None | Some(0)) => {}
            (Some(false) | None, Some(revision)) => subscription.revision = revision,
        }
        Ok(Answer::plain(Content::Watch(subscription)))
    }

    /// The next events of a watch out of the log, up to a revision; at most `max`, and none if nothing is new.
    pub(crate) fn catch_up(
        &self,
        watch: &mut Subscription,
        up_to: u64,
        max: usize,
    ) -> Result<Vec<Event>, Lagging> {
        let at = watch.revision;
        let lagging = |Forgotten { oldest }| Lagging { at, oldest };
        let changes = self.store.changes(&watch.kind, at).map_err(lagging)?;
        let mut events = Vec::new();
        for change in changes.take_while(|change| change.revision <= up_to) {
            if events.len() >= max {
                return Ok(events);
            }
            let sight = watch.see(change);
            events.extend(sight.map(|sight| sight.event(change)));
        }
        watch.reach(up_to);
        Ok(events)
    }

    /// What matches now, last first.
    fn present(&self, watch: &Subscription) -> Vec<Arc<Stored>> {
        let objects = self
            .store
            .list(&watch.kind, watch.namespace.as_deref(), None);
        let mut matching: Vec<_> = objects
            .filter(|(place, stored)| watch.selection.matches(place, stored))
            .map(|(_, stored)| Arc::clone(stored))
            .collect();
        matching.reverse();
        matching
    }
}

impl Subscription {
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Everything up to here has been told.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Nothing that it was not told has happened up to this revision.
    pub(crate) fn reach(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
    }

    /// Whether all that was there when the watch began has been told.
    pub(crate) fn has_begun(&self) -> bool {
        self.initial.is_empty() && !self.announce
    }

    /// What was there when the watch began and has not been told; at most `max` objects.
    pub(crate) fn beginning(&mut self, max: usize) -> Vec<Event> {
        let left = self.initial.len().saturating_sub(max);
        let objects = self.initial.drain(left..).rev();
        let mut events: Vec<Event> = objects
            .map(|stored| Event::Object(EventType::Added, stored))
            .collect();
        if left == 0 && std::mem::take(&mut self.announce) {
            events.push(Event::Bookmark {
                revision: self.revision,
                initial: true,
            });
        }
        events
    }

    /// Takes in the next change: an object that begins to match is added, one that ceases to is deleted.
    pub(crate) fn see(&mut self, change: &Change) -> Option<Sight> {
        self.revision = change.revision;
        let place = &change.key.place;
        if self
            .namespace
            .as_deref()
            .is_some_and(|namespace| *place.namespace != *namespace)
        {
            return None;
        }
        let matched = change
            .before
            .as_ref()
            .is_some_and(|before| self.selection.matches(place, before));
        let matches = change
            .after()
            .is_some_and(|after| self.selection.matches(place, after));
        match (matched, matches) {
            (false, false) => None,
            (false, true) => Some(Sight::Happened(EventType::Added)),
            (true, true) => Some(Sight::Happened(EventType::Modified)),
            (true, false) if change.removed => Some(Sight::Happened(EventType::Deleted)),
            (true, false) => Some(Sight::Left),
        }
    }
}

impl Sight {
    /// The event of the change that is seen so.
    pub(crate) fn event(self, change: &Change) -> Event {
        match (self, &change.before) {
            // Who is left by an object sees it as it last matched, at the revision of the change.
            (Self::Left, Some(before)) => {
                let last = Stored::new(before.object(), change.revision);
                Event::Object(EventType::Deleted, Arc::new(last))
            }
            (Self::Left, None) => unreachable!("what was not there did not match"),
            (Self::Happened(happened), _) => Event::Object(happened, Arc::clone(&change.object)),
        }
    }
}
