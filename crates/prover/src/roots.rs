//! The Internet's root servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses of the letters A to M, those of IPv4 first: <https://www.internic.net/domain/named.root>.
///
/// They hardly ever change, and a changed one goes on answering for years; whoever needs others names them.
pub const ROOT_SERVERS: [IpAddr; 26] = [
    v4([198, 41, 0, 4]),
    v4([170, 247, 170, 2]),
    v4([192, 33, 4, 12]),
    v4([199, 7, 91, 13]),
    v4([192, 203, 230, 10]),
    v4([192, 5, 5, 241]),
    v4([192, 112, 36, 4]),
    v4([198, 97, 190, 53]),
    v4([192, 36, 148, 17]),
    v4([192, 58, 128, 30]),
    v4([193, 0, 14, 129]),
    v4([199, 7, 83, 42]),
    v4([202, 12, 27, 33]),
    v6([0x2001, 0x503, 0xba3e, 0, 0, 0, 2, 0x30]),
    v6([0x2801, 0x1b8, 0x10, 0, 0, 0, 0, 0xb]),
    v6([0x2001, 0x500, 0x2, 0, 0, 0, 0, 0xc]),
    v6([0x2001, 0x500, 0x2d, 0, 0, 0, 0, 0xd]),
    v6([0x2001, 0x500, 0xa8, 0, 0, 0, 0, 0xe]),
    v6([0x2001, 0x500, 0x2f, 0, 0, 0, 0, 0xf]),
    v6([0x2001, 0x500, 0x12, 0, 0, 0, 0, 0xd0d]),
    v6([0x2001, 0x500, 0x1, 0, 0, 0, 0, 0x53]),
    v6([0x2001, 0x7fe, 0, 0, 0, 0, 0, 0x53]),
    v6([0x2001, 0x503, 0xc27, 0, 0, 0, 2, 0x30]),
    v6([0x2001, 0x7fd, 0, 0, 0, 0, 0, 0x1]),
    v6([0x2001, 0x500, 0x9f, 0, 0, 0, 0, 0x42]),
    v6([0x2001, 0xdc3, 0, 0, 0, 0, 0, 0x35]),
];

const fn v4(octets: [u8; 4]) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_octets(octets))
}

const fn v6(segments: [u16; 8]) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from_segments(segments))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_root_server_is_somebody_else_and_anybody_can_reach_it() {
        let different: BTreeSet<_> = ROOT_SERVERS.into_iter().collect();
        assert_eq!(different.len(), ROOT_SERVERS.len());
        for address in ROOT_SERVERS {
            let egress = egress::Egress::default();
            assert!(egress.check_address(address).is_ok(), "{address}");
        }
        let shown = ROOT_SERVERS.map(|address| address.to_string());
        assert_eq!(shown[9], "192.58.128.30");
        assert_eq!(shown[22], "2001:503:c27::2:30");
    }
}
