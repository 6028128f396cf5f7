//! Messages over TCP: one connection for each exchange, signed both ways (RFC 7766, RFC 8945).
//!
//! It waits for its turn, connects to whom it may, sends one request and reads what follows, all within a deadline.
//! What the messages mean is not known here.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, pending};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use api::parse::provider_secret::{Rfc2136 as Access, Tsig, TsigAlgorithm};
use domain::base::Message;
use domain::base::iana::Rcode;
use domain::rdata::tsig::Time48;
use domain::tsig::{Algorithm, ClientSequence, ClientTransaction, Key, KeyName, ValidationError};
use domain::utils::base64;
use egress::Egress;
use provider::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::yield_now;

use super::convert::Request;
use super::fault::Fault;
use super::transfer::{Content, Transfer};
use crate::pace::Pace;
use crate::resolve::resolve;

/// A server answers at once, and an update within the time that its disk takes. The rest is for networks that lose
/// packets: a connection that is not answered is asked for again after one, three and seven seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// The largest transfer within it takes 18 Mbit/s.
const TRANSFER_WITHIN: Duration = Duration::from_mins(1);

/// A million records take some 60 MB in a transfer; twice that.
const TRANSFER_OCTETS_MAX: usize = 128 << 20;

/// Access to one server.
pub(super) struct Client {
    host: String,
    port: u16,
    key: Arc<Key>,
    egress: Arc<Egress>,
    pace: Arc<Pace>,
}

impl Client {
    pub(super) fn new(
        access: &Access,
        egress: Arc<Egress>,
        pace: Arc<Pace>,
    ) -> Result<Client, Error> {
        Ok(Client {
            host: access.host.clone(),
            port: access.port,
            key: Arc::new(key(&access.key)?),
            egress,
            pace,
        })
    }

    /// Sends a request that has one answer, and returns it verified, whatever it says.
    pub(super) async fn ask(&self, mut request: Request) -> Result<Message<Vec<u8>>, Fault> {
        let exchange = async {
            let signed = ClientTransaction::request(self.key.as_ref(), &mut request, Time48::now());
            let transaction = signed.expect("requests leave room for a signature");
            let mut connection = self.connect().await?;
            connection.send(&request).await?;
            let mut answer = connection.receive(&request).await?;
            verified(answer.header().rcode(), || {
                transaction.answer(&mut answer, Time48::now())
            })?;
            Ok(answer)
        };
        self.pace.turn().await;
        within(ANSWER_WITHIN, exchange).await
    }

    /// Sends a request that is answered with a zone, or with what changed in it.
    pub(super) async fn transfer(
        &self,
        mut request: Request,
        transfer: Transfer,
    ) -> Result<Content, Fault> {
        let exchange = async {
            let signed = ClientSequence::request(self.key.as_ref(), &mut request, Time48::now());
            let sequence = signed.expect("requests leave room for a signature");
            let mut connection = self.connect().await?;
            connection.send(&request).await?;
            let (ahead, messages) = mpsc::unbounded_channel();
            tokio::select! {
                biased;
                never = read_ahead(connection, &request, ahead) => match never {},
                content = assemble(transfer, sequence, messages) => content,
            }
        };
        self.pace.turn().await;
        within(TRANSFER_WITHIN, exchange).await
    }

    /// The first of the server's addresses that takes a connection.
    async fn connect(&self) -> Result<Connection, Fault> {
        let addresses = resolve(&self.egress, &self.host, self.port).await?;
        let stream = TcpStream::connect(addresses.as_slice()).await;
        let stream = stream.map_err(Fault::Connect)?;
        Ok(Connection(BufReader::new(stream)))
    }
}

/// A stream of messages, each behind its length (RFC 1035 §4.2.2).
struct Connection(BufReader<TcpStream>);

impl Connection {
    async fn send(&mut self, request: &Request) -> Result<(), Fault> {
        let octets = request.as_target().as_stream_slice();
        Ok(self.0.write_all(octets).await?)
    }

    /// The next message, if it is an answer to the request.
    async fn receive(&mut self, request: &Request) -> Result<Message<Vec<u8>>, Fault> {
        let octets = self.receive_octets().await?;
        let answer = Message::from_octets(octets).map_err(|_| Fault::Garbage)?;
        let (asked, said) = (request.header(), answer.header());
        let answers = said.qr() && !said.tc() && said.id() == asked.id();
        if answers && said.opcode() == asked.opcode() {
            Ok(answer)
        } else {
            Err(Fault::Garbage)
        }
    }

    async fn receive_octets(&mut self) -> io::Result<Vec<u8>> {
        let length = self.0.read_u16().await?;
        let mut octets = vec![0; usize::from(length)];
        self.0.read_exact(&mut octets).await?;
        Ok(octets)
    }
}

/// Reads faster than messages are understood: Knot hangs up on whoever does not read for half a second. What it holds
/// is bounded by what a transfer may take. The last message is why there are no more.
async fn read_ahead(
    mut connection: Connection,
    request: &Request,
    ahead: mpsc::UnboundedSender<Result<Message<Vec<u8>>, Fault>>,
) -> Infallible {
    let mut octets = 0;
    loop {
        let mut message = connection.receive(request).await;
        octets += message.as_ref().map_or(0, |it| it.as_slice().len());
        if octets > TRANSFER_OCTETS_MAX {
            message = Err(Fault::Endless(TRANSFER_OCTETS_MAX));
        }
        let is_last = message.is_err();
        if ahead.send(message).is_err() || is_last {
            return pending().await;
        }
    }
}

/// Verifies and understands one message after the other, and lets others have a turn in between.
async fn assemble(
    mut transfer: Transfer,
    mut sequence: ClientSequence<&Key>,
    mut messages: mpsc::UnboundedReceiver<Result<Message<Vec<u8>>, Fault>>,
) -> Result<Content, Fault> {
    loop {
        let message = messages.recv().await;
        let mut message = message.expect("who reads ahead never ends")?;
        let rcode = message.header().rcode();
        verified(rcode, || sequence.answer(&mut message, Time48::now()))?;
        if rcode != Rcode::NOERROR {
            return Err(Fault::Rcode(rcode));
        }
        match transfer.take(&message)? {
            ControlFlow::Continue(more) => transfer = more,
            ControlFlow::Break(content) => {
                return verified(rcode, || sequence.done()).map(|()| content);
            }
        }
        yield_now().await;
    }
}

/// The code is what the answer says of itself, which may be all that there is to tell.
fn verified(
    rcode: Rcode,
    verify: impl FnOnce() -> Result<(), ValidationError>,
) -> Result<(), Fault> {
    verify().or_else(|why| Fault::of_signature(why, rcode))
}

async fn within<T>(
    time: Duration,
    exchange: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let settled = tokio::time::timeout(time, exchange).await;
    settled.unwrap_or(Err(Fault::Slow(time)))
}

fn key(tsig: &Tsig) -> Result<Key, Error> {
    let algorithm = match tsig.algorithm {
        TsigAlgorithm::Sha256 => Algorithm::Sha256,
        TsigAlgorithm::Sha384 => Algorithm::Sha384,
        TsigAlgorithm::Sha512 => Algorithm::Sha512,
        TsigAlgorithm::Sha1 => Algorithm::Sha1,
    };
    let name: KeyName = (tsig.name.to_string().parse()).map_err(denied)?;
    let secret: Vec<u8> = base64::decode(tsig.secret.expose()).map_err(denied)?;
    Key::new(algorithm, &secret, name, None, None).map_err(denied)
}

fn denied(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Denied(Box::new(error))
}

/// Without its key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("host", &self.host)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}
