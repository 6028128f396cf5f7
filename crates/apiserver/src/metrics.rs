//! What this API tells Prometheus: how many objects there are, who watches, what was asked and what came of it.
//!
//! Names and labels are those of kube-apiserver 1.36 where they mean the same, so that its dashboards read them. What is
//! there is counted when somebody asks; only requests are counted as they come.

use std::fmt;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;

use crate::key::Kind;
use crate::request::{Target, Verb};

/// The form of [`text`].
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The requests for objects that have been answered; a watch has been when it begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(Family<RequestLabels, Total>);

/// A request for objects of a kind that is served, as it is counted.
///
/// Nothing in it is the client's own word, so there are only as many as kinds, versions and verbs.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(crate) struct RequestKind {
    verb: &'static str,
    group: String,
    version: String,
    resource: String,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct RequestLabels {
    #[prometheus(flatten)]
    kind: RequestKind,
    code: u16,
}

/// A counter that is registered under its whole name.
///
/// The library writes `OpenMetrics`, where `# TYPE` names a counter without its `_total`. In the older format the two names
/// have to be the same.
#[derive(Clone, Debug, Default)]
struct Total(Counter);

type Gauges = Family<Vec<(&'static str, String)>, Gauge>;

impl Requests {
    pub(crate) fn count(&self, kind: RequestKind, code: u16) {
        let labels = RequestLabels { kind, code };
        self.0.get_or_create(&labels).0.inc();
    }
}

impl RequestKind {
    /// What is asked of a target whose kind is served.
    pub(crate) fn of(target: &Target, verb: Verb, applies: bool) -> Self {
        let verb = match verb {
            Verb::Get => "GET",
            Verb::List => "LIST",
            Verb::Watch => "WATCH",
            Verb::Create => "POST",
            Verb::Update => "PUT",
            Verb::Patch if applies => "APPLY",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
            Verb::DeleteCollection => "DELETECOLLECTION",
        };
        Self {
            verb,
            group: target.group.clone(),
            version: target.version.clone(),
            resource: target.plural.clone(),
        }
    }
}

impl EncodeMetric for Total {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_gauge(&self.0.get())
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl TypedMetric for Total {
    const TYPE: MetricType = MetricType::Counter;
}

/// Everything: how many objects are stored, how many watches are open, and the requests.
pub(crate) fn text(
    stored: &[(Kind, usize)],
    watched: &[(Kind, usize)],
    requests: &Requests,
) -> Result<String, fmt::Error> {
    let group = |kind: &Kind| ("group", kind.group.to_string());
    let resource = |kind: &Kind| ("resource", kind.plural.to_string());
    let objects = gauges(stored, |kind| vec![group(kind), resource(kind)]);
    let storage = gauges(stored, |kind| vec![("resource", kind.to_string())]);
    let watches = gauges(watched, |kind| {
        vec![("verb", "WATCH".to_owned()), group(kind), resource(kind)]
    });
    let requests = requests.0.clone();
    let mut registry = Registry::default();
    registry.register(
        "apiserver_resource_objects",
        "Stored objects by kind",
        objects,
    );
    registry.register(
        "apiserver_storage_objects",
        "Stored objects by kind, under the name from before Kubernetes 1.34",
        storage,
    );
    registry.register(
        "apiserver_longrunning_requests",
        "Open watches by kind",
        watches,
    );
    registry.register(
        "apiserver_request_total",
        "Requests for objects by verb, kind and code of the answer",
        requests,
    );
    let mut text = String::new();
    prometheus_client::encoding::text::encode_registry(&mut text, &registry)?;
    Ok(text)
}

fn gauges(
    counts: &[(Kind, usize)],
    labels: impl Fn(&Kind) -> Vec<(&'static str, String)>,
) -> Gauges {
    let gauges = Gauges::default();
    for (kind, count) in counts {
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        gauges.get_or_create(&labels(kind)).set(count);
    }
    gauges
}
