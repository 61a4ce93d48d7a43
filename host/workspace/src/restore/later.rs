//! What has become of the objects that a commit made: an undo changes those that are still as they
//! were left, and merges texts that were edited since.

use std::collections::BTreeMap;
use std::io;

use super::archive::Archive;
use super::{Conflicts, conflict};
use crate::change::digest_of_text;
use crate::error::{ConflictKind, Doing, RestoreError};
use crate::facts::{Change, Facts};
use crate::kept::Left;
use crate::lower::{Kind, Stamp};
use crate::merge::{TEXT, merge, patch, read_text};
use crate::view::RealFolder;

/// The objects that a commit made, as they are now.
#[derive(Default)]
pub(super) struct Later<'a> {
    /// The objects without a conflict.
    pub stamps: Vec<(&'a str, Stamp)>,
    /// The texts that were edited since, merged with the undo.
    pub merged: BTreeMap<&'a str, String>,
    pub conflicts: Conflicts,
}

/// The state of an object, compared with that in which the commit left it.
enum Now {
    AsLeft(Stamp),
    /// A file with other contents.
    Edited(Stamp),
    Other,
}

/// Compares everything that the commit made with the folder.
pub(super) fn later<'a>(
    real: &mut RealFolder<'_>,
    archive: &Archive<'a>,
) -> Result<Later<'a>, RestoreError> {
    let mut later = Later::default();
    for (number, change) in archive.record.changes.iter().enumerate() {
        let Some(after) = &change.after else { continue };
        let path = &*change.path;
        let looking = || format!("look at {path}");
        let left = archive.record.left.get(path);
        let found = match compare(real, change, (after, left)).doing(looking)? {
            Now::AsLeft(stamp) => Ok(stamp),
            Now::Edited(stamp) => merged(archive, change, &stamp)?.map(|text| {
                later.merged.insert(path, text);
                stamp
            }),
            Now::Other => Err(ConflictKind::Changed),
        };
        match found {
            Ok(stamp) => later.stamps.push((path, stamp)),
            Err(what) => drop(later.conflicts.insert(number, conflict(path, what))),
        }
    }
    Ok(later)
}

fn compare(
    real: &mut RealFolder<'_>,
    change: &Change,
    (after, left): (&Facts, Option<&Left>),
) -> io::Result<Now> {
    let Some(stamp) = real.stamp(&change.path)? else {
        return Ok(Now::Other);
    };
    if stamp.kind != after.kind {
        return Ok(Now::Other);
    }
    // Its inode identifies the contents of a large file that was only moved.
    if let Some(identity) = &after.identity {
        let same = (identity.inode, identity.size, identity.modified, after.mode)
            == (stamp.inode, stamp.size, stamp.modified, stamp.mode);
        return Ok(if same { Now::AsLeft(stamp) } else { Now::Other });
    }
    match after.kind {
        Kind::Directory | Kind::Special => Ok(Now::AsLeft(stamp)),
        Kind::Link => Ok(match real.facts(&change.path)? {
            Some((stamp, now)) if now.target == after.target => Now::AsLeft(stamp),
            _ => Now::Other,
        }),
        Kind::File => {
            // The permissions that were asked for may differ from those that the file got.
            let has_attributes = match left {
                Some(left) => *left == real.left(&change.path)?,
                None => stamp.mode == after.mode,
            };
            if !has_attributes {
                return Ok(Now::Other);
            }
            if stamp.size != after.size {
                return Ok(Now::Edited(stamp));
            }
            Ok(match real.facts(&change.path)? {
                Some((stamp, now)) if now.digest == after.digest => Now::AsLeft(stamp),
                Some((stamp, _)) => Now::Edited(stamp),
                None => Now::Other,
            })
        }
    }
}

/// Merges a text that was edited since with its undo, or returns the reason why it can't be.
fn merged(
    archive: &Archive<'_>,
    change: &Change,
    stamp: &Stamp,
) -> Result<Result<String, ConflictKind>, RestoreError> {
    let path = &*change.path;
    let changed = Ok(Err(ConflictKind::Changed));
    let (Some(before), Some(after)) = (&change.before, &change.after) else {
        return changed;
    };
    if stamp.size > TEXT {
        return changed;
    }
    let reading = || format!("read {path}");
    let (file, opened) = archive.lower.open_file(path).doing(reading)?;
    let Some(now) = read_text(&file).doing(reading)? else {
        return changed;
    };
    if !stamp.is_unchanged(&opened) {
        return changed;
    }
    if before.digest == after.digest {
        return Ok(Ok(now));
    }
    let Some(delta) = archive.record.deltas.get(path) else {
        return changed;
    };
    let original = archive.text(change.original_path(), before)?;
    let left =
        patch(&original, delta).filter(|left| after.digest.as_ref() == Some(&digest_of_text(left)));
    let left = left.ok_or_else(|| RestoreError::Incomplete(path.to_owned()))?;
    let merged = merge(&left, &now, &original);
    Ok(merged.map_err(|(first, last)| ConflictKind::Overlap { first, last }))
}
