//! What is in the database: its tables, how changes get into them and how they are verified.
//!
//! ```text
//! objects   key → checksum, revision, payload
//! about     "format"      the version of all this
//!           "secret key"  which key Secrets are sealed with
//!           "tally"       revision, number and sum of the objects
//! ```
//!
//! Entries of `about` are encoded as objects are, so that they have checksums too. `format` and its
//! encoding stay for ever: it is how a version refuses what a later one wrote.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use bytes::{Buf as _, Bytes};
use redb::{
    Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition,
    WriteTransaction,
};

use crate::key::Key;
use crate::storage::seal::{Sealer, is_secret};
use crate::storage::tally::Tally;
use crate::storage::{Batch, Loaded, entry};

/// The version that this program writes. Version 1 is the first.
pub(super) const FORMAT: u32 = 1;

const OBJECTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("objects");
const ABOUT: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("about");
const ABOUT_FORMAT: &str = "format";
const ABOUT_SECRET_KEY: &str = "secret key";
const ABOUT_TALLY: &str = "tally";

/// The table of objects, open for reading.
type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// How many entries are handed on to be verified at once: few enough that reading and verifying overlap from the start.
const GROUP: usize = 128;

/// How many such groups may wait: some megabytes at most of usual objects.
const GROUPS_AHEAD: usize = 8;

/// Why changes did not get into the database.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwritable {
    #[error(transparent)]
    Database(Box<redb::Error>),
    #[error("the system gave no random numbers to encrypt a Secret with")]
    NoRandomNumbers,
}

/// Why the objects cannot be had from the database.
#[derive(Debug, PartialEq)]
pub(super) enum Unreadable {
    NewerFormat(u32),
    OtherSecretKey,
    /// One line for each damage.
    Damaged(Vec<String>),
}

impl<E: Into<redb::Error>> From<E> for Unwritable {
    fn from(error: E) -> Self {
        Self::Database(Box::new(error.into()))
    }
}

impl<E: Into<redb::Error>> From<E> for Unreadable {
    fn from(error: E) -> Self {
        Self::Damaged(vec![error.into().to_string()])
    }
}

/// Puts the first objects into an empty database.
pub(super) fn fill(
    database: &Database,
    content: &Loaded,
    sealer: &Sealer,
) -> Result<(), Unwritable> {
    let transaction = database.begin_write()?;
    put_about(&transaction, ABOUT_FORMAT, &FORMAT.to_le_bytes())?;
    put_about(&transaction, ABOUT_SECRET_KEY, &sealer.identity())?;
    let mut tally = Tally::nothing_at(content.revision);
    {
        let mut objects = Objects::open(&transaction, sealer, &mut tally)?;
        for (key, revision, value) in &content.objects {
            objects.put(key, *revision, value)?;
        }
    }
    put_about(&transaction, ABOUT_TALLY, &tally.to_bytes())?;
    Ok(transaction.commit()?)
}

/// Applies batches within a transaction. Gives back what the objects add up to after them.
pub(super) fn apply(
    transaction: &WriteTransaction,
    batches: &[Batch],
    sealer: &Sealer,
    mut tally: Tally,
) -> Result<Tally, Unwritable> {
    {
        let mut objects = Objects::open(transaction, sealer, &mut tally)?;
        for write in batches.iter().flat_map(|batch| &batch.writes) {
            match &write.value {
                Some(value) => objects.put(&write.key, write.revision, value)?,
                None => objects.remove(&write.key)?,
            }
        }
    }
    for batch in batches {
        debug_assert!(batch.revision > tally.revision, "a revision is used once");
        tally.revision = batch.revision;
    }
    put_about(transaction, ABOUT_TALLY, &tally.to_bytes())?;
    Ok(tally)
}

/// What the database says its objects add up to.
pub(super) fn tally(database: &Database) -> Result<Tally, Unreadable> {
    let transaction = database.begin_read()?;
    Tally::from_bytes(&about(&transaction, ABOUT_TALLY)?)
        .ok_or_else(|| damaged("the tally of its objects is damaged"))
}

/// All objects, verified one by one and all together.
pub(super) fn load(database: &Database, sealer: &Sealer) -> Result<(Loaded, Tally), Unreadable> {
    let transaction = database.begin_read()?;
    check_format(&transaction)?;
    if about(&transaction, ABOUT_SECRET_KEY)? != sealer.identity() {
        return Err(Unreadable::OtherSecretKey);
    }
    let expected = tally(database)?;
    let table = transaction.open_table(OBJECTS)?;
    let (found, mut objects, mut damages) = read_all(&table, expected.revision, sealer)?;
    if damages.is_empty() && found != expected {
        damages.push(difference(&expected, &found));
    }
    if !damages.is_empty() {
        damages.sort_unstable();
        return Err(Unreadable::Damaged(damages));
    }
    objects.sort_unstable_by(|(left, ..), (right, ..)| left.cmp(right));
    let revision = expected.revision;
    Ok((Loaded { revision, objects }, expected))
}

/// The place where an older format will be turned into this one. Version 1 has no predecessor.
fn check_format(transaction: &ReadTransaction) -> Result<(), Unreadable> {
    let format = about(transaction, ABOUT_FORMAT)?;
    let format: Result<[u8; 4], _> = format.as_slice().try_into();
    match format.map(u32::from_le_bytes) {
        Ok(FORMAT) => Ok(()),
        Ok(newer) if newer > FORMAT => Err(Unreadable::NewerFormat(newer)),
        Ok(_) | Err(_) => Err(damaged("its format is damaged")),
    }
}

/// An entry as it is on the disk, which anything may have happened to.
struct Raw {
    key: Vec<u8>,
    value: Vec<u8>,
}

/// Objects with their revisions, as they were sent.
type Whole = Vec<(Key, u64, Bytes)>;

/// Reads all entries, while another core verifies those that were read before. What they add up to, the objects among
/// them, and what is wrong with the others.
fn read_all(
    table: &Table,
    revision: u64,
    sealer: &Sealer,
) -> Result<(Tally, Whole, Vec<String>), Unreadable> {
    thread::scope(|scope| {
        let (groups, read) = mpsc::sync_channel(GROUPS_AHEAD);
        let verifier = scope.spawn(move || verify(read.into_iter().flatten(), sealer));
        let counted = read_groups(table, Tally::nothing_at(revision), &groups);
        drop(groups);
        let verified = verifier.join().unwrap_or_else(|panic| resume_unwind(panic));
        let (objects, damages) = verified;
        Ok((counted?, objects, damages))
    })
}

/// Hands on all entries, and adds them to the tally.
fn read_groups(
    table: &Table,
    mut tally: Tally,
    groups: &SyncSender<Vec<Raw>>,
) -> Result<Tally, Unreadable> {
    let mut items = table.iter()?;
    loop {
        let mut group = Vec::with_capacity(GROUP);
        for item in items.by_ref().take(GROUP) {
            let (key, value) = item?;
            let (key, value) = (key.value().to_vec(), value.value().to_vec());
            tally.add(key.len() + value.len(), entry::stored_checksum(&value));
            group.push(Raw { key, value });
        }
        // Nobody takes them if the verifier panicked, which whoever waits for it is told.
        if group.is_empty() || groups.send(group).is_err() {
            return Ok(tally);
        }
    }
}

/// The objects among entries that are what was written, and what is wrong with the others.
fn verify(
    entries: impl Iterator<Item = Raw>,
    sealer: &Sealer,
) -> (Vec<(Key, u64, Bytes)>, Vec<String>) {
    let mut objects: Vec<(Key, u64, Bytes)> = Vec::new();
    let mut damages = Vec::new();
    for raw in entries {
        match read_object(raw, sealer, objects.last().map(|(key, ..)| key)) {
            Ok(object) => objects.push(object),
            Err(damage) => damages.push(damage),
        }
    }
    (objects, damages)
}

fn read_object(
    raw: Raw,
    sealer: &Sealer,
    previous: Option<&Key>,
) -> Result<(Key, u64, Bytes), String> {
    let key = entry::decode_key(&raw.key, previous)
        .ok_or_else(|| "an object is damaged, and so is its name".to_owned())?;
    let damaged = || format!("{key} is damaged");
    let (revision, payload) = entry::decode(&raw.key, &raw.value).ok_or_else(damaged)?;
    let payload = if is_secret(&key) {
        let opened = sealer.open(&raw.key, revision, payload);
        opened.ok_or_else(damaged)?.into()
    } else {
        // The bytes stay where they are, behind what was in front of them.
        let front = raw.value.len() - payload.len();
        let mut value = Bytes::from(raw.value);
        value.advance(front);
        value
    };
    Ok((key, revision, payload))
}

fn difference(expected: &Tally, found: &Tally) -> String {
    if expected.objects == found.objects {
        "an object was replaced by an older one, or by one of another store".to_owned()
    } else {
        format!(
            "{} objects were acknowledged, and {} are there",
            expected.objects, found.objects
        )
    }
}

fn about(transaction: &ReadTransaction, name: &str) -> Result<Vec<u8>, Unreadable> {
    let table = transaction.open_table(ABOUT)?;
    let value = table.get(name)?;
    let value = value.as_ref().map(redb::AccessGuard::value);
    let (_, payload) = value
        .and_then(|value| entry::decode(name.as_bytes(), value))
        .ok_or_else(|| damaged(&format!("its entry `{name}` is damaged or missing")))?;
    Ok(payload.to_vec())
}

fn put_about(transaction: &WriteTransaction, name: &str, payload: &[u8]) -> Result<(), Unwritable> {
    let value = entry::encode(name.as_bytes(), 0, payload);
    transaction.open_table(ABOUT)?.insert(name, &*value)?;
    Ok(())
}

fn damaged(what: &str) -> Unreadable {
    Unreadable::Damaged(vec![what.to_owned()])
}

/// The table of objects, open for changes that the tally follows.
struct Objects<'a> {
    table: redb::Table<'a, &'static [u8], &'static [u8]>,
    sealer: &'a Sealer,
    tally: &'a mut Tally,
}

impl<'a> Objects<'a> {
    fn open(
        transaction: &'a WriteTransaction,
        sealer: &'a Sealer,
        tally: &'a mut Tally,
    ) -> Result<Self, Unwritable> {
        Ok(Self {
            table: transaction.open_table(OBJECTS)?,
            sealer,
            tally,
        })
    }

    fn put(&mut self, key: &Key, revision: u64, value: &[u8]) -> Result<(), Unwritable> {
        let key_bytes = entry::encode_key(key);
        let value = if is_secret(key) {
            let sealed = self.sealer.seal(&key_bytes, revision, value);
            let sealed = sealed.ok_or(Unwritable::NoRandomNumbers)?;
            entry::encode(&key_bytes, revision, &sealed)
        } else {
            entry::encode(&key_bytes, revision, value)
        };
        if let Some(old) = self.table.insert(&*key_bytes, &*value)? {
            let old = old.value();
            self.tally
                .subtract(key_bytes.len() + old.len(), entry::stored_checksum(old));
        }
        self.tally.add(
            key_bytes.len() + value.len(),
            entry::stored_checksum(&value),
        );
        Ok(())
    }

    fn remove(&mut self, key: &Key) -> Result<(), Unwritable> {
        let key_bytes = entry::encode_key(key);
        if let Some(old) = self.table.remove(&*key_bytes)? {
            let old = old.value();
            self.tally
                .subtract(key_bytes.len() + old.len(), entry::stored_checksum(old));
        }
        Ok(())
    }
}

/// Damage that only code with access to the tables can do.
#[cfg(test)]
pub(super) mod spoiling {
    use super::*;

    /// Changes the last byte of an object behind its checksum's back.
    pub(in crate::storage::disk) fn spoil(transaction: &WriteTransaction, key: &Key) {
        let key = entry::encode_key(key);
        let mut table = transaction.open_table(OBJECTS).unwrap();
        let mut value = table.get(&*key).unwrap().unwrap().value().to_vec();
        *value.last_mut().unwrap() ^= 1;
        table.insert(&*key, &*value).unwrap();
    }

    /// Removes an object behind the tally's back.
    pub(in crate::storage::disk) fn lose(transaction: &WriteTransaction, key: &Key) {
        let mut table = transaction.open_table(OBJECTS).unwrap();
        table.remove(&*entry::encode_key(key)).unwrap();
    }

    pub(in crate::storage::disk) fn put_format(transaction: &WriteTransaction, format: u32) {
        put_about(transaction, ABOUT_FORMAT, &format.to_le_bytes()).unwrap();
    }
}
