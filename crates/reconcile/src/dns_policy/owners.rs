//! Whom a record belongs to: the policy that it was made from, and the heir, who gets it when that one goes.
//!
//! A policy has no finalizer. Once it is gone, Kubernetes' collector removes whatever belongs to nobody else, and that
//! would be before the next policy could make the same again. So the heir is an owner beforehand, though not the
//! controller: the collector only takes away the reference to the one that is gone, the record stands, and the heir makes
//! itself its controller. When nobody is left the record goes.

use api::well_known::group;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource as _;
use kube::core::ObjectMeta;

use super::{DnsPolicyView, Heir};

/// The policy that a record was made from, or that has inherited it. Somebody else's controller makes it somebody else's;
/// one that nobody controls is known to be ours by its mark.
pub(super) fn maker(meta: &ObjectMeta, marked: bool) -> Option<&OwnerReference> {
    let owners = || meta.owner_references.iter().flatten();
    let controlled = owners().any(is_controller);
    let mut policies = owners().filter(|owner| is_policy(owner));
    policies.find(|owner| is_controller(owner) || (marked && !controlled))
}

/// Whom a record should belong to. Whoever owns it and is no policy is none of our business, and stays.
pub(super) fn of(view: &DnsPolicyView, stands: &[OwnerReference]) -> Vec<OwnerReference> {
    let heir = view.heir.as_ref().map(heir);
    let wanted: Vec<OwnerReference> = [controller(view)].into_iter().chain(heir).collect();
    let is_wanted = |it: &&OwnerReference| wanted.iter().any(|wanted| is_same(wanted, it));
    let kept = stands
        .iter()
        .filter(|it| !is_policy(it) || is_wanted(it))
        .cloned();
    let mut owners: Vec<OwnerReference> = kept.collect();
    for reference in wanted {
        if !owners.iter().any(|it| is_same(it, &reference)) {
            owners.push(reference);
        }
    }
    owners
}

/// Those that get a record when the policy that it was made from goes.
pub(super) fn heirs<'a>(
    owners: &'a [OwnerReference],
    maker: &'a str,
) -> impl Iterator<Item = &'a OwnerReference> {
    let policies = owners.iter().filter(|owner| is_policy(owner));
    policies.filter(move |owner| owner.uid != maker)
}

fn controller(view: &DnsPolicyView) -> OwnerReference {
    OwnerReference {
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..reference(&view.key.name, &view.uid)
    }
}

/// Whoever inherits may go at any time: nothing waits for it.
fn heir(heir: &Heir) -> OwnerReference {
    reference(&heir.policy.name, &heir.uid)
}

fn reference(name: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: api::DnsPolicy::api_version(&()).into_owned(),
        kind: api::DnsPolicy::kind(&()).into_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        controller: None,
        block_owner_deletion: None,
    }
}

fn is_same(one: &OwnerReference, other: &OwnerReference) -> bool {
    one.uid == other.uid && is_controller(one) == is_controller(other)
}

fn is_controller(owner: &OwnerReference) -> bool {
    owner.controller == Some(true)
}

fn is_policy(owner: &OwnerReference) -> bool {
    let group_of = owner.api_version.split_once('/').map(|(group, _)| group);
    owner.kind == "DNSPolicy" && group_of == Some(group::KUADRANT_IO)
}
