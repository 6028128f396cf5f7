//! Reads entry after entry, and goes on after a bad one.
//!
//! What one entry leaves for the next (origin, TTL, owner) is kept here. Names
//! and record data are read by the crate's own types, so a zone file and a
//! manifest mean the same by the same text.

use super::FileRecord;
use super::entries::{Entry, word};
use crate::{Name, NameError, Rdata, Rtype, Soa, Ttl, TtlError};

/// What the entries so far have said for those to come.
pub(super) struct Reader {
    origin: Option<Name>,
    /// `$TTL`.
    default_ttl: Option<Ttl>,
    /// The last TTL that was written out.
    last_ttl: Option<Ttl>,
    /// The owner that an indented entry inherits; nothing if the last one could
    /// not be read, for a record must never end up under another's name.
    owner: Option<Name>,
}

impl Reader {
    pub(super) fn new(origin: Option<&Name>) -> Reader {
        Reader {
            origin: origin.cloned(),
            default_ttl: None,
            last_ttl: None,
            owner: None,
        }
    }

    /// The entry's record; nothing if it is blank or a directive.
    pub(super) fn read(&mut self, entry: &Entry<'_>) -> Result<Option<FileRecord>, String> {
        let text = entry.flat();
        let (first, rest) = word(&text);
        if first.is_empty() {
            return Ok(None);
        }
        if first.starts_with('$') && !entry.inherits_owner() {
            return whole(entry)
                .and_then(|()| self.directive(first, rest))
                .map(|()| None);
        }
        let rest = if entry.inherits_owner() { &text } else { rest };
        if !entry.inherits_owner() {
            let owner = self.name(first);
            self.owner = owner.as_ref().ok().cloned();
            owner?;
        }
        whole(entry)?;
        self.record(entry.line, rest).map(Some)
    }

    fn directive(&mut self, directive: &str, rest: &str) -> Result<(), String> {
        let value = || match word(rest) {
            (value, rest) if !value.is_empty() && rest.trim_ascii().is_empty() => Ok(value),
            _ => Err(format!("{directive} takes one value")),
        };
        match directive.to_ascii_uppercase().as_str() {
            "$ORIGIN" => self.origin = Some(self.name(value()?)?),
            "$TTL" => self.default_ttl = Some(ttl(value()?).map_err(|err| err.to_string())?),
            "$INCLUDE" => {
                return Err("$INCLUDE is not supported: put everything into one file".into());
            }
            _ => {
                return Err(format!(
                    "{directive} is no directive of RFC 1035 or RFC 2308"
                ));
            }
        }
        Ok(())
    }

    fn record(&mut self, line: usize, text: &str) -> Result<FileRecord, String> {
        let name = self.owner.clone();
        let name = name.ok_or("there is no owner that it could inherit")?;
        let head = Head::read(text)?;
        let origin = self.origin_for(&name, head.rtype);
        let data = match head.rtype {
            Rtype::SOA => &in_seconds(head.data),
            _ => head.data,
        };
        let data = Rdata::parse(head.rtype, data, &origin).map_err(|err| err.to_string())?;
        self.last_ttl = head.ttl.or(self.last_ttl);
        let ttl = head.ttl.or(self.default_ttl).or(self.last_ttl);
        let ttl = ttl.or_else(|| Soa::from_rdata(Ttl::ZERO, &data).map(|(soa, _)| soa.minimum));
        let ttl = ttl.ok_or("it has no TTL: write one, or a $TTL line above")?;
        Ok(FileRecord {
            line,
            name,
            ttl,
            data,
        })
    }

    /// What completes the names in a record's data. Where nothing was said, the
    /// owner of the SOA is the zone.
    fn origin_for(&mut self, owner: &Name, rtype: Rtype) -> Name {
        if self.origin.is_none() && rtype == Rtype::SOA {
            self.origin = Some(owner.clone());
        }
        self.origin.clone().unwrap_or_else(Name::root)
    }

    fn name(&self, text: &str) -> Result<Name, String> {
        let name = match &self.origin {
            Some(origin) => Name::parse_under(text, origin),
            None => Name::parse(text),
        };
        name.map_err(|err| {
            if err == NameError::NotAbsolute {
                "a relative name needs an $ORIGIN line above".into()
            } else {
                err.to_string()
            }
        })
    }
}

/// What stands between a record's owner and its data, and the data.
struct Head<'a> {
    ttl: Option<Ttl>,
    rtype: Rtype,
    data: &'a str,
}

impl Head<'_> {
    /// TTL and class may stand in either order, and each may be missing.
    fn read(text: &str) -> Result<Head<'_>, String> {
        let (mut given, mut rest) = (None, text);
        loop {
            let (field, behind) = word(rest);
            rest = behind;
            match field.to_ascii_uppercase().as_str() {
                "" => return Err("it has no record type".into()),
                "IN" => {}
                "CH" | "HS" => return Err(format!("class {field} is not supported, only IN")),
                _ if field.starts_with(|char: char| char.is_ascii_digit()) => {
                    given = Some(ttl(field).map_err(|err| err.to_string())?);
                }
                _ => {
                    let rtype = field.parse::<Rtype>().map_err(|err| err.to_string())?;
                    return Ok(Head {
                        ttl: given,
                        rtype,
                        data: rest,
                    });
                }
            }
        }
    }
}

fn whole(entry: &Entry<'_>) -> Result<(), String> {
    entry.fault.map_or(Ok(()), |fault| Err(fault.to_owned()))
}

/// The data of an SOA with its timers in seconds: they stand behind two names and the serial. What is no time stays as it
/// is, for the data's own reader to complain about; so does the generic form, which has none.
fn in_seconds(soa: &str) -> String {
    let (first, _) = word(soa);
    if first == r"\#" {
        return soa.to_owned();
    }
    let words = std::iter::successors(Some(word(soa)), |(_, rest)| Some(word(rest)));
    let words = words.map(|(word, _)| word).take_while(|it| !it.is_empty());
    let words = words.enumerate().map(|(place, word)| match ttl(word) {
        Ok(time) if place > 2 => time.to_string(),
        Ok(_) | Err(_) => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Seconds, or the shorthand that servers take: `1h30m`, `2D`.
fn ttl(text: &str) -> Result<Ttl, TtlError> {
    let mut seconds = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .find(|char: char| !char.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, unit) = rest.split_at(digits);
        let number = number.parse::<u64>().map_err(|_| TtlError)?;
        let scale = match unit.bytes().next().map(|unit| unit.to_ascii_lowercase()) {
            None | Some(b's') => 1,
            Some(b'm') => 60,
            Some(b'h') => 3_600,
            Some(b'd') => 86_400,
            Some(b'w') => 604_800,
            Some(_) => return Err(TtlError),
        };
        let part = number.checked_mul(scale).ok_or(TtlError)?;
        seconds = seconds.checked_add(part).ok_or(TtlError)?;
        rest = unit.get(1..).unwrap_or_default();
    }
    Ttl::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ttl_may_be_written_with_units() {
        let rows = [
            ("0", 0),
            ("300", 300),
            ("1h30m", 5_400),
            ("2D", 172_800),
            ("1w1d1h1m1s", 694_861),
            ("5m10", 310),
        ];
        for (text, seconds) in rows {
            assert_eq!(ttl(text), Ttl::from_secs(seconds), "{text}");
        }
        for text in [
            "h",
            "1x",
            "2147483648",
            "1hm",
            "99999999999999999999",
            "99999999999999999w",
            "1ü",
        ] {
            assert_eq!(ttl(text), Err(TtlError), "{text}");
        }
    }
}
