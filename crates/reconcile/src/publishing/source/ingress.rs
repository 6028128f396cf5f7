//! Ingress: the hosts of its rules (S8).

use api::Reason;
use k8s_openapi::api::networking::v1::Ingress;

use super::{Reading, SourceKind, SourceObject, TLS_PORT};

/// The port of a host without a certificate.
const PLAIN_PORT: u16 = 80;

impl SourceObject for Ingress {
    const KIND: SourceKind = SourceKind::Ingress;

    fn read(&self) -> Reading {
        let mut reading = Reading::default();
        let status = self.status.as_ref();
        let balancer = status.and_then(|it| it.load_balancer.as_ref());
        for ingress in balancer
            .and_then(|it| it.ingress.as_ref())
            .into_iter()
            .flatten()
        {
            reading.reach(ingress.ip.as_deref(), ingress.hostname.as_deref());
        }
        for host in hosts(self) {
            reading.ask(
                host,
                if is_secured(self, host) {
                    TLS_PORT
                } else {
                    PLAIN_PORT
                },
            );
        }
        if reading.hosts.is_empty() {
            let message =
                "spec.rules: none has a host; give one a host, or take the export label off";
            reading
                .complaints
                .push((Reason::NoHost, message.to_owned()));
        }
        reading
    }
}

fn hosts(ingress: &Ingress) -> impl Iterator<Item = &str> {
    let spec = ingress.spec.as_ref();
    let rules = spec.and_then(|spec| spec.rules.as_ref());
    let hosts = rules.into_iter().flatten();
    let hosts = hosts.filter_map(|rule| rule.host.as_deref());
    hosts.filter(|host| !host.is_empty())
}

fn is_secured(ingress: &Ingress, host: &str) -> bool {
    let spec = ingress.spec.as_ref();
    let entries = spec
        .and_then(|spec| spec.tls.as_ref())
        .into_iter()
        .flatten();
    let mut listed = entries.flat_map(|entry| entry.hosts.iter().flatten());
    listed.any(|listed| covers(listed, host))
}

/// Whether a host of a tls entry is this one, or a wildcard above it, which stands for one label there.
fn covers(listed: &str, host: &str) -> bool {
    let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
    let below = listed.strip_prefix("*.").zip(host.split_once('.'));
    same(listed, host) || below.is_some_and(|(parent, (_, rest))| same(parent, rest))
}
