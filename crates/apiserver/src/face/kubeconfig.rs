//! The file that tells kubectl and every other client where we are, how to know us, and who they are.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::pki::Leaf;
use crate::user::ADMIN;

/// How the cluster and the context are called.
const NAME: &str = "zonewright";

/// What a client proves itself with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Credential<'a> {
    /// A certificate and its key.
    Certificate(&'a Leaf),
    /// A bearer token, for what sits behind a proxy that ends TLS or speaks no client certificates.
    Token(&'a str),
}

/// A kubeconfig, in YAML, for the API at `address`.
pub(crate) fn kubeconfig(
    address: SocketAddr,
    authority_pem: &str,
    credential: Credential<'_>,
) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": NAME, "cluster": {
            "certificate-authority-data": STANDARD.encode(authority_pem),
            "server": format!("https://{}", reachable(address)),
        }}],
        "users": [{ "name": ADMIN, "user": credential.user() }],
        "contexts": [{ "name": NAME, "context": { "cluster": NAME, "user": ADMIN } }],
        "current-context": NAME,
    });
    serde_saphyr::to_string(&config).expect("texts and lists always become YAML")
}

impl Credential<'_> {
    fn user(self) -> Value {
        match self {
            Self::Certificate(leaf) => json!({
                "client-certificate-data": STANDARD.encode(&leaf.certificate_pem),
                "client-key-data": STANDARD.encode(&leaf.key_pem),
            }),
            Self::Token(token) => json!({ "token": token }),
        }
    }
}

/// An address that a client on the same machine can connect to: a listener on all addresses is
/// on the loopback one, too.
pub(crate) fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_all_addresses_is_reached_by_loopback() {
        for (listening, reached) in [
            ("0.0.0.0:7443", "127.0.0.1:7443"),
            ("[::]:7443", "[::1]:7443"),
            ("192.0.2.1:1", "192.0.2.1:1"),
        ] {
            let listening: SocketAddr = listening.parse().unwrap();
            assert_eq!(reachable(listening).to_string(), reached);
        }
    }

    #[test]
    fn a_token_can_take_the_place_of_the_certificate() {
        let address = "127.0.0.1:7443".parse().unwrap();
        let text = kubeconfig(address, "PEM", Credential::Token("secret"));
        let config = kube::config::Kubeconfig::from_yaml(&text).unwrap();
        let cluster = config.clusters[0].cluster.clone().unwrap();
        assert_eq!(cluster.server.as_deref(), Some("https://127.0.0.1:7443"));
        assert_eq!(cluster.certificate_authority_data.as_deref(), Some("UEVN"));
        let user: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(user["users"][0]["user"], json!({ "token": "secret" }));
    }
}
