//! What is remembered of serials, and after what.

use super::*;
use dns::{Version, zonefile};

fn version(origin: &str, serial: u32) -> Publication {
    let text = format!("{origin} 300 SOA ns.example. noc.example. {serial} 2 3 4 5\n");
    let (zone, serial) = zonefile::parse(&text, None).zone.unwrap();
    Publication::Version(Version { zone, serial })
}

fn withdrawal(origin: &str) -> Publication {
    Publication::Withdrawal(Name::parse(origin).unwrap())
}

/// A folder, and a file in it that holds what the batches said.
fn file(batches: &[&[Publication]]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serials");
    let mut serials = Serials::open(&path).unwrap();
    for batch in batches {
        serials.note(batch).unwrap();
    }
    (folder, path)
}

#[track_caller]
fn check(path: &Path, expected: &[(&str, u32, bool)]) {
    let serials = Serials::open(path).unwrap();
    let found: Vec<_> = serials
        .highest()
        .into_iter()
        .map(|(name, serial)| (name.to_string(), serial.0, serials.is_withdrawn(&name)))
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|(name, serial, withdrawn)| (name.as_str(), *serial, *withdrawn))
        .collect();
    assert_eq!(found, expected);
}

/// N5, Z7.
#[test]
fn the_highest_serial_is_remembered_even_of_a_zone_that_is_gone() {
    let (_folder, path) = file(&[
        &[version("a.example.", 7), version("b.example.", 1)],
        &[version("a.example.", 8)],
        &[withdrawal("a.example."), withdrawal("never.example.")],
    ]);
    check(&path, &[("a.example.", 8, true), ("b.example.", 1, false)]);
}

#[test]
fn a_serial_that_goes_back_is_not_the_highest() {
    let (_folder, path) = file(&[&[version("a.example.", 8)], &[version("a.example.", 3)]]);
    check(&path, &[("a.example.", 8, false)]);
}

#[test]
fn a_zone_that_comes_back_is_there_again() {
    let (_folder, path) = file(&[
        &[version("a.example.", 8)],
        &[withdrawal("a.example.")],
        &[version("a.example.", 9)],
    ]);
    check(&path, &[("a.example.", 9, false)]);
}

#[test]
fn names_of_all_kinds_survive() {
    let (_folder, path) = file(&[&[version(".", 1), version("a\\032b\\.c.example.", 2)]]);
    check(
        &path,
        &[(".", 1, false), ("a\\032b\\.c.example.", 2, false)],
    );
}

/// Power that fails while a line is written leaves a part of it.
#[test]
fn a_torn_line_is_passed_over() {
    let (_folder, path) = file(&[&[version("a.example.", 7)], &[version("a.example.", 8)]]);
    let whole = std::fs::read(&path).unwrap();
    let first = whole.iter().position(|octet| *octet == b'\n').unwrap() + 1;
    for length in first..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        check(&path, &[("a.example.", 7, false)]);
    }
    std::fs::write(&path, &whole).unwrap();
    check(&path, &[("a.example.", 8, false)]);
}

#[test]
fn a_flipped_bit_costs_one_line() {
    let (_folder, path) = file(&[&[version("a.example.", 7), version("b.example.", 9)]]);
    let whole = std::fs::read(&path).unwrap();
    let first = whole.iter().position(|octet| *octet == b'\n').unwrap();
    for at in 0..first {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        check(&path, &[("b.example.", 9, false)]);
    }
}

#[test]
fn the_file_does_not_grow_with_the_number_of_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serials");
    let mut serials = Serials::open(&path).unwrap();
    for serial in 0..u32::try_from(LINES_MIN * 3).unwrap() {
        serials.note(&[version("a.example.", serial)]).unwrap();
    }
    let lines = std::fs::read_to_string(&path).unwrap().lines().count();
    assert!(lines <= LINES_MIN + LINES_PER_ZONE, "{lines} lines");
    check(&path, &[("a.example.", 767, false)]);
}

#[test]
fn nothing_new_is_not_written() {
    let (_folder, path) = file(&[&[version("a.example.", 7)]]);
    let mut serials = Serials::open(&path).unwrap();
    let before = std::fs::metadata(&path).unwrap().len();
    serials.note(&[version("a.example.", 7)]).unwrap();
    serials.note(&[withdrawal("b.example.")]).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), before);
}

/// I13: after a failure the file may end in half a line, so it is written anew.
#[test]
fn what_could_not_be_written_is_written_with_the_next() {
    let (folder, path) = file(&[&[version("a.example.", 7)]]);
    let mut serials = Serials::open(&path).unwrap();
    serials.file = Some(File::open(&path).unwrap());
    assert!(serials.note(&[version("a.example.", 8)]).is_err());
    check(&path, &[("a.example.", 7, false)]);
    serials.note(&[version("b.example.", 1)]).unwrap();
    check(&path, &[("a.example.", 8, false), ("b.example.", 1, false)]);
    drop(folder);
}

#[test]
fn the_zones_that_went_first_are_forgotten_first() {
    let (_folder, path) = file(&[]);
    let mut serials = Serials::open(&path).unwrap();
    let name = |number: usize| Name::parse(&format!("z{number}.example.")).unwrap();
    for number in [5, 1, 4, 2, 3] {
        serials.learn(&name(number), Some(Serial(1)), true);
    }
    serials.learn(&name(1), Some(Serial(2)), false);
    serials.forget(2);
    let kept: Vec<&Name> = serials.known.keys().collect();
    assert_eq!(kept, [&name(1), &name(2), &name(3)], "1 came back");
}
