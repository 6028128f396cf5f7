//! From what a Secret says to the provider it means.
//!
//! Whoever has the same credentials is the same account, and takes turns: accounts are known by the fingerprints of their
//! credentials, never by the credentials themselves.

use std::sync::Arc;

use api::parse::provider_secret::{Credentials, ProviderSecret};
use dns::Name;
use kube::Client;
use provider::{Error, InMemory, Provider, ZoneId};

use crate::zone::Zones;

/// Every provider that can be reached.
pub struct Registry {
    client: Client,
    in_memory: Arc<InMemory>,
}

impl Registry {
    /// With a client for the Zones of this cluster.
    pub fn new(client: Client) -> Registry {
        Registry {
            client,
            in_memory: Arc::default(),
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
            Credentials::Aws(_) | Credentials::Rfc2136(_) => Err(Error::Refused {
                reason: "not built in".into(),
            }),
        }
    }

    /// A zone in memory is there as soon as somebody names it.
    fn remembered(&self, zone: &str) -> Result<ZoneId, Error> {
        let apex: Name = dns::host_name(zone).map_err(|error| Error::Refused {
            reason: error.to_string(),
        })?;
        let id = ZoneId(apex.to_string().trim_end_matches('.').to_owned());
        self.in_memory.create_zone(&id, &apex);
        Ok(id)
    }
}
