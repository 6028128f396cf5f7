//! Random histories: a keeper that dies between any two writes, API servers and serving processes that hear of things late. Whoever connects is answered
//! by a certificate that it believes.

use proptest::collection::vec;
use proptest::prelude::*;
use x509::parse;

use super::*;

/// How many configurations there are.
const CONFIGURATIONS: usize = 2;
const SIDES: usize = 2;

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The keeper looks, and dies after so many writes.
    Look(usize),
    /// So much of a year passes, in thousands; then the keeper looks, and dies after so many writes, and everybody hears of what there is.
    Pass(u16, usize),
    /// A few seconds pass, or a few hundred.
    Wait(u16),
    /// An API server hears of a configuration.
    Hear(usize, usize),
    /// A serving process hears of the Secret.
    Swap(usize),
}

/// The world: what is written, what others have heard of it, and when.
struct World {
    now: Timestamp,
    secret: Option<Fields>,
    configurations: Vec<Option<String>>,
    /// For each API server and configuration: what it believes, and since when it has not heard of what is there.
    believed: Vec<Vec<Heard<String>>>,
    /// For each serving process.
    shown: Vec<Heard<Fields>>,
    /// The memory of the keeper.
    carried: Option<(String, Timestamp)>,
    rotations: usize,
}

#[derive(Clone, Debug)]
struct Heard<T> {
    value: Option<T>,
    stale_since: Option<Timestamp>,
}

impl<T: Clone + PartialEq> Heard<T> {
    fn new() -> Self {
        Self {
            value: None,
            stale_since: None,
        }
    }

    fn hear(&mut self, there: Option<&T>) {
        self.value = there.cloned();
        self.stale_since = None;
    }

    fn written(&mut self, there: Option<&T>, now: Timestamp) {
        if self.value.as_ref() != there {
            self.stale_since.get_or_insert(now);
        }
    }
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            now: noon(),
            secret: None,
            configurations: vec![None; CONFIGURATIONS],
            believed: vec![vec![Heard::new(); CONFIGURATIONS]; SIDES],
            shown: vec![Heard::new(); SIDES],
            carried: None,
            rotations: 0,
        };
        world.look(usize::MAX);
        world.hear_all();
        // Close to the first rotation, or most histories would end before it.
        for _ in 0..8 {
            world.pass(days(30));
            world.look(usize::MAX);
            world.hear_all();
        }
        world
    }

    fn hear_all(&mut self) {
        for side in 0..SIDES {
            for configuration in 0..CONFIGURATIONS {
                self.hear(side, configuration);
            }
            self.shown[side].hear(self.secret.as_ref());
        }
    }

    fn hear(&mut self, side: usize, configuration: usize) {
        self.believed[side][configuration].hear(self.configurations[configuration].as_ref());
    }

    /// Time passes, but nobody goes without hearing of things for longer than they may.
    fn pass(&mut self, time: SignedDuration) {
        self.now += time;
        let late = |since: Option<Timestamp>, now: Timestamp, limit: Duration| {
            since.is_some_and(|since| {
                now.duration_since(since) >= SignedDuration::try_from(limit).unwrap()
            })
        };
        for side in 0..SIDES {
            for configuration in 0..CONFIGURATIONS {
                let heard = &self.believed[side][configuration];
                if late(heard.stale_since, self.now, HEARD_AFTER) {
                    self.hear(side, configuration);
                }
            }
            if late(self.shown[side].stale_since, self.now, OVERLAP) {
                self.shown[side].hear(self.secret.as_ref());
            }
        }
    }

    /// One look, as the keeper does it.
    fn look(&mut self, writes_max: usize) {
        let mut writes = 0;
        let found = read(self.secret.as_ref());
        let bundle = found.bundle();
        let carries = bundle.is_some() && self.configurations.iter().all(|there| *there == bundle);
        self.carried = match (carries, self.carried.take(), bundle) {
            (true, Some((before, since)), Some(bundle)) if before == bundle => {
                Some((before, since))
            }
            (true, _, Some(bundle)) => Some((bundle, self.now)),
            (true, _, None) | (false, _, _) => None,
        };
        let since = self.carried.as_ref().map(|(_, since)| *since);
        let facts = Facts {
            carried_for: since.map(|since| until(since, self.now)),
            ..facts(self.now)
        };
        let step = next(&found, &facts);
        let mut bundle = found.bundle();
        if let Some(holding) = carry_out(&step, found, &facts, &mut fresh_key).unwrap() {
            if writes == writes_max {
                return self.die();
            }
            writes += 1;
            self.rotations += usize::from(step == Step::Forget);
            self.secret = Some(holding.fields());
            for shown in &mut self.shown {
                shown.written(self.secret.as_ref(), self.now);
            }
            bundle = Some(holding.bundle());
        }
        for configuration in 0..CONFIGURATIONS {
            if self.configurations[configuration] == bundle {
                continue;
            }
            if writes == writes_max {
                return self.die();
            }
            writes += 1;
            self.configurations[configuration].clone_from(&bundle);
            for side in 0..SIDES {
                let there = self.configurations[configuration].clone();
                self.believed[side][configuration].written(there.as_ref(), self.now);
            }
        }
    }

    /// Whoever comes next remembers nothing.
    fn die(&mut self) {
        self.carried = None;
    }

    /// What keeps an API server from believing a serving process, if anything does.
    fn broken(&self) -> Option<String> {
        for shown in &self.shown {
            let Some(fields) = &shown.value else { continue };
            let leaf = &whole(fields).leaf;
            if let Some(why) = leaf.valid.untimely(self.now) {
                return Some(format!("the leaf: {why}"));
            }
            for bundle in self.believed.iter().flatten() {
                let bundle = bundle.value.as_deref().unwrap_or_default();
                if !believes(bundle, leaf, self.now) {
                    return Some(format!("not believed at {}", self.now));
                }
            }
        }
        None
    }
}

fn believes(bundle: &str, leaf: &x509::Leaf, now: Timestamp) -> bool {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let certificates = CertificateDer::pem_slice_iter(bundle.as_bytes());
    certificates.map(Result::unwrap).any(|authority| {
        let valid = Validity::of(&parse(&authority).unwrap()).unwrap();
        valid.untimely(now).is_none() && x509::is_signed_by(&leaf.certificate, &authority)
    })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => Just(Event::Look(usize::MAX)),
        3 => (0..4_usize).prop_map(Event::Look),
        1 => (0..40_u16, 1..4_usize).prop_map(|(part, writes)| Event::Pass(part, writes)),
        2 => (0..900_u16).prop_map(Event::Wait),
        1 => (0..SIDES, 0..CONFIGURATIONS).prop_map(|(side, configuration)| Event::Hear(side, configuration)),
        1 => (0..SIDES).prop_map(Event::Swap),
    ]
}

fn check(events: &[Event]) -> Result<usize, TestCaseError> {
    let mut world = World::new();
    for (index, event) in events.iter().enumerate() {
        match *event {
            Event::Look(writes) => world.look(writes),
            // Weeks without a write would let leaves expire: at least one gets there.
            Event::Pass(part, writes) => {
                world.pass(SignedDuration::from_hours(365 * 24) / 1000 * i32::from(part));
                world.look(writes);
                world.hear_all();
            }
            Event::Wait(seconds) => world.pass(SignedDuration::from_secs(i64::from(seconds))),
            Event::Hear(side, configuration) => world.hear(side, configuration),
            Event::Swap(side) => world.shown[side].hear(world.secret.as_ref()),
        }
        let broken = world.broken();
        prop_assert!(broken.is_none(), "after event {index}: {broken:?}");
    }
    Ok(world.rotations)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whoever_connects_believes_what_it_is_shown(events in vec(event(), 1..120)) {
        check(&events)?;
    }
}

/// The histories above would show nothing if they never came to the end of a rotation.
#[test]
fn a_long_history_has_rotations_in_it() {
    let round = [
        Event::Pass(170, usize::MAX),
        Event::Look(1),
        Event::Wait(600),
        Event::Look(0),
        Event::Look(usize::MAX),
        Event::Wait(600),
        Event::Look(2),
    ];
    let events: Vec<_> = round
        .iter()
        .copied()
        .cycle()
        .take(round.len() * 40)
        .collect();
    let rotations = check(&events).unwrap();
    assert!(rotations > 5, "{rotations}");
}
