//! From a DNSHealthCheckProbe's spec to a probe that can be run (D6).
//!
//! The schema requires nothing. Of a probe made by hand the host and the address must be there; what else is absent is
//! what a DNSRecord's `healthCheck` would say.

use dns::Name;

use super::collect::Collect;
use super::health_check::{self, HealthCheck};
use super::target::Target;
use crate::dns_health_check_probe::{self as object, DnsHealthCheckProbeSpec};
use crate::health_check::HealthCheckSpec;
use crate::problem::{FieldPath, Problem};

/// What a DNSHealthCheckProbe asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsHealthCheckProbe {
    /// The host to ask for.
    pub host: Name,
    /// What to connect to.
    pub target: Target,
    /// How to ask.
    pub check: HealthCheck,
    /// Whether a certificate that cannot be verified is good enough.
    pub allow_insecure_certificate: bool,
}

/// Reads a DNSHealthCheckProbe, or names everything that is wrong with it.
pub fn parse(probe: &object::DnsHealthCheckProbe) -> Result<DnsHealthCheckProbe, Vec<Problem>> {
    let spec = &probe.spec;
    let at = FieldPath::spec();
    let mut problems = Collect::default();
    let host = host(
        spec.hostname.as_deref(),
        &at.field("hostname"),
        &mut problems,
    );
    let target = target(spec.address.as_deref(), &at.field("address"), &mut problems);
    let check = health_check::parse(&complete(spec), &at, &mut problems);
    let claim = host
        .zip(target)
        .zip(check)
        .map(|((host, target), check)| DnsHealthCheckProbe {
            host,
            target,
            check,
            allow_insecure_certificate: spec.allow_insecure_certificate.unwrap_or_default(),
        });
    problems.finish(claim)
}

fn host(text: Option<&str>, field: &FieldPath, problems: &mut Collect) -> Option<Name> {
    let Some(text) = text else {
        problems.refuse_bare(field, "must name the host to ask for");
        return None;
    };
    let host = problems.check(field, text, dns::host_name(text))?;
    if host.is_wildcard() {
        problems.refuse(field, "must be one host, not a wildcard", text);
        return None;
    }
    Some(host)
}

fn target(text: Option<&str>, field: &FieldPath, problems: &mut Collect) -> Option<Target> {
    let Some(text) = text else {
        problems.refuse_bare(field, "must be an IP address or a host");
        return None;
    };
    problems.check(field, text, Target::parse(text))
}

fn complete(spec: &DnsHealthCheckProbeSpec) -> HealthCheckSpec {
    let default = HealthCheckSpec::default();
    HealthCheckSpec {
        path: spec.path.clone(),
        port: spec.port.unwrap_or(default.port),
        protocol: spec.protocol.clone().unwrap_or(default.protocol),
        interval: spec.interval.clone().unwrap_or(default.interval),
        failure_threshold: spec.failure_threshold.unwrap_or(default.failure_threshold),
        additional_headers_ref: spec.additional_headers_ref.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;

    fn check(spec: Value) -> Result<DnsHealthCheckProbe, Vec<String>> {
        let probe =
            object::DnsHealthCheckProbe::new("probe", serde_json::from_value(spec).unwrap());
        parse(&probe).map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_probe_is_read_and_completed() {
        let probe =
            check(json!({ "hostname": "app.example.com", "address": "192.0.2.1" })).unwrap();
        assert_eq!(probe.host.to_string(), "app.example.com.");
        assert_eq!(probe.target.to_string(), "192.0.2.1");
        assert_eq!(probe.check.interval, Duration::from_mins(5));
        assert!(!probe.allow_insecure_certificate);

        let probe = check(json!({
            "hostname": "app.example.com", "address": "lb.example.net", "port": 80,
            "protocol": "HTTP", "interval": "10s", "failureThreshold": 3, "path": "/healthz",
            "allowInsecureCertificate": true
        }))
        .unwrap();
        assert_eq!(probe.target.to_string(), "lb.example.net.");
        assert_eq!((probe.check.port, probe.check.failure_threshold), (80, 3));
        assert!(probe.allow_insecure_certificate);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let cases = [
            (json!({}), vec!["spec.hostname", "spec.address"]),
            (
                json!({ "hostname": "*.example.com", "address": "" }),
                vec!["spec.hostname", "spec.address"],
            ),
            (
                json!({ "hostname": "a b", "address": "192.0.2.1:80", "port": 0, "interval": "" }),
                vec![
                    "spec.hostname",
                    "spec.address",
                    "spec.port",
                    "spec.interval",
                ],
            ),
        ];
        for (spec, fields) in cases {
            let problems = check(spec.clone()).unwrap_err();
            let found: Vec<&str> = problems
                .iter()
                .filter_map(|problem| problem.split(':').next())
                .collect();
            assert_eq!(found, fields, "{spec}");
        }
    }
}
