//! `watch`: what happens to the objects of a kind, as it happens.
//!
//! A subscription is a place in the log. Whoever serves it asks for what is new whenever there may be something,
//! as often or as seldom as its reader takes it. A reader that is too slow falls behind the log's memory, is told
//! so and has to list again; nobody else pays for it.

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

/// The reader was away for longer than the log remembers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Lagging {
    at: u64,
    oldest: u64,
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
        let selection = match &call.target.name {
            Some(name) => selection.named(name),
            None => selection,
        };
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

    /// The next events of a watch up to a revision, at most `max`; none if nothing is new.
    pub(crate) fn next_events(
        &self,
        watch: &mut Subscription,
        up_to: u64,
        max: usize,
    ) -> Result<Vec<Event>, Lagging> {
        let mut events = Vec::new();
        while events.len() < max {
            let Some(stored) = watch.initial.pop() else {
                break;
            };
            events.push(Event::Object(EventType::Added, stored));
        }
        if watch.initial.is_empty() && watch.announce {
            watch.announce = false;
            events.push(Event::Bookmark {
                revision: watch.revision,
                initial: true,
            });
        }
        if !watch.initial.is_empty() || events.len() >= max {
            return Ok(events);
        }
        let at = watch.revision;
        let lagging = |Forgotten { oldest }| Lagging { at, oldest };
        let changes = self.store.changes(&watch.kind, at).map_err(lagging)?;
        for change in changes.take_while(|change| change.revision <= up_to) {
            if events.len() >= max {
                return Ok(events);
            }
            watch.revision = change.revision;
            events.extend(watch.event(change));
        }
        watch.revision = watch.revision.max(up_to);
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

    /// What a change is to this watch: an object that begins to match is added, one that ceases to is deleted.
    fn event(&self, change: &Change) -> Option<Event> {
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
        let happened = match (matched, matches) {
            (false, false) => return None,
            (false, true) => EventType::Added,
            (true, true) => EventType::Modified,
            (true, false) => EventType::Deleted,
        };
        // Who is left by an object sees it as it last matched, at the revision of the change.
        let told = match (happened, &change.before, change.after()) {
            (EventType::Deleted, Some(before), Some(_)) => {
                Arc::new(Stored::new(before.object(), change.revision))
            }
            _ => Arc::clone(&change.object),
        };
        Some(Event::Object(happened, told))
    }
}
