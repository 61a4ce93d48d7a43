//! The private folder: the data that commits keep in a workspace.
//!
//! ```text
//! .airlock/
//!   .gitignore          keeps the folder out of version control
//!   lock                the file that commits lock
//!   committed           a line for each id that was committed
//!   outcomes/ID         the note of a committed id, until it is taken
//!   txn-RANDOM-HASH/    a commit in progress, or interrupted; the hash proves that it is ours
//!     journal           the steps to do; once this file exists, the commit has happened
//!     outcome           the file that becomes outcomes/ID; outcome-1, … are those of other ids
//!     n1, p2, …         new and parked objects
//!   originals/NAME/     what a commit replaced and removed, for an undo: see `originals.rs`
//!   kept/ID/n1-NAME     a replaced file that another program wrote to; only the user removes it
//! ```
//!
//! Each record that is trusted has a keyed hash, because a workspace may come from strangers.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::files::{
    Durable, entries, open_or_make, open_or_make_file, read, remove_entry, remove_file, remove_one,
    sync_now,
};
use super::plan::PARKED;
use super::step::Step;
use crate::fault::step;
use crate::lower::open_beneath;
use crate::path::PRIVATE;
use crate::workspace::Opened;

pub(crate) const TRANSACTION: &str = "txn-";

/// The name of the journal in a transaction's folder, once it is committed.
pub(crate) const JOURNAL: &str = "journal";

/// Maximum size of a journal, in bytes; enough for some million renames.
const MAX_JOURNAL: u64 = 1 << 30;

const MAX_COMMITTED: u64 = 256 << 20;

/// The contents of a journal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub id: String,
    /// The other ids of the commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    pub steps: Vec<Step>,
    /// The name under which the folder stays after the commit, with the originals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originals: Option<String>,
}

/// A workspace's private folder.
pub(crate) struct Private<'a> {
    workspace: &'a Opened,
    pub folder: File,
}

impl<'a> Private<'a> {
    /// Opens the private folder; `None` if there is none yet.
    pub fn open(workspace: &'a Opened) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = match workspace.lower.open(PRIVATE, flags) {
            Ok(folder) => File::from(folder),
            Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {
                return Ok(None);
            }
            Err(error) if crate::lower::means_nothing_there(&error) => {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("{PRIVATE} is in the workspace, and is no directory"),
                ));
            }
            Err(error) => return Err(error),
        };
        workspace.lower.check_mount(PRIVATE)?;
        Ok(Some(Self { workspace, folder }))
    }

    /// Opens or creates the private folder. Also returns whether it was created.
    pub fn open_or_make(workspace: &'a Opened) -> io::Result<(Self, bool)> {
        if let Some(private) = Self::open(workspace)? {
            return Ok((private, false));
        }
        step()?;
        let root = workspace.lower.root();
        let is_made = match rustix::fs::mkdirat(root, PRIVATE, Mode::from_raw_mode(0o700)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        let private = Self::open(workspace)?.ok_or(Errno::NOENT)?;
        Ok((private, is_made))
    }

    pub fn hash(&self, what: &str, of: &[u8]) -> blake3::Hash {
        self.hasher(what).update(of).finalize()
    }

    pub fn hasher(&self, what: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.workspace.hash_key);
        hasher.update(what.as_bytes());
        hasher.update(b"\0");
        hasher
    }

    /// Returns a record preceded by its hash.
    #[cfg(any(test, fuzzing))]
    pub fn sealed(&self, what: &str, record: &[u8]) -> Vec<u8> {
        let mut sealed = self.hash(what, record).to_hex().as_bytes().to_vec();
        sealed.push(b'\n');
        sealed.extend_from_slice(record);
        sealed
    }

    /// Returns the record if its hash is ours.
    pub fn unsealed<'r>(&self, what: &str, sealed: &'r [u8]) -> Option<&'r [u8]> {
        let (hash, record) = sealed.split_at_checked(blake3::OUT_LEN * 2)?;
        let record = record.strip_prefix(b"\n")?;
        let hash = blake3::Hash::from_hex(hash).ok()?;
        // Compared in constant time.
        (hash == self.hash(what, record)).then_some(record)
    }

    /// Checks before a commit that it can be recorded: another user may have put a link at one of
    /// our paths.
    fn check_places(&self) -> io::Result<()> {
        self.make_ignored()?;
        let committed = self.open_committed()?;
        // Until a commit is done, this folder's own name may not be on the disk.
        if committed.metadata()?.len() == 0 {
            let workspace = self.workspace.lower.open("", OFlags::RDONLY)?;
            sync_now(&File::from(workspace))?;
        }
        self.open_or_make_outcomes().map(drop)
    }

    fn make_ignored(&self) -> io::Result<()> {
        step()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        match rustix::fs::openat(&self.folder, ".gitignore", flags, mode) {
            Ok(ignore) => {
                let mut ignore = File::from(ignore);
                step()?;
                ignore.write_all(b"*\n")
            }
            Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub fn open_or_make_outcomes(&self) -> io::Result<File> {
        open_or_make(&self.folder, "outcomes")
    }

    pub fn open_committed(&self) -> io::Result<File> {
        open_or_make_file(&self.folder, "committed")
    }

    /// Creates a new transaction's folder.
    pub fn begin(&self) -> io::Result<(String, File)> {
        self.check_places()?;
        let random = u64::from_le_bytes(self.random()?);
        let name = self.transaction_name(&format!("{random:016x}"));
        step()?;
        rustix::fs::mkdirat(&self.folder, &*name, Mode::from_raw_mode(0o700))?;
        let folder = File::from(open_beneath(&self.folder, &name, OFlags::RDONLY)?);
        Ok((name, folder))
    }

    /// Returns a name that includes the hash, so that the folder is identifiable as ours from the
    /// start.
    pub fn transaction_name(&self, random: &str) -> String {
        let hash = self.hash("transaction", random.as_bytes()).to_hex();
        format!("{TRANSACTION}{random}-{}", &hash[..32])
    }

    fn random(&self) -> io::Result<[u8; 8]> {
        let mut random = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        Ok(random)
    }

    pub fn open_transaction(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        open_beneath(&self.folder, name, flags).map(File::from)
    }

    /// Returns whether this user created a transaction's folder for this workspace.
    pub fn is_ours(&self, name: &str) -> bool {
        let random = name.strip_prefix(TRANSACTION);
        let random = random.and_then(|rest| rest.split_once('-'));
        random.is_some_and(|(random, _)| name == self.transaction_name(random))
    }

    /// Returns the folders of all transactions, including other users'.
    pub fn transactions(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let folder = open_beneath(&self.folder, "", OFlags::RDONLY)?;
        for entry in rustix::fs::Dir::new(folder)? {
            if let Ok(name) = entry?.file_name().to_str()
                && name.starts_with(TRANSACTION)
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Writes the journal that [`commit`](Self::commit) puts in effect.
    pub fn write_journal(
        &self,
        folder: &File,
        journal: &Journal,
        durable: Durable,
    ) -> io::Result<()> {
        let written =
            self.write_sealed(folder, "journal.new", "journal", journal, u64::MAX, durable);
        written.map(drop)
    }

    /// Makes a commit happen once everything is durable. From here on it is completed, now or by a
    /// recovery.
    pub fn commit(&self, folder: &File) -> io::Result<()> {
        step()?;
        rustix::fs::renameat(folder, "journal.new", folder, JOURNAL)?;
        sync_now(folder)
    }

    /// Reads a transaction's journal; `None` if the commit has not happened.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if the journal is not ours.
    pub fn journal(&self, folder: &File) -> io::Result<Option<Journal>> {
        let Some(sealed) = read(folder, JOURNAL, MAX_JOURNAL)? else {
            return Ok(None);
        };
        let record = self.unsealed("journal", &sealed);
        let journal = record.and_then(|record| serde_json::from_slice(record).ok());
        journal.map(Some).ok_or(io::ErrorKind::InvalidData.into())
    }

    /// Removes the journal durably.
    pub fn remove_journal(&self, folder: &File) -> io::Result<()> {
        remove_file(folder, JOURNAL)?;
        sync_now(folder)
    }

    pub fn is_committed(&self, id: &str) -> io::Result<bool> {
        let committed = read(&self.folder, "committed", MAX_COMMITTED)?.unwrap_or_default();
        let mut lines = committed.split(|byte| *byte == b'\n');
        Ok(lines.any(|line| {
            // The hash is computed for lines that may have this id.
            line.starts_with(id.as_bytes()) && self.our_id(line) == Some(id)
        }))
    }

    /// Returns the id that was committed last.
    pub fn last_committed(&self) -> io::Result<Option<String>> {
        let committed = read(&self.folder, "committed", MAX_COMMITTED)?.unwrap_or_default();
        let mut lines = committed.rsplit(|byte| *byte == b'\n');
        Ok(lines.find_map(|line| self.our_id(line)).map(str::to_owned))
    }

    /// Returns the id in a line of `committed`, if its hash is ours.
    fn our_id<'l>(&self, line: &'l [u8]) -> Option<&'l str> {
        let (id, by) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        let hash = self.hash("committed", id.as_bytes());
        blake3::Hash::from_hex(by).ok().filter(|by| *by == hash)?;
        Some(id)
    }

    /// Removes a transaction's folder, which has no journal any more.
    pub fn remove_transaction(&self, name: &str) -> io::Result<()> {
        let folder = self.open_transaction(name)?;
        for entry in entries(&folder)? {
            // Parked directories are empty. A file that another program has put into one since
            // belongs to that program.
            if entry.to_bytes().starts_with(PARKED.as_bytes()) {
                remove_one(&folder, &entry)?
            } else {
                remove_entry(&folder, &entry)?
            }
        }
        step()?;
        let flags = AtFlags::REMOVEDIR;
        Ok(rustix::fs::unlinkat(&self.folder, name, flags)?)
    }
}

/// Renames a file. Replaces nothing, or exchanges the two.
pub(crate) fn rename(from: (&File, &str), to: (&File, &str), exchange: bool) -> io::Result<()> {
    let flags = if exchange {
        RenameFlags::EXCHANGE
    } else {
        RenameFlags::NOREPLACE
    };
    step()?;
    Ok(rustix::fs::renameat_with(
        from.0, from.1, to.0, to.1, flags,
    )?)
}
