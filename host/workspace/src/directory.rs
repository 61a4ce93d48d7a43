//! Open directories of a view, and all operations on names.

mod names;
mod rename;

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use rustix::io::Errno;

use crate::answer::{Metadata, Opened};
use crate::bounded::Paths;
use crate::bounds::Access;
use crate::file::OpenFile;
use crate::lower::Kind;
use crate::options::OpenOptions;
use crate::path::is_private;
use crate::tree::{At, Body, NodeId};
use crate::view::{Held, State};
use crate::walk::{LastLink, MAX_PATH, Spot, Walk};

/// An open directory.
///
/// Paths are relative to it and can't lead above it. A link at the end of a path is followed only
/// on request. Errors are the ones that the system returns for a plain folder. Without an open
/// layer, every change fails with `EROFS`. A path out of its [`Bounds`](crate::Bounds) fails with
/// `EACCES`.
pub struct Directory {
    pub(crate) held: Held,
}

impl Directory {
    pub(crate) fn new(held: Held) -> Self {
        Self { held }
    }

    /// Returns another handle to the same directory.
    ///
    /// # Errors
    /// If the directory is gone.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.held.another().map(Self::new)
    }

    /// Opens a file or a directory.
    ///
    /// # Errors
    /// System errors; `EOPNOTSUPP` for a pipe, a socket or a device.
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
        // As in the system's interface for guests: creating a file implies write access.
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
                let held = self.held.hold(&mut state, &at);
                Ok(Opened::Directory(Self::new(held)))
            }
            Kind::Link => Err(Errno::LOOP.into()),
            _ if options.directory => Err(Errno::NOTDIR.into()),
            Kind::Special => Err(Errno::OPNOTSUPP.into()),
            Kind::File if writes => {
                self.held.check(&state, Access::Change, &at)?;
                let id = state.own_found(view, &at)?;
                if options.truncate {
                    state.copy_up(view, id, true)?
                } else {
                    // The contents are copied at the first write.
                    state.check_writable(view, id)?
                }
                let held = self.held.hold(&mut state, &At::Node(id));
                Ok(Opened::File(OpenFile::to_write(held)))
            }
            Kind::File => {
                self.held.check(&state, Access::Read, &at)?;
                let file = OpenFile::to_read(&self.held, &mut state, &at, real)?;
                Ok(Opened::File(file))
            }
        }
    }

    fn create_file(&self, state: &mut State, spot: Spot) -> io::Result<Opened> {
        if spot.must_be_directory {
            return Err(Errno::ISDIR.into());
        }
        let (directory, name) = self.free_place(state, spot, Kind::File)?;
        let layer = state.layer()?;
        let (now, mode) = (layer.now(), layer.mode(Kind::File));
        let body = Body::File(Some(layer.spill.empty()));
        let id = state.tree.make(body, mode, now)?;
        state.tree.link(id, directory, &name);
        let held = self.held.hold(state, &At::Node(id));
        Ok(Opened::File(OpenFile::to_write(held)))
    }

    /// Returns the directory and the name for a new object.
    fn free_place(
        &self,
        state: &mut State,
        spot: Spot,
        kind: Kind,
    ) -> io::Result<(NodeId, String)> {
        let Some((directory, name)) = spot.place else {
            return Err(Errno::EXIST.into());
        };
        if spot.found.is_some() {
            return Err(Errno::EXIST.into());
        }
        if is_private(&name) {
            return Err(Errno::PERM.into());
        }
        self.held.check_paths(
            || Paths::of(&state.tree, &directory).join(&name),
            |paths, bounds| match kind {
                Kind::Directory => paths.check_new_directory(bounds),
                _ => paths.check_access(bounds, Access::Change),
            },
        )?;
        // A file out of bounds looks missing.
        let view = &self.held.view;
        if self.held.bounds.is_some() && state.tree.child(&view.lower, &directory, &name)?.is_some()
        {
            return Err(Errno::EXIST.into());
        }
        let directory = state.own_directory(view, &directory)?;
        state.tree.check_length(directory, &name)?;
        Ok((directory, name))
    }

    /// Returns the metadata of the object at a path.
    ///
    /// # Errors
    /// System errors.
    pub fn metadata_at(&self, path: &str, follow: bool) -> io::Result<Metadata> {
        let view = &self.held.view;
        let mut state = view.state();
        let link = LastLink::followed(follow);
        if let Some(at) = state.quick(&view.lower, &self.held, path, link)? {
            let found = match at {
                At::Lower(_, now) => Metadata::known(&state, &at, Some(now)),
                At::Node(_) => Metadata::of(&state, &view.lower, &at)?,
            };
            return Ok(self.masked(&state, &at, found));
        }
        let at = state.find_by_names(&view.lower, &self.held, path, link)?;
        let found = Metadata::of(&state, &view.lower, &at)?;
        Ok(self.masked(&state, &at, found))
    }

    /// Returns the metadata of the directory.
    ///
    /// # Errors
    /// System errors.
    pub fn metadata(&self) -> io::Result<Metadata> {
        let state = self.held.view.state();
        let at = state.at(&self.held)?;
        let found = Metadata::of(&state, &self.held.view.lower, &at)?;
        Ok(self.masked(&state, &at, found))
    }

    /// Returns the real directory, for reading by other means, as long as the view has no changes
    /// at all and the directory has no bounds. Otherwise returns `None`.
    ///
    /// # Errors
    /// System errors.
    pub fn real(&self) -> io::Result<Option<std::fs::File>> {
        let view = &self.held.view;
        if view.is_touched() || self.held.bounds.is_some() {
            return Ok(None);
        }
        let state = view.state();
        match state.at(&self.held)? {
            At::Lower(path, _) => view.lower.open_directory(&path).map(Some),
            At::Node(_) => view.lower.open_directory("").map(Some),
        }
    }

    /// Returns the target of a link.
    ///
    /// # Errors
    /// System errors; `EINVAL` if it is not a link.
    pub fn read_link(&self, path: &str) -> io::Result<String> {
        let view = &self.held.view;
        let mut state = view.state();
        let at = state.find(&view.lower, &self.held, path, LastLink::Kept)?;
        if state.tree.kind(&at) != Kind::Link {
            return Err(Errno::INVAL.into());
        }
        self.held.check(&state, Access::Read, &at)?;
        let state = &mut *state;
        let walk = Walk {
            tree: &state.tree,
            lower: &view.lower,
            reads: &mut state.reads,
            bounds: None,
        };
        walk.target(&at)
    }

    /// Creates a directory.
    ///
    /// # Errors
    /// System errors.
    pub fn create_directory(&self, path: &str) -> io::Result<()> {
        self.make(path.trim_end_matches('/'), |state| {
            let mode = state.layer()?.mode(Kind::Directory);
            Ok((Body::Directory(Default::default()), mode))
        })
    }

    /// Creates a link. An absolute target fails with `EPERM`.
    ///
    /// # Errors
    /// System errors.
    pub fn create_link(&self, target: &str, path: &str) -> io::Result<()> {
        if target.starts_with('/') {
            return Err(Errno::PERM.into());
        }
        self.make(path, |_| match target.len() {
            0 => Err(Errno::NOENT.into()),
            // The limit includes the terminating byte. The commit could not create a longer link.
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
        let (directory, name) = self.free_place(&mut state, spot, body.kind())?;
        let now = state.layer()?.now();
        let id = state.tree.make(body, mode, now)?;
        state.tree.link(id, directory, &name);
        Ok(())
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// System errors.
    pub fn remove_directory(&self, path: &str) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let spot = state.walk(&view.lower, &self.held, path, LastLink::Kept)?;
        let at = spot.found.ok_or(Errno::NOENT)?;
        if state.tree.kind(&at) != Kind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        // As in the system's interface for guests, which treats a trailing slash as a dot.
        let Some((directory, _)) = spot.place.filter(|_| !path.ends_with('/')) else {
            return Err(Errno::INVAL.into());
        };
        let is_new = matches!(&at, At::Node(id) if state.tree.node(*id).origin.is_none());
        if is_new {
            let paths = || Paths::of(&state.tree, &at);
            self.held.check_paths(paths, Paths::check_new_directory)?;
        } else {
            self.held.check(&state, Access::Change, &at)?;
        }
        if !state.is_empty(&view.lower, &at)? {
            return Err(Errno::NOTEMPTY.into());
        }
        state.own_directory(view, &directory)?;
        let id = state.own_found(view, &at)?;
        state.tree.unlink(&view.lower, id)
    }

    /// Removes an object that is not a directory.
    ///
    /// # Errors
    /// System errors.
    pub fn remove_file(&self, path: &str) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let spot = state.walk(&view.lower, &self.held, path, LastLink::Kept)?;
        let at = spot.found.ok_or(Errno::NOENT)?;
        let (Some((directory, _)), false) = (spot.place, state.tree.kind(&at) == Kind::Directory)
        else {
            return Err(Errno::ISDIR.into());
        };
        self.held.check(&state, Access::Change, &at)?;
        state.own_directory(view, &directory)?;
        let id = state.own_found(view, &at)?;
        state.tree.unlink(&view.lower, id)
    }

    /// Sets the times of the last access and the last change of the contents; `None` leaves one
    /// unchanged. A commit does not keep them: committed files have the time of the commit, so
    /// that other programs notice the change.
    ///
    /// # Errors
    /// System errors.
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
        self.held.check(&state, Access::Change, &at)?;
        let id = state.own(view, &at)?;
        state.set_times(id, accessed, modified);
        Ok(())
    }

    /// Sets the permissions of a file or a directory: at most 0o7777.
    ///
    /// # Errors
    /// System errors; `EOPNOTSUPP` for a link.
    pub fn set_mode_at(&self, path: &str, mode: u32) -> io::Result<()> {
        let view = &self.held.view;
        let mut state = view.state();
        let spot = state.walk(&view.lower, &self.held, path, LastLink::Followed)?;
        let at = spot.found.ok_or(Errno::NOENT)?;
        if !matches!(state.tree.kind(&at), Kind::File | Kind::Directory) {
            return Err(Errno::OPNOTSUPP.into());
        }
        self.held.check(&state, Access::Change, &at)?;
        let id = state.own(view, &at)?;
        state.tree.node_mut(id).mode = mode & 0o7777;
        Ok(())
    }

    /// Returns whether both handles refer to the same directory.
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
