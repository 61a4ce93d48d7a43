//! Looks up many paths in a row, most of which are in the same directory as the previous one.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::rc::Rc;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use crate::lower::{Stamp, means_nothing_there, open_beneath, opened_to_read};
use crate::path::parent_and_name;
use crate::system::PATH;

/// A directory, and the most recently used one below it, which stays open.
pub(crate) struct Parents<'a> {
    root: &'a File,
    last: Option<(String, Rc<File>)>,
}

/// The parent directory of an object.
pub(crate) enum Parent<'a> {
    Root(&'a File),
    Below(Rc<File>),
}

impl Deref for Parent<'_> {
    type Target = File;

    fn deref(&self) -> &File {
        match self {
            Parent::Root(root) => root,
            Parent::Below(directory) => directory,
        }
    }
}

impl<'a> Parents<'a> {
    pub fn new(root: &'a File) -> Self {
        Self { root, last: None }
    }

    /// Returns the parent directory and the name of an object.
    pub fn of<'p>(&mut self, path: &'p str) -> io::Result<(Parent<'a>, &'p str)> {
        let (parent, name) = parent_and_name(path);
        if name == ".." {
            return Err(Errno::XDEV.into());
        }
        if parent.is_empty() {
            return Ok((Parent::Root(self.root), name));
        }
        if let Some((known, directory)) = &self.last
            && known == parent
        {
            return Ok((Parent::Below(Rc::clone(directory)), name));
        }
        let flags = PATH | OFlags::DIRECTORY;
        let opened = Rc::new(File::from(open_beneath(self.root, parent, flags)?));
        self.last = Some((parent.to_owned(), Rc::clone(&opened)));
        Ok((Parent::Below(opened), name))
    }

    /// Drops the open directory if a rename to or from `path` may have replaced it.
    pub fn renamed(&mut self, path: &str) {
        self.last.take_if(|(known, _)| {
            let rest = known.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
    }

    /// Returns the stamp of a path; `None` if nothing exists there.
    pub fn stamp(&mut self, path: &str) -> io::Result<Option<Stamp>> {
        let (directory, name) = match self.of(path) {
            Err(error) if means_nothing_there(&error) => return Ok(None),
            found => found?,
        };
        let stat = match name {
            "" => rustix::fs::fstat(&*directory),
            name => rustix::fs::statat(&*directory, name, AtFlags::SYMLINK_NOFOLLOW),
        };
        match stat {
            Ok(stat) => Ok(Some(Stamp::of(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file like [`Lower::open_file`](crate::lower::Lower::open_file).
    pub fn open_file(&mut self, path: &str) -> io::Result<(File, Stamp)> {
        let (directory, name) = self.of(path)?;
        opened_to_read(&directory, name)?.file()
    }

    /// Reads a link like [`Lower::read_link`](crate::lower::Lower::read_link).
    pub fn read_link(&mut self, path: &str) -> io::Result<String> {
        let (directory, name) = self.of(path)?;
        let target = rustix::fs::readlinkat(&*directory, name, Vec::new())?;
        target.into_string().map_err(|_| Errno::ILSEQ.into())
    }
}
