//! An open directory of a view: all that can be done with names.

mod names;
mod rename;

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use rustix::io::Errno;

use crate::file::OpenFile;
use crate::lower::Kind;
use crate::metadata::Metadata;
use crate::path::is_private;
use crate::tree::{At, Body, NodeId};
use crate::view::{Held, State};
use crate::walk::{LastLink, MAX_PATH, Spot, Walk};

/// An open directory.
///
/// Paths are relative to it and lead nowhere above it; a path's own last link is followed only
/// where that is asked for. Errors are the system's, as it would give them for a plain folder.
/// Without an open layer each change is refused with `EROFS`.
pub struct Directory {
    pub(crate) held: Held,
}

/// How something is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// To write to.
    pub write: bool,
    /// Made, where there is nothing.
    pub create: bool,
    /// Only if there was nothing, and it is made.
    pub exclusive: bool,
    /// Emptied.
    pub truncate: bool,
    /// Only if it is a directory.
    pub directory: bool,
    /// Also through a link at the path's end.
    pub follow: bool,
}

/// What was opened.
pub enum Opened {
    /// A directory.
    Directory(Directory),
    /// A regular file.
    File(OpenFile),
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What it stands for, a link not followed.
    pub kind: Kind,
}

/// The names in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// In the order of their bytes.
    pub entries: Vec<Entry>,
    /// How many were left out, since they are no UTF-8.
    pub left_out: usize,
}

impl Directory {
    pub(crate) fn new(held: Held) -> Self {
        Self { held }
    }

    /// Another handle on the same directory.
    ///
    /// # Errors
    /// Where it is gone.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.held.another().map(Self::new)
    }

    /// Opens a file or a directory.
    ///
    /// # Errors
    /// Those of the system; `EOPNOTSUPP` for a pipe, a socket or a device.
    pub fn open(&self, path: &str, options: OpenOptions) -> io::Result<Opened> {
        let view = &self.held.view;
        let mut state = view.state();
        let makes = options.create || options.exclusive || options.truncate;
        if options.directory && makes {
            return Err(Errno::INVAL.into());
        }
        let exclusive = options.create && options.exclusive;
        let trimmed = path.trim_end_matches('/');
        if options.create && trimmed != path && !trimmed.ends_with('.') {
            state.walk(&view.lower, &self.held, trimmed, LastLink::Kept)?;
            return Err(Errno::ISDIR.into());
        }
        let link = match options.follow && !exclusive {
            true if options.create => LastLink::FollowedToMake,
            followed => LastLink::followed(followed),
        };
        // As the system's own interface to guests has it: what may be made may be written to.
        let writes = options.write || options.truncate || options.create;
        let mut real = None;
        let at = if options.create {
            let spot = state.walk(&view.lower, &self.held, path, link)?;
            match spot.found {
                None => return self.create_file(&mut state, spot),
                Some(_) if exclusive => return Err(Errno::EXIST.into()),
                Some(at) => at,
            }
        } else if writes || options.directory {
            state.find(&view.lower, &self.held, path, link)?
        } else {
            let found = state.find_to_read(&view.lower, &self.held, path, link)?;
            real = found.1;
            found.0
        };
        match state.tree.kind(&at) {
            Kind::Directory if writes => Err(Errno::ISDIR.into()),
            Kind::Directory => {
                let held = view.hold(&mut state, &at);
                Ok(Opened::Directory(Self::new(held)))
            }
            Kind::Link => Err(Errno::LOOP.into()),
            _ if options.directory => Err(Errno::NOTDIR.into()),
            Kind::Special => Err(Errno::OPNOTSUPP.into()),
            Kind::File if writes => {
                let id = state.own_found(view, &at)?;
                match options.truncate {
                    true => state.copy_up(view, id, true)?,
                    // The contents come with the first write.
                    false => state.check_writable(view, id)?,
                }
                let held = view.hold(&mut state, &At::Node(id));
                Ok(Opened::File(OpenFile::to_write(held)))
            }
            Kind::File => {
                let file = OpenFile::to_read(view, &mut state, &at, real)?;
                Ok(Opened::File(file))
            }
        }
    }

    fn create_file(&self, state: &mut State, spot: Spot) -> io::Result<Opened> {
        let view = &self.held.view;
        if spot.must_be_directory {
            return Err(Errno::ISDIR.into());
        }
        let (directory, name) = self.free_place(state, spot)?;
        let layer = state.layer()?;
        let (now, mode) = (layer.now(), layer.mode(Kind::File));
        let body = Body::File(Some(layer.spill.empty()));
        let id = state.tree.make(body, mode, now)?;
        state.tree.link(id, directory, &name);
        let held = view.hold(state, &At::Node(id));
        Ok(Opened::File(OpenFile::to_write(held)))
    }

    /// The directory and the name that something new is about to have.
    fn free_place(&self, state: &mut State, spot: Spot) -> io::Result<(NodeId, String)> {
        let Some((directory, name)) = spot.place else {
            return Err(Errno::EXIST.into());
        };
        if spot.found.is_some() {
            return Err(Errno::EXIST.into());
        }
        if is_private(&name) {
            return Err(Errno::PERM.into());
        }
        let directory = state.own_directory(&self.held.view, &directory)?;
        state.tree.check_length(directory, &name)?;
        Ok((directory, name))
    }

    /// What there is at a path.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata_at(&self, path: &str, follow: bool) -> io::Result<Metadata> {
        let view = &self.held.view;
        let mut state = view.state();
        let link = LastLink::followed(follow);
        if let Some(at) = state.quick(&view.lower, &self.held, path, link)? {
            return match at {
                At::Lower(_, now) => Ok(Metadata::known(&state, &at, Some(now))),
                At::Node(_) => Metadata::of(&state, &view.lower, &at),
            };
        }
        let at = state.find_by_names(&view.lower, &self.held, path, link)?;
        Metadata::of(&state, &view.lower, &at)
    }

    /// What it is itself.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata(&self) -> io::Result<Metadata> {
        let state = self.held.view.state();
        let at = state.at(&self.held)?;
        Metadata::of(&state, &self.held.view.lower, &at)
    }

    /// The names in it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn list(&self) -> io::Result<Listing> {
        let view = &self.held.view;
        let mut state = view.state();
        let at = state.at(&self.held)?;
        state.list(&view.lower, &at)
    }

    /// The real directory, to be read by other means, while nothing at all is changed above it.
    /// None where something is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn real(&self) -> io::Result<Option<std::fs::File>> {
        let view = &self.held.view;
        if view.is_touched() {
            return Ok(None);
        }
        let state = view.state();
        match state.at(&self.held)? {
            At::Lower(path, _) => view.lower.open_directory(&path).map(Some),
            At::Node(_) => view.lower.open_directory("").map(Some),
        }
    }

    /// Where a link leads.
    ///
    /// # Errors
    /// Those of the system; `EINVAL` for what is no link.
    pub fn read_link(&self, path: &str) -> io::Result<String> {
        let view = &self.held.view;
        let mut state = view.state();
        let at = state.find(&view.lower, &self.held, path, LastLink::Kept)?;
        if state.tree.kind(&at) != Kind::Link {
            return Err(Errno::INVAL.into());
        }
        let state = &mut *state;
        let walk = Walk {
            tree: &state.tree,
            lower: &view.lower,
            reads: &mut state.reads,
        };
        walk.target(&at)
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create_directory(&self, path: &str) -> io::Result<()> {
        self.make(path.trim_end_matches('/'), |state| {
            let mode = state.layer()?.mode(Kind::Directory);
            Ok((Body::Directory(Default::default()), mode))
        })
    }

    /// Makes a link. An absolute target is refused with `EPERM`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create_link(&self, target: &str, path: &str) -> io::Result<()> {
        if target.starts_with('/') {
            return Err(Errno::PERM.into());
        }
        self.make(path, |_| match target.len() {
            0 => Err(Errno::NOENT.into()),
            // With the byte that ends it: the commit couldn't make it.
            MAX_PATH.. => Err(Errno::NAMETOOLONG.into()),
            _ => Ok((Body::Link(Some(Arc::from(target))), 0o777)),
        })
    }

    fn make(
        &self,
        path: &str,
        body: impl FnOnce(&State) -> io::Result<(Body, u32)>,
    ) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let spot = state.walk(&view.lower, &self.held, path, LastLink::Kept)?;
        let (body, mode) = body(&state)?;
        if spot.found.is_none() && spot.must_be_directory && body.kind() != Kind::Directory {
            return Err(Errno::NOENT.into());
        }
        let (directory, name) = self.free_place(&mut state, spot)?;
        let now = state.layer()?.now();
        let id = state.tree.make(body, mode, now)?;
        state.tree.link(id, directory, &name);
        Ok(())
    }

    /// Removes a directory that is empty.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove_directory(&self, path: &str) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let spot = state.walk(&view.lower, &self.held, path, LastLink::Kept)?;
        let at = spot.found.ok_or(Errno::NOENT)?;
        if state.tree.kind(&at) != Kind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        // As the system's own interface to guests has it, for which a slash at the end is a dot.
        let Some((directory, _)) = spot.place.filter(|_| !path.ends_with('/')) else {
            return Err(Errno::INVAL.into());
        };
        if !state.is_empty(&view.lower, &at)? {
            return Err(Errno::NOTEMPTY.into());
        }
        state.own_directory(view, &directory)?;
        let id = state.own_found(view, &at)?;
        state.tree.unlink(&view.lower, id)
    }

    /// Removes what is no directory.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove_file(&self, path: &str) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let spot = state.walk(&view.lower, &self.held, path, LastLink::Kept)?;
        let at = spot.found.ok_or(Errno::NOENT)?;
        let (Some((directory, _)), false) = (spot.place, state.tree.kind(&at) == Kind::Directory)
        else {
            return Err(Errno::ISDIR.into());
        };
        state.own_directory(view, &directory)?;
        let id = state.own_found(view, &at)?;
        state.tree.unlink(&view.lower, id)
    }

    /// Sets when something was read and changed last; none for what stays. No commit keeps it: what
    /// is committed has the time of the commit, so that other programs see that it has changed.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_times_at(
        &self,
        path: &str,
        follow: bool,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>,
    ) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let at = state.find(&view.lower, &self.held, path, LastLink::followed(follow))?;
        let id = state.own(view, &at)?;
        state.set_times(id, accessed, modified);
        Ok(())
    }

    /// Sets the permissions of a file or a directory: 0o7777 at most.
    ///
    /// # Errors
    /// Those of the system; `EOPNOTSUPP` for a link.
    pub fn set_mode_at(&self, path: &str, mode: u32) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let spot = state.walk(&view.lower, &self.held, path, LastLink::Followed)?;
        let at = spot.found.ok_or(Errno::NOENT)?;
        if !matches!(state.tree.kind(&at), Kind::File | Kind::Directory) {
            return Err(Errno::OPNOTSUPP.into());
        }
        let id = state.own(view, &at)?;
        state.tree.node_mut(id).mode = mode & 0o7777;
        Ok(())
    }

    /// Whether two handles have the same directory open.
    pub fn is_same_object(&self, other: &Self) -> bool {
        same_object(&self.held, &other.held)
    }
}

pub(crate) fn same_object(one: &Held, other: &Held) -> bool {
    if !one.is_same(other) {
        return false;
    }
    let state = one.view.state();
    match (state.at(one), state.at(other)) {
        (Ok(one), Ok(other)) => state.is_same_object(&one, &other),
        _ => false,
    }
}
