//! Every zone at a provider that is looked after, and how to get to it from what a Secret says.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::parse::provider_secret::{Credentials, Domain, Place, ProviderSecret};
use dns::Name;
use provider::{Boxed, Error, Provider, ZoneId};
use reconcile::dns_record::Failure;
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

use crate::hosted_zone::{HostedZone, HostedZoneKey, News, Options, unread};
use crate::metrics::Metrics;

/// From what a Secret says to somebody who can be asked.
pub trait Open: Send + Sync {
    /// Opens what `access` leads to, for objects of `namespace`. Nobody is asked yet.
    fn open<'a>(
        &'a self,
        namespace: &'a str,
        access: &'a ProviderSecret,
    ) -> Boxed<'a, Result<Opened, Error>>;
}

/// Somebody who can be asked.
pub struct Opened {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The zone that the Secret names, as the provider lists it.
    pub zone: ZoneId,
}

pub(crate) struct HostedZones {
    open: Arc<dyn Open>,
    options: Options,
    metrics: Metrics,
    news: mpsc::Sender<News>,
    zones: Mutex<BTreeMap<HostedZoneKey, HostedZone>>,
    /// What accounts have listed, and when.
    listed: Mutex<BTreeMap<String, (Instant, Vec<provider::HostedZone>)>>,
}

impl HostedZones {
    pub(crate) fn new(
        open: Arc<dyn Open>,
        options: Options,
        metrics: Metrics,
        news: mpsc::Sender<News>,
    ) -> HostedZones {
        HostedZones {
            open,
            options,
            metrics,
            news,
            zones: Mutex::default(),
            listed: Mutex::default(),
        }
    }

    /// The zone that a Secret leads to for a host.
    pub(crate) async fn get(
        &self,
        namespace: &str,
        access: &ProviderSecret,
        host: &Name,
    ) -> Result<(HostedZoneKey, HostedZone), Failure> {
        let found;
        let access = if access.place.is_some() {
            access
        } else {
            let place = self.discover(namespace, access, host).await;
            found = ProviderSecret {
                place: Some(place.map_err(|error| unread(&error))?),
                credentials: access.credentials.clone(),
            };
            &found
        };
        let zone = access.place.as_ref().map(|place| place.zone.clone());
        let key = HostedZoneKey {
            account: account(namespace, &access.credentials),
            zone: ZoneId(zone.unwrap_or_default()),
        };
        let mut zones = self.zones.lock().await;
        if let Some(zone) = zones.get(&key) {
            return Ok((key, zone.clone()));
        }
        let opened = self.open.open(namespace, access).await;
        let Opened { provider, zone } = opened.map_err(|error| unread(&error))?;
        let provider = self.metrics.counting_calls(provider);
        let zone = HostedZone::start(provider, zone, self.options, self.news.clone());
        zones.insert(key.clone(), zone.clone());
        Ok((key, zone))
    }

    /// Nobody needs a zone any more.
    pub(crate) async fn forget(&self, key: &HostedZoneKey) {
        self.zones.lock().await.remove(key);
    }

    /// The zone with the longest name that the host is in (P2).
    async fn discover(
        &self,
        namespace: &str,
        access: &ProviderSecret,
        host: &Name,
    ) -> Result<Place, Error> {
        let account = account(namespace, &access.credentials);
        let mut listed = self.listed.lock().await;
        let now = Instant::now();
        let recent = listed
            .get(&account)
            .filter(|(then, _)| now < *then + self.options.requeue);
        let zones = if let Some((_, zones)) = recent {
            zones.clone()
        } else {
            let opened = self.open.open(namespace, access).await?;
            let zones = opened.provider.zones().await?;
            listed.insert(account, (now, zones.clone()));
            zones
        };
        let above = zones.iter().filter(|zone| host.is_at_or_below(&zone.apex));
        let longest = above.max_by_key(|zone| zone.apex.label_count());
        let zone = longest.ok_or_else(|| Error::Refused {
            reason: format!("no zone for host: {host}"),
        })?;
        let same = zones.iter().filter(|other| other.apex == zone.apex).count();
        if same > 1 {
            let reason = format!(
                "multiple zones found for host: {}; name one with ZONE_ID and DOMAIN_NAME",
                zone.apex
            );
            return Err(Error::Refused { reason });
        }
        Ok(Place {
            zone: zone.id.0.clone(),
            domain: Domain::AtOrBelow(zone.apex.clone()),
        })
    }
}

/// Zones of the cluster are written in the namespace of the Secret: another namespace is another account.
fn account(namespace: &str, credentials: &Credentials) -> String {
    let fingerprint = credentials.fingerprint();
    match credentials {
        Credentials::Zone => format!("{fingerprint} {namespace}"),
        Credentials::Aws(_) | Credentials::Rfc2136(_) | Credentials::InMemory => fingerprint,
    }
}
