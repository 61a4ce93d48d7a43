//! New contents, complete and synced in the private folder, before anything in the workspace is
//! touched.

use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;

use super::files::{Durable, sync};
use super::plan::Step;
use crate::error::{CommitError, Doing, Failed};
use crate::fault::step;
use crate::lower::{Lower, open_beneath};
use crate::parents::Parents;
use crate::tree::{Body, Node};

/// From how many files on the whole file system is synced at once, which then costs less than one
/// sync for each.
const SYNC_ALL: usize = 16;

/// A transaction's folder while it is filled.
pub(crate) struct Staging<'a> {
    folder: &'a File,
    /// Of the real files.
    real: Parents<'a>,
    /// Of the slots.
    made_in: Parents<'a>,
    slots: u64,
    /// Files and directories that were made.
    unsynced: Vec<File>,
    made: usize,
}

/// Something that is ready to be put in its place.
pub(crate) struct Staged {
    pub slot: String,
    pub inode: u64,
}

impl<'a> Staging<'a> {
    pub fn new(folder: &'a File, lower: &'a Lower) -> Self {
        Self {
            folder,
            real: lower.parents(),
            made_in: Parents::new(folder),
            slots: 0,
            unsynced: Vec::new(),
            made: 0,
        }
    }

    pub fn new_slot(&mut self, prefix: &str) -> String {
        self.slots += 1;
        format!("{prefix}{}", self.slots)
    }

    /// Makes what a node has that is new, under a name below the transaction's folder.
    pub fn stage(&mut self, node: &Node, slot: &str) -> Result<Staged, CommitError> {
        let inode = self
            .make(node, slot)
            .doing(|| "stage a change beside the files".to_owned())?;
        Ok(Staged {
            slot: slot.to_owned(),
            inode,
        })
    }

    fn make(&mut self, node: &Node, slot: &str) -> io::Result<u64> {
        let (parent, name) = self.made_in.of(slot)?;
        step()?;
        match &node.body {
            Body::Directory(_) => {
                rustix::fs::mkdirat(&*parent, name, Mode::from_raw_mode(0o700))?;
                let made = File::from(open_beneath(&parent, name, OFlags::RDONLY)?);
                step()?;
                rustix::fs::fchmod(&made, Mode::from_raw_mode(node.mode))?;
                self.keep(made)
            }
            Body::Link(Some(target)) => {
                rustix::fs::symlinkat(&**target, &*parent, name)?;
                let made = rustix::fs::statat(&*parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
                self.made += 1;
                Ok(made.st_ino)
            }
            Body::File(content) => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(0o600);
                let made = File::from(rustix::fs::openat(&*parent, name, flags, mode)?);
                step()?;
                match content {
                    Some(content) => content.write_to(&made)?,
                    // Other permissions, and the contents of before.
                    None => self.copy_real(node, &made)?,
                }
                self.like_before(node, &made)?;
                step()?;
                rustix::fs::fchmod(&made, Mode::from_raw_mode(node.mode))?;
                self.keep(made)
            }
            Body::Link(None) | Body::Special => Err(Errno::INVAL.into()),
        }
    }

    fn copy_real(&mut self, node: &Node, to: &File) -> io::Result<()> {
        let origin = node.origin.as_ref().ok_or(Errno::INVAL)?;
        let (mut from, _) = self.real.open_file(&origin.path)?;
        if rustix::fs::ioctl_ficlone(to, &from).is_err() {
            let mut to = to;
            io::copy(&mut from, &mut to)?;
        }
        Ok(())
    }

    /// A file that is replaced keeps its owner and its extended attributes, access lists among
    /// them.
    fn like_before(&mut self, node: &Node, made: &File) -> io::Result<()> {
        let Some(origin) = &node.origin else {
            return Ok(());
        };
        let now = rustix::fs::fstat(made)?;
        let (user, group) = origin.stamp.owner;
        if (now.st_uid, now.st_gid) != (user, group) {
            let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
            step()?;
            rustix::fs::fchown(made, Some(user), Some(group))?;
        }
        let (real, _) = self.real.open_file(&origin.path)?;
        for name in extended_attributes(&real)? {
            let mut value = vec![0; rustix::fs::fgetxattr(&real, &*name, &mut [0; 0][..])?];
            let length = rustix::fs::fgetxattr(&real, &*name, &mut value[..])?;
            value.truncate(length);
            step()?;
            match rustix::fs::fsetxattr(made, &*name, &value, XattrFlags::empty()) {
                // What the system itself gives each file, and lets nobody set.
                Err(Errno::PERM | Errno::OPNOTSUPP) if name.starts_with("security.") => {}
                set => set?,
            }
        }
        Ok(())
    }

    fn keep(&mut self, made: File) -> io::Result<u64> {
        let inode = rustix::fs::fstat(&made)?.st_ino;
        self.made += 1;
        if self.made < SYNC_ALL {
            self.unsynced.push(made);
        } else {
            self.unsynced.clear();
        }
        Ok(inode)
    }

    /// How all that was staged, and the steps with it, are to be made durable.
    pub fn durable(&self, steps: &[Step]) -> Durable {
        durable(self.made.max(steps.len()))
    }

    /// Syncs what was staged, where each is synced by itself.
    pub fn sync(self, durable: Durable) -> io::Result<()> {
        for made in &self.unsynced {
            sync(made, durable)?;
        }
        sync(self.folder, durable)
    }
}

/// How so many are made durable: files, directories or steps. Of steps, so that what others have
/// written is mostly on the disk by the second time that everything is synced.
pub(crate) fn durable(count: usize) -> Durable {
    match count >= SYNC_ALL {
        true => Durable::Together,
        false => Durable::Each,
    }
}

fn extended_attributes(file: &File) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let length = match rustix::fs::flistxattr(file, &mut [0; 0][..]) {
        Err(Errno::OPNOTSUPP) => return Ok(names),
        length => length?,
    };
    let mut list = vec![0; length];
    let length = rustix::fs::flistxattr(file, &mut list[..])?;
    for name in list[..length].split(|byte| *byte == 0) {
        if let Ok(name) = std::str::from_utf8(name)
            && !name.is_empty()
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Syncs the directories in which names were changed.
pub(crate) fn sync_directories<'a>(
    lower: &Lower,
    directories: impl ExactSizeIterator<Item = &'a String>,
) -> Result<(), Failed> {
    let all = directories.len() >= SYNC_ALL;
    let sync = || -> io::Result<()> {
        if all {
            step()?;
            return Ok(rustix::fs::syncfs(lower.root())?);
        }
        for directory in directories {
            step()?;
            match lower.open(directory, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(directory) => File::from(directory).sync_all()?,
                // It has moved since, or gone: its new place is synced too.
                Err(error) if crate::lower::means_nothing_there(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    sync().doing(|| "sync the folder's names".to_owned())
}
