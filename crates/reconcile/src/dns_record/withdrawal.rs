//! What becomes of a record that is being deleted and cannot be withdrawn (P6).
//!
//! ```text
//!                     never let in ──► goes: nothing of it is anywhere
//!                   │
//!                     published in a Zone of this cluster ──► goes: it owns its Records, and they go with it
//! nothing reaches ──┤
//! its zone            its namespace is being deleted ──► a minute ──► goes, and what it leaves behind is told
//!                   │
//!                     anywhere else ──► stays, and says how it can go
//! ```
//!
//! In a namespace that is being deleted nobody can create the Secret again: waiting for it would be waiting for ever.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use provider::Retry;

use super::conclude::Failed;
use super::{DnsRecordView, published};

/// How long a record of a namespace that is being deleted waits for a way to its zone.
pub const GRACE: Duration = Duration::from_mins(1);

/// How many names are told one by one. A name has up to 253 characters, so this is a line of 5 kB at worst.
const NAMES_TOLD_MAX: usize = 20;

/// What becomes of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// It waits for somebody, or is tried again.
    Stays,
    /// It waits for so long.
    Waits(Duration),
    /// What it published goes with it.
    Goes,
    /// What it published stays behind.
    LeavesBehind(LeftBehind),
}

/// What a record has left behind at a provider.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeftBehind {
    /// The uid of the namespace that it went with.
    pub namespace_uid: String,
    /// The record.
    record: String,
    /// What the provider calls the zone.
    zone: String,
    names: Vec<String>,
    /// How many names are not told.
    more: usize,
}

/// What becomes of a record whose pass has failed, so long after it was seen that it is being deleted.
pub(super) fn end(view: &DnsRecordView, failed: Failed, waited: Duration) -> End {
    if !view.deleting {
        return End::Stays;
    }
    let left = GRACE.saturating_sub(waited);
    let over = left.is_zero();
    if failed.stuck && view.status.was_never_let_in() {
        return End::Goes;
    }
    if view.in_cluster && (failed.stuck || over && failed.retry != Retry::OnChange) {
        return End::Goes;
    }
    match &view.ending {
        Some(uid) if failed.stuck && over => End::LeavesBehind(LeftBehind::of(view, uid)),
        Some(_) if failed.stuck => End::Waits(left),
        Some(_) | None => End::Stays,
    }
}

impl LeftBehind {
    fn of(view: &DnsRecordView, namespace_uid: &str) -> LeftBehind {
        let all = published(&view.status.endpoints);
        let names: BTreeSet<_> = all.into_keys().map(|key| key.name).collect();
        let told = names.iter().take(NAMES_TOLD_MAX);
        LeftBehind {
            namespace_uid: namespace_uid.to_owned(),
            record: view.key.name.clone(),
            zone: view.status.zone_id.clone().unwrap_or_default(),
            names: told
                .map(|name| name.to_string().trim_end_matches('.').to_owned())
                .collect(),
            more: names.len().saturating_sub(NAMES_TOLD_MAX),
        }
    }
}

impl fmt::Display for LeftBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftBehind {
            record,
            zone,
            names,
            more,
            ..
        } = self;
        write!(f, "DNSRecord {record} has gone with its namespace, and ")?;
        if names.is_empty() {
            return f.write_str(
                "nothing reached its provider any more; it had not reported that anything was published",
            );
        }
        write!(
            f,
            "nothing reached zone {zone} any more; there remain {}",
            names.join(", ")
        )?;
        if *more > 0 {
            write!(f, " and {more} more")?;
        }
        f.write_str("; remove them at the provider")
    }
}
