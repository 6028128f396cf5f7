//! A double of Amazon Route 53: an HTTP server on loopback that speaks its REST-XML and keeps its rules.
//!
//! It knows the four requests that concern zones and their sets. What real accounts run into is here: five requests a
//! second, batches that are too large, pages, sets that exclude each other, deletions that must be exact, escapes in
//! names. What goes wrong on the way can be put in its way ([`Fault`]). Signatures are not verified: who asks is taken
//! from the name of the key.
//!
//! `zone.rs` has the rules, `request.rs` and `answer.rs` the words, `xml.rs` their form; here is who is answered, and
//! when not.

mod answer;
mod bucket;
mod request;
mod xml;
mod zone;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use http::Request;
use http::request::Parts;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use answer::Answer;
use bucket::Bucket;
use request::{Asked, Query, is_signed_with};
use xml::{ChangeResourceRecordSetsRequest, CreateHostedZoneRequest, HostedZone};
use zone::{Page, Zone};

pub use xml::{AliasTarget, GeoLocation, ResourceRecord, ResourceRecordSet, ResourceRecords};

/// The most sets and zones in a page, unless fewer are asked for: Route 53's own bounds.
const PAGE_SETS_MAX: usize = 300;
const PAGE_ZONES_MAX: usize = 100;

/// Nothing that fits into a batch is near it.
const BODY_OCTETS_MAX: usize = 8 * 1024 * 1024;

/// What goes wrong with one request. A fault waits for a request that it can happen to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Any request: too many of them.
    Throttle,
    /// Any request: an error inside.
    Fail,
    /// A change: the one before is not complete.
    PriorRequestNotComplete,
    /// A change: it is made, and the connection ends before the answer.
    DropAfterwards,
    /// A list of sets: there are none, and all is said to be well.
    ListEmpty,
    /// A list of sets that goes on: it begins again.
    RepeatPage,
    /// A list of sets: the answer ends in the middle.
    CutShort,
    /// A list of sets: so many octets more, which mean nothing.
    Swell(usize),
    /// A list of sets: as it was before the last so many changes.
    Behind(usize),
}

/// A Route 53 that runs for as long as this value lives.
#[derive(Debug)]
pub struct Route53 {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    _server: JoinSet<()>,
}

#[derive(Debug, Default)]
struct State {
    /// By id, without `/hostedzone/`.
    zones: BTreeMap<String, Zone>,
    bucket: Option<Bucket>,
    faults: VecDeque<Fault>,
    revoked: BTreeSet<String>,
    requests: usize,
}

impl Route53 {
    /// Starts on a port of its own. There is no limit to requests until [`Route53::limit_rate`].
    pub async fn start() -> io::Result<Route53> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::<Mutex<State>>::default();
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Arc::clone(&state)));
        Ok(Route53 {
            address,
            state,
            _server: server,
        })
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as a URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes a zone, and tells its id.
    pub fn create_zone(&self, apex: &str) -> String {
        self.state().create_zone(apex)
    }

    /// Puts a set into a zone, whatever is there: also what no request of ours would make.
    pub fn put(&self, zone: &str, set: ResourceRecordSet) {
        let mut state = self.state();
        let zone = state.zones.get_mut(zone).expect("the zone was made here");
        zone.put(set);
    }

    /// From now on an account is answered five times a second, by this clock.
    pub fn limit_rate(&self, clock: impl Fn() -> Duration + Send + 'static) {
        self.state().bucket = Some(Bucket::new(clock));
    }

    /// What goes wrong, one by one.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }

    /// Nobody gets in with this key any more.
    pub fn revoke(&self, key_id: &str) {
        self.state().revoked.insert(key_id.to_owned());
    }

    /// How often it was asked.
    pub fn requests(&self) -> usize {
        self.state().requests
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("nobody panics with it")
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(stream, Arc::clone(&state)));
    }
}

async fn converse(stream: TcpStream, state: Arc<Mutex<State>>) {
    let service = service_fn(|request: Request<Incoming>| {
        let state = Arc::clone(&state);
        async move {
            let (head, body) = request.into_parts();
            let body = Limited::new(body, BODY_OCTETS_MAX).collect().await;
            let body = body.map_err(|_| Dropped)?.to_bytes();
            lock(&state).answer(&head, &body).map(Answer::into_response)
        }
    });
    // However a conversation ends, the other side sees it.
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let _ = connection.await;
}

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("dropped on purpose")]
struct Dropped;

impl State {
    fn answer(&mut self, head: &Parts, body: &[u8]) -> Result<Answer, Dropped> {
        self.requests += 1;
        if self.revoked.iter().any(|key| is_signed_with(head, key)) {
            return Ok(answer::no_such_key());
        }
        if self.bucket.as_mut().is_some_and(|bucket| !bucket.take()) {
            return Ok(answer::throttled());
        }
        let Some(asked) = Asked::of(&head.method, head.uri.path()) else {
            return Ok(answer::no_such_operation());
        };
        let query = Query::of(head);
        let body = String::from_utf8_lossy(body);
        match self.next_fault(&asked, &query) {
            Some(Fault::Throttle) => Ok(answer::throttled()),
            Some(Fault::Fail) => Ok(answer::internal_failure()),
            Some(Fault::PriorRequestNotComplete) => Ok(answer::prior_request_not_complete()),
            Some(Fault::DropAfterwards) => {
                self.settle(&asked, &query, &body);
                Err(Dropped)
            }
            Some(Fault::ListEmpty) => Ok(answer::list_sets(Page::default(), PAGE_SETS_MAX)),
            Some(Fault::RepeatPage) => Ok(self.settle(&asked, &query.started_again(), &body)),
            Some(Fault::CutShort) => {
                let mut answer = self.settle(&asked, &query, &body);
                answer.body.truncate(answer.body.len() / 2);
                Ok(answer)
            }
            Some(Fault::Swell(octets)) => {
                let mut answer = self.settle(&asked, &query, &body);
                answer.body.push_str(&" ".repeat(octets));
                Ok(answer)
            }
            Some(Fault::Behind(behind)) => Ok(self.settle(&asked, &query.delayed(behind), &body)),
            None => Ok(self.settle(&asked, &query, &body)),
        }
    }

    fn next_fault(&mut self, asked: &Asked<'_>, query: &Query) -> Option<Fault> {
        let mut faults = self.faults.iter();
        let at = faults.position(|fault| asked.may_meet(*fault, query))?;
        self.faults.remove(at)
    }

    fn settle(&mut self, asked: &Asked<'_>, query: &Query, body: &str) -> Answer {
        match asked {
            Asked::CreateZone => match xml::read(body) {
                Ok(request) => self.answer_create(&request),
                Err(why) => answer::malformed(&why),
            },
            Asked::ListZones => self.list_zones(query),
            Asked::ListSets(id) => match self.zones.get(*id) {
                Some(zone) => {
                    let max = query.max(PAGE_SETS_MAX);
                    answer::list_sets(zone.page(&query.from(), max, query.behind), max)
                }
                None => answer::no_such_zone(id),
            },
            Asked::Change(id) => match (self.zones.get_mut(*id), xml::read(body)) {
                (None, _) => answer::no_such_zone(id),
                (Some(_), Err(why)) => answer::malformed(&why),
                (Some(zone), Ok(request)) => {
                    let request: ChangeResourceRecordSetsRequest = request;
                    answer::changed(zone.change(request.changes()))
                }
            },
        }
    }

    fn create_zone(&mut self, apex: &str) -> String {
        let id = format!("Z{:020}", self.zones.len() + 1);
        self.zones.insert(id.clone(), Zone::new(apex));
        id
    }

    fn answer_create(&mut self, request: &CreateHostedZoneRequest) -> Answer {
        let id = self.create_zone(&request.name);
        answer::created(HostedZone {
            caller_reference: request.caller_reference.clone(),
            ..answer::told(&id, &self.zones[&id])
        })
    }

    fn list_zones(&self, query: &Query) -> Answer {
        let max = query.max(PAGE_ZONES_MAX);
        let from = query.marker.clone().unwrap_or_default();
        let mut zones = self.zones.range(from..);
        let page = zones.by_ref().take(max);
        let page = page.map(|(id, zone)| answer::told(id, zone)).collect();
        let next = zones.next().map(|(id, _)| id.clone());
        answer::list_zones(page, next, max)
    }
}
