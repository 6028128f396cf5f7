//! What a history sets out to meet: an operation and how the API takes it.
//!
//! [`expected`] is the list of everything that must be met for a kind, and how often it is aimed at. A run
//! that misses one of them has not shown what it should.

use std::fmt;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;

use super::hooks::Effect;
use super::kind::Kind;
use crate::sequence::Patch;

/// An operation on a kind.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch(Patch),
    Delete,
    DeleteCollection,
}

/// How it was taken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Outcome {
    Done,
    Created,
    NotFound,
    AlreadyExists,
    Conflict,
    Invalid,
    BadRequest,
    Unsupported,
    /// A webhook refused it.
    Denied,
    /// A webhook that has to be asked could not be.
    Unasked,
    /// Nobody aims at it.
    Other,
}

/// An operation, and how it should be taken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Aim {
    pub(crate) verb: Verb,
    /// Whether it is about the `status` of an object alone.
    pub(crate) status: bool,
    pub(crate) outcome: Outcome,
}

/// One thing that a history does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    Meet(Aim),
    /// An owner is deleted, and the garbage collector sees to its dependent.
    Collect,
    /// An object lives under the eyes of webhooks.
    Hooked(Effect),
}

/// What can be met everywhere, and its weight.
const EVERYWHERE: [(Verb, Outcome, usize); 33] = [
    (Verb::Get, Outcome::Done, 3),
    (Verb::Get, Outcome::NotFound, 1),
    (Verb::List, Outcome::Done, 8),
    (Verb::List, Outcome::BadRequest, 1),
    (Verb::List, Outcome::Invalid, 1),
    (Verb::Watch, Outcome::Done, 5),
    (Verb::Watch, Outcome::BadRequest, 1),
    (Verb::Watch, Outcome::Invalid, 1),
    (Verb::Create, Outcome::Created, 8),
    (Verb::Create, Outcome::AlreadyExists, 2),
    (Verb::Create, Outcome::Invalid, 3),
    (Verb::Create, Outcome::BadRequest, 3),
    (Verb::Update, Outcome::Done, 6),
    (Verb::Update, Outcome::Conflict, 2),
    (Verb::Update, Outcome::Invalid, 2),
    (Verb::Update, Outcome::BadRequest, 2),
    (Verb::Patch(Patch::Json), Outcome::Done, 5),
    (Verb::Patch(Patch::Json), Outcome::NotFound, 1),
    (Verb::Patch(Patch::Json), Outcome::Conflict, 1),
    (Verb::Patch(Patch::Json), Outcome::Invalid, 2),
    (Verb::Patch(Patch::Json), Outcome::BadRequest, 1),
    (Verb::Patch(Patch::Merge), Outcome::Done, 6),
    (Verb::Patch(Patch::Merge), Outcome::NotFound, 1),
    (Verb::Patch(Patch::Merge), Outcome::Conflict, 1),
    (Verb::Patch(Patch::Merge), Outcome::Invalid, 2),
    (Verb::Patch(Patch::Merge), Outcome::BadRequest, 1),
    (Verb::Delete, Outcome::Done, 5),
    (Verb::Delete, Outcome::NotFound, 1),
    (Verb::Delete, Outcome::Conflict, 2),
    (Verb::Delete, Outcome::Invalid, 1),
    (Verb::Delete, Outcome::BadRequest, 1),
    (Verb::DeleteCollection, Outcome::Done, 2),
    (Verb::DeleteCollection, Outcome::BadRequest, 1),
];

/// What webhooks can refuse, everywhere.
const REFUSED: [(Verb, Outcome); 11] = [
    (Verb::Create, Outcome::Denied),
    (Verb::Create, Outcome::Unasked),
    (Verb::Update, Outcome::Denied),
    (Verb::Update, Outcome::Unasked),
    (Verb::Patch(Patch::Json), Outcome::Denied),
    (Verb::Patch(Patch::Merge), Outcome::Denied),
    (Verb::Patch(Patch::Merge), Outcome::Unasked),
    (Verb::Patch(Patch::Apply), Outcome::Denied),
    (Verb::Patch(Patch::Apply), Outcome::Unasked),
    (Verb::Delete, Outcome::Denied),
    (Verb::DeleteCollection, Outcome::Denied),
];

/// What strategic merge patches of built-in kinds can meet.
const STRATEGIC: [(Outcome, usize); 6] = [
    (Outcome::Done, 6),
    (Outcome::NotFound, 1),
    (Outcome::Conflict, 1),
    (Outcome::Invalid, 2),
    (Outcome::BadRequest, 1),
    (Outcome::Denied, 1),
];

/// What applying can meet.
const APPLY: [(Outcome, usize); 5] = [
    (Outcome::Done, 8),
    (Outcome::Created, 3),
    (Outcome::Conflict, 3),
    (Outcome::Invalid, 2),
    (Outcome::BadRequest, 1),
];

/// What can be met on the `status` of an object.
const STATUS: [(Verb, Outcome, usize); 10] = [
    (Verb::Patch(Patch::Apply), Outcome::Done, 2),
    (Verb::Get, Outcome::Done, 1),
    (Verb::Get, Outcome::NotFound, 1),
    (Verb::Update, Outcome::Done, 2),
    (Verb::Update, Outcome::Conflict, 1),
    (Verb::Update, Outcome::NotFound, 1),
    (Verb::Patch(Patch::Json), Outcome::Done, 2),
    (Verb::Patch(Patch::Merge), Outcome::Done, 3),
    (Verb::Patch(Patch::Merge), Outcome::NotFound, 1),
    (Verb::Patch(Patch::Merge), Outcome::Conflict, 1),
];

/// Everything that must be met for a kind, and how often it is aimed at.
pub(crate) fn expected(kind: &Kind) -> Vec<(Aim, usize)> {
    let mut aims = Vec::new();
    let mut add = |verb, status, outcome, weight| {
        let aim = Aim {
            verb,
            status,
            outcome,
        };
        aims.push((aim, weight));
    };
    let collection = |verb: &Verb| *verb == Verb::DeleteCollection && kind.one_by_one;
    for (verb, outcome, weight) in EVERYWHERE {
        // A kind whose schema says all of its types refuses a wrong one as invalid.
        if !collection(&verb) {
            add(verb, false, outcome, weight);
        }
    }
    for (verb, outcome) in REFUSED {
        if !collection(&verb) {
            add(verb, false, outcome, 1);
        }
    }
    let absent = if kind.upsert {
        Outcome::Created
    } else {
        Outcome::NotFound
    };
    add(Verb::Update, false, absent, 2);
    for (outcome, weight) in APPLY {
        add(Verb::Patch(Patch::Apply), false, outcome, weight);
    }
    let strategic = Verb::Patch(Patch::Strategic);
    if kind.custom {
        add(strategic, false, Outcome::Unsupported, 1);
    } else {
        for (outcome, weight) in STRATEGIC {
            add(strategic, false, outcome, weight);
        }
    }
    if kind.status {
        // Whether an update of the status of what is not there may create it is a question that nobody asks.
        let strange = |verb| kind.upsert && verb == Verb::Update;
        for (verb, outcome, weight) in STATUS {
            if outcome != Outcome::NotFound || !strange(verb) {
                add(verb, true, outcome, weight);
            }
        }
        if !kind.custom {
            add(strategic, true, Outcome::Done, 2);
        }
        if !kind.invalid_statuses.is_empty() {
            add(Verb::Patch(Patch::Merge), true, Outcome::Invalid, 1);
            add(Verb::Update, true, Outcome::Invalid, 1);
        }
    }
    aims
}

/// What webhooks must have done to writes of a kind.
pub(crate) fn hooked(kind: &Kind) -> Vec<(Verb, Effect)> {
    let mut verbs = vec![
        Verb::Create,
        Verb::Update,
        Verb::Patch(Patch::Json),
        Verb::Patch(Patch::Merge),
        Verb::Patch(Patch::Apply),
    ];
    if !kind.custom {
        verbs.push(Verb::Patch(Patch::Strategic));
    }
    let writes = verbs
        .into_iter()
        .flat_map(|verb| Effect::ALL.map(|effect| (verb, effect)));
    // An object that goes cannot be changed, and of what nobody was asked about its end nothing is seen.
    let ends = [Effect::Changed, Effect::Warned].map(|effect| (Verb::Delete, effect));
    writes.chain(ends).collect()
}

/// All aims of a kind as often as they weigh, in an order by chance.
pub(crate) fn deck(kind: &Kind, chance: &mut StdRng) -> Vec<Task> {
    let aims = expected(kind).into_iter();
    let mut deck: Vec<_> = aims
        .flat_map(|(aim, weight)| [Task::Meet(aim)].repeat(weight))
        .collect();
    if !kind.custom && !kind.slow {
        deck.extend([Task::Collect; 2]);
    }
    deck.extend(Effect::ALL.map(Task::Hooked));
    deck.shuffle(chance);
    deck
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch(Patch::Json) => "patch json",
            Self::Patch(Patch::Merge) => "patch merge",
            Self::Patch(Patch::Strategic) => "patch strategic",
            Self::Patch(Patch::Apply) => "patch apply",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        })
    }
}

impl Outcome {
    /// All of them, in the order of the table.
    pub(crate) const ALL: [Self; 11] = [
        Self::Done,
        Self::Created,
        Self::NotFound,
        Self::AlreadyExists,
        Self::Conflict,
        Self::Invalid,
        Self::BadRequest,
        Self::Unsupported,
        Self::Denied,
        Self::Unasked,
        Self::Other,
    ];

    /// The label of objects that webhooks take so.
    pub(crate) fn hook(self) -> &'static str {
        match self {
            Self::Denied => "deny",
            Self::Unasked => "lost",
            Self::Done
            | Self::Created
            | Self::NotFound
            | Self::AlreadyExists
            | Self::Conflict
            | Self::Invalid
            | Self::BadRequest
            | Self::Unsupported
            | Self::Other => "none",
        }
    }

    /// What an answer comes to.
    pub(crate) fn of(code: Option<u16>, reason: Option<&str>) -> Self {
        match (code, reason) {
            (Some(200), _) => Self::Done,
            (Some(201), _) => Self::Created,
            (Some(404), _) => Self::NotFound,
            (Some(409), Some("AlreadyExists")) => Self::AlreadyExists,
            (Some(409), _) => Self::Conflict,
            (Some(422), _) => Self::Invalid,
            (Some(400), _) => Self::BadRequest,
            (Some(415), _) => Self::Unsupported,
            (Some(403), _) => Self::Denied,
            (Some(500), Some("InternalError")) => Self::Unasked,
            (Some(_) | None, _) => Self::Other,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Done => "done",
            Self::Created => "created",
            Self::NotFound => "not found",
            Self::AlreadyExists => "exists",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::BadRequest => "bad request",
            Self::Unsupported => "unsupported",
            Self::Denied => "denied",
            Self::Unasked => "unasked",
            Self::Other => "other",
        })
    }
}
