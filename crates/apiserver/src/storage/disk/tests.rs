//! The store on a disk that loses power, decays, fills up and breaks.
//!
//! All of it runs on [`simulated::Device`], which is a file in memory with the habits of a real one.

mod decay;
mod effort;
mod fullness;
mod power_loss;
mod simulated;

use bytes::Bytes;

use super::*;
use crate::key::Key;
use crate::storage::Write;

use simulated::Device;

/// A key that stays the same, so that runs can be compared.
fn sealer() -> Sealer {
    Sealer::from_text("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=").unwrap()
}

/// An empty store on a new device.
fn device() -> Device {
    let device = Device::default();
    fill(device.file(), &Loaded::default(), &sealer()).unwrap();
    device.forget_history();
    device
}

fn write(revision: u64, name: &str, length: usize) -> Write {
    let filler = char::from(b'a' + u8::try_from(revision % 26).unwrap());
    let value = format!("{revision}:{}", String::from(filler).repeat(length));
    Write {
        key: Key::new("", "configmaps", "default", name),
        revision,
        value: Some(Bytes::from(value)),
    }
}

fn removal(revision: u64, name: &str) -> Write {
    Write {
        value: None,
        ..write(revision, name, 0)
    }
}

fn batch(revision: u64, writes: Vec<Write>) -> Batch {
    Batch { revision, writes }
}

/// What the store holds after batches, worked out without it.
fn model(batches: &[Batch]) -> Loaded {
    let mut objects = std::collections::BTreeMap::new();
    for write in batches.iter().flat_map(|batch| &batch.writes) {
        match &write.value {
            Some(value) => objects.insert(write.key.clone(), (write.revision, value.clone())),
            None => objects.remove(&write.key),
        };
    }
    let objects = objects.into_iter();
    Loaded {
        revision: batches.last().map_or(0, |batch| batch.revision),
        objects: objects
            .map(|(key, (revision, value))| (key, revision, value))
            .collect(),
    }
}

fn load(device: &Device) -> Result<Loaded, OpenError> {
    Disk::open(device.clone(), sealer()).map(|(_, loaded)| loaded)
}
