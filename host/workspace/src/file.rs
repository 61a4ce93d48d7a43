//! An open file of a view.

use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustix::io::Errno;

use crate::answer::Metadata;
use crate::bounds::Access;
use crate::content::Content;
use crate::lower::Stamp;
use crate::tree::{At, Body, NodeId};
use crate::view::{Held, State, open_lower};

/// An open regular file.
///
/// It shows the file's contents in the view, including later writes through other handles. It
/// keeps working when the file is moved or removed.
pub struct OpenFile {
    pub(crate) held: Held,
    /// The real file, with the generation of the view in which it was opened.
    real: Mutex<Option<(u64, Arc<File>)>>,
    /// The generation of the view in which the file can be written to.
    writable_in: Option<u64>,
}

impl OpenFile {
    pub(crate) fn to_write(held: Held) -> Self {
        let generation = held.view.generation.load(Ordering::Acquire);
        Self {
            held,
            real: Mutex::new(None),
            writable_in: Some(generation),
        }
    }

    /// Opens a file for reading. `real` is the real file, if it is already open.
    pub(crate) fn to_read(
        through: &Held,
        state: &mut State,
        at: &At,
        real: Option<File>,
    ) -> io::Result<Self> {
        let view = &through.view;
        state.reads.read(&state.tree, at);
        let file = match (real, state.real_path(at)) {
            (Some(file), _) => Some(Arc::new(file)),
            (None, Some(path)) => Some(open_lower(&view.lower, &path)?),
            (None, None) => None,
        };
        let generation = view.generation.load(Ordering::Acquire);
        let real = file.map(|file| (generation, file));
        Ok(Self {
            held: through.hold(state, at),
            real: Mutex::new(real),
            writable_in: None,
        })
    }

    /// Returns another handle to the same file. It is writable as long as this one is.
    ///
    /// # Errors
    /// If the file is gone.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            held: self.held.another()?,
            real: Mutex::new(self.real().clone()),
            writable_in: self.writable_in,
        })
    }

    /// Reads from an offset into the buffer. Reads fewer bytes than the buffer's length only at
    /// the end of the file.
    ///
    /// # Errors
    /// System errors.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.contents()? {
            Contents::Real(file) => crate::content::read_full(&file, buffer, offset),
            Contents::Own(content) => content.read_at(buffer, offset),
        }
    }

    /// Writes all bytes at an offset.
    ///
    /// # Errors
    /// System errors; `EBADF` if the file was not opened for writing, and `EROFS` if its layer has
    /// ended.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if bytes.is_empty() {
            Ok(())
        } else {
            self.change(|content| content.write_at(bytes, offset))
        }
    }

    /// Appends all bytes and returns the offset at which they start.
    ///
    /// # Errors
    /// See [`write_at`](Self::write_at).
    pub fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        self.change(|content| {
            let end = content.len();
            content.write_at(bytes, end).map(|()| end)
        })
    }

    /// Truncates the file, or extends it with zeros.
    ///
    /// # Errors
    /// See [`write_at`](Self::write_at).
    pub fn set_len(&self, length: u64) -> io::Result<()> {
        match self.writable_in {
            // The system returns this error too.
            None => Err(Errno::INVAL.into()),
            Some(_) => self.change(|content| content.set_len(length)),
        }
    }

    /// Returns the file's metadata.
    ///
    /// # Errors
    /// System errors.
    pub fn metadata(&self) -> io::Result<Metadata> {
        let state = self.held.view.state();
        let at = state.at(&self.held)?;
        let generation = self.held.view.generation.load(Ordering::Acquire);
        match &*self.real() {
            // `fstat` is faster than a lookup by path, and is always about the same file.
            Some((opened_in, file)) if *opened_in == generation => {
                let now = Stamp::of(&rustix::fs::fstat(file)?);
                Ok(Metadata::known(&state, &at, Some(now)))
            }
            _ => Metadata::of(&state, &self.held.view.lower, &at),
        }
    }

    /// Sets the file's times, like [`Directory::set_times_at`](crate::Directory::set_times_at).
    ///
    /// # Errors
    /// System errors.
    pub fn set_times(
        &self,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>,
    ) -> io::Result<()> {
        let mut state = self.held.view.state();
        let at = state.at(&self.held)?;
        self.held.check(&state, Access::Change, &at)?;
        let id = state.own(&self.held.view, &at)?;
        state.set_times(id, accessed, modified);
        Ok(())
    }

    /// Returns whether the file was opened for writing and its layer is still open.
    pub fn is_writable(&self) -> bool {
        self.check_writable().is_ok()
    }

    /// Returns whether both handles refer to the same file.
    pub fn is_same_object(&self, other: &Self) -> bool {
        crate::directory::same_object(&self.held, &other.held)
    }

    fn real(&self) -> std::sync::MutexGuard<'_, Option<(u64, Arc<File>)>> {
        self.real.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contents(&self) -> io::Result<Contents> {
        let view = &self.held.view;
        let generation = view.generation.load(Ordering::Acquire);
        let known = self.real().clone();
        if let Some((opened_in, file)) = &known
            && *opened_in == generation
            && !view.is_touched()
        {
            return Ok(Contents::Real(Arc::clone(file)));
        }
        let state = view.state();
        let at = match (state.at(&self.held), known) {
            (Ok(at), _) => at,
            // A commit removed the file; open handles stay usable.
            (Err(_), Some((_, file))) => return Ok(Contents::Real(file)),
            (Err(error), None) => return Err(error),
        };
        if let At::Node(id) = &at
            && let Body::File(Some(content)) = &state.tree.node(*id).body
        {
            return Ok(Contents::Own(content.clone()));
        }
        let mut real = self.real();
        if let Some((opened_in, file)) = &*real
            && *opened_in == generation
        {
            return Ok(Contents::Real(Arc::clone(file)));
        }
        let path = state.real_path(&at).ok_or(Errno::BADF)?;
        let file = open_lower(&view.lower, &path)?;
        *real = Some((generation, Arc::clone(&file)));
        Ok(Contents::Real(file))
    }

    fn check_writable(&self) -> io::Result<()> {
        let writable_in = self.writable_in.ok_or(Errno::BADF)?;
        if writable_in == self.held.view.generation.load(Ordering::Acquire) {
            Ok(())
        } else {
            Err(Errno::ROFS.into())
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Content) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.held.view.state();
        // Checked under the lock, so that nothing is written after the layer has ended.
        self.check_writable()?;
        let now = state.layer()?.now();
        let id = node_of(&state.at(&self.held)?)?;
        state.copy_up(&self.held.view, id, false)?;
        let node = state.tree.node_mut(id);
        let Body::File(Some(content)) = &mut node.body else {
            return Err(Errno::BADF.into());
        };
        let changed = change(content)?;
        node.modified = Some(now);
        Ok(changed)
    }
}

enum Contents {
    Real(Arc<File>),
    Own(Content),
}

fn node_of(at: &At) -> io::Result<NodeId> {
    match at {
        At::Node(id) => Ok(*id),
        At::Lower(..) => Err(Errno::BADF.into()),
    }
}

impl State {
    /// Returns the path of the contents in the real folder; `None` if the layer has them.
    fn real_path(&self, at: &At) -> Option<Arc<str>> {
        match at {
            At::Lower(path, _) => Some(Arc::clone(path)),
            At::Node(id) => {
                let node = self.tree.node(*id);
                match (&node.body, &node.origin) {
                    (Body::File(None), Some(origin)) => Some(Arc::clone(&origin.path)),
                    _ => None,
                }
            }
        }
    }
}
