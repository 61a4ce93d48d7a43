//! Tracks the size of a scratch directory.
//!
//! Files count with their apparent size, even without allocated blocks, and each entry has an
//! additional cost. Otherwise empty files and holes would be free. Adding up the size would take a
//! walk through the directory, but only the guest changes it, so every change can be tracked here.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_primitives::fs::Metadata;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Cost of each directory entry in addition to its contents, in bytes.
pub(super) const ENTRY_BYTES: u64 = 4096;

/// The size of a directory. It lives as long as the directory, across the instances that write
/// there.
#[derive(Debug, Default)]
pub(crate) struct Usage(Mutex<Used>);

#[derive(Debug, Default)]
struct Used {
    bytes: u64,
    /// The open files.
    open: HashMap<FileId, OpenFile>,
}

/// Identifies a file in the directory: its device and inode.
pub(super) type FileId = (u64, u64);

#[derive(Debug)]
struct OpenFile {
    /// The size that is counted.
    bytes: u64,
    handles: usize,
    /// True if the file has no name any more. It is deleted with its last handle.
    unlinked: bool,
}

/// A directory's usage, and its maximum size.
#[derive(Debug, Clone)]
pub(super) struct Quota {
    usage: Arc<Usage>,
    limit: u64,
}

/// An open file; all writes to it are counted.
#[derive(Debug)]
pub(super) struct Counted {
    quota: Quota,
    id: FileId,
}

/// A named entry in the directory, as it was found there.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundEntry {
    pub id: FileId,
    bytes: u64,
}

impl FoundEntry {
    pub fn of(metadata: &Metadata) -> Self {
        let contents = if metadata.is_dir() {
            // The size that a directory reports is not the guest's choice.
            0
        } else {
            metadata.len()
        };
        Self {
            id: id_of(metadata),
            bytes: contents,
        }
    }
}

#[cfg(unix)]
fn id_of(metadata: &Metadata) -> FileId {
    use cap_primitives::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Returns a new id for each opening, so a file that is opened twice counts twice while it grows.
#[cfg(not(unix))]
fn id_of(_: &Metadata) -> FileId {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    (0, NEXT.fetch_add(1, Ordering::Relaxed))
}

impl Usage {
    /// Returns whether the directory has any entry.
    pub fn is_any(&self) -> bool {
        self.lock().bytes > 0
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Quota {
    pub fn new(usage: &Arc<Usage>, limit: u64) -> Self {
        Self {
            usage: Arc::clone(usage),
            limit,
        }
    }

    /// Counts a new entry, and its initial bytes.
    pub fn add_entry(&self, bytes: u64) -> Result<(), ErrorCode> {
        self.lock().add(entry(bytes), self.limit)
    }

    /// Takes back an entry that was not created.
    pub fn give_back_entry(&self, bytes: u64) {
        self.lock().give_back(entry(bytes));
    }

    /// Notes that an entry was removed, or replaced by another one.
    pub fn removed(&self, named: FoundEntry) {
        let mut used = self.lock();
        match used.open.get_mut(&named.id) {
            Some(open) => open.unlinked = true,
            None => used.give_back(entry(named.bytes)),
        }
    }

    /// Notes that a file was opened. `bytes` is its size before, as counted; it is ignored if the
    /// file was already open.
    pub fn opened(&self, id: FileId, bytes: u64) -> Counted {
        let mut used = self.lock();
        let open = used.open.entry(id).or_insert(OpenFile {
            bytes,
            handles: 0,
            unlinked: false,
        });
        open.handles += 1;
        Counted {
            quota: self.clone(),
            id,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.usage.lock()
    }
}

fn entry(bytes: u64) -> u64 {
    bytes.saturating_add(ENTRY_BYTES)
}

impl Used {
    fn add(&mut self, bytes: u64, limit: u64) -> Result<(), ErrorCode> {
        let sum = self.bytes.checked_add(bytes);
        self.bytes = sum.filter(|sum| *sum <= limit).ok_or(ErrorCode::Quota)?;
        Ok(())
    }

    fn give_back(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

impl Counted {
    /// Counts a write that ends at this offset, before it happens. Returns the previous size.
    pub fn grow(&self, end: u64) -> Result<u64, ErrorCode> {
        self.resize(|bytes| bytes.max(end))
    }

    /// Counts bytes to append, before the write. Returns the previous size.
    pub fn append(&self, count: u64) -> Result<u64, ErrorCode> {
        self.resize(|bytes| bytes.saturating_add(count))
    }

    /// Notes the file's actual size.
    pub fn has(&self, bytes: u64) {
        // It can't fail without a limit.
        let mut used = self.quota.lock();
        let _ = used.resize(self.id, u64::MAX, |_| bytes);
    }

    fn resize(&self, size: impl FnOnce(u64) -> u64) -> Result<u64, ErrorCode> {
        self.quota.lock().resize(self.id, self.quota.limit, size)
    }
}

impl Used {
    fn resize(
        &mut self,
        id: FileId,
        limit: u64,
        size: impl FnOnce(u64) -> u64,
    ) -> Result<u64, ErrorCode> {
        let Some(before) = self.open.get(&id).map(|open| open.bytes) else {
            return Ok(0);
        };
        let after = size(before);
        match after.checked_sub(before) {
            Some(more) => self.add(more, limit)?,
            None => self.give_back(before - after),
        }
        if let Some(open) = self.open.get_mut(&id) {
            open.bytes = after;
        }
        Ok(before)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut used = self.quota.lock();
        let Entry::Occupied(mut open) = used.open.entry(self.id) else {
            return;
        };
        open.get_mut().handles -= 1;
        if open.get().handles == 0 {
            let gone = open.remove();
            if gone.unlinked {
                used.give_back(entry(gone.bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = (1, 2);

    fn quota(limit: u64) -> Quota {
        Quota::new(&Arc::default(), limit)
    }

    fn used(quota: &Quota) -> u64 {
        quota.lock().bytes
    }

    fn file_entry(bytes: u64) -> FoundEntry {
        FoundEntry { id: FILE, bytes }
    }

    #[test]
    fn a_file_counts_with_the_size_that_it_shows_and_its_entry() {
        let quota = quota(ENTRY_BYTES + 1000);
        quota.add_entry(0).unwrap();
        let file = quota.opened(FILE, 0);
        assert_eq!(file.grow(600).unwrap(), 0);
        // Overwritten.
        assert_eq!(file.grow(100).unwrap(), 600);
        assert_eq!(file.append(400).unwrap(), 600);
        assert!(file.append(1).is_err());
        assert!(file.grow(8 << 40).is_err());
        assert!(file.grow(u64::MAX).is_err());
        file.has(10);
        assert_eq!(used(&quota), ENTRY_BYTES + 10);
        assert!(quota.add_entry(0).is_err());
        drop(file);
        quota.removed(file_entry(10));
        assert_eq!(used(&quota), 0);
    }

    #[test]
    fn what_is_removed_while_it_is_open_counts_until_it_is_closed() {
        let quota = quota(10_000);
        quota.add_entry(0).unwrap();
        let (one, other) = (quota.opened(FILE, 0), quota.opened(FILE, 0));
        one.grow(100).unwrap();
        quota.removed(file_entry(100));
        other.append(100).unwrap();
        drop(one);
        assert_eq!(used(&quota), ENTRY_BYTES + 200);
        drop(other);
        assert_eq!(used(&quota), 0);
    }
}
