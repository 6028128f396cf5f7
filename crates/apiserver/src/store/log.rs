//! What happened to the objects of one kind, newest last, as far back as memory allows.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::key::Key;
use crate::store::Stored;

/// How many changes of one kind are remembered: enough for a watcher that was away for minutes at a
/// hundred writes a second. Kubernetes remembers five minutes.
const CHANGES_MAX: usize = 32_768;

/// How many bytes of objects the log of one kind may keep alive. A hundred kinds under heavy writing would
/// be a lot, but only zones and records ever are.
const BYTES_MAX: usize = 32 << 20;

/// However large its objects are, the log of a kind remembers this many changes: a watcher that reads
/// as fast as it can must not be cut off by one burst.
const CHANGES_MIN: usize = 256;

/// One write.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) key: Key,
    /// The object before; nothing if it is new.
    pub(crate) before: Option<Arc<Stored>>,
    /// The object after it, or how it was last if this is its end.
    pub(crate) object: Arc<Stored>,
    pub(crate) removed: bool,
}

/// The revision is older than what is remembered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Forgotten {
    /// The oldest revision that can still be asked for.
    pub(crate) oldest: u64,
}

/// The changes of one kind after a floor, without a gap.
#[derive(Debug, Default)]
pub(super) struct Log {
    changes: VecDeque<Arc<Change>>,
    /// Everything after this revision is in `changes`; what is older has been forgotten.
    floor: u64,
    bytes: usize,
}

impl Change {
    pub(super) fn put(
        revision: u64,
        key: Key,
        before: Option<Arc<Stored>>,
        after: Arc<Stored>,
    ) -> Self {
        Self {
            revision,
            key,
            before,
            object: after,
            removed: false,
        }
    }

    pub(super) fn removal(revision: u64, key: Key, before: Arc<Stored>, last: Arc<Stored>) -> Self {
        Self {
            revision,
            key,
            before: Some(before),
            object: last,
            removed: true,
        }
    }

    /// The object after the change, if there is one.
    pub(crate) fn after(&self) -> Option<&Arc<Stored>> {
        (!self.removed).then_some(&self.object)
    }

    fn bytes(&self) -> usize {
        self.object.json().len()
    }
}

impl Log {
    pub(super) fn push(&mut self, change: Arc<Change>) {
        self.bytes += change.bytes();
        self.changes.push_back(change);
        while self.changes.len() > CHANGES_MAX
            || (self.bytes > BYTES_MAX && self.changes.len() > CHANGES_MIN)
        {
            self.forget_oldest();
        }
    }

    /// The changes after `revision`, oldest first.
    pub(super) fn since(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Arc<Change>>, Forgotten> {
        if revision < self.floor {
            return Err(Forgotten { oldest: self.floor });
        }
        let first = self
            .changes
            .partition_point(|change| change.revision <= revision);
        Ok(self.changes.range(first..))
    }

    /// Drops the newest change, which must be the one with this revision.
    pub(super) fn take_back(&mut self, revision: u64) {
        if let Some(change) = self
            .changes
            .pop_back_if(|change| change.revision == revision)
        {
            self.bytes -= change.bytes();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(change) = self.changes.pop_front() {
            self.bytes -= change.bytes();
            self.floor = change.revision;
        }
    }
}
