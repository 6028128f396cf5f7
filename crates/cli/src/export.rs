//! `zonewright export`: one version of a Zone as a zone file.
//!
//! What the status says is the version: all of it, or the slices it names (Z11). Slices never change and are removed
//! once no status names them, so a reader that finds every slice of one status has that version whole. A slice that is
//! not there means that the zone has moved on, and the reader begins again.

mod content;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use api::{Zone, ZoneKey, ZoneSlice};
use dns::{Version, zonefile};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;

use crate::args::Output;
use crate::args::export::Export;
use crate::client::{self, Cluster};
use crate::kind::Kind;
use crate::output;
use content::Content;

/// How often a zone may move on while it is read. Each time only the slices that changed are fetched, so that a reader
/// falls behind only a zone that is rewritten as a whole, again and again.
const TRIES_MAX: usize = 10;
/// What a zone gets to settle before it is read again: the time in which changes are gathered into a version.
const PAUSE: Duration = Duration::from_millis(50);
/// How many slices are fetched at once: enough to hide the way there and back, few enough not to be a load.
const FETCHES_MAX: usize = 16;

/// Prints the zone file.
pub(crate) fn run(
    export: &Export,
    kubeconfig: Option<&Path>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let content = client::block_on(async {
        let cluster = Cluster::connect(kubeconfig).await?;
        read(&cluster, &export.zone).await
    })?;
    if let Some(doubt) = content.doubt() {
        eprintln!("warning: zone {}: {doubt}", export.zone);
    }
    let Version { zone, serial } = &content.version;
    match output {
        Output::Text => output::print(&zonefile::print(zone, *serial))?,
        Output::Json => output::json(&json!({
            "origin": zone.origin().to_string(),
            "serial": serial.0,
            "hash": zone.hash().to_string(),
            "records": content.records(),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One version of the zone, whole.
async fn read(cluster: &Cluster, key: &ZoneKey) -> anyhow::Result<Content> {
    let mut slices = BTreeMap::new();
    let mut missing = String::new();
    for _ in 0..TRIES_MAX {
        let zone = zone(cluster, key).await?;
        let named = zone.status.iter().flat_map(|status| &status.slices);
        let named: BTreeSet<&String> = named.collect();
        // What an earlier status named and this one does not is of no use any more.
        slices.retain(|name, _| named.contains(name));
        let wanted = named.into_iter().filter(|name| !slices.contains_key(*name));
        let wanted: Vec<&String> = wanted.collect();
        let found = fetch(cluster, key, &wanted).await?;
        let gap = found.iter().find(|(_, slice)| slice.is_none());
        let gap = gap.map(|(name, _)| name.clone());
        slices.extend(
            found
                .into_iter()
                .filter_map(|(name, slice)| Some((name, slice?))),
        );
        match gap {
            None => return Content::read(&zone, &slices).with_context(|| format!("zone {key}")),
            Some(name) => missing = name,
        }
        tokio::time::sleep(PAUSE).await;
    }
    anyhow::bail!(
        "zone {key}: the slice {missing} of its content is not there, and was not after {TRIES_MAX} readings: \
         the zone changes faster than it can be read, or no controller keeps it; try again"
    )
}

async fn zone(cluster: &Cluster, key: &ZoneKey) -> anyhow::Result<Zone> {
    let path = format!(
        "{}/{}",
        Kind::of::<Zone>().path(Some(&key.namespace)),
        key.name
    );
    let zone: api::Decoded<Zone> = cluster.get(&path).await.map_err(|error| {
        if client::is_missing(&error) {
            anyhow::anyhow!(
                "there is no zone {key}; `zonewright get zones -A` lists those there are"
            )
        } else {
            cluster.explain(&error)
        }
    })?;
    zone.into_result().map_err(|object| {
        let problems = api::problem::summary(&object.problems);
        anyhow::anyhow!("zone {key} cannot be read: {problems}")
    })
}

/// Slices by name; nothing where there is none.
async fn fetch(
    cluster: &Cluster,
    key: &ZoneKey,
    names: &[&String],
) -> anyhow::Result<Vec<(String, Option<ZoneSlice>)>> {
    let folder = Kind::of::<ZoneSlice>().path(Some(&key.namespace));
    let fetch_one = async |name: &String| {
        let found = match cluster.get(&format!("{folder}/{name}")).await {
            Ok(slice) => Some(slice),
            Err(error) if client::is_missing(&error) => None,
            Err(error) => return Err(cluster.explain(&error)),
        };
        Ok((name.clone(), found))
    };
    let fetches = names.iter().map(|name| fetch_one(name));
    stream::iter(fetches)
        .buffer_unordered(FETCHES_MAX)
        .try_collect()
        .await
}

#[cfg(test)]
mod tests;
