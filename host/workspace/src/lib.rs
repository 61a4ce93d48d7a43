//! A transactional folder: changes go to a layer above it, and are committed in one crash-safe step
//! or not at all.
//!
//! ```
//! use airlock_workspace::{Key, LayerOptions, OpenOptions, Opened, Ticket, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temporary = tempfile::tempdir()?;
//! # let (folder, spill) = (temporary.path().join("folder"), temporary.path());
//! # std::fs::create_dir(&folder)?;
//! std::fs::write(folder.join("notes.txt"), "one\n")?;
//! // In a real program: 32 random bytes that are kept where no one else can read them.
//! let key = Key::new([0; 32]);
//! let workspace = Workspace::open(&folder, &key)?;
//!
//! let view = workspace.view(1000)?;
//! view.begin(&LayerOptions::new(spill))?;
//! let root = view.root();
//! let to_write = OpenOptions { write: true, ..OpenOptions::default() };
//! if let Opened::File(notes) = root.open("notes.txt", to_write)? {
//!     notes.append(b"two\n")?;
//! }
//! root.rename("notes.txt", &root, "diary.txt")?;
//!
//! // Nobody else has seen anything of it, and whoever decides can look at all of it.
//! assert_eq!(std::fs::read_to_string(folder.join("notes.txt"))?, "one\n");
//! let changes = view.changes()?;
//! assert_eq!(changes.changes[0].from.as_deref(), Some("notes.txt"));
//!
//! let ticket = Ticket { id: "first".to_owned(), note: String::new() };
//! view.commit(&workspace, &ticket)?;
//! assert_eq!(std::fs::read_to_string(folder.join("diary.txt"))?, "one\ntwo\n");
//! # Ok(())
//! # }
//! ```
//!
//! - A [`Workspace`] is the folder. It [recovers](Workspace::recover) what a crash has cut off.
//! - A [`View`] is the folder as one user sees it, through [`Directory`] and [`OpenFile`]. Paths
//!   lead nowhere outside of it, and errors are the system's own.
//! - Between [`View::begin`] and [`View::commit`] or [`View::abandon`] a view has a layer, to which
//!   changes go. [`View::changes`] says what they are, and [`View::take_reads`] what was read.
//!
//! # What is promised
//!
//! - **Before the commit** the folder is never written to, no name is made in it, and no watcher
//!   hears of anything but reads.
//! - **A commit** happens at one moment, when its journal has its name and is synced. Whatever
//!   stops the process before, the folder is as it was; whatever stops it later, the next
//!   [`recover`](Workspace::recover) or commit finishes it, in whichever process.
//! - **Nothing unseen is overwritten.** What the layer came near to, or what was read in it and
//!   changed then, must be as it was then, and each rename is checked to have moved what it was
//!   planned for, also in a recovery; else everything goes back. What another program has changed
//!   of that meanwhile is in the way: it is told, and nothing is removed.
//! - **An id is committed once**, also where its user has lost its records.
//! - **What lies in the folder is not believed** where it was not hashed with the user's key for
//!   this very directory.
//!
//! # What is not
//!
//! - Other programs can see the folder while files are put in their places, one by one: at most an
//!   instant in which a file that moves, or replaces a directory, has no name.
//! - A program that has a file open, and writes to it after the commit has replaced it, writes to
//!   the file of before.
//! - A file with several names (hard links) is parted from them when it is written to; others keep
//!   the contents of before. [`Change::side_effects`] says so, and also which of a file's owner,
//!   group and extended attributes (ACLs too) this process can't keep. The others are kept.
//! - Times that were set are not kept: what is committed has the time of the commit. Directories'
//!   permissions can't be changed.
//! - On an overlay whose `redirect_dir` is off, as containers have it, a directory of a lower layer
//!   can be neither moved nor removed: such a commit fails with `EXDEV`, and everything goes back.
//! - A mount inside the folder can be read and not changed: such a change is refused with
//!   [`std::io::ErrorKind::CrossesDevices`], which names the mount.
//! - A workspace of another user's that lies in this one, or that this one lies in, is not locked.
//! - Linux only, with `openat2` (5.6), and on file systems that have `renameat2` with its flags:
//!   ext4, xfs, btrfs, tmpfs and others. That an fsync is kept through a loss of power is the
//!   disk's promise, and is not tested here.
#![cfg(target_os = "linux")]

mod change;
mod commit;
mod content;
mod credentials;
mod directory;
mod error;
mod fault;
mod file;
pub mod held;
mod kept;
mod lock;
mod lower;
mod metadata;
mod mount;
mod parents;
mod path;
mod reads;
mod tree;
mod view;
mod walk;
mod workspace;

#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, allow(dead_code, unused_imports))]
mod tests;

/// The fuzz targets.
#[cfg(fuzzing)]
#[doc(hidden)]
pub use tests::fuzz;

pub use change::{Change, ChangeKind, ChangeSet, Facts, Identity, OwnerChange, SideEffects};
pub use commit::{Committed, Outcome, Recovered, Ticket};
pub use directory::{Directory, Entry, Listing, OpenOptions, Opened};
pub use error::{CommitError, Conflict, ConflictKind, RecoverError};
pub use file::OpenFile;
pub use lower::{Kind, Stamp};
pub use metadata::Metadata;
pub use path::{PRIVATE, folded, is_private};
pub use reads::{Read, ReadSet};
pub use view::{Layer, LayerOptions, RealFolder, View};
pub use workspace::{Key, Workspace};
