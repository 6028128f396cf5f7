//! The objects into the API: the Zone first, then its Records, many at a time.
//!
//! What the API refuses is told and does not keep the others out. When the API itself goes away the rest is not tried;
//! running it again goes on where it stopped.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use api::well_known::field_manager;
use api::{Record, Zone, ZoneKey};
use futures_util::{StreamExt as _, stream};
use indicatif::{ProgressBar, ProgressStyle};
use kube::ResourceExt;
use serde::Serialize;
use serde_json::Value;

use super::objects::Objects;
use super::plan::{self, Step};
use crate::client::{self, Cluster};
use crate::kind::Kind;

/// How many writes are on their way at once: enough to hide the way there and back, and well below what one client may
/// have in flight by a cluster's own rules.
const WRITES_MAX: usize = 32;

/// What became of an import.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    pub(super) zone: Change,
    pub(super) created: usize,
    pub(super) updated: usize,
    pub(super) unchanged: usize,
    pub(super) refused: Vec<Refusal>,
    /// Records of the zone that are not in the file.
    pub(super) left_alone: Vec<String>,
}

/// What became of one object.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Change {
    #[default]
    Unchanged,
    Created,
    Updated,
}

/// An object that did not get in.
#[derive(Debug, Serialize)]
pub(super) struct Refusal {
    pub(super) name: String,
    pub(super) why: String,
}

/// Why a write did not happen.
enum Failure {
    /// Because of the object.
    Refused(String),
    /// Because of everything else.
    Lost(anyhow::Error),
}

/// Applies everything.
pub(super) async fn apply(cluster: &Cluster, objects: &Objects) -> anyhow::Result<Outcome> {
    let key = ZoneKey::new(
        &objects.zone.namespace().unwrap_or_default(),
        &objects.zone.name_any(),
    );
    let mut outcome = Outcome {
        zone: apply_zone(cluster, &objects.zone, &key).await?,
        ..Outcome::default()
    };
    let there = records(cluster, &key).await?;
    outcome.left_alone = left_alone(&there, objects, &key);
    let steps = objects.records.iter().map(|record| {
        let wanted = serde_json::to_value(record).expect("a Record is plain data");
        let step = plan::record(there.get(&record.name_any()), &wanted, &key);
        (record.name_any(), wanted, step)
    });
    apply_records(cluster, &key, steps.collect(), &mut outcome).await?;
    Ok(outcome)
}

async fn apply_zone(cluster: &Cluster, zone: &Zone, key: &ZoneKey) -> anyhow::Result<Change> {
    let folder = Kind::of::<Zone>().path(Some(&key.namespace));
    let there = match cluster
        .get::<Value>(&format!("{folder}/{}", key.name))
        .await
    {
        Ok(zone) => Some(zone),
        Err(error) if client::is_missing(&error) => None,
        Err(error) => return Err(cluster.explain(&error)),
    };
    let wanted = serde_json::to_value(zone).expect("a Zone is plain data");
    let step = plan::zone(there.as_ref(), zone);
    match perform(cluster, &folder, &key.name, &wanted, step).await {
        Ok(change) => Ok(change),
        Err(Failure::Refused(why)) => anyhow::bail!("zone {key}: {why}"),
        Err(Failure::Lost(error)) => Err(error),
    }
}

/// The Records of the zone's namespace, by name.
async fn records(cluster: &Cluster, key: &ZoneKey) -> anyhow::Result<BTreeMap<String, Value>> {
    let folder = Kind::of::<Record>().path(Some(&key.namespace));
    let pages = cluster.list(&folder, "application/json").await;
    let pages = pages.map_err(|error| cluster.explain(&error))?;
    let named = |record: Value| {
        let name = record["metadata"]["name"].as_str().unwrap_or_default();
        (name.to_owned(), record)
    };
    Ok(client::items(pages).map(named).collect())
}

fn left_alone(there: &BTreeMap<String, Value>, objects: &Objects, key: &ZoneKey) -> Vec<String> {
    let wanted: BTreeSet<String> = objects.records.iter().map(ResourceExt::name_any).collect();
    let others = there
        .iter()
        .filter(|(name, record)| plan::belongs_to(record, key) && !wanted.contains(*name));
    others.map(|(name, _)| name.clone()).collect()
}

async fn apply_records(
    cluster: &Cluster,
    key: &ZoneKey,
    steps: Vec<(String, Value, Step)>,
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    let folder = Kind::of::<Record>().path(Some(&key.namespace));
    let count = steps.len();
    let bar = bar(count);
    let writes = steps.into_iter().map(|(name, wanted, step)| {
        let folder = &folder;
        async move {
            let done = perform(cluster, folder, &name, &wanted, step).await;
            (name, done)
        }
    });
    let mut writes = stream::iter(writes).buffer_unordered(WRITES_MAX);
    let mut finished = 0;
    while let Some((name, done)) = writes.next().await {
        match done {
            Ok(change) => outcome.count(change),
            Err(Failure::Refused(why)) => outcome.refused.push(Refusal { name, why }),
            Err(Failure::Lost(error)) => {
                bar.abandon();
                return Err(error).with_context(|| {
                    format!("stopped after {finished} of {count} records; run it again to go on")
                });
            }
        }
        finished += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    outcome
        .refused
        .sort_by(|one, other| one.name.cmp(&other.name));
    Ok(())
}

/// What the person sees who waits; nothing on a pipe.
fn bar(count: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} records, {eta} left");
    let bar = ProgressBar::new(u64::try_from(count).unwrap_or(u64::MAX));
    bar.with_style(style.expect("the template is well formed"))
}

async fn perform(
    cluster: &Cluster,
    folder: &str,
    name: &str,
    wanted: &Value,
    step: Step,
) -> Result<Change, Failure> {
    // Unknown fields would be ours, and a fault.
    let manager = field_manager::COMMAND_LINE;
    let options = format!("fieldManager={manager}&fieldValidation=Strict");
    let (written, change) = match step {
        Step::Keep => return Ok(Change::Unchanged),
        Step::Refuse(why) => return Err(Failure::Refused(why)),
        Step::Create => (
            cluster.create(&format!("{folder}?{options}"), wanted).await,
            Change::Created,
        ),
        Step::Update(patch) => {
            let path = format!("{folder}/{name}?{options}");
            (cluster.merge(&path, &patch).await, Change::Updated)
        }
    };
    match written {
        Ok(_) => Ok(change),
        Err(error) if client::is_refusal(&error) => Err(Failure::Refused(client::words(&error))),
        Err(error) => Err(Failure::Lost(cluster.explain(&error))),
    }
}

impl Outcome {
    fn count(&mut self, change: Change) {
        match change {
            Change::Unchanged => self.unchanged += 1,
            Change::Created => self.created += 1,
            Change::Updated => self.updated += 1,
        }
    }
}

#[cfg(test)]
mod tests;
