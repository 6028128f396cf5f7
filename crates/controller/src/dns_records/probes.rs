//! The probes of a record, made to be as they should.

use api::DnsHealthCheckProbe;
use kube::Client;
use reconcile::DnsRecordKey;
use reconcile::probing::ProbePlan;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::write::{Target, WriteError, replacement};

/// Creates what is missing, corrects what is wrong, and removes what is stale. What somebody else has done meanwhile is
/// heard of by the watch.
pub(super) async fn carry_out(
    plan: &ProbePlan,
    record: &DnsRecordKey,
    client: &Client,
    writers: &Semaphore,
) -> Result<(), WriteError> {
    let target = |name| Target {
        client,
        namespace: &record.namespace,
        name,
    };
    for probe in &plan.create {
        let name = probe.metadata.name.as_deref().unwrap_or_default();
        let _turn = writers.acquire().await;
        match target(name).create(probe).await {
            Ok(_) | Err(WriteError::Stale) => {}
            Err(error) => return Err(error),
        }
    }
    for (name, before, after) in &plan.correct {
        let _turn = writers.acquire().await;
        let patch = json!({ "spec": replacement(&before.spec, after) });
        let version = before.resource_version.as_deref();
        let probe = target(name);
        match probe.merge::<DnsHealthCheckProbe>(version, patch).await {
            Ok(_) | Err(WriteError::Gone) => {}
            Err(error) => return Err(error),
        }
    }
    for (name, before) in &plan.remove {
        let _turn = writers.acquire().await;
        // Whatever it has found meanwhile, nobody needs it.
        let probe = target(name);
        probe
            .remove::<DnsHealthCheckProbe>(&before.uid, None)
            .await?;
    }
    Ok(())
}
