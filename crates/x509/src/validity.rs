//! From when and until when a certificate is good.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rcgen::CertificateParams;
use x509_parser::certificate::X509Certificate;

/// From when and until when a certificate is good.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Validity {
    /// The first moment.
    pub from: Timestamp,
    /// The moment after the last.
    pub until: Timestamp,
}

impl Validity {
    /// What a certificate says about itself.
    pub fn of(certificate: &X509Certificate<'_>) -> Result<Self, String> {
        let validity = certificate.validity();
        let time = |seconds: i64| {
            Timestamp::from_second(seconds).map_err(|error| format!("its validity: {error}"))
        };
        Ok(Self {
            from: time(validity.not_before.timestamp())?,
            until: time(validity.not_after.timestamp())?,
        })
    }

    /// When two thirds of it are over.
    pub fn due(self) -> Timestamp {
        let life = self.until.as_second() - self.from.as_second();
        self.from + SignedDuration::from_secs(life / 3 * 2)
    }

    /// What keeps it from being good now, if anything does.
    pub fn untimely(self, now: Timestamp) -> Option<String> {
        let Self { from, until } = self;
        match () {
            () if now < from => Some(format!("it is valid from {from}, and now it is {now}")),
            () if now >= until => Some(format!("it expired at {until}, and now it is {now}")),
            () => None,
        }
    }

    /// Writes it into a certificate that is about to be issued, to the second; nothing here is before 1970.
    pub(crate) fn write(self, params: &mut CertificateParams) {
        let date = |time: Timestamp| {
            let seconds = u64::try_from(time.as_second()).unwrap_or(0);
            rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds)
        };
        params.not_before = date(self.from);
        params.not_after = date(self.until);
    }
}
