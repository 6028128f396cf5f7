//! How long an answer may be kept: a number of seconds with RFC 2181's bound.

use std::fmt;

/// A time to live in seconds, at most 2³¹ − 1 (RFC 2181 §8).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ttl(u32);

/// A number of seconds that no TTL can hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a TTL is a number of seconds from 0 to {} (RFC 2181 §8)", Ttl::MAX)]
pub struct TtlError;

impl Ttl {
    /// The longest there is: 68 years.
    pub const MAX: Ttl = Ttl(i32::MAX as u32);
    /// Not to be kept at all.
    pub const ZERO: Ttl = Ttl(0);

    /// Takes a number of seconds, of any integer type.
    pub fn from_secs(secs: impl TryInto<u32>) -> Result<Ttl, TtlError> {
        let secs = secs.try_into().map_err(|_| TtlError)?;
        if secs > Self::MAX.0 {
            Err(TtlError)
        } else {
            Ok(Ttl(secs))
        }
    }

    /// The number of seconds.
    pub const fn as_secs(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ttl_runs_from_zero_to_the_bound_of_rfc_2181() {
        assert_eq!(Ttl::from_secs(0_u32), Ok(Ttl::ZERO));
        assert_eq!(Ttl::from_secs(2_147_483_647_i64), Ok(Ttl::MAX));
        for secs in [
            -1_i64,
            2_147_483_648,
            i64::from(u32::MAX),
            i64::MAX,
            i64::MIN,
        ] {
            assert_eq!(Ttl::from_secs(secs), Err(TtlError), "{secs}");
        }
    }
}
