//! Amazon Route 53.
//!
//! Every change is written as the removal of exactly what was expected and the creation of what is wanted, a whole
//! batch in one request: Route 53 makes all of it or nothing, and refuses if anything is not as expected. So nothing is
//! ever overwritten unseen, and `UPSERT`, which would do so, is never used.
//!
//! What is left to others: `connect.rs` says to whom and as whom, `client.rs` makes the calls, `answer.rs` sorts what
//! goes wrong, `convert.rs` knows Route 53's words.

mod answer;
mod client;
mod connect;
mod convert;

use std::sync::Arc;
use std::time::Duration;

use api::parse::provider_secret::Aws as Access;
use dns::Ttl;
use dns::hosted::Batch;
use dns::limits::{Limits, Load, Ownership, RECORD_TYPES, RoutingLimits};
use egress::{Egress, EgressError};
use provider::{Boxed, Error, HostedZone, Provider, Snapshot, ZoneId};

use crate::pace::Pace;
use answer::unclear;
use client::Client;

/// What fits into one request: so many records, and so many characters in their values. What is removed counts as what
/// is created does. From "Quotas on `ChangeResourceRecordSets`" in Route 53's developer guide.
const BATCH_MAX: Load = Load {
    count: 1_000,
    octets: 32_000,
};

/// An account is answered five times a second, whoever asks. From "Route 53 API request throttling" in the guide.
const REQUEST_INTERVAL: Duration = Duration::from_millis(200);

/// A small zone is read and written without a pause. Fewer than a second's five: others use the account, too.
const REQUEST_BURST: u32 = 3;

/// An account at Route 53.
#[derive(Debug)]
pub struct Aws {
    client: Client,
    limits: Limits,
}

impl Aws {
    /// Gets ready to ask; nobody is asked yet. An endpoint that is not Amazon's must be allowed by the operator.
    pub async fn new(
        access: &Access,
        egress: Arc<Egress>,
        pace: Arc<Pace>,
    ) -> Result<Aws, EgressError> {
        Ok(Aws {
            client: Client::new(access, egress, pace).await?,
            limits: limits(),
        })
    }

    /// The one spelling of what a Secret calls a zone.
    pub fn id(zone: &str) -> ZoneId {
        ZoneId(convert::zone_id(zone).to_owned())
    }

    /// How fast an account may be asked. All that use the account share it.
    pub fn pace() -> Pace {
        Pace::new(REQUEST_INTERVAL, REQUEST_BURST)
    }

    async fn list(&self) -> Result<Vec<HostedZone>, Error> {
        let zones = self.client.zones().await?;
        let zones: Result<Vec<HostedZone>, _> = zones.iter().map(convert::zone).collect();
        let mut zones = zones.map_err(unclear)?;
        zones.sort_by(|one, other| (&one.apex, &one.id).cmp(&(&other.apex, &other.id)));
        Ok(zones)
    }

    async fn snapshot(&self, zone: &ZoneId) -> Result<Snapshot, Error> {
        let sets = self.client.sets(convert::zone_id(&zone.0)).await?;
        convert::snapshot(&sets).map_err(unclear)
    }

    async fn change(&self, zone: &ZoneId, batch: &Batch) -> Result<(), Error> {
        if batch.is_empty() {
            return Ok(());
        }
        let changes = convert::changes(batch).map_err(|reason| Error::Refused { reason })?;
        let id = convert::zone_id(&zone.0);
        match self.client.change(id, changes).await {
            // What is not as expected may be so because this batch was written before, and the answer got lost.
            Err(Error::Stale) => {
                let now = self.snapshot(zone).await?.holdings;
                let done = batch.changes.iter().all(|change| change.is_done_in(&now));
                done.then_some(()).ok_or(Error::Stale)
            }
            settled => settled,
        }
    }
}

impl Provider for Aws {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn zones(&self) -> Boxed<'_, Result<Vec<HostedZone>, Error>> {
        Box::pin(self.list())
    }

    fn read<'a>(&'a self, zone: &'a ZoneId) -> Boxed<'a, Result<Snapshot, Error>> {
        Box::pin(self.snapshot(zone))
    }

    fn write<'a>(&'a self, zone: &'a ZoneId, batch: &'a Batch) -> Boxed<'a, Result<(), Error>> {
        Box::pin(self.change(zone, batch))
    }
}

fn limits() -> Limits {
    Limits {
        types: &RECORD_TYPES,
        ttl_min: Ttl::ZERO,
        ttl_default: Ttl::from_secs(300).expect("five minutes are a TTL"),
        routing: RoutingLimits {
            weight: true,
            geo: true,
            regions: false,
        },
        ownership: Ownership::Registry,
        batch_max: BATCH_MAX,
        load: convert::load,
        atomic: true,
    }
}
