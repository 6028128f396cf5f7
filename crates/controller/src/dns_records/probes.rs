//! The probes of a record, made to be as they should.

use api::DnsHealthCheckProbe;
use api::well_known::field_manager;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use reconcile::DnsRecordKey;
use reconcile::probing::ProbePlan;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::write::{WriteError, replacement};

/// Creates what is missing, corrects what is wrong, and removes what is stale. What somebody else has done meanwhile is
/// heard of by the watch.
pub(super) async fn carry_out(
    plan: &ProbePlan,
    record: &DnsRecordKey,
    client: &Client,
    writers: &Semaphore,
) -> Result<(), WriteError> {
    if plan.is_empty() {
        return Ok(());
    }
    let probes: Api<DnsHealthCheckProbe> = Api::namespaced(client.clone(), &record.namespace);
    for probe in &plan.create {
        let _turn = writers.acquire().await;
        let params = PostParams {
            field_manager: Some(field_manager::CONTROLLER.to_owned()),
            ..PostParams::default()
        };
        match probes.create(&params, probe).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => return Err(error.into()),
        }
    }
    for (name, before, after) in &plan.correct {
        let _turn = writers.acquire().await;
        let patch = json!({
            "metadata": { "resourceVersion": before.resource_version },
            "spec": replacement(&before.spec, after),
        });
        let params = PatchParams {
            field_manager: Some(field_manager::CONTROLLER.to_owned()),
            ..PatchParams::default()
        };
        let patched = probes.patch(name, &params, &Patch::Merge(patch)).await;
        gone_is_fine(patched.map(drop))?;
    }
    for name in &plan.remove {
        let _turn = writers.acquire().await;
        let removed = probes.delete(name, &DeleteParams::default()).await;
        gone_is_fine(removed.map(drop))?;
    }
    Ok(())
}

fn gone_is_fine(result: Result<(), kube::Error>) -> Result<(), WriteError> {
    match result.map_err(WriteError::from) {
        Ok(()) | Err(WriteError::Gone) => Ok(()),
        Err(error) => Err(error),
    }
}
