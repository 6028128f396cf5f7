//! How long ago, for people: `5d3h`.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The time from `then` to `now` in two or three digits, as kubectl shows ages.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    human_duration(now.duration_since(then).as_secs())
}

/// A number of seconds in two or three digits; clocks may differ by a second.
pub(crate) fn human_duration(seconds: i64) -> String {
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair(seconds, (MINUTE, 'm'), (1, 's')),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => pair(seconds, (HOUR, 'h'), (MINUTE, 'm')),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => pair(seconds, (DAY, 'd'), (HOUR, 'h')),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => pair(seconds, (YEAR, 'y'), (DAY, 'd')),
        252_288_000.. => format!("{}y", seconds / YEAR),
    }
}

/// Two units, or one where nothing is left for the second.
fn pair(seconds: i64, (large, name): (i64, char), (small, rest_name): (i64, char)) -> String {
    let (whole, rest) = (seconds / large, seconds % large / small);
    match rest {
        0 => format!("{whole}{name}"),
        rest => format!("{whole}{name}{rest}{rest_name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_or_three_digits() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (599, "9m59s"),
            (600, "10m"),
            (10799, "179m"),
            (10800, "3h"),
            (10860, "3h1m"),
            (28799, "7h59m"),
            (28800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (5 * DAY + 3 * HOUR, "5d3h"),
            (691_199, "7d23h"),
            (691_200, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR, "8y"),
            (100 * YEAR, "100y"),
        ];
        for (seconds, said) in cases {
            assert_eq!(human_duration(seconds), said, "{seconds} s");
        }
    }

    #[test]
    fn an_age_is_the_time_from_then_to_now() {
        let then = "2026-01-01T00:00:00Z".parse().unwrap();
        let now = "2026-01-06T03:59:59.9Z".parse().unwrap();
        assert_eq!(age(then, now), "5d3h");
    }
}
