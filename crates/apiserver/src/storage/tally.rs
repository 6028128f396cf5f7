//! What all objects on the disk add up to.
//!
//! A checksum beside each value tells that the value is damaged, not that it is missing. So every
//! commit also writes how many objects there are and the sum of their checksums. Adding and
//! removing one costs the same however many there are. Damage is chance, not an adversary: a plain
//! sum of 128 bits is enough.

/// Revision, number, size and sum of the checksums of all objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The store's revision.
    pub(super) revision: u64,
    /// How many objects there are.
    pub(super) objects: u64,
    /// The length of their keys and values: the live data, which the file is compared with.
    pub(super) bytes: u64,
    sum: u128,
}

const LENGTH: usize = 3 * size_of::<u64>() + size_of::<u128>();

impl Tally {
    /// No objects at a revision.
    pub(super) fn nothing_at(revision: u64) -> Self {
        Self {
            revision,
            ..Self::default()
        }
    }

    /// Counts an object in, by the length of its key and value and the value's checksum.
    pub(super) fn add(&mut self, length: usize, checksum: u128) {
        self.objects = self.objects.wrapping_add(1);
        self.bytes = self.bytes.wrapping_add(length as u64);
        self.sum = self.sum.wrapping_add(checksum);
    }

    /// Counts an object out again.
    pub(super) fn subtract(&mut self, length: usize, checksum: u128) {
        self.objects = self.objects.wrapping_sub(1);
        self.bytes = self.bytes.wrapping_sub(length as u64);
        self.sum = self.sum.wrapping_sub(checksum);
    }

    pub(super) fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&self.revision.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.objects.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[24..].copy_from_slice(&self.sum.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (revision, rest) = bytes.split_first_chunk()?;
        let (objects, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        Some(Self {
            revision: u64::from_le_bytes(*revision),
            objects: u64::from_le_bytes(*objects),
            bytes: u64::from_le_bytes(*length),
            sum: u128::from_le_bytes(rest.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_changes_does_not_matter_but_their_content_does() {
        let mut one = Tally::default();
        one.add(10, 1);
        one.add(20, u128::MAX);
        one.subtract(10, 1);
        let mut other = Tally::default();
        other.add(20, u128::MAX);
        assert_eq!(one, other);
        other.subtract(20, u128::MAX);
        other.add(20, 5);
        assert_ne!(one, other);
    }

    #[test]
    fn all_fields_come_back_from_bytes() {
        let tally = Tally {
            revision: 1,
            objects: 2,
            bytes: 3,
            sum: u128::MAX - 4,
        };
        assert_eq!(Tally::from_bytes(&tally.to_bytes()), Some(tally));
        assert_eq!(Tally::from_bytes(&tally.to_bytes()[1..]), None);
    }
}
