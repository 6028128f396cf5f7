//! One look at one name: does what the walk and the verdict say, and counts.

use std::net::SocketAddr;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dns::{Name, Rtype};
use egress::{Egress, EgressError};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use tokio::time::timeout;

use crate::Sources;
use crate::fault::{Fault, Stop};
use crate::finding::{Finding, Sight};
use crate::message::{Answer, Question};
use crate::statement::{self, Standing};
use crate::verdict::{self, Heard, Quorum, Verdict, Wanted};
use crate::walk::{Found, Place, Rules, Servers, Step, Walk, Zone};

/// An authoritative server answers from memory: this is once around the world, three times over.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// Two servers that do not answer, on the way to a host. A zone has other hosts.
const HOST_WITHIN: Duration = Duration::from_secs(6);

/// What a look takes where two names are looked at, each is an alias into another zone, and each zone has four hosts in
/// domains of their own, that have to be found first. Twice that for zones that are deeper.
const QUESTIONS_MAX: usize = 300;

/// Eight hosts with two addresses each. Hardly any zone has as many.
const SERVERS_MAX: usize = 16;

/// What resolvers follow at most, more or less; who delegates a proof needs one or two.
const ALIASES_MAX: usize = 8;

/// A host whose servers' addresses have to be found first is common, one more is seen. Twice that.
const HOSTS_DEEP_MAX: usize = 4;

/// Takes a question to a server, and brings its answer. How long that may take is up to whoever asks.
pub(crate) trait Network: Sync {
    fn ask(
        &self,
        server: SocketAddr,
        question: &Question,
    ) -> impl Future<Output = Result<Answer, Fault>> + Send;
}

/// A look on its way.
#[derive(Debug)]
pub(crate) struct Check<'a, N> {
    network: &'a N,
    sources: &'a Sources,
    rules: Rules<'a>,
    wanted: Wanted<'a>,
    /// A label that nobody has used.
    stranger: &'a str,
    questions: AtomicUsize,
}

/// Whom to ask about a name.
#[derive(Debug)]
struct Panel {
    servers: Vec<SocketAddr>,
    standing: Standing,
    quorum: Quorum,
}

impl<'a, N: Network> Check<'a, N> {
    pub(crate) fn new(
        network: &'a N,
        sources: &'a Sources,
        egress: &'a Egress,
        port: u16,
        text: &'a str,
        stranger: &'a str,
    ) -> Check<'a, N> {
        Check {
            network,
            sources,
            rules: Rules { egress, port },
            wanted: Wanted::new(text),
            stranger,
            questions: AtomicUsize::new(0),
        }
    }

    /// Looks at one name.
    pub(crate) async fn look(&self, name: &Name) -> Finding {
        let found = self.follow(name).await;
        // Whoever was not asked has not agreed.
        let found = if self.questions.load(Ordering::Relaxed) > QUESTIONS_MAX {
            Err(Fault::Questions(QUESTIONS_MAX).into())
        } else {
            found
        };
        found.unwrap_or_else(|stop| Finding::stopped(name, stop))
    }

    /// Follows aliases to their end.
    async fn follow(&self, name: &Name) -> Result<Finding, Stop> {
        let mut panel = self.panel(name).await?;
        let heard = self.ask_all(&panel, name).await;
        let first = verdict::judge(self.wanted, &heard, panel.quorum);
        // Whoever was silent is not asked again.
        panel.servers = verdict::who_spoke(&heard);
        let mut through: Vec<Name> = Vec::new();
        let mut verdict = first.clone();
        while let Verdict::Elsewhere(target) = verdict {
            may_follow(name, &through, &target)?;
            let panel = self.panel(&target).await?;
            let heard = self.ask_all(&panel, &target).await;
            verdict = verdict::judge(self.wanted, &heard, panel.quorum);
            through.push(target);
        }
        if verdict == Verdict::Here && self.is_synthesised(&panel, name, &first).await? {
            return Ok(Finding::Synthesised { at: name.clone() });
        }
        conclude(name, through, verdict)
    }

    /// Whom to ask about a name.
    async fn panel(&self, name: &Name) -> Result<Panel, Stop> {
        match self.sources {
            Sources::Resolvers(resolvers) => Ok(Panel {
                servers: resolvers.clone(),
                standing: Standing::Believed,
                quorum: Quorum::All,
            }),
            Sources::Roots(roots) => {
                let place = self.walk(name, roots, &[]).await?;
                Ok(Panel {
                    servers: self.servers(&place.zone, roots).await?,
                    standing: Standing::Speaks(place.zone.apex),
                    quorum: Quorum::Reachable,
                })
            }
        }
    }

    /// Every address of a zone's servers that may be asked.
    async fn servers(&self, zone: &Zone, roots: &[SocketAddr]) -> Result<Vec<SocketAddr>, Stop> {
        let hosts = match &zone.servers {
            Servers::Given(servers) => return Ok(servers.clone()),
            Servers::Named(hosts) => hosts,
        };
        let (known, unknown): (Vec<_>, Vec<_>) =
            hosts.iter().partition(|host| !host.addresses.is_empty());
        let unknown: Vec<Name> = unknown.into_iter().map(|host| host.name.clone()).collect();
        let known = known.into_iter().map(|host| Ok(host.addresses.clone()));
        let found = self.find(&unknown, roots, &[]).await;
        self.admit(known.chain(found))
    }

    fn admit(&self, found: impl Iterator<Item = Found>) -> Result<Vec<SocketAddr>, Stop> {
        let mut addresses = Vec::new();
        let mut stop: Option<Stop> = None;
        for found in found {
            match found {
                Ok(found) => addresses.extend(found),
                Err(new) => stop = Some(new.after(stop)),
            }
        }
        addresses.sort_unstable();
        addresses.dedup();
        let (mut servers, refused) = self.rules.admit(&addresses);
        if let Some(refused) = refused {
            stop = Some(Stop::Refused(refused).after(stop));
        }
        if servers.is_empty() {
            return Err(stop.unwrap_or(Fault::Nobody.into()));
        }
        servers.truncate(SERVERS_MAX);
        Ok(servers)
    }

    /// Walks from the roots to the zone of a name. The trail is for the hosts that are being looked for.
    async fn walk(&self, name: &Name, roots: &[SocketAddr], trail: &[Name]) -> Result<Place, Stop> {
        let mut walk = Walk::new(name, roots, self.rules);
        let mut step = walk.step();
        loop {
            step = match step {
                Step::Ask(server, question) => walk.heard(self.ask(server, &question).await),
                Step::Find(hosts) => walk.found(self.find(&hosts, roots, trail).await),
                Step::Arrived(place) => return Ok(place),
                Step::Lost(stop) => return Err(stop),
            }
        }
    }

    /// The addresses of hosts, each by a walk of its own. In a box, because a walk may need another one.
    fn find<'b>(
        &'b self,
        hosts: &'b [Name],
        roots: &'b [SocketAddr],
        trail: &'b [Name],
    ) -> BoxFuture<'b, Vec<Found>> {
        let walks = hosts.iter().map(move |host| async move {
            let found = timeout(HOST_WITHIN, self.addresses(host, roots, trail)).await;
            found.unwrap_or(Err(Fault::Late(HOST_WITHIN).into()))
        });
        join_all(walks).boxed()
    }

    async fn addresses(&self, host: &Name, roots: &[SocketAddr], trail: &[Name]) -> Found {
        if trail.contains(host) {
            return Err(Fault::Circle(host.clone()).into());
        }
        if trail.len() >= HOSTS_DEEP_MAX {
            return Err(Fault::Deep(host.clone()).into());
        }
        let trail = [trail, slice::from_ref(host)].concat();
        let place = self.walk(host, roots, &trail).await?;
        let (four, six) = tokio::join!(
            self.first(&place, host, Rtype::A),
            self.first(&place, host, Rtype::AAAA)
        );
        match (four, six) {
            (Ok(four), Ok(six)) if four.is_empty() && six.is_empty() => {
                let host = host.to_string();
                let host = host.trim_end_matches('.').to_owned();
                Err(Stop::Refused(EgressError::NoAddress(host)))
            }
            (Ok(four), Ok(six)) => Ok([four, six].concat()),
            (Ok(some), Err(stop)) | (Err(stop), Ok(some)) if some.is_empty() => Err(stop),
            (Ok(some), Err(_)) | (Err(_), Ok(some)) => Ok(some),
            (Err(stop), Err(_)) => Err(stop),
        }
    }

    /// The addresses of a host, as the first server has them that answers.
    async fn first(&self, place: &Place, host: &Name, rtype: Rtype) -> Found {
        let question = Question::new(host.clone(), rtype);
        let mut last = Fault::Nobody;
        for server in &place.reach {
            let answer = self.ask(*server, &question).await;
            let zone = &place.zone.apex;
            match answer.and_then(|answer| statement::addresses(&answer, host, zone)) {
                Ok(addresses) => return Ok(addresses),
                Err(fault) => last = Fault::At(*server, Box::new(fault)),
            }
        }
        Err(last.into())
    }

    /// Whether a name beside this one says the same. The apex of a zone is itself, whatever wildcards there are.
    async fn is_synthesised(
        &self,
        panel: &Panel,
        name: &Name,
        first: &Verdict,
    ) -> Result<bool, Stop> {
        if panel.standing == Standing::Speaks(name.clone()) {
            return Ok(false);
        }
        let beside = beside(name, self.stranger)?;
        let heard = self.ask_all(panel, &beside).await;
        let repeated = verdict::is_repeated(self.wanted, first, &heard, panel.quorum);
        Ok(repeated?)
    }

    /// What each server says about the texts of a name.
    async fn ask_all(&self, panel: &Panel, name: &Name) -> Vec<Heard> {
        let question = &Question {
            recursive: panel.standing == Standing::Believed,
            ..Question::new(name.clone(), Rtype::TXT)
        };
        let asked = panel.servers.iter().map(|server| async move {
            let answer = self.ask(*server, question).await;
            Heard {
                server: *server,
                statement: answer
                    .and_then(|answer| statement::read(&answer, name, &panel.standing)),
            }
        });
        join_all(asked).await
    }

    async fn ask(&self, server: SocketAddr, question: &Question) -> Result<Answer, Fault> {
        if self.questions.fetch_add(1, Ordering::Relaxed) >= QUESTIONS_MAX {
            return Err(Fault::Questions(QUESTIONS_MAX));
        }
        let answer = timeout(ANSWER_WITHIN, self.network.ask(server, question)).await;
        answer.unwrap_or(Err(Fault::Silence(ANSWER_WITHIN)))
    }
}

fn may_follow(name: &Name, through: &[Name], target: &Name) -> Result<(), Fault> {
    if target == name || through.contains(target) {
        return Err(Fault::Loop(target.clone()));
    }
    if through.len() >= ALIASES_MAX {
        return Err(Fault::Chain(ALIASES_MAX));
    }
    Ok(())
}

/// A name beside this one that nobody has used.
fn beside(name: &Name, stranger: &str) -> Result<Name, Fault> {
    let parent = name.parent().ok_or(Fault::Long)?;
    let below = if parent.is_root() {
        format!("{stranger}.")
    } else {
        format!("{stranger}.{parent}")
    };
    Name::parse(&below).map_err(|_| Fault::Long)
}

fn conclude(name: &Name, through: Vec<Name>, verdict: Verdict) -> Result<Finding, Stop> {
    let at = name.clone();
    match verdict {
        Verdict::Here => Ok(Finding::Found { at, through }),
        Verdict::Nowhere { others } => Ok(Finding::Absent {
            looked_at: vec![Sight {
                at,
                through,
                others,
            }],
        }),
        Verdict::Split { with, without } => Ok(Finding::Disagree {
            at: through.into_iter().next_back().unwrap_or(at),
            with,
            without,
        }),
        Verdict::Unheard(fault) => Err(fault.into()),
        // Followed to its end before.
        Verdict::Elsewhere(target) => Err(Fault::Loop(target).into()),
    }
}
