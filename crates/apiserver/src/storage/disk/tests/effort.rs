//! What a start costs: how often it reads what is on the disk.

use super::*;

/// A store of some megabytes, more than redb keeps in memory, closed or as a killed process leaves it.
fn store(closed: bool) -> Device {
    let device = device();
    let (mut disk, _) = Disk::open(device.clone(), sealer()).unwrap();
    let writes = (0..6_000).map(|n| write(1, &format!("n{n}"), 1_500));
    disk.commit(&[batch(1, writes.collect())]).unwrap();
    if closed {
        drop(disk);
    }
    Device::holding(device.content())
}

/// How often each octet of the objects is read by a start, on average.
fn reads(device: &Device) -> f64 {
    let (disk, loaded) = Disk::open(device.clone(), sealer()).unwrap();
    assert_eq!(loaded.objects.len(), 6_000);
    let read = u32::try_from(device.octets_read()).unwrap();
    f64::from(read) / f64::from(u32::try_from(disk.tally.bytes).unwrap())
}

/// Once for redb to verify it, once for redb to see which pages are in use, once for us. Pages are not full, so that it
/// looks like more.
#[test]
fn a_start_reads_everything_three_times_however_the_store_was_left() {
    for closed in [true, false] {
        let reads = reads(&store(closed));
        assert!(reads < 4.5, "closed {closed}: {reads}");
    }
}
