//! One object as bytes on the disk.
//!
//! ```text
//! key     four times: length (4 bytes, little endian), text     group, plural, namespace, name
//! value   checksum (16), revision (8, little endian), payload
//! ```
//!
//! The checksum is BLAKE3 over key, revision and payload: a value that was moved to another key, or
//! mixed from two writes, does not verify, nor does one with a flipped bit. The database below has
//! checksums of its own, but looks at them only after a crash.

use std::sync::Arc;

use crate::key::{Key, Kind, Place};

const CHECKSUM: usize = 16;
const REVISION: usize = 8;

/// The key's bytes. Each part carries its length, so that no two keys share their bytes whatever
/// characters are in the names.
pub(super) fn encode_key(key: &Key) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in [
        &key.kind.group,
        &key.kind.plural,
        &key.place.namespace,
        &key.place.name,
    ] {
        let length = u32::try_from(part.len()).expect("requests are limited to some megabytes");
        bytes.extend(length.to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    bytes
}

/// The key, or nothing if the bytes are none. Parts equal to those of `previous` share its memory.
pub(super) fn decode_key(bytes: &[u8], previous: Option<&Key>) -> Option<Key> {
    let mut rest = bytes;
    let mut part = |previous: Option<&Arc<str>>| {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (text, tail) = tail.split_at_checked(length)?;
        rest = tail;
        let text = str::from_utf8(text).ok()?;
        Some(match previous {
            Some(same) if **same == *text => Arc::clone(same),
            Some(_) | None => text.into(),
        })
    };
    let key = Key {
        kind: Kind {
            group: part(previous.map(|key| &key.kind.group))?,
            plural: part(previous.map(|key| &key.kind.plural))?,
        },
        place: Place {
            namespace: part(previous.map(|key| &key.place.namespace))?,
            name: part(None)?,
        },
    };
    rest.is_empty().then_some(key)
}

/// The value's bytes: payload and revision under a checksum that the key takes part in.
pub(super) fn encode(key: &[u8], revision: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(CHECKSUM + REVISION + payload.len());
    bytes.extend(checksum(key, revision, payload));
    bytes.extend(revision.to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Revision and payload, or nothing if they are not what was written under this key.
pub(super) fn decode<'a>(key: &[u8], value: &'a [u8]) -> Option<(u64, &'a [u8])> {
    let (stored, rest) = value.split_first_chunk::<CHECKSUM>()?;
    let (revision, payload) = rest.split_first_chunk::<REVISION>()?;
    let revision = u64::from_le_bytes(*revision);
    (*stored == checksum(key, revision, payload)).then_some((revision, payload))
}

/// The checksum that a value carries, unverified; zero if it is too short to carry one.
pub(super) fn stored_checksum(value: &[u8]) -> u128 {
    value
        .first_chunk::<CHECKSUM>()
        .map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

fn checksum(key: &[u8], revision: u64, payload: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key);
    hasher.update(&revision.to_le_bytes());
    hasher.update(payload);
    let mut checksum = [0; CHECKSUM];
    hasher.finalize_xof().fill(&mut checksum);
    checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_whatever_is_in_them() {
        for key in [
            Key::new("", "secrets", "default", "a"),
            Key::new("", "namespaces", "", "default"),
            Key::new("rbac.authorization.k8s.io", "clusterroles", "", "a\0b:ü"),
            Key::new("", "", "", ""),
        ] {
            assert_eq!(decode_key(&encode_key(&key), None), Some(key.clone()));
            assert_eq!(decode_key(&encode_key(&key), Some(&key)), Some(key));
        }
    }

    #[test]
    fn keys_that_join_to_the_same_text_stay_apart() {
        let left = encode_key(&Key::new("", "ab", "c", "d"));
        let right = encode_key(&Key::new("", "a", "bc", "d"));
        assert_ne!(left, right);
    }

    #[test]
    fn cut_or_longer_bytes_are_no_key() {
        let bytes = encode_key(&Key::new("g", "secrets", "default", "a"));
        for length in 0..bytes.len() {
            assert_eq!(decode_key(&bytes[..length], None), None, "{length} bytes");
        }
        assert_eq!(decode_key(&[&bytes[..], b"x"].concat(), None), None);
    }

    #[test]
    fn every_flipped_bit_of_a_value_is_noticed() {
        let value = encode(b"key", 7, b"payload");
        assert_eq!(decode(b"key", &value), Some((7, &b"payload"[..])));
        for bit in 0..value.len() * 8 {
            let mut flipped = value.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(b"key", &flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn a_value_under_another_key_or_cut_does_not_verify() {
        let value = encode(b"key", 7, b"payload");
        assert_eq!(decode(b"kez", &value), None);
        for length in 0..value.len() {
            assert_eq!(decode(b"key", &value[..length]), None, "{length} bytes");
        }
    }
}
