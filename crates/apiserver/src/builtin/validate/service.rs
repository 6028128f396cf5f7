//! Services.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use super::Problems;
use crate::builtin::fields::Fields as _;
use crate::metadata::{label_errors, text};
use crate::object::Object;
use crate::refusal::FieldPath;

const ONLY_LOAD_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";
const NOT_EXTERNAL_NAME: &str = "may not be set for ExternalName services";
/// The longest time a client may stay with one endpoint: a day.
const LONGEST_AFFINITY: i64 = 86_400;

pub(super) fn judge(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("spec");
    kind(object, &at, problems);
    ports(object, &at.field("ports"), problems);
    problems.extend(label_errors(
        object.at("spec.selector"),
        &at.field("selector"),
    ));
    affinity(object, problems);
    if object.text("spec.type") != "ExternalName" {
        addresses(object, &at, problems);
    }
    for (index, address) in object.texts("spec.externalIPs").into_iter().enumerate() {
        external_address(address, &at.field("externalIPs").index(index), problems);
    }
    load_balancer(object, &at, problems);
    traffic(object, &at, problems);
}

pub(super) fn change(new: &Object, old: &Object, problems: &mut Problems) {
    let is = |kind: &str| [new, old].map(|service| service.text("spec.type") == kind);
    if is("ExternalName") == [false, false] {
        address_change(new, old, problems);
    }
    let class = |service: &Object| service.at("spec.loadBalancerClass").cloned();
    if is("LoadBalancer") == [true, true] && class(new) != class(old) {
        let value = class(new).unwrap_or(Value::Null);
        let at = FieldPath::of("spec.loadBalancerClass");
        problems.invalid(&at, value, "may not change once set");
    }
}

/// Where a load balancer says it is: addresses are addresses and names are names.
pub(super) fn status_points(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("status.loadBalancer.ingress");
    for (index, point) in object.list(at.as_str()).iter().enumerate() {
        let (at, address, name) = (at.index(index), point.text("ip"), point.text("hostname"));
        if !address.is_empty() {
            problems.ip(&at.field("ip"), address);
        }
        if name.is_empty() {
            continue;
        }
        problems.all_invalid(&at.field("hostname"), name, text::subdomain(name));
        if name.parse::<IpAddr>().is_ok() {
            let detail = "must be a DNS name, not an IP address";
            problems.invalid(&at.field("hostname"), name, detail);
        }
    }
}

/// The status of a Service, which has a load balancer if it asks for one.
pub(super) fn status(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("status.loadBalancer.ingress");
    if object.text("spec.type") != "LoadBalancer" && !object.list(at.as_str()).is_empty() {
        problems.forbidden(&at, "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    status_points(object, problems);
}

fn is_headless(object: &Object) -> bool {
    object.texts("spec.clusterIPs") == ["None"]
}

fn kind(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let kind = object.text("spec.type");
    match kind {
        "LoadBalancer" | "NodePort" => {
            if is_headless(object) {
                let detail = format!("may not be set to 'None' for {kind} services");
                problems.invalid(&at.field("clusterIPs").index(0), "None", detail);
            }
        }
        "ExternalName" => external_name(object, at, problems),
        "ClusterIP" => {}
        other => {
            let kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
            problems.unsupported(&at.field("type"), other, &kinds);
        }
    }
    let ports = object.list("spec.ports");
    if ports.is_empty() && !is_headless(object) && kind != "ExternalName" {
        problems.required(&at.field("ports"), "");
    }
}

fn external_name(object: &Object, at: &FieldPath, problems: &mut Problems) {
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if object.has(&format!("spec.{field}")) {
            problems.forbidden(&at.field(field), NOT_EXTERNAL_NAME);
        }
    }
    let name = object.text("spec.externalName");
    match name.strip_suffix('.').unwrap_or(name) {
        "" => problems.required(&at.field("externalName"), ""),
        name => problems.all_invalid(&at.field("externalName"), name, text::subdomain(name)),
    }
}

fn ports(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let ports = object.list("spec.ports");
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    let mut node_numbers = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = port.text("name");
        if !name.is_empty() {
            problems.all_invalid(&at.field("name"), name, text::label(name));
            if !names.insert(name) {
                problems.duplicate(&at.field("name"), name);
            }
        } else if ports.len() > 1 {
            problems.required(&at.field("name"), "");
        }
        one_port(port, &at, problems);
        let (number, protocol) = (port.number("port"), port.text("protocol"));
        if !numbers.insert((protocol, number)) {
            problems.duplicate_struct(&at, port_shown(protocol, number));
        }
        let node = port.number("nodePort");
        if node != 0 && object.text("spec.type") == "ClusterIP" {
            let detail = "may not be used when `type` is 'ClusterIP'";
            problems.forbidden(&at.field("nodePort"), detail);
        }
        if node != 0 && !node_numbers.insert((protocol, node)) {
            problems.duplicate(&at.field("nodePort"), node);
        }
    }
}

fn one_port(port: &Value, at: &FieldPath, problems: &mut Problems) {
    problems.port(&at.field("port"), &port.number("port").into());
    let protocols = ["SCTP", "TCP", "UDP"];
    problems.one_of(&at.field("protocol"), port.at("protocol"), &protocols);
    if let Some(target) = port.at("targetPort") {
        problems.port(&at.field("targetPort"), target);
    }
    if let Some(protocol) = port.at("appProtocol").and_then(Value::as_str) {
        let wrong = text::qualified_name(protocol);
        problems.all_invalid(&at.field("appProtocol"), protocol, wrong);
    }
}

/// A port of which only protocol and number are told, as the API's own type shows it.
fn port_shown(protocol: &str, number: i64) -> String {
    format!(
        r#"{{"Name":"","Protocol":"{protocol}","AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0}}"#
    )
}

fn affinity(object: &Object, problems: &mut Problems) {
    problems.listed(object, "spec.sessionAffinity", &["ClientIP", "None"]);
    let path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
    let seconds = object.at(path).and_then(Value::as_i64);
    if object.text("spec.sessionAffinity") == "ClientIP"
        && let Some(seconds) = seconds.filter(|seconds| !(1..=LONGEST_AFFINITY).contains(seconds))
    {
        let detail = format!("must be greater than 0 and less than {LONGEST_AFFINITY}");
        problems.invalid(&FieldPath::of(path), seconds, detail);
    }
}

fn addresses(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let (first, all) = (
        object.text("spec.clusterIP"),
        object.texts("spec.clusterIPs"),
    );
    let at_all = at.field("clusterIPs");
    match (first, all.first()) {
        ("", Some(_)) => {
            let detail = "must be empty when `clusterIP` is not specified";
            problems.invalid(&at_all, all.clone(), detail);
        }
        (first, Some(other)) if first != *other => {
            problems.invalid(&at_all, all.clone(), "first value must match `clusterIP`");
        }
        (_, _) => {}
    }
    families(object, at, problems);
    if all.len() > 1 && all.first() == Some(&"None") {
        let detail = "'None' must be the first and only value";
        problems.invalid(&at_all, all.clone(), detail);
        return;
    }
    for (index, address) in all.iter().enumerate() {
        if *address != "None" {
            problems.ip(&at_all.index(index), address);
        }
    }
    if all.len() > 2 {
        problems.invalid(&at_all, all, "may only hold up to 2 values");
    }
}

fn families(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (index, family) in object.list("spec.ipFamilies").iter().enumerate() {
        let at = at.field("ipFamilies").index(index);
        problems.one_of(&at, Some(family), &["IPv4", "IPv6"]);
        if !seen.insert(family.as_str()) {
            problems.duplicate(&at, family.clone());
        }
    }
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    problems.listed(object, "spec.ipFamilyPolicy", &policies);
}

fn external_address(address: &str, at: &FieldPath, problems: &mut Problems) {
    let Some(parsed) = problems.ip(at, address) else {
        return;
    };
    let (link_local, link_multicast) = match parsed {
        IpAddr::V4(ip) => (ip.is_link_local(), ip.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(ip) => (
            ip.is_unicast_link_local(),
            ip.segments()[0] & 0xff0f == 0xff02,
        ),
    };
    let unspecified = format!("may not be unspecified ({address})");
    for (fault, detail) in [
        (parsed.is_unspecified(), unspecified.as_str()),
        (
            parsed.is_loopback(),
            "may not be in the loopback range (127.0.0.0/8, ::1/128)",
        ),
        (
            link_local,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            link_multicast,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
    ] {
        if fault {
            problems.invalid(at, address, detail);
        }
    }
}

fn load_balancer(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let balanced = object.text("spec.type") == "LoadBalancer";
    let ranges = object.texts("spec.loadBalancerSourceRanges");
    // The API writes this one field with a capital letter.
    let at_ranges = at.field("LoadBalancerSourceRanges");
    if !ranges.is_empty() && !balanced {
        problems.forbidden(&at_ranges, ONLY_LOAD_BALANCER);
    }
    for (index, range) in ranges.into_iter().enumerate() {
        problems.cidr(&at_ranges.index(index), range.trim());
    }
    if !balanced {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if object.has(&format!("spec.{field}")) {
                problems.forbidden(&at.field(field), ONLY_LOAD_BALANCER);
            }
        }
    } else if let Some(class) = object.at("spec.loadBalancerClass").and_then(Value::as_str) {
        let at = at.field("loadBalancerClass");
        problems.all_invalid(&at, class, text::qualified_name(class));
    }
}

fn traffic(object: &Object, at: &FieldPath, problems: &mut Problems) {
    let policies = ["Cluster", "Local"];
    let external = object
        .at("spec.externalTrafficPolicy")
        .filter(|policy| *policy != "");
    let outside = matches!(object.text("spec.type"), "NodePort" | "LoadBalancer")
        || object.text("spec.type") == "ClusterIP" && !object.list("spec.externalIPs").is_empty();
    let path = at.field("externalTrafficPolicy");
    match external {
        Some(policy) if !outside => {
            let detail = "may only be set for externally-accessible services";
            problems.invalid(&path, policy.clone(), detail);
        }
        external => problems.one_of(&path, external, &policies),
    }
    problems.listed(object, "spec.internalTrafficPolicy", &policies);
    let distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    problems.listed(object, "spec.trafficDistribution", &distributions);
}

fn address_change(new: &Object, old: &Object, problems: &mut Problems) {
    if is_headless(new) && is_headless(old) {
        return;
    }
    let (now, before) = (new.texts("spec.clusterIPs"), old.texts("spec.clusterIPs"));
    let at = FieldPath::of("spec.clusterIPs");
    if now.is_empty() && !before.is_empty() {
        problems.invalid(
            &at.index(0),
            Value::Null,
            "primary clusterIP can not be unset",
        );
    }
    for (index, (now_one, before_one)) in now.iter().zip(&before).enumerate() {
        let judged = index == 0 || now.len() == before.len();
        if judged && now_one != before_one {
            problems.invalid(&at.index(index), now.clone(), "may not change once set");
        }
    }
}
