//! The rules of the queue, each as a short history.

use rand::SeedableRng as _;

use super::*;

/// Keys are `lane/name`, or a name alone.
fn lane(key: &&'static str) -> &'static str {
    key.split_once('/').map_or("", |(lane, _)| lane)
}

const OPTIONS: Options = Options {
    debounce: Duration::from_millis(50),
    backoff: Backoff {
        base: Duration::from_secs(1),
        cap: Duration::from_secs(8),
    },
};

/// Plays a history: in each line the time in milliseconds, what is done or expected, a key or `-`, a time.
fn check(history: &'static str) {
    let chance = StdRng::seed_from_u64(1);
    let mut queue = Queue::new(OPTIONS, lane, chance);
    let origin = Instant::now();
    let at = |text: &str| origin + Duration::from_millis(text.parse().expect("milliseconds"));
    let shown = |time: Option<Duration>| {
        time.map_or_else(|| "-".to_owned(), |time| time.as_millis().to_string())
    };
    for line in history
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let words: Vec<_> = line.split_whitespace().collect();
        let (now, key) = (at(words[0]), words.get(2).copied().unwrap_or_default());
        let when = words.get(3).map(|text| at(text));
        let seen = match words[1] {
            "push" => {
                queue.push(key, when.unwrap_or(now));
                continue;
            }
            "done" | "failed" => {
                let outcome = match (words[1], when) {
                    ("failed", _) => Outcome::Failed,
                    (_, Some(again)) => Outcome::Again(again),
                    (_, None) => Outcome::Done,
                };
                queue.done(&key, now, outcome);
                continue;
            }
            "take" => queue.take(now).unwrap_or("-").to_owned(),
            "next" => shown(queue.next_due().map(|due| due - origin)),
            "oldest" => shown(queue.oldest_due(now)),
            "waiting" => queue.waiting().to_string(),
            "working" => queue.working().to_string(),
            "known" => queue.entries.len().to_string(),
            other => panic!("{other} is no step"),
        };
        assert_eq!(seen, key, "in the line {line:?}");
    }
}

#[test]
fn a_key_is_handed_out_when_it_is_due() {
    check(
        "0   push a 100
         0   next 100
         99  take -
         100 take a
         100 next -
         100 take -",
    );
}

#[test]
fn a_key_that_is_asked_for_twice_comes_once() {
    check(
        "0 push a
         0 push a
         0 waiting 1
         0 take a
         0 take -",
    );
}

#[test]
fn an_earlier_time_wins_over_a_later_one_and_never_the_other_way() {
    check(
        "0 push a 100
         0 push a 200
         0 next 100
         0 push a 50
         0 next 50
         0 waiting 1",
    );
}

#[test]
fn a_key_that_is_worked_on_comes_again_only_if_it_was_asked_for() {
    check(
        "0   push a
         0   take a
         0   working 1
         100 push a
         100 take -
         200 done a
         200 working 0
         200 take a
         300 done a
         300 take -",
    );
}

#[test]
fn of_what_was_asked_for_during_the_work_and_at_its_end_the_earlier_counts() {
    check(
        "0   push a
         0   take a
         10  push a 500
         100 done a 300
         100 next 300
         300 take a
         310 push a 400
         320 done a 900
         320 next 400",
    );
}

/// Z10.
#[test]
fn the_first_start_is_at_once_and_the_next_after_the_interval() {
    check(
        "0   push a
         0   take a
         1   done a
         2   push a
         2   next 50
         49  take -
         50  take a
         51  push a
         52  done a
         99  take -
         100 take a",
    );
}

/// Z10.
#[test]
fn the_interval_is_counted_from_the_start_not_from_the_end() {
    check(
        "0  push a
         0  take a
         80 done a
         80 push a
         80 take a",
    );
}

/// Z10.
#[test]
fn a_burst_is_one_start_at_once_and_one_for_all_the_rest() {
    check(
        "0  push a
         0  take a
         0  done a
         1  push a
         2  push a
         3  push a
         50 take a
         50 done a
         99 take -
         99 next -",
    );
}

#[test]
fn a_key_that_fails_waits_for_longer_each_time() {
    // Waits are shortened by chance to between a half and the whole of 1, 2, 4 seconds.
    check(
        "0     push a
         0     take a
         0     failed a
         499   take -
         1000  take a
         1000  failed a
         1999  take -
         3000  take a
         3000  failed a
         4999  take -
         7000  take a",
    );
}

#[test]
fn waits_after_failures_are_capped() {
    check(
        "0      push a
         0      take a
         0      failed a
         10000  take a
         10000  failed a
         20000  take a
         20000  failed a
         30000  take a
         30000  failed a
         40000  take a
         40000  failed a
         48000  take a
         48000  failed a
         56000  take a",
    );
}

#[test]
fn success_makes_the_next_failure_a_first_one() {
    check(
        "0     push a
         0     take a
         0     failed a
         1000  take a
         1000  failed a
         3000  take a
         3000  done a
         4000  push a
         4000  take a
         4000  failed a
         5000  take a",
    );
}

#[test]
fn a_key_that_failed_comes_at_once_when_it_is_asked_for() {
    check(
        "0   push a
         0   take a
         0   failed a
         100 push a
         100 take a
         100 failed a
         1099 take -
         2100 take a",
    );
}

#[test]
fn lanes_take_turns() {
    check(
        "0 push x/1
         0 push x/2
         0 push x/3
         0 push y/1
         0 push z/1
         0 push z/2
         0 take x/1
         0 take y/1
         0 take z/1
         0 take x/2
         0 take z/2
         0 take x/3
         0 take -",
    );
}

#[test]
fn a_lane_that_has_something_due_later_does_not_hold_up_the_others() {
    check(
        "0  push x/1
         0  push x/2 20
         0  push y/1
         0  push y/2
         0  take x/1
         0  take y/1
         0  take y/2
         0  take -
         0  next 20
         20 take x/2",
    );
}

#[test]
fn within_a_lane_whoever_has_been_due_for_longest_comes_first() {
    check(
        "0 push x/1 9
         0 push x/2 8
         0 push x/3 8
         9 take x/2
         9 take x/3
         9 take x/1",
    );
}

#[test]
fn a_long_lane_does_not_starve_a_short_one() {
    let mut queue = Queue::new(OPTIONS, |key: &(u8, u32)| key.0, StdRng::seed_from_u64(1));
    let now = Instant::now();
    for number in 0..100_000 {
        queue.push((0, number), now);
    }
    assert_eq!(queue.take(now), Some((0, 0)));
    queue.push((1, 0), now);
    let next = [queue.take(now), queue.take(now)];
    assert!(next.contains(&Some((1, 0))), "{next:?}");
}

#[test]
fn depth_and_age_are_told() {
    check(
        "0   push x/1 10
         0   push x/2 20
         0   push y/1 15
         0   push y/2 900
         9   oldest -
         10  oldest 0
         30  oldest 20
         30  waiting 4
         30  take x/1
         30  oldest 15
         30  take y/1
         30  take x/2
         30  oldest -
         30  waiting 1
         30  working 3",
    );
}

#[test]
fn a_key_that_rests_is_forgotten() {
    check(
        "0   push a
         0   take a
         0   done a
         0   push b
         0   take b
         0   known 2
         49  take -
         49  known 2
         50  take -
         50  known 1
         90  done b
         90  known 0",
    );
}

#[test]
fn the_end_of_work_that_nobody_began_changes_nothing() {
    check(
        "0 done a
         0 push a 10
         0 failed a
         0 next 10
         0 working 0",
    );
}
