//! What a zone holds, as it was last read and as it was written since.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use api::parse::provider_secret::Domain;
use dns::Name;
use dns::limits::Limits;
use dns::ownership::Inventory;
use provider::{Attempt, Error, Provider, Retry, ZoneId};
use reconcile::dns_record::Failure;
use reconcile::hosted::{Ask, Hosted};
use tokio::time::Instant;

pub(super) struct Reading {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) zone: ZoneId,
    pub(super) hosted: Option<Hosted>,
    /// The name the zone begins at, once it has been read.
    apex: Name,
    /// When the last read began, whatever came of it.
    began: Option<Instant>,
    /// When the read began that what is here comes from.
    good_since: Option<Instant>,
}

impl Reading {
    pub(super) fn new(provider: Arc<dyn Provider>, zone: ZoneId) -> Reading {
        Reading {
            provider,
            zone,
            hosted: None,
            apex: Name::root(),
            began: None,
            good_since: None,
        }
    }

    pub(super) fn zone(&self) -> &ZoneId {
        &self.zone
    }

    pub(super) fn apex(&self) -> &Name {
        &self.apex
    }

    pub(super) fn limits(&self) -> &Limits {
        self.provider.limits()
    }

    pub(super) fn hosted(&mut self) -> Option<&mut Hosted> {
        self.hosted.as_mut()
    }

    pub(super) fn began(&self) -> Option<Instant> {
        self.began
    }

    pub(super) fn good_since(&self) -> Option<Instant> {
        self.good_since.filter(|_| self.hosted.is_some())
    }

    /// From when on the zone may be read again.
    pub(super) fn from(&self, every: Duration, now: Instant) -> Instant {
        self.began.map_or(now, |began| (began + every).max(now))
    }

    /// What is here is no longer believed.
    pub(super) fn doubt(&mut self) {
        self.good_since = None;
    }

    /// Reads the zone, and tells at which names it is not what was left there.
    pub(super) async fn read(&mut self, now: Instant) -> Result<BTreeSet<Name>, Error> {
        self.began = Some(now);
        let snapshot = match self.provider.read(&self.zone).await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                // A zone that comes back may be another one.
                if matches!(error, Error::Missing) {
                    self.hosted = None;
                }
                return Err(error);
            }
        };
        let same = snapshot.apex == self.apex;
        self.apex = snapshot.apex;
        self.good_since = Some(now);
        if let Some(hosted) = self.hosted.as_mut().filter(|_| same) {
            return Ok(hosted.renew(snapshot.holdings, snapshot.complaints));
        }
        // Under another name everything in it is something else.
        let former = self.hosted.take();
        self.hosted = Some(Hosted {
            inventory: Inventory::new(self.apex.clone(), snapshot.holdings),
            complaints: snapshot.complaints,
        });
        let former = former.iter().flat_map(|it| it.inventory.holdings().keys());
        Ok(former.map(|key| key.name.clone()).collect())
    }

    /// Whether the Secret's domain is in the zone (P2).
    pub(super) fn contains(&self, ask: &Ask) -> bool {
        let domain = ask.domain.as_ref().map(Domain::base);
        domain.is_none_or(|domain| domain.is_at_or_below(&self.apex))
    }

    pub(super) fn outside(&self, ask: &Ask) -> Failure {
        let domain = ask.domain.as_ref().map(ToString::to_string);
        let domain = domain.unwrap_or_default();
        Failure {
            story: format!(
                "data.DOMAIN_NAME: {domain} is not in the zone, which is {}",
                self.apex
            ),
            retry: Retry::OnChange,
            way: true,
            attempt: Attempt::None,
        }
    }
}
