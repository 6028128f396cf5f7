//! Zones of the same cluster as a provider: what a `DNSRecord` wants becomes Records of its namespace (P12).
//!
//! A Record names its Zone in `spec.zoneRef` and its `DNSRecord` in an owner reference. So nothing else has to say
//! whose it is, two `DNSRecord`s can have their share of one set, and Records go with the `DNSRecord` whatever happens
//! to this process. Whether the Zone takes them is up to the Zone: its delegations judge these Records like any others,
//! and their answer comes back as a complaint.
//!
//! **A batch is not atomic here.** It is checked as a whole before the first write, and then written object by object;
//! what is promised for a batch that is broken off is in `steps`. After [`Error::Stale`],
//! [`Error::Refused`] and the others a part of it may have been written; writing it again, or reading and planning
//! again, makes it whole.
//!
//! What it leaves to others: the content of zones, and all other Records.

mod client;
mod convert;
mod steps;

use std::fmt;

use api::well_known::dns_record_label;
use api::{Decoded, Zone, ZoneKey};
use dns::Ttl;
use dns::hosted::{Batch, Share};
use dns::limits::{Limits, Load, Ownership, RECORD_TYPES, RoutingLimits, records_of};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use kube::{Client, ResourceExt as _};
use provider::{Boxed, Error, HostedZone, Provider, Snapshot, ZoneId};

use client::{Calls, Made};
use convert::{Datum, Home, Standing, apex, snapshot};
use steps::{Step, Steps, steps};

/// The TTL of sets that ask for none, in seconds: as with every other provider.
const TTL_DEFAULT_SECS: u32 = 300;

/// How many records a batch takes away and puts in. There is no bound at the API; this is a second or two of writes,
/// after which somebody else has a turn and a broken batch has not lost much.
const BATCH_RECORDS_MAX: usize = 200;

/// At how many names writes are under way at once: enough to hide the way to the API server, few beside what its
/// priority and fairness gives one client.
const NAMES_AT_ONCE: usize = 8;

/// The Zones that one namespace can write into.
pub struct Zones {
    calls: Calls,
    limits: Limits,
}

impl Zones {
    /// With the rights of a client, for the `DNSRecord`s of a namespace.
    pub fn new(client: Client, namespace: &str) -> Zones {
        let limits = Limits {
            types: &RECORD_TYPES,
            ttl_min: Ttl::ZERO,
            ttl_default: Ttl::from_secs(TTL_DEFAULT_SECS).expect("five minutes are a TTL"),
            routing: RoutingLimits {
                weight: true,
                geo: true,
                regions: false,
            },
            ownership: Ownership::Shares,
            batch_max: Load {
                count: BATCH_RECORDS_MAX,
                octets: usize::MAX,
            },
            load: |change| Load {
                count: records_of(change),
                octets: 0,
            },
            atomic: false,
        };
        Zones {
            calls: Calls::new(client, namespace),
            limits,
        }
    }

    /// The one spelling of what a Secret calls a zone: `<namespace>/<zone>`, where the own namespace may be left out.
    pub fn id(&self, zone: &str) -> ZoneId {
        ZoneId(self.key(zone).to_string())
    }

    fn key(&self, zone: &str) -> ZoneKey {
        let (namespace, name) = zone
            .split_once('/')
            .unwrap_or((self.calls.namespace(), zone));
        ZoneKey::new(namespace, name)
    }

    /// All Zones where that is allowed, else those of the own namespace. This is the dear call: Zones carry their
    /// content. One without a name yet is no zone yet; asked about by itself, it says what it waits for.
    async fn list(&self) -> Result<Vec<HostedZone>, Error> {
        let zones = match self.calls.all_zones().await {
            Err(Error::Denied(_)) => self.calls.own_zones().await?,
            zones => zones?,
        };
        let mut zones: Vec<HostedZone> = zones.into_iter().filter_map(hosted).collect();
        zones.sort_by(|one, other| (&one.apex, &one.id).cmp(&(&other.apex, &other.id)));
        Ok(zones)
    }

    async fn snapshot(&self, zone: &ZoneId) -> Result<Snapshot, Error> {
        let home = self.home(zone).await?;
        let records = self.calls.records().await?;
        let standing = records.iter().filter_map(|record| home.read(record));
        let standing: Vec<Standing> = standing.collect();
        Ok(snapshot(home.apex.clone(), &standing))
    }

    async fn change(&self, zone: &ZoneId, batch: &Batch) -> Result<(), Error> {
        let home = self.home(zone).await?;
        let shares = batch.changes.iter().filter_map(|it| it.key.share.as_ref());
        let labels = shares.map(|share| dns_record_label(&share.name));
        let records = self.calls.records_of(labels).await?;
        let standing = records.iter().filter_map(|record| home.read(record));
        let standing: Vec<Standing> = standing.collect();
        for round in steps(&home, batch, &standing)? {
            let names = stream::iter(round).map(Ok);
            let write = |steps| self.write_at(&home, steps);
            names.try_for_each_concurrent(NAMES_AT_ONCE, write).await?;
        }
        Ok(())
    }

    async fn home(&self, zone: &ZoneId) -> Result<Home, Error> {
        let key = self.key(&zone.0);
        let home = match self.calls.zone(&key).await? {
            Decoded::Object(zone) => Home::of(&zone, &key, self.calls.namespace()),
            Decoded::Undecodable(zone) => {
                let problems = zone.problems.iter().map(ToString::to_string);
                let problems = problems.collect::<Vec<_>>().join("; ");
                Err(format!("Zone {key} cannot be read: {problems}"))
            }
        };
        home.map_err(|why| Error::Unclear(why.into()))
    }

    async fn write_at(&self, home: &Home, Steps { share, steps }: Steps) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Delete(record) => self.calls.delete(&record.name, &record.version).await?,
                Step::Patch(record, datum) => {
                    let patch = home.patch(&record.version, &datum, &share);
                    self.calls.patch(&record.name, &patch).await?;
                }
                Step::Create(name, datum) => {
                    let record = home.record(&name, &datum, &share);
                    let record = record.map_err(|reason| Error::Refused { reason })?;
                    match self.calls.create(&record).await? {
                        Made::New => {}
                        Made::Taken => self.settle(home, &name, &datum, &share).await?,
                    }
                }
            }
        }
        Ok(())
    }

    /// A name of ours is in use, by an object that was not seen: it came this moment, lost its label, or is not ours.
    async fn settle(
        &self,
        home: &Home,
        name: &str,
        datum: &Datum,
        share: &Share,
    ) -> Result<(), Error> {
        let record = self.calls.record(name).await?.ok_or(Error::Stale)?;
        let ours = home.read(&record).filter(|record| record.share == *share);
        match ours {
            Some(record) if !record.labelled => {
                let patch = home.patch(&record.version, datum, share);
                self.calls.patch(name, &patch).await
            }
            Some(record) if record.datum.as_ref() == Some(datum) => Ok(()),
            Some(_) => Err(Error::Stale),
            None => Err(Error::Refused {
                reason: format!(
                    "the Record {}/{name} has the name of one that {} needs, and is not DNSRecord {}'s; delete it",
                    home.namespace, datum.key, share.name
                ),
            }),
        }
    }
}

fn hosted(zone: Decoded<Zone>) -> Option<HostedZone> {
    let zone = zone.into_result().ok()?;
    let key = ZoneKey::new(&zone.namespace()?, &zone.name_any());
    Some(HostedZone {
        id: ZoneId(key.to_string()),
        apex: apex(&zone)?,
    })
}

impl Provider for Zones {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn zones(&self) -> Boxed<'_, Result<Vec<HostedZone>, Error>> {
        Box::pin(self.list())
    }

    fn read<'a>(&'a self, zone: &'a ZoneId) -> Boxed<'a, Result<Snapshot, Error>> {
        Box::pin(self.snapshot(zone))
    }

    fn write<'a>(&'a self, zone: &'a ZoneId, batch: &'a Batch) -> Boxed<'a, Result<(), Error>> {
        Box::pin(self.change(zone, batch))
    }
}

impl fmt::Debug for Zones {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.calls.namespace();
        f.debug_struct("Zones")
            .field("namespace", &namespace)
            .finish_non_exhaustive()
    }
}
