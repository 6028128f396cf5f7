//! How long to wait after failing again and again. What counts as failing is up to the caller.

use std::time::Duration;

use rand::Rng;

/// Waits that double from `base` up to `cap`, each shortened by chance to between a half and the whole, so that those
/// who failed together do not come back together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Backoff {
    /// The longest wait after the first failure.
    pub base: Duration,
    /// The longest wait of all.
    pub cap: Duration,
}

impl Backoff {
    /// The wait after `failures` failures in a row.
    pub fn delay(&self, failures: u32, chance: &mut impl Rng) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let longest = self.base.saturating_mul(1 << doublings).min(self.cap);
        longest.mul_f64(chance.random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    const BACKOFF: Backoff = Backoff {
        base: Duration::from_millis(100),
        cap: Duration::from_secs(10),
    };

    #[test]
    fn the_wait_doubles_up_to_the_cap_and_is_shortened_by_at_most_a_half() {
        let cases = [
            (0, 100),
            (1, 100),
            (2, 200),
            (3, 400),
            (7, 6_400),
            (8, 10_000),
            (u32::MAX, 10_000),
        ];
        for (failures, longest) in cases {
            let longest = Duration::from_millis(longest);
            for seed in 0..100 {
                let delay = BACKOFF.delay(failures, &mut StdRng::seed_from_u64(seed));
                let allowed = longest / 2..=longest;
                assert!(allowed.contains(&delay), "{failures} failures: {delay:?}");
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_waits() {
        let waits = |seed| {
            let mut chance = StdRng::seed_from_u64(seed);
            (1..20)
                .map(|failures| BACKOFF.delay(failures, &mut chance))
                .collect::<Vec<_>>()
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }
}
