//! Record data: canonical wire form inside, presentation form outside.
//!
//! [`Rdata`] is the data of one record. It accepts whatever is well-formed, for
//! it also carries what other servers and providers hold. [`RdataText`] is what
//! a person wrote into a manifest: it is held to stricter rules, and resolved
//! into `Rdata` once the zone that completes its relative names is known.

mod error;
mod form;
mod rules;
mod text;
mod tokens;

use std::fmt;
use std::net::IpAddr;

use bytes::Bytes;
use domain::base::Record;
use domain::base::name::ParsedName;
use domain::base::rdata::{ComposeRecordData as _, ParseRecordData as _, UnknownRecordData};
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt as _};
use domain::rdata::ZoneRecordData;
use domain::zonefile::inplace::{Entry, ScannedRecordData, Zonefile};

use crate::{Name, Rtype};

pub use error::RdataError;
pub use text::RdataText;

/// The longest record data a message can carry (RFC 1035 §3.2.1).
const RDATA_OCTETS_MAX: usize = u16::MAX as usize;

/// The typed view of record data, borrowed from its wire form.
pub(crate) type Typed<'a> = ZoneRecordData<&'a [u8], ParsedName<&'a [u8]>>;

/// The data of one record in canonical form (RFC 4034 §6.2), with its type.
///
/// Two values are equal exactly when their canonical wire forms are; the order
/// within a type is RFC 4034 §6.3's. What the text form shows is read back
/// before it is shown, so it always stands for this value and nothing else.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Rdata {
    rtype: Rtype,
    wire: Bytes,
}

impl Rdata {
    /// Reads the presentation form, relative names being completed with `origin`,
    /// which is also what `@` stands for.
    ///
    /// Any type may be written in the generic form `\# <length> <hex>` of
    /// RFC 3597; types that the library does not know have no other.
    pub fn parse(rtype: Rtype, text: &str, origin: &Name) -> Result<Rdata, RdataError> {
        if rtype.is_meta() {
            return Err(RdataError::Meta(rtype));
        }
        let line = text::one_line(rtype, text, origin)?;
        let scanned = scan(rtype, &line, origin).map_err(|why| {
            if text::is_generic(&line) {
                form::explain_generic(rtype, &why)
            } else {
                form::explain(rtype, &why)
            }
        })?;
        Rdata::from_scanned(rtype, &scanned)
    }

    /// Takes the wire form; names in it must not be compressed.
    pub fn from_wire(rtype: Rtype, wire: &[u8]) -> Result<Rdata, RdataError> {
        if rtype.is_meta() {
            return Err(RdataError::Meta(rtype));
        }
        if wire.len() > RDATA_OCTETS_MAX {
            return Err(RdataError::TooLong { octets: wire.len() });
        }
        let typed = typed(rtype, wire).map_err(|why| RdataError::Wire { rtype, why })?;
        let canonical = compose(&typed);
        if canonical.len() != wire.len() {
            return Err(RdataError::Wire {
                rtype,
                why: "a name in it is compressed".into(),
            });
        }
        Ok(Rdata {
            rtype,
            wire: canonical,
        })
    }

    /// The type.
    pub fn rtype(&self) -> Rtype {
        self.rtype
    }

    /// The canonical wire form.
    pub fn as_wire(&self) -> &[u8] {
        &self.wire
    }

    /// The fields, as the library's types.
    pub(crate) fn typed(&self) -> Typed<'_> {
        typed(self.rtype, &self.wire).expect("the wire form was checked when the value was made")
    }

    /// The host or domain the data points at, for the types that point at one.
    pub fn target(&self) -> Option<Name> {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "the types that point somewhere are listed"
        )]
        match self.typed() {
            ZoneRecordData::Ns(data) => Some(Name::canonical(data.nsdname())),
            ZoneRecordData::Cname(data) => Some(Name::canonical(data.cname())),
            ZoneRecordData::Dname(data) => Some(Name::canonical(data.dname())),
            ZoneRecordData::Ptr(data) => Some(Name::canonical(data.ptrdname())),
            ZoneRecordData::Mx(data) => Some(Name::canonical(data.exchange())),
            ZoneRecordData::Srv(data) => Some(Name::canonical(data.target())),
            ZoneRecordData::Svcb(data) => Some(Name::canonical(data.target())),
            ZoneRecordData::Https(data) => Some(Name::canonical(data.target())),
            _ => None,
        }
    }

    /// The first rule a well-formed value breaks: what a person should not
    /// publish although a server would.
    pub fn check(&self) -> Result<(), RdataError> {
        rules::check(self)
    }

    fn from_scanned(rtype: Rtype, data: &ScannedRecordData) -> Result<Rdata, RdataError> {
        let mut wire = Vec::new();
        data.compose_canonical_rdata(&mut wire)
            .expect("a vector takes any length");
        Rdata::from_wire(rtype, &wire).map_err(|err| {
            // The scanner lets `a..b` pass. The generic form, in which there are no names,
            // is checked like any other: `\# 3 abcd12` is no address.
            let generic = matches!(data, ZoneRecordData::Unknown(_));
            if text::has_names(rtype) && !generic && matches!(err, RdataError::Wire { .. }) {
                form::explain(rtype, "a name in it has an empty label")
            } else {
                err
            }
        })
    }

    fn generic(&self) -> String {
        let data = UnknownRecordData::from_octets(self.rtype.code(), &self.wire)
            .expect("record data is at most 65535 octets");
        data.display_zonefile(DisplayKind::Simple).to_string()
    }

    /// The address that the data is, for the types that are one.
    fn address(&self) -> Option<IpAddr> {
        let octets = self.as_wire();
        match self.rtype {
            Rtype::A => Some(<[u8; 4]>::try_from(octets).ok()?.into()),
            Rtype::AAAA => Some(<[u8; 16]>::try_from(octets).ok()?.into()),
            _ => None,
        }
    }

    /// The presentation form, or the generic one where reading it back would
    /// not give this value.
    fn presentation(&self) -> String {
        let text = self
            .typed()
            .display_zonefile(DisplayKind::Simple)
            .to_string()
            // The library reads this key with its hyphens and prints it without.
            .replace(" nodefaultalpn", " no-default-alpn");
        let read_back = Rdata::parse(self.rtype, &text, &Name::root());
        if read_back.as_ref() == Ok(self) {
            text
        } else {
            self.generic()
        }
    }
}

impl fmt::Display for Rdata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address() {
            Some(address) => address.fmt(f),
            None => f.pad(&self.presentation()),
        }
    }
}

impl fmt::Debug for Rdata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {self}", self.rtype)
    }
}

fn scan(rtype: Rtype, text: &str, origin: &Name) -> Result<ScannedRecordData, String> {
    let line = format!(". 0 IN {rtype} {text}\n");
    let mut scanner = Zonefile::from(line.as_str());
    scanner.set_origin(origin.as_octets().clone());
    match scanner
        .next_entry()
        .map_err(|err| without_position(&err.to_string()))?
    {
        Some(Entry::Record(record)) => Ok(Record::into_data(record)),
        Some(Entry::Include { .. }) | None => Err("no data".into()),
    }
}

/// The library puts `line:column: ` in front; our one line has no meaning to the reader.
fn without_position(message: &str) -> String {
    message
        .splitn(3, ':')
        .last()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn typed(rtype: Rtype, wire: &[u8]) -> Result<Typed<'_>, String> {
    let mut parser = domain::dep::octseq::Parser::from_ref(wire);
    let data =
        ZoneRecordData::parse_rdata(rtype.code(), &mut parser).map_err(|err| err.to_string())?;
    match (data, parser.remaining()) {
        // The library's own word for it: there is always one string.
        (Some(ZoneRecordData::Txt(text)), 0) if text.len() == 0 => Err("it has no string".into()),
        (Some(data), 0) => Ok(data),
        (Some(_), left) => Err(format!("{left} octets too many")),
        (None, _) => Err("no record data".into()),
    }
}

fn compose(data: &Typed<'_>) -> Bytes {
    let mut wire = Vec::with_capacity(usize::from(data.rdlen(false).unwrap_or_default()));
    data.compose_canonical_rdata(&mut wire)
        .expect("a vector takes any length");
    wire.into()
}

#[cfg(test)]
mod tests;
