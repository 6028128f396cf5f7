//! How a zone stands among the others: the words the tree is judged in.

use api::ZoneKey;
use api::problem::Problem;
use dns::Name;

/// Who has authority over a name (Z13).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Authority {
    /// A zone below another namespace's needs its leave, unless it is the older one.
    #[default]
    Strict,
    /// Every zone has it.
    Open,
}

/// Why an object has no name.
#[derive(Clone, Debug, PartialEq)]
pub enum Nameless {
    /// Its own fields do not give one; its problems say why.
    Invalid,
    /// Its name and its parent's together break a rule.
    Unfit(Problem),
    /// The Zone in `zoneRef` does not exist.
    ParentNotFound(ZoneKey),
    /// The Zone in `zoneRef` has no name either.
    WaitingForParent(ZoneKey),
    /// Following `zoneRef` leads back to it.
    Cyclic,
}

/// Why the zone in `zoneRef` is not the parent of a zone that has a full name.
#[derive(Clone, Debug, PartialEq)]
pub enum Misplaced {
    /// There is none, or it has no name.
    Nameless(Nameless),
    /// Its name is not above.
    Outside {
        /// The zone.
        zone: ZoneKey,
        /// What it is called.
        origin: Name,
    },
}

/// Whether a zone has authority over its name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Standing {
    /// It has no name.
    Nameless,
    /// It stands.
    Stands {
        /// The zones above that are newer and never gave leave, the nearest first: they have no say over anything at
        /// or below this one.
        overrules: Vec<ZoneKey>,
    },
    /// Another zone of the same name came first.
    Conflicted(ZoneKey),
    /// A zone above is older and gives no leave.
    NotDelegated(ZoneKey),
}

impl Standing {
    pub(crate) fn stands(&self) -> bool {
        matches!(self, Standing::Stands { .. })
    }

    /// The zones above that have no say here.
    pub(super) fn overrules(&self) -> &[ZoneKey] {
        match self {
            Standing::Stands { overrules } => overrules,
            Standing::Nameless | Standing::Conflicted(_) | Standing::NotDelegated(_) => &[],
        }
    }
}

/// A zone's place among the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Footing {
    pub(super) name: Result<Name, Nameless>,
    pub(super) standing: Standing,
    /// The nearest zone above that stands.
    pub(super) above: Option<ZoneKey>,
}

impl Footing {
    pub(super) fn nameless(why: Nameless) -> Footing {
        Footing {
            name: Err(why),
            standing: Standing::Nameless,
            above: None,
        }
    }

    /// The name it stands at.
    pub(super) fn seat(&self) -> Option<&Name> {
        let name = self.name.as_ref().ok();
        name.filter(|_| self.standing.stands())
    }
}

/// A zone whose place has changed, or that was itself changed. Without a footing it does not exist.
#[derive(Debug)]
pub(super) struct Shift {
    pub(super) zone: ZoneKey,
    pub(super) before: Option<Footing>,
    pub(super) after: Option<Footing>,
}

impl Shift {
    /// The name it stood at, and the name it stands at.
    pub(super) fn seats(&self) -> [Option<&Name>; 2] {
        [&self.before, &self.after].map(|it| it.as_ref().and_then(Footing::seat))
    }

    /// Whether it is called something else, or came, or went.
    pub(super) fn is_renamed(&self) -> bool {
        let [before, after] = [&self.before, &self.after].map(|it| it.as_ref().map(|it| &it.name));
        before != after
    }

    /// Whether it stands somewhere else.
    pub(super) fn is_reseated(&self) -> bool {
        let [before, after] = self.seats();
        before != after
    }
}
