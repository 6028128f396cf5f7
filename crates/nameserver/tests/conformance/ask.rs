//! Asks one server many queries at once, and tells for each the answer or that there was none.
//!
//! Over UDP a window of queries is under way, told apart by their numbers; what is not answered is asked again a few times.
//! Over TCP a few connections carry many queries each. What breaks or does not come back that way is asked once more on a
//! connection of its own. So a datagram that was lost is no difference, and a query that is dropped costs others nothing.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use crate::query::{Query, Transport};

/// Datagrams under way: the buffer of a socket holds a few hundred.
const WINDOW: usize = 64;

/// How long to wait for the next datagram.
const QUIET: Duration = Duration::from_millis(500);

/// From one attempt to the next. NSD gives no more than a hundred errors a second: what it leaves out in one attempt is
/// answered in another.
const PACE: Duration = Duration::from_secs(1);

/// So many attempts in a row without a new answer, and there will be none.
const VAIN_ATTEMPTS: usize = 2;

/// Connections that carry many queries.
const CONNECTIONS: usize = 4;

/// Queries under way on each of them.
const PIPELINED: usize = 16;

/// Connections for one query each, at the same time.
const ALONE: usize = 32;

/// How long an answer over TCP may take. Nothing is lost there, so one attempt is enough.
const PATIENCE: Duration = Duration::from_secs(2);

/// So many queries have numbers of their own.
const NUMBERS: usize = 50_000;

/// The answers to some of the queries, by index.
type Answers = HashMap<usize, Vec<u8>>;

/// Asks everything. Answers are in the order of the queries.
pub(crate) async fn ask(server: SocketAddr, queries: &[Query]) -> io::Result<Vec<Option<Vec<u8>>>> {
    let of = |transport| {
        let indices =
            (0..queries.len()).filter(move |index| queries[*index].transport == transport);
        indices.collect::<Vec<_>>()
    };
    let (datagrams, streams) = (of(Transport::Udp), of(Transport::Tcp));
    let mut answers = Answers::new();
    for some in datagrams.chunks(NUMBERS) {
        let udp = async |left: Vec<usize>| ask_udp(server, queries, &left).await;
        answers.extend(persist(some.to_vec(), udp).await?);
    }
    for some in streams.chunks(NUMBERS) {
        answers.extend(ask_tcp(server, queries, some).await);
    }
    let left: Vec<_> = streams
        .into_iter()
        .filter(|index| !answers.contains_key(index))
        .collect();
    let alone = async |left: Vec<usize>| Ok(ask_alone(server, queries, left).await);
    answers.extend(persist(left, alone).await?);
    let answers = (0..queries.len()).map(|index| answers.remove(&index));
    Ok(answers.collect())
}

/// Attempts it with what has no answer yet, until that is of no use any more.
async fn persist(
    mut left: Vec<usize>,
    mut attempt: impl AsyncFnMut(Vec<usize>) -> io::Result<Answers>,
) -> io::Result<Answers> {
    let (mut answers, mut vain) = (Answers::new(), 0);
    let mut pace = interval(PACE);
    while !left.is_empty() && vain < VAIN_ATTEMPTS {
        pace.tick().await;
        let new = attempt(left.clone()).await?;
        vain = if new.is_empty() { vain + 1 } else { 0 };
        left.retain(|index| !new.contains_key(index));
        answers.extend(new);
    }
    Ok(answers)
}

/// Whether other queries wait for the answer to this one. Servers drop some of what is none of their business.
fn counts(query: &Query) -> bool {
    !query.kind.is_fault()
}

async fn ask_udp(server: SocketAddr, queries: &[Query], asked: &[usize]) -> io::Result<Answers> {
    // A socket of its own: answers to an earlier attempt do not come here.
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    socket.connect(server).await?;
    let (mut answers, mut waiting, mut next) = (Answers::new(), 0, 0);
    let mut buffer = vec![0; 65_535];
    while answers.len() < asked.len() {
        while waiting < WINDOW && next < asked.len() {
            let query = &queries[asked[next]];
            socket.send(&numbered(query, next)).await?;
            waiting += usize::from(counts(query));
            next += 1;
        }
        let Ok(received) = timeout(QUIET, socket.recv(&mut buffer)).await else {
            if next == asked.len() {
                break;
            }
            waiting = 0;
            continue;
        };
        let answer = &buffer[..received?];
        if let Some(index) = number(answer)
            .and_then(|number| asked[..next].get(number))
            .copied()
            && answers.insert(index, answer.to_vec()).is_none()
            && counts(&queries[index])
        {
            waiting = waiting.saturating_sub(1);
        }
    }
    Ok(answers)
}

/// Asks what is no risk for others over a few connections.
async fn ask_tcp(server: SocketAddr, queries: &[Query], asked: &[usize]) -> Answers {
    let asked: Vec<_> = asked
        .iter()
        .copied()
        .filter(|index| counts(&queries[*index]))
        .collect();
    let share = asked.len().div_ceil(CONNECTIONS).max(1);
    let mut conversations = JoinSet::new();
    for some in asked.chunks(share) {
        let messages: Vec<_> = some
            .iter()
            .enumerate()
            .map(|(number, index)| numbered(&queries[*index], number))
            .collect();
        conversations.spawn(converse(server, some.to_vec(), messages));
    }
    conversations
        .join_all()
        .await
        .into_iter()
        .flatten()
        .collect()
}

/// Sends messages, many at once. Where the server has enough of a connection, the next one takes over; what was under way
/// is left to others.
async fn converse(server: SocketAddr, asked: Vec<usize>, messages: Vec<Vec<u8>>) -> Answers {
    let (mut answers, mut next) = (Answers::new(), 0);
    while next < messages.len() {
        let Ok(stream) = TcpStream::connect(server).await else {
            return answers;
        };
        let (mut reader, mut writer) = stream.into_split();
        let mut waiting = 0;
        loop {
            let more = (PIPELINED - waiting).min(messages.len() - next);
            let sent = send(&mut writer, &messages[next..next + more]).await;
            next += more;
            waiting += more;
            if waiting == 0 || sent.is_err() {
                break;
            }
            let Some(answer) = receive(&mut reader).await else {
                break;
            };
            waiting -= 1;
            if let Some(index) = number(&answer).and_then(|number| asked[..next].get(number)) {
                answers.insert(*index, answer);
            }
        }
    }
    answers
}

async fn ask_alone(server: SocketAddr, queries: &[Query], asked: Vec<usize>) -> Answers {
    let places = Arc::new(Semaphore::new(ALONE));
    let mut conversations = JoinSet::new();
    for index in asked {
        let (places, message) = (places.clone(), numbered(&queries[index], 0));
        conversations.spawn(async move {
            let _place = places.acquire().await.expect("nobody closes it");
            converse(server, vec![index], vec![message]).await
        });
    }
    conversations
        .join_all()
        .await
        .into_iter()
        .flatten()
        .collect()
}

async fn send(writer: &mut OwnedWriteHalf, messages: &[Vec<u8>]) -> io::Result<()> {
    let mut framed = Vec::new();
    for message in messages {
        let length = u16::try_from(message.len()).expect("a query is short");
        framed.extend(length.to_be_bytes());
        framed.extend(message);
    }
    writer.write_all(&framed).await
}

/// The next message; nothing if none comes.
async fn receive(reader: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    let reading = async {
        let length = reader.read_u16().await.ok()?;
        let mut message = vec![0; usize::from(length)];
        reader.read_exact(&mut message).await.ok()?;
        Some(message)
    };
    timeout(PATIENCE, reading).await.ok().flatten()
}

/// The message with a number, as far as it has room for one.
fn numbered(query: &Query, number: usize) -> Vec<u8> {
    let number = u16::try_from(number).expect("there are numbers for all");
    let mut octets = query.octets.clone();
    let room = octets.len().min(2);
    octets[..room].copy_from_slice(&number.to_be_bytes()[..room]);
    octets
}

fn number(answer: &[u8]) -> Option<usize> {
    let number = answer.first_chunk::<2>()?;
    Some(usize::from(u16::from_be_bytes(*number)))
}
