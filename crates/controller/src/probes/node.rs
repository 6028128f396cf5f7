//! A DNSHealthCheckProbe as it is kept: parsed once, when it arrives.

use std::time::Duration;

use api::dns_health_check_probe::DnsHealthCheckProbeStatus;
use api::parse::dns_health_check_probe as parsed;
use api::well_known::finalizer;
use api::{Decoded, DnsHealthCheckProbe, Problem};
use kube::Resource as _;

use crate::feed::is_newer;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) uid: Option<String>,
    pub(super) generation: Option<i64>,
    pub(super) resource_version: Option<String>,
    pub(super) deleting: bool,
    pub(super) finalizers: Vec<String>,
    /// What it asks for, or what is wrong with it.
    pub(super) probe: Result<parsed::DnsHealthCheckProbe, Vec<Problem>>,
    pub(super) status: DnsHealthCheckProbeStatus,
    /// The host as the spec has it, good or not.
    hostname: String,
}

impl Node {
    pub(super) fn read(object: Decoded<DnsHealthCheckProbe>) -> Node {
        let meta = object.meta().clone();
        let (probe, status, hostname) = match object.into_result() {
            Ok(object) => {
                let probe = parsed::parse(&object);
                let hostname = object.spec.hostname.unwrap_or_default();
                (probe, object.status.unwrap_or_default(), hostname)
            }
            Err(undecodable) => {
                let status = DnsHealthCheckProbeStatus::default();
                (Err(undecodable.problems), status, String::new())
            }
        };
        Node {
            uid: meta.uid,
            generation: meta.generation,
            resource_version: meta.resource_version,
            deleting: meta.deletion_timestamp.is_some(),
            finalizers: meta.finalizers.unwrap_or_default(),
            probe,
            status,
            hostname,
        }
    }

    pub(super) fn host(&self) -> &str {
        &self.hostname
    }

    /// Whether this is a later state than one that is known.
    pub(super) fn is_newer_than(&self, known: &Node) -> bool {
        let versions = (
            known.resource_version.as_deref(),
            self.resource_version.as_deref(),
        );
        known.uid != self.uid || is_newer(versions.0, versions.1)
    }

    /// Whether a later state goes on with what this one has begun.
    pub(super) fn asks_as(&self, later: &Node) -> bool {
        let essence = |node: &Node| (node.uid.clone(), node.generation, node.deleting);
        essence(self) == essence(later)
    }

    /// The time from one round to the next; nothing if there is none.
    pub(super) fn interval(&self) -> Option<Duration> {
        let probe = self.probe.as_ref().ok().filter(|_| !self.deleting)?;
        Some(probe.check.interval)
    }

    /// The finalizers that stay: the peer leaves one of its own, and it is no more around to take it away.
    pub(super) fn others_finalizers(&self) -> Option<Vec<String>> {
        let own = finalizer::DNS_HEALTH_CHECK_PROBE;
        let others = self.finalizers.iter().filter(|it| *it != own).cloned();
        let others: Vec<String> = others.collect();
        (others.len() < self.finalizers.len()).then_some(others)
    }
}
