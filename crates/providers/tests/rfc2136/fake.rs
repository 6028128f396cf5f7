//! A server that says what it is told to, signed as it should be or not, and remembers what it was asked; and a
//! stranger between us and a real one.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use dns::Rtype;
use domain::base::iana::{Opcode, Rcode};
use domain::base::message_builder::AnswerBuilder;
use domain::base::{Message, MessageBuilder, StreamTarget};
use domain::rdata::Soa;
use domain::rdata::tsig::Time48;
use domain::tsig::{Algorithm, Key, ServerSequence, ServerTransaction};
use domain::utils::base64;
use domain::zonefile::inplace::{Entry, Zonefile};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::stage::{KEY, SECRET};

/// What comes back on one connection.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Messages with these records, and then nothing more, on a connection that stays open.
    Messages(Vec<String>),
    /// Messages with these records, and then the end of the connection.
    Cut(Vec<String>),
    /// The same message again and again.
    Endless(String),
    /// A code without records.
    Code(Rcode),
    /// A code that nobody has signed.
    Unsigned(Rcode),
    /// Records signed with another secret.
    Forged(String),
    /// The verdict of a server whose clock is an hour ahead.
    Ahead,
    /// These octets.
    Octets(Vec<u8>),
}

/// A server on loopback.
pub(crate) struct Fake {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// Gives one reply to each connection, in order.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Fake {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let fake = Fake {
            address: listener.local_addr().unwrap(),
            asked: Arc::default(),
        };
        let (asked, replies) = (fake.asked.clone(), replies.into_iter().collect::<Vec<_>>());
        tokio::spawn(async move {
            let mut open = Vec::new();
            for reply in replies {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = receive(&mut stream).await.unwrap();
                asked.lock().unwrap().push(question(&request));
                // Who does not want to hear the end of it hangs up.
                let _ = give(&mut stream, reply.clone(), request).await;
                open.extend((!matches!(reply, Reply::Cut(_))).then_some(stream));
            }
            std::future::pending::<()>().await;
        });
        fake
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The types that were asked for, differences with the serial that they are from.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Hands requests on and remembers them.
pub(crate) struct Stranger {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Stranger {
    /// One who also hands the answers back, or keeps them.
    pub(crate) async fn before(server: SocketAddr, keeps_answers: bool) -> Stranger {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let stranger = Stranger {
            address: listener.local_addr().unwrap(),
            asked: Arc::default(),
        };
        let asked = stranger.asked.clone();
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                tokio::spawn(hand_on(near, server, keeps_answers, asked.clone()));
            }
        });
        stranger
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn hand_on(
    mut near: TcpStream,
    server: SocketAddr,
    keeps_answers: bool,
    asked: Arc<Mutex<Vec<String>>>,
) {
    let mut far = TcpStream::connect(server).await.unwrap();
    let request = receive(&mut near).await.unwrap();
    asked.lock().unwrap().push(question(&request));
    send(&mut far, request.as_slice()).await.unwrap();
    let answer = receive(&mut far).await.unwrap();
    if !keeps_answers {
        send(&mut near, answer.as_slice()).await.unwrap();
        // Whatever else there is.
        let _ = tokio::io::copy(&mut far, &mut near).await;
    }
}

async fn give(
    stream: &mut TcpStream,
    reply: Reply,
    mut request: Message<Vec<u8>>,
) -> std::io::Result<()> {
    match reply {
        Reply::Messages(messages) | Reply::Cut(messages) => {
            let mut sequence = verify(&mut request);
            for records in messages {
                let answer = signed(&mut sequence, with_records(&request, &records));
                send(stream, &answer).await?;
            }
            Ok(())
        }
        Reply::Endless(records) => {
            let mut sequence = verify(&mut request);
            let soa = "example.org. 300 IN SOA ns.example.org. x. 1 2 3 4 5";
            let first = signed(&mut sequence, with_records(&request, soa));
            send(stream, &first).await?;
            let message = with_records(&request, &records);
            loop {
                let answer = signed(&mut sequence, message.clone());
                send(stream, &answer).await?;
            }
        }
        Reply::Code(rcode) => {
            let mut sequence = verify(&mut request);
            let answer = MessageBuilder::new_stream_vec();
            let answer = answer.start_answer(&request, rcode).unwrap();
            send(stream, &signed(&mut sequence, answer)).await
        }
        Reply::Unsigned(rcode) => {
            let answer = MessageBuilder::new_vec();
            let answer = answer.start_answer(&request, rcode).unwrap();
            send(stream, &answer.finish()).await
        }
        Reply::Forged(records) => {
            let mut answer = signed(&mut verify(&mut request), with_records(&request, &records));
            let last = answer.len() - 8;
            answer[last] ^= 1;
            send(stream, &answer).await
        }
        Reply::Ahead => {
            let now = Time48::from_u64(u64::from(Time48::now()) + 3_600);
            let error = ServerTransaction::request(&key(), &mut request, now);
            let target = MessageBuilder::new_vec();
            let answer = error.unwrap_err().build_message(&request, target).unwrap();
            send(stream, &answer.finish()).await
        }
        Reply::Octets(octets) => send(stream, &octets).await,
    }
}

fn key() -> Key {
    let secret: Vec<u8> = base64::decode(SECRET).unwrap();
    Key::new(Algorithm::Sha256, &secret, KEY.parse().unwrap(), None, None).unwrap()
}

fn verify(request: &mut Message<Vec<u8>>) -> ServerSequence<Key> {
    let verified = ServerSequence::request(&key(), request, Time48::now()).unwrap();
    verified.expect("requests are signed")
}

fn signed(
    sequence: &mut ServerSequence<Key>,
    answer: AnswerBuilder<StreamTarget<Vec<u8>>>,
) -> Vec<u8> {
    let mut answer = answer.additional();
    sequence.answer(&mut answer, Time48::now()).unwrap();
    answer.finish().as_dgram_slice().to_vec()
}

/// Records in the form of a zone file.
fn with_records(request: &Message<Vec<u8>>, records: &str) -> AnswerBuilder<StreamTarget<Vec<u8>>> {
    let answer = MessageBuilder::new_stream_vec();
    let mut answer = answer.start_answer(request, Rcode::NOERROR).unwrap();
    let mut file = Zonefile::from(format!("{records}\n").as_str());
    while let Some(entry) = file.next_entry().unwrap() {
        match entry {
            Entry::Record(record) => answer.push(record).unwrap(),
            Entry::Include { .. } => panic!("an include"),
        }
    }
    answer
}

fn question(request: &Message<Vec<u8>>) -> String {
    let rtype = Rtype::from(request.sole_question().unwrap().qtype());
    let mut known = request.authority().unwrap().limit_to::<Soa<_>>();
    match known.next() {
        _ if request.header().opcode() == Opcode::UPDATE => "UPDATE".to_owned(),
        Some(soa) => format!("{rtype} {}", soa.unwrap().data().serial()),
        None => rtype.to_string(),
    }
}

async fn send(stream: &mut TcpStream, message: &[u8]) -> std::io::Result<()> {
    let length = u16::try_from(message.len()).unwrap();
    stream
        .write_all(&[&length.to_be_bytes(), message].concat())
        .await
}

async fn receive(stream: &mut TcpStream) -> std::io::Result<Message<Vec<u8>>> {
    let mut message = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut message).await?;
    Ok(Message::from_octets(message).unwrap())
}
