//! How many connections there are, in total and of each client.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::server::Limits;

/// When half of the places are taken, silence is tolerated for this part of the time.
const HURRY: u32 = 5;

/// Counts connections. All workers share it.
pub(in crate::server) struct Gate {
    places: Arc<Semaphore>,
    places_max: usize,
    clients: Arc<Clients>,
}

struct Clients {
    each_max: usize,
    /// As many entries as there are connections, at most.
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// A client that may have one more connection, until this is dropped.
pub(super) struct Admission {
    places: Arc<Semaphore>,
    clients: Arc<Clients>,
    client: IpAddr,
}

/// A connection's place, until this is dropped.
pub(super) struct Place {
    _place: Option<OwnedSemaphorePermit>,
    _admission: Admission,
}

impl Gate {
    pub(in crate::server) fn new(limits: &Limits) -> Gate {
        Gate {
            places: Arc::new(Semaphore::new(limits.connections_max)),
            places_max: limits.connections_max,
            clients: Arc::new(Clients {
                each_max: limits.connections_per_client_max,
                counts: Mutex::default(),
            }),
        }
    }

    /// Lets a client in, unless it has enough connections.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Admission> {
        let client = client(address);
        let mut counts = self.clients.lock();
        let count = counts.get(&client).copied().unwrap_or_default();
        if count >= self.clients.each_max {
            return None;
        }
        counts.insert(client, count + 1);
        drop(counts);
        Some(Admission {
            places: self.places.clone(),
            clients: self.clients.clone(),
            client,
        })
    }

    /// How long a connection may be silent now.
    pub(super) fn idle(&self, limits: &Limits) -> Duration {
        if self.places.available_permits() * 2 < self.places_max {
            limits.idle / HURRY
        } else {
            limits.idle
        }
    }
}

impl Admission {
    /// Waits for a place.
    pub(super) async fn enter(self) -> Place {
        let place = self.places.clone().acquire_owned().await;
        Place {
            _place: place.ok(),
            _admission: self,
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut counts = self.clients.lock();
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

impl Clients {
    /// Numbers are right even if a thread died while it changed others.
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who counts as one: an IPv4 address, or the 64 bits that an IPv6 host picks its addresses from.
fn client(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let network = u128::from(v6) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(total: usize, each: usize) -> (Gate, Limits) {
        let limits = Limits {
            connections_max: total,
            connections_per_client_max: each,
            ..Limits::default()
        };
        (Gate::new(&limits), limits)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// I6.
    #[test]
    fn a_client_has_so_many_connections_and_no_more() {
        let (gate, _) = gate(10, 2);
        let first = gate.admit(address("192.0.2.1")).unwrap();
        let _second = gate.admit(address("192.0.2.1")).unwrap();
        assert!(gate.admit(address("192.0.2.1")).is_none());
        assert!(gate.admit(address("192.0.2.2")).is_some());
        drop(first);
        assert!(gate.admit(address("192.0.2.1")).is_some());
    }

    #[test]
    fn an_ipv6_network_is_one_client() {
        let (gate, _) = gate(10, 1);
        let _first = gate.admit(address("2001:db8::1")).unwrap();
        assert!(gate.admit(address("2001:db8::ffff:2")).is_none());
        assert!(gate.admit(address("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn clients_that_left_are_forgotten() {
        let (gate, _) = gate(10, 1);
        drop(gate.admit(address("192.0.2.1")));
        assert!(gate.clients.lock().is_empty());
    }

    #[tokio::test]
    async fn silence_is_cut_short_when_half_of_the_places_are_taken() {
        let (gate, limits) = gate(4, 4);
        let mut places = Vec::new();
        for expected in [limits.idle, limits.idle, limits.idle, limits.idle / 5] {
            assert_eq!(gate.idle(&limits), expected);
            places.push(gate.admit(address("192.0.2.1")).unwrap().enter().await);
        }
    }
}
