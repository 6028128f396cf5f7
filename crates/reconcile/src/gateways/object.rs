//! Objects as they are kept: parsed once, when they arrive.

use std::collections::BTreeMap;

use api::Decoded;
use api::dns_policy::{DnsPolicySpec, DnsPolicyStatus};
use api::foreign::Gateway;
use api::health_check::HealthCheckSpec;
use api::parse::dns_policy::{self, DnsPolicy};
use api::parse::fqdn;
use api::parse::target::Target;
use api::well_known::gateway_condition;
use dns::Name;
use kube::Resource as _;
use serde_json::Value;

use crate::dns_policy::TargetRef;
use crate::world::Faults;
use crate::{Age, GatewayKey};

/// A DNSPolicy.
#[derive(Clone, Debug)]
pub(super) struct PolicyNode {
    pub(super) age: Age,
    pub(super) generation: Option<i64>,
    pub(super) resource_version: Option<String>,
    pub(super) deleting: bool,
    pub(super) claim: Result<DnsPolicy, Faults>,
    /// What it is for, also where something else is wrong with it.
    pub(super) target: Option<TargetRef>,
    pub(super) providers: Vec<String>,
    pub(super) health_check: Option<HealthCheckSpec>,
    pub(super) status: DnsPolicyStatus,
}

impl PolicyNode {
    pub(super) fn read(object: Decoded<api::DnsPolicy>) -> PolicyNode {
        let meta = object.meta().clone();
        let mut node = PolicyNode {
            age: Age::of(&meta),
            generation: meta.generation,
            deleting: meta.deletion_timestamp.is_some(),
            resource_version: meta.resource_version,
            claim: Err(Faults::default()),
            target: None,
            providers: Vec::new(),
            health_check: None,
            status: DnsPolicyStatus::default(),
        };
        match object.into_result() {
            Ok(object) => {
                let namespace = meta.namespace.unwrap_or_default();
                node.claim = dns_policy::parse(&object).map_err(Faults::of_spec);
                node.target = target(&namespace, &object.spec);
                let providers = object.spec.provider_refs.into_iter();
                node.providers = providers.map(|it| it.name).collect();
                node.health_check = object.spec.health_check;
                node.status = object.status.unwrap_or_default();
            }
            Err(undecodable) => node.claim = Err(Faults::of_shape(undecodable.problems)),
        }
        node
    }

    /// Whether a later state is to be looked at. What we write ourselves is known before it is watched, so a difference
    /// here is somebody else's doing.
    pub(super) fn asks_for_more(&self, later: &PolicyNode) -> bool {
        let essence = |node: &PolicyNode| (node.age.clone(), node.generation, node.deleting);
        essence(self) != essence(later) || self.status != later.status
    }

    /// Whether others on the same Gateway are judged otherwise because of it.
    pub(super) fn concerns_others(&self, later: &PolicyNode) -> bool {
        let essence = |node: &PolicyNode| {
            let age = node.age.clone();
            (age, node.deleting, node.target.clone(), node.claim.is_ok())
        };
        essence(self) != essence(later)
    }
}

/// What a policy is for, if that is a Gateway at all.
fn target(namespace: &str, spec: &DnsPolicySpec) -> Option<TargetRef> {
    let target = &spec.target_ref;
    let gateway = target.group == "gateway.networking.k8s.io" && target.kind == "Gateway";
    gateway.then(|| TargetRef {
        gateway: GatewayKey::new(namespace, &target.name),
        listener: target.section_name.clone(),
    })
}

/// A Gateway.
#[derive(Clone, Debug)]
pub(super) struct GatewayNode {
    pub(super) generation: Option<i64>,
    pub(super) resource_version: Option<String>,
    /// Where it is reached.
    pub(super) addresses: Vec<Target>,
    /// Addresses that are neither one nor a host, as they are written.
    pub(super) odd: Vec<String>,
    pub(super) listeners: BTreeMap<String, ListenerNode>,
    /// What everybody says about it.
    pub(super) conditions: Vec<Value>,
}

/// A listener.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ListenerNode {
    /// Its host, if it has one; or why that cannot be published.
    pub(super) host: Result<Option<Name>, String>,
    /// Whether a route is attached.
    pub(super) attached: bool,
}

impl GatewayNode {
    pub(super) fn read(gateway: &Gateway) -> GatewayNode {
        let mut node = GatewayNode {
            generation: gateway.metadata.generation,
            resource_version: gateway.metadata.resource_version.clone(),
            addresses: Vec::new(),
            odd: Vec::new(),
            listeners: BTreeMap::new(),
            conditions: conditions(gateway),
        };
        for address in gateway.addresses() {
            // What it is called does not matter: an address is one, and everything else is a host.
            match Target::parse(&address.value) {
                Ok(target) => node.addresses.push(target),
                Err(_) => node.odd.push(address.value.clone()),
            }
        }
        for listener in gateway.listeners() {
            let host = listener.hostname.as_deref().filter(|it| !it.is_empty());
            let host = host.map(fqdn::parse).transpose();
            let read = ListenerNode {
                host: host.map_err(|rule| rule.to_string()),
                attached: gateway.attached_routes(&listener.name) > 0,
            };
            node.listeners.insert(listener.name.clone(), read);
        }
        node.addresses.sort();
        node
    }

    /// Where it can be reached, as far as that matters.
    pub(super) fn reach(&self) -> (&[Target], &[String]) {
        (&self.addresses, &self.odd)
    }

    /// What is to be said about it by us, and what is said.
    pub(super) fn affected(&self) -> (Option<i64>, Option<&Value>) {
        let ours = |it: &&Value| it["type"] == gateway_condition::DNS_POLICY_AFFECTED;
        (self.generation, self.conditions.iter().find(ours))
    }
}

fn conditions(gateway: &Gateway) -> Vec<Value> {
    let status = gateway.status.as_ref();
    let conditions = status.and_then(|status| status.other.get("conditions"));
    conditions
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}
