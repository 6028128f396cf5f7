//! Changes on their way to the provider: in batches, and in smaller ones where it refuses.

use std::collections::{BTreeMap, BTreeSet};

use dns::hosted::Batch;
use dns::plan::Group;
use provider::{Attempt, Error, Retry};
use reconcile::DnsRecordKey;
use reconcile::dns_record::Failure;
use tracing::info;

use super::failure_of;
use super::reading::Reading;

/// What became of changes.
#[derive(Default)]
pub(super) struct Written {
    /// Why the changes of these records were not made, or perhaps not.
    pub(super) failed: BTreeMap<DnsRecordKey, Failure>,
    /// These records found the zone changed.
    pub(super) stale: BTreeSet<DnsRecordKey>,
    /// These records found no zone.
    pub(super) homeless: BTreeSet<DnsRecordKey>,
    /// Some changes of these records were made.
    made: BTreeSet<DnsRecordKey>,
}

/// Changes of one name, and the records they are made for.
type For = (Group, BTreeSet<DnsRecordKey>);

impl Reading {
    /// Makes the changes, as many at once as the provider takes.
    pub(super) async fn write(&mut self, groups: &[For]) -> Written {
        let changes = groups.iter().map(|(group, _)| group.changes.as_slice());
        let batches = self.limits().ranges(changes);
        let mut written = Written::default();
        for (index, range) in batches.iter().enumerate() {
            if let Some(failure) = self.write_batch(&groups[range.clone()], &mut written).await {
                // What stopped this one would stop those behind it.
                let rest = batches[index + 1..]
                    .iter()
                    .flat_map(|range| &groups[range.clone()]);
                written.fail(rest, &failure);
                break;
            }
        }
        for (record, failure) in &mut written.failed {
            if written.made.contains(record) {
                failure.attempt = Attempt::Unclear;
            }
        }
        written
    }

    /// Writes one batch; if it is refused, its halves, down to the one that is at fault. Tells what stops everything else.
    async fn write_batch(&mut self, groups: &[For], written: &mut Written) -> Option<Failure> {
        // Halves that are still to be written, the first on top.
        let mut parts = vec![groups];
        while let Some(part) = parts.pop() {
            let changes = part
                .iter()
                .flat_map(|(group, _)| group.changes.iter().cloned());
            let batch = Batch {
                changes: changes.collect(),
            };
            match self.provider.write(&self.zone, &batch).await {
                Ok(()) => {
                    self.wrote(&batch);
                    written.made.extend(records(part));
                }
                Err(Error::Stale) => {
                    self.doubt();
                    written.stale.extend(records(part));
                }
                Err(Error::Refused { .. }) if part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(error @ Error::Refused { .. }) => {
                    if !self.limits().atomic {
                        self.doubt();
                    }
                    written.fail(part, &self.failure_of(&error));
                }
                Err(
                    error @ (Error::Throttled { .. }
                    | Error::Missing
                    | Error::Denied(_)
                    | Error::Unclear(_)),
                ) => {
                    self.doubt();
                    if matches!(error, Error::Missing) {
                        written.homeless.extend(records(groups));
                    }
                    let failure = self.failure_of(&error);
                    written.fail(part, &failure);
                    let untried = Failure {
                        attempt: Attempt::None,
                        ..failure
                    };
                    written.fail(parts.into_iter().flatten(), &untried);
                    return Some(untried);
                }
            }
        }
        None
    }

    /// What a write that failed means: where batches are not atomic, a part of it may have been made.
    fn failure_of(&self, error: &Error) -> Failure {
        let mut failure = failure_of(error);
        if !self.limits().atomic {
            failure.attempt = Attempt::Unclear;
        }
        failure
    }

    fn wrote(&mut self, batch: &Batch) {
        info!(zone = %self.zone, changes = batch.changes.len(), "Wrote a batch");
        if let Some(hosted) = &mut self.hosted {
            for change in &batch.changes {
                hosted.inventory.apply(change);
            }
        }
    }
}

fn records(groups: &[For]) -> impl Iterator<Item = DnsRecordKey> {
    groups
        .iter()
        .flat_map(|(_, records)| records.iter().cloned())
}

impl Written {
    /// Whether changes of a record were made, or may have been.
    pub(super) fn may_have(&self, record: &DnsRecordKey) -> bool {
        let failed = self.failed.get(record);
        !self.stale.contains(record)
            && failed.is_none_or(|failure| failure.attempt == Attempt::Unclear)
    }

    fn fail<'a>(&mut self, groups: impl IntoIterator<Item = &'a For>, failure: &Failure) {
        for record in groups.into_iter().flat_map(|(_, records)| records) {
            let known = self.failed.entry(record.clone());
            let known = known.or_insert_with(|| failure.clone());
            known.attempt = known.attempt.max(failure.attempt);
            // What a person has to do comes before what goes away by itself.
            if failure.retry == Retry::OnChange {
                known.retry = Retry::OnChange;
            }
        }
    }
}
