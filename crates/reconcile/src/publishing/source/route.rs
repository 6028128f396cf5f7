//! Routes: the hosts that they write out, and the Gateways that they attach to (S8).

use api::foreign::route::{ParentRef, RouteStatus};
use api::foreign::{GrpcRoute, HttpRoute, TlsRoute};

use super::{Parent, Reading, SourceKind, SourceObject, TLS_PORT};
use crate::GatewayKey;

/// In what is read here the kinds differ by their names only.
macro_rules! routes {
    ($($route:ident)+) => {$(
        impl SourceObject for $route {
            const KIND: SourceKind = SourceKind::$route;

            fn read(&self) -> Reading {
                let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
                let parents = self.spec.parent_refs.as_deref().unwrap_or_default();
                let hosts = self.spec.hostnames.as_deref().unwrap_or_default();
                read(namespace, parents, hosts, self.status.as_ref())
            }
        }
    )+};
}

routes! { HttpRoute GrpcRoute TlsRoute }

fn read(
    namespace: &str,
    parents: &[ParentRef],
    hosts: &[String],
    status: Option<&RouteStatus>,
) -> Reading {
    let mut reading = Reading::default();
    for host in hosts {
        reading.ask(host, TLS_PORT);
    }
    let gateways = parents.iter().filter(|parent| parent.is_gateway());
    let parents = gateways.map(|parent| Parent {
        gateway: gateway(namespace, parent),
        section: parent.section_name.clone(),
        refused: is_refused(namespace, parent, status),
    });
    reading.parents = parents.collect();
    reading
}

/// Whether somebody has spoken about the route at this parent, and nobody lets it attach.
fn is_refused(namespace: &str, parent: &ParentRef, status: Option<&RouteStatus>) -> bool {
    let place = |it: &ParentRef| (gateway(namespace, it), it.section_name.clone());
    let here = |it: &ParentRef| it.is_gateway() && place(it) == place(parent);
    let Some(status) = status else {
        return false;
    };
    let mut told = status.parents.iter().flatten();
    let mut accepted = status.accepted_by();
    told.any(|it| here(&it.parent_ref)) && !accepted.any(here)
}

fn gateway(namespace: &str, parent: &ParentRef) -> GatewayKey {
    let namespace = parent.namespace.as_deref().unwrap_or(namespace);
    GatewayKey::new(namespace, &parent.name)
}
