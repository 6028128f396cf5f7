//! A disk that flips bits and loses its end: what is wrong is told, never served.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

fn batches() -> Vec<Batch> {
    vec![
        batch(
            1,
            (0..12).map(|n| write(1, &format!("n{n}"), 900)).collect(),
        ),
        batch(2, vec![write(2, "n3", 6_000), removal(2, "n5"), secret(2)]),
        batch(3, vec![write(3, "n3", 100)]),
    ]
}

fn secret(revision: u64) -> Write {
    Write {
        key: Key::new("", "secrets", "default", "s"),
        ..write(revision, "s", 50)
    }
}

/// A store closed as it should be, or left as a killed process leaves it.
fn store(closed: bool) -> Device {
    let device = device();
    let (mut disk, _) = Disk::open(device.clone(), sealer()).unwrap();
    for batch in batches() {
        disk.commit(&[batch]).unwrap();
    }
    if closed {
        drop(disk);
        return device;
    }
    device.after_power_loss(|_| true, 0)
}

/// Opening tells of damage or gives exactly what was committed.
fn check(content: Vec<u8>, case: &str) -> Option<String> {
    let device = Device::holding(content);
    device.acknowledge(3);
    match Disk::open(device.clone(), sealer()) {
        Ok((disk, loaded)) => {
            assert_eq!(loaded, model(&batches()), "{case}");
            check_usable(&device, disk, case);
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Damage that was not noticed must not spread when the store is used again.
fn check_usable(device: &Device, mut disk: Disk<Device>, case: &str) {
    let more = batch(
        4,
        (0..4).map(|n| write(4, &format!("m{n}"), 3_000)).collect(),
    );
    disk.commit(std::slice::from_ref(&more)).unwrap();
    drop(disk);
    let all = [batches(), vec![more]].concat();
    assert_eq!(load(device).unwrap(), model(&all), "{case}, used again");
}

fn flip(content: &[u8], at: usize, mask: u8) -> Vec<u8> {
    let mut flipped = content.to_vec();
    flipped[at] ^= mask;
    flipped
}

/// The bytes that tell anything: all that are not zero, and some that are.
fn places(content: &[u8]) -> impl Iterator<Item = usize> {
    let telling = |at: &usize| content[*at] != 0 || at.is_multiple_of(997);
    let header = (0..64).chain((64..320).step_by(3));
    let rest = (320..content.len()).filter(telling).step_by(223);
    header.chain(rest)
}

#[test]
fn no_flipped_bit_changes_what_is_served() {
    let mut random = StdRng::seed_from_u64(1);
    for closed in [true, false] {
        let content = store(closed).content();
        let mut noticed = 0;
        for at in places(&content) {
            let mask = 1 << random.random_range(0..8);
            let case = format!("closed {closed}, byte {at} by {mask:#x}");
            noticed += usize::from(check(flip(&content, at, mask), &case).is_some());
        }
        assert!(noticed > 100, "only {noticed} flips were noticed");
    }
}

#[test]
fn no_overwritten_stretch_changes_what_is_served() {
    let mut random = StdRng::seed_from_u64(2);
    for closed in [true, false] {
        let content = store(closed).content();
        for seed in 0..40 {
            let start = random.random_range(0..content.len());
            let length = random.random_range(1..9_000).min(content.len() - start);
            let mut damaged = content.clone();
            random.fill(&mut damaged[start..start + length]);
            check(damaged, &format!("closed {closed}, seed {seed}"));
        }
    }
}

#[test]
fn a_file_cut_short_or_made_longer_is_told() {
    for closed in [true, false] {
        let content = store(closed).content();
        for length in (0..content.len())
            .step_by(content.len() / 40)
            .chain([1, 9, 319, 320])
        {
            let case = format!("closed {closed}, {length} bytes");
            check(content[..length].to_vec(), &case);
        }
        check([&content[..], &[0; 4096]].concat(), "a page more");
    }
}

#[test]
fn damaged_objects_are_all_named_and_what_to_do_is_said() {
    let device = device();
    let (disk, _) = Disk::open(device.clone(), sealer()).unwrap();
    let Opened::Yes(database) = &disk.database else {
        panic!("just opened");
    };
    let transaction = database.begin_write().unwrap();
    let batches = batches();
    contents::apply(&transaction, &batches, &sealer(), disk.tally).unwrap();
    for write in [&batches[0].writes[7], &batches[1].writes[2]] {
        contents::spoiling::spoil(&transaction, &write.key);
    }
    transaction.commit().unwrap();
    drop(disk);
    assert_eq!(
        load(&device).unwrap_err().to_string(),
        "device: configmaps default/n7 is damaged\nsecrets default/s is damaged\n\
         restore a backup, or move the file and `revision` beside it away to start with nothing"
    );
}

#[test]
fn a_missing_object_is_noticed() {
    let device = device();
    let (disk, _) = Disk::open(device.clone(), sealer()).unwrap();
    let Opened::Yes(database) = &disk.database else {
        panic!("just opened");
    };
    let transaction = database.begin_write().unwrap();
    contents::apply(&transaction, &batches(), &sealer(), disk.tally).unwrap();
    contents::spoiling::lose(&transaction, &Key::new("", "configmaps", "default", "n1"));
    transaction.commit().unwrap();
    drop(disk);
    let error = load(&device).unwrap_err().to_string();
    assert!(
        error.contains("12 objects were acknowledged, and 11 are there"),
        "{error}"
    );
}

#[test]
fn a_newer_format_is_refused_with_both_versions() {
    let device = device();
    let (disk, _) = Disk::open(device.clone(), sealer()).unwrap();
    let Opened::Yes(database) = &disk.database else {
        panic!("just opened");
    };
    let transaction = database.begin_write().unwrap();
    contents::spoiling::put_format(&transaction, 2);
    transaction.commit().unwrap();
    drop(disk);
    assert_eq!(
        load(&device).unwrap_err().to_string(),
        "device: written in format 2, and this version reads formats up to 1: \
         run the version that wrote it, or a later one"
    );
}
