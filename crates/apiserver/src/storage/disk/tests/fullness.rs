//! A disk that fills up, and one that breaks.

use super::*;

fn open(device: &Device) -> Disk<Device> {
    Disk::open(device.clone(), sealer()).unwrap().0
}

/// Commits until the disk is full. Gives back what was acknowledged.
fn fill_up(disk: &mut Disk<Device>) -> Vec<Batch> {
    let mut acknowledged = Vec::new();
    for revision in 1..1_000 {
        let batch = batch(
            revision,
            vec![write(revision, &format!("n{revision}"), 30_000)],
        );
        match disk.commit(std::slice::from_ref(&batch)) {
            Ok(()) => acknowledged.push(batch),
            Err(error) => {
                assert_eq!(error, StorageError::Full);
                return acknowledged;
            }
        }
    }
    panic!("the disk was never full");
}

#[test]
fn a_full_disk_refuses_changes_nothing_and_works_again_when_there_is_space() {
    let device = device();
    let mut disk = open(&device);
    device.limit_space(Some(3 << 20));
    let mut acknowledged = fill_up(&mut disk);
    assert!(!acknowledged.is_empty());
    let next = acknowledged.len() as u64 + 1;
    let large = batch(next, vec![write(next, "large", 4 << 20)]);
    for _ in 0..3 {
        let refused = disk.commit(std::slice::from_ref(&large));
        assert_eq!(refused, Err(StorageError::Full));
    }
    assert_eq!(
        load(&Device::holding(device.content())).unwrap(),
        model(&acknowledged)
    );

    device.limit_space(None);
    disk.commit(std::slice::from_ref(&large)).unwrap();
    acknowledged.push(large);
    drop(disk);
    assert_eq!(load(&device).unwrap(), model(&acknowledged));
}

#[test]
fn space_comes_back_by_removing_objects() {
    let device = device();
    let mut disk = open(&device);
    device.limit_space(Some(6 << 20));
    let mut batches = fill_up(&mut disk);
    let filled = batches.len() as u64;
    for n in 1..=filled {
        let revision = filled + n;
        let batch = batch(revision, vec![removal(revision, &format!("n{n}"))]);
        disk.commit(std::slice::from_ref(&batch)).unwrap();
        batches.push(batch);
    }
    let revision = 2 * filled + 1;
    batches.push(batch(revision, vec![write(revision, "again", 30_000)]));
    disk.commit(&batches[batches.len() - 1..]).unwrap();
    drop(disk);
    assert_eq!(load(&device).unwrap(), model(&batches));
}

#[test]
fn all_batches_of_a_refused_commit_are_refused() {
    let device = device();
    let mut disk = open(&device);
    let first = batch(1, vec![write(1, "a", 10)]);
    disk.commit(std::slice::from_ref(&first)).unwrap();
    device.limit_space(Some(device.content().len()));
    let small = batch(2, vec![write(2, "b", 10)]);
    let large = batch(3, vec![write(3, "c", 8 << 20)]);
    assert_eq!(disk.commit(&[small, large]), Err(StorageError::Full));
    drop(disk);
    assert_eq!(load(&device).unwrap(), model(&[first]));
}

/// Space runs out at each operation of a commit in turn, and is there again for the next.
#[test]
fn wherever_space_runs_out_the_answer_is_what_happened() {
    let batches = [
        batch(
            1,
            (0..3)
                .map(|n| write(1, &format!("n{n}"), 300_000))
                .collect(),
        ),
        batch(2, vec![write(2, "n1", 90_000), write(2, "n2", 10)]),
        batch(3, (0..2).map(|n| removal(3, &format!("n{n}"))).collect()),
        batch(4, vec![write(4, "last", 10)]),
    ];
    let (mut refused, mut operation) = (0, 0);
    loop {
        operation += 1;
        let device = device();
        let mut disk = open(&device);
        device.forget_history();
        device.cramp_at(operation);
        let mut acknowledged: Vec<Batch> = Vec::new();
        for batch in &batches {
            match disk.commit(std::slice::from_ref(batch)) {
                Ok(()) => acknowledged.push(batch.clone()),
                Err(StorageError::Full) => refused += 1,
                Err(error) => panic!("operation {operation}: {error}"),
            }
        }
        let finished = device.operations() < operation;
        let left = Device::holding(device.content());
        assert_eq!(
            load(&left).unwrap(),
            model(&acknowledged),
            "operation {operation}"
        );
        if finished {
            break;
        }
    }
    assert!(refused > 10, "{refused} of {operation}");
}

/// redb may fail after its commit took effect. Opened again, the store tells which of the two it is.
#[test]
fn a_store_opened_again_is_what_it_was_or_what_it_was_to_be() {
    let written = batch(1, vec![write(1, "a", 10)]);
    let write_behind_its_back = |disk: &Disk<Device>| {
        let Opened::Yes(database) = &disk.database else {
            panic!("just opened");
        };
        let transaction = database.begin_write().unwrap();
        let batches = std::slice::from_ref(&written);
        let tally = contents::apply(&transaction, batches, &sealer(), disk.tally).unwrap();
        transaction.commit().unwrap();
        tally
    };
    let mut disk = open(&device());
    assert_eq!(disk.reopen(&Tally::nothing_at(9)), Err(StorageError::Full));
    let next = write_behind_its_back(&disk);
    assert_eq!(disk.reopen(&next), Ok(()));

    let mut disk = open(&device());
    write_behind_its_back(&disk);
    let answer = disk.reopen(&Tally::nothing_at(9));
    assert!(matches!(answer, Err(StorageError::Broken(_))), "{answer:?}");
    assert_eq!(disk.commit(std::slice::from_ref(&written)), answer);
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged_any_more() {
    // A sync that fails for want of space is no better: the kernel has forgotten the pages.
    for kind in [io::ErrorKind::Other, io::ErrorKind::StorageFull] {
        check_broken_sync(kind);
    }
}

fn check_broken_sync(kind: io::ErrorKind) {
    let device = device();
    let mut disk = open(&device);
    let first = batch(1, vec![write(1, "a", 10)]);
    disk.commit(std::slice::from_ref(&first)).unwrap();
    device.break_syncs(Some(kind));
    let second = batch(2, vec![write(2, "a", 20)]);
    let broken = disk.commit(std::slice::from_ref(&second)).unwrap_err();
    assert_eq!(
        broken,
        StorageError::Broken("fsync: medium error".to_owned())
    );

    device.break_syncs(None);
    let operations = device.operations();
    assert_eq!(disk.commit(&[second]), Err(broken));
    drop(disk);
    assert_eq!(
        device.operations(),
        operations,
        "a broken disk is left alone"
    );
    let rest = device.after_power_loss(|_| false, 0);
    assert_eq!(load(&rest).unwrap(), model(&[first]));
}

#[test]
fn a_disk_that_is_full_and_breaks_is_broken() {
    let device = device();
    let mut disk = open(&device);
    device.limit_space(Some(device.content().len()));
    device.break_syncs(Some(io::ErrorKind::Other));
    let batch = batch(1, vec![write(1, "a", 8 << 20)]);
    let answer = disk.commit(std::slice::from_ref(&batch));
    assert!(matches!(answer, Err(StorageError::Broken(_))), "{answer:?}");
    device.limit_space(None);
    device.break_syncs(None);
    assert_eq!(disk.commit(&[batch]), answer);
}
