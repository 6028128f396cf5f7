//! SOA serials: RFC 1982 arithmetic and the date rule.

use std::cmp::Ordering;
use std::fmt;

use jiff::civil::Date;

/// A zone's version number, ordered by RFC 1982.
///
/// The order is a circle: a serial is older than the 2³¹ − 1 that follow it and
/// cannot be compared with the one exactly opposite.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Serial(pub u32);

impl Serial {
    /// The serial of the next version published on `today` (UTC):
    /// `YYYYMMDD00`, or one more than `last` where that is not newer.
    ///
    /// `last` is the highest serial any reader may have seen. A clock that went
    /// back, or more than a hundred versions a day, only count on from it.
    #[must_use]
    pub fn next(last: Option<Serial>, today: Date) -> Serial {
        let dated = Serial::dated(today);
        match last {
            Some(last) if dated.partial_cmp(&last) != Some(Ordering::Greater) => last.successor(),
            Some(_) | None => dated,
        }
    }

    /// The later of two serials; the first where they cannot be compared.
    #[must_use]
    pub fn later(self, other: Serial) -> Serial {
        if other > self { other } else { self }
    }

    fn dated(day: Date) -> Serial {
        let number =
            i32::from(day.year()) * 10_000 + i32::from(day.month()) * 100 + i32::from(day.day());
        // Years that no serial can hold wrap; the order stays RFC 1982's.
        Serial(u32::try_from(number).unwrap_or(0).wrapping_mul(100))
    }

    fn successor(self) -> Serial {
        Serial(self.0.wrapping_add(1))
    }
}

impl PartialOrd for Serial {
    fn partial_cmp(&self, other: &Serial) -> Option<Ordering> {
        domain::base::Serial(self.0).partial_cmp(&domain::base::Serial(other.0))
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use proptest::prelude::*;

    const DAY: Date = date(2026, 11, 15);
    /// Half a circle away from that day's first serial.
    const OPPOSITE: u32 = 2_026_111_500_u32.wrapping_add(1 << 31);

    /// Z7: each row is the last serial, the day, and the serial that must follow.
    #[test]
    fn the_next_serial_is_the_date_or_one_more() {
        let rows = [
            (None, DAY, 2_026_111_500),
            (Some(0), DAY, 2_026_111_500),
            (Some(2_026_111_400), DAY, 2_026_111_500),
            (Some(2_026_111_500), DAY, 2_026_111_501),
            (Some(2_026_111_599), DAY, 2_026_111_600),
            // More than a hundred versions in a day run into tomorrow's range.
            (Some(2_026_111_603), DAY, 2_026_111_604),
            // The clock went back: count on.
            (Some(2_026_111_500), date(2020, 1, 1), 2_026_111_501),
            // The end of the circle: the date is newer than the largest number.
            (Some(u32::MAX), DAY, 2_026_111_500),
            // Exactly opposite cannot be compared: count on.
            (Some(OPPOSITE), DAY, OPPOSITE + 1),
            // A serial 'in the future' by RFC 1982 counts on, around the end too.
            (Some(4_173_595_147), DAY, 4_173_595_148),
        ];
        for (last, day, next) in rows {
            assert_eq!(
                Serial::next(last.map(Serial), day),
                Serial(next),
                "after {last:?} on {day}"
            );
        }
    }

    #[test]
    fn dates_out_of_range_do_not_panic() {
        assert_eq!(Serial::next(Some(Serial(7)), Date::MIN), Serial(8));
        assert!(Serial::next(Some(Serial(7)), Date::MAX) > Serial(7));
    }

    proptest! {
        /// Whatever the clock says, a reader that holds `last` fetches the next version.
        #[test]
        fn the_next_serial_is_always_newer(last: u32, year in -9999_i16..=9999, month in 1_i8..=12, day in 1_i8..=28) {
            let next = Serial::next(Some(Serial(last)), date(year, month, day));
            prop_assert_eq!(next.partial_cmp(&Serial(last)), Some(Ordering::Greater));
        }
    }
}
