//! Files that a commit replaces or removes, and that another program writes to meanwhile through a
//! descriptor that it has open.

use std::collections::HashSet;
use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::plan::{Name, Object, Step};
use super::private::{Journal, Private};
use super::writers::has_writers;
use crate::error::{CommitError, Doing};
use crate::fault::step;
use crate::lower::{Kind, Lower, Stamp, means_nothing_there, open_beneath};
use crate::path::{PRIVATE, parent_and_name};

/// Where what was written to meanwhile is kept, in the private folder.
const KEPT: &str = "kept";

/// A file that ends up in a slot, and is removed with it.
struct Displaced<'a> {
    slot: &'a str,
    /// Where it was in the workspace.
    path: &'a str,
    object: &'a Object,
    /// Whether another file has taken its place.
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
        // Directories have no contents of their own.
        found.object.contents.is_some().then_some(found)
    })
}

/// What the program writes that has a file open would be lost once another file has its place.
pub(super) fn refuse_open_files(steps: &[Step], lower: &Lower) -> Result<(), CommitError> {
    for file in displaced(steps).filter(|it| it.is_replaced) {
        let looking = || format!("look at {}", file.path);
        let is_open = match lower.open_file(file.path) {
            Ok((opened, _)) => has_writers(&opened).doing(looking)?,
            // That it has changed, or can't be read, is told by whoever needs to know.
            Err(_) => false,
        };
        if is_open {
            return Err(CommitError::InUse(file.path.to_owned()));
        }
    }
    Ok(())
}

/// The path of a file that was written to since it left its place, if there is any.
pub(super) fn written_to(journal: &Journal, folder: &File) -> io::Result<Option<String>> {
    for file in displaced(&journal.steps) {
        if is_written_to(&file, folder)? {
            return Ok(Some(file.path.to_owned()));
        }
    }
    Ok(None)
}

fn is_written_to(file: &Displaced<'_>, folder: &File) -> io::Result<bool> {
    match rustix::fs::statat(folder, file.slot, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => {
            let stamp = Stamp::of(&stat);
            Ok(stamp.kind == Kind::File && !file.object.is(&stamp))
        }
        // It was removed by a cleanup that was cut off.
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Keeps what was written to since it left its place, and what may still be: returns where, below
/// the workspace.
pub(super) fn keep_written(
    private: &Private<'_>,
    folder: &File,
    journal: &Journal,
) -> io::Result<Vec<String>> {
    let mut kept = Vec::new();
    for file in displaced(&journal.steps) {
        if !is_written_to(&file, folder)? && !is_open(&file, folder)? {
            continue;
        }
        let (_, name) = parent_and_name(file.path);
        let name = format!("{}-{name}", file.slot);
        let keeping = private.open_or_make_folder(KEPT)?;
        step()?;
        match rustix::fs::mkdirat(&keeping, &*journal.id, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let keeping = File::from(open_beneath(&keeping, &journal.id, flags)?);
        step()?;
        rustix::fs::renameat(folder, file.slot, &keeping, &*name)?;
        step()?;
        keeping.sync_all()?;
        kept.push(format!("{PRIVATE}/{KEPT}/{}/{name}", journal.id));
    }
    Ok(kept)
}

fn is_open(file: &Displaced<'_>, folder: &File) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    match open_beneath(folder, file.slot, flags) {
        Ok(opened) => has_writers(&File::from(opened)),
        Err(error) if means_nothing_there(&error) => Ok(false),
        // Nobody can find out.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        Err(error) => Err(error),
    }
}
