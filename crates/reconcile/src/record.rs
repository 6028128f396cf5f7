//! One pass over a Record: which zone it belongs to, and whether it is answered (R1–R8).

use api::condition::{find, merge};
use api::record::RecordStatus;
use api::{Condition, ConditionType, Finding, Reason, Status, ZoneKey};
use dns::{Name, Rtype, Serial};
use jiff::Timestamp;

use crate::finding::{self, Why};
use crate::key::{Label, RecordKey};
use crate::world::{Adoption, Claimant, Faults, Identity, Nameless, Seen};

/// Everything that bears on a Record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordView {
    /// Which Record.
    pub key: RecordKey,
    /// Its age and versions, and the label it carries.
    pub identity: Identity,
    /// What is wrong with it by itself.
    pub faults: Faults,
    /// What it says about itself now.
    pub status: RecordStatus,
    /// Its full name.
    pub name: Result<Name, Nameless>,
    /// The zone that it is relative to, if its own labels end in that one's name already.
    pub repeats: Option<ZoneKey>,
    /// Its type; nothing if that cannot be read.
    pub rtype: Option<Rtype>,
    /// Which zone it belongs to.
    pub adoption: Adoption,
    /// What became of it there.
    pub presence: Presence,
}

/// What became of a Record in the zone that has adopted it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Presence {
    /// No zone has.
    None,
    /// The zone does not stand.
    ZoneNotAccepted,
    /// The zone stands, but no version can be made of it: the last one stays.
    ZoneStays {
        /// Whether the Record says that it is answered, as it is now.
        published: bool,
    },
    /// It is not in the zone, for an older claim excludes it.
    Excluded {
        /// Whose claim; nothing: the zone's own SOA.
        by: Option<Claimant>,
        /// The rule.
        rule: String,
    },
    /// It is not in the zone, for it is about a name server of this sub-zone, which alone says where that is.
    Glue(Claimant),
    /// It is in the zone and never answered: something below the zone's name hands over.
    Occluded {
        /// What is to be said of it.
        notes: Notes,
        /// Who answers instead.
        by: String,
    },
    /// It is in the zone.
    In {
        /// What is to be said of it.
        notes: Notes,
        /// Whether it has been seen in an answer; nothing where no name server runs.
        seen: Option<Seen>,
    },
}

/// What is to be said of a Record that is in its zone.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Notes(pub Vec<(Reason, String)>);

/// What a pass over a Record wants done.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordDecision {
    /// The parent that label and annotation are to name, if they do not.
    pub label: Option<Label>,
    /// What is found.
    pub findings: Vec<Finding>,
    /// It is on its way to be answered: nothing needs to be said before that is known.
    pub waits: bool,
}

/// Decides what follows for a Record.
pub fn decide(view: &RecordView) -> RecordDecision {
    let parent = view.adoption.zone();
    let label = (!view.identity.names(parent)).then(|| Label(parent.cloned()));
    let waits = matches!(
        view.presence,
        Presence::In {
            seen: Some(Seen::Pending),
            ..
        }
    );
    let at = view.identity.generation;
    let finding = |type_, (status, (reason, message)): (Status, Why)| {
        Finding::new(type_, status, reason, message).at(at)
    };
    RecordDecision {
        label,
        findings: vec![
            finding(ConditionType::Accepted, accepted(view)),
            finding(ConditionType::Published, published(view)),
        ],
        waits,
    }
}

/// The status that follows; nothing if it is what stands there.
pub fn conclude(
    view: &RecordView,
    decision: &RecordDecision,
    now: Timestamp,
) -> Option<RecordStatus> {
    let status = RecordStatus {
        fqdn: view.name.as_ref().ok().map(ToString::to_string),
        conditions: merge(&view.status.conditions, &decision.findings, now),
        observed_generation: view.identity.generation,
    };
    (status != view.status).then_some(status)
}

fn accepted(view: &RecordView) -> (Status, Why) {
    // What became of the name is often what is wrong.
    let refused = |why| {
        let remarks = [why].into_iter().chain(repeated(view));
        let why = finding::first_of(remarks).expect("there is one at least");
        (Status::False, why)
    };
    match &view.adoption {
        Adoption::Invalid => refused(finding::faulty(&view.faults)),
        Adoption::Nameless(nameless) => refused(finding::nameless(nameless, &view.faults)),
        Adoption::Unfit(problem) => refused((Reason::Invalid, problem.to_string())),
        Adoption::NoZone => refused((Reason::NoZone, no_zone(view))),
        Adoption::Outside { zone, origin } => {
            refused((Reason::NotDelegated, outside(view, zone, origin)))
        }
        Adoption::NotDelegated(zone) => refused((Reason::NotDelegated, not_delegated(view, zone))),
        Adoption::Overruled { zone, by } => refused((Reason::NotDelegated, overruled(zone, by))),
        Adoption::Adopted { zone, .. } => match &view.presence {
            Presence::Excluded { by, rule } => {
                refused((Reason::Conflicted, excluded(by.as_ref(), rule)))
            }
            Presence::In { notes, .. } | Presence::Occluded { notes, .. } => {
                (Status::True, noted(view, notes, zone))
            }
            Presence::None
            | Presence::ZoneNotAccepted
            | Presence::ZoneStays { .. }
            | Presence::Glue(_) => (Status::True, noted(view, &Notes::default(), zone)),
        },
    }
}

fn published(view: &RecordView) -> (Status, Why) {
    let not = |reason, message: String| (Status::False, (reason, message));
    match &view.presence {
        Presence::None | Presence::Excluded { .. } => not(
            Reason::NotAccepted,
            "not accepted, so it is not published: condition Accepted says why".into(),
        ),
        Presence::ZoneNotAccepted => not(Reason::NotAccepted, zone_not_accepted(view)),
        Presence::ZoneStays { published: true } => (Status::True, kept(&view.status.conditions)),
        Presence::ZoneStays { published: false } => not(Reason::Pending, zone_stays(view)),
        Presence::Glue(sub_zone) => not(
            Reason::Occluded,
            format!(
                "never answered: {} is a name server of {sub_zone}, which alone says where it is; make this a Record of that Zone",
                named(view)
            ),
        ),
        Presence::Occluded { by, .. } => not(
            Reason::Occluded,
            format!("never answered: {by}; move the Record there or remove it"),
        ),
        Presence::In { seen: None, .. } => (Status::Unknown, finding::no_name_server()),
        Presence::In {
            seen: Some(seen), ..
        } => match seen {
            Seen::Pending => (Status::False, finding::pending()),
            Seen::Since(serial) => (Status::True, served(*serial)),
            Seen::Before => (Status::True, kept(&view.status.conditions)),
        },
    }
}

/// What a condition says of a thing that was first seen at a serial.
pub(crate) fn served(serial: Serial) -> Why {
    (Reason::Served, format!("answered since serial {serial}"))
}

/// What the object says already.
pub(crate) fn kept(conditions: &[Condition]) -> Why {
    let message = find(conditions, ConditionType::Published).map(|it| it.message.clone());
    (Reason::Served, message.unwrap_or_default())
}

fn no_zone(view: &RecordView) -> String {
    let name = named(view);
    format!(
        "spec.domainName: there is no Zone at or above {name}; create one or correct the name, and this goes on by itself"
    )
}

fn outside(view: &RecordView, zone: &ZoneKey, origin: &Name) -> String {
    let name = named(view);
    format!(
        "spec.domainName: {name} is not in Zone {zone} of spec.zoneRef, which is {origin}; correct one of the two"
    )
}

fn not_delegated(view: &RecordView, zone: &ZoneKey) -> String {
    let (name, namespace) = (named(view), &view.key.namespace);
    let rtype = view.rtype.map(|rtype| rtype.to_string());
    let rtype = rtype.unwrap_or_default();
    format!(
        "spec.domainName: Zone {zone} does not delegate {name} {rtype} to namespace {namespace}; to allow it, add {{namespaces: [{namespace}], records: [{{pattern: {name}, types: [{rtype}]}}]}} to the spec.delegations of that Zone"
    )
}

fn overruled(zone: &ZoneKey, by: &ZoneKey) -> String {
    format!(
        "spec.zoneRef: Zone {by} is older than Zone {zone}, which never delegated it, so {zone} has no say at or below the name of {by}; name {by} instead"
    )
}

fn zone_not_accepted(view: &RecordView) -> String {
    let zone = view.adoption.zone().map(ToString::to_string);
    format!(
        "Zone {} is not accepted, so nothing of it is published; the conditions of that Zone say why",
        zone.unwrap_or_default()
    )
}

fn zone_stays(view: &RecordView) -> String {
    let zone = view.adoption.zone().map(ToString::to_string);
    format!(
        "no new version of Zone {} can be made; the conditions of that Zone say why",
        zone.unwrap_or_default()
    )
}

fn named(view: &RecordView) -> String {
    let name = view.name.as_ref().map(ToString::to_string);
    name.unwrap_or_else(|_| "this name".to_owned())
}

fn excluded(by: Option<&Claimant>, rule: &str) -> String {
    match by {
        Some(by) => {
            format!("spec.domainName: {rule}; {by} was there first, so remove that or rename this")
        }
        None => format!("spec.domainName: {rule}; use A, AAAA or HTTPS there"),
    }
}

fn noted(view: &RecordView, notes: &Notes, zone: &ZoneKey) -> Why {
    let all = repeated(view).into_iter().chain(notes.0.iter().cloned());
    finding::first_of(all).unwrap_or_else(|| (Reason::Accepted, format!("part of Zone {zone}")))
}

/// What is to be said of a name that ends in its zone's already (R1).
fn repeated(view: &RecordView) -> Option<Why> {
    let name = view.name.as_ref().ok()?;
    Some(finding::looks_full(view.repeats.as_ref()?, name))
}
