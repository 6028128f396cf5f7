//! Who waits at a feed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use futures_util::task::AtomicWaker;

/// Everyone who reads a feed, waiting or not.
#[derive(Debug, Default)]
pub(super) struct Audience(Mutex<Members>);

#[derive(Debug, Default)]
struct Members {
    waiting: BTreeMap<u64, Arc<AtomicWaker>>,
    admitted: u64,
}

/// One reader.
#[derive(Debug)]
pub(super) struct Ticket {
    number: u64,
    waker: Arc<AtomicWaker>,
}

impl Audience {
    pub(super) fn admit(&self) -> Ticket {
        let mut members = self.members();
        members.admitted += 1;
        let ticket = Ticket {
            number: members.admitted,
            waker: Arc::default(),
        };
        members
            .waiting
            .insert(ticket.number, Arc::clone(&ticket.waker));
        ticket
    }

    pub(super) fn dismiss(&self, ticket: &Ticket) {
        self.members().waiting.remove(&ticket.number);
    }

    pub(super) fn len(&self) -> usize {
        self.members().waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members().waiting.is_empty()
    }

    /// Wakes all who have asked for it since they last were.
    pub(super) fn wake(&self) {
        // Not with the members held: whoever is woken may come or go at once.
        let woken: Vec<Waker> = {
            let members = self.members();
            let waiting = members.waiting.values();
            waiting.filter_map(|waker| waker.take()).collect()
        };
        for waker in woken {
            waker.wake();
        }
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    pub(super) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}
