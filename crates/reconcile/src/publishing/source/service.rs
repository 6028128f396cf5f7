//! Service of type LoadBalancer: the hosts of its annotations (S8).

use std::collections::BTreeMap;

use api::Reason;
use api::well_known::annotation;
use k8s_openapi::api::core::v1::Service;

use super::{Reading, SourceKind, SourceObject, port};

impl SourceObject for Service {
    const KIND: SourceKind = SourceKind::Service;

    fn read(&self) -> Reading {
        let mut reading = Reading::default();
        let spec = self.spec.as_ref();
        let type_ = spec
            .and_then(|spec| spec.type_.as_deref())
            .unwrap_or("ClusterIP");
        if type_ != "LoadBalancer" {
            let message = format!(
                "spec.type: only a Service of type LoadBalancer is reached from outside and can be published: got \"{type_}\""
            );
            reading.complaints.push((Reason::NotSupported, message));
            return reading;
        }
        reach(self, &mut reading);
        let ports = spec.and_then(|spec| spec.ports.as_ref());
        let first = ports
            .and_then(|ports| ports.first())
            .map(|it| it.port.into());
        for host in self.metadata.annotations.iter().flat_map(hosts) {
            reading.ask(host, port(first));
        }
        if reading.hosts.is_empty() {
            let message = format!(
                "metadata.annotations: no host; name one in {} or {}",
                annotation::FQDN,
                annotation::EXTERNAL_DNS_HOSTNAME
            );
            reading.complaints.push((Reason::NoHost, message));
        }
        reading
    }
}

/// Where a load balancer has put the Service.
fn reach(service: &Service, reading: &mut Reading) {
    let status = service.status.as_ref();
    let balancer = status.and_then(|it| it.load_balancer.as_ref());
    for ingress in balancer
        .and_then(|it| it.ingress.as_ref())
        .into_iter()
        .flatten()
    {
        reading.reach(ingress.ip.as_deref(), ingress.hostname.as_deref());
    }
}

fn hosts(annotations: &BTreeMap<String, String>) -> impl Iterator<Item = &str> {
    let keys = [annotation::FQDN, annotation::EXTERNAL_DNS_HOSTNAME];
    let lists = keys.into_iter().filter_map(|key| annotations.get(key));
    let hosts = lists.flat_map(|list| list.split(',')).map(str::trim);
    hosts.filter(|host| !host.is_empty())
}
