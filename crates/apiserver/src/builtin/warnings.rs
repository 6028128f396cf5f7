//! What is taken, but not as its sender may think.

use crate::builtin::fields::Fields as _;
use crate::builtin::validate::CLASS_ANNOTATION;
use crate::object::Object;

/// What is told of an Ingress when it is made.
pub(super) fn ingress(object: &Object) -> Vec<String> {
    let told = "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead";
    let class = object.annotation(CLASS_ANNOTATION);
    class.map(|_| told.to_owned()).into_iter().collect()
}

/// What is told of a Service whenever it is written.
pub(super) fn service(object: &Object) -> Vec<String> {
    let kind = object.text("spec.type");
    let headless = kind == "ClusterIP" && object.text("spec.clusterIP") == "None";
    let external = kind == "ExternalName";
    let addresses = !object.list("spec.externalIPs").is_empty();
    let affine = !matches!(object.text("spec.sessionAffinity"), "" | "None");
    let near = object.text("spec.trafficDistribution") == "PreferClose";
    let told = [
        (
            headless && !object.text("spec.loadBalancerIP").is_empty(),
            "spec.loadBalancerIP is ignored for headless services",
        ),
        (
            headless && addresses,
            "spec.externalIPs is ignored for headless services",
        ),
        (
            headless && affine,
            "spec.SessionAffinity is ignored for headless services",
        ),
        (
            addresses && !headless && !external,
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ),
        (
            external && addresses,
            "spec.externalIPs is ignored when spec.type is \"ExternalName\"",
        ),
        (
            !external && !object.text("spec.externalName").is_empty(),
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ),
        (
            near,
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
        ),
    ];
    let told = told.into_iter().filter(|(holds, _)| *holds);
    told.map(|(_, text)| text.to_owned()).collect()
}
