//! What should happen for a host.

use std::collections::BTreeSet;
use std::time::Duration;

use api::parse::service_record::Endpoint;
use api::parse::target::Target;
use api::service_record::Source;

use super::ownership::{Leavers, is_taken, owner};
use super::records::{Place, published};
use super::service_record::Wanted;
use super::{
    Claim, Decision, HostView, Note, Proof, SourceKind, StandingRecord, Whereabouts, Withdrawal,
    Write, stay,
};
use crate::ObjectKey;

/// What should happen. `now` is any clock that does not jump; `grace` is how long a host without addresses keeps its last.
pub fn decide(view: &HostView, grace: Duration, now: Duration) -> Decision {
    let (view, kept) = stay::with_those_who_stay(view);
    let mut pass = Pass {
        view: &view,
        grace,
        now,
        decision: Decision::default(),
    };
    pass.run();
    pass.decision.sights.kept.splice(0..0, kept);
    pass.decision
}

/// How far a pass may go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reach {
    /// Everybody whom something was made for still asks for it.
    Settled,
    /// Somebody may have left: nothing goes.
    Held,
    /// Those who left are known to be gone.
    Proven,
}

struct Pass<'a> {
    view: &'a HostView,
    grace: Duration,
    now: Duration,
    decision: Decision,
}

impl<'v> Pass<'v> {
    fn run(&mut self) {
        let view = self.view;
        let owner = owner(view, Leavers::Count);
        self.tell_refused(owner);
        let asking = owner.filter(|owner| !self.claims(owner).is_empty());
        if let Some(owner) = asking.filter(|owner| is_taken(view, owner)) {
            return self.freeze(owner);
        }
        if view.leaving.is_empty() {
            return self.settle(owner);
        }
        let kept = self.waits();
        self.decision.writes = self.writes(asking, Reach::Held);
        if kept.is_empty() && self.decision.writes.is_empty() {
            self.withdraw();
        }
        if asking.is_none() {
            self.look_back();
        }
        self.decision.sights.kept.extend(kept);
    }

    /// Somebody else's object is in the way: whatever stands stays as it is.
    fn freeze(&mut self, owner: &'v str) {
        let host = &self.view.host;
        let notes = self.claims(owner).into_iter();
        let notes: Vec<Note> = notes.map(|claim| Note::taken(claim, host)).collect();
        self.decision.notes.extend(notes);
        self.look_back();
        self.decision.sights.taken = true;
    }

    /// Everybody is there whom something was made for, or nobody is known.
    fn settle(&mut self, owner: Option<&'v str>) {
        match owner {
            Some(owner) => self.decision.writes = self.writes(Some(owner), Reach::Settled),
            // Whoever asks below somebody else's wildcard has nothing, and what stands names nobody.
            None if !self.view.claims.is_empty() => self.look_back(),
            None => {
                self.withdraw();
                self.look_back();
            }
        }
    }

    /// Offers to do without those who left. Which needs a proof that they did.
    fn withdraw(&mut self) {
        let view = self.view;
        let owner = owner(view, Leavers::Gone).filter(|owner| !is_taken(view, owner));
        let writes = self.writes(owner, Reach::Proven);
        if writes.is_empty() {
            return;
        }
        let Some(kinds) = self.kinds_to_list() else {
            let kept = "nobody is known who asked for it, and objects of kind HTTPProxy cannot be read now";
            return self.decision.sights.kept.push(kept.to_owned());
        };
        let left = view.leaving.iter();
        let gateways: BTreeSet<&ObjectKey> = left.clone().flat_map(|it| &it.gateways).collect();
        let proof = Proof {
            host: view.host.clone(),
            sources: left.map(|it| it.source.clone()).collect(),
            gateways: gateways.into_iter().cloned().collect(),
            kinds,
        };
        self.decision.withdrawal = Some(Withdrawal { proof, writes });
    }

    /// The kinds that everybody is to be looked for in who might ask for the host: none, if it is known whom everything was
    /// made for, or who has it now; nothing, if they cannot be read.
    fn kinds_to_list(&self) -> Option<Vec<SourceKind>> {
        let mut standing = self.view.standing.iter();
        let anonymous = standing.any(|it| it.sources.is_empty());
        let nobody = anonymous || self.view.leaving.is_empty();
        if nobody && self.view.claims.is_empty() {
            self.view.listable.clone()
        } else {
            Some(Vec::new())
        }
    }

    /// What is told about a host that nothing is decided for: what stands.
    fn look_back(&mut self) {
        let view = self.view;
        let sources = view.standing.iter().flat_map(|it| it.sources.clone());
        self.decision.sights.sources = sources.collect();
        self.decision.sights.endpoints = self.last(None, 0);
        let oldest = view.standing.first();
        self.decision.sights.home = oldest.map(|it| it.key().clone());
    }

    fn tell_refused(&mut self, owner: Option<&str>) {
        let others = self.view.claims.iter();
        let others = others.filter(|it| Some(it.namespace()) != owner);
        let notes = others.clone().map(|it| Note::refused(it, &self.view.host));
        self.decision.notes = notes.collect();
        let namespaces: BTreeSet<&str> = others.map(Claim::namespace).collect();
        self.decision.sights.refused = namespaces.len();
    }

    fn claims(&self, namespace: &str) -> Vec<&'v Claim> {
        let all = self.view.claims.iter();
        all.filter(|it| it.namespace() == namespace).collect()
    }

    /// The writes that give a host to a namespace; to nobody: that take away what stands.
    fn writes(&mut self, owner: Option<&'v str>, reach: Reach) -> Vec<Write> {
        let mut writes = Vec::new();
        let mut home = None;
        if let Some(owner) = owner {
            let key = self.home(owner);
            writes = self.give(owner, &key, reach);
            home = Some(key);
        }
        if reach != Reach::Held {
            writes.extend(self.take_away(owner, home.as_ref()));
        }
        writes
    }

    fn home(&self, owner: &str) -> ObjectKey {
        let namespace = self.view.central.as_deref().unwrap_or(owner);
        ObjectKey::new(namespace, self.view.name.as_deref().unwrap_or_default())
    }

    /// The ServiceRecord first: whose the host is must be known before it is answered.
    fn give(&mut self, owner: &'v str, key: &ObjectKey, reach: Reach) -> Vec<Write> {
        let view = self.view;
        let claims = self.claims(owner);
        let leavers = self.leavers(owner);
        let keeps = reach == Reach::Held && !leavers.is_empty();
        let mut sources: BTreeSet<Source> = claims.iter().map(|it| it.named()).collect();
        sources.extend(leavers.into_iter().filter(|_| keeps).cloned());
        let sources: Vec<Source> = sources.into_iter().collect();
        let endpoints = self.endpoints(owner, &claims, keeps, reach);
        let wanted = Wanted {
            host: &view.host,
            key: key.clone(),
            beside: view.central.is_none(),
            claims: &claims,
            sources: &sources,
            endpoints: &endpoints,
            keeps,
        };
        let standing = view.standing.iter().find(|it| it.key() == key);
        let place = Place {
            view,
            namespace: owner,
            claims: &claims,
            keeps,
        };
        let targets = published(endpoints.iter().map(|it| &it.target));
        let writes = wanted.write(standing).into_iter();
        let writes = writes.chain(place.writes(&targets)).collect();
        if reach != Reach::Proven {
            self.decision.sights.home = Some(key.clone());
            self.decision.sights.sources = sources;
            self.decision.sights.endpoints = endpoints;
        }
        writes
    }

    /// Those of a namespace who may have left.
    fn leavers(&self, owner: &str) -> Vec<&'v Source> {
        let leaving = self.view.leaving.iter().map(|it| &it.source);
        leaving.filter(|it| it.namespace == owner).collect()
    }

    /// What stands elsewhere goes: Records first, for a host whose ServiceRecord is gone is nobody's.
    fn take_away(&self, owner: Option<&str>, home: Option<&ObjectKey>) -> Vec<Write> {
        let records = self.view.records.iter().filter(|it| !it.deleting);
        let records = records.filter(|it| Some(it.key().namespace.as_str()) != owner);
        let records = records.map(|it| Write::DeleteRecord(it.version.clone()));
        let standing = self.view.standing.iter().filter(|it| !it.deleting);
        // What was handed over and is not wanted stays with whoever made it.
        let others = standing.filter(|it| Some(it.key()) != home && it.exported);
        let others = others.map(|it| Write::DeleteServiceRecord(it.version.clone()));
        records.chain(others).collect()
    }

    /// Where the host is reached: where its claims say, and as long as nobody can say, where it was.
    fn endpoints(
        &mut self,
        owner: &str,
        claims: &[&Claim],
        keeps: bool,
        reach: Reach,
    ) -> BTreeSet<Endpoint> {
        let endpoint = |claim: &&Claim, target: &Target| Endpoint {
            target: target.clone(),
            port: claim.port,
        };
        let all = claims.iter();
        let all = all.flat_map(|claim| claim.targets.iter().map(move |it| endpoint(claim, it)));
        let mut wanted: BTreeSet<Endpoint> = all.collect();
        let port = claims.first().map_or(0, |it| it.port);
        let last = self.last(Some(owner), port);
        if keeps || claims.iter().any(|it| it.blind) {
            wanted.extend(last);
        } else if wanted.is_empty() && !last.is_empty() && reach != Reach::Proven && self.lapse() {
            wanted = last;
        }
        wanted
    }

    /// Where the host was reached: as its ServiceRecords say, and its Records, where those were lost.
    fn last(&self, owner: Option<&str>, port: u16) -> BTreeSet<Endpoint> {
        let standing = self.view.standing.iter();
        let mut last: BTreeSet<Endpoint> = standing.flat_map(|it| it.endpoints.clone()).collect();
        let own = |it: &&StandingRecord| owner.is_none_or(|owner| it.key().namespace == owner);
        let targets = self.view.records.iter().filter(own);
        for target in targets.filter_map(StandingRecord::target) {
            if last.iter().all(|it| it.target != target) {
                last.insert(Endpoint { target, port });
            }
        }
        last
    }

    /// Whether what has no source for the moment is kept for a while longer. How long it has been so is remembered until
    /// it has gone: a write that fails must not begin it anew.
    fn lapse(&mut self) -> bool {
        let since = self.view.lapsing.unwrap_or(self.now);
        let until = since.saturating_add(self.grace);
        self.decision.lapsing = Some(since);
        self.decision.next = Some(until).filter(|it| *it > self.now);
        self.decision.next.is_some()
    }

    /// Why those who left are not let go yet.
    fn waits(&self) -> Vec<String> {
        let leaving = self.view.leaving.iter();
        let unread = leaving.filter(|it| it.whereabouts == Whereabouts::Unreadable);
        unread
            .map(|it| format!("{} cannot be read now", it.key))
            .collect()
    }
}
