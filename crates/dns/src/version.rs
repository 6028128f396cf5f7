//! Versions: what a zone said under one serial, and how they reach name servers.
//!
//! A serial stands for one content, for ever. Whoever publishes sees to that; whoever serves may rely on it.

use crate::{Name, Rdata, Serial, Zone};

/// A zone's content under a serial. A clone shares the content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Version {
    /// The content.
    pub zone: Zone,
    /// What it is called.
    pub serial: Serial,
}

/// What name servers are told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Publication {
    /// From now on the zone says this.
    Version(Version),
    /// The zone of this name is no longer ours.
    Withdrawal(Name),
}

/// What name servers tell back: a version was seen in an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sighting {
    /// The zone.
    pub origin: Name,
    /// The version; nothing once the zone is not answered any more.
    pub serial: Option<Serial>,
}

impl Version {
    /// The data of the SOA record.
    pub fn soa(&self) -> Rdata {
        self.zone.soa().rdata(self.serial)
    }
}

impl Publication {
    /// The zone it is about.
    pub fn origin(&self) -> &Name {
        match self {
            Publication::Version(version) => version.zone.origin(),
            Publication::Withdrawal(origin) => origin,
        }
    }
}
