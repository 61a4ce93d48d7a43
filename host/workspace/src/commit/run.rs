//! Runs or undoes the renames of a plan, continuing from wherever an earlier attempt stopped.
//!
//! Inodes identify the due steps: a step is due if its object is at the source. Parked objects
//! stay until the end, so that their inodes are not reused.

use std::cell::RefCell;
use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use super::made::state_of;
use super::private::rename;
use super::staging::sync_directories;
use super::step::{Name, Object, Step};
use super::touched::{Direction, Unsynced};
use crate::lower::{Lower, Stamp, means_nothing_there, open_beneath};
use crate::parents::{Parent, Parents};

/// The locations of names: the workspace and a transaction's folder.
pub(crate) struct Runner<'a> {
    lower: &'a Lower,
    slots: &'a File,
    /// The source and target directories of renames. The result of a rename is checked by path
    /// alone, so that a directory that another program moved is noticed.
    parents: RefCell<Parents<'a>>,
    unsynced: RefCell<Unsynced>,
}

/// The reason why a step could not be done.
#[derive(Debug)]
pub(crate) enum Stuck {
    /// Another program changed the object, or blocks the rename.
    Changed(String),
    Io(String, io::Error),
}

impl<'a> Runner<'a> {
    pub fn new(lower: &'a Lower, slots: &'a File) -> Self {
        Self {
            lower,
            slots,
            parents: RefCell::new(lower.parents()),
            unsynced: RefCell::default(),
        }
    }

    /// Runs all steps in order, for the first time. If one fails, returns the number of steps up
    /// to and including it: the failed one may have taken effect.
    pub fn all(&self, steps: &[Step]) -> Result<(), (usize, Stuck)> {
        for (before, step) in steps.iter().enumerate() {
            self.checked(step).map_err(|stuck| (before + 1, stuck))?;
        }
        Ok(())
    }

    /// Runs the remaining steps.
    pub fn forward(&self, steps: &[Step]) -> Result<(), Stuck> {
        for step in steps {
            let slot = self.wrong_in_slot(step);
            if slot.map_err(|error| self.stuck(&step.from, error))? {
                return Err(Stuck::Changed(path_of(step)));
            }
            let due = self
                .is_there(&step.from, &step.object)
                .map_err(|error| self.stuck(&step.from, error))?;
            if due {
                self.checked(step)?
            } else {
                // It may not be on disk yet.
                self.unsynced.borrow_mut().note(step)
            }
        }
        Ok(())
    }

    /// Undoes the completed steps. Changes that another program made to an affected object block
    /// that.
    pub fn backward(&self, steps: &[Step]) -> Result<(), Stuck> {
        for step in steps.iter().rev() {
            // Everything in a slot goes back to its place in the step.
            let done = match &step.to {
                Name::Slot(_) => self.stamp(&step.to).map(|found| found.is_some()),
                Name::Path(_) => self.is_there(&step.to, &step.object),
            };
            let done = done.map_err(|error| self.stuck(&step.to, error))?;
            self.keep_order(step, Direction::Backward)?;
            if done {
                self.taken_back(step)?
            } else {
                self.put_back_displaced(step)?
            }
        }
        Ok(())
    }

    /// Syncs the changes that must be on disk before a step, and records the step as unsynced.
    fn keep_order(&self, step: &Step, direction: Direction) -> Result<(), Stuck> {
        let mut unsynced = self.unsynced.borrow_mut();
        if let Some(touched) = unsynced.before(step, direction) {
            sync_directories(self.lower, touched.iter())
                .map_err(|failed| Stuck::Io(path_of(step), failed.source))?;
        }
        unsynced.note(step);
        Ok(())
    }

    /// Runs a step, and checks that it moved the planned object.
    fn checked(&self, step: &Step) -> Result<(), Stuck> {
        self.keep_order(step, Direction::Forward)?;
        let names = self.names(&step.from, &step.to)?;
        let exchange = step.displaced.is_some();
        names
            .rename(exchange)
            .map_err(|error| self.stuck(&step.to, error))?;
        let checked = self.is_done(step);
        if matches!(checked, Ok(true)) {
            return Ok(());
        }
        // Another object was moved. It goes back at once, to the directory that it was in,
        // wherever that is by now.
        let path = path_of(step);
        match (checked, names.back().rename(exchange)) {
            (Ok(_), Ok(())) => Err(Stuck::Changed(path)),
            (Err(error), Ok(())) | (_, Err(error)) => Err(Stuck::Io(path, error)),
        }
    }

    fn is_done(&self, step: &Step) -> io::Result<bool> {
        let displaced = match &step.displaced {
            Some(displaced) => self.is_at(&step.from, displaced)?,
            None => true,
        };
        Ok(displaced
            && self.is_at(&step.to, &step.object)?
            && (!step.empty || self.is_empty(&step.to)?))
    }

    /// Returns whether a slot has another object than planned: another program was faster, and the
    /// rename could not be undone.
    fn wrong_in_slot(&self, step: &Step) -> io::Result<bool> {
        if let Name::Slot(_) = &step.to {
            let found = self.stamp(&step.to)?;
            return Ok(found.is_some_and(|found| !step.object.is(&found)));
        }
        let Some(displaced) = &step.displaced else {
            return Ok(false);
        };
        let found = self.stamp(&step.from)?;
        Ok(found.is_some_and(|found| !step.object.is(&found) && !displaced.is(&found)))
    }

    fn taken_back(&self, step: &Step) -> Result<(), Stuck> {
        let exchange = step.displaced.is_some();
        let names = self.names(&step.to, &step.from)?;
        names
            .rename(exchange)
            .map_err(|error| self.stuck(&step.from, error))?;
        let as_made = match (&step.from, step.made) {
            (Name::Slot(slot), Some(made)) => state_of(self.slots, slot).map(|now| now == made),
            _ => Ok(true),
        };
        if matches!(as_made, Ok(true)) {
            return Ok(());
        }
        match names.back().rename(exchange).and(as_made) {
            Ok(_) => Err(Stuck::Changed(path_of(step))),
            Err(error) => Err(Stuck::Io(path_of(step), error)),
        }
    }

    /// Puts the exchanged object back, even though the created one is no longer in its place.
    fn put_back_displaced(&self, step: &Step) -> Result<(), Stuck> {
        if step.displaced.is_none() {
            return Ok(());
        }
        let waits = self
            .stamp(&step.from)
            .map_err(|error| self.stuck(&step.from, error))?
            .is_some_and(|found| !step.object.is(&found));
        if waits {
            self.names(&step.from, &step.to)?
                .rename(false)
                .map_err(|error| self.stuck(&step.to, error))
        } else {
            Ok(())
        }
    }

    fn stuck(&self, name: &Name, error: io::Error) -> Stuck {
        let path = match name {
            Name::Path(path) => path.clone(),
            Name::Slot(slot) => slot.clone(),
        };
        let code = error.raw_os_error();
        let in_the_way = [Errno::EXIST, Errno::NOENT, Errno::NOTDIR, Errno::LOOP];
        if in_the_way.iter().any(|it| Some(it.raw_os_error()) == code) {
            Stuck::Changed(path)
        } else {
            Stuck::Io(path, error)
        }
    }

    /// Compares the inode alone, because other attributes may have changed.
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

    fn names<'n>(&'n self, from: &'n Name, to: &'n Name) -> Result<Names<'n>, Stuck> {
        let open = |name: &'n Name| {
            let found = match name {
                Name::Path(path) => self.parents.borrow_mut().of(path),
                Name::Slot(_) => self.open(name),
            };
            found.map_err(|error| self.stuck(name, error))
        };
        let names = Names {
            from: open(from)?,
            to: open(to)?,
        };
        for name in [from, to] {
            if let Name::Path(path) = name {
                self.parents.borrow_mut().renamed(path);
            }
        }
        Ok(names)
    }

    fn with<T>(&self, name: &Name, run: impl FnOnce(&File, &str) -> T) -> io::Result<T> {
        let (directory, name) = self.open(name)?;
        Ok(run(&directory, name))
    }

    fn open<'n>(&self, name: &'n Name) -> io::Result<(Parent<'a>, &'n str)> {
        let (root, path) = match name {
            Name::Path(path) => (self.lower.root(), path),
            Name::Slot(slot) => (self.slots, slot),
        };
        Parents::new(root).of(path)
    }
}

/// Two names in open directories.
struct Names<'n> {
    from: (Parent<'n>, &'n str),
    to: (Parent<'n>, &'n str),
}

impl Names<'_> {
    fn rename(&self, exchange: bool) -> io::Result<()> {
        let (from, to) = (&self.from, &self.to);
        rename((&from.0, from.1), (&to.0, to.1), exchange)
    }

    fn back(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
        }
    }
}

fn path_of(step: &Step) -> String {
    match (&step.from, &step.to) {
        (Name::Path(path), _) | (_, Name::Path(path)) | (Name::Slot(path), _) => path.clone(),
    }
}
