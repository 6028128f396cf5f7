//! Calls of providers, counted where all of them pass: by what was asked, and what came of it.

use std::sync::Arc;

use dns::hosted::Batch;
use dns::limits::Limits;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use provider::{Boxed, Error, HostedZone, Provider, Snapshot, ZoneId};

pub(super) type Calls = Family<CallLabels, Counter>;

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct CallLabels {
    call: &'static str,
    result: &'static str,
}

/// A provider whose calls are counted.
pub(super) struct Counted {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) calls: Calls,
}

impl Counted {
    fn count<T>(&self, call: &'static str, outcome: Result<T, Error>) -> Result<T, Error> {
        let result = match &outcome {
            Ok(_) => "ok",
            Err(Error::Throttled { .. }) => "throttled",
            Err(Error::Stale) => "stale",
            Err(Error::Missing) => "missing",
            Err(Error::Denied(_)) => "denied",
            Err(Error::Refused { .. }) => "refused",
            Err(Error::Unclear(_)) => "unclear",
        };
        self.calls.get_or_create(&CallLabels { call, result }).inc();
        outcome
    }
}

impl Provider for Counted {
    fn limits(&self) -> &Limits {
        self.provider.limits()
    }

    fn zones(&self) -> Boxed<'_, Result<Vec<HostedZone>, Error>> {
        Box::pin(async { self.count("zones", self.provider.zones().await) })
    }

    fn read<'a>(&'a self, zone: &'a ZoneId) -> Boxed<'a, Result<Snapshot, Error>> {
        Box::pin(async { self.count("read", self.provider.read(zone).await) })
    }

    fn write<'a>(&'a self, zone: &'a ZoneId, batch: &'a Batch) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async { self.count("write", self.provider.write(zone, batch).await) })
    }
}
