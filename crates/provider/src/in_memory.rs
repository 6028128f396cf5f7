//! A provider that forgets everything with the process: the reference of the contract.
//!
//! It holds what any provider can hold, in maps, and does what the contract says and nothing else. Faults can be put in
//! its way, one by one, so that whoever uses a provider is tested with all that real ones do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use dns::hosted::{Batch, Change, Held, Holdings, HostedKey, HostedSet};
use dns::limits::{Limits, Load, Ownership, RECORD_TYPES, RoutingLimits, records_of};
use dns::{Name, RecordSet, Rtype, Serial, Soa, Ttl};

use crate::{Boxed, Error, HostedZone, Provider, Snapshot, ZoneId};

/// As many as Route 53 takes at once, so that batches are cut as they are there.
const BATCH_RECORDS_MAX: usize = 1_000;

/// How many writes a read can be behind.
const PAST_WRITES_MAX: usize = 16;

/// What goes wrong with one call.
#[derive(Debug)]
pub enum Fault {
    /// It fails, and nothing has happened.
    Fails(Error),
    /// It is done, and then it fails: whoever asked cannot know.
    FailsAfterwards(Error),
    /// Only the first so many changes of a batch are made, and then it fails.
    Partial(usize, Error),
    /// It is said to be done, and is not.
    Ignored,
    /// A read tells what was there before the last so many writes.
    Behind(usize),
}

/// Zones in memory.
#[derive(Debug)]
pub struct InMemory {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    zones: BTreeMap<ZoneId, Zone>,
    /// What goes wrong with the next reads and writes, one for each.
    read_faults: VecDeque<Option<Fault>>,
    write_faults: VecDeque<Option<Fault>>,
    /// Names that are always refused.
    poison: Vec<Name>,
    reads: usize,
    writes: usize,
}

#[derive(Debug)]
struct Zone {
    apex: Name,
    holdings: Holdings,
    /// The last writes, the youngest at the end.
    past: VecDeque<Vec<Change>>,
}

impl Default for InMemory {
    fn default() -> InMemory {
        InMemory::new(InMemory::usual_limits())
    }
}

impl InMemory {
    /// Without zones.
    pub fn new(limits: Limits) -> InMemory {
        InMemory {
            limits,
            state: Mutex::default(),
        }
    }

    /// What it can hold unless told otherwise: every type, weights and places.
    pub fn usual_limits() -> Limits {
        Limits {
            types: &RECORD_TYPES,
            ttl_min: Ttl::ZERO,
            ttl_default: Ttl::from_secs(300).expect("five minutes are a TTL"),
            routing: RoutingLimits {
                weight: true,
                geo: true,
                regions: true,
            },
            ownership: Ownership::Registry,
            batch_max: Load {
                count: BATCH_RECORDS_MAX,
                octets: usize::MAX,
            },
            load: |change| Load {
                count: records_of(change),
                octets: 0,
            },
            atomic: true,
        }
    }

    /// Adds a zone, with nothing but its SOA, unless it is there.
    pub fn create_zone(&self, id: &ZoneId, apex: &Name) {
        let zone = || Zone {
            apex: apex.clone(),
            holdings: apex_holdings(apex),
            past: VecDeque::new(),
        };
        self.state().zones.entry(id.clone()).or_insert_with(zone);
    }

    /// Takes a zone away.
    pub fn delete_zone(&self, id: &ZoneId) {
        self.state().zones.remove(id);
    }

    /// Changes a set as somebody else would: whatever is there.
    pub fn tamper(&self, id: &ZoneId, key: &HostedKey, to: Option<Held>) {
        if let Some(zone) = self.state().zones.get_mut(id) {
            match to {
                Some(held) => zone.holdings.insert(key.clone(), held),
                None => zone.holdings.remove(key),
            };
        }
    }

    /// What is there, without asking.
    pub fn holdings(&self, id: &ZoneId) -> Holdings {
        let state = self.state();
        let zone = state.zones.get(id);
        zone.map(|zone| zone.holdings.clone()).unwrap_or_default()
    }

    /// What goes wrong with the next reads; nothing: the read goes well.
    pub fn fail_reads(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.state().read_faults.extend(faults);
    }

    /// What goes wrong with the next writes; nothing: the write goes well.
    pub fn fail_writes(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.state().write_faults.extend(faults);
    }

    /// Refuses every batch that has this name in it.
    pub fn poison(&self, name: &Name) {
        self.state().poison.push(name.clone());
    }

    /// How often it was read and written.
    pub fn calls(&self) -> (usize, usize) {
        let state = self.state();
        (state.reads, state.writes)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }
}

impl State {
    fn zone(&mut self, id: &ZoneId) -> Result<&mut Zone, Error> {
        self.zones.get_mut(id).ok_or(Error::Missing)
    }

    fn read(&mut self, id: &ZoneId) -> Result<Snapshot, Error> {
        self.reads += 1;
        let behind = match self.read_faults.pop_front().flatten() {
            Some(
                Fault::Fails(error) | Fault::FailsAfterwards(error) | Fault::Partial(_, error),
            ) => return Err(error),
            Some(Fault::Behind(writes)) => writes,
            Some(Fault::Ignored) | None => 0,
        };
        let zone = self.zone(id)?;
        Ok(Snapshot {
            apex: zone.apex.clone(),
            holdings: zone.before(behind),
            complaints: BTreeMap::new(),
        })
    }

    fn write(&mut self, id: &ZoneId, batch: &Batch) -> Result<(), Error> {
        self.writes += 1;
        let fault = self.write_faults.pop_front().flatten();
        let poisoned = batch.changes.iter().find(|change| {
            let poison = &self.poison;
            change.after.is_some() && poison.contains(&change.key.name)
        });
        if let Some(change) = poisoned {
            let reason = format!("{} is not allowed here", change.key);
            return Err(Error::Refused { reason });
        }
        let zone = self.zone(id)?;
        match fault {
            Some(Fault::Fails(error)) => Err(error),
            Some(Fault::Ignored) => Ok(()),
            Some(Fault::FailsAfterwards(error)) => zone.write(&batch.changes).and(Err(error)),
            Some(Fault::Partial(count, error)) => {
                let first = batch.changes.iter().take(count).cloned();
                zone.write(&first.collect::<Vec<_>>()).and(Err(error))
            }
            Some(Fault::Behind(_)) | None => zone.write(&batch.changes),
        }
    }
}

impl Zone {
    fn write(&mut self, changes: &[Change]) -> Result<(), Error> {
        if changes.iter().all(|it| it.is_done_in(&self.holdings)) {
            return Ok(());
        }
        if !changes.iter().all(|it| it.is_expected_by(&self.holdings)) {
            return Err(Error::Stale);
        }
        for change in changes {
            change.apply(&mut self.holdings);
        }
        self.past.push_back(changes.to_vec());
        if self.past.len() > PAST_WRITES_MAX {
            self.past.pop_front();
        }
        Ok(())
    }

    /// What was there before the last so many writes.
    fn before(&self, writes: usize) -> Holdings {
        let mut holdings = self.holdings.clone();
        for changes in self.past.iter().rev().take(writes) {
            for change in changes {
                change.reverse().apply(&mut holdings);
            }
        }
        holdings
    }
}

/// What every zone has: an SOA.
fn apex_holdings(apex: &Name) -> Holdings {
    let hour = Ttl::from_secs(3600).expect("an hour is a TTL");
    let soa = Soa {
        ttl: hour,
        mname: apex.clone(),
        rname: apex.clone(),
        refresh: 7200,
        retry: 900,
        expire: 1_209_600,
        minimum: hour,
    };
    let records = RecordSet::new([(hour, soa.rdata(Serial(1)))]).expect("one SOA is a set");
    let key = HostedKey::plain(apex.clone(), Rtype::SOA);
    [(key, Held::Set(HostedSet::plain(records)))].into()
}

impl Provider for InMemory {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn zones(&self) -> Boxed<'_, Result<Vec<HostedZone>, Error>> {
        let mut zones: Vec<HostedZone> = (self.state().zones.iter())
            .map(|(id, zone)| HostedZone {
                id: id.clone(),
                apex: zone.apex.clone(),
            })
            .collect();
        zones.sort_by(|one, other| (&one.apex, &one.id).cmp(&(&other.apex, &other.id)));
        Box::pin(std::future::ready(Ok(zones)))
    }

    fn read<'a>(&'a self, zone: &'a ZoneId) -> Boxed<'a, Result<Snapshot, Error>> {
        Box::pin(async { self.state().read(zone) })
    }

    fn write<'a>(&'a self, zone: &'a ZoneId, batch: &'a Batch) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async { self.state().write(zone, batch) })
    }
}
