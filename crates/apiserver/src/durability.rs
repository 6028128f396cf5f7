//! Durability: nothing is answered or told to watchers before it is on disk.
//!
//! The engine runs ahead of the disk. What it wrote is queued here, in order, and a thread of its own commits
//! everything that is waiting at once, so that a hundred clients wait for one sync and not for a hundred. Reads that saw
//! something that is still waiting wait with it.
//!
//! ```text
//! engine ── changes ──► queue ──► thread ── Storage::commit ──┬─ done: published, answered
//!                                                             └─ failed: taken back, refused
//! ```
//!
//! When a commit fails, what was in it and everything queued behind it never happened: the engine takes it
//! back before anyone has seen it.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use tokio::sync::oneshot;

use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::storage::{Batch, Storage, StorageError, Write};
use crate::store::Change;

/// How many requests go to disk in one commit: far more than wait at any time, few enough to bound memory.
const GROUP_MAX: usize = 1024;

/// Where changes go.
#[derive(Debug)]
pub(crate) enum Durability {
    /// Nowhere: they last as long as the process.
    Ephemeral,
    /// To the thread that commits; nothing once the API is stopping.
    Disk(Mutex<Option<Sender<Commit>>>),
}

/// What one request wrote, or that it only read.
#[derive(Debug)]
pub(crate) struct Commit {
    /// The store's revision after it.
    pub(crate) revision: u64,
    pub(crate) changes: Vec<Arc<Change>>,
    pub(crate) done: oneshot::Sender<Result<(), Refusal>>,
}

/// The thread that writes, as those who start and stop it see it.
#[derive(Debug)]
pub(crate) struct Committer {
    queue: Receiver<Commit>,
}

impl Durability {
    /// Takes nothing more. The thread ends when it has written what is queued.
    pub(crate) fn close(&self) {
        match self {
            Self::Ephemeral => {}
            Self::Disk(queue) => drop(queue.lock().unwrap_or_else(PoisonError::into_inner).take()),
        }
    }
}

impl Committer {
    /// A queue and the one who works through it.
    pub(crate) fn new() -> (Durability, Self) {
        let (sender, queue) = mpsc::channel();
        (Durability::Disk(Mutex::new(Some(sender))), Self { queue })
    }

    /// Starts the thread. It ends when the API does, with everything that was queued on disk.
    pub(crate) fn start(
        self,
        mut storage: Box<dyn Storage>,
        shared: Weak<Shared>,
    ) -> thread::JoinHandle<()> {
        let run = move || {
            while let Ok(first) = self.queue.recv() {
                let more = self.queue.try_iter().take(GROUP_MAX - 1);
                let group: Vec<Commit> = std::iter::once(first).chain(more).collect();
                let Some(shared) = shared.upgrade() else {
                    return;
                };
                let batches = batches(&group);
                // Those who only read need no disk, and go on reading when it is full.
                let committed = if batches.is_empty() {
                    Ok(())
                } else {
                    storage.commit(&batches)
                };
                match committed {
                    Ok(()) => finish(&shared, group),
                    Err(error) => self.undo(&shared, group, &error),
                }
            }
        };
        thread::Builder::new()
            .name("storage".into())
            .spawn(run)
            .expect("the system can start one more thread")
    }

    /// Takes back a group that could not be written and everything that was built on it.
    fn undo(&self, shared: &Shared, mut group: Vec<Commit>, error: &StorageError) {
        let mut engine = shared.engine();
        // With the engine held nothing more is queued.
        group.extend(self.queue.try_iter());
        let changes: Vec<Arc<Change>> = group
            .iter()
            .flat_map(|commit| commit.changes.iter().cloned())
            .collect();
        engine.take_back(&changes);
        drop(engine);
        tracing::error!(%error, requests = group.len(), "Could not write to disk");
        for commit in group {
            // Whoever asked may have gone away.
            let _gone = commit.done.send(Err(refusal(error)));
        }
    }
}

fn batches(group: &[Commit]) -> Vec<Batch> {
    let batch = |commit: &Commit| Batch {
        revision: commit.revision,
        writes: commit.changes.iter().map(|change| write(change)).collect(),
    };
    group
        .iter()
        .filter(|commit| !commit.changes.is_empty())
        .map(batch)
        .collect()
}

fn write(change: &Change) -> Write {
    Write {
        key: change.key.clone(),
        revision: change.revision,
        value: change.after().map(|stored| stored.json().clone()),
    }
}

fn finish(shared: &Shared, group: Vec<Commit>) {
    for commit in group {
        shared.publish(commit.revision, &commit.changes);
        let _gone = commit.done.send(Ok(()));
    }
}

fn refusal(error: &StorageError) -> Refusal {
    match error {
        StorageError::Full => Refusal::no_space(
            "the disk is full: nothing was changed; reading goes on, and writing when there is space again",
        ),
        StorageError::Broken(why) => Refusal::unavailable(format!(
            "the store can no longer be written ({why}): nothing was changed; restart after checking the disk"
        )),
    }
}

#[cfg(test)]
mod tests;
