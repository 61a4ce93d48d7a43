//! The states of objects that a commit created, for a rollback: if another program changed one in
//! its place, removing it would lose that change.

use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, OFlags};

use super::files::entries;
use super::plan::MADE;
use super::step::{Name, Step};
use crate::lower::{Kind, Stamp, open_beneath};
use crate::parents::Parents;

/// Records the states of created objects, once they no longer change.
pub(crate) fn note_made(steps: &mut [Step], slots: &File) -> io::Result<()> {
    for step in steps {
        if let Name::Slot(slot) = &step.from
            && slot.starts_with(MADE)
        {
            step.made = Some(state_of(slots, slot)?);
        }
    }
    Ok(())
}

/// Returns the state of a slot with everything below it: names, inodes, sizes in bytes, and times
/// of the last change.
pub(super) fn state_of(slots: &File, slot: &str) -> io::Result<u64> {
    let mut hasher = blake3::Hasher::new();
    let mut left = vec![slot.to_owned()];
    while let Some(path) = left.pop() {
        let (parent, name) = Parents::new(slots).of(&path)?;
        let stat = rustix::fs::statat(&*parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let stamp = Stamp::of(&stat);
        hasher.update(&path.as_bytes()[slot.len()..]);
        hasher.update(&[0, stamp.kind as u8]);
        hasher.update(&stamp.inode.to_le_bytes());
        if stamp.kind != Kind::Directory {
            hasher.update(&stamp.size.to_le_bytes());
            hasher.update(&stamp.modified.0.to_le_bytes());
            hasher.update(&stamp.modified.1.to_le_bytes());
        } else {
            let below = names_in(slots, &path)?;
            left.extend(below.into_iter().map(|name| format!("{path}/{name}")));
        }
    }
    let mut state = [0; 8];
    hasher.finalize_xof().fill(&mut state);
    Ok(u64::from_le_bytes(state))
}

/// Returns the names in order. A commit creates no names that are not UTF-8, so a placeholder for
/// one makes a difference.
fn names_in(slots: &File, path: &str) -> io::Result<Vec<String>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let directory = File::from(open_beneath(slots, path, flags)?);
    let names = entries(&directory)?.into_iter();
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}
