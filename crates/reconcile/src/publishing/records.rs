//! The Records that a host is to have, and the writes that lead there (S9).
//!
//! A Record carries one datum, so there are as many as there are addresses. Whoever asks is answered at every moment, if
//! there is an answer before and after: what comes is created first, and waits where it does not go with what is there, for
//! of two Records that exclude each other a Zone takes the older. Then Records that are no longer wanted become such that
//! are, each in a single write, the oldest first; so an alias and an address change places at once. What is left over goes
//! last.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use api::parse::target::Target;
use api::record::{Class, RecordSpec};
use api::well_known::{annotation, field_manager, label, service_record_label};

use super::service_record::owners;
use super::{Claim, HostView, StandingRecord, Update, Write, names};

/// How long resolvers may keep an answer, in seconds: short enough for an address that changes.
const TTL_SECS: u32 = 60;

const ALIAS: &str = "CNAME";

/// What one Record says.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Datum {
    type_: &'static str,
    rdata: String,
}

impl Datum {
    fn of(target: &Target) -> Datum {
        let type_ = match target {
            Target::Address(IpAddr::V4(_)) => "A",
            Target::Address(IpAddr::V6(_)) => "AAAA",
            Target::Host(_) => ALIAS,
        };
        Datum {
            type_,
            rdata: target.to_string(),
        }
    }

    /// Whether a name cannot have both.
    fn excludes(&self, type_: &str) -> bool {
        (self.type_ == ALIAS) != (type_ == ALIAS)
    }
}

/// The targets that can be published together: every address, or, for a name has one alias at most and none beside
/// addresses, the first host.
pub(super) fn published<'a>(targets: impl Iterator<Item = &'a Target>) -> BTreeSet<&'a Target> {
    let (addresses, hosts): (BTreeSet<&Target>, BTreeSet<&Target>) =
        targets.partition(|it| matches!(it, Target::Address(_)));
    if addresses.is_empty() {
        hosts.into_iter().take(1).collect()
    } else {
        addresses
    }
}

/// The Records of a host in the namespace that has it.
pub(super) struct Place<'a> {
    pub(super) view: &'a HostView,
    pub(super) namespace: &'a str,
    pub(super) claims: &'a [&'a Claim],
    /// Whether those whom they belong to stay, whatever they ask for.
    pub(super) keeps: bool,
}

impl Place<'_> {
    /// The writes that make the Records lead to these targets.
    pub(super) fn writes(&self, targets: &BTreeSet<&Target>) -> Vec<Write> {
        let mut missing: BTreeSet<Datum> = targets.iter().map(|it| Datum::of(it)).collect();
        let (kept, left) = self.assign(&mut missing);
        let names = self.free_names().zip(missing);
        let creates =
            names.map(|(name, datum)| Write::CreateRecord(Box::new(self.made(&name, &datum))));
        let updates = kept
            .iter()
            .filter_map(|(record, datum)| self.changed(record, datum));
        let deletes = left
            .iter()
            .map(|it| Write::DeleteRecord(it.version.clone()));
        creates.chain(updates).chain(deletes).collect()
    }

    /// Which Record says what in the end; and which are left over.
    fn assign(
        &self,
        missing: &mut BTreeSet<Datum>,
    ) -> (Vec<(&StandingRecord, Datum)>, Vec<&StandingRecord>) {
        let standing = self.view.records.iter();
        let own = standing.filter(|it| it.key().namespace == self.namespace && !it.deleting);
        let mut left: Vec<&StandingRecord> = own.collect();
        let mut kept = Vec::new();
        let mut ways: &[Way] = &[take_same, take_of_type, take_any];
        // The oldest keeps out what does not go with it. It changes sides itself, when all that is to come is there and
        // waits; the others, which would be missed on one side or the other, do not follow it.
        let keeps_out = |it: &&StandingRecord| {
            let type_ = it.spec.as_ref().map(|spec| spec.type_.as_str());
            missing
                .iter()
                .any(|datum| type_.is_some_and(|type_| datum.excludes(type_)))
        };
        if left.first().is_some_and(keeps_out) {
            let oldest = left.remove(0);
            kept.extend(missing.pop_first().map(|datum| (oldest, datum)));
            ways = &ways[..1];
        }
        for take in ways {
            left.retain(|record| match take(missing, record) {
                Some(datum) => {
                    kept.push((record, datum));
                    false
                }
                None => true,
            });
        }
        kept.sort_by(|(one, _), (other, _)| one.age.cmp(&other.age));
        (kept, left)
    }

    fn free_names(&self) -> impl Iterator<Item = String> {
        let records = self.view.records.iter().map(StandingRecord::key);
        let taken = records.chain(&self.view.taken);
        let taken = taken.filter(|it| it.namespace == self.namespace);
        let taken: BTreeSet<&str> = taken.map(|it| it.name.as_str()).collect();
        let stem = names::stem(&self.view.host);
        let names = (0..).map(move |number: usize| format!("{stem}-{number}"));
        names.filter(move |name| !taken.contains(name.as_str()))
    }

    fn made(&self, name: &str, datum: &Datum) -> api::Record {
        let mut made = api::Record::new(name, self.spec(datum));
        made.metadata.namespace = Some(self.namespace.to_owned());
        made.metadata.labels = Some(self.labels(&BTreeMap::new()));
        made.metadata.annotations = Some(self.annotations(&BTreeMap::new()));
        made.metadata.owner_references = Some(owners(&[], self.namespace, self.claims, false));
        made
    }

    fn changed(&self, record: &StandingRecord, datum: &Datum) -> Option<Write> {
        let update = Update {
            version: record.version.clone(),
            spec: self.spec(datum),
            labels: self.labels(&record.labels),
            annotations: self.annotations(&record.annotations),
            owner_references: owners(
                &record.owner_references,
                self.namespace,
                self.claims,
                self.keeps,
            ),
        };
        let same = record.spec.as_ref() == Some(&update.spec)
            && record.labels == update.labels
            && record.annotations == update.annotations
            && record.owner_references == update.owner_references;
        (!same).then(|| Write::UpdateRecord(Box::new(update)))
    }

    fn spec(&self, datum: &Datum) -> RecordSpec {
        RecordSpec {
            domain_name: self.view.host.to_string(),
            zone_ref: None,
            type_: datum.type_.to_owned(),
            class: Class::In,
            ttl: Some(TTL_SECS),
            rdata: datum.rdata.clone(),
            routing: None,
        }
    }

    fn labels(&self, before: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = before.clone();
        let name = self.view.name.as_deref().unwrap_or_default();
        all.insert(label::SERVICE_RECORD.to_owned(), service_record_label(name));
        let ours = field_manager::CONTROLLER.to_owned();
        all.insert(label::MANAGED_BY.to_owned(), ours);
        all
    }

    fn annotations(&self, before: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = before.clone();
        all.insert(annotation::HOST.to_owned(), names::bare(&self.view.host));
        all
    }
}

/// How a Record comes to what it says in the end.
type Way = fn(&mut BTreeSet<Datum>, &StandingRecord) -> Option<Datum>;

/// What it says already.
fn take_same(missing: &mut BTreeSet<Datum>, record: &StandingRecord) -> Option<Datum> {
    let target = record.target()?;
    let datum = Datum::of(&target);
    missing.take(&datum)
}

/// Something else of its type, so that no set loses its last Record to another one without need.
fn take_of_type(missing: &mut BTreeSet<Datum>, record: &StandingRecord) -> Option<Datum> {
    let type_ = &record.spec.as_ref()?.type_;
    let next = missing.iter().find(|it| it.type_ == type_)?.clone();
    missing.take(&next)
}

/// Whatever it can become.
fn take_any(missing: &mut BTreeSet<Datum>, _: &StandingRecord) -> Option<Datum> {
    missing.pop_first()
}
