//! What operators measure.
//!
//! Each number is kept by whoever knows it, through one method here, and read by Prometheus from the registry. Names
//! begin with `zonewright_`, but for those that a peer's dashboards know; a kind is written as in the API. The border: only what the shell knows. Providers and the
//! name server register their own.

mod calls;
mod dns_records;
mod policies;
mod probes;
mod writes;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use api::Condition;
use kube::Client;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use provider::Provider;
use reconcile::{DnsRecordKey, ProbeKey};

use crate::feed::Event;
use crate::queue::Outcome;

pub(crate) use dns_records::Shown;
pub(crate) use probes::ShownProbe;

/// From a pass that only looks to one that waits for a slow API.
const PASS_BUCKETS: [f64; 12] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

/// From what is promised (tens of milliseconds) to what somebody is woken up for (minutes).
const ANSWERED_BUCKETS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0,
];

/// What the shell counts and measures. Clones count into the same numbers.
#[derive(Clone, Debug)]
pub struct Metrics {
    passes: Family<PassLabels, Counter>,
    pass_seconds: Family<KindLabels, Histogram>,
    watch_events: Family<WatchLabels, Counter>,
    api_writes: Family<WriteLabels, Counter>,
    answered_seconds: Family<KindLabels, Histogram>,
    queue_waiting: Gauge,
    queue_working: Gauge,
    queue_oldest_due_seconds: Gauge<f64, AtomicU64>,
    leader: Gauge,
    events_dropped: Counter,
    left_behind: Counter,
    dns_records: dns_records::Gauges,
    provider_calls: calls::Calls,
    probes: probes::Probes,
    policies: policies::Policies,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct KindLabels {
    kind: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct PassLabels {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct WatchLabels {
    kind: &'static str,
    event: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct WriteLabels {
    resource: String,
    verb: &'static str,
    result: &'static str,
}

impl Metrics {
    /// Numbers that `registry` shows.
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            passes: Family::default(),
            pass_seconds: Family::new_with_constructor(|| Histogram::new(PASS_BUCKETS)),
            watch_events: Family::default(),
            api_writes: Family::default(),
            answered_seconds: Family::new_with_constructor(|| Histogram::new(ANSWERED_BUCKETS)),
            queue_waiting: Gauge::default(),
            queue_working: Gauge::default(),
            queue_oldest_due_seconds: Gauge::default(),
            leader: Gauge::default(),
            events_dropped: Counter::default(),
            left_behind: Counter::default(),
            dns_records: dns_records::Gauges::default(),
            provider_calls: Family::default(),
            probes: probes::Probes::default(),
            policies: policies::Policies::default(),
        };
        metrics.register(registry);
        metrics
    }

    #[rustfmt::skip] // A table: names, what they mean, where they are.
    fn register(&self, registry: &mut Registry) {
        let all = registry.sub_registry_with_prefix("zonewright");
        all.register("passes", "Passes over objects", self.passes.clone());
        all.register("pass_seconds", "Time that passes take", self.pass_seconds.clone());
        all.register("watch_events", "What watches have told", self.watch_events.clone());
        all.register("api_writes", "Writes to the Kubernetes API", self.api_writes.clone());
        all.register("answered_seconds", "Time from a change of an object until a name server answers with it", self.answered_seconds.clone());
        all.register("queue_waiting", "Objects whose pass is due now or later", self.queue_waiting.clone());
        all.register("queue_working", "Objects whose pass is under way", self.queue_working.clone());
        all.register("queue_oldest_due_seconds", "For how long the oldest due pass has been due", self.queue_oldest_due_seconds.clone());
        all.register("leader", "Whether this process leads", self.leader.clone());
        all.register("events_dropped", "Kubernetes Events that were not written", self.events_dropped.clone());
        all.register("dns_records_left_behind", "DNSRecords that went with their namespace and left behind what they published", self.left_behind.clone());
        all.register("provider_calls", "Calls of providers, whatever they took", self.provider_calls.clone());
        self.policies.register(registry);
        self.dns_records.register(registry);
        self.probes.register(registry);
    }

    /// A pass over an object has ended.
    pub fn pass(&self, kind: &'static str, outcome: Outcome, took: Duration) {
        let outcome = match outcome {
            Outcome::Done => "done",
            Outcome::Again(_) => "again",
            Outcome::Failed => "failed",
        };
        self.passes
            .get_or_create(&PassLabels { kind, outcome })
            .inc();
        let seconds = self.pass_seconds.get_or_create(&KindLabels { kind });
        seconds.observe(took.as_secs_f64());
    }

    /// A watch has told something.
    pub fn watched(&self, kind: &'static str, event: &Event) {
        let event = match event {
            Event::Restarted => "restarted",
            Event::Applied(_) => "applied",
            Event::Deleted(_) => "deleted",
            Event::Synced => "synced",
            Event::Absent => "absent",
            Event::Stalled(_) => "stalled",
            Event::Failed(_) => "failed",
        };
        self.watch_events
            .get_or_create(&WatchLabels { kind, event })
            .inc();
    }

    /// A client like `client` whose writes are counted.
    pub(crate) fn counting(&self, client: &Client) -> Client {
        writes::counting(client, &self.api_writes)
    }

    /// A change of an object is answered by a name server, this long after it was made.
    pub fn answered(&self, kind: &'static str, after: Duration) {
        let seconds = self.answered_seconds.get_or_create(&KindLabels { kind });
        seconds.observe(after.as_secs_f64());
    }

    /// How the queue stands.
    pub fn queue(&self, waiting: usize, working: usize, oldest: Option<Duration>) {
        self.queue_waiting.set(count(waiting));
        self.queue_working.set(count(working));
        let oldest = oldest.unwrap_or_default();
        self.queue_oldest_due_seconds.set(oldest.as_secs_f64());
    }

    /// Whether this process leads.
    pub fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// A provider like `provider` whose calls are counted (O6).
    pub(crate) fn counting_calls(&self, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(calls::Counted {
            provider,
            calls: self.provider_calls.clone(),
        })
    }

    /// Begins to show the numbers of a DNSRecord (C9).
    pub(crate) fn show_dns_record(&self, key: &DnsRecordKey, root_host: &str) -> Shown {
        self.dns_records.show(key, root_host)
    }

    /// Begins to show a DNSHealthCheckProbe (C9).
    pub(crate) fn show_probe(&self, key: &ProbeKey, host: &str) -> ShownProbe {
        self.probes.show(key, host)
    }

    /// What a DNSPolicy said about itself, and what it says now; nothing before it was seen, and after it has gone.
    pub fn policy_stands(
        &self,
        policy: (&str, &str),
        before: Option<&[Condition]>,
        now: Option<&[Condition]>,
    ) {
        self.policies.stands(policy, before, now);
    }

    /// A DNSRecord has gone with its namespace, and what it published stays (P6).
    pub(crate) fn left_behind(&self) {
        self.left_behind.inc();
    }

    /// A Kubernetes Event will not be written.
    pub fn event_dropped(&self) {
        self.events_dropped.inc();
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    /// After `count` the registry shows the lines, among others.
    fn check(count: impl FnOnce(&Metrics), lines: &[&str]) {
        let mut registry = Registry::default();
        count(&Metrics::new(&mut registry));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in lines {
            assert!(
                text.lines().any(|shown| shown == *line),
                "no {line} in {text}"
            );
        }
    }

    #[test]
    fn passes_are_counted_by_kind_and_outcome() {
        check(
            |metrics| {
                let took = Duration::from_millis(2);
                metrics.pass("Zone", Outcome::Done, took);
                metrics.pass("Zone", Outcome::Done, took);
                metrics.pass("Record", Outcome::Failed, took);
            },
            &[
                "zonewright_passes_total{kind=\"Zone\",outcome=\"done\"} 2",
                "zonewright_passes_total{kind=\"Record\",outcome=\"failed\"} 1",
                "zonewright_pass_seconds_count{kind=\"Zone\"} 2",
                "zonewright_pass_seconds_bucket{le=\"0.001\",kind=\"Zone\"} 0",
                "zonewright_pass_seconds_bucket{le=\"0.0025\",kind=\"Zone\"} 2",
            ],
        );
    }

    #[test]
    fn events_of_watches_are_counted_by_kind() {
        check(
            |metrics| {
                metrics.watched("Zone", &Event::Synced);
                metrics.watched("Zone", &Event::Failed("no".to_owned()));
            },
            &[
                "zonewright_watch_events_total{kind=\"Zone\",event=\"synced\"} 1",
                "zonewright_watch_events_total{kind=\"Zone\",event=\"failed\"} 1",
            ],
        );
    }

    /// O6.
    #[test]
    fn the_time_from_change_to_answer_is_measured() {
        check(
            |metrics| metrics.answered("Record", Duration::from_millis(30)),
            &[
                "zonewright_answered_seconds_bucket{le=\"0.025\",kind=\"Record\"} 0",
                "zonewright_answered_seconds_bucket{le=\"0.05\",kind=\"Record\"} 1",
            ],
        );
    }

    /// C9.
    #[test]
    fn a_dns_record_is_shown_until_it_is_gone() {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        let shown = metrics.show_dns_record(&DnsRecordKey::new("web", "app"), "app.example.org");
        shown.set(3, true);
        let text = || {
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        let lines = [
            "dns_provider_write_counter{dns_record_name=\"app\",dns_record_namespace=\"web\"} 3",
            "dns_provider_record_ready{dns_record_name=\"app\",dns_record_namespace=\"web\",\
             dns_record_root_host=\"app.example.org\",dns_record_is_delegating=\"false\"} 1",
        ];
        for line in lines {
            assert!(text().lines().any(|shown| shown == line), "no {line}");
        }
        drop(shown);
        assert!(!text().contains("dns_record_name"), "{}", text());
    }

    /// O6.
    #[tokio::test]
    async fn calls_of_providers_are_counted() {
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        let provider = metrics.counting_calls(Arc::new(provider::InMemory::default()));
        let nowhere = provider::ZoneId("nowhere".to_owned());
        assert!(provider.read(&nowhere).await.is_err());
        assert!(provider.zones().await.is_ok());
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "zonewright_provider_calls_total{call=\"read\",result=\"missing\"} 1",
            "zonewright_provider_calls_total{call=\"zones\",result=\"ok\"} 1",
        ] {
            assert!(
                text.lines().any(|shown| shown == line),
                "no {line} in {text}"
            );
        }
    }

    #[test]
    fn the_queue_the_leader_and_lost_events_are_shown() {
        check(
            |metrics| {
                metrics.queue(9, 2, Some(Duration::from_millis(1_500)));
                metrics.leads(true);
                metrics.event_dropped();
            },
            &[
                "zonewright_queue_waiting 9",
                "zonewright_queue_working 2",
                "zonewright_queue_oldest_due_seconds 1.5",
                "zonewright_leader 1",
                "zonewright_events_dropped_total 1",
            ],
        );
    }
}
