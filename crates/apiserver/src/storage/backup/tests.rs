use std::fs;
use std::io::Cursor;
use std::path::Path;

use super::*;
use crate::storage::{self, Batch, OpenError, Storage};

fn object(n: u64) -> (Key, u64, Bytes) {
    let name = format!("o{n}");
    let json = format!(r#"{{"data":{{"n":{n},"text":"line\n\u0000ü"}},"kind":"Secret"}}"#);
    let value: Object = serde_json::from_str(&json).unwrap();
    let value = serde_json::to_vec(&value).unwrap();
    (Key::new("", "secrets", "default", &name), n, value.into())
}

fn content(objects: u64) -> Loaded {
    let mut objects: Vec<_> = (1..=objects).map(object).collect();
    objects.sort();
    Loaded {
        revision: 40,
        objects,
    }
}

fn snapshot(content: &Loaded) -> Snapshot<'_, impl ExactSizeIterator<Item = (&Key, u64, &Bytes)>> {
    Snapshot {
        revision: content.revision,
        created_at: "2026-01-02T03:04:05Z".parse().unwrap(),
        objects: content
            .objects
            .iter()
            .map(|(key, revision, value)| (key, *revision, value)),
    }
}

fn text(content: &Loaded) -> String {
    let mut out = Vec::new();
    write(snapshot(content), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The text with another last line, so that its hash is right again.
fn rehashed(lines: &[&str]) -> String {
    let body = lines.join("\n") + "\n";
    let hash = blake3::hash(body.as_bytes()).to_hex();
    format!("{body}{{\"blake3\":\"{hash}\"}}\n")
}

#[track_caller]
fn check_refused(text: impl AsRef<[u8]>, message: &str) {
    let error = read(&mut Cursor::new(text)).unwrap_err().to_string();
    assert!(error.contains(message), "`{message}` is not in `{error}`");
}

#[test]
fn a_backup_has_the_documented_lines() {
    let one = Loaded {
        revision: 9,
        objects: vec![(
            Key::new("g", "things", "", "a"),
            7,
            Bytes::from_static(br#"{"a":1}"#),
        )],
    };
    let text = text(&one);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        [
            r#"{"format":"zonewright-backup","version":1,"revision":9,"objects":1,"createdAt":"2026-01-02T03:04:05Z"}"#,
            r#"{"key":{"group":"g","plural":"things","namespace":"","name":"a"},"revision":7,"object":{"a":1}}"#,
        ]
    );
    assert_eq!(rehashed(&lines[..2]), text);
}

#[test]
fn what_was_written_is_read() {
    for objects in [0, 1, 12] {
        let content = content(objects);
        let read = read(&mut Cursor::new(text(&content))).unwrap();
        assert_eq!(read, content);
    }
}

#[test]
fn a_backup_cut_anywhere_is_refused() {
    let text = text(&content(2));
    for length in 0..text.len() {
        assert!(
            read(&mut Cursor::new(&text.as_bytes()[..length])).is_err(),
            "{length} bytes"
        );
    }
    let first = text.find('\n').unwrap() + 1;
    check_refused(&text[..first], "line 2: the file ends here");
    check_refused("", "line 1: the file ends here");
}

#[test]
fn every_changed_byte_is_noticed() {
    let text = text(&content(2)).into_bytes();
    for at in 0..text.len() {
        for mask in [1, 0x20, 0x80] {
            let mut changed = text.clone();
            changed[at] ^= mask;
            assert!(
                read(&mut Cursor::new(&changed)).is_err(),
                "byte {at} by {mask:#x}"
            );
        }
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let text = text(&content(2));
    let lines: Vec<&str> = text.lines().collect();
    let (header, first, second) = (lines[0], lines[1], lines[2]);
    check_refused(format!("{text}{first}\n"), "line 4: the file goes on");
    check_refused(text.replace("o2", "o3"), "line 4: the file was changed");
    check_refused(
        text.replace("\"object\"", "\"obj\""),
        "line 2: the object is damaged",
    );
    check_refused("apiVersion: v1\n", "line 1: the file is no backup");
    check_refused(
        rehashed(&[&header.replace("zonewright-backup", "tar"), first, second]),
        "line 1: the file is no backup but `tar`",
    );
    check_refused(
        rehashed(&[
            &header.replace("\"version\":1", "\"version\":2"),
            first,
            second,
        ]),
        "line 1: a backup of version 2, and this program reads version 1",
    );
    check_refused(
        rehashed(&[&header.replace(":40", ":9223372036854775808")]),
        "line 1: the revision is beyond",
    );
    check_refused(
        rehashed(&[header, first, first]),
        "line 3: secrets default/o1 is there twice",
    );
    check_refused(
        rehashed(&[&header.replace(":40", ":1"), first, second]),
        "line 3: the object is newer than the backup",
    );
    check_refused(rehashed(&[header, first]), "line 3: the object is damaged");
    check_refused(
        rehashed(&[header, first, second, second]),
        "line 4: the last line is damaged",
    );
}

#[test]
fn a_line_without_end_is_refused_before_memory_is() {
    let endless = io::repeat(b'x');
    let error = read(&mut io::BufReader::new(endless)).unwrap_err();
    assert_eq!(error.to_string(), "line 1: the line is too long");
}

#[test]
fn a_value_that_is_no_json_fails_the_backup() {
    let mut broken = content(1);
    broken.objects[0].2 = Bytes::from_static(b"{");
    assert!(write(snapshot(&broken), &mut Vec::new()).is_err());
}

fn open_revision(directory: &Path) -> (u64, usize) {
    let (_, loaded) = storage::open(directory).unwrap();
    (loaded.revision, loaded.objects.len())
}

fn bump(directory: &Path, revision: u64) {
    let (mut storage, _) = storage::open(directory).unwrap();
    let writes = vec![];
    storage.commit(&[Batch { revision, writes }]).unwrap();
}

#[test]
fn a_restored_store_holds_the_backup_and_goes_on_beyond_all_revisions() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("data");
    let restored = restore(&directory, content(3)).unwrap();
    assert_eq!(
        (restored.revision, restored.objects, restored.previous),
        (2_000_000, 3, None)
    );
    let (_, loaded) = storage::open(&directory).unwrap();
    assert_eq!(loaded.objects, content(3).objects);
    assert_eq!(loaded.revision, 2_000_000);

    bump(&directory, 2_000_001);
    let restored = restore(&directory, content(1)).unwrap();
    assert_eq!(restored.revision, 4_000_000);
    let kept = directory.join("store.redb.before-restore-1");
    assert_eq!(restored.previous, Some(kept.clone()));
    assert_eq!(open_revision(&directory), (4_000_000, 1));

    // What was kept is a store: put back, it opens.
    fs::rename(&kept, directory.join("store.redb")).unwrap();
    fs::remove_file(directory.join("revision")).unwrap();
    assert_eq!(open_revision(&directory), (2_000_001, 3));
}

#[test]
fn each_restore_keeps_the_store_before_it() {
    let directory = tempfile::tempdir().unwrap();
    for n in 1..=3 {
        let previous = restore(directory.path(), content(n)).unwrap().previous;
        let expected = (n > 1).then(|| format!("store.redb.before-restore-{}", n - 1));
        assert_eq!(previous, expected.map(|name| directory.path().join(name)));
    }
}

#[test]
fn a_damaged_store_can_be_restored_and_its_revision_is_remembered() {
    let directory = tempfile::tempdir().unwrap();
    bump(directory.path(), 7_000_001);
    fs::write(directory.path().join("store.redb"), "damaged").unwrap();
    let restored = restore(directory.path(), content(2)).unwrap();
    assert_eq!(restored.revision, 9_000_000);
    assert_eq!(open_revision(directory.path()), (9_000_000, 2));
}

#[test]
fn a_store_whose_witness_is_gone_still_counts() {
    let directory = tempfile::tempdir().unwrap();
    bump(directory.path(), 7_000_001);
    fs::remove_file(directory.path().join("revision")).unwrap();
    assert_eq!(
        restore(directory.path(), content(2)).unwrap().revision,
        9_000_000
    );
}

#[test]
fn a_restore_works_without_the_lost_key() {
    let directory = tempfile::tempdir().unwrap();
    restore(directory.path(), content(1)).unwrap();
    fs::remove_file(directory.path().join("secret.key")).unwrap();
    assert!(storage::open(directory.path()).is_err());
    restore(directory.path(), content(2)).unwrap();
    assert_eq!(open_revision(directory.path()).1, 2);
}

#[test]
fn a_directory_in_use_is_not_restored() {
    let directory = tempfile::tempdir().unwrap();
    let (_storage, _) = storage::open(directory.path()).unwrap();
    let error = restore(directory.path(), content(1)).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
}
