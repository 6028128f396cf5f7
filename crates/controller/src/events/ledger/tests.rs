//! What is written, and when.

use super::super::Severity;
use super::super::shares::{BURST, EVERY};
use super::*;

/// A ledger and the time.
struct Desk {
    ledger: Ledger,
    began: Instant,
    now: Instant,
}

impl Desk {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            ledger: Ledger::default(),
            began: now,
            now,
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// Notes something about an object. Tells whether a note was dropped.
    fn note(&mut self, object: &str, reason: &str) -> bool {
        let subject = Subject {
            api_version: None,
            kind: None,
            namespace: None,
            name: Some(object.to_owned()),
            uid: None,
        };
        let note = Note {
            severity: Severity::Warning,
            reason: reason.to_owned(),
            message: String::new(),
            action: String::new(),
        };
        let time = Timestamp::UNIX_EPOCH + (self.now - self.began);
        self.ledger.note(Key { subject, note }, self.now, time)
    }

    fn take(&mut self) -> Next {
        self.ledger.take(self.now)
    }

    fn draft(&mut self) -> Draft {
        match self.take() {
            Next::Write(draft) => draft,
            other @ (Next::Wait(_) | Next::Nothing) => panic!("{other:?}"),
        }
    }

    /// Writes the next note, and shows what was written: whether it was new, its object, reason and count.
    fn write(&mut self) -> String {
        self.end(End::Written).0
    }

    /// Like [`write`](Self::write), but it ends like this. Tells also whether the note was lost.
    fn end(&mut self, end: End) -> (String, bool) {
        let draft = match self.take() {
            Next::Write(draft) => draft,
            Next::Wait(until) => {
                let seconds = (until - self.now).as_secs();
                return (format!("wait {seconds} s"), false);
            }
            Next::Nothing => return ("nothing".to_owned(), false),
        };
        let lost = self.ledger.ended(&draft, self.now, end);
        (shown(&draft), lost)
    }
}

fn shown(draft: &Draft) -> String {
    let verb = if draft.exists { "count" } else { "create" };
    let object = draft.key.subject.name.as_deref().unwrap_or_default();
    let (reason, count) = (&draft.key.note.reason, draft.series.count);
    format!("{verb} {object} {reason} x{count}")
}

#[test]
fn notes_are_written_in_the_order_they_were_made() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    desk.note("b", "X");
    desk.note("a", "Y");
    assert_eq!(desk.write(), "create a X x1");
    assert_eq!(desk.write(), "create b X x1");
    assert_eq!(desk.write(), "create a Y x1");
    assert_eq!(desk.write(), "nothing");
}

#[test]
fn what_is_noted_again_is_counted_up() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    assert_eq!(desk.write(), "create a X x1");
    desk.pass(Duration::from_secs(1));
    desk.note("a", "X");
    desk.note("a", "X");
    let draft = desk.draft();
    assert_eq!(shown(&draft), "count a X x3");
    assert_eq!(draft.series.first, Timestamp::UNIX_EPOCH);
    assert_eq!(draft.series.last.as_second(), 1);
}

#[test]
fn what_is_noted_while_it_is_written_is_counted_afterwards() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    let draft = desk.draft();
    desk.note("a", "X");
    assert!(matches!(desk.take(), Next::Nothing), "not twice at a time");
    desk.ledger.ended(&draft, desk.now, End::Written);
    assert_eq!(desk.write(), "count a X x2");
    assert_eq!(desk.write(), "nothing");
}

#[test]
fn what_is_noted_again_much_later_is_new() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    desk.write();
    desk.pass(SERIES_WINDOW);
    desk.note("a", "X");
    let draft = desk.draft();
    assert_eq!(shown(&draft), "create a X x1");
    assert_eq!(draft.series.first.as_second(), 360);
}

#[test]
fn what_waits_is_not_forgotten() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    desk.write();
    desk.pass(Duration::from_secs(1));
    desk.note("a", "X");
    desk.pass(SERIES_WINDOW);
    desk.note("b", "X");
    assert_eq!(desk.write(), "count a X x2");
    assert_eq!(desk.write(), "create b X x1");
}

#[test]
fn an_object_that_has_had_its_share_waits_and_others_do_not() {
    let mut desk = Desk::new();
    for number in 0..=BURST {
        desk.note("a", &format!("X{number}"));
    }
    desk.note("b", "X");
    for number in 0..BURST {
        assert_eq!(desk.write(), format!("create a X{number} x1"));
    }
    assert_eq!(desk.write(), "create b X x1");
    assert_eq!(desk.write(), "wait 30 s");
    desk.note("a", &format!("X{BURST}"));
    desk.pass(EVERY);
    assert_eq!(desk.write(), format!("create a X{BURST} x2"));
    desk.note("a", "Y");
    assert_eq!(desk.write(), "wait 30 s");
    desk.pass(EVERY * (BURST + 1));
    for number in 0..BURST {
        desk.note("a", &format!("Z{number}"));
    }
    for _ in 0..BURST {
        assert!(desk.write().starts_with("create a "));
    }
    assert_eq!(desk.write(), "wait 30 s");
}

#[test]
fn beyond_the_bound_the_oldest_note_is_dropped() {
    let mut desk = Desk::new();
    for number in 0..WAITING_MAX {
        assert!(!desk.note(&format!("object-{number}"), "X"));
    }
    assert!(!desk.note("object-0", "X"), "counting up needs no room");
    assert!(desk.note("one-more", "X"));
    assert_eq!(desk.write(), "create object-1 X x1");
    assert_eq!(desk.ledger.entries.len(), WAITING_MAX);
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut desk = Desk::new();
    for number in 0..REMEMBERED_MAX + 10 {
        desk.note(&format!("object-{number}"), "X");
        desk.write();
    }
    assert!(desk.ledger.entries.len() <= REMEMBERED_MAX + 1);
    desk.pass(SERIES_WINDOW);
    desk.note("a", "X");
    assert_eq!(desk.ledger.entries.len(), 1);
    assert_eq!(desk.ledger.shares.len(), 0);
}

#[test]
fn what_fails_is_tried_again_first_and_not_for_ever() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    desk.note("b", "X");
    for _ in 1..ATTEMPTS_MAX {
        assert_eq!(desk.end(End::Failed), ("create a X x1".to_owned(), false));
    }
    assert_eq!(desk.end(End::Failed), ("create a X x1".to_owned(), true));
    assert_eq!(desk.write(), "create b X x1");
    assert_eq!(desk.write(), "nothing");
}

#[test]
fn what_is_refused_is_lost() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    assert_eq!(desk.end(End::Refused), ("create a X x1".to_owned(), true));
    assert_eq!(desk.write(), "nothing");
}

#[test]
fn an_event_that_is_gone_is_made_anew_with_what_was_not_told() {
    let mut desk = Desk::new();
    desk.note("a", "X");
    desk.write();
    desk.note("a", "X");
    desk.note("a", "X");
    assert_eq!(desk.end(End::Gone), ("count a X x3".to_owned(), false));
    assert_eq!(desk.write(), "create a X x2");
}
