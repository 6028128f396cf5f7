//! `run`: the controllers of a cluster.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::ArgAction;

use super::controller::Controller;

/// Run the controllers, and a name server if asked to, against a cluster.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// A namespace to look at; all others are ignored. May be given several times. Left out: all.
    #[arg(
        short,
        long,
        value_name = "NS",
        env = "ZONEWRIGHT_NAMESPACE",
        value_delimiter = ','
    )]
    pub(crate) namespace: Vec<String>,

    /// Write only while holding a Lease, so that several replicas do not write at once.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_LEADER_ELECT")]
    pub(crate) leader_elect: bool,

    /// Where a name server listens, over UDP and TCP; ":53" is every address. Left out: none runs.
    #[arg(long, value_name = "ADDR", value_parser = address, env = "ZONEWRIGHT_DNS")]
    pub(crate) dns: Option<SocketAddr>,

    /// Where metrics and health are served over HTTP.
    #[arg(long, value_name = "ADDR", default_value = ":8053", value_parser = address, env = "ZONEWRIGHT_HTTP")]
    pub(crate) http: SocketAddr,

    /// Where admission webhooks are served, with --managed-domain. At every address, the API asks by the Service
    /// zonewright-webhook; at one, such as 127.0.0.1:9443, it asks there.
    #[arg(long, value_name = "ADDR", default_value = ":9443", value_parser = address, env = "ZONEWRIGHT_WEBHOOK")]
    pub(crate) webhook: SocketAddr,

    /// A database in the `MaxMind` format (.mmdb) that tells where a client's address is, for geographic routing.
    #[arg(long, value_name = "FILE", env = "ZONEWRIGHT_GEO_DATABASE")]
    pub(crate) geo_database: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) controller: Controller,
}

/// An address to listen at. Without a host it is every address, over IPv6 and IPv4.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').and_then(|port| port.parse().ok());
    match port {
        Some(port) => Ok((IpAddr::V6(Ipv6Addr::UNSPECIFIED), port).into()),
        None => text
            .parse()
            .map_err(|_| "write an address and a port such as 127.0.0.1:53, or :53".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_every_address() {
        assert_eq!(address(":53"), Ok("[::]:53".parse().unwrap()));
        assert_eq!(address("127.0.0.1:53"), Ok("127.0.0.1:53".parse().unwrap()));
        for wrong in ["53", ":", "host:53", "127.0.0.1", ":70000", ""] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
