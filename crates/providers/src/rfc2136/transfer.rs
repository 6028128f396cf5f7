//! Transfers: from the records of a stream of messages to what a zone holds (RFC 5936, RFC 1995).
//!
//! A transfer that does not end as it must is an error, never a short zone. The library has an interpreter of its own,
//! which comes with a whole zone store, gives up a zone for one record that it cannot read, and leaves it to others
//! whether differences fit what they are applied to; so this one is here.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;

use dns::hosted::{Held, Holdings, HostedKey, HostedSet};
use dns::{Name, Rdata, RecordSet, Rtype, Serial, Soa, Ttl};
use domain::base::iana::Class;
use domain::base::name::ToName as _;
use domain::base::rdata::{ComposeRecordData as _, UnknownRecordData};
use domain::base::wire::ParseError;
use domain::base::{Message, ParsedRecord};
use domain::rdata::ZoneRecordData;

/// What a zone held at one serial, record by record: differences come in records.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Content {
    /// What the version is known by. It is among the records, too.
    soa: Rdata,
    sets: BTreeMap<HostedKey, BTreeMap<Data, u32>>,
}

/// A transfer under way.
#[derive(Debug)]
pub(super) struct Transfer {
    apex: HostedKey,
    state: State,
}

/// Where a transfer is.
///
/// ```text
///            SOA              other
/// Start ───────────► Opened ──────────► Whole ── SOA ──► Done
///                     │  │                                ▲ ▲
///                     │  └─ nothing else: no differences ─┘ │
///                     │ SOA of what we have                 │
///                     ▼        newer SOA                    │
///                  Deleting ───────────────► Adding ── SOA ─┘
///                     ▲    the same SOA again  │   the last one
///                     └────────────────────────┘
/// ```
#[derive(Debug)]
enum State {
    Start { base: Option<Content> },
    Opened { base: Option<Content>, soa: Record },
    Whole { content: Content },
    Deleting { content: Content, newest: Rdata },
    Adding { content: Content, newest: Rdata },
    Done { content: Content },
}

/// Why a transfer is no zone.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransferError {
    /// A record cannot even be skipped.
    #[error("a message of the transfer cannot be read")]
    Unreadable(#[from] ParseError),
    /// Not of the Internet.
    #[error("the transfer has records of class {0}")]
    Class(Class),
    /// The first record is not the zone's SOA.
    #[error("the transfer does not begin with the zone's SOA")]
    NoSoa,
    /// The zone became another one on the way.
    #[error("the zone changed while it was transferred")]
    Changed,
    /// There are records behind the end.
    #[error("the transfer goes on after its end")]
    Beyond,
    /// Differences that do not follow from each other, or from what we have.
    #[error("the differences are not those from the version that was asked for")]
    Gap,
}

/// One record.
#[derive(Clone, Debug)]
struct Record {
    key: HostedKey,
    ttl: u32,
    data: Data,
}

/// Record data in canonical form, or what came where there is none.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Data {
    Known(Rdata),
    Odd(Vec<u8>),
}

impl Transfer {
    /// Of the whole zone.
    pub(super) fn whole(zone: &Name) -> Transfer {
        Transfer::begin(zone, None)
    }

    /// Of the differences from what is there already.
    pub(super) fn since(zone: &Name, base: Content) -> Transfer {
        Transfer::begin(zone, Some(base))
    }

    fn begin(zone: &Name, base: Option<Content>) -> Transfer {
        Transfer {
            apex: HostedKey::plain(zone.clone(), Rtype::SOA),
            state: State::Start { base },
        }
    }

    /// Takes the next message, and goes on or ends with what the zone holds.
    pub(super) fn take(
        mut self,
        message: &Message<Vec<u8>>,
    ) -> Result<ControlFlow<Content, Transfer>, TransferError> {
        for record in message.answer()? {
            let record = Record::read(&record?)?;
            self.state = self.state.step(record, &self.apex)?;
        }
        Ok(match self.state.end_message()? {
            State::Done { content } => ControlFlow::Break(content),
            state @ (State::Start { .. }
            | State::Opened { .. }
            | State::Whole { .. }
            | State::Deleting { .. }
            | State::Adding { .. }) => ControlFlow::Continue(Transfer { state, ..self }),
        })
    }
}

impl State {
    fn step(self, record: Record, apex: &HostedKey) -> Result<State, TransferError> {
        let soa = match &record.data {
            Data::Known(data) if record.key == *apex => Some(data.clone()),
            Data::Known(_) | Data::Odd(_) => None,
        };
        match (self, soa) {
            (State::Start { base }, Some(_)) => Ok(State::Opened { base, soa: record }),
            (State::Start { .. }, None) => Err(TransferError::NoSoa),
            (State::Opened { base, soa: first }, Some(soa)) => second_soa(base, first, &soa),
            (State::Opened { soa: first, .. }, None) => {
                let mut content = Content::new(first)?;
                content.insert(record);
                Ok(State::Whole { content })
            }
            (State::Whole { mut content }, None) => {
                // One that comes twice counts once (RFC 5936 §2.2).
                content.insert(record);
                Ok(State::Whole { content })
            }
            (State::Whole { content }, Some(soa)) if soa == content.soa => {
                Ok(State::Done { content })
            }
            (State::Whole { .. }, Some(_)) => Err(TransferError::Changed),
            (
                State::Deleting {
                    mut content,
                    newest,
                },
                None,
            ) => {
                content.remove(&record)?;
                Ok(State::Deleting { content, newest })
            }
            (
                State::Deleting {
                    mut content,
                    newest,
                },
                Some(_),
            ) => {
                content.advance(record)?;
                Ok(State::Adding { content, newest })
            }
            (
                State::Adding {
                    mut content,
                    newest,
                },
                None,
            ) => {
                let is_new = content.insert(record);
                let state = State::Adding { content, newest };
                is_new.then_some(state).ok_or(TransferError::Gap)
            }
            // Each difference begins with what the one before it ended with.
            (State::Adding { content, .. }, Some(soa)) if soa != content.soa => {
                Err(TransferError::Gap)
            }
            (State::Adding { content, newest }, Some(soa)) if soa == newest => {
                Ok(State::Done { content })
            }
            (State::Adding { content, newest }, Some(_)) => Ok(State::Deleting { content, newest }),
            (State::Done { .. }, _) => Err(TransferError::Beyond),
        }
    }

    /// A lone SOA is the answer to whoever has that version, or a later one (RFC 1995 §2).
    fn end_message(self) -> Result<State, TransferError> {
        match self {
            State::Opened {
                base: Some(content),
                soa,
            } => {
                let now = serial_of(&soa.data);
                if soa.data == Data::Known(content.soa.clone()) {
                    Ok(State::Done { content })
                } else if now > content.serial() {
                    let base = Some(content);
                    Ok(State::Opened { base, soa })
                } else {
                    Err(TransferError::Gap)
                }
            }
            State::Start { .. }
            | State::Opened { base: None, .. }
            | State::Whole { .. }
            | State::Deleting { .. }
            | State::Adding { .. }
            | State::Done { .. } => Ok(self),
        }
    }
}

/// After the first SOA, the one we have begins the differences; the first again ends a zone that has nothing else.
fn second_soa(base: Option<Content>, first: Record, soa: &Rdata) -> Result<State, TransferError> {
    let whole = Content::new(first)?;
    match base {
        Some(content) if *soa == content.soa => Ok(State::Deleting {
            content,
            newest: whole.soa,
        }),
        Some(_) | None if *soa == whole.soa => Ok(State::Done { content: whole }),
        Some(_) => Err(TransferError::Gap),
        None => Err(TransferError::Changed),
    }
}

impl Content {
    /// A zone with nothing but its SOA.
    fn new(soa: Record) -> Result<Content, TransferError> {
        let Data::Known(data) = &soa.data else {
            return Err(TransferError::NoSoa);
        };
        let mut content = Content {
            soa: data.clone(),
            sets: BTreeMap::new(),
        };
        content.insert(soa);
        Ok(content)
    }

    /// The SOA record data of the version.
    pub(super) fn soa(&self) -> &Rdata {
        &self.soa
    }

    /// Everything there is, as sets. What makes no set of ours is held without being understood.
    pub(super) fn holdings(&self) -> Holdings {
        let sets = self.sets.iter();
        sets.map(|(key, records)| (key.clone(), held(records)))
            .collect()
    }

    fn serial(&self) -> Option<Serial> {
        serial_of(&Data::Known(self.soa.clone()))
    }

    /// Whether it was not there.
    fn insert(&mut self, record: Record) -> bool {
        let set = self.sets.entry(record.key).or_default();
        set.insert(record.data, record.ttl).is_none()
    }

    /// A record is known by its name, type and data; its TTL is not compared.
    fn remove(&mut self, record: &Record) -> Result<(), TransferError> {
        let Entry::Occupied(mut set) = self.sets.entry(record.key.clone()) else {
            return Err(TransferError::Gap);
        };
        let removed = set.get_mut().remove(&record.data);
        if set.get().is_empty() {
            set.remove();
        }
        removed.map(drop).ok_or(TransferError::Gap)
    }

    /// Becomes the version that this SOA is of.
    fn advance(&mut self, soa: Record) -> Result<(), TransferError> {
        let set = BTreeMap::from([(soa.data.clone(), soa.ttl)]);
        self.sets.insert(soa.key.clone(), set);
        self.soa = Content::new(soa)?.soa;
        Ok(())
    }
}

impl Record {
    fn read(record: &ParsedRecord<'_, Vec<u8>>) -> Result<Record, TransferError> {
        if record.class() != Class::IN {
            return Err(TransferError::Class(record.class()));
        }
        let rtype = Rtype::from(record.rtype());
        let owner = record.owner().to_vec();
        let name = Name::from_wire(owner.as_slice()).expect("a name of the library is a name");
        Ok(Record {
            key: HostedKey::plain(name, rtype),
            ttl: record.ttl().as_secs(),
            data: Data::read(record, rtype)?,
        })
    }
}

impl Data {
    /// Names in known data may be compressed, so it is read as what it is; what cannot be is kept as it came.
    fn read(record: &ParsedRecord<'_, Vec<u8>>, rtype: Rtype) -> Result<Data, ParseError> {
        if let Ok(Some(typed)) = record.to_record::<ZoneRecordData<_, _>>() {
            let mut wire = Vec::new();
            let composed = typed.data().compose_canonical_rdata(&mut wire);
            composed.expect("a vector takes any length");
            if let Ok(data) = Rdata::from_wire(rtype, &wire) {
                return Ok(Data::Known(data));
            }
        }
        let raw = record.to_record::<UnknownRecordData<_>>()?;
        let octets = raw.map(|raw| AsRef::<[u8]>::as_ref(raw.data().data()).to_vec());
        Ok(Data::Odd(octets.unwrap_or_default()))
    }
}

fn held(records: &BTreeMap<Data, u32>) -> Held {
    let known = |(data, ttl): (&Data, &u32)| match (data, Ttl::from_secs(*ttl)) {
        (Data::Known(data), Ok(ttl)) => Some((ttl, data.clone())),
        (Data::Known(_), Err(_)) | (Data::Odd(_), _) => None,
    };
    let records: Option<Vec<(Ttl, Rdata)>> = records.iter().map(known).collect();
    match records.map(RecordSet::new) {
        Some(Ok(set)) => Held::Set(HostedSet::plain(set)),
        Some(Err(why)) => Held::Opaque(why.to_string()),
        None => Held::Opaque("records that cannot be read".to_owned()),
    }
}

fn serial_of(soa: &Data) -> Option<Serial> {
    match soa {
        Data::Known(data) => Soa::from_rdata(Ttl::ZERO, data).map(|(_, serial)| serial),
        Data::Odd(_) => None,
    }
}

#[cfg(test)]
mod tests;
