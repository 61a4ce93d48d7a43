//! Files that a commit replaces or removes while another program writes to them through an open
//! descriptor.

use std::collections::HashSet;
use std::fs::File;
use std::io;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::files::{open_or_make, sync_now};
use super::private::{Journal, Private};
use super::step::{Name, Object, Step};
use super::writers::has_writers;
use crate::error::{CommitError, Doing};
use crate::fault::step;
use crate::lower::{Kind, Lower, OpenedToRead, Stamp, opened_to_read};
use crate::path::{PRIVATE, parent_and_name};

/// The folder in the private folder for files that were written to during a commit.
const DISPLACED_FOLDER: &str = "kept";

/// A file that ends up in a slot and is removed with it.
struct Displaced<'a> {
    slot: &'a str,
    /// The file's path in the workspace.
    path: &'a str,
    object: &'a Object,
    /// True if another file has replaced it.
    is_replaced: bool,
}

fn displaced(steps: &[Step]) -> impl Iterator<Item = Displaced<'_>> {
    let placed_again: HashSet<&str> = steps
        .iter()
        .filter_map(|step| match &step.from {
            Name::Slot(slot) => Some(&**slot),
            Name::Path(_) => None,
        })
        .collect();
    steps.iter().filter_map(move |step| {
        let found = match (&step.from, &step.to, &step.displaced) {
            (Name::Slot(slot), Name::Path(path), Some(object)) => Displaced {
                slot,
                path,
                object,
                is_replaced: true,
            },
            (Name::Path(path), Name::Slot(slot), _) if !placed_again.contains(&**slot) => {
                Displaced {
                    slot,
                    path,
                    object: &step.object,
                    is_replaced: false,
                }
            }
            _ => return None,
        };
        // Directories have no contents.
        found.object.contents.is_some().then_some(found)
    })
}

/// Refuses to replace files that are open for writing, because later writes would be lost.
pub(super) fn refuse_open_files(steps: &[Step], lower: &Lower) -> Result<(), CommitError> {
    for file in displaced(steps).filter(|it| it.is_replaced) {
        let looking = || format!("look at {}", file.path);
        // Changed and unreadable files are reported elsewhere.
        if let Ok((opened, _)) = lower.open_file(file.path)
            && has_writers(&opened).doing(looking)?
        {
            return Err(CommitError::InUse(file.path.to_owned()));
        }
    }
    Ok(())
}

/// Returns the path of a file that was written to after it left its place, if there is any.
pub(super) fn written_to(journal: &Journal, folder: &File) -> io::Result<Option<String>> {
    for file in displaced(&journal.steps) {
        if let Some(now) = file.now(folder)?
            && !file.object.is(&now)
        {
            return Ok(Some(file.path.to_owned()));
        }
    }
    Ok(None)
}

/// Keeps files that were or may still be written to after they left their places. Returns their
/// new paths below the workspace.
pub(super) fn keep_written(
    private: &Private<'_>,
    folder: &File,
    journal: &Journal,
) -> io::Result<Vec<String>> {
    let mut kept = Vec::new();
    for file in displaced(&journal.steps) {
        let Some(now) = file.now(folder)? else {
            continue;
        };
        if file.object.is(&now) && !file.is_open(folder)? {
            continue;
        }
        let (_, name) = parent_and_name(file.path);
        let name = format!("{}-{name}", file.slot);
        let all = open_or_make(&private.folder, DISPLACED_FOLDER)?;
        let keeping = open_or_make(&all, &journal.id)?;
        step()?;
        rustix::fs::renameat(folder, file.slot, &keeping, &*name)?;
        // From the innermost folder out, because each may be new.
        for directory in [&keeping, &all, &private.folder] {
            sync_now(directory)?;
        }
        kept.push(format!(
            "{PRIVATE}/{DISPLACED_FOLDER}/{}/{name}",
            journal.id
        ));
    }
    Ok(kept)
}

impl Displaced<'_> {
    /// Returns the file's current stamp; `None` if it is not a file, or if an interrupted cleanup
    /// removed it.
    fn now(&self, folder: &File) -> io::Result<Option<Stamp>> {
        match rustix::fs::statat(folder, self.slot, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Stamp::of(&stat)).filter(|now| now.kind == Kind::File)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn is_open(&self, folder: &File) -> io::Result<bool> {
        match opened_to_read(folder, self.slot).and_then(OpenedToRead::file) {
            Ok((opened, _)) => has_writers(&opened),
            // There is no way to find out.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
            Err(error) => Err(error),
        }
    }
}
