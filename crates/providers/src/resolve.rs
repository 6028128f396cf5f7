//! From a host to addresses that may be connected to.

use std::net::SocketAddr;

use egress::{Egress, EgressError};

/// The addresses of a host that may be connected to.
pub(crate) async fn resolve(
    egress: &Egress,
    host: &str,
    port: u16,
) -> Result<Vec<SocketAddr>, EgressError> {
    let found = tokio::net::lookup_host((host, port)).await;
    let found: Vec<SocketAddr> = found.into_iter().flatten().collect();
    egress.admit(host, &found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_host_is_resolved_to_what_may_be_connected_to() {
        let egress = Egress::default();
        let refused = resolve(&egress, "127.0.0.1", 53).await;
        assert_eq!(
            refused,
            Err(EgressError::Address("127.0.0.1".parse().unwrap()))
        );
        let loopback = Egress {
            ranges: vec!["127.0.0.0/8".parse().unwrap()],
            ..Egress::default()
        };
        let found = resolve(&loopback, "127.0.0.1", 53).await;
        assert_eq!(found, Ok(vec!["127.0.0.1:53".parse().unwrap()]));
    }
}
