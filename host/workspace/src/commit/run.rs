//! Does a plan's renames, or undoes them, from wherever an earlier try has come to.
//!
//! What is due is known by inodes: a step is due when what it moves is where it moves it from. What
//! was parked stays until the end, so that no inode is used again meanwhile.

use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use super::plan::{Name, Object, Step};
use super::private::rename;
use crate::lower::{Lower, Stamp, means_nothing_there, open_beneath};
use crate::path::parent_and_name;

/// Where names are: the workspace, and a transaction's folder.
pub(crate) struct Runner<'a> {
    lower: &'a Lower,
    slots: &'a File,
}

/// Why a step could not be done.
#[derive(Debug)]
pub(crate) enum Stuck {
    /// Another program has changed what was to be moved, or is in the way.
    Changed(String),
    Io(String, io::Error),
}

impl<'a> Runner<'a> {
    pub fn new(lower: &'a Lower, slots: &'a File) -> Self {
        Self { lower, slots }
    }

    /// Does all steps, in order, for the first time: each is checked to have moved what it was
    /// planned for. Returns how many were done where one could not be.
    pub fn all(&self, steps: &[Step]) -> Result<(), (usize, Stuck)> {
        for (done, step) in steps.iter().enumerate() {
            self.first_time(step).map_err(|stuck| (done, stuck))?;
        }
        Ok(())
    }

    fn first_time(&self, step: &Step) -> Result<(), Stuck> {
        self.rename(&step.from, &step.to, step.displaced.is_some())
            .map_err(|error| self.stuck(&step.to, error))?;
        let moved = self.is_at(&step.to, &step.object);
        let displaced = match &step.displaced {
            Some(displaced) => self.is_at(&step.from, displaced),
            None => Ok(true),
        };
        let empty = match step.empty {
            true => self.is_empty(&step.to),
            false => Ok(true),
        };
        let checked = moved.and_then(|moved| Ok(moved && displaced? && empty?));
        match checked {
            Ok(true) => Ok(()),
            checked => {
                // Something else was moved: it goes back at once.
                let exchange = step.displaced.is_some();
                let back = self.rename(&step.to, &step.from, exchange);
                let path = path_of(step);
                match (checked, back) {
                    (Ok(_), Ok(())) => Err(Stuck::Changed(path)),
                    (Err(error), Ok(())) | (_, Err(error)) => Err(Stuck::Io(path, error)),
                }
            }
        }
    }

    /// Does what is still to be done of all steps.
    pub fn forward(&self, steps: &[Step]) -> Result<(), Stuck> {
        for step in steps {
            if self
                .is_there(&step.from, &step.object)
                .map_err(|error| self.stuck(&step.from, error))?
            {
                self.rename(&step.from, &step.to, step.displaced.is_some())
                    .map_err(|error| self.stuck(&step.to, error))?;
            }
        }
        Ok(())
    }

    /// Undoes what was done of these steps.
    pub fn backward(&self, steps: &[Step]) -> Result<(), Stuck> {
        for step in steps.iter().rev() {
            let done = self
                .is_there(&step.to, &step.object)
                .map_err(|error| self.stuck(&step.to, error))?;
            if done {
                self.rename(&step.to, &step.from, step.displaced.is_some())
                    .map_err(|error| self.stuck(&step.from, error))?;
            }
        }
        Ok(())
    }

    fn stuck(&self, name: &Name, error: io::Error) -> Stuck {
        let path = match name {
            Name::Path(path) => path.clone(),
            Name::Slot(slot) => slot.clone(),
        };
        let code = error.raw_os_error();
        let in_the_way = [Errno::EXIST, Errno::NOENT, Errno::NOTDIR, Errno::LOOP];
        match in_the_way.iter().any(|it| Some(it.raw_os_error()) == code) {
            true => Stuck::Changed(path),
            false => Stuck::Io(path, error),
        }
    }

    /// By its inode alone: whatever else became of it, it is the one.
    fn is_there(&self, name: &Name, object: &Object) -> io::Result<bool> {
        Ok(self
            .stamp(name)?
            .is_some_and(|stamp| stamp.inode == object.inode))
    }

    fn is_at(&self, name: &Name, object: &Object) -> io::Result<bool> {
        Ok(self.stamp(name)?.is_some_and(|stamp| object.is(&stamp)))
    }

    fn is_empty(&self, name: &Name) -> io::Result<bool> {
        let (directory, name) = self.open(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let listed = File::from(open_beneath(&directory, name, flags)?);
        for entry in rustix::fs::Dir::new(listed)? {
            if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn stamp(&self, name: &Name) -> io::Result<Option<Stamp>> {
        let stat = self.with(name, |directory, name| {
            rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        });
        match stat {
            Ok(Ok(stat)) => Ok(Some(Stamp::of(&stat))),
            Ok(Err(Errno::NOENT | Errno::NOTDIR)) => Ok(None),
            Ok(Err(error)) => Err(error.into()),
            Err(error) if means_nothing_there(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn rename(&self, from: &Name, to: &Name, exchange: bool) -> io::Result<()> {
        let (from_directory, from_name) = self.open(from)?;
        let (to_directory, to_name) = self.open(to)?;
        rename(
            (&from_directory, from_name),
            (&to_directory, to_name),
            exchange,
        )
    }

    fn with<T>(&self, name: &Name, run: impl FnOnce(&File, &str) -> T) -> io::Result<T> {
        let (directory, name) = self.open(name)?;
        Ok(run(&directory, name))
    }

    fn open<'n>(&self, name: &'n Name) -> io::Result<(File, &'n str)> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let (root, path) = match name {
            Name::Path(path) => (self.lower.root(), path),
            Name::Slot(slot) => (self.slots, slot),
        };
        let (parent, name) = parent_and_name(path);
        Ok((File::from(open_beneath(root, parent, flags)?), name))
    }
}

fn path_of(step: &Step) -> String {
    match (&step.from, &step.to) {
        (Name::Path(path), _) | (_, Name::Path(path)) | (Name::Slot(path), _) => path.clone(),
    }
}
