//! Formats of dates, times and durations.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex::Regex;

static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$")
        .expect("a pattern that the tests compile")
});
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"([0-9]+)\s*([A-Za-zµ]+)").expect("a pattern that the tests compile")
});

/// Units that must be written out, and beginnings that are enough.
const WHOLE_UNITS: [&str; 12] = [
    "ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "min",
];
const UNIT_BEGINNINGS: [&str; 8] = [
    "nano", "micro", "milli", "sec", "min", "hour", "day", "week",
];
const GO_UNITS: [&str; 7] = ["ns", "us", "µs", "μs", "ms", "s", "m"];

/// A day: `2026-07-04`.
pub(super) fn is_date(text: &str) -> bool {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    shaped && text.parse::<Date>().is_ok()
}

/// A moment: `2026-07-04T12:00:00Z`.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let Some(found) = TIME.captures(time) else {
        return false;
    };
    is_date(date) && &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59"
}

/// A duration as Go writes it (`1h30m`) or in words (`3 days`).
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text)
        || AMOUNT.captures_iter(text).any(|found| {
            let unit = found[2].to_lowercase();
            WHOLE_UNITS.contains(&unit.as_str())
                || UNIT_BEGINNINGS
                    .iter()
                    .any(|beginning| unit.starts_with(beginning))
        })
}

fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let number = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
                .len();
        let (amount, after) = rest.split_at(number);
        let unit = after.len()
            - after
                .trim_start_matches(|c: char| c != '.' && !c.is_ascii_digit())
                .len();
        let (unit, next) = after.split_at(unit);
        let counts =
            amount.bytes().any(|byte| byte.is_ascii_digit()) && amount.matches('.').count() <= 1;
        if !counts || !(GO_UNITS.contains(&unit) || unit == "h") {
            return false;
        }
        rest = next;
    }
    true
}
