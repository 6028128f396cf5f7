//! Every zone at a provider that is looked after, and how to get to it from what a Secret says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::parse::provider_secret::{Credentials, Domain, Place, ProviderSecret};
use dns::Name;
use provider::{Attempt, Boxed, Error, Provider, Retry, ZoneId};
use reconcile::dns_record::Failure;
use tokio::sync::{Mutex as AsyncMutex, OnceCell, mpsc};
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
    /// Each is opened by whoever comes first, and no zone waits for another.
    zones: Mutex<BTreeMap<HostedZoneKey, Arc<OnceCell<HostedZone>>>>,
    /// What accounts have listed.
    listed: Mutex<BTreeMap<String, Arc<AsyncMutex<Option<Listed>>>>>,
}

/// The zones of an account, and when they were asked for.
struct Listed {
    at: Instant,
    zones: Vec<provider::HostedZone>,
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
                place: Some(place?),
                credentials: access.credentials.clone(),
            };
            &found
        };
        let zone = access.place.as_ref().map(|place| place.zone.clone());
        let key = HostedZoneKey {
            account: account(namespace, &access.credentials),
            zone: ZoneId(zone.unwrap_or_default()),
        };
        let cell = Arc::clone(locked(&self.zones).entry(key.clone()).or_default());
        let opened = cell.get_or_try_init(async || {
            let Opened { provider, zone } = self.open.open(namespace, access).await?;
            let provider = self.metrics.counting_calls(provider);
            let news = self.news.clone();
            Ok(HostedZone::start(provider, zone, self.options, news))
        });
        let zone = opened.await.map_err(|error| unread(&error))?;
        Ok((key, zone.clone()))
    }

    /// Nobody needs a zone any more.
    pub(crate) fn forget(&self, key: &HostedZoneKey) {
        locked(&self.zones).remove(key);
    }

    /// The zone with the longest name that the host is in (P2).
    async fn discover(
        &self,
        namespace: &str,
        access: &ProviderSecret,
        host: &Name,
    ) -> Result<Place, Failure> {
        let account = account(namespace, &access.credentials);
        let listed = Arc::clone(locked(&self.listed).entry(account).or_default());
        // Whoever asks meanwhile waits for the same list.
        let mut listed = listed.lock().await;
        let now = Instant::now();
        let is_recent = |listed: &Listed| now < listed.at + self.options.requeue;
        if !listed.as_ref().is_some_and(is_recent) {
            let zones = self.list(namespace, access).await;
            let zones = zones.map_err(|error| unread(&error))?;
            *listed = Some(Listed { at: now, zones });
        }
        let zones = listed.as_ref().map_or(&[][..], |listed| &listed.zones);
        let above = zones.iter().filter(|zone| host.is_at_or_below(&zone.apex));
        let longest = above.max_by_key(|zone| zone.apex.label_count());
        let zone = longest.ok_or_else(|| lost(format!("no zone for host: {host}")))?;
        let same = zones.iter().filter(|other| other.apex == zone.apex).count();
        if same > 1 {
            return Err(lost(format!(
                "multiple zones found for host: {host}; name one with ZONE_ID and DOMAIN_NAME"
            )));
        }
        Ok(Place {
            zone: zone.id.0.clone(),
            domain: Domain::AtOrBelow(zone.apex.clone()),
        })
    }

    async fn list(
        &self,
        namespace: &str,
        access: &ProviderSecret,
    ) -> Result<Vec<provider::HostedZone>, Error> {
        let opened = self.open.open(namespace, access).await?;
        self.metrics.counting_calls(opened.provider).zones().await
    }
}

/// There is no zone to go to. Nobody tells when there is one: it is looked for again.
fn lost(story: String) -> Failure {
    Failure {
        story,
        retry: Retry::Backoff,
        way: true,
        attempt: Attempt::None,
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

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked did so after a change that was whole.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
