//! Name servers that behave badly, in one way each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::{Message, MessageBuilder, Name, Record, Ttl};
use domain::rdata::Txt;
use tokio::net::UdpSocket;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use crate::stage::PROOF;

/// Longer than it takes until a question is sent again.
const SLOW: Duration = Duration::from_millis(1_200);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Behaviour {
    /// Takes questions and says nothing.
    Silent,
    /// Takes its time.
    Slow,
    /// Says everything else first: other ids, other questions, no message at all.
    Confused,
    /// Answers the questions of others only.
    Elsewhere,
    /// Breaks off in the middle.
    Garbled,
}

/// A server that has the proof at one name, and nothing else; for as long as it lives.
pub(crate) struct Stub(JoinHandle<()>);

impl Stub {
    pub(crate) async fn start(at: SocketAddr, behaviour: Behaviour, name: &str) -> Stub {
        let socket = Arc::new(UdpSocket::bind(at).await.unwrap());
        let name: Name<Vec<u8>> = name.parse().unwrap();
        Stub(tokio::spawn(async move {
            let mut buffer = [0; 1500];
            // Each question is answered in its own time; what is under way ends with the server.
            let mut under_way = JoinSet::new();
            loop {
                let (length, client) = socket.recv_from(&mut buffer).await.unwrap();
                let (socket, name) = (Arc::clone(&socket), name.clone());
                let question = buffer[..length].to_vec();
                under_way.spawn(async move {
                    for said in answers(&question, behaviour, &name).await {
                        socket.send_to(&said, client).await.unwrap();
                    }
                });
            }
        }))
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn answers(question: &[u8], behaviour: Behaviour, name: &Name<Vec<u8>>) -> Vec<Vec<u8>> {
    let right = answer(question, name);
    let mut other_id = right.clone();
    other_id[0] ^= 1;
    let mut other_question = right.clone();
    // The first letter of the name that was asked for.
    other_question[13] ^= 1;
    match behaviour {
        Behaviour::Silent => Vec::new(),
        Behaviour::Slow => {
            sleep(SLOW).await;
            vec![right]
        }
        Behaviour::Confused => vec![b"?".to_vec(), other_id, other_question, right],
        Behaviour::Elsewhere => vec![other_id, other_question],
        Behaviour::Garbled => {
            let mut broken = right;
            // More answers than there are.
            broken[7] += 1;
            vec![broken]
        }
    }
}

fn answer(octets: &[u8], name: &Name<Vec<u8>>) -> Vec<u8> {
    let question = Message::from_octets(octets).unwrap();
    let asked = question.sole_question().unwrap();
    let message = MessageBuilder::new_vec();
    let mut message = message.start_answer(&question, Rcode::NOERROR).unwrap();
    message.header_mut().set_aa(true);
    if asked.qname() == name && asked.qtype() == Rtype::TXT {
        let text = Txt::<Vec<u8>>::build_from_slice(PROOF.as_bytes()).unwrap();
        let record = Record::new(name.clone(), Class::IN, Ttl::ZERO, text);
        message.push(record).unwrap();
    }
    message.finish()
}
