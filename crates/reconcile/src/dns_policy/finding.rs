//! What is found about a DNSPolicy, in the words of its conditions: the peer's, where it has any.

use api::Reason;
use api::parse::provider_secret::Domain;

use super::{DnsPolicyView, Refusal, Sights, TargetRef};
use crate::finding::{self, Why};

/// Listeners, hosts or records, as a sentence names them. More than these nobody reads.
const LISTED_MAX: usize = 10;

pub(super) fn accepted() -> Why {
    (Reason::Accepted, "DNSPolicy has been accepted".to_owned())
}

/// Why a policy is not accepted, and what to do about it.
pub(super) fn refused(view: &DnsPolicyView, refusal: &Refusal) -> Why {
    let target = view.target.as_ref();
    match refusal {
        Refusal::Faulty(faults) => {
            let (reason, problems) = finding::faulty(faults);
            let message = format!(
                "DNSPolicy has encountered some issues: {problems}; what it has published stays as it is until that is corrected"
            );
            (reason, message)
        }
        Refusal::NotInstalled => (
            Reason::MissingDependency,
            "[Gateway API] is not installed: the cluster has no kind Gateway in gateway.networking.k8s.io/v1; install it, and this goes on by itself".to_owned(),
        ),
        Refusal::NoGateway => {
            let gateway = target.map_or_else(String::new, |it| it.gateway.to_string());
            let message = format!(
                "DNSPolicy target {} was not found: spec.targetRef.name: there is no Gateway {gateway}; create it or correct the reference, and this goes on by itself; what was published for it stays for a while",
                named(target)
            );
            (Reason::TargetNotFound, message)
        }
        Refusal::NoListener(listeners) => {
            let message = format!(
                "DNSPolicy target {} was not found: spec.targetRef.sectionName: the Gateway has no such listener, it has {}; add it or correct the reference, and this goes on by itself",
                named(target),
                listed(listeners)
            );
            (Reason::TargetNotFound, message)
        }
        Refusal::Conflicted(older) => {
            let message = format!(
                "DNSPolicy is conflicted by {older}: conflicting policy: it is older and has the same spec.targetRef; delete one of the two, or give one a sectionName"
            );
            (Reason::Conflicted, message)
        }
        Refusal::Delegated => finding::delegated(),
    }
}

fn named(target: Option<&TargetRef>) -> String {
    let Some(target) = target else {
        return String::new();
    };
    match &target.listener {
        Some(listener) => format!("{}/{listener}", target.gateway.name),
        None => target.gateway.name.clone(),
    }
}

/// No host of the Gateway is in the domain (D2).
pub(super) fn outside(domains: &[&Domain], secrets: &[String]) -> Why {
    let domains: Vec<String> = domains.iter().map(|it| bare(it)).collect();
    let message = format!(
        "spec.providerRefs: no listener has a host in the DOMAIN_NAME of Secret {}, {}; use another Secret, or give a listener a host there; what is published stays as it is",
        listed(secrets),
        listed(&domains)
    );
    (Reason::DomainNotInGateway, message)
}

fn bare(domain: &Domain) -> String {
    domain.to_string().trim_end_matches('.').to_owned()
}

/// There is nothing that could be enforced.
pub(super) fn nothing(sights: &Sights) -> String {
    let mut message = "DNSPolicy has been successfully enforced : no DNSRecords created based on policy and gateway configuration".to_owned();
    if sights.unreachable {
        message += " : no valid status addresses to use on gateway";
    } else if sights.hosts > 0 && sights.unattached.len() == sights.hosts {
        message += " : no routes attached to any gateway listeners";
    }
    message
}

pub(super) fn enforced() -> String {
    "DNSPolicy has been successfully enforced".to_owned()
}

pub(super) fn partially(unready: &[String]) -> String {
    let unready = unready.join(" ");
    // The space at the end is the peer's.
    format!("DNSPolicy has been partially enforced. Not ready DNSRecords are: {unready} ")
}

pub(super) fn not_at_all() -> String {
    "DNSPolicy has encountered some issues: policy is not enforced on any DNSRecord: not a single DNSRecord is ready".to_owned()
}

pub(super) fn unhealthy(records: &[String]) -> String {
    format!(
        "DNSPolicy has encountered some issues: not all sub-resources of policy are passing the policy defined health check. Not healthy DNSRecords are: {}",
        records.join(" ")
    )
}

/// What else is to be told: everything that is left out, and why.
pub(super) fn remarks(sights: &Sights, lapsing: &[String], refused: &[String]) -> Vec<String> {
    let mut remarks = Vec::new();
    let some_inside = sights.outside.len() < sights.hosts;
    if let Some((_, domain)) = sights.outside.first().filter(|_| some_inside) {
        let listeners: Vec<String> = sights.outside.iter().map(|it| it.0.clone()).collect();
        remarks.push(format!(
            "left out, for their hosts are outside of {}: listeners {}",
            bare(domain),
            listed(&listeners)
        ));
    }
    if !sights.unfit.is_empty() {
        let unfit = listed(&sights.unfit);
        remarks.push(format!(
            "left out, for their hosts cannot be published: listeners {unfit}"
        ));
    }
    if !sights.odd.is_empty() {
        let odd = listed(&sights.odd);
        remarks.push(format!("left out, for they are neither addresses nor hosts: status.addresses of the Gateway {odd}"));
    }
    if !sights.surplus.is_empty() {
        let hosts: Vec<String> = sights.surplus.iter().map(ToString::to_string).collect();
        remarks.push(format!(
            "left out, for a name has one CNAME at most and none beside addresses: {}; with spec.loadBalancing all can be published",
            listed(&hosts)
        ));
    }
    if !lapsing.is_empty() {
        remarks.push(format!(
            "kept for a while although routes, addresses or the Gateway are gone: DNSRecords {}",
            listed(lapsing)
        ));
    }
    remarks.extend(refused.iter().cloned());
    remarks
}

pub(super) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown = names.iter().take(LISTED_MAX).cloned();
    let shown: Vec<String> = shown.collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
