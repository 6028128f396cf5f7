//! Datagrams: read in batches, answered one by one, sent without waiting.
//!
//! When more comes than can be answered, the kernel's buffer is full and the rest is lost there: nothing here grows. An
//! answer leaves from the address its query was sent to, also where the socket listens on all of them.

use std::io::{self, IoSliceMut};
use std::net::UdpSocket;
use std::time::Duration;

use quinn_udp::{RecvMeta, Transmit, UdpSocketState};
use tokio::io::Interest;
use tokio::time::sleep;

use super::stopped;
use super::worker::Worker;
use crate::{Client, Transport, answer};

/// Datagrams, or trains of them, that are read at once.
const BATCH: usize = 16;

/// The kernel may hand over several datagrams of one client in a row, as many as fit into this.
const TRAIN_OCTETS_MAX: usize = 65_535;

/// How long to wait after the kernel failed to give us datagrams, which will pass or will not.
const FAILURE_PAUSE: Duration = Duration::from_millis(1);

/// A socket that tells where datagrams were sent to.
pub(super) struct Socket {
    socket: tokio::net::UdpSocket,
    state: UdpSocketState,
}

impl Socket {
    /// Takes a socket that is bound and does not block. To be called in a runtime.
    pub(super) fn new(socket: UdpSocket) -> io::Result<Socket> {
        Ok(Socket {
            state: UdpSocketState::new((&socket).into())?,
            socket: tokio::net::UdpSocket::from_std(socket)?,
        })
    }

    async fn receive(
        &self,
        buffers: &mut [Vec<u8>; BATCH],
        metas: &mut [RecvMeta; BATCH],
    ) -> io::Result<usize> {
        self.socket
            .async_io(Interest::READABLE, || {
                let mut slices = buffers.each_mut().map(|buffer| IoSliceMut::new(buffer));
                self.state.recv((&self.socket).into(), &mut slices, metas)
            })
            .await
    }

    /// Sends, or gives up: whoever asked will ask again.
    fn send(&self, octets: &[u8], query: &RecvMeta) -> io::Result<()> {
        let transmit = Transmit {
            destination: query.addr,
            ecn: None,
            contents: octets,
            segment_size: None,
            src_ip: query.dst_ip,
        };
        self.socket.try_io(Interest::WRITABLE, || {
            self.state.try_send((&self.socket).into(), &transmit)
        })
    }
}

/// Answers what comes to a socket until the server stops.
pub(super) async fn serve(worker: Worker, socket: Socket) {
    let mut stop = worker.stop.clone();
    tokio::select! {
        _ = stopped(&mut stop) => {}
        () = answer_all(&worker, &socket) => {}
    }
}

async fn answer_all(worker: &Worker, socket: &Socket) {
    let mut buffers = std::array::from_fn(|_| vec![0; TRAIN_OCTETS_MAX]);
    let mut metas = [RecvMeta::default(); BATCH];
    let mut reply = Vec::new();
    loop {
        let Ok(count) = socket.receive(&mut buffers, &mut metas).await else {
            sleep(FAILURE_PAUSE).await;
            continue;
        };
        for (meta, buffer) in metas.iter().zip(&buffers).take(count) {
            for query in buffer[..meta.len].chunks(meta.stride.max(1)) {
                answer_one(worker, socket, meta, query, &mut reply);
            }
        }
    }
}

fn answer_one(
    worker: &Worker,
    socket: &Socket,
    meta: &RecvMeta,
    query: &[u8],
    reply: &mut Vec<u8>,
) {
    let tally = worker.shared.counters.tally(worker.number);
    let client = Client {
        address: meta.addr.ip(),
        transport: Transport::Udp,
    };
    // One snapshot for the whole answer (N2).
    let zones = worker.shared.zones.load();
    let outcome = answer(query, client, &zones, &mut rand::rng(), reply);
    tally.answered(Transport::Udp, query.len(), outcome, reply.len());
    if outcome.is_some() && socket.send(reply, meta).is_err() {
        tally.unsent(Transport::Udp);
    }
}
