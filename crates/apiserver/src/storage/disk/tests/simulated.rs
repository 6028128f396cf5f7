//! A file in memory that loses what was not synced, refuses what it has no space for, and breaks.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use crate::storage::disk::Medium;

/// What a disk writes whole or not at all.
pub(super) const SECTOR: usize = 512;

/// One change to the file that was not synced yet.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// One sector, or a part of one.
    Sector {
        offset: usize,
        data: Vec<u8>,
    },
    Length(usize),
}

#[derive(Debug, Default)]
struct State {
    /// What a reader sees.
    content: Vec<u8>,
    /// What is on the disk for certain.
    synced: Vec<u8>,
    /// What happened since, in order.
    changes: Vec<Change>,
    /// Operations so far: writes, syncs and changes of length.
    operations: usize,
    /// Octets read so far.
    read: usize,
    /// The operation at which the power fails.
    fails_at: Option<usize>,
    failed: bool,
    /// The length that the file cannot grow beyond.
    space: Option<usize>,
    /// The one operation that finds no space, if it needs any.
    cramped_at: Option<usize>,
    /// What syncs fail with.
    broken: Option<io::ErrorKind>,
    /// Revisions acknowledged since the last power loss; any of them may be on the disk.
    acknowledged: Vec<u64>,
}

/// The device; clones are the same device.
#[derive(Clone, Debug, Default)]
pub(super) struct Device(Arc<Mutex<State>>);

/// The one file on it.
#[derive(Debug)]
pub(super) struct File(Device);

impl Device {
    /// A device that holds this and nothing else.
    pub(super) fn holding(content: Vec<u8>) -> Self {
        let device = Self::default();
        device.state().synced.clone_from(&content);
        device.state().content = content;
        device
    }

    pub(super) fn file(&self) -> File {
        File(self.clone())
    }

    pub(super) fn content(&self) -> Vec<u8> {
        self.state().content.clone()
    }

    pub(super) fn operations(&self) -> usize {
        self.state().operations
    }

    /// How many octets were read.
    pub(super) fn octets_read(&self) -> usize {
        self.state().read
    }

    /// Starts counting operations, octets and acknowledgements anew.
    pub(super) fn forget_history(&self) {
        let mut state = self.state();
        (state.operations, state.read) = (0, 0);
        state.acknowledged.clear();
    }

    pub(super) fn lose_power_at(&self, operation: usize) {
        self.state().fails_at = Some(operation);
    }

    pub(super) fn limit_space(&self, space: Option<usize>) {
        self.state().space = space;
    }

    /// Another process takes all space for the moment of one operation.
    pub(super) fn cramp_at(&self, operation: usize) {
        self.state().cramped_at = Some(operation);
    }

    pub(super) fn break_syncs(&self, broken: Option<io::ErrorKind>) {
        self.state().broken = broken;
    }

    /// The changes that the disk may or may not have got to when the power failed.
    pub(super) fn unsynced(&self) -> Vec<Change> {
        self.state().changes.clone()
    }

    /// The device after the power is back, with those of the unsynced changes that `survives` says
    /// and one of the acknowledged revisions, the one at `witness` from the last.
    pub(super) fn after_power_loss(
        &self,
        survives: impl Fn(usize) -> bool,
        witness: usize,
    ) -> Self {
        let state = self.state();
        let mut content = state.synced.clone();
        let survivors = state.changes.iter().enumerate();
        for (_, change) in survivors.filter(|(index, _)| survives(*index)) {
            apply(change, &mut content);
        }
        let device = Self::holding(content);
        let witness = state.acknowledged.iter().rev().nth(witness);
        device.state().acknowledged = witness.copied().into_iter().collect();
        device
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn apply(change: &Change, content: &mut Vec<u8>) {
    match change {
        Change::Sector { offset, data } => {
            let end = offset + data.len();
            if content.len() < end {
                content.resize(end, 0);
            }
            content[*offset..end].copy_from_slice(data);
        }
        Change::Length(length) => content.resize(*length, 0),
    }
}

impl State {
    /// Counts an operation, which does not happen if the power is gone.
    fn operate(&mut self) -> io::Result<()> {
        self.operations += 1;
        self.failed |= self.fails_at.is_some_and(|at| self.operations > at);
        if self.failed {
            return Err(io::Error::other("power lost"));
        }
        Ok(())
    }

    /// Refuses to reach this length if there is no space for it.
    fn take_space(&self, length: usize) -> io::Result<()> {
        let full = self.space.is_some_and(|space| length > space);
        if full || self.cramped_at == Some(self.operations) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn change(&mut self, change: Change) {
        apply(&change, &mut self.content);
        self.changes.push(change);
    }
}

impl StorageBackend for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.state().content.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.0.state();
        state.read += out.len();
        let start = usize::try_from(offset).unwrap();
        let range = start..start.saturating_add(out.len());
        let source = state.content.get(range);
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut state = self.0.state();
        state.operate()?;
        let length = usize::try_from(length).unwrap();
        state.take_space(length)?;
        state.change(Change::Length(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.0.state();
        state.operate()?;
        if let Some(kind) = state.broken {
            return Err(io::Error::new(kind, "medium error"));
        }
        let State {
            synced, changes, ..
        } = &mut *state;
        for change in changes.drain(..) {
            apply(&change, synced);
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.0.state();
        state.operate()?;
        let mut offset = usize::try_from(offset).unwrap();
        state.take_space(offset + data.len())?;
        let mut rest = data;
        while !rest.is_empty() {
            let length = rest.len().min(SECTOR - offset % SECTOR);
            let (sector, tail) = rest.split_at(length);
            let data = sector.to_vec();
            state.change(Change::Sector { offset, data });
            offset += length;
            rest = tail;
        }
        Ok(())
    }
}

impl Medium for Device {
    type Backend = File;

    fn backend(&self) -> io::Result<File> {
        Ok(self.file())
    }

    fn path(&self) -> PathBuf {
        "device".into()
    }

    fn witness(&self) -> PathBuf {
        "witness".into()
    }

    fn acknowledged(&self) -> Option<u64> {
        self.state().acknowledged.last().copied()
    }

    fn acknowledge(&self, revision: u64) {
        self.state().acknowledged.push(revision);
    }
}
