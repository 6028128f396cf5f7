//! What name servers have been seen to answer (Z7, R8).
//!
//! A zone's content counts its changes; a version that the API has acknowledged holds all changes up to its epoch. When
//! a name server is seen to answer with that version, every Record that was waiting for one of those changes is answered
//! too. Later versions say nothing new about it.

use std::collections::{BTreeMap, BTreeSet};

use api::ZoneKey;
use dns::{Name, Serial, Sighting, Version, ZoneHash};

use super::tree::remove;
use crate::RecordKey;

/// How many versions of a zone may be on their way to name servers. One that does not answer for so long answers with a
/// later one when it comes back; the earlier ones are then passed over anyway.
const UNSEEN_MAX: usize = 1_000;

/// How many names may be remembered with the serials that were spent on them, before those of earlier days go.
const SPENT_MAX: usize = 100_000;

/// Serials of one day: `YYYYMMDDnn`.
const SERIALS_PER_DAY: u32 = 100;

/// Whether a Record has been seen in an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Seen {
    /// Not as it is now.
    Pending,
    /// From this version on.
    Since(Serial),
    /// Before this process began, as its status says.
    Before,
}

/// What a Record waits for: to be seen in this zone with this generation of its spec, under this name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Wish {
    pub(super) zone: ZoneKey,
    pub(super) name: Name,
    pub(super) uid: String,
    pub(super) generation: Option<i64>,
}

#[derive(Debug)]
struct Wait {
    wish: Wish,
    epoch: u64,
    seen: Seen,
}

/// The versions of a zone that the API has acknowledged.
#[derive(Debug, Default)]
struct Acknowledged {
    /// The newest, and the hash of its content.
    last: Option<(Serial, ZoneHash)>,
    /// Epochs of those that have not been seen yet, by serial, in the order of their acknowledgement.
    unseen: Vec<(Serial, u64)>,
    /// The one that was seen last, and its epoch.
    seen: Option<(Serial, u64)>,
}

#[derive(Debug)]
pub(crate) struct Sight {
    answered: BTreeMap<Name, Serial>,
    /// The highest serial that ever stood for what a name says, as far as it is known here.
    spent: BTreeMap<Name, Serial>,
    zones: BTreeMap<ZoneKey, Acknowledged>,
    records: BTreeMap<RecordKey, Wait>,
    waiting: BTreeMap<ZoneKey, BTreeSet<(u64, RecordKey)>>,
}

impl Sight {
    pub(super) fn new(stored: BTreeMap<Name, Serial>) -> Sight {
        Sight {
            answered: stored.clone(),
            spent: stored,
            zones: BTreeMap::new(),
            records: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Names that are answered for.
    pub(super) fn origins(&self) -> impl Iterator<Item = &Name> {
        self.answered.keys()
    }

    /// The version name servers answer with, whoever published it.
    pub(super) fn answered(&self, origin: &Name) -> Option<Serial> {
        self.answered.get(origin).copied()
    }

    /// The highest serial that ever stood for what a name says: no later version may be called the same (Z7).
    pub(super) fn spent(&self, origin: &Name) -> Option<Serial> {
        self.spent.get(origin).copied()
    }

    /// Whether a version of this zone has been seen in an answer.
    pub(super) fn is_seen(&self, zone: &ZoneKey) -> bool {
        self.zones.get(zone).is_some_and(|zone| zone.seen.is_some())
    }

    /// How many zones have a version that has not been seen yet.
    pub(super) fn unseen(&self) -> usize {
        let zones = self.zones.values();
        zones.filter(|zone| !zone.unseen.is_empty()).count()
    }

    /// Whether a Record has been seen as it is now.
    pub(super) fn record(&self, key: &RecordKey) -> Seen {
        self.records
            .get(key)
            .map_or(Seen::Pending, |wait| wait.seen)
    }

    /// A Record is in a zone since an epoch at the latest, and waits to be seen. `before`: its status says that it has been,
    /// with this very wish.
    pub(super) fn expect(&mut self, key: &RecordKey, wish: Wish, epoch: u64, before: bool) {
        if self.records.get(key).is_some_and(|wait| wait.wish == wish) {
            return;
        }
        self.forget_record(key);
        let answered = self.zones.get(&wish.zone).and_then(|zone| zone.seen);
        let seen = match answered.filter(|(_, seen)| epoch <= *seen) {
            _ if before => Seen::Before,
            Some((serial, _)) => Seen::Since(serial),
            None => Seen::Pending,
        };
        if seen == Seen::Pending {
            let waiting = self.waiting.entry(wish.zone.clone()).or_default();
            waiting.insert((epoch, key.clone()));
        }
        self.records.insert(key.clone(), Wait { wish, epoch, seen });
    }

    pub(super) fn forget_record(&mut self, key: &RecordKey) {
        if let Some(Wait { wish, epoch, .. }) = self.records.remove(key) {
            remove(&mut self.waiting, &wish.zone, &(epoch, key.clone()));
        }
    }

    pub(super) fn forget_zone(&mut self, key: &ZoneKey) {
        self.zones.remove(key);
    }

    /// A serial has stood for what a name says.
    pub(super) fn spend(&mut self, origin: &Name, serial: Serial) {
        let spent = self.spent.entry(origin.clone()).or_insert(serial);
        *spent = spent.later(serial);
        if self.spent.len() > SPENT_MAX {
            // The serials of a day that is over are behind today's in any case.
            let day = serial.0 / SERIALS_PER_DAY;
            self.spent
                .retain(|_, spent| spent.0 / SERIALS_PER_DAY >= day);
        }
    }

    /// A version holds all changes up to an epoch. Whether name servers have to be told of it, and the Records that have
    /// been seen because it is answered already.
    pub(super) fn acknowledge(
        &mut self,
        key: &ZoneKey,
        version: &Version,
        epoch: u64,
    ) -> (bool, Vec<RecordKey>) {
        let zone = self.zones.entry(key.clone()).or_default();
        let last = (version.serial, version.zone.hash());
        if zone.last != Some(last) {
            zone.last = Some(last);
            zone.unseen.push((version.serial, epoch));
            let excess = zone.unseen.len().saturating_sub(UNSEEN_MAX);
            zone.unseen.drain(..excess);
            return (true, Vec::new());
        }
        // What changed was changed back.
        if let Some((_, unseen)) = zone.unseen.last_mut() {
            *unseen = epoch;
            return (false, Vec::new());
        }
        zone.seen = Some((version.serial, epoch));
        (false, self.answer(key, epoch, version.serial))
    }

    /// The Records that have been seen for the first time, if the version is one of the holder's.
    pub(super) fn sighted(
        &mut self,
        sighting: &Sighting,
        holder: Option<&ZoneKey>,
    ) -> Vec<RecordKey> {
        let Some(serial) = sighting.serial else {
            self.answered.remove(&sighting.origin);
            return Vec::new();
        };
        self.answered.insert(sighting.origin.clone(), serial);
        self.spend(&sighting.origin, serial);
        let Some(key) = holder else { return Vec::new() };
        let Some(epoch) = self.catch_up(key, serial) else {
            return Vec::new();
        };
        self.answer(key, epoch, serial)
    }

    /// The epoch of the version that has been seen. Versions before it have been passed over.
    fn catch_up(&mut self, key: &ZoneKey, serial: Serial) -> Option<u64> {
        let zone = self.zones.get_mut(key)?;
        let mut unseen = zone.unseen.iter();
        let at = unseen.position(|(unseen, _)| *unseen == serial)?;
        let (_, epoch) = zone.unseen.drain(..=at).next_back()?;
        zone.seen = Some((serial, epoch));
        Some(epoch)
    }

    fn answer(&mut self, zone: &ZoneKey, epoch: u64, serial: Serial) -> Vec<RecordKey> {
        let Some(waiting) = self.waiting.get_mut(zone) else {
            return Vec::new();
        };
        let later = waiting.split_off(&(epoch + 1, RecordKey::new("", "")));
        let answered = std::mem::replace(waiting, later);
        if waiting.is_empty() {
            self.waiting.remove(zone);
        }
        for (_, record) in &answered {
            if let Some(wait) = self.records.get_mut(record) {
                wait.seen = Seen::Since(serial);
            }
        }
        answered.into_iter().map(|(_, record)| record).collect()
    }
}
