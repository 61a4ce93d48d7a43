//! Checks the paths of objects against bounds.

use std::io;

use rustix::io::Errno;

use crate::bounds::{Access, Bounds};
use crate::lower::Kind;
use crate::tree::{At, Tree};
use crate::view::moved_path;

/// What can be seen of the object at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    Everything,
    /// A directory, since it leads to something that can be seen.
    Directory,
    Nothing,
}

impl Sight {
    /// Returns whether an object of this kind can be seen.
    pub fn shows(self, kind: Kind) -> bool {
        match self {
            Sight::Everything => true,
            Sight::Directory => kind == Kind::Directory,
            Sight::Nothing => false,
        }
    }
}

/// The paths of an object: in the layer, and in the real folder before the layer moved it.
pub(crate) struct Paths {
    now: Option<String>,
    before: Option<String>,
}

impl Paths {
    pub fn of(tree: &Tree, at: &At) -> Self {
        match at {
            At::Lower(path, _) => Self::of_real(tree, path),
            At::Node(id) => Self {
                now: tree.path_of(*id),
                before: (tree.node(*id).origin.as_ref()).map(|origin| origin.path.to_string()),
            },
        }
    }

    /// Returns the paths of an object of the real folder.
    pub fn of_real(tree: &Tree, path: &str) -> Self {
        Self {
            now: moved_path(tree, path),
            before: Some(path.to_owned()),
        }
    }

    /// Returns the path of a name in this directory.
    pub fn join(&self, name: &str) -> Self {
        let below = |path: &String| crate::path::join(path, name);
        Self {
            now: self.now.as_ref().map(below),
            before: None,
        }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.now.iter().chain(&self.before).map(String::as_str)
    }

    /// Returns how much can be seen here, and notes a path out of bounds.
    pub fn sight(&self, bounds: &dyn Bounds) -> Sight {
        let is_within = |path: &str| bounds.allows(Access::Read, path);
        if self.all().all(is_within) {
            return Sight::Everything;
        }
        let is_way = |path: &str| is_within(path) || bounds.leads_from(path);
        match self.all().find(|path| !is_way(path)) {
            None => Sight::Directory,
            Some(path) => {
                bounds.denied(Access::Read, path);
                Sight::Nothing
            }
        }
    }

    /// Notes that an object that is there was not shown.
    pub fn note_hidden(&self, bounds: &dyn Bounds) {
        let is_hidden = |path: &&str| !bounds.allows(Access::Read, path);
        if let Some(path) = self.all().find(is_hidden) {
            bounds.denied(Access::Read, path);
        }
    }

    /// Returns whether an object of this kind is shown in a listing.
    pub fn is_listed(&self, bounds: &dyn Bounds, kind: Kind) -> bool {
        let is_way = |path: &str| kind == Kind::Directory && bounds.leads_from(path);
        self.all()
            .all(|path| bounds.allows(Access::Read, path) || is_way(path))
    }

    /// Returns whether everything in this directory can be read.
    pub fn is_covered(&self, bounds: &dyn Bounds) -> bool {
        self.all().all(|path| bounds.covers(Access::Read, path))
    }

    pub fn check_access(&self, bounds: &dyn Bounds, access: Access) -> io::Result<()> {
        self.check(bounds, access, |path| bounds.allows(access, path))
    }

    /// Refuses a new directory, unless it or everything in it may be changed.
    pub fn check_new_directory(&self, bounds: &dyn Bounds) -> io::Result<()> {
        let access = Access::Change;
        let may_make = |path: &str| bounds.allows(access, path) || bounds.covers(access, path);
        self.check(bounds, access, may_make)
    }

    /// Refuses to move a directory with everything in it, unless all of it may be changed. The
    /// error is the one for which programs move the files one by one.
    pub fn check_moved(&self, bounds: &dyn Bounds) -> io::Result<()> {
        if self.all().all(|path| bounds.covers(Access::Change, path)) {
            Ok(())
        } else {
            Err(Errno::XDEV.into())
        }
    }

    fn check(
        &self,
        bounds: &dyn Bounds,
        access: Access,
        is_within: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        match self.all().find(|path| !is_within(path)) {
            None => Ok(()),
            Some(path) => {
                bounds.denied(access, path);
                Err(Errno::ACCESS.into())
            }
        }
    }
}
