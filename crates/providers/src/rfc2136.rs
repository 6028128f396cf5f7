//! A name server that takes dynamic updates: BIND, Knot and others like them.
//!
//! A zone is read by transfer, whole at first and then by differences, and written by one UPDATE message for a batch,
//! whose prerequisites say what must be there: the server compares and swaps. Every message is signed and every answer
//! is verified (RFC 8945). What is asked and what answers mean is in pure modules: `convert` (RFC 2136), `transfer`
//! (RFC 5936, RFC 1995), `fault` (which answer is which error); `client` sends and receives.
//!
//! What it leaves to others: which server and key a Secret means (`api`), and whom we may connect to
//! ([`egress`]).

mod client;
mod convert;
mod fault;
mod transfer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use api::parse::provider_secret::Rfc2136 as Access;
use dns::Name;
use dns::hosted::{Batch, Holdings};
use dns::limits::Limits;
use domain::base::iana::{Rcode, Rtype};
use egress::Egress;
use provider::{Boxed, Error, HostedZone, Provider, Snapshot, ZoneId};

use crate::pace::Pace;
use client::Client;
use fault::Fault;
use transfer::{Content, Transfer};

/// One zone of a name server.
#[derive(Debug)]
pub struct Rfc2136 {
    zone: Name,
    client: Client,
    limits: Limits,
    /// What was transferred last, from which only the differences need to be asked for. Whoever reads takes it out: a
    /// read that is given up leaves nothing, and the next one is whole.
    last: Mutex<Option<Content>>,
}

impl Rfc2136 {
    /// Access to a zone; nobody is asked yet.
    pub fn new(
        access: &Access,
        zone: Name,
        egress: Arc<Egress>,
        pace: Arc<Pace>,
    ) -> Result<Rfc2136, Error> {
        Ok(Rfc2136 {
            zone,
            client: Client::new(access, egress, pace)?,
            limits: convert::limits(),
            last: Mutex::default(),
        })
    }

    /// A provider is for one zone, which is called by its name, with or without the final dot.
    fn check(&self, zone: &ZoneId) -> Result<(), Error> {
        let name = dns::host_name(&zone.0).map_err(|_| Error::Missing)?;
        (name == self.zone).then_some(()).ok_or(Error::Missing)
    }

    async fn find(&self) -> Result<(), Error> {
        let request = convert::question(&self.zone, Rtype::SOA);
        let answer = self.client.ask(request).await?;
        match answer.header().rcode() {
            Rcode::NOERROR if convert::proves(&answer, &self.zone) => Ok(()),
            // Of a parent zone, or of a resolver.
            Rcode::NOERROR | Rcode::NXDOMAIN => Err(Error::Missing),
            // Servers say this of zones that they do not have, and of zones that are not for us. An update without
            // changes tells them apart: NOTAUTH is only said of the former (RFC 2136 §3.1.2).
            Rcode::REFUSED => {
                let nothing = convert::update(&self.zone, &Batch::default())?;
                let probe = self.client.ask(nothing).await?.header().rcode();
                let rcode = if probe == Rcode::NOTAUTH {
                    probe
                } else {
                    Rcode::REFUSED
                };
                Err(Fault::Rcode(rcode).into())
            }
            other => Err(Fault::Rcode(other).into()),
        }
    }

    /// By differences where that goes well, and whole otherwise: whatever was odd about them, that settles it. Who
    /// cannot be reached is not asked twice.
    async fn read_on(&self) -> Result<Holdings, Error> {
        let last = self.last.lock().expect("nobody panics with it").take();
        if let Some(last) = last {
            let request = convert::differences_since(&self.zone, &last);
            let transfer = Transfer::since(&self.zone, last);
            match self.client.transfer(request, transfer).await {
                Ok(content) => return Ok(self.keep(content)),
                Err(fault @ (Fault::Connect(_) | Fault::Slow(_))) => return Err(fault.into()),
                Err(fault) => tracing::debug!(zone = %self.zone, %fault, "Reads the whole zone"),
            }
        }
        self.read_whole().await
    }

    async fn read_whole(&self) -> Result<Holdings, Error> {
        let request = convert::question(&self.zone, Rtype::AXFR);
        let transfer = Transfer::whole(&self.zone);
        let content = self.client.transfer(request, transfer).await?;
        Ok(self.keep(content))
    }

    fn keep(&self, content: Content) -> Holdings {
        let holdings = content.holdings();
        *self.last.lock().expect("nobody panics with it") = Some(content);
        holdings
    }

    async fn update(&self, batch: &Batch) -> Result<(), Error> {
        let answer = self.client.ask(convert::update(&self.zone, batch)?).await?;
        match answer.header().rcode() {
            Rcode::NOERROR => Ok(()),
            // A prerequisite does not hold: the zone was changed by others, or by this batch already. What we have of
            // it may be wrong in spite of its serial, so it is read anew.
            Rcode::NXRRSET | Rcode::YXRRSET | Rcode::NXDOMAIN | Rcode::YXDOMAIN => {
                let held = self.read_whole().await?;
                let done = batch.changes.iter().all(|change| change.is_done_in(&held));
                done.then_some(()).ok_or(Error::Stale)
            }
            other => Err(Fault::Rcode(other).into()),
        }
    }
}

impl Provider for Rfc2136 {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn zones(&self) -> Boxed<'_, Result<Vec<HostedZone>, Error>> {
        Box::pin(async {
            self.find().await?;
            Ok(vec![HostedZone {
                id: ZoneId(self.zone.to_string()),
                apex: self.zone.clone(),
            }])
        })
    }

    fn read<'a>(&'a self, zone: &'a ZoneId) -> Boxed<'a, Result<Snapshot, Error>> {
        Box::pin(async {
            self.check(zone)?;
            Ok(Snapshot {
                apex: self.zone.clone(),
                holdings: self.read_on().await?,
                complaints: BTreeMap::new(),
            })
        })
    }

    fn write<'a>(&'a self, zone: &'a ZoneId, batch: &'a Batch) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async {
            self.check(zone)?;
            self.update(batch).await
        })
    }
}
