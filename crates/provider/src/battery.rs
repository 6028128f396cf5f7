//! The behaviours that every provider shows.
//!
//! [`battery!`](crate::battery!) makes a test of each. What it needs is a [`Stage`]: a provider with one zone that nobody else uses,
//! and a way to change the zone behind the provider's back. A provider that cannot hold what a behaviour is about shows the
//! rest of it.

use std::fmt::Write as _;

use dns::hosted::{Batch, Change, Held, Holdings, HostedKey, HostedSet, Share};
use dns::limits::Ownership;
use dns::routing::Routing;
use dns::{Name, Rdata, RecordSet, Rtype, Ttl};

use crate::{Boxed, Error, Provider, Snapshot, ZoneId};

/// Where a behaviour is shown.
pub trait Stage: Sync {
    /// The provider.
    fn provider(&self) -> &dyn Provider;

    /// A zone with nothing in it but what every zone of the provider has.
    fn zone(&self) -> &ZoneId;

    /// The name the zone begins at.
    fn apex(&self) -> &Name;

    /// Somebody else makes a change, without asking this provider.
    fn tamper<'a>(&'a self, change: &'a Change) -> Boxed<'a, ()>;

    /// Whose share is written, where the provider keeps shares apart.
    fn share(&self) -> Option<Share> {
        None
    }
}

/// Makes a test of each behaviour. `$stage` is an async function without arguments that makes a new [`Stage`].
#[macro_export]
macro_rules! battery {
    ($stage:path) => {
        $crate::battery!($stage:
            a_zone_is_listed_with_its_name,
            a_zone_that_is_not_there_is_missing,
            what_is_written_is_read_back,
            writing_again_changes_nothing,
            a_set_changes_and_goes,
            what_others_hold_is_left_alone,
            an_unexpected_set_stops_the_whole_batch,
            a_set_that_should_not_be_there_stops_the_whole_batch,
            a_type_changes_in_one_batch,
            spellings_make_no_difference,
            long_and_odd_texts_survive,
            pages_are_read_to_the_end,
            sets_share_the_traffic_of_a_name,
        );
    };
    ($stage:path: $($behaviour:ident,)+) => {
        $(
            #[tokio::test]
            async fn $behaviour() {
                $crate::battery::$behaviour(&$stage().await).await;
            }
        )+
    };
}

/// The zone is among those the credentials can see.
pub async fn a_zone_is_listed_with_its_name(stage: &dyn Stage) {
    let zones = stage.provider().zones().await.expect("zones are listed");
    let own = zones.iter().find(|zone| zone.id == *stage.zone());
    let own = own.unwrap_or_else(|| panic!("{} is among {zones:?}", stage.zone()));
    assert_eq!(own.apex, *stage.apex());
    assert_eq!(read(stage).await.apex, *stage.apex());
}

/// Reading and writing a zone that is not there say so.
pub async fn a_zone_that_is_not_there_is_missing(stage: &dyn Stage) {
    let nowhere = ZoneId(format!("{}x", stage.zone()));
    let read = stage.provider().read(&nowhere).await;
    assert!(matches!(read, Err(Error::Missing)), "{read:?}");
    let batch = batch([create(stage, "www", Rtype::A, &["192.0.2.1"])]);
    let written = stage.provider().write(&nowhere, &batch).await;
    assert!(matches!(written, Err(Error::Missing)), "{written:?}");
}

/// Every type that the provider holds comes back as it was written.
pub async fn what_is_written_is_read_back(stage: &dyn Stage) {
    let all: [(&str, Rtype, &[&str]); 9] = [
        ("a", Rtype::A, &["192.0.2.1", "192.0.2.2"]),
        ("aaaa", Rtype::AAAA, &["2001:db8::1", "2001:db8::2"]),
        ("cname", Rtype::CNAME, &["target.example."]),
        ("ns", Rtype::NS, &["ns1.example.", "ns2.example."]),
        ("txt", Rtype::TXT, &["\"one\"", "\"two words\""]),
        ("mx", Rtype::MX, &["10 mx1.example.", "20 mx2.example."]),
        ("_sip._tcp", Rtype::SRV, &["1 2 5060 sip.example."]),
        ("caa", Rtype::CAA, &["0 issue \"ca.example\""]),
        ("ptr", Rtype::PTR, &["host.example."]),
    ];
    let held = all.iter().filter(|(_, rtype, _)| holds(stage, *rtype));
    let changes = held.map(|(name, rtype, data)| create(stage, name, *rtype, data));
    let before = read(stage).await;
    let batch = Batch {
        changes: changes.collect(),
    };
    write(stage, &batch).await;
    assert_eq!(added(&before, &read(stage).await), wanted(&batch));
}

/// A batch that has taken effect may be written again.
pub async fn writing_again_changes_nothing(stage: &dyn Stage) {
    let first = batch([create(stage, "www", Rtype::A, &["192.0.2.1"])]);
    write(stage, &first).await;
    let once = read(stage).await;
    write(stage, &first).await;
    assert_eq!(read(stage).await.holdings, once.holdings);
    let gone = batch([first.changes[0].reverse()]);
    write(stage, &gone).await;
    write(stage, &gone).await;
    assert_eq!(read(stage).await.holdings.get(&gone.changes[0].key), None);
}

/// Data, TTL and set change; the set goes.
pub async fn a_set_changes_and_goes(stage: &dyn Stage) {
    let created = create(stage, "www", Rtype::A, &["192.0.2.1", "192.0.2.2"]);
    write(stage, &batch([created.clone()])).await;
    let changed = Change {
        after: Some(set(3600, Rtype::A, &["192.0.2.2", "192.0.2.3"])),
        ..follow(&created)
    };
    write(stage, &batch([changed.clone()])).await;
    let held = read(stage).await.holdings;
    assert_eq!(
        held.get(&changed.key),
        changed.after.clone().map(Held::Set).as_ref()
    );
    write(stage, &batch([follow(&changed)])).await;
    assert_eq!(read(stage).await.holdings.get(&changed.key), None);
}

/// What somebody else has made is read, and stays.
pub async fn what_others_hold_is_left_alone(stage: &dyn Stage) {
    let before = read(stage).await;
    let theirs = create(stage, "theirs", Rtype::A, &["198.51.100.1"]);
    stage.tamper(&theirs).await;
    let ours = create(stage, "ours", Rtype::A, &["192.0.2.1"]);
    write(stage, &batch([ours.clone()])).await;
    write(stage, &batch([follow(&ours)])).await;
    let left = added(&before, &read(stage).await);
    assert_eq!(left, wanted(&batch([theirs])));
}

/// One set of a batch is not as expected: none of the batch is written.
pub async fn an_unexpected_set_stops_the_whole_batch(stage: &dyn Stage) {
    let stale = create(stage, "stale", Rtype::A, &["192.0.2.1"]);
    write(stage, &batch([stale.clone()])).await;
    let edited = Change {
        after: Some(set(300, Rtype::A, &["198.51.100.1"])),
        ..follow(&stale)
    };
    stage.tamper(&edited).await;
    let before = read(stage).await;
    let other = create(stage, "other", Rtype::A, &["192.0.2.9"]);
    for change in [
        follow(&stale),
        Change {
            after: Some(set(300, Rtype::A, &["192.0.2.2"])),
            ..follow(&stale)
        },
    ] {
        let written = try_write(stage, &batch([other.clone(), change])).await;
        assert!(matches!(written, Err(Error::Stale)), "{written:?}");
        assert_eq!(read(stage).await.holdings, before.holdings);
    }
}

/// A set that is to be made is there already, with other data: none of the batch is written.
pub async fn a_set_that_should_not_be_there_stops_the_whole_batch(stage: &dyn Stage) {
    let theirs = create(stage, "www", Rtype::A, &["198.51.100.1"]);
    stage.tamper(&theirs).await;
    let before = read(stage).await;
    let ours = batch([
        create(stage, "other", Rtype::A, &["192.0.2.9"]),
        create(stage, "www", Rtype::A, &["192.0.2.1"]),
    ]);
    let written = try_write(stage, &ours).await;
    assert!(matches!(written, Err(Error::Stale)), "{written:?}");
    assert_eq!(read(stage).await.holdings, before.holdings);
}

/// An alias takes the place of addresses, and gives it back, without a moment in which the name is empty.
pub async fn a_type_changes_in_one_batch(stage: &dyn Stage) {
    let addresses = create(stage, "www", Rtype::A, &["192.0.2.1"]);
    let alias = create(stage, "www", Rtype::CNAME, &["target.example."]);
    write(stage, &batch([addresses.clone()])).await;
    let before = read(stage).await;
    write(stage, &batch([follow(&addresses), alias.clone()])).await;
    let held = read(stage).await.holdings;
    assert_eq!(
        held.get(&alias.key),
        alias.after.clone().map(Held::Set).as_ref()
    );
    assert_eq!(held.get(&addresses.key), None);
    write(stage, &batch([follow(&alias), addresses])).await;
    assert_eq!(read(stage).await.holdings, before.holdings);
}

/// Case, final dots, forms of addresses and a TTL below the provider's floor: what comes back equals what was written.
pub async fn spellings_make_no_difference(stage: &dyn Stage) {
    let before = read(stage).await;
    let floor = stage.provider().limits().ttl_min.as_secs();
    let spelled: [(&str, Rtype, &[&str]); 4] = [
        ("MiXeD", Rtype::CNAME, &["TaRgEt.ExAmPlE."]),
        ("v6", Rtype::AAAA, &["2001:DB8:0:0:0:0:0:1"]),
        ("*.wild", Rtype::A, &["192.0.2.1"]),
        ("_under_score", Rtype::TXT, &["\"x\""]),
    ];
    let changes = spelled.map(|(name, rtype, data)| Change {
        key: key(stage, name, rtype),
        before: None,
        after: Some(set(floor, rtype, data)),
    });
    let batch = batch(changes);
    write(stage, &batch).await;
    assert_eq!(added(&before, &read(stage).await), wanted(&batch));
}

/// Texts with quotes, backslashes, semicolons, other octets than letters, of several strings, and longer than one.
pub async fn long_and_odd_texts_survive(stage: &dyn Stage) {
    let before = read(stage).await;
    let mut long = String::new();
    for part in ["a", "b", "c"] {
        write!(long, "\"{}\" ", part.repeat(255)).expect("a string takes any text");
    }
    let texts = [
        r#""say \"hi\"""#,
        r#""back\\slash""#,
        r#""semi;colon (and) @ $ORIGIN""#,
        r#""gr\195\188n\000\127""#,
        r#""two" "strings""#,
        r#""two strings""#,
        "\"\"",
        "\"  spaces  \"",
        long.trim_end(),
    ];
    let change =
        |(index, text): (usize, &&str)| create(stage, &format!("txt{index}"), Rtype::TXT, &[text]);
    let batch = Batch {
        changes: texts.iter().enumerate().map(change).collect(),
    };
    write(stage, &batch).await;
    assert_eq!(added(&before, &read(stage).await), wanted(&batch));
}

/// Whatever a page holds: nothing is lost at its end, and nothing is told twice.
pub async fn pages_are_read_to_the_end(stage: &dyn Stage) {
    let before = read(stage).await;
    let mut all = Batch::default();
    for count in [101, 601, 1201] {
        let from = all.changes.len();
        let more: Vec<Change> = (from..count)
            .map(|index| {
                let address = format!("192.0.{}.{}", index / 250, index % 250);
                create(stage, &format!("h{index}"), Rtype::A, &[&address])
            })
            .collect();
        let groups = more.iter().cloned().map(|change| vec![change]);
        for batch in stage.provider().limits().cut(groups) {
            write(stage, &batch).await;
        }
        all.changes.extend(more);
        let held = added(&before, &read(stage).await);
        assert_eq!(held.len(), count, "sets read");
        assert!(
            held == wanted(&all),
            "{count} sets are as they were written"
        );
    }
}

/// Sets of one name and type beside each other, told apart by their identifiers.
pub async fn sets_share_the_traffic_of_a_name(stage: &dyn Stage) {
    let limits = stage.provider().limits().routing;
    let mut routings: Vec<[(&str, Routing); 2]> = Vec::new();
    if limits.weight {
        let weight = |weight: &str| Routing {
            weight: Some(weight.parse().expect("a weight")),
            geo: None,
        };
        routings.push([("one", weight("0")), ("other", weight("255"))]);
    }
    if limits.geo {
        let geo = |geo: &str| Routing {
            weight: None,
            geo: Some(geo.parse().expect("a place")),
        };
        routings.push([("GEO-EU", geo("GEO-EU")), ("default", geo("*"))]);
        routings.push([("IE", geo("IE")), ("US", geo("US"))]);
    }
    let before = read(stage).await;
    let mut all = Batch::default();
    for (index, sets) in routings.into_iter().enumerate() {
        for (identifier, routing) in sets {
            let target = format!("{}.example.", identifier.to_lowercase());
            let mut change = create(stage, &format!("r{index}"), Rtype::CNAME, &[&target]);
            identifier.clone_into(&mut change.key.identifier);
            change.after = change.after.map(|set| HostedSet { routing, ..set });
            all.changes.push(change);
        }
    }
    write(stage, &all).await;
    assert_eq!(added(&before, &read(stage).await), wanted(&all));
    if let Some(first) = all.changes.first() {
        write(stage, &batch([follow(first)])).await;
        all.changes.remove(0);
        assert_eq!(added(&before, &read(stage).await), wanted(&all));
    }
}

fn holds(stage: &dyn Stage, rtype: Rtype) -> bool {
    stage.provider().limits().types.contains(&rtype)
}

fn key(stage: &dyn Stage, name: &str, rtype: Rtype) -> HostedKey {
    let name = format!("{name}.{}", stage.apex());
    let share = match stage.provider().limits().ownership {
        Ownership::Registry => None,
        Ownership::Shares => stage.share(),
    };
    HostedKey {
        share,
        ..HostedKey::plain(Name::parse(&name).expect("a name"), rtype)
    }
}

fn set(ttl: u32, rtype: Rtype, data: &[&str]) -> HostedSet {
    let ttl = Ttl::from_secs(ttl).expect("a TTL");
    let data = data.iter().map(|text| {
        let data = Rdata::parse(rtype, text, &Name::root());
        (ttl, data.unwrap_or_else(|error| panic!("{text}: {error}")))
    });
    HostedSet::plain(RecordSet::new(data).expect("a set"))
}

fn create(stage: &dyn Stage, name: &str, rtype: Rtype, data: &[&str]) -> Change {
    Change {
        key: key(stage, name, rtype),
        before: None,
        after: Some(set(300, rtype, data)),
    }
}

/// The removal of what a change made.
fn follow(change: &Change) -> Change {
    Change {
        key: change.key.clone(),
        before: change.after.clone(),
        after: None,
    }
}

fn batch<const N: usize>(changes: [Change; N]) -> Batch {
    Batch {
        changes: changes.into(),
    }
}

/// What a batch that creates sets leaves behind.
fn wanted(batch: &Batch) -> Holdings {
    let mut holdings = Holdings::new();
    for change in &batch.changes {
        change.apply(&mut holdings);
    }
    holdings
}

/// What is there that was not there before. A serial that has moved on is nobody's doing.
fn added(before: &Snapshot, after: &Snapshot) -> Holdings {
    let is_new = |(key, held): &(&HostedKey, &Held)| {
        key.rtype != Rtype::SOA && before.holdings.get(*key) != Some(*held)
    };
    let new = after.holdings.iter().filter(is_new);
    new.map(|(key, held)| (key.clone(), held.clone())).collect()
}

async fn read(stage: &dyn Stage) -> Snapshot {
    let read = stage.provider().read(stage.zone()).await;
    let mut snapshot = read.expect("the zone is read");
    snapshot.holdings.retain(|key, _| key.rtype != Rtype::SOA);
    snapshot
}

async fn write(stage: &dyn Stage, batch: &Batch) {
    let written = try_write(stage, batch).await;
    written.unwrap_or_else(|error| panic!("{}: {batch:?}", error.story()));
}

async fn try_write(stage: &dyn Stage, batch: &Batch) -> Result<(), Error> {
    stage.provider().write(stage.zone(), batch).await
}
