//! The files that a commit replaced or removed, kept for an undo.
//!
//! They are in slots of the transaction's folder anyway, so keeping them costs no copy: the folder
//! moves to `originals/TIME.BYTES.ID.HASH`, where the hash proves that it is ours.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::deltas::Deltas;
use super::files::{Durable, entries, open_or_make, read, remove_file, remove_one};
use super::private::{JOURNAL, Private, rename};
use super::{private, reading};
use crate::error::{Doing, RecoverError};
use crate::facts::{Change, Facts};
use crate::fault::step;
use crate::kept::Left;
use crate::lower::{Kind, open_beneath};
use crate::path::PRIVATE;
use crate::ticket::{Originals, Retention};
use crate::workspace::{Opened, Workspace};

/// The folder of all originals in the private folder, and the record in each.
const ORIGINALS: &str = "originals";

/// The list of the other ids of a commit.
const OTHERS: &str = "others";

/// Maximum size of a record, in bytes. A larger commit can't be undone.
const MAX_RECORD: u64 = 256 << 20;

impl Retention {
    /// Keeps nothing.
    pub(super) const NONE: Self = Self {
        time: Duration::ZERO,
        bytes: 0,
    };
}

/// The data for an undo.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record<'a> {
    pub title: Cow<'a, str>,
    pub changes: Cow<'a, [Change]>,
    /// The slots of the originals, by their paths before the commit.
    pub slots: BTreeMap<String, String>,
    /// The states of the files that the commit made, by their paths.
    pub left: BTreeMap<String, Left>,
    #[serde(default)]
    pub deltas: Deltas,
}

impl Record<'_> {
    /// Returns the total size of the originals, in bytes.
    fn bytes(&self) -> u64 {
        let before = self.changes.iter().filter_map(|change| {
            let path = change.original_path();
            let before = change.before.as_ref()?;
            (before.kind == Kind::File && self.slots.contains_key(path)).then_some(before)
        });
        before.map(|facts: &Facts| facts.size).sum()
    }
}

impl Workspace {
    /// Returns the commits whose originals are kept, in the order of the commits. Doesn't recover
    /// interrupted ones.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn originals(&self) -> Result<Vec<Originals>, RecoverError> {
        let Some(private) = private(&self.inner)? else {
            return Ok(Vec::new());
        };
        let kept = private.originals().doing(reading)?.into_iter();
        let complete = kept.filter(|(name, _)| private.has_record(name));
        let complete = complete.map(|(name, originals)| Originals {
            others: private.others(&name, &originals.id),
            ..originals
        });
        Ok(complete.collect())
    }
}

/// Returns the record of a commit, and the path of the folder with its slots, if its originals are
/// kept.
pub(crate) fn recorded(
    workspace: &Opened,
    id: &str,
) -> io::Result<Option<(Record<'static>, String)>> {
    let Some(private) = Private::open(workspace)? else {
        return Ok(None);
    };
    let kept = private.originals()?;
    let is_of = |(name, kept): &(String, Originals)| {
        kept.id == id || private.others(name, &kept.id).iter().any(|it| it == id)
    };
    let Some((name, kept)) = kept.into_iter().find(is_of) else {
        return Ok(None);
    };
    let folder = private.open_original(&name)?;
    let Some(sealed) = read(&folder, ORIGINALS, MAX_RECORD + 1024)? else {
        return Ok(None);
    };
    let record = private.unsealed(&seal_of(&kept.id), &sealed);
    let record = record.and_then(|record| serde_json::from_slice(record).ok());
    let record = record.ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some((record, format!("{PRIVATE}/{ORIGINALS}/{name}"))))
}

/// Removes the originals that are too old or too large.
pub(super) fn prune(workspace: &Opened, retention: Retention) {
    let pruned = Private::open(workspace).and_then(|private| match private {
        Some(private) => private.prune_originals(retention),
        None => Ok(()),
    });
    if let Err(error) = pruned {
        tracing::warn!("could not read {PRIVATE}/{ORIGINALS}: {error}");
    }
}

impl Private<'_> {
    /// Writes the record for an undo to a transaction's folder. Returns the name that the folder
    /// will have, or `None` if the originals are too large to be kept.
    pub(super) fn write_originals(
        &self,
        folder: &File,
        id: &str,
        record: &Record<'_>,
        retention: &Retention,
        durable: Durable,
    ) -> io::Result<Option<String>> {
        let originals = record.bytes();
        if originals > retention.bytes || retention.time.is_zero() {
            return Ok(None);
        }
        let what = seal_of(id);
        let written = self.write_sealed(folder, ORIGINALS, &what, record, MAX_RECORD, durable);
        let size = match written {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => u64::MAX,
            written => written?,
        };
        let bytes = originals.saturating_add(size);
        if bytes > retention.bytes {
            remove_file(folder, ORIGINALS)?;
            return Ok(None);
        }
        // Later than the others, even if the clock was set back.
        let last = self.originals()?.pop().map(|(_, last)| last.committed);
        let last = last.map_or(0, |last| nanoseconds(last).saturating_add(1));
        let time = nanoseconds(SystemTime::now()).max(last);
        let name = self.original_name(&format!("{time}.{bytes}.{id}"));
        // Its own name is synced with the transaction.
        open_or_make(&self.folder, ORIGINALS)?;
        Ok(Some(name))
    }

    /// Writes the other ids of a commit, so that any of them names it for an undo.
    pub(super) fn write_others(
        &self,
        folder: &File,
        id: &str,
        others: &[String],
        durable: Durable,
    ) -> io::Result<()> {
        let what = format!("{OTHERS} of {id}");
        let written = self.write_sealed(folder, OTHERS, &what, &others, MAX_RECORD, durable);
        written.map(drop)
    }

    /// Returns the other ids of a commit whose originals are kept.
    fn others(&self, name: &str, id: &str) -> Vec<String> {
        let folder = self.open_original(name).ok();
        let sealed = folder.and_then(|folder| read(&folder, OTHERS, MAX_RECORD).ok()?);
        let others = sealed.and_then(|sealed| {
            let record = self.unsealed(&format!("{OTHERS} of {id}"), &sealed)?;
            serde_json::from_slice(record).ok()
        });
        others.unwrap_or_default()
    }

    fn original_name(&self, facts: &str) -> String {
        let hash = self.hash(ORIGINALS, facts.as_bytes()).to_hex();
        format!("{facts}.{}", &hash[..32])
    }

    /// Moves a transaction's folder to its place among the originals. Returns false if that place
    /// is taken, because a backup restored the transaction. If a power failure undoes the move, a
    /// recovery repeats it.
    pub(super) fn keep_originals(&self, transaction: &str, name: &str) -> io::Result<bool> {
        let all = open_or_make(&self.folder, ORIGINALS)?;
        match rename((&self.folder, transaction), (&all, name), false) {
            Ok(()) => {
                remove_file(&self.open_original(name)?, JOURNAL)?;
                Ok(true)
            }
            Err(error) if error.raw_os_error() == Some(Errno::EXIST.raw_os_error()) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn open_original(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        open_beneath(&self.folder, &format!("{ORIGINALS}/{name}"), flags).map(File::from)
    }

    fn has_record(&self, name: &str) -> bool {
        let record = format!("{ORIGINALS}/{name}/{ORIGINALS}");
        rustix::fs::statat(&self.folder, record, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Returns what is kept by this user for this workspace, in the order of the commits, with the
    /// folder's name.
    fn originals(&self) -> io::Result<Vec<(String, Originals)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let all = match open_beneath(&self.folder, ORIGINALS, flags) {
            Ok(all) => File::from(all),
            Err(error) if crate::lower::means_nothing_there(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = entries(&all)?.into_iter();
        let names = names.filter_map(|name| name.into_string().ok());
        let mut kept: Vec<_> = names
            .filter_map(|name| Some((self.parsed(&name)?, name)))
            .map(|(originals, name)| (name, originals))
            .collect();
        kept.sort_by_key(|(_, originals)| originals.committed);
        Ok(kept)
    }

    /// Returns what a folder's name says, if the name is ours.
    fn parsed(&self, name: &str) -> Option<Originals> {
        let (facts, _) = name.rsplit_once('.')?;
        if self.original_name(facts) != name {
            return None;
        }
        let mut parts = facts.splitn(3, '.');
        let time = Duration::from_nanos(parts.next()?.parse().ok()?);
        let bytes = parts.next()?.parse().ok()?;
        Some(Originals {
            id: parts.next()?.to_owned(),
            others: Vec::new(),
            committed: UNIX_EPOCH.checked_add(time)?,
            bytes,
        })
    }

    fn prune_originals(&self, retention: Retention) -> io::Result<()> {
        let kept = self.originals()?;
        let mut bytes: u64 = kept.iter().map(|(_, it)| it.bytes).sum();
        for (name, originals) in &kept {
            let age = originals.committed.elapsed().unwrap_or_default();
            if age <= retention.time && bytes <= retention.bytes {
                continue;
            }
            // One that can't be removed, such as a directory that another program still uses, must
            // not keep the others.
            match self.remove_original(name) {
                Ok(()) => bytes -= originals.bytes,
                Err(error) => {
                    tracing::warn!("could not remove {PRIVATE}/{ORIGINALS}/{name}: {error}");
                }
            }
        }
        Ok(())
    }

    fn remove_original(&self, name: &str) -> io::Result<()> {
        let folder = self.open_original(name)?;
        // Without its record, what is left of an interrupted removal is no longer used.
        remove_file(&folder, ORIGINALS)?;
        // Slots are files and empty directories. Anything else belongs to another program.
        for slot in entries(&folder)? {
            remove_one(&folder, &slot)?;
        }
        step()?;
        let name = format!("{ORIGINALS}/{name}");
        Ok(rustix::fs::unlinkat(
            &self.folder,
            name,
            AtFlags::REMOVEDIR,
        )?)
    }
}

/// Returns what the hash of a commit's record is about.
fn seal_of(id: &str) -> String {
    format!("{ORIGINALS} of {id}")
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
