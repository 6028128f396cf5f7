//! Why nothing can be said, in words that somebody can do something about.
//!
//! They stand in the status of an object that tenants read: nothing that a server has sent is repeated in them but names.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use dns::Name;
use egress::EgressError;

/// Why nothing can be said.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A server said nothing.
    #[error("no answer within {0:?}")]
    Silence(Duration),
    /// The way to a server is broken.
    #[error("{0}")]
    Network(String),
    /// What a server sent is no answer.
    #[error("an answer that cannot be read")]
    Garbage,
    /// A server sent more than is read.
    #[error("an answer with more than {0} records")]
    Crowded(usize),
    /// A server did not want to, or could not.
    #[error("answered {0}")]
    Code(String),
    /// A server does not know what it is said to know.
    #[error("does not speak for {0}")]
    Lame(Name),
    /// One server of several, and nobody else answered either.
    #[error("{0}: {1}")]
    At(SocketAddr, Box<Fault>),
    /// There is nobody to begin with.
    #[error("there is nobody to ask")]
    Nobody,
    /// A name server that can only be found through itself.
    #[error("the address of name server {0} can only be asked of itself")]
    Circle(Name),
    /// Name servers that are to be found through name servers that are to be found, too often.
    #[error("the address of name server {0} takes too many others to find")]
    Deep(Name),
    /// Aliases that lead back.
    #[error("alias {0} leads back to itself")]
    Loop(Name),
    /// Too many aliases.
    #[error("more than {0} aliases from one to the next")]
    Chain(usize),
    /// Too much to ask.
    #[error("takes more than {0} questions")]
    Questions(usize),
    /// The name leaves no room for another one beside it.
    #[error("too long to tell its answer from that of a wildcard")]
    Long,
    /// Everything together took too long.
    #[error("no result within {0:?}")]
    Late(Duration),
}

/// Why a way ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Stop {
    /// Nobody is there who may be asked.
    Refused(EgressError),
    /// Nobody gave an answer that helps.
    Unclear(Fault),
}

impl Stop {
    /// Of this one and those before, the one that somebody can do most about: an address that is refused, then what may
    /// pass, then a host that has no address at all.
    pub(crate) fn after(self, before: Option<Stop>) -> Stop {
        let rank = |stop: &Stop| match stop {
            Stop::Refused(EgressError::Address(_) | EgressError::Host(_)) => 0,
            Stop::Unclear(_) => 1,
            Stop::Refused(EgressError::NoAddress(_)) => 2,
        };
        let both = before.into_iter().chain([self.clone()]);
        both.min_by_key(rank).unwrap_or(self)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Unclear(fault)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "the errors of others: those with words of their own are listed"
        )]
        let words = match error.kind() {
            ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                "connection reset".to_owned()
            }
            ErrorKind::UnexpectedEof => "connection closed before an answer".to_owned(),
            ErrorKind::HostUnreachable => "host unreachable".to_owned(),
            ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
            _ => error.to_string(),
        };
        Fault::Network(words)
    }
}
