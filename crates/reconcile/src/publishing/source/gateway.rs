//! Gateway: the hosts of its listeners, and what its routes take from it (S8).

use api::Reason;
use api::foreign::Gateway;
use api::foreign::gateway::GatewayAddress;
use api::parse::fqdn;

use super::{Listener, Reading, SourceKind, SourceObject, port};

impl SourceObject for Gateway {
    const KIND: SourceKind = SourceKind::Gateway;

    fn read(&self) -> Reading {
        let mut reading = Reading::default();
        for address in self.addresses().iter().filter(|it| is_reachable(it)) {
            reading.lead(&address.value);
        }
        for listener in self.listeners() {
            let host = listener.hostname.as_deref().filter(|it| !it.is_empty());
            let port = port(listener.port);
            if let Some(host) = host {
                reading.ask(host, port);
            }
            reading.listeners.push(Listener {
                name: listener.name.clone(),
                host: host.and_then(|host| fqdn::parse(host).ok()),
                any: host.is_none(),
                port,
            });
        }
        if reading.hosts.is_empty() {
            let message = "spec.listeners: none has a hostname; give one a hostname, or take the export label off";
            reading
                .complaints
                .push((Reason::NoHost, message.to_owned()));
        }
        reading
    }
}

/// Whether an address means something outside of the implementation that gave it.
fn is_reachable(address: &GatewayAddress) -> bool {
    let type_ = address.type_.as_deref();
    type_.is_none_or(|type_| type_ == "IPAddress" || type_ == "Hostname")
}
