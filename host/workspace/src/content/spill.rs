//! Storage and size limits of contents.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use super::folder::LayerFolder;

/// Number of spilled files that are kept open.
const OPEN_FILES: usize = 16;

pub(super) struct Shared {
    /// The parent folder. The spill folder is created in it when the first file needs it.
    pub place: PathBuf,
    pub memory_limit: u64,
    pub byte_limit: u64,
    pub in_memory: AtomicU64,
    pub bytes: AtomicU64,
    pub files: Mutex<Files>,
}

#[derive(Default)]
pub(super) struct Files {
    folder: Option<LayerFolder>,
    next: u64,
    /// The open files; the most recently used one is last.
    open: Vec<(u64, Arc<File>)>,
}

/// Bytes in memory, counted against the layer's memory limit.
pub(super) struct Counted {
    pub bytes: Vec<u8>,
    shared: Arc<Shared>,
}

/// A file that is removed with the last content that uses it.
pub(super) struct SpilledFile {
    number: u64,
    /// True if it started as a copy of another file.
    pub is_copy: bool,
    pub length: AtomicU64,
    shared: Arc<Shared>,
}

impl Shared {
    /// Counts more bytes; fails if the limit is exceeded.
    pub fn take(&self, bytes: u64) -> io::Result<()> {
        let taken = self
            .bytes
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
                let after = now.checked_add(bytes)?;
                (after <= self.byte_limit).then_some(after)
            });
        taken.map(|_| ()).map_err(|_| Errno::DQUOT.into())
    }

    pub fn give_back(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub fn new_file(self: &Arc<Self>) -> io::Result<SpilledFile> {
        let mut files = self.files();
        if files.folder.is_none() {
            files.folder = Some(LayerFolder::make(&self.place)?);
        }
        files.next += 1;
        let number = files.next;
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(files.path(number))?;
        files.keep_open(number, Arc::new(file));
        Ok(SpilledFile {
            number,
            is_copy: false,
            length: AtomicU64::new(0),
            shared: Arc::clone(self),
        })
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    fn path(&self, number: u64) -> PathBuf {
        let folder = self
            .folder
            .as_ref()
            .map_or(Path::new(""), LayerFolder::path);
        folder.join(number.to_string())
    }

    fn keep_open(&mut self, number: u64, file: Arc<File>) {
        if self.open.len() == OPEN_FILES {
            self.open.remove(0);
        }
        self.open.push((number, file));
    }
}

impl SpilledFile {
    pub fn open(&self) -> io::Result<Arc<File>> {
        let mut files = self.shared.files();
        let known = files
            .open
            .iter()
            .position(|(number, _)| *number == self.number);
        let file = match known {
            Some(at) => files.open.remove(at).1,
            None => {
                let path = files.path(self.number);
                Arc::new(File::options().read(true).write(true).open(path)?)
            }
        };
        files.keep_open(self.number, Arc::clone(&file));
        Ok(file)
    }
}

impl Drop for SpilledFile {
    fn drop(&mut self) {
        self.shared.give_back(self.length.load(Ordering::Relaxed));
        let mut files = self.shared.files();
        files.open.retain(|(number, _)| *number != self.number);
        let path = files.path(self.number);
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!("could not remove {}: {error}", path.display());
        }
    }
}

impl Counted {
    pub fn new(bytes: Vec<u8>, shared: &Arc<Shared>) -> Self {
        shared
            .in_memory
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Self {
            bytes,
            shared: Arc::clone(shared),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let bytes = self.bytes.len() as u64;
        self.shared.in_memory.fetch_sub(bytes, Ordering::Relaxed);
        self.shared.give_back(bytes);
    }
}
