//! Connections: many queries each, answered in their order, within bounds (RFC 7766).
//!
//! A connection is read into a small buffer. Every whole query in it is answered at once, then the answers are written,
//! then it is read again: a client that does not take its answers is not read either, and after a while it is cut. So a
//! connection holds at most [`INPUT_OCTETS`], and [`OUTPUT_OCTETS`] and one answer more.

mod gate;

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::stopped;
use super::worker::Worker;
use crate::{Client, Transport, answer};

pub(super) use gate::Gate;

/// The longest query that is read. What is asked fits into some 300 octets; signatures and padding take the rest.
const QUERY_OCTETS_MAX: usize = 4_096;

/// The length in front of every message.
const LENGTH_OCTETS: usize = 2;

/// What is read ahead: the longest query, or some hundred ordinary ones.
const INPUT_OCTETS: usize = LENGTH_OCTETS + QUERY_OCTETS_MAX;

/// Answers that are collected before they are written.
const OUTPUT_OCTETS: usize = 16_384;

/// How long to wait when the process has no descriptors left: others will be closed (I14).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How a conversation ended.
enum End {
    /// The client is done, or the server is.
    Closed,
    /// A deadline passed, or a message was too long.
    Cut,
}

/// Takes connections until the server stops, then waits for those that are left.
pub(super) async fn serve(worker: Worker, listener: TcpListener) {
    let mut connections = JoinSet::new();
    let mut stop = worker.stop.clone();
    tokio::select! {
        _ = stopped(&mut stop) => {}
        () = accept_all(&worker, &listener, &mut connections) => {}
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn accept_all(worker: &Worker, listener: &TcpListener, connections: &mut JoinSet<()>) {
    let tally = worker.shared.counters.tally(worker.number);
    loop {
        while connections.try_join_next().is_some() {}
        let (stream, client) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(err) if is_about_one_client(&err) => continue,
            Err(err) => {
                tracing::warn!(error = %err, "Cannot take connections");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(place) = worker.gate.admit(client.ip()) else {
            tally.connection_refused();
            continue;
        };
        // When all places are taken, the rest waits with the kernel.
        let place = place.enter().await;
        tally.connection();
        let worker = worker.clone();
        connections.spawn(async move {
            converse(&worker, stream, client.ip()).await;
            drop(place);
        });
    }
}

/// A client that went away before it was accepted.
fn is_about_one_client(err: &io::Error) -> bool {
    matches!(
        err.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

async fn converse(worker: &Worker, mut stream: TcpStream, address: IpAddr) {
    // Answers are small and should not wait for more of them.
    let _ = stream.set_nodelay(true);
    let tally = worker.shared.counters.tally(worker.number);
    match answer_all(worker, &mut stream, address).await {
        Ok(End::Closed) => {
            let _ = timeout(worker.shared.limits.write, stream.shutdown()).await;
        }
        Ok(End::Cut) => tally.connection_cut(),
        // The client broke it off.
        Err(_) => {}
    }
}

async fn answer_all(worker: &Worker, stream: &mut TcpStream, address: IpAddr) -> io::Result<End> {
    let limits = &worker.shared.limits;
    let mut stop = worker.stop.clone();
    let mut conversation = Conversation::with(address);
    let mut patience = limits.read;
    loop {
        let reading = conversation.read_query(stream, patience, limits.read);
        let ready = tokio::select! {
            _ = stopped(&mut stop) => return Ok(End::Closed),
            ready = reading => ready?,
        };
        match ready {
            Ready::Query => {}
            Ready::Ended(end) => return Ok(end),
        }
        while conversation.answer(worker) {
            let writing = stream.write_all(&conversation.output);
            match timeout(limits.write, writing).await {
                Ok(written) => written?,
                Err(_) => return Ok(End::Cut),
            }
            conversation.written();
        }
        patience = worker.gate.idle(limits);
    }
}

/// What reading led to.
enum Ready {
    /// There is a whole query.
    Query,
    /// There will be none.
    Ended(End),
}

/// Octets that came and octets that are to go.
struct Conversation {
    client: Client,
    input: Vec<u8>,
    reply: Vec<u8>,
    output: Vec<u8>,
}

impl Conversation {
    fn with(address: IpAddr) -> Conversation {
        Conversation {
            client: Client {
                address,
                transport: Transport::Tcp,
            },
            input: Vec::new(),
            reply: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Reads until there is a whole query. Its first octet may take as long as `patience`, all others together `whole`:
    /// a client that sends them one by one gains nothing (I6).
    async fn read_query(
        &mut self,
        stream: &mut TcpStream,
        patience: Duration,
        whole: Duration,
    ) -> io::Result<Ready> {
        if self.input.is_empty() {
            // Where nothing was asked, nothing is lost.
            let first = timeout(patience, self.read(stream)).await;
            if first.unwrap_or(Ok(0))? == 0 {
                return Ok(Ready::Ended(End::Closed));
            }
        }
        let rest = async {
            loop {
                match first_query(&self.input) {
                    Some(Ok(_)) => return Ok(Ready::Query),
                    Some(Err(TooLong)) => return Ok(Ready::Ended(End::Cut)),
                    None => {}
                }
                if self.read(stream).await? == 0 {
                    return Ok(Ready::Ended(End::Closed));
                }
            }
        };
        let rest = timeout(whole, rest).await;
        rest.unwrap_or(Ok(Ready::Ended(End::Cut)))
    }

    /// Reads what there is, as much as there is room for.
    async fn read(&mut self, stream: &mut TcpStream) -> io::Result<usize> {
        self.input.reserve(INPUT_OCTETS - self.input.len());
        let room = INPUT_OCTETS - self.input.len();
        (&mut *stream)
            .take(room as u64)
            .read_buf(&mut self.input)
            .await
    }

    /// Lets go of what was written, and of the memory that only a large answer needs.
    fn written(&mut self) {
        self.output.clear();
        self.output.shrink_to(OUTPUT_OCTETS);
        self.reply.shrink_to(OUTPUT_OCTETS);
    }

    /// Answers queries that are there in full until enough is to be written, and tells whether something is.
    fn answer(&mut self, worker: &Worker) -> bool {
        let tally = worker.shared.counters.tally(worker.number);
        while self.output.len() < OUTPUT_OCTETS
            && let Some(Ok(query)) = first_query(&self.input)
        {
            let octets = query.len();
            // One snapshot for the whole answer (N2); the next query may see the next.
            let zones = worker.shared.zones.load();
            let chance = &mut rand::rng();
            let outcome = answer(query, self.client, &zones, chance, &mut self.reply);
            tally.answered(Transport::Tcp, octets, outcome, self.reply.len());
            if outcome.is_some() {
                let length =
                    u16::try_from(self.reply.len()).expect("an answer is within the limit of TCP");
                self.output.extend(length.to_be_bytes());
                self.output.extend(&self.reply);
            }
            self.input.drain(..LENGTH_OCTETS + octets);
        }
        !self.output.is_empty()
    }
}

/// A query longer than any we read.
struct TooLong;

/// The first query, if it is there in full.
fn first_query(input: &[u8]) -> Option<Result<&[u8], TooLong>> {
    let (length, rest) = input.split_first_chunk::<LENGTH_OCTETS>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length > QUERY_OCTETS_MAX {
        return Some(Err(TooLong));
    }
    rest.get(..length).map(Ok)
}
