//! An open file of a view.

use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustix::io::Errno;

use crate::content::Content;
use crate::lower::Stamp;
use crate::metadata::Metadata;
use crate::tree::{At, Body, NodeId};
use crate::view::{Held, Inner, State, open_lower};

/// An open regular file.
///
/// It shows what the file has in the view, also what is written through another handle later, and
/// goes on doing so when the file is moved or removed.
pub struct OpenFile {
    pub(crate) held: Held,
    /// The real file, with the view's generation in which it was opened.
    real: Mutex<Option<(u64, Arc<File>)>>,
    /// In which of the view's generations it can be written to.
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

    /// `real`: the real file, where it was opened already.
    pub(crate) fn to_read(
        view: &Arc<Inner>,
        state: &mut State,
        at: &At,
        real: Option<File>,
    ) -> io::Result<Self> {
        state.reads.read(&state.tree, at);
        let file = match (real, state.real_path(at)) {
            (Some(file), _) => Some(Arc::new(file)),
            (None, Some(path)) => Some(open_lower(&view.lower, &path)?),
            (None, None) => None,
        };
        let generation = view.generation.load(Ordering::Acquire);
        let real = file.map(|file| (generation, file));
        Ok(Self {
            held: view.hold(state, at),
            real: Mutex::new(real),
            writable_in: None,
        })
    }

    /// Another handle on the same file, which can be written to as long as this one can.
    ///
    /// # Errors
    /// Where it is gone.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            held: self.held.another()?,
            real: Mutex::new(self.real().clone()),
            writable_in: self.writable_in,
        })
    }

    /// Reads as much as there is at an offset, up to the buffer's length. Less than that means the
    /// end of the file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.contents()? {
            Contents::Real(file) => crate::content::read_full(&file, buffer, offset),
            Contents::Own(content) => content.read_at(buffer, offset),
        }
    }

    /// Writes all of it at an offset.
    ///
    /// # Errors
    /// Those of the system; `EBADF` where it was not opened for that, and `EROFS` where its layer
    /// has ended.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match bytes.is_empty() {
            true => Ok(()),
            false => self.change(|content| content.write_at(bytes, offset)),
        }
    }

    /// Writes all of it at the file's end; returns where that was.
    ///
    /// # Errors
    /// As [`write_at`](Self::write_at).
    pub fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        self.change(|content| {
            let end = content.len();
            content.write_at(bytes, end).map(|()| end)
        })
    }

    /// Cuts it, or adds zeros.
    ///
    /// # Errors
    /// As [`write_at`](Self::write_at).
    pub fn set_len(&self, length: u64) -> io::Result<()> {
        match self.writable_in {
            // As the system has it.
            None => Err(Errno::INVAL.into()),
            Some(_) => self.change(|content| content.set_len(length)),
        }
    }

    /// What it is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata(&self) -> io::Result<Metadata> {
        let state = self.held.view.state();
        let at = state.at(&self.held)?;
        let generation = self.held.view.generation.load(Ordering::Acquire);
        match &*self.real() {
            // By its descriptor, which is quicker than by its path, and always the same file.
            Some((opened_in, file)) if *opened_in == generation => {
                let now = Stamp::of(&rustix::fs::fstat(file)?);
                Ok(Metadata::known(&state, &at, Some(now)))
            }
            _ => Metadata::of(&state, &self.held.view.lower, &at),
        }
    }

    /// As [`Directory::set_times_at`](crate::Directory::set_times_at).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_times(
        &self,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>,
    ) -> io::Result<()> {
        let mut state = self.held.view.state();
        let at = state.at(&self.held)?;
        let id = state.own(&self.held.view, &at)?;
        state.set_times(id, accessed, modified);
        Ok(())
    }

    /// Whether it was opened to be written to, and its layer is still open.
    pub fn is_writable(&self) -> bool {
        self.check_writable().is_ok()
    }

    /// Whether two handles have the same file open.
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
            // Removed by a commit: what is open stays open.
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
        match writable_in == self.held.view.generation.load(Ordering::Acquire) {
            true => Ok(()),
            false => Err(Errno::ROFS.into()),
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Content) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.held.view.state();
        // Under the lock, so that nothing is written once its layer has ended.
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
    /// Where the real folder has the contents of a file; none where the layer has them.
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
