//! The queue compared with a naive one over random histories: every answer is found by looking at all keys.

use proptest::prelude::*;
use rand::SeedableRng as _;

use super::*;

type Key = (u8, u8);

const OPTIONS: Options = Options {
    debounce: Duration::from_millis(20),
    backoff: Backoff {
        base: Duration::from_millis(10),
        cap: Duration::from_millis(40),
    },
};

#[derive(Clone, Debug)]
enum Step {
    Push { key: Key, due: u64 },
    Take,
    End { which: usize, how: End },
    Pass { millis: u64 },
}

#[derive(Clone, Copy, Debug)]
enum End {
    Done,
    Again { due: u64 },
    Failed,
}

fn step() -> impl Strategy<Value = Step> {
    let key = (0..3_u8, 0..5_u8);
    let later = || prop_oneof![Just(0), 0..100_u64];
    let end = prop_oneof![
        Just(End::Done),
        later().prop_map(|due| End::Again { due }),
        Just(End::Failed),
    ];
    prop_oneof![
        4 => (key, later()).prop_map(|(key, due)| Step::Push { key, due }),
        4 => Just(Step::Take),
        3 => (0..8_usize, end).prop_map(|(which, how)| Step::End { which, how }),
        2 => (0..40_u64).prop_map(|millis| Step::Pass { millis }),
    ]
}

/// What the naive queue knows of a key. Nothing is ever forgotten.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    due: Option<Instant>,
    working: bool,
    started: Option<Instant>,
    failures: u32,
}

struct Naive {
    keys: BTreeMap<Key, Known>,
    line: Vec<u8>,
    chance: StdRng,
}

impl Naive {
    fn push(&mut self, key: Key, due: Instant) {
        let known = self.keys.entry(key).or_default();
        let earliest = known.started.map_or(due, |at| at + OPTIONS.debounce);
        known.due = earlier(known.due, Some(due.max(earliest)));
    }

    fn waiting(&self) -> impl Iterator<Item = (Instant, Key)> {
        let waiting = self.keys.iter().filter(|(_, known)| !known.working);
        waiting.filter_map(|(key, known)| Some((known.due?, *key)))
    }

    fn due(&self, now: Instant) -> Vec<(Instant, Key)> {
        let mut due: Vec<_> = self.waiting().filter(|(due, _)| *due <= now).collect();
        due.sort();
        due
    }

    fn take(&mut self, now: Instant) -> Option<Key> {
        for (_, key) in self.due(now) {
            if !self.line.contains(&key.0) {
                self.line.push(key.0);
            }
        }
        let turn = (!self.line.is_empty()).then(|| self.line.remove(0))?;
        let due = self.due(now);
        let (_, key) = *due.iter().find(|(_, key)| key.0 == turn)?;
        if due.iter().filter(|(_, key)| key.0 == turn).count() > 1 {
            self.line.push(turn);
        }
        let known = self.keys.entry(key).or_default();
        *known = Known {
            due: None,
            working: true,
            started: Some(now),
            ..*known
        };
        Some(key)
    }

    fn end(&mut self, key: Key, now: Instant, outcome: Outcome) {
        let known = self.keys.entry(key).or_default();
        known.working = false;
        known.failures = match outcome {
            Outcome::Done | Outcome::Again(_) => 0,
            Outcome::Failed => known.failures + 1,
        };
        match outcome {
            Outcome::Done => {}
            Outcome::Again(due) => self.push(key, due),
            Outcome::Failed => {
                let delay = OPTIONS.backoff.delay(known.failures, &mut self.chance);
                self.push(key, now + delay);
            }
        }
    }
}

/// Plays the steps on both and compares everything that can be seen.
fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let chance = StdRng::seed_from_u64(7);
    let mut queue = Queue::new(OPTIONS, |key: &Key| key.0, chance.clone());
    let mut naive = Naive {
        keys: BTreeMap::new(),
        line: Vec::new(),
        chance,
    };
    let millis = Duration::from_millis;
    let (mut now, mut working) = (Instant::now(), Vec::new());
    for step in steps {
        match *step {
            Step::Push { key, due } => {
                queue.push(key, now + millis(due));
                naive.push(key, now + millis(due));
            }
            Step::Take => {
                let taken = queue.take(now);
                prop_assert_eq!(taken, naive.take(now));
                working.extend(taken);
            }
            Step::End { which, how } if which < working.len() => {
                let key = working.remove(which);
                let outcome = match how {
                    End::Done => Outcome::Done,
                    End::Again { due } => Outcome::Again(now + millis(due)),
                    End::Failed => Outcome::Failed,
                };
                queue.done(&key, now, outcome);
                naive.end(key, now, outcome);
            }
            Step::End { .. } => {}
            Step::Pass { millis: passed } => now += millis(passed),
        }
        let (waiting, due) = (naive.waiting(), naive.due(now));
        let oldest = due.first().map(|(due, _)| now - *due);
        prop_assert_eq!(queue.next_due(), naive.waiting().map(|(due, _)| due).min());
        prop_assert_eq!(queue.oldest_due(now), oldest);
        prop_assert_eq!(queue.waiting(), waiting.count());
        prop_assert_eq!(queue.working(), working.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_history_goes_as_the_naive_queue_says(steps in prop::collection::vec(step(), 1..120)) {
        check(&steps)?;
    }
}
