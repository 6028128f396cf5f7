//! What a start costs: how often it reads what is on the disk.

use super::*;

/// A store that is larger than what redb keeps in memory, as a killed process leaves it.
fn killed() -> Device {
    let device = device();
    let (mut disk, _) = Disk::open(device.clone(), sealer()).unwrap();
    let writes = (0..6_000).map(|n| write(1, &format!("n{n}"), 1_500));
    disk.commit(&[batch(1, writes.collect())]).unwrap();
    Device::holding(device.content())
}

/// Once for redb to verify it, once for redb to see which pages are in use, once for us; two times more if what redb has
/// just verified were checked again. A closed store costs as much, but redb's debug build looks at that one once more.
#[test]
fn after_a_kill_everything_is_read_three_times_and_not_five() {
    let device = killed();
    let length = device.content().len();
    let (disk, loaded) = Disk::open(device.clone(), sealer()).unwrap();
    assert_eq!(loaded.objects.len(), 6_000);
    let objects = usize::try_from(disk.tally.bytes).unwrap();
    let read = device.octets_read();
    // Pages are not full: a page is read whole, and no page is longer than what is on it by more than a third.
    assert!(
        read > 3 * objects && read < 9 * objects / 2,
        "{read} octets of {objects} in a file of {length}"
    );
}
