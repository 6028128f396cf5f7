//! Network policies, and the addresses and networks that other kinds name too.

use std::net::IpAddr;

use serde_json::Value;

use super::Problems;
use crate::builtin::fields::Fields as _;
use crate::metadata::label_selector_errors;
use crate::object::Object;
use crate::refusal::FieldPath;

pub(super) fn judge(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("spec");
    if let Some(selector) = object.at("spec.podSelector") {
        problems.extend(label_selector_errors(selector, &at.field("podSelector")));
    }
    for (direction, side) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in object.list(&format!("spec.{direction}")).iter().enumerate() {
            let at = at.field(direction).index(index);
            for (index, one) in rule.list("ports").iter().enumerate() {
                port(one, &at.field("ports").index(index), problems);
            }
            for (index, one) in rule.list(side).iter().enumerate() {
                peer(one, &at.field(side).index(index), problems);
            }
        }
    }
    let types = object.list("spec.policyTypes");
    if types.len() > 2 {
        let detail = "may not specify more than two policyTypes";
        problems.invalid(&at.field("policyTypes"), types.to_vec(), detail);
        return;
    }
    for (index, one) in types.iter().enumerate() {
        let at = at.field("policyTypes").index(index);
        problems.one_of(&at, Some(one), &["Ingress", "Egress"]);
    }
}

/// An address, if the text is one.
pub(super) fn ip(text: &str, at: &FieldPath, problems: &mut Problems) -> Option<IpAddr> {
    let parsed = text.parse().ok();
    if parsed.is_none() {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        problems.invalid(at, text, detail);
    }
    parsed
}

/// A network, if the text is one.
pub(super) fn cidr(text: &str, at: &FieldPath, problems: &mut Problems) -> Option<Network> {
    let parsed = Network::parse(text);
    if parsed.is_none() {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        problems.invalid(at, text, detail);
    }
    parsed
}

/// `10.9.8.0/24`
#[derive(Clone, Copy)]
pub(super) struct Network {
    /// The address as a number; those of version 4 have the upper bits of a mapped address.
    address: u128,
    is_v4: bool,
    length: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let (address, is_v4) = match address.parse().ok()? {
            IpAddr::V4(address) => (address.to_ipv6_mapped().to_bits(), true),
            IpAddr::V6(address) => (address.to_bits(), false),
        };
        let plain = !length.starts_with('+') && (length == "0" || !length.starts_with('0'));
        let length: u32 = length.parse().ok().filter(|_| plain)?;
        let whole = if is_v4 { 32 } else { 128 };
        (length <= whole).then_some(Self {
            address,
            is_v4,
            length,
        })
    }

    /// Whether `inner` is a smaller part of this network.
    fn is_around(self, inner: Self) -> bool {
        let host_bits = if self.is_v4 { 32 } else { 128 } - self.length;
        let prefix = |address: u128| address.checked_shr(host_bits).unwrap_or_default();
        self.is_v4 == inner.is_v4
            && self.length < inner.length
            && prefix(self.address) == prefix(inner.address)
    }
}

fn port(port: &Value, at: &FieldPath, problems: &mut Problems) {
    let protocols = ["TCP", "UDP", "SCTP"];
    problems.one_of(&at.field("protocol"), port.at("protocol"), &protocols);
    let (at_end, end) = (
        at.field("endPort"),
        port.at("endPort").and_then(Value::as_i64),
    );
    if let Some(first) = port.at("port") {
        problems.port(&at.field("port"), first);
    }
    match (port.at("port"), end) {
        (_, None) => {}
        (None, Some(end)) => {
            problems.invalid(
                &at_end,
                end,
                "may not be specified when `port` is not specified",
            );
        }
        (Some(Value::String(_)), Some(end)) => {
            problems.invalid(
                &at_end,
                end,
                "may not be specified when `port` is non-numeric",
            );
        }
        (Some(first), Some(end)) => {
            let first = first.as_i64().unwrap_or_default();
            if end < first {
                problems.invalid(&at_end, first, "must be greater than or equal to `port`");
            }
            problems.port(&at_end, &end.into());
        }
    }
}

fn peer(peer: &Value, at: &FieldPath, problems: &mut Problems) {
    let selectors = ["podSelector", "namespaceSelector"];
    let selectors = selectors
        .into_iter()
        .filter_map(|name| Some((name, peer.at(name)?)));
    let mut selected = false;
    for (name, selector) in selectors {
        selected = true;
        problems.extend(label_selector_errors(selector, &at.field(name)));
    }
    match (peer.at("ipBlock"), selected) {
        (Some(block), selected) => {
            ip_block(block, &at.field("ipBlock"), problems);
            if selected {
                problems.forbidden(at, "may not specify both ipBlock and another peer");
            }
        }
        (None, false) => problems.required(at, "must specify a peer"),
        (None, true) => {}
    }
}

fn ip_block(block: &Value, at: &FieldPath, problems: &mut Problems) {
    let text = block.text("cidr");
    if text.is_empty() {
        problems.required(&at.field("cidr"), "");
        return;
    }
    let Some(network) = cidr(text, &at.field("cidr"), problems) else {
        return;
    };
    for (index, except) in block.texts("except").into_iter().enumerate() {
        let at = at.field("except").index(index);
        if let Some(inner) = cidr(except, &at, problems)
            && !network.is_around(inner)
        {
            problems.invalid(&at, except, "must be a strict subset of `cidr`");
        }
    }
}
