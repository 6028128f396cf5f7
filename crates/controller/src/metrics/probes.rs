//! The DNSHealthCheckProbes that are run, under the name and labels that the peer's dashboards know (C9).

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use reconcile::ProbeKey;

/// One for each probe.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes(Family<Labels, Gauge>);

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
#[allow(
    clippy::struct_field_names,
    reason = "fields are labels, and these are the peer's"
)]
struct Labels {
    dns_health_check_name: String,
    dns_health_check_namespace: String,
    dns_health_check_host: String,
}

/// A probe that is shown for as long as this lives.
#[derive(Debug)]
pub(crate) struct ShownProbe {
    probes: Probes,
    labels: Labels,
}

impl Probes {
    pub(super) fn register(&self, registry: &mut Registry) {
        let meaning = "DNSHealthCheckProbes that are run";
        registry.register("dns_health_probe_counter", meaning, self.0.clone());
    }

    pub(super) fn show(&self, key: &ProbeKey, host: &str) -> ShownProbe {
        let labels = Labels {
            dns_health_check_name: key.name.clone(),
            dns_health_check_namespace: key.namespace.clone(),
            dns_health_check_host: host.to_owned(),
        };
        self.0.get_or_create(&labels).set(1);
        ShownProbe {
            probes: self.clone(),
            labels,
        }
    }
}

impl ShownProbe {
    /// The host that is asked for.
    pub(crate) fn host(&self) -> &str {
        &self.labels.dns_health_check_host
    }
}

impl Drop for ShownProbe {
    fn drop(&mut self) {
        self.probes.0.remove(&self.labels);
    }
}
