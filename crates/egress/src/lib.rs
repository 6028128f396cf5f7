//! Whom this process connects to on behalf of others.
//!
//! Whoever may write a Secret or a DNSRecord chooses where we connect to and what we send there. So only public addresses
//! are connected to, and others only where the operator allows it: or else an object would reach what only this process
//! can reach. The address that was judged is the one that is connected to; a name is never asked about twice.
//!
//! The border: addresses are judged here. Finding them, and connecting, is up to whoever has something to say there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipnet::IpNet;

/// What is allowed besides public addresses.
#[derive(Clone, Debug, Default)]
pub struct Egress {
    /// Ranges of addresses that are not public.
    pub ranges: Vec<IpNet>,
    /// Hosts by name or address, in lower case without a final dot, that are not the provider's own.
    pub hosts: Vec<String>,
}

/// Why nobody is connected to.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EgressError {
    /// The address is not public.
    #[error("{0} is not a public address; the operator can allow it with --allow-address")]
    Address(IpAddr),
    /// The host is not the provider's own.
    #[error("{0} is not the provider's own host; the operator can allow it with --allow-endpoint")]
    Host(String),
    /// There is no such host.
    #[error("{0} has no address")]
    NoAddress(String),
}

impl Egress {
    /// Whether an address may be connected to.
    pub fn check_address(&self, address: IpAddr) -> Result<(), EgressError> {
        // An IPv4 address in disguise is the address it stands for.
        let address = address.to_canonical();
        let allowed = self.ranges.iter().any(|range| range.contains(&address));
        (allowed || is_public(address))
            .then_some(())
            .ok_or(EgressError::Address(address))
    }

    /// Whether a host that is not the provider's own may be connected to.
    pub fn check_host(&self, host: &str) -> Result<(), EgressError> {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.');
        let host = host.to_ascii_lowercase();
        let in_range = host.parse::<IpAddr>().is_ok_and(|address| {
            let ranges = self.ranges.iter();
            ranges.into_iter().any(|range| range.contains(&address))
        });
        (in_range || self.hosts.contains(&host))
            .then_some(())
            .ok_or(EgressError::Host(host))
    }

    /// Those of the addresses that were found for a host that may be connected to.
    pub fn admit(&self, host: &str, found: &[SocketAddr]) -> Result<Vec<SocketAddr>, EgressError> {
        let refused = found
            .iter()
            .find_map(|it| self.check_address(it.ip()).err());
        let good = |address: &SocketAddr| self.check_address(address.ip()).is_ok();
        let good: Vec<SocketAddr> = found.iter().copied().filter(good).collect();
        match refused {
            Some(refused) if good.is_empty() => Err(refused),
            None if good.is_empty() => Err(EgressError::NoAddress(host.to_owned())),
            Some(_) | None => Ok(good),
        }
    }
}

/// Whether anybody on the Internet could reach the address, too.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// What the registry of special-purpose addresses calls globally reachable (RFC 6890).
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let shared = first == 100 && second & 0xc0 == 64;
    let protocols = first == 192 && second == 0 && third == 0;
    let benchmarks = first == 198 && second & 0xfe == 18;
    !(first == 0
        || first >= 240
        || shared
        || protocols
        || benchmarks
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let global_unicast = first & 0xe000 == 0x2000;
    let documentation = first == 0x2001 && second == 0xdb8;
    // 6to4 and Teredo carry an IPv4 address that nobody has judged.
    let tunnel = first == 0x2002 || (first == 0x2001 && second == 0);
    global_unicast && !documentation && !tunnel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_connected_to() {
        // H12.
        let egress = Egress::default();
        for public in ["8.8.8.8", "198.41.0.4", "2001:500:2::c", "1.1.1.1"] {
            assert!(
                egress.check_address(public.parse().unwrap()).is_ok(),
                "{public}"
            );
        }
        for other in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "2001:db8::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
        ] {
            let refused = egress.check_address(other.parse().unwrap());
            assert!(refused.is_err(), "{other}");
        }
    }

    #[test]
    fn the_operator_allows_ranges_and_hosts() {
        let egress = Egress {
            ranges: vec!["127.0.0.0/8".parse().unwrap()],
            hosts: vec!["moto.example".to_owned()],
        };
        assert!(egress.check_address("127.0.0.1".parse().unwrap()).is_ok());
        assert!(
            egress
                .check_address("::ffff:127.0.0.1".parse().unwrap())
                .is_ok()
        );
        assert!(egress.check_address("10.0.0.1".parse().unwrap()).is_err());
        assert!(egress.check_host("MOTO.example.").is_ok());
        assert!(egress.check_host("127.0.0.1").is_ok());
        assert!(egress.check_host("example").is_err());
    }

    #[test]
    fn of_the_addresses_of_a_host_only_those_that_may_be_connected_to_are_left() {
        let egress = Egress::default();
        let found = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let mixed = found(&["10.0.0.1:53", "8.8.8.8:53"]);
        assert_eq!(
            egress.admit("a.example", &mixed),
            Ok(found(&["8.8.8.8:53"]))
        );
        let refused = EgressError::Address("10.0.0.1".parse().unwrap());
        assert_eq!(egress.admit("a.example", &mixed[..1]), Err(refused));
        let nowhere = EgressError::NoAddress("a.example".to_owned());
        assert_eq!(egress.admit("a.example", &[]), Err(nowhere));
    }
}
