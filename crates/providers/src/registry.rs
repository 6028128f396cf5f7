//! From what a Secret says to the provider it means.
//!
//! Whoever has the same credentials is the same account, and takes turns: accounts are known by the fingerprints of their
//! credentials, never by the credentials themselves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use api::parse::provider_secret::{Credentials, ProviderSecret};
use dns::Name;
use egress::Egress;
use kube::Client;
use provider::{Error, InMemory, Provider, ZoneId};

use crate::aws::Aws;
use crate::pace::Pace;
use crate::rfc2136::Rfc2136;
use crate::zone::Zones;

/// A name server of one's own has no rules about this; so that nobody hammers it, twenty requests a second.
const NAME_SERVER_INTERVAL: Duration = Duration::from_millis(50);
const NAME_SERVER_BURST: u32 = 20;

/// Every provider that can be reached.
pub struct Registry {
    client: Client,
    egress: Arc<Egress>,
    in_memory: Arc<InMemory>,
    paces: Mutex<BTreeMap<String, Weak<Pace>>>,
}

impl Registry {
    /// With a client for the Zones of this cluster, and leave to connect to others.
    pub fn new(client: Client, egress: Egress) -> Registry {
        Registry {
            client,
            egress: Arc::new(egress),
            in_memory: Arc::default(),
            paces: Mutex::default(),
        }
    }

    /// The provider that a Secret means, and what it calls the Secret's zone. Nobody is asked yet.
    pub async fn open(
        &self,
        namespace: &str,
        access: &ProviderSecret,
    ) -> Result<(Arc<dyn Provider>, ZoneId), Error> {
        let zone = access.place.as_ref().map(|place| place.zone.as_str());
        match &access.credentials {
            Credentials::InMemory => {
                let zone = zone.map(|zone| self.remembered(zone)).transpose()?;
                let provider = Arc::clone(&self.in_memory) as Arc<dyn Provider>;
                Ok((provider, zone.unwrap_or(ZoneId(String::new()))))
            }
            Credentials::Zone => {
                let zones = Zones::new(self.client.clone(), namespace);
                let zone = zones.id(zone.unwrap_or_default());
                Ok((Arc::new(zones), zone))
            }
            Credentials::Rfc2136(server) => {
                let apex = named(zone.unwrap_or_default())?;
                let id = ZoneId(apex.to_string());
                let pace = self.pace(&access.credentials, name_server_pace);
                let egress = Arc::clone(&self.egress);
                let provider = Rfc2136::new(server, apex, egress, pace)?;
                Ok((Arc::new(provider), id))
            }
            Credentials::Aws(account) => {
                let zone = Aws::id(zone.unwrap_or_default());
                let pace = self.pace(&access.credentials, Aws::pace);
                let provider = Aws::new(account, Arc::clone(&self.egress), pace).await;
                let provider = provider.map_err(|error| Error::Denied(error.into()))?;
                Ok((Arc::new(provider), zone))
            }
        }
    }

    /// A zone in memory is there as soon as somebody names it.
    fn remembered(&self, zone: &str) -> Result<ZoneId, Error> {
        let apex = named(zone)?;
        let id = ZoneId(apex.to_string());
        self.in_memory.create_zone(&id, &apex);
        Ok(id)
    }

    /// The turns that everybody with these credentials takes.
    fn pace(&self, credentials: &Credentials, begin: fn() -> Pace) -> Arc<Pace> {
        let mut paces = self.paces.lock().expect("nobody panics with it");
        paces.retain(|_, pace| pace.strong_count() > 0);
        let known = paces.entry(credentials.fingerprint()).or_default();
        known.upgrade().unwrap_or_else(|| {
            let pace = Arc::new(begin());
            *known = Arc::downgrade(&pace);
            pace
        })
    }
}

fn name_server_pace() -> Pace {
    Pace::new(NAME_SERVER_INTERVAL, NAME_SERVER_BURST)
}

/// A zone that is called by its name.
fn named(zone: &str) -> Result<Name, Error> {
    dns::host_name(zone).map_err(|error| Error::Refused {
        reason: format!("data.ZONE_ID: {error}"),
    })
}
