//! A name server in a struct: it takes publications in their order and tells what it answers with.

use std::collections::{BTreeMap, VecDeque};

use dns::{Name, Publication, Serial, Sighting, Version};

#[derive(Debug, Default)]
pub(crate) struct NameServer {
    zones: BTreeMap<Name, Version>,
    told: VecDeque<Publication>,
    /// Whether it has stopped taking in what it is told.
    pub(crate) paused: bool,
    /// Every content that was ever answered under a serial.
    history: BTreeMap<(Name, u32), Version>,
}

impl NameServer {
    pub(crate) fn tell(&mut self, publication: Publication) {
        self.told.push_back(publication);
    }

    /// Takes in one publication, and tells what it answers then.
    pub(crate) fn step(&mut self) -> Option<Sighting> {
        if self.paused {
            return None;
        }
        let publication = self.told.pop_front()?;
        let origin = publication.origin().clone();
        let serial = match publication {
            Publication::Version(version) => {
                let serial = version.serial;
                self.remember(&version);
                self.zones.insert(origin.clone(), version);
                Some(serial)
            }
            Publication::Withdrawal(_) => {
                self.zones.remove(&origin);
                None
            }
        };
        Some(Sighting { origin, serial })
    }

    /// Z7: one serial never stands for two contents.
    fn remember(&mut self, version: &Version) {
        let key = (version.zone.origin().clone(), version.serial.0);
        let known = self.history.entry(key).or_insert_with(|| version.clone());
        assert_eq!(known, version, "one serial stands for two contents");
    }

    pub(crate) fn zones(&self) -> &BTreeMap<Name, Version> {
        &self.zones
    }

    /// The highest serial it has ever answered with for each name, whether or not it still answers for it.
    pub(crate) fn spent(&self) -> Vec<(Name, Serial)> {
        let known = self.history.keys();
        known
            .map(|(origin, serial)| (origin.clone(), Serial(*serial)))
            .collect()
    }

    /// What it would still know after a restart.
    pub(crate) fn stored(&self) -> BTreeMap<Name, Serial> {
        let zones = self.zones.iter();
        zones
            .map(|(origin, version)| (origin.clone(), version.serial))
            .collect()
    }

    /// Answers with something nobody here has published.
    pub(crate) fn store(&mut self, version: Version) {
        self.remember(&version);
        self.zones.insert(version.zone.origin().clone(), version);
    }

    /// Whatever it was told and has not taken in is lost.
    pub(crate) fn restart(&mut self) {
        self.told.clear();
    }
}
