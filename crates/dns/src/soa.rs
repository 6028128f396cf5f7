//! The start of authority: what a zone says about itself.

use std::fmt::Write as _;

use crate::{Name, Rdata, Rtype, Serial, Ttl};

/// The SOA record of a zone without its serial, which belongs to a version.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Soa {
    /// The TTL of the record itself.
    pub ttl: Ttl,
    /// The primary name server.
    pub mname: Name,
    /// The responsible mailbox, `@` written as a dot.
    pub rname: Name,
    /// How often secondaries look for a new version, in seconds.
    pub refresh: u32,
    /// How soon they try again after a failure, in seconds.
    pub retry: u32,
    /// How long they answer without having reached the primary, in seconds.
    pub expire: u32,
    /// How long "there is no such record" may be kept (RFC 2308 §4).
    pub minimum: Ttl,
}

impl Soa {
    /// The record data of the version numbered `serial`.
    pub fn rdata(&self, serial: Serial) -> Rdata {
        let mut wire =
            Vec::with_capacity(self.mname.as_wire().len() + self.rname.as_wire().len() + 20);
        wire.extend_from_slice(self.mname.as_wire());
        wire.extend_from_slice(self.rname.as_wire());
        for number in [
            serial.0,
            self.refresh,
            self.retry,
            self.expire,
            self.minimum.as_secs(),
        ] {
            wire.extend_from_slice(&number.to_be_bytes());
        }
        Rdata::from_wire(Rtype::SOA, &wire).expect("two names and five numbers are SOA data")
    }

    /// The data on one line with the numbers in parentheses, as readers of
    /// `status.entries` know it.
    pub fn entry_text(&self, serial: Serial) -> String {
        let Soa {
            ttl: _,
            mname,
            rname,
            refresh,
            retry,
            expire,
            minimum,
        } = self;
        let mut text = format!("{mname} {rname} (");
        write!(text, "{serial} {refresh} {retry} {expire} {minimum})")
            .expect("writing to a string cannot fail");
        text
    }

    /// Takes SOA record data apart again; nothing if it is other data. A minimum
    /// that no TTL can be becomes the highest TTL.
    pub fn from_rdata(ttl: Ttl, data: &Rdata) -> Option<(Soa, Serial)> {
        let domain::rdata::ZoneRecordData::Soa(soa) = data.typed() else {
            return None;
        };
        let fields = Soa {
            ttl,
            mname: Name::canonical(soa.mname()),
            rname: Name::canonical(soa.rname()),
            refresh: soa.refresh().as_secs(),
            retry: soa.retry().as_secs(),
            expire: soa.expire().as_secs(),
            minimum: Ttl::from_secs(soa.minimum().as_secs()).unwrap_or(Ttl::MAX),
        };
        Some((fields, Serial(soa.serial().into_int())))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn soa(origin: &str) -> Soa {
        Soa {
            ttl: Ttl::from_secs(360).unwrap(),
            mname: Name::parse(&format!("ns.{origin}")).unwrap(),
            rname: Name::parse(&format!("noc.{origin}")).unwrap(),
            refresh: 86_400,
            retry: 7_200,
            expire: 3_600_000,
            minimum: Ttl::from_secs(360).unwrap(),
        }
    }

    /// Z8: the text that readers of `status.entries` parse.
    #[test]
    fn the_entry_text_is_one_line_with_parentheses() {
        assert_eq!(
            soa("example.org.").entry_text(Serial(2_026_111_500)),
            "ns.example.org. noc.example.org. (2026111500 86400 7200 3600000 360)"
        );
    }

    #[test]
    fn fields_survive_the_wire() {
        let soa = soa("example.org.");
        assert_eq!(
            Soa::from_rdata(soa.ttl, &soa.rdata(Serial(7))),
            Some((soa, Serial(7)))
        );
    }

    #[test]
    fn the_entry_text_reads_back_as_the_same_data() {
        let soa = soa("example.org.");
        let text = soa.entry_text(Serial(u32::MAX));
        assert_eq!(
            Rdata::parse(Rtype::SOA, &text, &Name::root()),
            Ok(soa.rdata(Serial(u32::MAX)))
        );
    }
}
