//! Writes notes into the API, one after the other.

use std::sync::Arc;
use std::time::Duration;

use api::well_known::field_manager;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use rand::rngs::StdRng;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::debug;

use super::Shared;
use super::ledger::{Draft, End, Key, Next};
use crate::backoff::Backoff;
use crate::metrics::Metrics;

/// How long a write may take. Others wait behind it.
const WRITE_WITHIN: Duration = Duration::from_secs(10);

/// The waits after writes that failed.
const BACKOFF: Backoff = Backoff {
    base: Duration::from_millis(500),
    cap: Duration::from_secs(30),
};

/// Kubernetes' bounds, in bytes.
const MESSAGE_MAX: usize = 1024;
const WORD_MAX: usize = 128;
const NAME_MAX: usize = 253;

/// Where Events about objects without a namespace are kept.
const CLUSTER_NAMESPACE: &str = "default";

pub(super) struct Writer {
    pub(super) client: Client,
    pub(super) instance: String,
    pub(super) shared: Arc<Shared>,
    pub(super) chance: StdRng,
    pub(super) metrics: Metrics,
}

impl Writer {
    /// Writes until the recorder is closed.
    pub(super) async fn run(mut self) {
        let mut closing = self.shared.closing.subscribe();
        let mut failures = 0;
        loop {
            let next = self.shared.ledger().take(Instant::now());
            let until = match next {
                Next::Write(draft) => {
                    let end = self.write(&draft).await;
                    failures = if end == End::Failed { failures + 1 } else { 0 };
                    if self.shared.ledger().ended(&draft, Instant::now(), end) {
                        self.metrics.event_dropped();
                    }
                    if failures > 0 {
                        sleep(BACKOFF.delay(failures, &mut self.chance)).await;
                    }
                    continue;
                }
                Next::Wait(until) => Some(until),
                Next::Nothing => None,
            };
            tokio::select! {
                biased;
                () = self.shared.noted.notified() => {}
                _ = closing.wait_for(|closing| *closing) => break,
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {}
            }
        }
        self.shared.closed.send_replace(true);
    }

    async fn write(&self, draft: &Draft) -> End {
        let namespace = namespace(&draft.key);
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let name = name(draft);
        let written = async {
            if draft.exists {
                let patch = json!({ "series": series(draft) });
                let params = PatchParams::default();
                events.patch(&name, &params, &Patch::Merge(patch)).await
            } else {
                let event = event(draft, name.clone(), &self.instance);
                events.create(&PostParams::default(), &event).await
            }
        };
        let end = end(timeout(WRITE_WITHIN, written).await.ok(), draft.exists);
        if end != End::Written {
            debug!(namespace, name, ?end, "Could not write an Event");
        }
        end
    }
}

/// How a write ended that was answered, or was not.
fn end(answer: Option<kube::Result<Event>>, exists: bool) -> End {
    match answer {
        Some(Ok(_)) => End::Written,
        Some(Err(kube::Error::Api(status))) => match status.code {
            404 if exists => End::Gone,
            // It was written before, and the answer was lost.
            409 if !exists => End::Written,
            429 | 500.. => End::Failed,
            _ => End::Refused,
        },
        Some(Err(_)) | None => End::Failed,
    }
}

fn event(draft: &Draft, name: String, instance: &str) -> Event {
    let Key { subject, note } = &*draft.key;
    Event {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(namespace(&draft.key).to_owned()),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(draft.series.first)),
        type_: Some(note.severity.as_str().to_owned()),
        reason: Some(bounded(&note.reason, WORD_MAX).to_owned()),
        action: Some(bounded(&note.action, WORD_MAX).to_owned()),
        note: Some(bounded(&note.message, MESSAGE_MAX).to_owned()),
        regarding: Some(subject.reference()),
        reporting_controller: Some(field_manager::CONTROLLER.to_owned()),
        reporting_instance: Some(bounded(instance, WORD_MAX).to_owned()),
        series: series(draft),
        ..Event::default()
    }
}

/// A series begins with the second.
fn series(draft: &Draft) -> Option<EventSeries> {
    (draft.series.count > 1).then_some(EventSeries {
        count: draft.series.count,
        last_observed_time: MicroTime(draft.series.last),
    })
}

fn namespace(key: &Key) -> &str {
    key.subject
        .namespace
        .as_deref()
        .unwrap_or(CLUSTER_NAMESPACE)
}

/// A name for the Event: that of the object, and a hash of what is told about it and since when.
fn name(draft: &Draft) -> String {
    let Key { subject, note } = &*draft.key;
    let content = format!("{subject:?} {note:?} {}", draft.series.first);
    let hash = &blake3::hash(content.as_bytes()).to_hex()[..16];
    let object = subject.name.as_deref().unwrap_or_default();
    let object = bounded(object, NAME_MAX - 1 - hash.len());
    // What was cut off in the middle of a label must not end in what no label ends in.
    let object = object.trim_end_matches(['.', '-']);
    format!("{object}.{hash}")
}

/// The text up to a number of bytes, in whole characters.
fn bounded(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
