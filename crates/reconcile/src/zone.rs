//! One pass over a Zone: its name and standing, its content and version (Z1–Z14).
//!
//! A pass makes at most one version. Slices it needs are created first, then one guarded write of the status names them all;
//! when that is acknowledged the version may be served, and slices that nobody names any more go.

mod entries;

use api::condition::{find, merge};
use api::zone::ZoneStatus;
use api::{ConditionType, Finding, Reason, Status, ZoneKey};
use dns::{Flaw, Name, Rtype, Serial, SetKey, Version, Zone};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::finding::{self, Why};
use crate::key::Label;
use crate::record::{kept, served};
use crate::slice::Slice;
use crate::world::{Faults, Identity, Misplaced, Nameless, Standing};

use entries::{entries, say_the_same, soa_entry};

/// Everything that bears on a Zone.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneView {
    /// Which Zone.
    pub key: ZoneKey,
    /// Its age and versions, and the label it carries.
    pub identity: Identity,
    /// What is wrong with it by itself.
    pub faults: Faults,
    /// What it says about itself now.
    pub status: ZoneStatus,
    /// Its full name.
    pub name: Result<Name, Nameless>,
    /// The zone that it is relative to, if its own labels end in that one's name already.
    pub repeats: Option<ZoneKey>,
    /// Why the zone in `zoneRef` is not its parent although it has a full name.
    pub misplaced: Option<Misplaced>,
    /// Whether it has authority over that name.
    pub standing: Standing,
    /// The zone its label should name (Z3).
    pub parent: Option<ZoneKey>,
    /// What it says, if it stands and has an SOA.
    pub content: Option<ContentView>,
    /// Slices that exist, though neither its status nor its content names them.
    pub surplus: Vec<String>,
    /// The version that name servers answer with, whoever published it.
    pub answered: Option<Serial>,
    /// The highest serial that ever stood for what its name says, as far as it is known here.
    pub spent: Option<Serial>,
    /// Whether name servers were seen to answer with a version of this Zone; nothing where none runs.
    pub seen: Option<bool>,
}

/// What a zone says.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentView {
    /// The content.
    pub zone: Zone,
    /// All changes up to here are in it.
    pub epoch: u64,
    /// Its slices, if it does not fit into the status: the names of all, and those that do not exist yet.
    pub cut: Option<(Vec<String>, Vec<Slice>)>,
}

/// What a pass over a Zone wants done.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneDecision {
    /// The parent that label and annotation are to name, if they do not.
    pub label: Option<Label>,
    /// Slices to create before the status names them.
    pub create: Vec<Slice>,
    /// The version that stands once the status is written, and the changes in it.
    pub version: Option<(Version, u64)>,
    /// Slices to remove. What the status names stays until another status stands there.
    pub remove: Vec<String>,
    /// What is found.
    pub findings: Vec<Finding>,
}

/// Decides what follows for a Zone.
pub fn decide(view: &ZoneView, now: Timestamp) -> ZoneDecision {
    let label = (!view.identity.names(view.parent.as_ref())).then(|| Label(view.parent.clone()));
    let version = view.content.as_ref().map(|content| {
        let serial = serial(view, &content.zone, now);
        let zone = content.zone.clone();
        (Version { zone, serial }, content.epoch)
    });
    let cut = view.content.as_ref().and_then(|it| it.cut.as_ref());
    ZoneDecision {
        label,
        create: cut.map(|(_, missing)| missing.clone()).unwrap_or_default(),
        version,
        remove: view.surplus.clone(),
        findings: findings(view),
    }
}

/// The status that follows; nothing if it is what stands there.
pub fn conclude(view: &ZoneView, decision: &ZoneDecision, now: Timestamp) -> Option<ZoneStatus> {
    let mut status = ZoneStatus {
        fqdn: view.name.as_ref().ok().map(ToString::to_string),
        conditions: merge(&view.status.conditions, &decision.findings, now),
        observed_generation: view.identity.generation,
        // The serial outlives the content: no later version may be called the same (Z7).
        serial: view.status.serial,
        ..ZoneStatus::default()
    };
    match (&decision.version, &view.content) {
        (Some((version, _)), Some(content)) => {
            status.hash = Some(version.zone.hash().to_string());
            status.serial = Some(version.serial.0);
            status.entries = match &content.cut {
                Some((names, _)) => {
                    status.slices.clone_from(names);
                    vec![soa_entry(version)]
                }
                None => entries(version),
            };
        }
        _ if keeps_version(view) => {
            status.entries.clone_from(&view.status.entries);
            status.slices.clone_from(&view.status.slices);
            status.hash.clone_from(&view.status.hash);
        }
        _ => {}
    }
    (status != view.status).then_some(status)
}

/// Whether the zone stands but cannot make a version: then the last one it made under its name stays, for a mistake in the
/// timers must not take a zone off the air.
fn keeps_version(view: &ZoneView) -> bool {
    view.content.is_none() && view.standing.stands() && has_its_name(view)
}

/// Whether the status speaks of the name that the zone has now.
fn has_its_name(view: &ZoneView) -> bool {
    let name = view.name.as_ref().ok().map(ToString::to_string);
    name.is_some() && view.status.fqdn == name
}

/// The serial of the content: the one it has, or the next (Z7).
fn serial(view: &ZoneView, zone: &Zone, now: Timestamp) -> Serial {
    let named = view.status.serial.map(Serial);
    let last = match (named, view.spent) {
        (Some(named), Some(spent)) => Some(named.later(spent)),
        (named, spent) => named.or(spent),
    };
    match named {
        // One who knows of a later version knows more than the status, which may have been restored.
        Some(named) if Some(named) == last && stands_for(&view.status, zone) => named,
        Some(_) | None => Serial::next(last, now.to_zoned(TimeZone::UTC).date()),
    }
}

/// Whether the serial of a status stands for this content.
fn stands_for(status: &ZoneStatus, zone: &Zone) -> bool {
    let hash = zone.hash().to_string();
    match status.hash.as_deref() {
        Some(known) if known.len() == hash.len() => known == hash,
        // Not a hash of ours: somebody else took care of the zone before.
        Some(_) | None => say_the_same(status, zone),
    }
}

fn findings(view: &ZoneView) -> Vec<Finding> {
    let at = view.identity.generation;
    let finding = |type_, (status, (reason, message)): (Status, Why)| {
        Finding::new(type_, status, reason, message).at(at)
    };
    vec![
        finding(ConditionType::Accepted, accepted(view)),
        finding(ConditionType::Published, published(view)),
    ]
}

fn accepted(view: &ZoneView) -> (Status, Why) {
    let refused = |why| (Status::False, why);
    let name = match &view.name {
        Ok(name) => name,
        Err(nameless) => return refused(finding::nameless(nameless, &view.faults)),
    };
    match &view.standing {
        Standing::Conflicted(first) => {
            let message = format!(
                "spec.domainName: Zone {first} is called {name}, too, and is older, so it is the one that counts; rename or delete one of the two"
            );
            refused((Reason::Conflicted, message))
        }
        Standing::NotDelegated(above) => {
            let namespace = &view.key.namespace;
            let message = format!(
                "spec.domainName: {name} is below Zone {above}, which is older and does not delegate it to namespace {namespace}; to allow it, add {{namespaces: [{namespace}], zones: [{name}]}} to the spec.delegations of that Zone"
            );
            refused((Reason::NotDelegated, message))
        }
        Standing::Nameless | Standing::Stands { .. } => {
            if view.faults.problems.is_empty() {
                return match &view.misplaced {
                    Some(why) => refused(misplaced(why, name)),
                    None => (Status::True, remarks(view, name)),
                };
            }
            let (reason, problems) = finding::faulty(&view.faults);
            let rest = match view.content {
                Some(_) => "the rest of the Zone is in force",
                None => "until then the zone stays as it was last published",
            };
            refused((reason, format!("{problems}; {rest}")))
        }
    }
}

/// What is to be said of a zone that is accepted.
fn remarks(view: &ZoneView, name: &Name) -> Why {
    let repeated = view.repeats.as_ref();
    let mut remarks = Vec::from_iter(repeated.map(|parent| finding::looks_full(parent, name)));
    let apex = SetKey::new(name.clone(), Rtype::NS);
    if let Some(ContentView { zone, .. }) = &view.content {
        if zone.get(&apex).is_none() {
            let message = format!(
                "spec.nameservers: is empty, and there is no NS Record at {name}, so no other zone can delegate to this one; list the names of its name servers"
            );
            remarks.push((Reason::NoNameServers, message));
        }
        for found in zone.check_at(&apex) {
            let reason = if let Flaw::TargetIsAlias { .. } = found.flaw {
                Reason::TargetIsAlias
            } else if let Flaw::TargetMissing { .. } = found.flaw {
                Reason::TargetMissing
            } else {
                continue;
            };
            let message = format!("the NS record at {name} {}", found.flaw);
            remarks.push((reason, message));
        }
    }
    finding::first_of(remarks)
        .unwrap_or_else(|| (Reason::Accepted, format!("has authority over {name}")))
}

/// Why the zone in `zoneRef` is not the parent of one that has a full name (Z2).
fn misplaced(misplaced: &Misplaced, name: &Name) -> Why {
    let (reason, message) = match misplaced {
        Misplaced::Nameless(nameless) => finding::nameless(nameless, &Faults::default()),
        Misplaced::Outside { zone, origin } => {
            let message = format!(
                "spec.zoneRef: {name} is not below Zone {zone}, which is {origin}; correct one of the two, or leave spec.zoneRef out"
            );
            (Reason::OutsideParent, message)
        }
    };
    (
        reason,
        format!("{message}; the Zone is in force under its full name"),
    )
}

fn published(view: &ZoneView) -> (Status, Why) {
    let not = |reason, message: &str| (Status::False, (reason, message.to_owned()));
    if !view.standing.stands() {
        return not(
            Reason::NotAccepted,
            "not accepted, so it is not published: condition Accepted says why",
        );
    }
    match (view.seen, view.answered) {
        (None, _) => (Status::Unknown, finding::no_name_server()),
        // By this process, or before it began: it is said once.
        (Some(_), Some(_)) if was_published(view) => (Status::True, kept(&view.status.conditions)),
        (Some(true), Some(serial)) => (Status::True, served(serial)),
        (Some(_), _) if view.content.is_none() => not(
            Reason::NotAccepted,
            "no version can be made of it: condition Accepted says why",
        ),
        (Some(_), _) => (Status::False, finding::pending()),
    }
}

/// Whether the Zone says that it is answered, under the name it has now.
fn was_published(view: &ZoneView) -> bool {
    let published = find(&view.status.conditions, ConditionType::Published);
    has_its_name(view)
        && published.is_some_and(|published| published.status == Status::True.as_str())
}
