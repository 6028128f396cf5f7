//! Threads that serve queries, each with a runtime and sockets of its own.

use std::io;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::listen::{Share, Sockets};
use super::tcp::Gate;
use super::{OpenError, Shared, Stop, stopped, tcp, thread, udp};

/// What a thread works with.
#[derive(Clone)]
pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) gate: Arc<Gate>,
    /// Which one it is.
    pub(super) number: usize,
    pub(super) stop: Stop,
}

/// Starts a thread for each share of the sockets. Each holds `end` until it has ended.
pub(super) fn start(
    sockets: Sockets,
    shared: &Arc<Shared>,
    stop: &Stop,
    end: &mpsc::Sender<()>,
) -> Result<(), OpenError> {
    let gate = Arc::new(Gate::new(&shared.limits));
    for (number, share) in sockets.shares.into_iter().enumerate() {
        let worker = Worker {
            shared: shared.clone(),
            gate: gate.clone(),
            number,
            stop: stop.clone(),
        };
        thread::start(
            format!("dns-{number}"),
            end.clone(),
            move || register(share),
            move |runtime, sockets| runtime.block_on(serve(worker, sockets)),
        )?;
    }
    Ok(())
}

/// Makes the sockets known to the runtime that will wait for them.
fn register(share: Share) -> io::Result<(Vec<udp::Socket>, Vec<TcpListener>)> {
    let udp = share.udp.into_iter().map(udp::Socket::new);
    let tcp = share.tcp.into_iter().map(TcpListener::from_std);
    Ok((
        udp.collect::<io::Result<_>>()?,
        tcp.collect::<io::Result<_>>()?,
    ))
}

/// Serves until told to stop, then waits for what is still being answered.
async fn serve(worker: Worker, sockets: (Vec<udp::Socket>, Vec<TcpListener>)) {
    let (udp, tcp) = sockets;
    let mut tasks = JoinSet::new();
    for socket in udp {
        tasks.spawn(udp::serve(worker.clone(), socket));
    }
    for listener in tcp {
        tasks.spawn(tcp::serve(worker.clone(), listener));
    }
    let deadline = stopped(&mut worker.stop.clone()).await;
    let all = async { while tasks.join_next().await.is_some() {} };
    let _ = timeout_at(deadline.into(), all).await;
}
