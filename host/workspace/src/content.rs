//! The contents of files in a layer: short ones in memory, others in a folder of the host's own
//! that is not in the workspace, so that no name appears there.

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

use spill::{Counted, Shared, SpilledFile};

/// Up to here a file's contents are in memory, in bytes, while there is room.
const MAX_IN_MEMORY: u64 = 64 * 1024;

const COPIED_AT_ONCE: usize = 256 * 1024;

/// Where contents are kept, and how much.
pub(crate) struct Spill {
    shared: Arc<Shared>,
}

/// A file's contents. A clone shares them until one of the two is written to.
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
    /// Files go to a folder in `place`. All contents together have at most `byte_limit` bytes, of
    /// which at most `memory_limit` are in memory.
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

    /// What a file of the workspace has now. Blocks are shared with it where the file system can.
    pub fn copy_of(&self, file: &File) -> io::Result<Content> {
        let length = file.metadata()?.len();
        let mut content = self.empty();
        if length > MAX_IN_MEMORY {
            self.shared.take(length)?;
            let spilled = self.shared.new_file();
            let mut spilled = spilled.inspect_err(|_| self.shared.give_back(length))?;
            spilled.is_copy = true;
            spilled.length.store(length, Ordering::Relaxed);
            let to = spilled.open()?;
            content.held = Held::File(Arc::new(spilled));
            // Reads as far as the file goes now: it is compared before anything is committed.
            if let Copied::Bytes(copied) = clone_or_copy(file, &to, length)? {
                content.set_len(copied)?;
            }
        } else {
            let mut bytes = vec![0; length as usize];
            let read = read_full(file, &mut bytes, 0)?;
            bytes.truncate(read);
            content.write_at(&bytes, 0)?;
        }
        Ok(content)
    }
}

impl Content {
    pub fn len(&self) -> u64 {
        match &self.held {
            Held::Memory(counted) => counted.bytes.len() as u64,
            Held::File(file) => file.length.load(Ordering::Relaxed),
        }
    }

    /// Reads as much as there is at an offset, up to the buffer's length.
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

    /// Writes all of it, or fails having written nothing.
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

    /// Cuts it, or adds zeros.
    pub fn set_len(&mut self, length: u64) -> io::Result<()> {
        match length == self.len() {
            true => Ok(()),
            false => self.resize(length, Filled::WithZeros),
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
                // Both count the same bytes; those in memory are given back as they go.
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

    /// The contents, of this content alone.
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

    /// Writes all of it to an empty file. Blocks are shared where the file system can.
    pub fn write_to(&self, to: &File) -> io::Result<()> {
        match &self.held {
            Held::Memory(counted) => to.write_all_at(&counted.bytes, 0),
            Held::File(file) => {
                let length = self.len();
                match clone_or_copy(&*file.open()?, to, length)? {
                    Copied::Shared => Ok(()),
                    // What was never written is a hole in both.
                    Copied::Bytes(_) => to.set_len(length),
                }
            }
        }
    }
}

/// What comes to lie where contents grow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filled {
    WithZeros,
    /// What is written next, up to the new end. A file grows by that itself, which costs less than
    /// to have it grow before. A copy of a large file is lengthened all the same: some file systems
    /// set aside as much again for one that grows by itself.
    ByWrite,
}

enum Own<'a> {
    Memory(&'a mut Vec<u8>),
    File(Arc<File>),
}

/// How contents came to another file.
pub(crate) enum Copied {
    /// All of them: both files share their blocks.
    Shared,
    /// So many bytes.
    Bytes(u64),
}

/// Lets an empty file share the blocks of another one. Where the file system can't do that, copies
/// so many bytes, or up to the end where that comes first.
pub(crate) fn clone_or_copy(from: &File, to: &File, length: u64) -> io::Result<Copied> {
    match rustix::fs::ioctl_ficlone(to, from) {
        Ok(()) => Ok(Copied::Shared),
        Err(_) => copy(from, to, length).map(Copied::Bytes),
    }
}

/// Copies so many bytes, or up to the end where that comes first, to an empty file; returns how
/// many. Holes stay holes.
fn copy(from: &File, to: &File, length: u64) -> io::Result<u64> {
    let length = length.min(from.metadata()?.len());
    copy_up_to(from, to, length)?;
    // A hole at the end.
    to.set_len(length)?;
    Ok(length)
}

fn copy_up_to(from: &File, to: &File, length: u64) -> io::Result<()> {
    let mut at = 0;
    while at < length {
        let data = match rustix::fs::seek(from, SeekFrom::Data(at)) {
            Ok(data) => data,
            // There is no more.
            Err(Errno::NXIO) => return Ok(()),
            // The file system knows of no holes.
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
            rustix::fs::copy_file_range(from, Some(&mut read_from), to, Some(&mut write_to), left);
        match copied {
            Ok(0) => return Ok(()),
            Ok(copied) => done += copied as u64,
            Err(Errno::INTR) => {}
            // Between two file systems, or on one that can't.
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

/// Fills the buffer, or as far as the file goes.
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
