//! Looks once in DNS whether a text stands as TXT where only the owner of a domain could have put it.
//!
//! Whoever claims a domain chooses whom we ask, and somebody else's domain is what they want. So nothing is believed but
//! what the domain's own name servers say, found from the roots: no resolver, no cache, no search list stands between. All of
//! them that can be reached have to agree; what a wildcard says is said by nobody; only addresses that may be connected
//! to are asked ([`egress`]); and everything is bounded: time, questions, records, aliases. An operator can name
//! resolvers instead, which are believed.
//!
//! ```text
//!            names of servers without an address
//!              ┌────────────────────────────┐
//! name ─► walk ┴► place ─► every server: statements ─► verdict ─► here ─► the same under a random name? ─► finding
//!    ▲                                                    │
//!    └────────────────────── alias ◄──────────────────────┘
//! ```
//!
//! The walk and the verdict are pure; `check` does what they say, and `exchange` holds the sockets.
//!
//! The border: it is looked once. Which names and which text, when again, and what follows from it is up to others.

mod check;
mod exchange;
mod fault;
mod finding;
mod message;
mod roots;
mod statement;
mod verdict;
mod walk;

use std::net::SocketAddr;
use std::time::Duration;

use dns::Name;
use egress::Egress;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::timeout;

use check::Check;
use exchange::Sockets;

pub use fault::Fault;
pub use finding::{Finding, Sight};
pub use roots::ROOT_SERVERS;

/// One silent server at every level of the tree, and still an answer; more than that, and the next look is better.
pub const LOOK_WITHIN: Duration = Duration::from_secs(15);

/// Where name servers answer.
const DNS_PORT: u16 = 53;

/// Who is asked first.
#[derive(Clone, Debug)]
pub enum Sources {
    /// The root servers to walk down from, to the name servers of each name. These are the operator's choice, and asked
    /// wherever they are.
    Roots(Vec<SocketAddr>),
    /// Resolvers that are asked for everything, wherever they are, and believed. All of them have to answer, and to agree.
    Resolvers(Vec<SocketAddr>),
}

/// The Internet's root servers.
impl Default for Sources {
    fn default() -> Sources {
        let at_port = |address| SocketAddr::new(address, DNS_PORT);
        Sources::Roots(ROOT_SERVERS.map(at_port).to_vec())
    }
}

/// What to look for, and where.
#[derive(Clone, Debug)]
pub struct Looking {
    /// Each of these will do; of several results the first is told.
    pub names: Vec<Name>,
    /// The text, as it is but for white space around it.
    pub text: String,
}

/// Looks for texts.
#[derive(Clone, Debug)]
pub struct Prover {
    sources: Sources,
    egress: Egress,
    port: u16,
}

impl Prover {
    /// Begins at `sources`, and asks name servers that are found on the way where `egress` allows it.
    pub fn new(sources: Sources, egress: Egress) -> Prover {
        Prover {
            sources,
            egress,
            port: DNS_PORT,
        }
    }

    /// The same where name servers that are found on the way answer at another port than 53.
    #[must_use]
    pub fn with_port(self, port: u16) -> Prover {
        Prover { port, ..self }
    }

    /// Looks once. The names are looked at side by side: a name with dead servers takes no time from the others.
    pub async fn look(&self, looking: &Looking) -> Finding {
        let stranger = stranger();
        let check = Check::new(
            &Sockets,
            &self.sources,
            &self.egress,
            self.port,
            &looking.text,
            &stranger,
        );
        look(&check, &looking.names).await
    }
}

/// The first name where the text is, or what all of them together come to.
async fn look<N: check::Network>(check: &Check<'_, N>, names: &[Name]) -> Finding {
    let looks = names.iter().enumerate().map(|(index, name)| async move {
        let found = timeout(LOOK_WITHIN, check.look(name)).await;
        let late = |_| Finding::late(name, LOOK_WITHIN);
        (index, found.unwrap_or_else(late))
    });
    let mut looks: FuturesUnordered<_> = looks.collect();
    let mut found = Vec::new();
    while let Some((index, finding)) = looks.next().await {
        if matches!(finding, Finding::Found { .. }) {
            return finding;
        }
        found.push((index, finding));
    }
    found.sort_by_key(|(index, _)| *index);
    Finding::of_all(found.into_iter().map(|(_, finding)| finding))
}

/// A label that nobody has used, and nobody can foresee.
fn stranger() -> String {
    format!("{:016x}", rand::random::<u64>())
}

#[cfg(test)]
mod tests;
