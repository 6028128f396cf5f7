//! Numbers of single DNSRecords, under the names and labels that the peer's dashboards know (C9).

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use reconcile::DnsRecordKey;

/// The numbers of all DNSRecords.
#[derive(Clone, Debug, Default)]
pub(super) struct Gauges {
    writes: Family<WritesLabels, Gauge>,
    ready: Family<ReadyLabels, Gauge>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct WritesLabels {
    dns_record_name: String,
    dns_record_namespace: String,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
#[allow(
    clippy::struct_field_names,
    reason = "fields are labels, and these are the peer's"
)]
struct ReadyLabels {
    dns_record_name: String,
    dns_record_namespace: String,
    dns_record_root_host: String,
    dns_record_is_delegating: bool,
}

/// The numbers of one DNSRecord, shown for as long as this lives.
#[derive(Debug)]
pub(crate) struct Shown {
    gauges: Gauges,
    writes: WritesLabels,
    ready: ReadyLabels,
}

impl Gauges {
    #[rustfmt::skip] // A table: names, what they mean, where they are.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("dns_provider_write_counter", "Writes of a DNSRecord in a row without it having become as wanted", self.writes.clone());
        registry.register("dns_provider_record_ready", "Whether a DNSRecord is ready", self.ready.clone());
    }

    pub(super) fn show(&self, key: &DnsRecordKey, root_host: &str) -> Shown {
        Shown {
            gauges: self.clone(),
            writes: WritesLabels {
                dns_record_name: key.name.clone(),
                dns_record_namespace: key.namespace.clone(),
            },
            ready: ReadyLabels {
                dns_record_name: key.name.clone(),
                dns_record_namespace: key.namespace.clone(),
                dns_record_root_host: root_host.to_owned(),
                // A record that another cluster is to publish is refused: none is.
                dns_record_is_delegating: false,
            },
        }
    }
}

impl Shown {
    /// The host whose numbers these are.
    pub(crate) fn root_host(&self) -> &str {
        &self.ready.dns_record_root_host
    }

    /// How often it was written in a row, and whether it is ready.
    pub(crate) fn set(&self, writes: i64, ready: bool) {
        let gauges = &self.gauges;
        gauges.writes.get_or_create(&self.writes).set(writes);
        gauges
            .ready
            .get_or_create(&self.ready)
            .set(i64::from(ready));
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.gauges.writes.remove(&self.writes);
        self.gauges.ready.remove(&self.ready);
    }
}
