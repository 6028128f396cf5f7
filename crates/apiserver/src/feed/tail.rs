//! PURE. The newest changes of a kind, without a gap, as far back as is worth keeping ready.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::present::Lines;
use crate::store::Change;

/// How many changes are kept ready: whoever is further behind reads the log, as many at a time.
const CHANGES_MAX: usize = 128;

/// How many bytes of objects are kept ready, and with them at most four times as much in lines. One change is,
/// however large it is.
const BYTES_MAX: usize = 1 << 20;

/// The changes of one kind after a floor, without a gap.
#[derive(Debug)]
pub(super) struct Tail {
    /// By revision, so that a search need not look into what it passes.
    news: VecDeque<(u64, Arc<News>)>,
    /// Every change after this revision is in `news`.
    floor: u64,
    bytes: usize,
}

/// A change, and the lines that tell of it.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) change: Arc<Change>,
    pub(crate) lines: Lines,
}

/// What comes after a revision.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    News(Arc<News>),
    /// Nothing yet.
    Nothing,
    /// Something that is no longer here: the log has it, or has forgotten it too.
    Older,
}

impl Tail {
    /// Nothing after this revision has happened yet.
    pub(super) fn new(floor: u64) -> Self {
        Self {
            news: VecDeque::new(),
            floor,
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, change: Arc<Change>) {
        self.bytes += size(&change);
        let lines = Lines::new(Arc::clone(&change.object));
        let (revision, news) = (change.revision, News { change, lines });
        self.news.push_back((revision, Arc::new(news)));
        while self.news.len() > CHANGES_MAX || (self.bytes > BYTES_MAX && self.news.len() > 1) {
            self.forget_oldest();
        }
    }

    pub(super) fn after(&self, revision: u64) -> Next {
        if revision < self.floor {
            return Next::Older;
        }
        // Nearly everyone lacks the newest change and no other: that end is where to begin.
        let newer = self.news.iter().rev().take_while(|(at, _)| *at > revision);
        newer
            .last()
            .map_or(Next::Nothing, |(_, news)| Next::News(Arc::clone(news)))
    }

    fn forget_oldest(&mut self) {
        if let Some((revision, news)) = self.news.pop_front() {
            self.bytes -= size(&news.change);
            self.floor = revision;
        }
    }
}

fn size(change: &Change) -> usize {
    change.object.json().len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::key::Kind;
    use crate::store::Store;

    /// A tail of changes that carry this many bytes each.
    fn tail(changes: usize, bytes: usize) -> Tail {
        let mut store = Store::default();
        let key = Kind::new("", "configmaps").key("default", "a");
        for _ in 0..changes {
            let object = json!({ "metadata": { "name": "a" }, "text": "x".repeat(bytes) });
            let Value::Object(object) = object else {
                unreachable!("an object was written")
            };
            store.put(&key, object);
        }
        let mut tail = Tail::new(0);
        for change in store.take_written() {
            tail.push(change);
        }
        tail
    }

    /// The revisions after one, read to the end; nothing if they are not all there.
    fn read(tail: &Tail, mut revision: u64) -> Option<Vec<u64>> {
        let mut read = Vec::new();
        loop {
            match tail.after(revision) {
                Next::News(news) => {
                    revision = news.change.revision;
                    read.push(revision);
                }
                Next::Nothing => return Some(read),
                Next::Older => return None,
            }
        }
    }

    /// From every revision either all changes are read or it is said that some are missing.
    #[track_caller]
    fn check(tail: &Tail, newest: u64, kept: u64) {
        for from in 0..=newest {
            let expected = (from >= newest - kept).then(|| (from + 1..=newest).collect());
            assert_eq!(read(tail, from), expected, "from {from}");
        }
    }

    #[test]
    fn a_short_history_is_there_from_any_revision() {
        check(&tail(0, 10), 0, 0);
        check(&tail(5, 10), 5, 5);
    }

    #[test]
    fn of_a_long_history_the_newest_part_is_there_and_the_rest_is_older() {
        check(&tail(300, 10), 300, CHANGES_MAX as u64);
    }

    #[test]
    fn large_objects_leave_room_for_few_and_one_always_stays() {
        check(&tail(20, BYTES_MAX / 4), 20, 3);
        check(&tail(20, BYTES_MAX * 2), 20, 1);
    }
}
