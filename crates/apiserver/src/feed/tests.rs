//! Feeds with changes out of a store, and wakers that count.

use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Wake};

use serde_json::{Value, json};

use super::*;
use crate::store::Store;

fn maps() -> Kind {
    Kind::new("", "configmaps")
}

/// A store whose every write is published at once.
struct Bench {
    store: Store,
    feeds: Feeds,
}

impl Bench {
    fn new() -> Self {
        Self {
            store: Store::default(),
            feeds: Feeds::new(0),
        }
    }

    fn write(&mut self, kind: &Kind, name: &str) {
        self.write_unpublished(kind, name);
        let written = self.store.take_written();
        self.feeds.publish(self.store.revision(), &written);
    }

    fn write_unpublished(&mut self, kind: &Kind, name: &str) {
        let object = json!({ "metadata": { "name": name } });
        let Value::Object(object) = object else {
            unreachable!("an object was written")
        };
        self.store.put(&kind.key("", name), object);
    }
}

/// The names that come after a revision; nothing if they are older than the feed.
fn read(seat: &Seat, mut revision: u64) -> Option<Vec<String>> {
    let mut names = Vec::new();
    loop {
        match seat.after(revision) {
            Next::News(news) => {
                revision = news.change.revision;
                names.push(news.change.key.place.name.to_string());
            }
            Next::Nothing => return Some(names),
            Next::Older => return None,
        }
    }
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    fn taken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Lets the herald do what there is to do.
fn run_herald(feeds: &Feeds) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(feeds.herald()).poll(&mut context).is_pending());
}

#[test]
fn a_feed_begins_where_it_was_opened() {
    let mut bench = Bench::new();
    bench.write(&maps(), "a");
    let seat = bench.feeds.join(&maps());
    assert_eq!(read(&seat, 1), Some(vec![]));
    assert_eq!(read(&seat, 0), None);
    bench.write(&maps(), "b");
    bench.write(&Kind::new("", "secrets"), "other");
    bench.write(&maps(), "c");
    assert_eq!(read(&seat, 1), Some(vec!["b".into(), "c".into()]));
    assert_eq!((seat.newest(), bench.feeds.published()), (4, 4));
}

#[test]
fn nothing_is_told_before_it_is_published() {
    let mut bench = Bench::new();
    let seat = bench.feeds.join(&maps());
    bench.write_unpublished(&maps(), "a");
    run_herald(&bench.feeds);
    assert_eq!((read(&seat, 0), bench.feeds.published()), (Some(vec![]), 0));
}

#[test]
fn who_asked_is_woken_once_and_who_did_not_is_left_alone() {
    let mut bench = Bench::new();
    let (waits, reads) = (bench.feeds.join(&maps()), bench.feeds.join(&maps()));
    let [waiting, reading] = [(); 2].map(|()| Arc::new(Count::default()));
    for (seat, count) in [(&waits, &waiting), (&reads, &reading)] {
        seat.wake(&Waker::from(Arc::clone(count)));
    }
    bench.write(&maps(), "a");
    run_herald(&bench.feeds);
    waits.wake(&Waker::from(Arc::clone(&waiting)));
    for name in ["b", "c"] {
        bench.write(&maps(), name);
        run_herald(&bench.feeds);
    }
    assert_eq!((waiting.taken(), reading.taken()), (2, 1));
}

#[test]
fn a_change_wakes_nobody_who_watches_something_else() {
    let mut bench = Bench::new();
    let seat = bench.feeds.join(&Kind::new("", "secrets"));
    let count = Arc::new(Count::default());
    seat.wake(&Waker::from(Arc::clone(&count)));
    bench.write(&maps(), "a");
    run_herald(&bench.feeds);
    assert_eq!(count.taken(), 0);
}

#[test]
fn a_definition_that_changes_gives_its_kind_a_turn() {
    let mut bench = Bench::new();
    let definitions = Kind::new("apiextensions.k8s.io", "customresourcedefinitions");
    let things = bench.feeds.join(&Kind::new("example.dev", "things"));
    let others = bench.feeds.join(&Kind::new("example.dev", "others"));
    let before = (things.turns(), others.turns());
    bench.write(&definitions, "things.example.dev");
    bench.write(&maps(), "others.example.dev");
    assert_eq!((things.turns(), others.turns()), (before.0 + 1, before.1));
}

#[test]
fn a_kind_that_nobody_watches_any_more_is_forgotten() {
    let mut bench = Bench::new();
    let seats = [bench.feeds.join(&maps()), bench.feeds.join(&maps())];
    bench.write(&maps(), "a");
    assert_eq!(lock(&bench.feeds.kinds).len(), 1);
    drop(seats);
    bench.write(&maps(), "b");
    assert_eq!(lock(&bench.feeds.kinds).len(), 0);
}

/// J8.
#[test]
fn whoever_joins_while_changes_come_misses_none() {
    const CHANGES: u64 = 3000;
    let mut bench = Bench::new();
    for index in 0..CHANGES {
        bench.write_unpublished(&maps(), &format!("m{index}"));
    }
    let changes = bench.store.take_written();
    let feeds = &bench.feeds;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while feeds.published() < CHANGES {
                    follow(feeds, CHANGES);
                }
            });
        }
        for change in &changes {
            feeds.publish(change.revision, std::slice::from_ref(change));
        }
    });
}

/// Reads from now on, a while or to the end; whoever is left behind begins again, as one who lists again does.
fn follow(feeds: &Feeds, end: u64) {
    let mut revision = feeds.published();
    let seat = feeds.join(&maps());
    let stop = end.min(revision + 200);
    while revision < stop {
        match seat.after(revision) {
            Next::News(news) => {
                assert_eq!(news.change.revision, revision + 1, "a gap");
                revision += 1;
            }
            Next::Nothing => std::thread::yield_now(),
            Next::Older => return,
        }
    }
}
