//! Record types: the library's mnemonics, and `TYPEn` for the rest (RFC 3597).

use std::fmt;
use std::str::FromStr;

use domain::base::iana::Rtype as Code;

/// The type of a record: `A`, `TXT`, `TYPE65280`.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Rtype(u16);

/// A word that names no record type.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is no record type; use a mnemonic such as A, or TYPE and a number up to 65535")]
pub struct RtypeError(pub String);

macro_rules! types {
    ($($name:ident),* $(,)?) => {
        /// The types this project has rules about, by their mnemonics.
        #[allow(missing_docs, reason = "a mnemonic is its own documentation")]
        impl Rtype { $(pub const $name: Rtype = Rtype(Code::$name.to_int());)* }
    };
}

types!(
    A, AAAA, AFSDB, APL, CAA, CDNSKEY, CDS, CERT, CNAME, CSYNC, DHCID, DLV, DNAME, DNSKEY, DS,
    EUI48, EUI64, HINFO, HIP, HTTPS, IPSECKEY, KEY, KX, LOC, MX, NAPTR, NS, NSEC, NSEC3,
    NSEC3PARAM, NXT, OPENPGPKEY, OPT, PTR, RP, RRSIG, SIG, SMIMEA, SOA, SRV, SSHFP, SVCB, TA, TKEY,
    TLSA, TSIG, TXT, URI, ZONEMD,
);

impl Rtype {
    /// The lowest number, for ranges over all types of a name.
    pub const MIN: Rtype = Rtype(0);
    /// The highest number, for ranges over all types of a name.
    pub const MAX: Rtype = Rtype(u16::MAX);

    /// The type with this number.
    pub const fn from_int(code: u16) -> Rtype {
        Rtype(code)
    }

    /// The type's number.
    pub const fn to_int(self) -> u16 {
        self.0
    }

    /// Whether the type exists in messages only and can never be in a zone:
    /// the reserved number 0, OPT, and the range of Q- and meta-types
    /// (RFC 6895 §3.1).
    pub const fn is_meta(self) -> bool {
        matches!(self.0, 0 | 41 | 128..=255)
    }

    /// Whether the type is DNSSEC's own, so that a general permission to write
    /// records does not cover it.
    ///
    /// DS is among them: it vouches for a child's keys.
    pub const fn is_dnssec(self) -> bool {
        matches!(
            self,
            Rtype::DS
                | Rtype::DNSKEY
                | Rtype::RRSIG
                | Rtype::NSEC
                | Rtype::NSEC3
                | Rtype::NSEC3PARAM
                | Rtype::CDS
                | Rtype::CDNSKEY
                | Rtype::DLV
                | Rtype::TA
                | Rtype::KEY
                | Rtype::SIG
                | Rtype::NXT
                | Rtype::ZONEMD
        )
    }

    pub(crate) const fn code(self) -> Code {
        Code::from_int(self.0)
    }
}

impl From<Code> for Rtype {
    fn from(code: Code) -> Rtype {
        Rtype(code.to_int())
    }
}

impl FromStr for Rtype {
    type Err = RtypeError;

    fn from_str(text: &str) -> Result<Rtype, RtypeError> {
        Code::from_str(text)
            .map(Rtype::from)
            .map_err(|_| RtypeError(text.to_owned()))
    }
}

impl fmt::Display for Rtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.code().to_string())
    }
}

impl fmt::Debug for Rtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R5: the 47 types that a peer's enum lists.
    const PEERS: &str = "A AAAA AFSDB APL CAA CDNSKEY CDS CERT CNAME CSYNC DHCID DLV DNAME DNSKEY DS EUI48 EUI64 HINFO HIP \
        HTTPS IPSECKEY KEY KX LOC MX NAPTR NS NSEC NSEC3 NSEC3PARAM OPENPGPKEY PTR RRSIG RP SIG SMIMEA SOA SRV SSHFP SVCB TA \
        TKEY TLSA TSIG TXT URI ZONEMD";

    #[test]
    fn every_mnemonic_is_read_and_printed() {
        assert_eq!(PEERS.split_whitespace().count(), 47);
        for word in PEERS
            .split_whitespace()
            .chain(["TYPE65280", "SPF", "RESINFO"])
        {
            assert_eq!(word.parse::<Rtype>().unwrap().to_string(), word);
            assert_eq!(
                word.to_lowercase().parse::<Rtype>().unwrap().to_string(),
                word
            );
        }
        assert_eq!(
            "TYPE1".parse::<Rtype>(),
            Ok(Rtype::A),
            "a number and its mnemonic are one type"
        );
    }

    #[test]
    fn words_that_are_no_type_are_refused() {
        for word in ["", "AA", "ALIAS", "TYPE", "TYPE65536", "TYPE-1", "A A", "*"] {
            assert_eq!(word.parse::<Rtype>(), Err(RtypeError(word.to_owned())));
        }
    }

    #[test]
    fn meta_types_are_not_zone_data() {
        for word in [
            "OPT", "TSIG", "TKEY", "AXFR", "IXFR", "ANY", "MAILB", "TYPE0", "TYPE128",
        ] {
            assert!(word.parse::<Rtype>().unwrap().is_meta(), "{word}");
        }
        for word in ["A", "SOA", "TYPE65280", "URI", "TYPE127", "TYPE256"] {
            assert!(!word.parse::<Rtype>().unwrap().is_meta(), "{word}");
        }
    }
}
