//! What the loop over Zones and Records tells the loop over DNSRecords.
//!
//! The two share no state; but what a DNSRecord has published in a Zone of this cluster is Records, and somebody who edits
//! one of them should not have to wait for the next scheduled look. Only what could matter is told: that a Zone is another
//! one or judged otherwise, and that a Record of a DNSRecord is.

use std::collections::BTreeMap;

use api::ZoneKey;
use kube::Resource as _;
use kube::api::{DynamicObject, ObjectMeta};
use reconcile::DnsRecordKey;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::dns_records::Neighbour;
use crate::feed::{Event, Fed};
use crate::inbox::Watched;

/// What could matter about an object.
#[derive(Debug, Eq, PartialEq)]
struct Essence {
    uid: Option<String>,
    generation: Option<i64>,
    fqdn: Option<String>,
    accepted: Option<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct Tap {
    tell: Option<mpsc::Sender<Neighbour>>,
    known: BTreeMap<(Watched, String, String), Essence>,
}

impl Tap {
    pub(crate) fn new(tell: Option<mpsc::Sender<Neighbour>>) -> Tap {
        Tap {
            tell,
            known: BTreeMap::new(),
        }
    }

    /// Takes note of an event that is about to be taken in.
    pub(crate) fn note(&mut self, fed: &Fed<Watched>) {
        let (object, there) = match &fed.event {
            Event::Applied(object) => (object, object.metadata.deletion_timestamp.is_none()),
            Event::Deleted(object) => (object, false),
            Event::Restarted
            | Event::Synced
            | Event::Absent
            | Event::Stalled(_)
            | Event::Failed(_) => return,
        };
        let Some(tell) = &self.tell else {
            return;
        };
        let Some(neighbour) = concerned(fed.kind, &object.metadata) else {
            return;
        };
        let meta = &object.metadata;
        let place = (
            fed.kind,
            meta.namespace.clone().unwrap_or_default(),
            meta.name.clone().unwrap_or_default(),
        );
        let news = if there {
            let essence = Essence::of(object);
            let before = self.known.get(&place);
            let news = before.is_none_or(|before| *before != essence);
            self.known.insert(place, essence);
            news
        } else {
            self.known.remove(&place).is_some()
        };
        if news {
            // What does not fit is seen by the next scheduled look.
            let _ = tell.try_send(neighbour);
        }
    }
}

/// Whom an object could concern.
fn concerned(kind: Watched, meta: &ObjectMeta) -> Option<Neighbour> {
    let namespace = meta.namespace.as_deref()?;
    match kind {
        Watched::Zone => Some(Neighbour::Zone(ZoneKey::new(
            namespace,
            meta.name.as_deref()?,
        ))),
        Watched::Record => {
            let owners = meta.owner_references.iter().flatten();
            let mut owners = owners.filter(|owner| owner.kind == api::DnsRecord::kind(&()));
            let owner = owners.next()?;
            Some(Neighbour::Record(DnsRecordKey::new(namespace, &owner.name)))
        }
        Watched::ZoneSlice => None,
    }
}

impl Essence {
    fn of(object: &DynamicObject) -> Essence {
        let status = &object.data["status"];
        let conditions = status["conditions"].as_array();
        let accepted = conditions.into_iter().flatten();
        let accepted = accepted.into_iter().find(|it| it["type"] == "Accepted");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Essence {
            uid: object.metadata.uid.clone(),
            generation: object.metadata.generation,
            fqdn: status["fqdn"].as_str().map(str::to_owned),
            accepted: accepted.map(|it| (text(&it["status"]), text(&it["reason"]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(generation: i64, accepted: &str, serial: u32) -> Fed<Watched> {
        let object = json!({
            "metadata": {
                "name": "app-1", "namespace": "web", "uid": "u", "generation": generation,
                "ownerReferences": [{ "apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "name": "app", "uid": "d" }],
            },
            "status": { "serial": serial, "conditions": [{ "type": "Accepted", "status": accepted, "reason": "x" }] },
        });
        Fed {
            kind: Watched::Record,
            namespace: None,
            event: Event::Applied(Box::new(serde_json::from_value(object).unwrap())),
        }
    }

    #[test]
    fn only_what_could_matter_is_told() {
        let (tell, mut told) = mpsc::channel(8);
        let mut tap = Tap::new(Some(tell));
        let mut count = |fed: &Fed<Watched>| {
            tap.note(fed);
            std::iter::from_fn(|| told.try_recv().ok()).count()
        };
        assert_eq!(count(&event(1, "True", 1)), 1, "new");
        assert_eq!(
            count(&event(1, "True", 2)),
            0,
            "answered with another serial"
        );
        assert_eq!(count(&event(2, "True", 2)), 1, "edited");
        assert_eq!(count(&event(2, "False", 2)), 1, "judged otherwise");
        let Event::Applied(object) = event(2, "False", 2).event else {
            panic!("an event of another kind");
        };
        let deleted = Fed {
            event: Event::Deleted(object),
            ..event(2, "False", 2)
        };
        assert_eq!(count(&deleted), 1, "gone");
        assert_eq!(count(&deleted), 0);
    }
}
