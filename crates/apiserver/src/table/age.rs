//! How long ago something was, in as few words as possible: `45s`, `3m20s`, `5d3h`, `2y40d`.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Tables know no leap years.
const YEAR: i64 = 365 * DAY;

/// The time from `from` until `now` with two or three figures, as kubectl's users know it. Clocks
/// that disagree by less than two seconds are forgiven; what lies further ahead is `<invalid>`.
pub(crate) fn human_duration(from: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(from).as_secs();
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two(seconds, MINUTE, "m", 1, "s"),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(seconds, HOUR, "h", MINUTE, "m"),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(seconds, DAY, "d", HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(seconds, YEAR, "y", DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// The time in a large unit and, unless it is nothing, the rest in a small one.
fn two(seconds: i64, large: i64, large_name: &str, small: i64, small_name: &str) -> String {
    let (whole, rest) = (seconds / large, seconds % large / small);
    match rest {
        0 => format!("{whole}{large_name}"),
        rest => format!("{whole}{large_name}{rest}{small_name}"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{DAY, HOUR, MINUTE, YEAR, human_duration};

    fn check(seconds: i64, expected: &str) {
        let from = Timestamp::UNIX_EPOCH;
        let now = from + SignedDuration::from_secs(seconds);
        assert_eq!(human_duration(from, now), expected, "{seconds} s");
    }

    #[test]
    fn the_longer_ago_the_coarser() {
        check(0, "0s");
        check(119, "119s");
        check(120, "2m");
        check(200, "3m20s");
        check(10 * MINUTE - 1, "9m59s");
        check(10 * MINUTE + 5, "10m");
        check(3 * HOUR - 1, "179m");
        check(3 * HOUR, "3h");
        check(3 * HOUR + 61, "3h1m");
        check(8 * HOUR + 61, "8h");
        check(2 * DAY - 1, "47h");
        check(5 * DAY + 3 * HOUR, "5d3h");
        check(2 * DAY, "2d");
        check(8 * DAY + 3 * HOUR, "8d");
        check(2 * YEAR - 1, "729d");
        check(2 * YEAR, "2y");
        check(2 * YEAR + 40 * DAY, "2y40d");
        check(8 * YEAR + 40 * DAY, "8y");
    }

    #[test]
    fn a_clock_that_is_a_little_ahead_is_forgiven() {
        check(-1, "0s");
        check(-2, "<invalid>");
        check(-YEAR, "<invalid>");
    }

    #[test]
    fn fractions_of_a_second_do_not_count() {
        let from = Timestamp::UNIX_EPOCH;
        let early = from - SignedDuration::from_millis(1900);
        assert_eq!(human_duration(from, early), "0s");
    }
}
