//! Checks the paths of objects against bounds.

use std::io;

use rustix::io::Errno;

use crate::bounds::{Access, Bounds};
use crate::tree::{At, Tree};
use crate::view::moved_path;

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

    /// Refuses an object that can be neither read nor changed, and doesn't lead to one either.
    pub fn check_seen(&self, bounds: &dyn Bounds) -> io::Result<()> {
        self.check(bounds, Access::Read, |path| is_seen(bounds, path))
    }

    pub fn is_seen(&self, bounds: &dyn Bounds) -> bool {
        self.all().all(|path| is_seen(bounds, path))
    }

    pub fn check_access(&self, bounds: &dyn Bounds, access: Access) -> io::Result<()> {
        self.check(bounds, access, |path| bounds.allows(access, path))
    }

    /// Refuses a new directory, unless it or something below it may be changed.
    pub fn check_new_directory(&self, bounds: &dyn Bounds) -> io::Result<()> {
        let access = Access::Change;
        let may_make = |path: &str| bounds.allows(access, path) || bounds.leads_from(access, path);
        self.check(bounds, access, may_make)
    }

    /// Refuses to move a directory with everything in it, unless all of it may be changed. The
    /// error is the one for which programs move the files one by one.
    pub fn check_moved(&self, bounds: &dyn Bounds) -> io::Result<()> {
        if self.all().all(|path| bounds.covers(path)) {
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

fn is_seen(bounds: &dyn Bounds, path: &str) -> bool {
    bounds.allows(Access::Read, path) || bounds.leads_from(Access::Read, path)
}
