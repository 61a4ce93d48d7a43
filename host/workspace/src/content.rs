//! The contents of files in a layer. Small ones are in memory, the others in a separate folder of
//! the host outside of the workspace, so that no names appear in the workspace.

mod folder;
mod spill;

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::SeekFrom;
use rustix::io::Errno;

use crate::system;
use spill::{Counted, Shared, SpilledFile};

/// Maximum size of a file's contents in memory, in bytes, while there is room.
const MAX_IN_MEMORY: u64 = 64 * 1024;

const COPIED_AT_ONCE: usize = 256 * 1024;

/// The storage of contents, with its limits.
pub(crate) struct Spill {
    shared: Arc<Shared>,
}

/// A file's contents. Clones share them until one of the two is written to.
#[derive(Clone)]
pub(crate) struct Content {
    held: Held,
    shared: Arc<Shared>,
}

#[derive(Clone)]
enum Held {
    Memory(Arc<Counted>),
    File(Arc<SpilledFile>),
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.len())
    }
}

impl Spill {
    /// Creates the storage, with a folder in `place`. All contents together have at most
    /// `byte_limit` bytes, of which up to `memory_limit` are in memory.
    pub fn new(place: &Path, memory_limit: u64, byte_limit: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                place: place.to_owned(),
                memory_limit,
                byte_limit,
                in_memory: AtomicU64::new(0),
                bytes: AtomicU64::new(0),
                files: Default::default(),
            }),
        }
    }

    pub fn empty(&self) -> Content {
        Content {
            held: Held::Memory(Arc::new(Counted::new(Vec::new(), &self.shared))),
            shared: Arc::clone(&self.shared),
        }
    }

    /// Returns these contents.
    pub fn of(&self, bytes: &[u8]) -> io::Result<Content> {
        let mut content = self.empty();
        content.write_at(bytes, 0)?;
        Ok(content)
    }

    /// Copies the current contents of a file in the workspace. The copy shares blocks with the
    /// file if the file system supports it.
    pub fn copy_of(&self, file: &File) -> io::Result<Content> {
        let length = file.metadata()?.len();
        if length > MAX_IN_MEMORY {
            let mut content = self.empty();
            self.shared.take(length)?;
            let spilled = self.shared.new_file();
            let mut spilled = spilled.inspect_err(|_| self.shared.give_back(length))?;
            spilled.is_copy = true;
            spilled.length.store(length, Ordering::Relaxed);
            let to = spilled.open()?;
            content.held = Held::File(Arc::new(spilled));
            // Copies up to the current end of the file. The commit compares the contents first.
            if let Copied::Bytes(copied) = clone_or_copy(file, &to, length)? {
                content.set_len(copied)?;
            }
            Ok(content)
        } else {
            let mut bytes = vec![0; length as usize];
            let read = read_full(file, &mut bytes, 0)?;
            self.of(&bytes[..read])
        }
    }
}

impl Content {
    pub fn len(&self) -> u64 {
        match &self.held {
            Held::Memory(counted) => counted.bytes.len() as u64,
            Held::File(file) => file.length.load(Ordering::Relaxed),
        }
    }

    /// Reads from an offset, up to the buffer's length or the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.held {
            Held::Memory(counted) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let rest = counted.bytes.get(from..).unwrap_or_default();
                let length = rest.len().min(buffer.len());
                buffer[..length].copy_from_slice(&rest[..length]);
                Ok(length)
            }
            Held::File(file) => read_full(&*file.open()?, buffer, offset),
        }
    }

    /// Writes all bytes. If it fails, nothing was written.
    pub fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(bytes.len() as u64).ok_or(Errno::FBIG)?;
        let length = self.len();
        if end > length {
            self.resize(end, Filled::ByWrite)?;
        }
        let written = match self.own()? {
            Own::Memory(own) => {
                own[offset as usize..end as usize].copy_from_slice(bytes);
                Ok(())
            }
            Own::File(file) => file.write_all_at(bytes, offset),
        };
        if written.is_err() && end > length {
            self.resize(length, Filled::WithZeros)?;
        }
        written
    }

    /// Truncates the contents, or extends them with zeros.
    pub fn set_len(&mut self, length: u64) -> io::Result<()> {
        if length == self.len() {
            Ok(())
        } else {
            self.resize(length, Filled::WithZeros)
        }
    }

    fn resize(&mut self, length: u64, filled: Filled) -> io::Result<()> {
        let before = self.len();
        let more = length.saturating_sub(before);
        self.shared.take(more)?;
        let resized = self.resize_counted(length, filled);
        match resized {
            Ok(()) => self.shared.give_back(before.saturating_sub(length)),
            Err(_) => self.shared.give_back(more),
        }
        resized
    }

    fn resize_counted(&mut self, length: u64, filled: Filled) -> io::Result<()> {
        let more = length.saturating_sub(self.len());
        if let Held::Memory(counted) = &self.held {
            let in_memory = self.shared.in_memory.load(Ordering::Relaxed);
            if length > MAX_IN_MEMORY || in_memory + more > self.shared.memory_limit {
                let spilled = self.shared.new_file()?;
                spilled.open()?.write_all_at(&counted.bytes, 0)?;
                // Both count the same bytes. The ones in memory are released when they are
                // dropped.
                let bytes = counted.bytes.len() as u64;
                self.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
                spilled.length.store(bytes, Ordering::Relaxed);
                self.held = Held::File(Arc::new(spilled));
            }
        }
        match self.own()? {
            Own::Memory(bytes) => {
                let before = bytes.len() as u64;
                bytes.resize(length as usize, 0);
                let counter = &self.shared.in_memory;
                counter.fetch_add(length.wrapping_sub(before), Ordering::Relaxed);
            }
            Own::File(file) => {
                if let Held::File(spilled) = &self.held {
                    if filled == Filled::WithZeros || spilled.is_copy {
                        file.set_len(length)?;
                    }
                    spilled.length.store(length, Ordering::Relaxed);
                }
            }
        }
        Ok(())
    }

    /// Returns contents that are not shared with a clone.
    fn own(&mut self) -> io::Result<Own<'_>> {
        match &mut self.held {
            Held::Memory(counted) => {
                if Arc::get_mut(counted).is_none() {
                    self.shared.take(counted.bytes.len() as u64)?;
                    *counted = Arc::new(Counted::new(counted.bytes.clone(), &self.shared));
                }
                let counted = Arc::get_mut(counted);
                Ok(Own::Memory(
                    &mut counted
                        .expect("it has just been made this content's own")
                        .bytes,
                ))
            }
            Held::File(file) => {
                if Arc::get_mut(file).is_none() {
                    let length = file.length.load(Ordering::Relaxed);
                    self.shared.take(length)?;
                    let copied = self.shared.new_file();
                    let mut copied = copied.inspect_err(|_| self.shared.give_back(length))?;
                    copied.is_copy = true;
                    copied.length.store(length, Ordering::Relaxed);
                    clone_or_copy(&*file.open()?, &*copied.open()?, length)?;
                    *file = Arc::new(copied);
                }
                Ok(Own::File(file.open()?))
            }
        }
    }

    /// Writes the contents to an empty file. Shares blocks if the file system supports it.
    pub fn write_to(&self, to: &File) -> io::Result<()> {
        match &self.held {
            Held::Memory(counted) => to.write_all_at(&counted.bytes, 0),
            Held::File(file) => {
                let length = self.len();
                match clone_or_copy(&*file.open()?, to, length)? {
                    Copied::Shared => Ok(()),
                    // Ranges that were never written are holes in both.
                    Copied::Bytes(_) => to.set_len(length),
                }
            }
        }
    }
}

/// The way in which the added range of growing contents is filled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filled {
    WithZeros,
    /// The next write fills the range, up to the new end. It extends the file itself, which is
    /// faster than extending it first. The copy of a large file is extended first anyway, because
    /// some file systems reserve as much space again for a file that grows by writes.
    ByWrite,
}

enum Own<'a> {
    Memory(&'a mut Vec<u8>),
    File(Arc<File>),
}

/// The result of copying contents to another file.
pub(crate) enum Copied {
    /// Shared: both files use the same blocks.
    Shared,
    /// Copied, with the number of bytes.
    Bytes(u64),
}

/// Makes an empty file share the blocks of another one. If the file system can't do that, copies
/// `length` bytes, or up to the end of the file if that is earlier.
pub(crate) fn clone_or_copy(from: &File, to: &File, length: u64) -> io::Result<Copied> {
    match system::ioctl_ficlone(to, from) {
        Ok(()) => Ok(Copied::Shared),
        Err(_) => copy(from, to, length).map(Copied::Bytes),
    }
}

/// Copies `length` bytes, or up to the end of the file if that is earlier, to an empty file. Keeps
/// holes. Returns the number of bytes.
fn copy(from: &File, to: &File, length: u64) -> io::Result<u64> {
    let length = length.min(from.metadata()?.len());
    copy_up_to(from, to, length)?;
    // The file ends with a hole.
    to.set_len(length)?;
    Ok(length)
}

fn copy_up_to(from: &File, to: &File, length: u64) -> io::Result<()> {
    let mut at = 0;
    while at < length {
        let data = match rustix::fs::seek(from, SeekFrom::Data(at)) {
            Ok(data) => data,
            // There are no more data.
            Err(Errno::NXIO) => return Ok(()),
            // The file system does not support holes.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return copy_data(from, to, at..length),
            Err(error) => return Err(error.into()),
        };
        let hole = rustix::fs::seek(from, SeekFrom::Hole(data))?.min(length);
        copy_data(from, to, data..hole)?;
        at = hole.max(data.saturating_add(1));
    }
    Ok(())
}

fn copy_data(from: &File, to: &File, range: Range<u64>) -> io::Result<()> {
    let mut done = range.start;
    while done < range.end {
        let (mut read_from, mut write_to) = (done, done);
        let left = usize::try_from(range.end - done).unwrap_or(usize::MAX);
        let copied =
            system::copy_file_range(from, Some(&mut read_from), to, Some(&mut write_to), left);
        match copied {
            Ok(0) => return Ok(()),
            Ok(copied) => done += copied as u64,
            Err(Errno::INTR) => {}
            // The files are on two file systems, or on one without support.
            Err(Errno::XDEV | Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                let mut buffer = vec![0; COPIED_AT_ONCE.min(left)];
                let read = read_full(from, &mut buffer, done)?;
                if read == 0 {
                    return Ok(());
                }
                to.write_all_at(&buffer[..read], done)?;
                done += read as u64;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Fills the buffer, or reads up to the end of the file.
pub(crate) fn read_full(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
