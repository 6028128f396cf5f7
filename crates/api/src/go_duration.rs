//! Durations as Go writes them: `5m`, `1h30m`, `14m0s`, `1.5s`.
//!
//! Peers keep their durations as such strings, so we read everything Go's `time.ParseDuration` reads and write what
//! its `Duration.String` writes. jiff's own format is close but not the same (it wants units in order and a fraction
//! in the last one only), and kube's parser panics on numbers that are too large.

use jiff::SignedDuration;

/// Why a text is no duration.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GoDurationError {
    /// Nothing was written at all.
    #[error("a duration must not be empty; write one such as \"5m\" or \"1h30m\"")]
    Empty,
    /// A number was expected.
    #[error("a duration is a sequence of numbers with units, such as \"5m\" or \"1h30m\"")]
    NoNumber,
    /// A number without a unit.
    #[error("every number of a duration needs a unit: h, m, s, ms, us or ns")]
    NoUnit,
    /// A unit that Go does not know.
    #[error("{0:?} is no unit of a duration; the units are h, m, s, ms, us and ns")]
    UnknownUnit(String),
    /// More nanoseconds than Go can count, about 292 years.
    #[error("a duration must be less than 2562047h47m16s")]
    TooLong,
}

const NANOSECOND: u64 = 1;
const MICROSECOND: u64 = 1_000 * NANOSECOND;
const MILLISECOND: u64 = 1_000 * MICROSECOND;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// How many digits after the point can matter: an hour has fewer than 10^13 nanoseconds.
const FRACTION_DIGITS_MAX: usize = 13;

/// Reads a duration.
pub fn parse(text: &str) -> Result<SignedDuration, GoDurationError> {
    let (negative, unsigned) = match text.as_bytes().first() {
        None => return Err(GoDurationError::Empty),
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        Some(_) => (false, text),
    };
    // The one number that needs no unit.
    if unsigned == "0" {
        return Ok(SignedDuration::ZERO);
    }
    let nanoseconds = i64::try_from(sum(unsigned)?).map_err(|_| GoDurationError::TooLong)?;
    let duration = SignedDuration::from_nanos(nanoseconds);
    Ok(if negative { -duration } else { duration })
}

/// Writes a duration.
pub fn format(duration: SignedDuration) -> String {
    let sign = if duration.is_negative() { "-" } else { "" };
    let total = duration.unsigned_abs();
    let nanoseconds = u64::from(total.subsec_nanos());
    match total.as_secs() {
        0 => format!("{sign}{}", below_a_second(nanoseconds)),
        seconds => format!("{sign}{}", from_a_second_on(seconds, nanoseconds)),
    }
}

/// The largest unit that leaves something before the point; zero is `0s`.
fn below_a_second(nanoseconds: u64) -> String {
    let (unit, spelling) = match nanoseconds {
        0 => (SECOND, "s"),
        1..MICROSECOND => (NANOSECOND, "ns"),
        MICROSECOND..MILLISECOND => (MICROSECOND, "µs"),
        MILLISECOND.. => (MILLISECOND, "ms"),
    };
    format!("{}{spelling}", decimal(nanoseconds, unit))
}

/// From the largest unit that is not zero down to seconds.
fn from_a_second_on(seconds: u64, nanoseconds: u64) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let seconds = decimal(seconds % 60 * SECOND + nanoseconds, SECOND);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// The nanoseconds of one or more numbers with units.
fn sum(text: &str) -> Result<u64, GoDurationError> {
    let mut rest = text;
    let mut total = 0u64;
    loop {
        let (nanoseconds, behind) = part(rest)?;
        total = total
            .checked_add(nanoseconds)
            .ok_or(GoDurationError::TooLong)?;
        if behind.is_empty() {
            return Ok(total);
        }
        rest = behind;
    }
}

/// The nanoseconds of the first number with its unit, and the text behind it.
fn part(text: &str) -> Result<(u64, &str), GoDurationError> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(GoDurationError::NoNumber);
    }
    let (unit, rest) = split(rest, |c| c != '.' && !c.is_ascii_digit());
    let unit = nanoseconds(unit)?;
    let whole = match whole {
        "" => 0,
        whole => whole.parse::<u64>().map_err(|_| GoDurationError::TooLong)?,
    };
    let whole = whole.checked_mul(unit).ok_or(GoDurationError::TooLong)?;
    let total = whole
        .checked_add(part_of(fraction, unit))
        .ok_or(GoDurationError::TooLong)?;
    Ok((total, rest))
}

fn nanoseconds(unit: &str) -> Result<u64, GoDurationError> {
    match unit {
        "" => Err(GoDurationError::NoUnit),
        "h" => Ok(HOUR),
        "m" => Ok(MINUTE),
        "s" => Ok(SECOND),
        "ms" => Ok(MILLISECOND),
        // The micro sign and the Greek letter look alike, and both are in use.
        "us" | "\u{b5}s" | "\u{3bc}s" => Ok(MICROSECOND),
        "ns" => Ok(NANOSECOND),
        unknown => Err(GoDurationError::UnknownUnit(unknown.to_owned())),
    }
}

/// The part of a unit that the digits after a point stand for, rounded down.
fn part_of(digits: &str, unit: u64) -> u64 {
    let (mut number, mut scale) = (0u128, 1u128);
    for digit in digits.bytes().take(FRACTION_DIGITS_MAX) {
        number = number * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    let part = u128::from(unit) * number / scale;
    u64::try_from(part).expect("a part of a unit is less than the unit")
}

/// A number of units with a point, without zeros at its end.
fn decimal(nanoseconds: u64, unit: u64) -> String {
    let (whole, part) = (nanoseconds / unit, nanoseconds % unit);
    if part == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{part:0width$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

fn digits(text: &str) -> (&str, &str) {
    split(text, |c| c.is_ascii_digit())
}

fn split(text: &str, matches: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !matches(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_go_reads_is_read() {
        // C6, and `healthCheck.interval`.
        let cases: &[(&str, i64)] = &[
            ("0", 0),
            ("+0", 0),
            ("-0", 0),
            ("0s", 0),
            ("5s", 5_000_000_000),
            ("+5s", 5_000_000_000),
            ("-5s", -5_000_000_000),
            ("5m", 300_000_000_000),
            ("14m0s", 840_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("1.0s", 1_000_000_000),
            ("1.004s", 1_004_000_000),
            ("1.00400s", 1_004_000_000),
            ("100.00100s", 100_001_000_000),
            ("10ns", 10),
            ("11us", 11_000),
            ("12\u{b5}s", 12_000),
            ("12\u{3bc}s", 12_000),
            ("13ms", 13_000_000),
            ("3h30m", 12_600_000_000_000),
            ("10.5s4m", 250_500_000_000),
            ("-2m3.4s", -123_400_000_000),
            ("1h2m3s4ms5us6ns", 3_723_004_005_006),
            ("39h9m14.425s", 140_954_425_000_000),
            ("1s1s", 2_000_000_000),
            ("0.3333333333333333333h", 1_199_999_999_999),
            ("9007199254740993ns", 9_007_199_254_740_993),
            ("9223372036854775807ns", i64::MAX),
            ("9223372036.854775807s", i64::MAX),
        ];
        for (text, nanoseconds) in cases {
            assert_eq!(
                parse(text),
                Ok(SignedDuration::from_nanos(*nanoseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_else_is_read() {
        let unit = |unit: &str| GoDurationError::UnknownUnit(unit.to_owned());
        let cases = [
            ("", GoDurationError::Empty),
            ("3", GoDurationError::NoUnit),
            ("-", GoDurationError::NoNumber),
            ("s", GoDurationError::NoNumber),
            (".", GoDurationError::NoNumber),
            ("-.", GoDurationError::NoNumber),
            (".s", GoDurationError::NoNumber),
            ("+.s", GoDurationError::NoNumber),
            ("--5s", GoDurationError::NoNumber),
            ("1h-5s", unit("h-")),
            ("5m ", unit("m ")),
            (" 5m", GoDurationError::NoNumber),
            ("5 m", unit(" m")),
            ("5 minutes", unit(" minutes")),
            ("1d", unit("d")),
            ("5M", unit("M")),
            ("PT5M", GoDurationError::NoNumber),
            ("00:05:00", unit(":")),
            ("1e3s", unit("e")),
            ("NaNs", GoDurationError::NoNumber),
            ("\u{ff15}m", GoDurationError::NoNumber),
            ("1\u{0}s", unit("\u{0}s")),
            ("3000000h", GoDurationError::TooLong),
            ("9223372036854775808ns", GoDurationError::TooLong),
            ("9223372036854775.808us", GoDurationError::TooLong),
            ("99999999999999999999999999h", GoDurationError::TooLong),
            ("2562047h47m16.854775808s", GoDurationError::TooLong),
        ];
        for (text, error) in cases {
            assert_eq!(parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn durations_are_written_as_go_writes_them() {
        let cases: &[(i64, &str)] = &[
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (5_000_000_000, "5s"),
            (60_000_000_000, "1m0s"),
            (840_000_000_000, "14m0s"),
            (245_000_000_000, "4m5s"),
            (245_001_000_000, "4m5.001s"),
            (3_600_000_000_000, "1h0m0s"),
            (18_367_001_000_000, "5h6m7.001s"),
            (480_000_000_001, "8m0.000000001s"),
            (-1_100, "-1.1µs"),
            (-840_000_000_000, "-14m0s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(format(SignedDuration::from_nanos(*nanoseconds)), *text);
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(nanoseconds in -i64::MAX..=i64::MAX) {
            let duration = SignedDuration::from_nanos(nanoseconds);
            proptest::prop_assert_eq!(parse(&format(duration)), Ok(duration));
        }

        #[test]
        fn no_text_is_too_strange_to_be_judged(text in "\\PC{0,40}|[-+]?([0-9.]{0,30}(h|m|s|ms|us|ns|x)?){0,5}") {
            let _ = parse(&text);
        }
    }
}
