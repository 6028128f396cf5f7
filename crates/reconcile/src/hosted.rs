//! One zone at a provider and everybody who is due there: what is to be written, and what each of them is told.
//!
//! Records do not each plan for themselves. Whoever is due in a zone is planned together, one after the other on what the
//! one before would leave, those who go before those who want something: two of them cannot undo each other's work, and
//! their changes fill common batches. Each still has its own [`Verdict`].
//!
//! Reading and writing is left to `controller`.

use std::collections::{BTreeMap, BTreeSet};

use api::parse::provider_secret::Domain;
use dns::guard::{Guard, fingerprint};
use dns::hosted::{Change, Holdings, HostedKey};
use dns::limits::Limits;
use dns::ownership::{Inventory, Owner, OwnerId};
use dns::plan::{Claim, Conflict, Group, Wanted, plan};
use dns::{Name, Rdata, Rtype};
use jiff::Timestamp;

use crate::DnsRecordKey;

/// How many records want something at each name: those of every zone, shared by everybody who asks.
pub type NamesWanted = imbl::OrdMap<Name, usize>;

/// What a record asks of a zone.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Who asks.
    pub record: DnsRecordKey,
    /// In whose name sets are marked.
    pub owner: Owner,
    /// Only what is at or below this name may be removed.
    pub scope: Name,
    /// The host it is all about.
    pub root_host: Name,
    /// The names that the Secret is for.
    pub domain: Option<Domain>,
    /// What is to be there.
    pub wanted: BTreeMap<HostedKey, Wanted>,
    /// What was put there before.
    pub last: BTreeMap<HostedKey, Vec<Rdata>>,
    /// What other records with the same owner want.
    pub spared: BTreeSet<HostedKey>,
    /// The names that any record wants.
    pub names_wanted: NamesWanted,
    /// Whether what changes follows from an edit or the deletion of the record itself.
    pub cause: Cause,
    /// The changes that a person has approved.
    pub approval: Approval,
    /// Whether anything may be written at all.
    pub may_write: bool,
    /// How many sets all records of the zone have put there.
    pub owned_total: usize,
}

/// Why a record asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// Its spec is another one.
    Edited,
    /// It is being deleted.
    Deleted,
    /// Nobody asked for it: what is there may have changed by itself.
    Unasked,
}

/// What a person has approved.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Approval {
    /// Nothing.
    None,
    /// The changes with this fingerprint.
    Of(String),
    /// Whatever it is.
    All,
}

/// What a record is told about its part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verdict {
    /// What there is to do.
    pub work: Work,
    /// What cannot be had.
    pub conflicts: Vec<Conflict>,
    /// Why the provider does not answer with some of what is there.
    pub complaints: Vec<String>,
    /// Everybody who has a part in the root host.
    pub domain_owners: Vec<OwnerId>,
}

/// What there is to do for a record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Work {
    /// Everything is as it is wanted, as far as it can be.
    Nothing,
    /// Its changes are among those to be written.
    Write,
    /// There is something to write, and it may not write any more.
    Exhausted,
    /// Its changes wait for a person.
    Held {
        /// What stands for them.
        hash: String,
        /// How many sets they are about.
        sets: usize,
        /// Whether a name that is wanted would be emptied.
        empties: bool,
    },
}

/// What is to be done in a zone.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    /// What each record is told, in the order of the asks.
    pub verdicts: Vec<Verdict>,
    /// What is to be written, each with the records it is written for.
    pub groups: Vec<(Group, BTreeSet<DnsRecordKey>)>,
    /// How many sets change for a record without anybody having asked.
    pub unasked: BTreeMap<DnsRecordKey, usize>,
}

/// What the guard goes by.
#[derive(Clone, Copy, Debug)]
pub struct GuardRules {
    /// How many of a hundred sets may change unasked.
    pub percent_max: u32,
    /// Whether deletions of records count, too.
    pub deletions: bool,
}

/// What is judged by: what was let through, what waits, and when.
#[derive(Clone, Copy, Debug)]
pub struct Guarded<'a> {
    /// What was let through.
    pub guard: &'a Guard,
    /// What is too much.
    pub rules: GuardRules,
    /// How many sets wait for a person already, of records that do not ask now.
    pub waiting: usize,
    /// When it is.
    pub now: Timestamp,
}

impl Guarded<'_> {
    fn holds(&self, unasked: usize, owned: usize) -> bool {
        self.guard.holds(unasked + self.waiting, owned, self.now)
    }
}

/// A zone as it was last read, and as it was changed since.
#[derive(Clone, Debug)]
pub struct Hosted {
    /// What is there.
    pub inventory: Inventory,
    /// Why the provider does not answer with some of it.
    pub complaints: BTreeMap<HostedKey, String>,
}

/// Plans for everybody who is due. The inventory is as before when this returns.
pub fn agenda(
    hosted: &mut Hosted,
    asks: &[&Ask],
    limits: &Limits,
    guarded: &Guarded<'_>,
) -> Agenda {
    let mut held = BTreeSet::new();
    // What is held back changes what the others find.
    let mut drafts = loop {
        let mut drafts = drafts(hosted, asks, limits, guarded.rules, &held);
        let more = hold_back(&mut drafts, asks, guarded, &held);
        if more.is_subset(&held) {
            break drafts;
        }
        held.extend(more);
    };
    let mut agenda = Agenda::default();
    let mut groups = Groups::default();
    // As they were planned: each begins where the one before it ends.
    for index in order(asks) {
        if let Some(draft) = drafts.get_mut(&index)
            && draft.verdict.work == Work::Write
        {
            let record = &asks[index].record;
            if draft.unasked > 0 {
                agenda.unasked.insert(record.clone(), draft.unasked);
            }
            groups.join(std::mem::take(&mut draft.groups), record);
        }
    }
    agenda.verdicts = drafts.into_values().map(|draft| draft.verdict).collect();
    agenda.groups = groups.all;
    agenda.groups.retain(|(group, _)| !group.changes.is_empty());
    for (group, _) in &mut agenda.groups {
        marks_around(group);
    }
    agenda
}

/// What each record would have done, each on what those before it leave.
fn drafts(
    hosted: &mut Hosted,
    asks: &[&Ask],
    limits: &Limits,
    rules: GuardRules,
    held: &BTreeSet<usize>,
) -> BTreeMap<usize, Draft> {
    let mut drafts = BTreeMap::new();
    let mut undo: Vec<Change> = Vec::new();
    for index in order(asks) {
        let draft = Draft::new(asks[index], hosted, limits, rules);
        let is_held = held.contains(&index) && !draft.is_approved(&asks[index].approval);
        if draft.verdict.work == Work::Write && !is_held {
            for change in draft.changes() {
                undo.push(change.reverse());
                hosted.inventory.apply(change);
            }
        }
        drafts.insert(index, draft);
    }
    for change in undo.iter().rev() {
        hosted.inventory.apply(change);
    }
    drafts
}

/// Those who go come before those who want something: they make room, and do not take along what another wants. No name
/// is empty in between, since what they do to it becomes one change.
fn order(asks: &[&Ask]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..asks.len()).collect();
    order.sort_by_key(|index| !asks[*index].wanted.is_empty());
    order
}

/// What a record would have done.
struct Draft {
    verdict: Verdict,
    groups: Vec<Group>,
    /// How many sets that were its own change without anybody having asked.
    unasked: usize,
    /// How many sets are its own.
    owned: usize,
    empties: bool,
}

impl Draft {
    fn new(ask: &Ask, hosted: &Hosted, limits: &Limits, rules: GuardRules) -> Draft {
        let inventory = &hosted.inventory;
        let claim = Claim {
            owner: &ask.owner,
            scope: &ask.scope,
            wanted: &ask.wanted,
            last: &ask.last,
            spared: &ask.spared,
        };
        let plan = plan(inventory, &claim, limits);
        let owned = owned(ask, inventory);
        let counts = match ask.cause {
            Cause::Edited => false,
            Cause::Deleted => rules.deletions,
            Cause::Unasked => true,
        };
        let data = |change: &&Change| owned.contains(&plain(&change.key));
        let unasked = plan.changes().filter(data).count();
        let empties = ask.cause == Cause::Unasked && empties(inventory, &plan.groups, ask);
        let work = match (plan.is_empty(), ask.may_write) {
            (true, _) => Work::Nothing,
            (false, true) => Work::Write,
            (false, false) => Work::Exhausted,
        };
        Draft {
            verdict: Verdict {
                work,
                conflicts: plan.conflicts,
                complaints: complaints(ask, hosted),
                domain_owners: inventory.owners_at(&ask.root_host).into_iter().collect(),
            },
            groups: plan.groups,
            unasked: if counts { unasked } else { 0 },
            owned: owned.len(),
            empties,
        }
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.groups.iter().flat_map(|group| &group.changes)
    }

    fn is_approved(&self, approval: &Approval) -> bool {
        match approval {
            Approval::None => false,
            Approval::Of(hash) => *hash == fingerprint(self.changes()),
            Approval::All => true,
        }
    }
}

/// Holds back what nobody asked for, if it is too much, and who has been held already; the others go on. Tells who is
/// held.
fn hold_back(
    drafts: &mut BTreeMap<usize, Draft>,
    asks: &[&Ask],
    guarded: &Guarded<'_>,
    already: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let open = |index: &usize, draft: &Draft| {
        draft.verdict.work == Work::Write && !draft.is_approved(&asks[*index].approval)
    };
    let unasked = drafts.iter().filter(|(index, draft)| open(index, draft));
    let unasked: usize = unasked.map(|(_, draft)| draft.unasked).sum();
    let due: usize = drafts.values().map(|draft| draft.owned).sum();
    let all = asks.iter().map(|ask| ask.owned_total).max();
    let owned = due.max(all.unwrap_or_default());
    let too_many = unasked > 0 && guarded.holds(unasked, owned);
    let mut held = BTreeSet::new();
    for (index, draft) in drafts.iter_mut() {
        let too_many = too_many && draft.unasked > 0;
        let suspect = already.contains(index) || draft.empties || too_many;
        if suspect && open(index, draft) {
            let data = |change: &&Change| change.key.rtype != Rtype::TXT;
            draft.verdict.work = Work::Held {
                hash: fingerprint(draft.changes()),
                sets: draft.changes().filter(data).count(),
                empties: draft.empties,
            };
            held.insert(*index);
        }
    }
    held
}

/// The sets that are a record's own: marked as its own, or put there before.
fn owned(ask: &Ask, inventory: &Inventory) -> BTreeSet<HostedKey> {
    let marked = inventory.owned(&ask.owner, &ask.scope).into_iter();
    let marked = marked.map(|key| plain(&key));
    marked.chain(ask.last.keys().cloned()).collect()
}

fn plain(key: &HostedKey) -> HostedKey {
    HostedKey {
        share: None,
        ..key.clone()
    }
}

/// Whether a name that somebody wants would have nothing left.
fn empties(inventory: &Inventory, groups: &[Group], ask: &Ask) -> bool {
    groups.iter().any(|group| {
        let changes = &group.changes;
        let change_of = |key: &HostedKey| changes.iter().find(|change| change.key == *key);
        let before = inventory.at(&group.name);
        let kept = before.filter(|(key, _)| change_of(key).is_none_or(|it| it.after.is_some()));
        let added = changes.iter().filter(|it| it.key.name == group.name);
        let added = added.filter(|it| it.after.is_some()).count();
        let removes = changes
            .iter()
            .any(|it| it.key.name == group.name && it.after.is_none());
        removes && kept.count() + added == 0 && ask.names_wanted.contains_key(&group.name)
    })
}

/// What the provider says about the sets of a record.
fn complaints(ask: &Ask, hosted: &Hosted) -> Vec<String> {
    let own = hosted.complaints.iter().filter(|(key, _)| {
        let ours = key
            .share
            .as_ref()
            .is_none_or(|share| *share == ask.owner.share);
        ours && ask.wanted.contains_key(&plain(key))
    });
    own.map(|(key, complaint)| format!("{key}: {complaint}"))
        .collect()
}

/// Changes by name: what two records do to one set is one change.
#[derive(Default)]
struct Groups {
    all: Vec<(Group, BTreeSet<DnsRecordKey>)>,
    places: BTreeMap<Name, usize>,
}

impl Groups {
    fn join(&mut self, groups: Vec<Group>, record: &DnsRecordKey) {
        for group in groups {
            if let Some(place) = self.places.get(&group.name) {
                let (other, records) = &mut self.all[*place];
                records.insert(record.clone());
                for change in group.changes {
                    follow(&mut other.changes, change);
                }
            } else {
                self.places.insert(group.name.clone(), self.all.len());
                self.all.push((group, [record.clone()].into()));
            }
        }
    }
}

/// A change behind another one of the same set starts where that one ends.
fn follow(changes: &mut Vec<Change>, change: Change) {
    match changes.iter_mut().find(|before| before.key == change.key) {
        Some(before) => before.after = change.after,
        None => changes.push(change),
    }
    changes.retain(|change| change.before != change.after);
}

/// A mark comes before its set and goes after it: what a batch that is made in part leaves behind is never data that
/// nobody has marked.
fn marks_around(group: &mut Group) {
    let name = &group.name;
    group.changes.sort_by_key(|change| {
        let is_mark = change.key.name != *name;
        match (is_mark, &change.after) {
            (true, Some(_)) => 0,
            (false, _) => 1,
            (true, None) => 2,
        }
    });
}

impl Hosted {
    /// Becomes what was read of the same zone, and tells at which names that is something else: those of marked sets are
    /// among them.
    pub fn renew(
        &mut self,
        holdings: Holdings,
        complaints: BTreeMap<HostedKey, String>,
    ) -> BTreeSet<Name> {
        let mut names = self.inventory.renew(holdings);
        let told = self.complaints.keys().chain(complaints.keys());
        let told = told.filter(|key| self.complaints.get(*key) != complaints.get(*key));
        names.extend(told.map(|key| key.name.clone()));
        self.complaints = complaints;
        names
    }
}

#[cfg(test)]
mod tests;
