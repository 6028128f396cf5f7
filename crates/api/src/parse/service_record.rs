//! From the spec of a `ServiceRecord` to what it claims (S6, S7).
//!
//! No endpoint at all is fine: the source has no address yet. Who may publish the name is judged later.

use std::collections::BTreeSet;

use dns::Name;

use super::collect::Collect;
use super::fqdn;
use super::target::Target;
use crate::problem::{FieldPath, Problem};
use crate::service_record::{self as object, ServiceEndpoint};

/// What a `ServiceRecord` claims.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServiceRecord {
    /// The host, a leading `*` included.
    pub fqdn: Name,
    /// Where it is reached.
    pub endpoints: BTreeSet<Endpoint>,
}

/// One place a host is reached at.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Endpoint {
    /// The address or host.
    pub target: Target,
    /// The port.
    pub port: u16,
}

/// Reads a `ServiceRecord`, or names everything that is wrong with it.
pub fn parse(record: &object::ServiceRecord) -> Result<ServiceRecord, Vec<Problem>> {
    let spec = &record.spec;
    let at = FieldPath::spec();
    let mut problems = Collect::default();
    let fqdn = problems.check(&at.field("fqdn"), &spec.fqdn, fqdn::parse(&spec.fqdn));
    let mut endpoints = BTreeSet::new();
    for (index, spec) in spec.endpoints.iter().enumerate() {
        endpoints.extend(endpoint(
            spec,
            &at.field("endpoints").index(index),
            &mut problems,
        ));
    }
    problems.finish(fqdn.map(|fqdn| ServiceRecord { fqdn, endpoints }))
}

fn endpoint(spec: &ServiceEndpoint, at: &FieldPath, problems: &mut Collect) -> Option<Endpoint> {
    let target = problems.check(
        &at.field("address"),
        &spec.address,
        Target::parse(&spec.address),
    );
    let port = problems.check(&at.field("port"), spec.port, port(spec.port));
    Some(Endpoint {
        target: target?,
        port: port?,
    })
}

fn port(port: i64) -> Result<u16, &'static str> {
    match u16::try_from(port) {
        Ok(port @ 1..) => Ok(port),
        Ok(_) | Err(_) => Err("must be a port from 1 to 65535"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(spec: Value) -> Result<ServiceRecord, Vec<String>> {
        let record = object::ServiceRecord::new("record", serde_json::from_value(spec).unwrap());
        parse(&record).map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_record_is_read_in_canonical_form() {
        // S6, S7.
        let record = check(json!({
            "fqdn": "App.Example.COM.",
            "endpoints": [
                { "address": "2001:DB8::1", "port": 443 },
                { "address": "192.0.2.1", "port": 443 },
                { "address": "LB.example.net", "port": 8443 },
                { "address": "192.0.2.1", "port": 443 }
            ]
        }))
        .unwrap();
        assert_eq!(record.fqdn.to_string(), "app.example.com.");
        let endpoints: Vec<String> = record
            .endpoints
            .iter()
            .map(|Endpoint { target, port }| format!("{target} {port}"))
            .collect();
        assert_eq!(
            endpoints,
            ["192.0.2.1 443", "2001:db8::1 443", "lb.example.net. 8443"]
        );
    }

    #[test]
    fn look_alikes_of_bad_records_are_accepted() {
        let longest = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "a".repeat(61));
        for fqdn in [
            "*.apps.example.com",
            "xn--bcher-kva.example",
            "1.example.com",
            &longest,
        ] {
            let record = check(json!({ "fqdn": fqdn, "endpoints": [] }));
            assert!(
                record.is_ok_and(|record| record.endpoints.is_empty()),
                "{fqdn}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_all_at_once() {
        let endpoint = |address: &str, port: i64| json!({ "fqdn": "app.example.com", "endpoints": [{ "address": address, "port": port }] });
        let fqdn = |fqdn: &str| json!({ "fqdn": fqdn, "endpoints": [] });
        let cases = [
            (fqdn(""), vec!["spec.fqdn"]),
            (fqdn("*"), vec!["spec.fqdn"]),
            (fqdn("app"), vec!["spec.fqdn"]),
            (fqdn("192.0.2.1"), vec!["spec.fqdn"]),
            (fqdn("a_b.example.com"), vec!["spec.fqdn"]),
            (fqdn("a.*.example.com"), vec!["spec.fqdn"]),
            (fqdn("xn--a.example.com"), vec!["spec.fqdn"]),
            (endpoint("", 443), vec!["spec.endpoints[0].address"]),
            (
                endpoint("192.0.2.1/32", 443),
                vec!["spec.endpoints[0].address"],
            ),
            (
                endpoint("*.example.com", 443),
                vec!["spec.endpoints[0].address"],
            ),
            (endpoint("192.0.2.1", 0), vec!["spec.endpoints[0].port"]),
            (endpoint("192.0.2.1", -1), vec!["spec.endpoints[0].port"]),
            (
                endpoint("192.0.2.1", 65_536),
                vec!["spec.endpoints[0].port"],
            ),
            (
                endpoint("192.0.2.1", i64::MAX),
                vec!["spec.endpoints[0].port"],
            ),
            (
                json!({ "fqdn": "-", "endpoints": [{ "address": "?", "port": 0 }, { "address": "a", "port": 0 }] }),
                vec![
                    "spec.fqdn",
                    "spec.endpoints[0].address",
                    "spec.endpoints[0].port",
                    "spec.endpoints[1].port",
                ],
            ),
        ];
        for (spec, fields) in cases {
            let problems = check(spec.clone()).unwrap_err();
            let found: Vec<&str> = problems
                .iter()
                .filter_map(|problem| problem.split(": ").next())
                .collect();
            assert_eq!(found, fields, "{spec}");
        }
    }
}
