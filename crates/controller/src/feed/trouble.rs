//! What can go wrong with a watch, and what follows: said to whom, waited for how long, begun again from where.

use std::time::Duration;

use kube::core::Status;
use kube::runtime::watcher::Error;
use rand::Rng;
use tokio::time::Instant;

use super::{ABSENT_EVERY, Event};
use crate::backoff::Backoff;

/// How long a watch has to go well for the next failure to count as a first one: longer than any wait between two.
const CALM: Duration = Duration::from_mins(2);

/// The waits after failures. The cap is how late we may notice that the API is back.
const BACKOFF: Backoff = Backoff {
    base: Duration::from_millis(200),
    cap: Duration::from_secs(30),
};

/// Something that went wrong with a watch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Trouble {
    /// The cluster does not have the kind.
    Absent,
    /// The API no longer remembers the place that the watch had come to.
    Expired,
    /// The API does not send initial objects in a watch: they have to be listed.
    Unstreamed,
    /// The API answers, and does not let us watch.
    Refused(String),
    /// Nothing was heard for too long.
    Silent,
    /// Anything else.
    Failed(String),
}

impl Trouble {
    /// What an error of kube's watcher amounts to.
    pub(super) fn of(error: &Error) -> Self {
        let Some(status) = status(error) else {
            return Self::Failed(error.to_string());
        };
        match status.code {
            403 | 405 => Self::Refused(status.message.clone()),
            404 => Self::Absent,
            410 => Self::Expired,
            422 if status.message.contains("sendInitialEvents") => Self::Unstreamed,
            _ => Self::Failed(status.message.clone()),
        }
    }

    /// What the receiver is told. What heals by itself is nobody's business.
    pub(super) fn event(&self) -> Option<Event> {
        match self {
            Self::Absent => Some(Event::Absent),
            Self::Expired | Self::Unstreamed => None,
            Self::Refused(why) => Some(Event::Stalled(why.clone())),
            Self::Silent => Some(Event::Stalled(self.text())),
            Self::Failed(why) => Some(Event::Failed(why.clone())),
        }
    }

    /// What people are told.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Absent => "the cluster does not have this kind".to_owned(),
            Self::Expired => "the watch fell behind what the API remembers".to_owned(),
            Self::Unstreamed => "the API does not stream lists".to_owned(),
            Self::Refused(why) | Self::Failed(why) => why.clone(),
            Self::Silent => "neither events nor bookmarks came for too long".to_owned(),
        }
    }

    /// Whether the watch may go on from where it was. Otherwise all objects are told anew.
    pub(super) fn keeps_its_place(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Failed(_) => true,
            Self::Absent | Self::Expired | Self::Unstreamed | Self::Silent => false,
        }
    }
}

/// How long to wait after troubles, one after the other.
#[derive(Debug, Default)]
pub(super) struct Patience {
    failures: u32,
    last: Option<Instant>,
}

impl Patience {
    /// How long to wait after this trouble. An answer that the kind is not there is no failure.
    pub(super) fn pause(
        &mut self,
        trouble: &Trouble,
        now: Instant,
        chance: &mut impl Rng,
    ) -> Duration {
        if *trouble == Trouble::Absent {
            return ABSENT_EVERY;
        }
        if self.last.is_some_and(|last| CALM <= now - last) {
            self.failures = 0;
        }
        self.last = Some(now);
        self.failures = self.failures.saturating_add(1);
        BACKOFF.delay(self.failures, chance)
    }
}

/// What the API said, if it was the API that did not like it.
fn status(error: &Error) -> Option<&Status> {
    match error {
        Error::WatchError(status)
        | Error::InitialListFailed(kube::Error::Api(status))
        | Error::WatchStartFailed(kube::Error::Api(status))
        | Error::WatchFailed(kube::Error::Api(status)) => Some(status),
        Error::InitialListFailed(_)
        | Error::WatchStartFailed(_)
        | Error::WatchFailed(_)
        | Error::NoResourceVersion => None,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    #[test]
    fn what_the_api_says_decides_what_follows() {
        let unstreamed =
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: not enabled";
        let failed = |why: &str| Trouble::Failed(why.to_owned());
        let cases = [
            (403, "no", Trouble::Refused("no".to_owned())),
            (404, "no", Trouble::Absent),
            (405, "no", Trouble::Refused("no".to_owned())),
            (410, "no", Trouble::Expired),
            (422, unstreamed, Trouble::Unstreamed),
            (422, "no", failed("no")),
            (401, "no", failed("no")),
            (429, "no", failed("no")),
            (500, "no", failed("no")),
        ];
        for (code, message, expected) in cases {
            let status = || Status::failure(message, "Because").with_code(code).boxed();
            let errors = [
                Error::WatchError(status()),
                Error::WatchStartFailed(kube::Error::Api(status())),
                Error::WatchFailed(kube::Error::Api(status())),
                Error::InitialListFailed(kube::Error::Api(status())),
            ];
            for error in errors {
                assert_eq!(Trouble::of(&error), expected, "{error}");
            }
        }
        assert!(matches!(
            Trouble::of(&Error::NoResourceVersion),
            Trouble::Failed(_)
        ));
    }

    #[test]
    fn waits_grow_until_there_has_been_calm() {
        let (mut patience, mut chance) = (Patience::default(), StdRng::seed_from_u64(1));
        let (failed, mut now) = (Trouble::Failed("no".to_owned()), Instant::now());
        for longest in [200, 400, 800, 1_600] {
            let longest = Duration::from_millis(longest);
            let pause = patience.pause(&failed, now, &mut chance);
            assert!((longest / 2..=longest).contains(&pause), "{pause:?}");
            now += pause;
            assert_eq!(
                patience.pause(&Trouble::Absent, now, &mut chance),
                ABSENT_EVERY
            );
        }
        let pause = patience.pause(&failed, now + CALM, &mut chance);
        assert!(pause <= Duration::from_millis(200), "{pause:?}");
    }
}
