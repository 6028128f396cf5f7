//! Many measurements as a few numbers.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// How long something took: in the middle, and how far it spreads.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Summary {
    #[serde(serialize_with = "microseconds")]
    pub(crate) median: Duration,
    #[serde(serialize_with = "microseconds")]
    pub(crate) lower_quartile: Duration,
    #[serde(serialize_with = "microseconds")]
    pub(crate) upper_quartile: Duration,
    #[serde(serialize_with = "microseconds")]
    pub(crate) min: Duration,
    /// Only one in a hundred took longer.
    #[serde(serialize_with = "microseconds")]
    pub(crate) p99: Duration,
    #[serde(serialize_with = "microseconds")]
    pub(crate) max: Duration,
    pub(crate) n: usize,
}

impl Summary {
    /// Nothing if there are no measurements.
    pub(crate) fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        let last = times.len().checked_sub(1)?;
        let at = |quarters: usize| times[last * quarters / 4];
        let p99 = times[(times.len() * 99).div_ceil(100) - 1];
        Some(Self {
            median: at(2),
            lower_quartile: at(1),
            upper_quartile: at(3),
            min: at(0),
            p99,
            max: at(4),
            n: times.len(),
        })
    }
}

impl fmt::Display for Summary {
    /// The median and between which values half of the others lie.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
        let text = format!(
            "{} ms ({}–{})",
            milliseconds(self.median),
            milliseconds(self.lower_quartile),
            milliseconds(self.upper_quartile),
        );
        f.pad(&text)
    }
}

fn microseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let tenths = (time.as_secs_f64() * 1e7).round();
    serializer.serialize_f64(tenths / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(microseconds: &[u64]) -> Option<Summary> {
        Summary::of(
            microseconds
                .iter()
                .copied()
                .map(Duration::from_micros)
                .collect(),
        )
    }

    #[test]
    fn the_middle_and_the_ends_are_found_in_any_order() {
        let summary = summary(&[50, 10, 40, 20, 30]).unwrap();
        let times = [
            summary.min,
            summary.lower_quartile,
            summary.median,
            summary.upper_quartile,
            summary.max,
        ];
        assert_eq!(times, [10, 20, 30, 40, 50].map(Duration::from_micros));
        assert_eq!(summary.n, 5);
    }

    #[test]
    fn one_in_a_hundred_is_above_the_99th_percentile() {
        let times: Vec<u64> = (1..=200).collect();
        assert_eq!(summary(&times).unwrap().p99, Duration::from_micros(198));
        assert_eq!(summary(&[7]).unwrap().p99, Duration::from_micros(7));
    }

    #[test]
    fn of_nothing_there_is_no_summary() {
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn a_summary_reads_as_a_median_and_its_spread() {
        let text = summary(&[1200, 1400, 1500, 1600, 9000])
            .unwrap()
            .to_string();
        assert_eq!(text, "1.500 ms (1.400–1.600)");
    }
}
