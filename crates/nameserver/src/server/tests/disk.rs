//! The store from outside: restarts, damage, and disks that fail (N5).

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::*;

fn zone_files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("zones")).unwrap();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(suffix))
        .collect();
    paths.sort();
    paths
}

fn other(serial: u32) -> Publication {
    let text = format!("example.net. 300 SOA ns.example. noc.example. {serial} 2 3 4 5\n");
    Publication::Version(version(&text))
}

fn serials(rows: &[(&str, u32)]) -> BTreeMap<Name, Serial> {
    rows.iter()
        .map(|(origin, serial)| (name(origin), Serial(*serial)))
        .collect()
}

/// A folder that a server used for these publications and then stopped.
async fn used(publications: &[Publication]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut running = open(stored_in(folder.path()));
    for publication in publications {
        running.publish(publication.clone()).await;
    }
    running.stop().await;
    folder
}

/// N5.
#[tokio::test]
async fn a_server_answers_from_disk_before_anything_is_published() {
    let folder = used(&[example(1), other(9), example(2)]).await;
    let running = open(stored_in(folder.path()));
    assert_eq!(www(running.address()).await.as_deref(), Some("2"));
    assert_eq!(
        *running.server.stored(),
        serials(&[("example.net.", 9), ("example.org.", 2)])
    );
    assert_eq!(running.server.zones().len(), 2);
}

/// Z7: a zone that is gone stays gone, and its name's serials stay used.
#[tokio::test]
async fn a_withdrawn_zone_does_not_come_back() {
    let withdrawal = Publication::Withdrawal(name("example.org."));
    let folder = used(&[example(5), withdrawal]).await;
    assert_eq!(zone_files(folder.path(), ".zone"), Vec::<PathBuf>::new());
    let running = open(stored_in(folder.path()));
    assert_eq!(www(running.address()).await, None);
    assert_eq!(*running.server.stored(), serials(&[("example.org.", 5)]));
}

/// Power failed after the withdrawal was noted and before the file was taken away.
#[tokio::test]
async fn a_file_of_a_withdrawn_zone_is_not_served() {
    let folder = used(&[example(5)]).await;
    let [file] = &zone_files(folder.path(), ".zone")[..] else {
        panic!("one file")
    };
    let content = fs::read(file).unwrap();
    let mut running = open(stored_in(folder.path()));
    running
        .publish(Publication::Withdrawal(name("example.org.")))
        .await;
    running.stop().await;
    fs::write(file, content).unwrap();
    let running = open(stored_in(folder.path()));
    assert!(running.server.zones().is_empty());
    assert!(!file.exists());
}

/// Z7: power failed after the serial was noted and before the content was written. What is served is what the serial
/// it carries stood for before; the next version needs a higher serial than any that was answered.
#[tokio::test]
async fn content_may_be_older_than_the_highest_serial() {
    let folder = used(&[example(1)]).await;
    let files = zone_files(folder.path(), ".zone");
    let content = fs::read(&files[0]).unwrap();
    let mut running = open(stored_in(folder.path()));
    running.publish(example(6)).await;
    running.stop().await;
    fs::write(&files[0], content).unwrap();
    let mut running = open(stored_in(folder.path()));
    assert_eq!(www(running.address()).await.as_deref(), Some("1"));
    assert_eq!(*running.server.stored(), serials(&[("example.org.", 6)]));
    running.publish(example(7)).await;
    assert_eq!(www(running.address()).await.as_deref(), Some("7"));
}

/// Z7: the serial is on disk when it is first seen, however soon the process dies then.
#[tokio::test]
async fn a_serial_is_on_disk_before_it_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = open(stored_in(folder.path()));
    for serial in 1..=20 {
        running.publish(example(serial)).await;
        let noted = fs::read_to_string(folder.path().join("serials")).unwrap();
        assert!(
            noted.ends_with(&format!(" {serial} example.org.\n")),
            "{noted}"
        );
    }
}

/// J4: the others are served, and the damaged one can be looked at.
#[tokio::test]
async fn a_damaged_zone_is_kept_aside_and_the_others_are_served() {
    let folder = used(&[example(5), other(9)]).await;
    let files = zone_files(folder.path(), ".zone");
    let mut content = fs::read(&files[1]).unwrap();
    let last = content.len() - 2;
    content[last] ^= 1;
    fs::write(&files[1], content).unwrap();
    fs::write(folder.path().join("zones/.tmpXyZ"), "half a zo").unwrap();
    let running = open(stored_in(folder.path()));
    let origins: Vec<String> = running
        .server
        .zones()
        .versions()
        .map(|version| version.zone.origin().to_string())
        .collect();
    assert_eq!(origins, ["example.net."]);
    assert_eq!(zone_files(folder.path(), ".damaged").len(), 1);
    assert!(!folder.path().join("zones/.tmpXyZ").exists());
    let known = serials(&[("example.net.", 9), ("example.org.", 5)]);
    assert_eq!(
        *running.server.stored(),
        known,
        "its serial is not forgotten"
    );
}

#[tokio::test]
async fn without_the_serials_the_contents_tell_theirs() {
    let folder = used(&[example(5)]).await;
    fs::remove_file(folder.path().join("serials")).unwrap();
    let running = open(stored_in(folder.path()));
    assert_eq!(*running.server.stored(), serials(&[("example.org.", 5)]));
    assert!(folder.path().join("serials").exists());
}

/// J5.
#[tokio::test]
async fn two_servers_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(stored_in(folder.path()));
    let second = try_open(stored_in(folder.path()));
    let message = second.err().map(|err| err.to_string());
    let path = folder.path().display();
    assert_eq!(
        message,
        Some(format!(
            "{path} is used by another server; give each one a folder of its own"
        ))
    );
    first.stop().await;
    assert!(try_open(stored_in(folder.path())).is_ok());
}

/// I13: names are answered and seen whatever the disk does, and it is caught up with later.
#[tokio::test]
async fn a_disk_that_fails_stops_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = open(stored_in(folder.path()));
    running.publish(example(1)).await;
    fs::remove_dir_all(folder.path().join("zones")).unwrap();
    for serial in 2..=5 {
        assert_eq!(running.publish(example(serial)).await, Some(Serial(serial)));
    }
    assert_eq!(www(running.address()).await.as_deref(), Some("5"));
    fs::create_dir(folder.path().join("zones")).unwrap();
    running.stop().await;
    let running = open(stored_in(folder.path()));
    assert_eq!(www(running.address()).await.as_deref(), Some("5"));
}
