//! The seam over real files: what comes back, what is refused, what is on the disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn write(revision: u64, plural: &str, name: &str, value: Option<&str>) -> Write {
    Write {
        key: Key::new("", plural, "default", name),
        revision,
        value: value.map(|text| Bytes::copy_from_slice(text.as_bytes())),
    }
}

fn batch(revision: u64, plural: &str, name: &str, value: Option<&str>) -> Batch {
    Batch {
        revision,
        writes: vec![write(revision, plural, name, value)],
    }
}

/// The objects as text: `plural/name@revision=value`.
fn objects(loaded: &Loaded) -> Vec<String> {
    let text = |(key, revision, value): &(Key, u64, Bytes)| {
        let value = str::from_utf8(value).unwrap();
        format!("{}/{}@{revision}={value}", key.kind.plural, key.place.name)
    };
    loaded.objects.iter().map(text).collect()
}

fn commit(directory: &Path, batches: &[Batch]) {
    let (mut storage, _) = open(directory).unwrap();
    storage.commit(batches).unwrap();
}

#[track_caller]
fn check(directory: &Path, revision: u64, expected: &[&str]) {
    let (_, loaded) = open(directory).unwrap();
    assert_eq!(objects(&loaded), expected);
    assert_eq!(loaded.revision, revision);
}

#[track_caller]
fn check_refused(directory: &Path, message: &str) {
    let error = open(directory).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains(message), "`{message}` is not in `{error}`");
}

#[test]
fn what_was_committed_is_there_after_reopening() {
    let directory = tempfile::tempdir().unwrap();
    check(directory.path(), 0, &[]);
    commit(
        directory.path(),
        &[
            batch(1, "secrets", "a", Some("one")),
            batch(2, "configmaps", "b", Some("two")),
            batch(3, "secrets", "a", Some("three")),
        ],
    );
    check(
        directory.path(),
        3,
        &["configmaps/b@2=two", "secrets/a@3=three"],
    );
    commit(
        directory.path(),
        &[
            batch(4, "configmaps", "b", None),
            batch(5, "configmaps", "never-was", None),
            batch(9, "secrets", "c", Some("")),
        ],
    );
    check(directory.path(), 9, &["secrets/a@3=three", "secrets/c@9="]);
}

#[test]
fn a_revision_without_writes_is_remembered() {
    let directory = tempfile::tempdir().unwrap();
    let writes = vec![];
    commit(
        directory.path(),
        &[Batch {
            revision: 5,
            writes,
        }],
    );
    check(directory.path(), 5, &[]);
}

#[test]
fn large_objects_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let large = "x".repeat(3 * 1024 * 1024);
    commit(
        directory.path(),
        &[
            batch(1, "secrets", "a", Some(&large)),
            batch(2, "configmaps", "a", Some(&large)),
        ],
    );
    let (configmap, secret) = (
        format!("configmaps/a@2={large}"),
        format!("secrets/a@1={large}"),
    );
    check(directory.path(), 2, &[&configmap, &secret]);
}

#[test]
fn directory_and_files_are_the_owners_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("deep/data");
    commit(&directory, &[batch(1, "secrets", "a", Some("x"))]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    let mut names: Vec<String> = Vec::new();
    for file in fs::read_dir(&directory).unwrap() {
        let file = file.unwrap();
        assert_eq!(mode(&file.path()), 0o600, "{:?}", file.path());
        names.push(file.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["lock", "revision", "secret.key", "store.redb"]);
}

#[test]
fn a_second_opening_is_refused_with_the_process_that_holds_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let first = open(directory.path()).unwrap();
    check_refused(
        directory.path(),
        &format!("in use by process {}: stop it first", std::process::id()),
    );
    drop(first);
    check(directory.path(), 0, &[]);
}

#[test]
fn nothing_of_a_secret_is_in_the_clear_on_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let (mut storage, _) = open(directory.path()).unwrap();
    let clear = |canary: &str| {
        let found = |file: io::Result<fs::DirEntry>| {
            let content = fs::read(file.unwrap().path()).unwrap();
            String::from_utf8_lossy(&content).contains(canary)
        };
        fs::read_dir(directory.path()).unwrap().any(found)
    };
    let filler = "CANARY-3".repeat(100_000);
    let name = |n: u64| format!("f{n}");
    let steps: [Vec<Batch>; 6] = [
        vec![batch(1, "secrets", "a", Some(r#"{"data":"CANARY-1"}"#))],
        vec![batch(2, "secrets", "a", Some(r#"{"data":"CANARY-2"}"#))],
        vec![batch(3, "secrets", "a", None)],
        vec![batch(4, "configmaps", "a", Some(r#"{"data":"BIRD"}"#))],
        // Enough to make the file grow, and shrink again by compaction.
        (5..15)
            .map(|n| batch(n, "secrets", &name(n), Some(&filler)))
            .collect(),
        (15..25)
            .map(|n| batch(n, "secrets", &name(n - 10), None))
            .collect(),
    ];
    for step in steps {
        storage.commit(&step).unwrap();
        assert!(!clear("CANARY"));
    }
    assert!(
        clear("BIRD"),
        "what is no Secret is in the clear, so the search works"
    );
    drop(storage);
    assert!(!clear("CANARY"));
    check_length(directory.path(), 4 << 20);
}

#[track_caller]
fn check_length(directory: &Path, at_most: u64) {
    let length = fs::metadata(directory.join("store.redb")).unwrap().len();
    assert!(length <= at_most, "{length} bytes");
}

#[test]
fn the_file_shrinks_with_its_content_while_it_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let (mut storage, _) = open(directory.path()).unwrap();
    let value = "x".repeat(10_000);
    let mut revision = 0;
    let mut step = |value: Option<&str>| {
        for n in 0..10 {
            revision += 1;
            let writes = (0..100)
                .map(|m| write(revision, "configmaps", &format!("{n}-{m}"), value))
                .collect();
            storage.commit(&[Batch { revision, writes }]).unwrap();
        }
    };
    step(Some(&value));
    let full = fs::metadata(directory.path().join("store.redb"))
        .unwrap()
        .len();
    assert!(full > 10_000_000, "{full} bytes");
    step(None);
    check_length(directory.path(), 4 << 20);
}

#[test]
fn a_lost_a_wrong_and_a_damaged_key_are_named() {
    let directory = tempfile::tempdir().unwrap();
    commit(directory.path(), &[batch(1, "secrets", "a", Some("x"))]);
    let path = directory.path().join("secret.key");
    let text = fs::read_to_string(&path).unwrap();

    fs::remove_file(&path).unwrap();
    check_refused(directory.path(), "secret.key: missing");
    assert!(!path.exists(), "a key made anew would hide the loss");
    fs::write(&path, &text[1..]).unwrap();
    check_refused(directory.path(), "secret.key: not a key");
    fs::write(&path, seal::Sealer::generate().unwrap()).unwrap();
    check_refused(
        directory.path(),
        "sealed with another key than the one in `secret.key`",
    );
    fs::write(&path, text).unwrap();
    check(directory.path(), 1, &["secrets/a@1=x"]);
}

#[test]
fn a_store_that_lost_acknowledged_changes_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store.redb");
    commit(directory.path(), &[batch(1, "secrets", "a", Some("x"))]);
    let old = fs::read(&store).unwrap();
    commit(directory.path(), &[batch(2, "secrets", "a", Some("y"))]);

    fs::write(&store, &old).unwrap();
    check_refused(
        directory.path(),
        "ends at revision 1, but revision 2 was acknowledged",
    );
    fs::remove_file(directory.path().join("revision")).unwrap();
    check(directory.path(), 1, &["secrets/a@1=x"]);
}

#[test]
fn a_missing_store_is_not_a_new_start() {
    let directory = tempfile::tempdir().unwrap();
    commit(directory.path(), &[batch(2, "secrets", "a", Some("y"))]);
    fs::remove_file(directory.path().join("store.redb")).unwrap();
    check_refused(
        directory.path(),
        "store.redb: missing, but revision 2 was acknowledged",
    );
    fs::remove_file(directory.path().join("revision")).unwrap();
    check(directory.path(), 0, &[]);
}

#[test]
fn a_damaged_witness_is_no_witness() {
    let directory = tempfile::tempdir().unwrap();
    commit(directory.path(), &[batch(2, "secrets", "a", Some("y"))]);
    let witness = directory.path().join("revision");
    let text = fs::read_to_string(&witness).unwrap();
    for damaged in [text.replace('2', "9"), text[..7].to_owned(), String::new()] {
        fs::write(&witness, damaged).unwrap();
        check(directory.path(), 2, &["secrets/a@2=y"]);
        assert_eq!(fs::read_to_string(&witness).unwrap(), text);
    }
}

#[test]
fn a_crash_while_the_store_was_made_leaves_nothing_in_the_way() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("store.redb.new"), vec![0; 5000]).unwrap();
    fs::write(directory.path().join("secret.key.new"), "half a k").unwrap();
    commit(directory.path(), &[batch(1, "secrets", "a", Some("x"))]);
    check(directory.path(), 1, &["secrets/a@1=x"]);
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()).unwrap());
    let store = directory.path().join("store.redb");
    for content in [&b""[..], b"x", &[0; 10_000]] {
        fs::write(&store, content).unwrap();
        check_refused(directory.path(), "restore a backup, or move the file");
    }
}
