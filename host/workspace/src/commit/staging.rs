//! Stages new contents, complete and synced in the private folder, before anything in the
//! workspace changes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use super::attributes;
use super::files::{Durable, sync, sync_now, sync_together};
use super::inherited::Inherited;
use super::step::Step;
use crate::content::{Content, clone_or_copy};
use crate::error::{CommitError, Doing, Failed};
use crate::fault::step;
use crate::kept::{Kept, Left};
use crate::lower::{Lower, Stamp, open_beneath};
use crate::merge::TEXT;
use crate::parents::Parents;
use crate::system;
use crate::tree::{Body, Node};

/// Number of files from which the whole file system is synced at once, which is then faster than
/// one sync for each.
const SYNC_ALL: usize = 16;

/// A transaction's folder while it is filled.
pub(crate) struct Staging<'a> {
    folder: &'a File,
    /// The directories of the real files.
    real: Parents<'a>,
    /// The directories of the slots.
    made_in: Parents<'a>,
    inherited: Inherited<'a>,
    slots: u64,
    /// Created files and directories that are not synced yet.
    unsynced: Vec<File>,
    made: usize,
    /// The made files, if they are asked for.
    noted: Option<MadeFiles>,
}

/// The files that a commit makes, by their paths.
#[derive(Default)]
pub(crate) struct MadeFiles {
    pub states: BTreeMap<String, Left>,
    /// The new contents of those that may be texts.
    pub texts: BTreeMap<String, Content>,
}

/// A staged object that is ready to be put in place.
pub(crate) struct Staged {
    pub slot: String,
    pub inode: u64,
}

/// The destination of an object.
pub(crate) struct Going<'a> {
    pub path: &'a str,
    /// The path of the nearest directory that exists in the real folder. New directories inherit
    /// from it too.
    pub directory: &'a str,
    /// The attributes to keep from the real file.
    pub kept: Option<&'a Kept>,
}

/// A new object. A link can't be opened.
enum Made {
    Opened(File),
    Link(u64),
}

impl<'a> Staging<'a> {
    pub fn new(folder: &'a File, lower: &'a Lower) -> Self {
        Self {
            folder,
            real: lower.parents(),
            made_in: Parents::new(folder),
            inherited: Inherited::new(folder, lower),
            slots: 0,
            unsynced: Vec::new(),
            made: 0,
            noted: None,
        }
    }

    /// Notes each file that is made from now on.
    pub fn note_made(&mut self) {
        self.noted = Some(MadeFiles::default());
    }

    pub fn take_made(&mut self) -> MadeFiles {
        self.noted.take().unwrap_or_default()
    }

    pub fn new_slot(&mut self, prefix: &str) -> String {
        self.slots += 1;
        format!("{prefix}{}", self.slots)
    }

    /// Creates the new parts of a node under a name in the transaction's folder.
    pub fn stage(
        &mut self,
        node: &Node,
        going: &Going<'_>,
        slot: String,
    ) -> Result<Staged, CommitError> {
        let staging = || format!("stage {}", going.path);
        let inherits = match going.kept {
            Some(_) => self.inherited.nothing().map(|()| false),
            None => self.inherited.from(going.directory),
        };
        let inherits = inherits.doing(staging)?;
        // For this user only at first, unless something is inherited.
        let first = if inherits { node.mode & 0o777 } else { 0 };
        let inode = match self.make(node, first, &slot).doing(staging)? {
            Made::Link(inode) => inode,
            Made::Opened(made) => {
                match (going.kept, node.attributes_path()) {
                    (Some(kept), Some(path)) => {
                        let (real, _) = self.real.open_file(path).doing(staging)?;
                        let mode = node.committed_mode();
                        attributes::keep(kept, (&real, path), &made, mode)?;
                    }
                    _ => set_mode(&made, node.mode, inherits).doing(staging)?,
                }
                if let (Some(noted), Body::File(content)) = (&mut self.noted, &node.body) {
                    let state = Left::of(&made).doing(staging)?;
                    noted.states.insert(going.path.to_owned(), state);
                    if let Some(content) = content.as_ref().filter(|it| it.len() <= TEXT) {
                        noted.texts.insert(going.path.to_owned(), content.clone());
                    }
                }
                self.keep(made).doing(staging)?
            }
        };
        Ok(Staged { slot, inode })
    }

    /// Lets the next objects inherit nothing.
    pub fn end(&mut self) -> io::Result<()> {
        self.inherited.nothing()
    }

    /// Creates an object with these permissions, plus those that its owner needs during the
    /// commit.
    fn make(&mut self, node: &Node, mode: u32, slot: &str) -> io::Result<Made> {
        let (parent, name) = self.made_in.of(slot)?;
        step()?;
        match &node.body {
            Body::Directory(_) => {
                rustix::fs::mkdirat(&*parent, name, system::mode(mode | 0o700))?;
                let made = open_beneath(&parent, name, OFlags::RDONLY)?;
                Ok(Made::Opened(File::from(made)))
            }
            Body::Link(Some(target)) => {
                rustix::fs::symlinkat(&**target, &*parent, name)?;
                let made = rustix::fs::statat(&*parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
                self.made += 1;
                Ok(Made::Link(Stamp::of(&made).inode))
            }
            Body::File(content) => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let mode = system::mode(mode | 0o600);
                let made = File::from(rustix::fs::openat(&*parent, name, flags, mode)?);
                step()?;
                match content {
                    Some(content) => content.write_to(&made)?,
                    // The permissions change, and the contents stay.
                    None => self.copy_real(node, &made)?,
                }
                Ok(Made::Opened(made))
            }
            Body::Link(None) | Body::Special => Err(Errno::INVAL.into()),
        }
    }

    fn copy_real(&mut self, node: &Node, to: &File) -> io::Result<()> {
        let origin = node.origin.as_ref().ok_or(Errno::INVAL)?;
        let (from, _) = self.real.open_file(&origin.path)?;
        clone_or_copy(&from, to, u64::MAX).map(drop)
    }

    fn keep(&mut self, made: File) -> io::Result<u64> {
        let inode = Stamp::of(&rustix::fs::fstat(&made)?).inode;
        self.made += 1;
        if self.made < SYNC_ALL {
            self.unsynced.push(made);
        } else {
            self.unsynced.clear();
        }
        Ok(inode)
    }

    /// Returns how to sync all staged objects and the steps.
    pub fn durable(&self, steps: &[Step]) -> Durable {
        durable(self.made.max(steps.len()))
    }

    /// Syncs the staged objects, if each is synced separately.
    pub fn sync(self, durable: Durable) -> io::Result<()> {
        for made in &self.unsynced {
            sync(made, durable)?;
        }
        sync(self.folder, durable)
    }
}

/// Returns how to sync this many files, directories or steps. Many steps are synced together too,
/// so that most data of other programs is on the disk before everything is synced a second time.
fn durable(count: usize) -> Durable {
    if count >= SYNC_ALL {
        Durable::Together
    } else {
        Durable::Each
    }
}

/// Sets the permissions of a new object. An inherited ACL may restrict them.
fn set_mode(made: &File, mode: u32, inherits: bool) -> io::Result<()> {
    let allowed = if inherits {
        Stamp::of(&rustix::fs::fstat(made)?).mode | 0o7000
    } else {
        0o7777
    };
    step()?;
    Ok(rustix::fs::fchmod(made, system::mode(mode & allowed))?)
}

/// Syncs the directories in which names were changed.
pub(crate) fn sync_directories<'a>(
    lower: &Lower,
    directories: impl ExactSizeIterator<Item = &'a String>,
) -> Result<(), Failed> {
    let all = directories.len() >= SYNC_ALL;
    let sync = || -> io::Result<()> {
        if all {
            return sync_together(lower.root());
        }
        for directory in directories {
            match lower.open(directory, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(directory) => sync_now(&File::from(directory))?,
                // Another program moved or removed it.
                Err(error) if crate::lower::means_nothing_there(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    sync().doing(|| "sync the folder's names".to_owned())
}
