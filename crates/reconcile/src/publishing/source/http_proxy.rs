//! HTTPProxy: one host, if it is a root (S1).

use api::Reason;
use api::foreign::HttpProxy;

use super::{Reading, SourceKind, SourceObject, TLS_PORT};

impl SourceObject for HttpProxy {
    const KIND: SourceKind = SourceKind::HttpProxy;

    fn read(&self) -> Reading {
        let mut reading = Reading::default();
        for ingress in self.addresses() {
            reading.reach(ingress.ip.as_deref(), ingress.hostname.as_deref());
        }
        match self.fqdn() {
            // The peer knows no other port, TLS or not.
            Some(fqdn) => reading.ask(fqdn, TLS_PORT),
            None => reading.complaints.push((
                Reason::NoHost,
                "spec.virtualhost: absent, so this proxy is a part of others and has no host; put the export label on the proxy that includes it".to_owned(),
            )),
        }
        reading
    }
}
