//! Who gets the records of a policy when it goes, so that what is published goes on answering.

use std::collections::BTreeSet;

use super::object::PolicyNode;
use super::{Concerned, Gateways, take};
use crate::dns_policy::{Heir, MadeRecord, TargetRef};
use crate::{DnsRecordKey, PolicyKey};

impl Gateways {
    /// The heir of a policy: whoever would be accepted in its place. That is the next oldest with the same target; for a
    /// listener that nobody else has, the policy of the whole Gateway.
    pub(super) fn heir(&self, key: &PolicyKey, node: &PolicyNode) -> Option<Heir> {
        let target = node.target.as_ref()?;
        let next = self
            .next(key, target)
            .filter(|(_, node)| node.claim.is_ok());
        let next = next.or_else(|| self.whole(target));
        next.map(|(key, node)| Heir {
            policy: key.clone(),
            uid: node.age.uid().to_owned(),
        })
    }

    /// The oldest of those with a target but for one.
    fn next(&self, but: &PolicyKey, target: &TargetRef) -> Option<(&PolicyKey, &PolicyNode)> {
        let others = self.at(target).filter(|other| *other != but);
        let others = others.filter_map(|other| Some((other, self.policies.get(other)?)));
        let others = others.filter(|(_, node)| !node.deleting);
        others.min_by(|(_, one), (_, other)| one.age.cmp(&other.age))
    }

    /// The policy of the whole Gateway, seen from a listener.
    fn whole(&self, target: &TargetRef) -> Option<(&PolicyKey, &PolicyNode)> {
        target.listener.as_ref()?;
        let whole = target.whole();
        let accepted = self.targets.get(&whole)?.iter();
        let mut accepted = accepted.filter(|key| self.is_accepted(key));
        accepted.find_map(|key| self.policies.get_key_value(key))
    }

    /// Records that were promised to a policy by one that is gone, or on its way out.
    pub(super) fn inherited<'a>(
        &'a self,
        key: &'a PolicyKey,
        node: &'a PolicyNode,
    ) -> impl Iterator<Item = &'a MadeRecord> {
        let keys = self.promised.get(key).into_iter().flatten();
        let records = keys.filter_map(|key| self.records.get_key_value(key));
        let left = records.filter(|(key, record)| self.is_left(key, record));
        let left = left.filter(|(_, record)| record.marked && !record.deleting);
        left.map(|(_, record)| record)
            .filter(|record| record.heirs().any(|heir| heir.uid == node.age.uid()))
    }

    /// Whether the policy that a record was made from does nothing for it any more.
    fn is_left(&self, key: &DnsRecordKey, record: &MadeRecord) -> bool {
        let maker = self.policies.get(&record.owner(&key.namespace));
        let maker = maker.filter(|maker| maker.age.uid() == record.policy_uid);
        maker.is_none_or(|maker| maker.deleting)
    }

    /// Those whom a record was promised to, once it is theirs.
    pub(super) fn note_heirs(
        &self,
        key: &DnsRecordKey,
        record: &MadeRecord,
        concerned: &mut Concerned,
    ) {
        if self.is_left(key, record) {
            let heirs = promised_to(key, record);
            let there = heirs.filter(|heir| self.policies.contains_key(heir));
            concerned.policies.extend(there);
        }
    }

    /// Those whom records of a policy were promised to: it has come or gone, or is another than before.
    pub(super) fn note_promised(&self, maker: &PolicyKey, concerned: &mut Concerned) {
        let made = self.made.get(maker).into_iter().flatten();
        let made = made.filter_map(|key| self.records.get_key_value(key));
        let heirs = made.flat_map(|(key, record)| promised_to(key, record));
        let there = heirs.filter(|heir| self.policies.contains_key(heir));
        concerned.policies.extend(there);
    }

    pub(super) fn promise(&mut self, key: &DnsRecordKey, record: &MadeRecord) {
        for heir in promised_to(key, record) {
            let promised: &mut BTreeSet<DnsRecordKey> = self.promised.entry(heir).or_default();
            promised.insert(key.clone());
        }
    }

    pub(super) fn take_back(&mut self, key: &DnsRecordKey, record: &MadeRecord) {
        for heir in promised_to(key, record) {
            take(&mut self.promised, &heir, key);
        }
    }
}

fn promised_to(key: &DnsRecordKey, record: &MadeRecord) -> impl Iterator<Item = PolicyKey> {
    let heirs = record.heirs();
    heirs.map(|heir| PolicyKey::new(&key.namespace, &heir.name))
}
