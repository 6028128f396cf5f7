//! A namespace with a Zone and a DNSRecord, and no controller: what it would say, the tests say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use api::{DnsRecord, Record};
use apiserver::Apiserver;
use dns::hosted::{Batch, Change, Held, HostedKey, HostedSet, Share};
use dns::{Name, Rdata, RecordSet, Rtype, Ttl};
use futures_util::{StreamExt as _, pin_mut};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::api::{PostParams, WatchEvent, WatchParams};
use kube::{Client, ResourceExt as _};
use provider::{Boxed, Error, Provider, ZoneId, battery};
use providers::Zones;
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};
use testkit::eventually;

/// More than anything here takes on a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// The TTL of sets whose text names none.
const TTL: u32 = 300;

/// The name of the Zone.
const ZONE: &str = "example-org";

/// What ends a recording.
const END: &str = "the-end";

pub(crate) enum Home {
    Embedded,
    Real,
}

pub(crate) struct Stage {
    client: Client,
    own: String,
    other: String,
    zones: Zones,
    zone: ZoneId,
    apex: Name,
    share: Share,
    by_hand: AtomicUsize,
    _apiserver: Option<Apiserver>,
}

impl Stage {
    pub(crate) async fn open(home: Home) -> Stage {
        let (client, apiserver) = match home {
            Home::Embedded => {
                let apiserver = Apiserver::open(apiserver::Options::default())
                    .await
                    .unwrap();
                (apiserver.client(), Some(apiserver))
            }
            Home::Real => {
                let plane = control_plane::shared().await;
                (plane.client(Identity::Admin), None)
            }
        };
        testkit::crds::install(&client, &api::crds::all())
            .await
            .unwrap();
        let own = testkit::namespace(&client, "own").await.unwrap();
        let mut stage = Stage {
            other: testkit::namespace(&client, "other").await.unwrap(),
            zones: Zones::new(client.clone(), &own),
            zone: id(&own, ZONE),
            apex: Name::parse("example.org.").unwrap(),
            share: Share {
                name: String::new(),
                uid: String::new(),
            },
            by_hand: AtomicUsize::default(),
            _apiserver: apiserver,
            client,
            own,
        };
        stage
            .make_zone(&stage.own, ZONE, Some("example.org."))
            .await;
        stage.share = stage.make_dns_record("app").await;
        stage
    }

    /// From now on the Zone is one of another namespace.
    pub(crate) async fn move_to_other_namespace(&mut self) {
        self.zone = self
            .make_zone(&self.other, ZONE, Some("example.org."))
            .await;
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn own(&self) -> &str {
        &self.own
    }

    pub(crate) fn other(&self) -> &str {
        &self.other
    }

    pub(crate) fn zones(&self) -> &Zones {
        &self.zones
    }

    pub(crate) fn zone_id(&self) -> &ZoneId {
        &self.zone
    }

    /// A Zone, and what a controller would say about it.
    pub(crate) async fn make_zone(
        &self,
        namespace: &str,
        name: &str,
        fqdn: Option<&str>,
    ) -> ZoneId {
        let zone = json!({
            "apiVersion": "kubi.zone/v1alpha1", "kind": "Zone",
            "metadata": { "name": name, "namespace": namespace },
            "spec": { "domainName": "example.org.", "ttl": 77, "delegations": [] },
        });
        self.make(namespace, zone).await;
        let accepted = match fqdn {
            Some(_) => condition(true, "Accepted", "", 1),
            None => condition(false, "WaitingForParent", "its parent has none", 1),
        };
        let status = json!({ "status": { "fqdn": fqdn, "conditions": [accepted] } });
        let api: Api<api::Zone> = Api::namespaced(self.client(), namespace);
        let params = PatchParams::default();
        api.patch_status(name, &params, &Patch::Merge(status))
            .await
            .unwrap();
        id(namespace, name)
    }

    pub(crate) async fn make_dns_record(&self, name: &str) -> Share {
        let record = json!({
            "apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord",
            "metadata": { "name": name }, "spec": { "rootHost": "example.org" },
        });
        let made = self.make(&self.own, record).await;
        Share {
            name: name.to_owned(),
            uid: made.uid().unwrap(),
        }
    }

    /// A Record made by hand, of a DNSRecord or not.
    pub(crate) async fn make_record(&self, name: &str, set: &str, owner: Option<&Share>) {
        let (key, set) = self.parse(&self.share, set);
        for data in set.records.data() {
            let record = record_by_hand(name, &key, set.records.ttl(), data, owner);
            self.make(&self.own, record).await;
        }
    }

    pub(crate) async fn delete_dns_record(&self, name: &str) {
        let api: Api<DnsRecord> = Api::namespaced(self.client(), &self.own);
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Returns when all Records are gone.
    pub(crate) async fn has_no_records(&self) {
        eventually(SOON, "the Records to go", async || {
            let left = self.records().await;
            if left.is_empty() {
                Ok(())
            } else {
                Err(format!("{left:?}"))
            }
        })
        .await
        .unwrap();
    }

    /// The set of a text such as `www A 192.0.2.1 192.0.2.2` or `www MX 1 a. | 2 b.`.
    fn parse(&self, share: &Share, text: &str) -> (HostedKey, HostedSet) {
        let mut words = text.splitn(3, ' ');
        let mut word = || words.next().unwrap();
        let name = Name::parse(&format!("{}.{}", word(), self.apex)).unwrap();
        let rtype: Rtype = word().parse().unwrap();
        let data = word();
        let data: Vec<&str> = match rtype {
            Rtype::A | Rtype::AAAA => data.split(' ').collect(),
            _ => data.split(" | ").collect(),
        };
        let ttl = Ttl::from_secs(TTL).unwrap();
        let data = data.iter().map(|text| {
            let data = Rdata::parse(rtype, text, &Name::root());
            (ttl, data.unwrap())
        });
        let key = HostedKey {
            share: Some(share.clone()),
            ..HostedKey::plain(name, rtype)
        };
        (key, HostedSet::plain(RecordSet::new(data).unwrap()))
    }

    pub(crate) fn create_for(&self, share: &Share, set: &str) -> Change {
        let (key, set) = self.parse(share, set);
        Change {
            key,
            before: None,
            after: Some(set),
        }
    }

    pub(crate) fn create(&self, set: &str) -> Change {
        self.create_for(&self.share, set)
    }

    pub(crate) fn remove(&self, set: &str) -> Change {
        self.create(set).reverse()
    }

    /// The batch that makes other sets of some.
    pub(crate) fn change(&self, before: &[&str], after: &[&str]) -> Batch {
        let mut changes: BTreeMap<HostedKey, Change> = BTreeMap::new();
        for change in before.iter().map(|set| self.remove(set)) {
            changes.insert(change.key.clone(), change);
        }
        for change in after.iter().map(|set| self.create(set)) {
            let known = changes.entry(change.key.clone()).or_insert(Change {
                after: None,
                ..change.clone()
            });
            known.after = change.after;
        }
        Batch {
            changes: changes.into_values().collect(),
        }
    }

    pub(crate) async fn try_write<const N: usize>(
        &self,
        changes: [Change; N],
    ) -> Result<(), Error> {
        self.zones.write(&self.zone, &batch(changes)).await
    }

    pub(crate) async fn write<const N: usize>(&self, changes: [Change; N]) {
        self.try_write(changes).await.unwrap();
    }

    /// Makes the one set that is wanted of whatever is read, as a plan would.
    pub(crate) async fn put_right(&self, set: &str) {
        let (key, wanted) = self.parse(&self.share, set);
        let mut held = self.zones.read(&self.zone).await.unwrap().holdings;
        let before = held.remove(&key).and_then(|held| held.set().cloned());
        let unwanted = held.into_iter().map(|(key, held)| Change {
            key,
            before: held.set().cloned(),
            after: None,
        });
        let mut changes: Vec<Change> = unwanted.collect();
        changes.push(Change {
            key,
            before,
            after: Some(wanted),
        });
        let written = self.zones.write(&self.zone, &Batch { changes }).await;
        written.unwrap();
    }

    /// What is read, a line for each set: `www A 300 192.0.2.1`.
    pub(crate) async fn held(&self) -> Vec<String> {
        let holdings = self.zones.read(&self.zone).await.unwrap().holdings;
        let lines = holdings.iter().map(|(key, held)| {
            let Held::Set(set) = held else {
                panic!("{key} is {held:?}")
            };
            let name = key.name.to_string().replace(&format!(".{}", self.apex), "");
            let data: Vec<String> = set.records.data().iter().map(ToString::to_string).collect();
            let identifier = &key.identifier;
            let line = format!(
                "{name} {} {} {}",
                key.rtype,
                set.records.ttl(),
                data.join(" ")
            );
            format!("{line} {identifier}").trim_end().to_owned()
        });
        lines.collect()
    }

    /// Checks that exactly these sets are there.
    pub(crate) async fn holds(&self, sets: &[&str]) {
        let held = self.zones.read(&self.zone).await.unwrap().holdings;
        let sets = sets.iter().map(|set| self.parse(&self.share, set));
        let wanted = sets.map(|(key, set)| (key, Held::Set(set)));
        assert_eq!(held, wanted.collect());
    }

    pub(crate) async fn complaints(&self) -> Vec<String> {
        let complaints = self.zones.read(&self.zone).await.unwrap().complaints;
        let lines = complaints
            .iter()
            .map(|(key, told)| format!("{key}: {told}"));
        lines.collect()
    }

    /// All Records of the namespace, in the order of what they say.
    pub(crate) async fn records(&self) -> Vec<Record> {
        let records = self
            .record_api()
            .list(&ListParams::default())
            .await
            .unwrap();
        let mut records = records.items;
        records.sort_by(|one, other| one.spec.rdata.cmp(&other.spec.rdata));
        records
    }

    /// Edits a Record by hand.
    pub(crate) async fn edit(&self, index: usize, patch: &str) {
        self.edit_later(index, patch).await.await;
    }

    /// The same edit, to be made later.
    pub(crate) async fn edit_later(&self, index: usize, patch: &str) -> Boxed<'static, ()> {
        let (api, name) = (self.record_api(), self.records().await[index].name_any());
        let patch: Value = serde_json::from_str(patch).unwrap();
        let patch = Patch::Merge(patch);
        Box::pin(async move {
            let patched = api.patch(&name, &PatchParams::default(), &patch).await;
            patched.unwrap();
        })
    }

    /// Makes a Record again that is there now, later.
    pub(crate) async fn make_again_later(&self, index: usize) -> Boxed<'static, ()> {
        let (api, mut record) = (self.record_api(), self.records().await.remove(index));
        record.metadata.resource_version = None;
        record.metadata.uid = None;
        Box::pin(async move {
            api.create(&PostParams::default(), &record).await.unwrap();
        })
    }

    /// Deletes a Record by hand.
    pub(crate) async fn delete(&self, index: usize) {
        let name = self.records().await[index].name_any();
        self.delete_record(&name).await;
    }

    /// Says about a Record what a controller would.
    pub(crate) async fn judge(&self, record: &Record, accepted: bool, reason: &str, message: &str) {
        let generation = record.metadata.generation.unwrap();
        let condition = condition(accepted, reason, message, generation);
        let status = Patch::Merge(json!({ "status": { "conditions": [condition] } }));
        let (api, name) = (self.record_api(), record.name_any());
        let patched = api
            .patch_status(&name, &PatchParams::default(), &status)
            .await;
        patched.unwrap();
    }

    /// What stands now, and the revision at which it does.
    pub(crate) async fn record_from_here(&self) -> (BTreeMap<String, String>, String) {
        let records = self
            .record_api()
            .list(&ListParams::default())
            .await
            .unwrap();
        let revision = records.metadata.resource_version.unwrap();
        let says = |record: &Record| (record.name_any(), line(record));
        (records.items.iter().map(says).collect(), revision)
    }

    /// What stood at every moment since, a line for each Record.
    pub(crate) async fn end(
        &self,
        (mut standing, revision): (BTreeMap<String, String>, String),
    ) -> Vec<BTreeSet<String>> {
        self.make_record(END, "end A 192.0.2.1", None).await;
        let api = self.record_api();
        let events = api.watch(&WatchParams::default(), &revision).await.unwrap();
        let mut moments = Vec::new();
        pin_mut!(events);
        loop {
            match events.next().await.unwrap().unwrap() {
                WatchEvent::Added(record) if record.name_any() == END => break,
                WatchEvent::Added(record) | WatchEvent::Modified(record) => {
                    standing.insert(record.name_any(), line(&record));
                }
                WatchEvent::Deleted(record) => {
                    standing.remove(&record.name_any());
                }
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(error) => panic!("{error}"),
            }
            moments.push(standing.values().cloned().collect());
        }
        self.delete_record(END).await;
        moments
    }

    async fn make(&self, namespace: &str, object: Value) -> DynamicObject {
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let made = testkit::manifest::create(&self.client, namespace, &object).await;
        made.unwrap()
    }

    async fn delete_record(&self, name: &str) {
        let params = DeleteParams::default();
        self.record_api().delete(name, &params).await.unwrap();
    }

    fn record_api(&self) -> Api<Record> {
        Api::namespaced(self.client(), &self.own)
    }
}

/// What the provider calls a Zone.
pub(crate) fn id(namespace: &str, zone: &str) -> ZoneId {
    ZoneId(format!("{namespace}/{zone}"))
}

pub(crate) fn batch<const N: usize>(changes: [Change; N]) -> Batch {
    Batch {
        changes: changes.into(),
    }
}

fn record_by_hand(
    name: &str,
    key: &HostedKey,
    ttl: Ttl,
    data: &Rdata,
    owner: Option<&Share>,
) -> Value {
    let reference = |owner: &Share| {
        json!({
            "apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "name": owner.name,
            "uid": owner.uid, "controller": true,
        })
    };
    let label = owner.map(|owner| json!({ "zonewright.dev/dns-record": owner.name }));
    json!({
        "apiVersion": "kubi.zone/v1alpha1", "kind": "Record",
        "metadata": {
            "name": name,
            "labels": label.unwrap_or_else(|| json!({})),
            "ownerReferences": owner.map(reference).into_iter().collect::<Vec<_>>(),
        },
        "spec": {
            "domainName": key.name.to_string(), "zoneRef": { "name": ZONE },
            "type": key.rtype.to_string(), "ttl": ttl.as_secs(), "rdata": data.to_string(),
        },
    })
}

fn line(record: &Record) -> String {
    let spec = &record.spec;
    format!("{} {} {}", spec.domain_name, spec.type_, spec.rdata)
}

fn condition(holds: bool, reason: &str, message: &str, generation: i64) -> Value {
    json!({
        "type": "Accepted", "status": if holds { "True" } else { "False" }, "reason": reason,
        "message": message, "observedGeneration": generation,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    })
}

impl battery::Stage for Stage {
    fn provider(&self) -> &dyn Provider {
        &self.zones
    }

    fn zone(&self) -> &ZoneId {
        &self.zone
    }

    fn apex(&self) -> &Name {
        &self.apex
    }

    fn share(&self) -> Option<Share> {
        Some(self.share.clone())
    }

    /// Takes the Records of the set away and makes others under names of its own.
    fn tamper<'a>(&'a self, change: &'a Change) -> Boxed<'a, ()> {
        Box::pin(async move {
            let Change { key, after, .. } = change;
            let (name, rtype) = (key.name.to_string(), key.rtype.to_string());
            for record in self.records().await {
                if record.spec.domain_name == name && record.spec.type_ == rtype {
                    self.delete_record(&record.name_any()).await;
                }
            }
            if let Some(set) = after {
                for data in set.records.data() {
                    let number = self.by_hand.fetch_add(1, Ordering::Relaxed);
                    let owner = key.share.as_ref();
                    let object = format!("by-hand-{number}");
                    let ttl = set.records.ttl();
                    let record = record_by_hand(&object, key, ttl, data, owner);
                    self.make(&self.own, record).await;
                }
            }
        })
    }
}
