//! Who has how many connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Caps;

/// All places for connections.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    per_address: usize,
}

/// A place that is taken for as long as this lives.
#[derive(Debug)]
pub(super) struct Place {
    _room: OwnedSemaphorePermit,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
    address: IpAddr,
}

impl Places {
    pub(super) fn new(caps: Caps) -> Self {
        Self {
            free: Arc::new(Semaphore::new(caps.connections)),
            taken: Arc::default(),
            per_address: caps.connections_per_address,
        }
    }

    /// Room for one more, when there is.
    pub(super) async fn room(&self) -> OwnedSemaphorePermit {
        let free = Arc::clone(&self.free).acquire_owned().await;
        free.expect("the semaphore is never closed")
    }

    /// A place for this address, unless it has its share.
    pub(super) fn take(&self, room: OwnedSemaphorePermit, address: IpAddr) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(address).or_default();
        if *count >= self.per_address {
            return None;
        }
        *count += 1;
        Some(Place {
            _room: room,
            taken: Arc::clone(&self.taken),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}
