//! The files that a commit replaced or removed, kept for an undo.
//!
//! They are in slots of the transaction's folder anyway, so keeping them costs no copy: the folder
//! moves to `originals/SECONDS.BYTES.ID.HASH`, where the hash proves that it is ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::files::{Durable, entries, open_or_make, read, remove_file, sync, write_new};
use super::private::{Private, remove_slots, rename};
use super::{private, reading};
use crate::change::{Change, Facts};
use crate::error::{Doing, RecoverError};
use crate::lower::{Kind, open_beneath};
use crate::path::PRIVATE;
use crate::tree::Tree;
use crate::workspace::{Opened, Workspace};

/// The folder of all originals in the private folder, and the record in each.
const ORIGINALS: &str = "originals";

/// Maximum size of a record, in bytes.
const MAX_RECORD: u64 = 1 << 30;

/// How long originals are kept, and how many. The oldest are removed first, after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The time since the commit.
    pub time: Duration,
    /// The total size of all kept files in a workspace, in bytes. A commit that replaces and
    /// removes more than this keeps nothing.
    pub bytes: u64,
}

/// A commit whose originals are kept, so that it can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Originals {
    /// The id of the commit.
    pub id: String,
    /// The time of the commit.
    pub committed: SystemTime,
    /// The total size of the kept files, in bytes.
    pub bytes: u64,
}

/// The data for an undo.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub title: String,
    pub changes: Vec<Change>,
    /// The slots of the originals, by their paths before the commit.
    slots: BTreeMap<String, String>,
    /// The new paths of files that got the attributes of another file than the one that they
    /// replaced.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub other_attributes: BTreeSet<String>,
}

impl Record {
    pub fn new(
        title: &str,
        (tree, changes): (&Tree, &[Change]),
        slots: BTreeMap<String, String>,
    ) -> Self {
        let nodes = tree.ids().filter(|id| {
            let node = tree.node(*id);
            node.origin.is_some() && node.attributes_of.is_some()
        });
        Self {
            title: title.to_owned(),
            changes: changes.to_vec(),
            slots,
            other_attributes: nodes.filter_map(|id| tree.path_of(id)).collect(),
        }
    }

    fn bytes(&self) -> u64 {
        let before = self.changes.iter().filter_map(|change| {
            let path = change.from.as_ref().unwrap_or(&change.path);
            let before = change.before.as_ref()?;
            (before.kind == Kind::File && self.slots.contains_key(path)).then_some(before)
        });
        before.map(|facts: &Facts| facts.size).sum()
    }
}

impl Workspace {
    /// Returns the commits that can be undone, oldest first. [Recovers](Self::recover) interrupted
    /// commits first.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn originals(&self) -> Result<Vec<Originals>, RecoverError> {
        self.recover()?;
        let Some(private) = private(&self.inner)? else {
            return Ok(Vec::new());
        };
        let kept = private.originals().doing(reading)?.into_iter();
        Ok(kept.map(|(_, originals)| originals).collect())
    }
}

/// Returns the record of a commit, and the path of the folder with its slots, if its originals are
/// kept.
pub(crate) fn recorded(workspace: &Opened, id: &str) -> io::Result<Option<(Record, Slots)>> {
    let Some(private) = Private::open(workspace)? else {
        return Ok(None);
    };
    let kept = private.originals()?;
    let Some((name, _)) = kept.into_iter().find(|(_, kept)| kept.id == id) else {
        return Ok(None);
    };
    let folder = private.open_original(&name)?;
    let Some(sealed) = read(&folder, ORIGINALS, MAX_RECORD)? else {
        return Ok(None);
    };
    let record = private.unsealed(&name, &sealed);
    let record = record.and_then(|record| serde_json::from_slice(record).ok());
    let record: Record = record.ok_or(io::ErrorKind::InvalidData)?;
    let slots = Slots {
        folder: format!("{PRIVATE}/{ORIGINALS}/{name}"),
        slots: record.slots.clone(),
    };
    Ok(Some((record, slots)))
}

/// The paths of the originals in the real folder.
pub(crate) struct Slots {
    folder: String,
    slots: BTreeMap<String, String>,
}

impl Slots {
    /// Returns the current path of the object that was at this path before the commit.
    pub fn path_of(&self, original: &str) -> Option<String> {
        let slot = self.slots.get(original)?;
        Some(format!("{}/{slot}", self.folder))
    }
}

/// Removes the originals that are too old or too many.
pub(super) fn prune(workspace: &Opened, retention: &Retention) {
    let pruned = Private::open(workspace).and_then(|private| match private {
        Some(private) => private.prune_originals(retention),
        None => Ok(()),
    });
    if let Err(error) = pruned {
        tracing::warn!("could not remove old files from {PRIVATE}/{ORIGINALS}: {error}");
    }
}

impl Private<'_> {
    /// Writes the record for an undo to a transaction's folder. Returns the name that the folder
    /// will have, or `None` if the originals are too large to be kept.
    pub(super) fn write_originals(
        &self,
        folder: &File,
        id: &str,
        record: &Record,
        retention: &Retention,
        durable: Durable,
    ) -> io::Result<Option<String>> {
        let bytes = record.bytes();
        if bytes > retention.bytes || retention.time.is_zero() {
            return Ok(None);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = now.unwrap_or_default().as_secs();
        let name = self.original_name(&format!("{seconds}.{bytes}.{id}"));
        // Its own name is synced with the transaction.
        open_or_make(&self.folder, ORIGINALS)?;
        let sealed = self.sealed(&name, &serde_json::to_vec(record)?);
        write_new(folder, ORIGINALS, &sealed, durable)?;
        Ok(Some(name))
    }

    fn original_name(&self, facts: &str) -> String {
        let hash = self.hash(ORIGINALS, facts.as_bytes()).to_hex();
        format!("{facts}.{}", &hash[..32])
    }

    /// Moves a transaction's folder to its place among the originals. Returns false if that place
    /// is taken, because a backup restored the transaction.
    pub(super) fn keep_originals(&self, transaction: &str, name: &str) -> io::Result<bool> {
        let all = open_or_make(&self.folder, ORIGINALS)?;
        match rename((&self.folder, transaction), (&all, name), false) {
            Ok(()) => {
                // Not synced: if a power failure undoes the move, a recovery repeats it.
                sync(&all, Durable::Together)?;
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

    /// Returns what is kept by this user for this workspace, oldest first, with the folder's name.
    fn originals(&self) -> io::Result<Vec<(String, Originals)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let all = match open_beneath(&self.folder, ORIGINALS, flags) {
            Ok(all) => File::from(all),
            Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let names = entries(&all)?.into_iter();
        let names = names.filter_map(|name| name.into_string().ok());
        let mut kept: Vec<_> = names
            .filter_map(|name| Some((self.parsed(&name)?, name)))
            .map(|(originals, name)| (name, originals))
            .collect();
        kept.sort_by(|(one, a), (other, b)| (a.committed, one).cmp(&(b.committed, other)));
        Ok(kept)
    }

    /// Returns what a folder's name says, if the name is ours.
    fn parsed(&self, name: &str) -> Option<Originals> {
        let (facts, _) = name.rsplit_once('.')?;
        if self.original_name(facts) != name {
            return None;
        }
        let mut parts = facts.splitn(3, '.');
        let seconds = parts.next()?.parse().ok()?;
        let bytes = parts.next()?.parse().ok()?;
        Some(Originals {
            id: parts.next()?.to_owned(),
            committed: UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?,
            bytes,
        })
    }

    fn prune_originals(&self, retention: &Retention) -> io::Result<()> {
        let kept = self.originals()?;
        let mut bytes: u64 = kept.iter().map(|(_, it)| it.bytes).sum();
        for (name, originals) in &kept {
            let age = originals.committed.elapsed().unwrap_or_default();
            if age <= retention.time && bytes <= retention.bytes {
                continue;
            }
            let all = open_or_make(&self.folder, ORIGINALS)?;
            let folder = self.open_original(name)?;
            // Without its record, what is left of an interrupted removal is no longer used.
            remove_file(&folder, ORIGINALS)?;
            remove_slots(&all, name)?;
            bytes -= originals.bytes;
        }
        Ok(())
    }
}
