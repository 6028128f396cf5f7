//! Contents: a zone file for each zone, with a checksum in its first line.
//!
//! Anybody can read it, and any name server could serve it. Only a file that is exactly as it was written is used. Of routed
//! sets it holds the default members, as every zone file does; all members follow at its end, in comments.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use dns::{Name, RecordSet, Serial, SetKey, Version, Zone, zonefile};

use super::file;
use super::serials::Serials;

/// How a file of a zone ends, and what is added to one that is damaged.
const SUFFIX: &str = ".zone";
const DAMAGED_SUFFIX: &str = ".damaged";

/// What the first line starts with: a comment to whoever reads zone files.
const HEADER: &str = "; zonewright";

/// What a line with the record of a member starts with. The rest of it is a canonical line.
const MEMBER: &str = "; member ";

/// How much of a zone's name is in the name of its file. The rest of the 255 octets a file name may have is for the hash.
const SHOWN_CHARS_MAX: usize = 150;

/// Hexadecimal digits of the hash that tells files of similar names apart.
const HASH_DIGITS: usize = 32;

/// A folder of zone files.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    folder: PathBuf,
}

impl Contents {
    pub(super) fn new(folder: PathBuf) -> Contents {
        Contents { folder }
    }

    /// Puts a version in place of the last.
    pub(super) fn write(&self, version: &Version) -> io::Result<()> {
        file::replace(
            &self.path(version.zone.origin()),
            encode(version).as_bytes(),
        )
    }

    /// Takes a zone away.
    pub(super) fn remove(&self, origin: &Name) -> io::Result<()> {
        file::remove(&self.path(origin))
    }

    /// Reads every zone that was not withdrawn. Files of others, and files that were not finished, are taken away; those
    /// that are damaged are kept aside under another name.
    pub(super) fn load(&self, serials: &Serials) -> io::Result<Vec<Version>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(file::UNFINISHED_PREFIX) {
                file::remove(&path)?;
            } else if name.ends_with(SUFFIX) {
                paths.push(path);
            }
        }
        let mut versions = Vec::new();
        for (path, reading) in read_all(paths) {
            match reading {
                Ok(version) if serials.is_withdrawn(version.zone.origin()) => file::remove(&path)?,
                Ok(version) => versions.push(version),
                Err(why) => put_aside(&path, &why)?,
            }
        }
        Ok(versions)
    }

    fn path(&self, origin: &Name) -> PathBuf {
        self.folder.join(file_name(origin))
    }
}

/// Reads files with all processors: large zones take seconds.
fn read_all(paths: Vec<PathBuf>) -> Vec<(PathBuf, Result<Version, String>)> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let (left, done) = (Mutex::new(paths.into_iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let next = || left.lock().expect("nobody panics here").next();
                while let Some(path) = next() {
                    let reading = read(&path);
                    done.lock()
                        .expect("nobody panics here")
                        .push((path, reading));
                }
            });
        }
    });
    done.into_inner().expect("nobody panics here")
}

fn read(path: &Path) -> Result<Version, String> {
    let octets = fs::read(path).map_err(|err| err.to_string())?;
    let version = decode(&octets)?;
    if path.file_name() != Some(file_name(version.zone.origin()).as_ref()) {
        return Err(format!("it is of zone {}", version.zone.origin()));
    }
    Ok(version)
}

fn put_aside(path: &Path, why: &str) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(DAMAGED_SUFFIX);
    fs::rename(path, &aside)?;
    tracing::error!(file = %path.display(), kept = %aside.display(), why, "Stored zone is damaged and not served");
    Ok(())
}

/// A name that people recognise and file systems take.
fn file_name(origin: &Name) -> String {
    let shown: String = origin
        .to_string()
        .chars()
        .map(|char| match char {
            'a'..='z' | '0'..='9' | '-' | '_' | '.' => char,
            _ => '+',
        })
        .take(SHOWN_CHARS_MAX)
        .collect();
    let hash = blake3::hash(origin.as_wire()).to_hex();
    format!(
        "{}-{}{SUFFIX}",
        shown.trim_matches('.'),
        &hash[..HASH_DIGITS]
    )
}

fn encode(version: &Version) -> String {
    let mut text = zonefile::print(&version.zone, version.serial);
    for (key, set) in version.zone.sets().filter(|(_, set)| is_routed(set)) {
        let mut lines = String::new();
        zonefile::push_lines(&mut lines, &key.name, set);
        for line in lines.lines() {
            writeln!(text, "{MEMBER}{line}").expect("writing to a string cannot fail");
        }
    }
    let hash = blake3::hash(text.as_bytes()).to_hex();
    format!("{HEADER} {hash}\n{text}")
}

fn decode(octets: &[u8]) -> Result<Version, String> {
    let text = std::str::from_utf8(octets).map_err(|err| err.to_string())?;
    let (header, text) = text.split_once('\n').ok_or("it has one line only")?;
    let hash = blake3::hash(text.as_bytes()).to_hex();
    if header != format!("{HEADER} {hash}") {
        return Err("its checksum is not that of its content".into());
    }
    let reading = zonefile::parse(text, None);
    if let Some(problem) = reading.problems.first() {
        return Err(problem.to_string());
    }
    let (mut zone, serial): (_, Serial) = reading.zone.ok_or("it has no SOA record")?;
    put_members(&mut zone, text)?;
    Ok(Version { zone, serial })
}

fn is_routed(set: &RecordSet) -> bool {
    !set.members().is_empty()
}

/// Puts routed sets in place of their default members.
fn put_members(zone: &mut Zone, text: &str) -> Result<(), String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(MEMBER));
    let lines: String = lines.flat_map(|line| [line, "\n"]).collect();
    let lines = zonefile::read_lines(&lines).map_err(|problems| {
        let told = problems.iter().map(ToString::to_string);
        told.collect::<Vec<_>>().join("; ")
    })?;
    let mut sets = BTreeMap::<SetKey, Vec<_>>::new();
    for zonefile::Line { record, membership } in lines {
        let key = SetKey::new(record.name, record.data.rtype());
        let record = (membership, record.ttl, record.data);
        sets.entry(key).or_default().push(record);
    }
    for (key, records) in sets {
        let set = RecordSet::assemble(records).map_err(|err| err.to_string())?;
        zone.put(key, set).map_err(|err| err.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        let reading = zonefile::parse(text, None);
        assert_eq!(reading.problems, []);
        let (zone, serial) = reading.zone.unwrap();
        Version { zone, serial }
    }

    fn example() -> Version {
        version(
            "$ORIGIN example.org.\n$TTL 300\n@ SOA ns noc 7 2 3 4 5\nwww A 192.0.2.1\n*.w TXT \"a;b\" \"\\\"\"\n",
        )
    }

    #[test]
    fn a_version_survives_the_disk() {
        let version = example();
        assert_eq!(decode(encode(&version).as_bytes()), Ok(version));
    }

    /// N6: also the members that no zone file could tell.
    #[test]
    fn members_survive_the_disk() {
        let mut version = example();
        let mut sets = BTreeMap::<SetKey, Vec<_>>::new();
        for line in zonefile::read_lines(
            "lb.example.org. 60 IN CNAME eu.example. ; routing {\"setIdentifier\":\"eu\",\"geo\":\"GEO-EU\"}\n\
             lb.example.org. 30 IN CNAME any.example. ; routing {\"setIdentifier\":\"a \\\"b\\\"\",\"weight\":0}\n\
             www.example.org. 300 IN A 192.0.2.1 ; routing {\"setIdentifier\":\"one\"}\n\
             www.example.org. 300 IN A 192.0.2.2 ; routing {\"setIdentifier\":\"one\"}\n",
        )
        .unwrap()
        {
            let key = SetKey::new(line.record.name, line.record.data.rtype());
            let record = (line.membership, line.record.ttl, line.record.data);
            sets.entry(key).or_default().push(record);
        }
        for (key, records) in sets {
            let set = RecordSet::assemble(records).unwrap();
            version.zone.put(key, set).unwrap();
        }
        let encoded = encode(&version);
        let decoded = decode(encoded.as_bytes()).unwrap();
        assert_eq!(decoded.zone.hash(), version.zone.hash());
        assert_eq!(decoded, version);
        // To others it is a zone file with the default members.
        let (plain, _) = zonefile::parse(&encoded, None).zone.unwrap();
        let lb = SetKey::new(Name::parse("lb.example.org.").unwrap(), dns::Rtype::CNAME);
        assert_eq!(
            plain.get(&lb).unwrap().data()[0].to_string(),
            "any.example."
        );
        assert!(plain.sets().all(|(_, set)| !is_routed(set)));
    }

    /// J1, J4: cut anywhere, or with any bit flipped, it is not taken for a zone.
    #[test]
    fn damage_anywhere_is_found() {
        let octets = encode(&example()).into_bytes();
        for length in 0..octets.len() {
            assert!(decode(&octets[..length]).is_err(), "cut at {length}");
        }
        for at in 0..octets.len() {
            let mut damaged = octets.clone();
            damaged[at] ^= 1;
            assert!(decode(&damaged).is_err(), "flipped at {at}");
        }
    }

    #[test]
    fn files_are_called_after_their_zones() {
        let name = |text: &str| file_name(&Name::parse(text).unwrap());
        assert!(name("example.org.").starts_with("example.org-"));
        assert!(name("a/b.example.").starts_with("a+b.example-"));
        assert_ne!(name("a/b.example."), name("a*b.example."));
        assert!(name(".").starts_with('-'));
        let long = format!("{}.example.", ["x"; 120].join("."));
        assert!(name(&long).len() < 255);
        assert!(!name("\\.\\./x.").contains('/'));
    }
}
