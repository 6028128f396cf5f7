//! The contract of providers: places that hold DNS zones and let them be changed.
//!
//! A [`Provider`] translates between [`dns::hosted`] and whatever a place speaks. It decides nothing: what to write is
//! settled by [`dns::plan`](dns) before it is asked, its limits being part of that. So a provider is small, and all of them
//! are held to the same behaviours ([`mod@battery`]), beginning with the one in memory ([`InMemory`]).
//!
//! What it leaves to others: which provider a Secret means (`providers`), what should be there (`reconcile`), when to ask
//! (`controller`).

pub mod battery;
mod error;
mod in_memory;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use dns::Name;
use dns::hosted::{Batch, Holdings, HostedKey};
use dns::limits::Limits;

pub use error::{Attempt, Error, Retry, Source};
pub use in_memory::{Fault, InMemory};

/// A future on the heap: providers are used behind a pointer.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place that can hold DNS zones.
///
/// Implementations translate; they do not decide. What to write is settled before any of these methods is called.
pub trait Provider: Send + Sync {
    /// What it can hold. Batches are cut to fit before `write` sees them.
    fn limits(&self) -> &Limits;

    /// The zones that these credentials can see, in the order of their names.
    fn zones(&self) -> Boxed<'_, Result<Vec<HostedZone>, Error>>;

    /// Everything in a zone, ours or not. An answer that may not be whole is an error.
    fn read<'a>(&'a self, zone: &'a ZoneId) -> Boxed<'a, Result<Snapshot, Error>>;

    /// Makes all changes of a batch, or none, each only if the set is as the change expects it: where one is not, the
    /// answer is [`Error::Stale`]. Writing a batch that already took effect is `Ok`, so a pass that died half way is
    /// repaired by running it again. A place that can only be written piece by piece checks the whole batch first; if
    /// it fails after that, whatever the error, a part may have been written, and running it again completes it.
    fn write<'a>(&'a self, zone: &'a ZoneId, batch: &'a Batch) -> Boxed<'a, Result<(), Error>>;
}

/// What the provider calls a zone.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ZoneId(pub String);

/// A zone that a provider holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostedZone {
    /// What the provider calls it.
    pub id: ZoneId,
    /// The name it begins at.
    pub apex: Name,
}

/// What was read from a zone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snapshot {
    /// The name it begins at.
    pub apex: Name,
    /// Everything that is there.
    pub holdings: Holdings,
    /// Why the provider does not answer with some of it, in its own words.
    pub complaints: BTreeMap<HostedKey, String>,
}

impl fmt::Display for ZoneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
