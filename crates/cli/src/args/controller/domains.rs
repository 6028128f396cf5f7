//! Custom domains, and how they are verified.

use std::net::SocketAddr;

use super::value;

/// How custom domains are verified.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Custom domains")]
pub(crate) struct Domains {
    /// The domain under which everyone gets names without verification.
    #[arg(long, value_name = "DOMAIN", value_parser = dns::host_name, env = "ZONEWRIGHT_MANAGED_DOMAIN")]
    pub(crate) managed_domain: Option<dns::Name>,

    /// The Secret with the certificate of the managed domain.
    #[arg(long, value_name = "NAME", value_parser = value::object_name, env = "ZONEWRIGHT_MANAGED_TLS_SECRET")]
    pub(crate) managed_tls_secret: Option<String>,

    /// A name server to ask when domains are verified, instead of walking down from the roots. May
    /// be given several times. Without a port: 53.
    #[arg(long = "resolver", value_name = "ADDR", value_delimiter = ',', value_parser = value::name_server, env = "ZONEWRIGHT_RESOLVER")]
    pub(crate) resolvers: Vec<SocketAddr>,

    /// A root server to begin with, instead of the Internet's. May be given several times. Without a
    /// port: 53.
    #[arg(long, value_name = "ADDR", value_delimiter = ',', value_parser = value::name_server, env = "ZONEWRIGHT_ROOTS")]
    pub(crate) roots: Vec<SocketAddr>,
}
