//! Backups: all objects as one text file, and back.
//!
//! ```text
//! {"format":"zonewright-backup","version":1,"revision":7,"objects":2,"createdAt":"…"}
//! {"key":{"group":"","plural":"secrets","namespace":"default","name":"a"},"revision":3,"object":{…}}
//! {"key":{"group":"","plural":"secrets","namespace":"default","name":"b"},"revision":7,"object":{…}}
//! {"blake3":"…"}
//! ```
//!
//! The last line holds the hash of all bytes before it, so a file that was cut or changed is refused.
//! People can read it, `jq` can search it, and it does not depend on the format of the store.
//! Secrets are in the clear: a backup that needs the key of the machine that is lost would be none.
//! The file is readable by its owner only; keep it as you keep the Secrets.

mod restore;

pub(crate) use restore::restore;

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read, Write};

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Loaded;
use crate::key::Key;
use crate::object::Object;

const FORMAT: &str = "zonewright-backup";

/// The version that this program writes. Version 1 is the first.
const VERSION: u32 = 1;

/// The longest line that is read: far beyond the three MiB that the API takes as one object, and
/// short enough for memory when the file is no backup at all.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// Revisions beyond this are no revisions: a store of a million changes a second would need 290,000
/// years to get there. The bound keeps arithmetic on a number from a file within its type.
const HIGHEST_REVISION: u64 = i64::MAX as u64;

/// What a backup is made of: the store's revision and each object with its own.
pub(crate) struct Snapshot<'a, I: ExactSizeIterator<Item = (&'a Key, u64, &'a Bytes)>> {
    pub(crate) revision: u64,
    pub(crate) created_at: Timestamp,
    pub(crate) objects: I,
}

/// Why a file was not taken as a backup. Lines are counted from one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    #[error("line {line}: {source}")]
    Io { line: u64, source: io::Error },
    #[error("line {line}: {problem}")]
    Refused { line: u64, problem: String },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    revision: u64,
    objects: usize,
    created_at: Timestamp,
}

/// The fields of a header that every version has.
#[derive(Deserialize)]
struct AnyHeader {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: LineKey,
    revision: u64,
    object: Object,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineKey {
    group: String,
    plural: String,
    namespace: String,
    name: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trailer {
    blake3: String,
}

/// Writes a backup.
pub(crate) fn write<'a, I>(snapshot: Snapshot<'a, I>, out: &mut impl Write) -> io::Result<()>
where
    I: ExactSizeIterator<Item = (&'a Key, u64, &'a Bytes)>,
{
    let mut hasher = blake3::Hasher::new();
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        revision: snapshot.revision,
        objects: snapshot.objects.len(),
        created_at: snapshot.created_at,
    };
    write_line(&header, &mut hasher, out)?;
    for (key, revision, value) in snapshot.objects {
        let line = Line {
            key: LineKey::from(key),
            revision,
            object: serde_json::from_slice(value)?,
        };
        write_line(&line, &mut hasher, out)?;
    }
    let blake3 = hasher.finalize().to_hex().to_string();
    write_line(&Trailer { blake3 }, &mut hasher, out)
}

/// Reads a backup, line by line, and refuses it unless all of it is as it was written.
pub(crate) fn read(input: &mut impl BufRead) -> Result<Loaded, BackupError> {
    let mut lines = Lines::new(input);
    let header = lines.header()?;
    let mut objects = Vec::new();
    let mut seen = BTreeSet::new();
    for _ in 0..header.objects {
        let (key, revision, value) = lines.object()?;
        if revision > header.revision {
            return Err(lines.refused("the object is newer than the backup"));
        }
        if !seen.insert(key.clone()) {
            return Err(lines.refused(format!("{key} is there twice")));
        }
        objects.push((key, revision, value));
    }
    lines.trailer()?;
    objects.sort_unstable_by(|(left, ..), (right, ..)| left.cmp(right));
    let revision = header.revision;
    Ok(Loaded { revision, objects })
}

fn write_line(
    line: &impl Serialize,
    hasher: &mut blake3::Hasher,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    hasher.update(&bytes);
    out.write_all(&bytes)
}

/// The lines of a backup, numbered and hashed.
struct Lines<'a, R> {
    input: &'a mut R,
    number: u64,
    hasher: blake3::Hasher,
}

impl<'a, R: BufRead> Lines<'a, R> {
    fn new(input: &'a mut R) -> Self {
        let hasher = blake3::Hasher::new();
        Self {
            input,
            number: 0,
            hasher,
        }
    }

    fn header(&mut self) -> Result<Header, BackupError> {
        let bytes = self.next()?;
        self.hasher.update(&bytes);
        let any: AnyHeader = self.parse(&bytes, "the file is no backup")?;
        if any.format != FORMAT {
            return Err(self.refused(format!("the file is no backup but `{}`", any.format)));
        }
        if any.version != VERSION {
            return Err(self.refused(format!(
                "a backup of version {}, and this program reads version {VERSION}: \
                 run the version that wrote it, or a later one",
                any.version
            )));
        }
        let header: Header = self.parse(&bytes, "the header is damaged")?;
        if header.revision > HIGHEST_REVISION {
            return Err(self.refused("the revision is beyond all revisions"));
        }
        Ok(header)
    }

    fn object(&mut self) -> Result<(Key, u64, Bytes), BackupError> {
        let bytes = self.next()?;
        self.hasher.update(&bytes);
        let line: Line = self.parse(&bytes, "the object is damaged")?;
        let value = serde_json::to_vec(&line.object).expect("what was JSON is JSON");
        Ok((line.key.into(), line.revision, value.into()))
    }

    fn trailer(&mut self) -> Result<(), BackupError> {
        let bytes = self.next()?;
        let trailer: Trailer = self.parse(&bytes, "the last line is damaged")?;
        if trailer.blake3 != self.hasher.finalize().to_hex().as_str() {
            return Err(self.refused("the file was changed: its hash is another"));
        }
        let rest = self.input.fill_buf();
        match rest.map(<[u8]>::is_empty) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.refused("the file goes on after its last line")),
            Err(source) => Err(self.io(source)),
        }
    }

    /// The next line with its end; a line without one was cut.
    fn next(&mut self) -> Result<Vec<u8>, BackupError> {
        self.number += 1;
        let mut bytes = Vec::new();
        let mut limited = self.input.by_ref().take(LONGEST_LINE);
        let read = limited.read_until(b'\n', &mut bytes);
        read.map_err(|source| self.io(source))?;
        if bytes.ends_with(b"\n") {
            return Ok(bytes);
        }
        Err(match u64::try_from(bytes.len()) {
            Ok(LONGEST_LINE) => self.refused("the line is too long"),
            Ok(_) | Err(_) => self.refused("the file ends here, before its end"),
        })
    }

    fn parse<T: for<'de> Deserialize<'de>>(
        &self,
        bytes: &[u8],
        problem: &str,
    ) -> Result<T, BackupError> {
        serde_json::from_slice(bytes).map_err(|error| self.refused(format!("{problem}: {error}")))
    }

    fn refused(&self, problem: impl Into<String>) -> BackupError {
        BackupError::Refused {
            line: self.number,
            problem: problem.into(),
        }
    }

    fn io(&self, source: io::Error) -> BackupError {
        BackupError::Io {
            line: self.number,
            source,
        }
    }
}

impl From<&Key> for LineKey {
    fn from(key: &Key) -> Self {
        Self {
            group: key.kind.group.to_string(),
            plural: key.kind.plural.to_string(),
            namespace: key.place.namespace.to_string(),
            name: key.place.name.to_string(),
        }
    }
}

impl From<LineKey> for Key {
    fn from(key: LineKey) -> Self {
        Self::new(&key.group, &key.plural, &key.namespace, &key.name)
    }
}

#[cfg(test)]
mod tests;
