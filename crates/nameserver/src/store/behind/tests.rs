//! When what is written.

use super::*;
use dns::{Version, zonefile};

const TICK: Duration = Duration::from_millis(50);

fn version(origin: &str, serial: u32) -> Publication {
    let text = format!("{origin} 300 SOA ns.example. noc.example. {serial} 2 3 4 5\n");
    let (zone, serial) = zonefile::parse(&text, None).zone.unwrap();
    Publication::Version(Version { zone, serial })
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// Plays a disk that takes `took` for each write, from `now` until `end`, and tells the serials it wrote.
fn write_until(waiting: &mut Waiting, now: &mut Instant, end: Instant, took: Duration) -> Vec<u32> {
    let mut serials = Vec::new();
    while let Some((origin, due)) = waiting.next(*now) {
        if due > end {
            break;
        }
        let latest = waiting.begin(&origin).unwrap();
        serials.extend(serial(&latest).map(|serial| serial.0));
        *now = due.max(*now) + took;
        waiting.wrote(latest, Ok(()), *now, took);
    }
    *now = end.max(*now);
    serials
}

/// N5: twenty versions a second are a write every few seconds, and the last one is among them.
#[test]
fn a_zone_that_changes_all_the_time_is_written_now_and_then() {
    let (mut waiting, mut now) = (Waiting::default(), Instant::now());
    let mut written = Vec::new();
    for serial in 1..=650 {
        waiting.take(&version("a.example.", serial));
        let end = now + TICK;
        written.extend(write_until(&mut waiting, &mut now, end, Duration::ZERO));
    }
    assert_eq!(written, [1, 100, 200, 300, 400, 500, 600]);
    let end = now + REST_MIN;
    let last = write_until(&mut waiting, &mut now, end, Duration::ZERO);
    assert_eq!(last, [650]);
    assert_eq!(waiting.next(now), None);
}

#[test]
fn a_zone_that_takes_long_to_write_is_written_seldom() {
    let (mut waiting, mut now) = (Waiting::default(), Instant::now());
    let took = Duration::from_secs(2);
    let mut written = 0;
    let end = now + Duration::from_mins(10);
    for serial in 1.. {
        waiting.take(&version("a.example.", serial));
        let next = now + TICK;
        written += write_until(&mut waiting, &mut now, next, took).len();
        if now > end {
            break;
        }
    }
    assert_eq!(written, 3, "a write of two seconds in every 202");
}

#[test]
fn zones_do_not_wait_for_one_another() {
    let (mut waiting, mut now) = (Waiting::default(), Instant::now());
    for (origin, serial) in [("a.example.", 1), ("b.example.", 2), ("c.example.", 3)] {
        waiting.take(&version(origin, serial));
    }
    let end = now;
    assert_eq!(
        write_until(&mut waiting, &mut now, end, Duration::ZERO),
        [1, 2, 3]
    );
}

#[test]
fn what_is_on_disk_is_not_written_again() {
    let mut waiting = Waiting {
        written: [(name("a.example."), Serial(7))].into(),
        ..Waiting::default()
    };
    waiting.take(&version("a.example.", 7));
    waiting.take(&Publication::Withdrawal(name("never.example.")));
    assert_eq!(waiting.next(Instant::now()), None);
    waiting.take(&Publication::Withdrawal(name("a.example.")));
    assert!(waiting.next(Instant::now()).is_some());
}

/// What is on disk is not known then, so whatever comes is news.
#[test]
fn what_comes_while_a_zone_is_written_is_not_lost() {
    let (mut waiting, now) = (Waiting::default(), Instant::now());
    let origin = name("a.example.");
    waiting.take(&version("a.example.", 1));
    let latest = waiting.begin(&origin).unwrap();
    let withdrawal = Publication::Withdrawal(origin.clone());
    waiting.take(&withdrawal);
    waiting.wrote(latest, Ok(()), now, Duration::ZERO);
    assert_eq!(waiting.begin(&origin), Some(withdrawal.clone()));
    waiting.take(&version("a.example.", 1));
    waiting.wrote(withdrawal, Ok(()), now, Duration::ZERO);
    assert_eq!(waiting.begin(&origin), Some(version("a.example.", 1)));
}

/// I13: nothing is forgotten, and a newer version takes the place of the one that failed.
#[test]
fn what_could_not_be_written_is_tried_again_after_a_rest() {
    let (mut waiting, now) = (Waiting::default(), Instant::now());
    let origin = name("a.example.");
    let failure = || Err(io::Error::other("disk full"));
    waiting.take(&version("a.example.", 1));
    let latest = waiting.begin(&origin).unwrap();
    waiting.wrote(latest, failure(), now, Duration::ZERO);
    assert_eq!(waiting.next(now), Some((origin.clone(), now + REST_MIN)));
    let latest = waiting.begin(&origin).unwrap();
    waiting.take(&version("a.example.", 2));
    waiting.wrote(latest, failure(), now, Duration::ZERO);
    let mut later = now;
    let end = now + REST_MIN;
    assert_eq!(
        write_until(&mut waiting, &mut later, end, Duration::ZERO),
        [2]
    );
}
