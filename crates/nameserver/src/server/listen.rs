//! Sockets: every address for UDP and TCP, on one port.
//!
//! Each worker has UDP sockets of its own, among which the kernel spreads clients. The TCP listener is one, shared by all:
//! it does not let another process listen on the same port, as the UDP sockets would.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

use super::OpenError;

/// How often a port that is free for TCP may turn out to be taken for UDP.
const PORT_TRIES_MAX: usize = 32;

/// Connections that wait to be accepted. The kernel may allow less.
const BACKLOG: i32 = 1_024;

/// What a burst of queries may fill while the worker answers others; the kernel may allow less.
const RECEIVE_BUFFER_OCTETS: usize = 4 << 20;

/// Sockets that are bound, and not served yet.
pub(super) struct Sockets {
    /// In the order of the options.
    pub(super) addresses: Vec<SocketAddr>,
    /// For each worker, the sockets of all addresses.
    pub(super) shares: Vec<Share>,
}

/// One worker's sockets.
#[derive(Default)]
pub(super) struct Share {
    pub(super) udp: Vec<UdpSocket>,
    pub(super) tcp: Vec<TcpListener>,
}

/// Binds every address, or none.
pub(super) fn bind(listeners: &[SocketAddr], workers: usize) -> Result<Sockets, OpenError> {
    let mut sockets = Sockets {
        addresses: Vec::new(),
        shares: (0..workers).map(|_| Share::default()).collect(),
    };
    for address in listeners {
        bind_one(*address, &mut sockets).map_err(|source| OpenError::Listen {
            address: *address,
            source,
        })?;
    }
    Ok(sockets)
}

fn bind_one(address: SocketAddr, sockets: &mut Sockets) -> io::Result<()> {
    let workers = sockets.shares.len();
    let mut tries = 1;
    let (tcp, udp) = loop {
        let tcp = listener(address)?;
        match datagrams(tcp.local_addr()?, workers) {
            Ok(udp) => break (tcp, udp),
            Err(err)
                if address.port() == 0
                    && err.kind() == io::ErrorKind::AddrInUse
                    && tries < PORT_TRIES_MAX =>
            {
                tries += 1;
            }
            Err(err) => return Err(err),
        }
    };
    sockets.addresses.push(tcp.local_addr()?);
    for (share, udp) in sockets.shares.iter_mut().zip(udp) {
        share.tcp.push(tcp.try_clone()?);
        share.udp.push(udp);
    }
    Ok(())
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address, Type::STREAM, Protocol::TCP)?;
    // Connections of the last run that are still fading away do not matter.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn datagrams(address: SocketAddr, count: usize) -> io::Result<Vec<UdpSocket>> {
    (0..count)
        .map(|_| {
            let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
            socket.set_reuse_port(true)?;
            // As much as we may have; less works too.
            let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_OCTETS);
            socket.bind(&address.into())?;
            Ok(socket.into())
        })
        .collect()
}

fn socket(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    if address.is_ipv6() {
        // IPv4 has an address of its own in the options.
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str) {
        let sockets = bind(&[address.parse().unwrap()], 3).unwrap();
        let [bound] = sockets.addresses[..] else {
            panic!("one address")
        };
        assert_ne!(bound.port(), 0);
        assert_eq!(sockets.shares.len(), 3);
        for share in &sockets.shares {
            assert_eq!(share.udp[0].local_addr().unwrap(), bound);
            assert_eq!(share.tcp[0].local_addr().unwrap(), bound);
        }
    }

    #[test]
    fn every_worker_has_the_port_for_udp_and_tcp() {
        check("127.0.0.1:0");
        check("[::1]:0");
    }

    #[test]
    fn ipv4_and_ipv6_share_a_port() {
        let first = bind(&["0.0.0.0:0".parse().unwrap()], 1).unwrap();
        let port = first.addresses[0].port();
        assert!(bind(&[SocketAddr::new("::".parse().unwrap(), port)], 1).is_ok());
    }

    #[test]
    fn an_address_that_another_process_listens_on_is_told() {
        let first = bind(&["127.0.0.1:0".parse().unwrap()], 1).unwrap();
        let taken = first.addresses[0];
        let err = bind(&[taken], 1).err().map(|err| err.to_string());
        assert_eq!(err, Some(format!("cannot listen on {taken}")));
    }

    /// The kernel picks ports without asking whether they are free for UDP too.
    #[test]
    fn a_port_that_is_taken_for_udp_is_not_picked() {
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let err = bind(&[address], 1).err().map(|err| err.to_string());
        assert_eq!(err, Some(format!("cannot listen on {address}")));
    }
}
