//! How DNSPolicies stand, in the peer's words: its dashboards and alerts read them.

use api::{Condition, ConditionType, Status, condition};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

const KIND: &str = "DNSPolicy";
const STATES: [Status; 3] = [Status::True, Status::False, Status::Unknown];

/// What is shown about policies.
#[derive(Clone, Debug, Default)]
pub(super) struct Policies {
    ready: Family<ReadyLabels, Gauge>,
    total: Family<TotalLabels, Gauge>,
    enforced: Family<EnforcedLabels, Gauge>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
#[allow(
    clippy::struct_field_names,
    reason = "fields are labels, and these are the peer's"
)]
struct ReadyLabels {
    dns_policy_name: String,
    dns_policy_namespace: String,
    dns_policy_condition: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct TotalLabels {
    kind: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct EnforcedLabels {
    kind: &'static str,
    status: &'static str,
}

impl Policies {
    #[rustfmt::skip] // A table: names, what they mean, where they are.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("kuadrant_dns_policy_ready", "Whether a DNSPolicy is ready: 1 for the state that it is in", self.ready.clone());
        registry.register("kuadrant_policies_total", "Policies that there are", self.total.clone());
        registry.register("kuadrant_policies_enforced", "Policies by whether they are enforced", self.enforced.clone());
    }

    /// What a policy said about itself, and what it says now; nothing before it was seen, and after it has gone.
    pub(super) fn stands(
        &self,
        (namespace, name): (&str, &str),
        before: Option<&[Condition]>,
        now: Option<&[Condition]>,
    ) {
        let total = self.total.get_or_create(&TotalLabels { kind: KIND });
        total.inc_by(i64::from(now.is_some()) - i64::from(before.is_some()));
        for (conditions, step) in [(before, -1), (now, 1)] {
            if let Some(conditions) = conditions {
                let status = state(conditions, ConditionType::Enforced);
                let status = if status == Status::True {
                    "true"
                } else {
                    "false"
                };
                let labels = EnforcedLabels { kind: KIND, status };
                self.enforced.get_or_create(&labels).inc_by(step);
            }
        }
        for possible in STATES {
            let labels = ReadyLabels {
                dns_policy_name: name.to_owned(),
                dns_policy_namespace: namespace.to_owned(),
                dns_policy_condition: word(possible),
            };
            match now {
                Some(conditions) => {
                    let is = state(conditions, ConditionType::Ready) == possible;
                    self.ready.get_or_create(&labels).set(i64::from(is));
                }
                None => {
                    self.ready.remove(&labels);
                }
            }
        }
    }
}

fn state(conditions: &[Condition], type_: ConditionType) -> Status {
    let said = condition::find(conditions, type_).map(|it| it.status.as_str());
    let mut states = STATES.into_iter();
    let known = states.find(|state| said == Some(state.as_str()));
    known.unwrap_or(Status::Unknown)
}

fn word(state: Status) -> &'static str {
    match state {
        Status::True => "true",
        Status::False => "false",
        Status::Unknown => "unknown",
    }
}
