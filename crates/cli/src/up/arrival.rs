//! What one controller has written, another may not have heard of yet.

use std::time::Duration;

use api::well_known::label;
use api::{Decoded, Record};
use kube::api::ListParams;
use kube::{Api, Client};
use tokio::time::sleep;

/// How long to wait before looking again: less than anybody notices.
const PAUSE: Duration = Duration::from_millis(10);

/// Returns when whoever looks after Zones has looked at every Record that was made for a DNSRecord or a ServiceRecord.
pub(super) async fn records_are_seen(client: &Client) {
    for made_for in [label::DNS_RECORD, label::SERVICE_RECORD] {
        while !all_are_seen(client, made_for).await {
            sleep(PAUSE).await;
        }
    }
}

async fn all_are_seen(client: &Client, made_for: &str) -> bool {
    let records: Api<Decoded<Record>> = Api::all(client.clone());
    let made = ListParams::default().labels(made_for);
    let listed = records.list(&made).await;
    listed.is_ok_and(|list| list.items.iter().all(is_seen))
}

/// What cannot be read is judged by its shape alone.
fn is_seen(record: &Decoded<Record>) -> bool {
    match record {
        Decoded::Object(record) => {
            let status = record.status.as_ref();
            status.and_then(|it| it.observed_generation) == record.metadata.generation
        }
        Decoded::Undecodable(_) => true,
    }
}
