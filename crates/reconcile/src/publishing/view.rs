//! Everything that bears on one host.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::parse::target::Target;
use api::service_record::Source;
use dns::Name;

use super::{SourceKey, SourceKind, StandingRecord, StandingServiceRecord};
use crate::{Age, GatewayKey, RecordKey};

/// Everything that bears on a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostView {
    /// The host.
    pub host: Name,
    /// What its ServiceRecord is called; nothing if no name is left for it.
    pub name: Option<String>,
    /// The namespace of ServiceRecords; nothing: each is beside its sources.
    pub central: Option<String>,
    /// Who asks for it, oldest first.
    pub claims: Vec<Claim>,
    /// The ServiceRecords of ours that stand for it, oldest first.
    pub standing: Vec<StandingServiceRecord>,
    /// Namespaces in which an object of that name stands that is not ours, or not this host's.
    pub occupied: BTreeSet<String>,
    /// The Records that stand for it, oldest first.
    pub records: Vec<StandingRecord>,
    /// Records of others whose names could be ours.
    pub taken: BTreeSet<RecordKey>,
    /// The namespaces that hold wildcards above it.
    pub covered_by: BTreeSet<String>,
    /// The namespaces that have proven it, or a domain above it, of those that ask for it or may have left.
    pub proven: BTreeSet<String>,
    /// Sources that what stands was made for, and that no longer ask for the host.
    pub leaving: Vec<Leaving>,
    /// The kinds to look for everybody in who might ask for it, where nobody is known who does; nothing if they cannot be
    /// read.
    pub listable: Option<Vec<SourceKind>>,
    /// Since when it has had no address.
    pub lapsing: Option<Duration>,
}

/// A source that asks for a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The source.
    pub source: SourceKey,
    /// When the source was created, and its uid.
    pub age: Age,
    /// The port that clients connect to.
    pub port: u16,
    /// Where the host is reached.
    pub targets: BTreeSet<Target>,
    /// Whether there may be more addresses, of something that cannot be read now (S10).
    pub blind: bool,
    /// What travels to the ServiceRecord.
    pub annotations: BTreeMap<String, String>,
}

impl Claim {
    /// The namespace that asks.
    pub fn namespace(&self) -> &str {
        &self.source.key.namespace
    }

    /// The source as a ServiceRecord names it.
    pub fn named(&self) -> Source {
        self.source.named(self.age.uid())
    }
}

/// A source that no longer asks for the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaving {
    /// As it is named by what was made for it.
    pub source: Source,
    /// Which one.
    pub key: SourceKey,
    /// What became of it, as far as it is known here.
    pub whereabouts: Whereabouts,
    /// The Gateways that it takes its hosts from.
    pub gateways: Vec<GatewayKey>,
}

/// What became of a source that no longer asks for a host.
#[derive(Clone, Debug, PartialEq)]
pub enum Whereabouts {
    /// It is not there, or is not exported, or is another one of the same name.
    Absent,
    /// It asks for these hosts instead, none: for nothing; and what it would ask for here.
    Moved(Vec<Outlook>, Box<Claim>),
    /// Objects of its kind cannot be read now (S10).
    Unreadable,
}

/// How a host fares that a source asks for instead of another one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outlook {
    /// It is published.
    Published(Name),
    /// It is to be published, and is not yet; whether there is an address to publish.
    Coming(Name, bool),
    /// It is no host that could be published.
    Invalid(String),
    /// Another namespace has it.
    Refused(Name),
    /// Somebody else's ServiceRecord is in the way.
    Taken(Name),
}
