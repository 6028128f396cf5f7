//! The addresses of Services.
//!
//! No address is handed out: no proxy would answer at it, and DNS records must not point to an
//! address that nobody serves. An address that the writer gives is kept, and so is `None`.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use crate::builtin::fields::{Fields as _, Fill as _};
use crate::object::Object;

/// What the API itself decides about the addresses, after the writer's fields have been noted.
pub(in crate::builtin) fn settle_addresses(object: &mut Object) {
    if let Some(spec) = object.below("spec") {
        // Even where there may be no address: then both fields are refused.
        let given = spec.text("clusterIP").to_owned();
        if spec.text("type") == "ExternalName" && !given.is_empty() {
            spec.fill("clusterIPs", vec![Value::from(given)]);
        }
        addresses(spec);
    }
}

/// The one address and the list of addresses say the same, and the families follow from them.
fn addresses(spec: &mut Map<String, Value>) {
    if spec.text("type") == "ExternalName" {
        return;
    }
    let first = spec.text("clusterIP").to_owned();
    if !first.is_empty() && spec.list("clusterIPs").is_empty() {
        spec.insert("clusterIPs".to_owned(), json!([first]));
    }
    // Whoever writes the endpoints of a headless Service by hand may write any address.
    if spec.texts("clusterIPs") == ["None"]
        && spec.entries("selector").next().is_none()
        && !spec.has("ipFamilyPolicy")
    {
        let families = match spec.texts("ipFamilies").first() {
            Some(&"IPv6") => json!(["IPv6", "IPv4"]),
            Some(_) | None => json!(["IPv4", "IPv6"]),
        };
        spec.insert("ipFamilies".to_owned(), families);
        spec.fill("ipFamilyPolicy", "RequireDualStack");
        return;
    }
    let addresses = spec.texts("clusterIPs").into_iter();
    let families: Vec<&str> = addresses.filter_map(family).collect();
    let families = match families.as_slice() {
        [] => vec!["IPv4"],
        _ => families,
    };
    let policy = match families.len() {
        1 => "SingleStack",
        _ => "RequireDualStack",
    };
    spec.fill("ipFamilies", json!(families));
    spec.fill("ipFamilyPolicy", policy);
}

fn family(address: &str) -> Option<&'static str> {
    Some(match address.parse().ok()? {
        IpAddr::V4(_) => "IPv4",
        IpAddr::V6(_) => "IPv6",
    })
}
