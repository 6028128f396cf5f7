//! Credentials of Secrets that are gone, for what is still to be withdrawn with them (P6).
//!
//! Here they only lie: which record may use them is decided beside the other Secrets, in `hosting`. There is one version
//! of each Secret, the last, and a Secret that comes back takes its place. Time is how long the process has run: a clock
//! that is set back keeps nothing for longer.

use std::collections::BTreeMap;
use std::time::Duration;

use api::parse::provider_secret::ProviderSecret;

use crate::SecretKey;

/// How long credentials are kept after their Secret has gone: long enough for an API that throttles, or a name server that
/// is restarted, and what P6 allows.
pub const KEPT_FOR: Duration = Duration::from_hours(1);

/// How many are kept, about a kilobyte each. Beyond, the namespace that has the most loses its oldest: nobody can push out
/// those of others by deleting many Secrets.
pub const KEPT_MAX: usize = 1_024;

/// What Secrets said that are gone.
#[derive(Debug, Default)]
pub(super) struct Kept(BTreeMap<SecretKey, Entry>);

/// What a Secret said last.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) access: ProviderSecret,
    /// The version of the Secret that said it.
    pub(super) version: String,
    until: Duration,
}

impl Kept {
    pub(super) fn keep(
        &mut self,
        key: SecretKey,
        access: ProviderSecret,
        version: String,
        now: Duration,
    ) {
        let entry = Entry {
            access,
            version,
            until: now + KEPT_FOR,
        };
        self.0.insert(key, entry);
        if self.0.len() > KEPT_MAX {
            self.make_room();
        }
    }

    pub(super) fn get(&self, key: &SecretKey) -> Option<&Entry> {
        self.0.get(key)
    }

    pub(super) fn remove(&mut self, key: &SecretKey) {
        self.0.remove(key);
    }

    /// When the first of them goes.
    pub(super) fn until(&self) -> Option<Duration> {
        self.0.values().map(|entry| entry.until).min()
    }

    /// Drops those whose time is over, and tells which.
    pub(super) fn expire(&mut self, now: Duration) -> Vec<SecretKey> {
        let over = self.0.extract_if(.., |_, entry| entry.until <= now);
        over.map(|(key, _)| key).collect()
    }

    fn make_room(&mut self) {
        let mut counts = BTreeMap::<&str, usize>::new();
        for key in self.0.keys() {
            *counts.entry(&key.namespace).or_default() += 1;
        }
        let crowded = counts.into_iter().max_by_key(|(_, count)| *count);
        let crowded = crowded.map(|(namespace, _)| namespace);
        let own = self
            .0
            .iter()
            .filter(|(key, _)| Some(&*key.namespace) == crowded);
        let oldest = own.min_by_key(|(_, entry)| entry.until);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.0.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use api::parse::provider_secret::Credentials;

    use super::*;

    fn keep(kept: &mut Kept, namespace: &str, name: &str, now: Duration) {
        let access = ProviderSecret {
            place: None,
            credentials: Credentials::InMemory,
        };
        let key = SecretKey::new(namespace, name);
        kept.keep(key, access, "v".to_owned(), now);
    }

    #[test]
    fn credentials_are_dropped_after_an_hour() {
        let (mut kept, minute) = (Kept::default(), Duration::from_mins(1));
        keep(&mut kept, "red", "one", minute);
        keep(&mut kept, "red", "two", minute * 2);
        assert_eq!(kept.until(), Some(minute * 61));
        assert_eq!(kept.expire(minute * 60), []);
        assert_eq!(kept.expire(minute * 61), [SecretKey::new("red", "one")]);
        assert!(kept.get(&SecretKey::new("red", "one")).is_none());
        assert!(kept.get(&SecretKey::new("red", "two")).is_some());
        assert_eq!(kept.until(), Some(minute * 62));
    }

    #[test]
    fn a_namespace_that_deletes_many_secrets_pushes_out_its_own_alone() {
        let mut kept = Kept::default();
        keep(&mut kept, "blue", "quiet", Duration::ZERO);
        for index in 0..KEPT_MAX * 2 {
            let now = Duration::from_secs(1) * u32::try_from(index).unwrap();
            keep(&mut kept, "red", &format!("s{index}"), now);
        }
        assert_eq!(kept.0.len(), KEPT_MAX);
        assert!(kept.get(&SecretKey::new("blue", "quiet")).is_some());
        let newest = format!("s{}", KEPT_MAX * 2 - 1);
        assert!(kept.get(&SecretKey::new("red", &newest)).is_some());
        assert!(kept.get(&SecretKey::new("red", "s0")).is_none());
    }
}
