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
//! // Other programs still see the old folder. The view lists all changes for review.
//! assert_eq!(std::fs::read_to_string(folder.join("notes.txt"))?, "one\n");
//! let changes = view.changes()?;
//! assert_eq!(changes[0].from.as_deref(), Some("notes.txt"));
//!
//! let ticket = Ticket { id: "first".to_owned(), note: String::new(), title: String::new(), others: Vec::new(), originals: None };
//! view.commit(&workspace, &ticket)?;
//! assert_eq!(std::fs::read_to_string(folder.join("diary.txt"))?, "one\ntwo\n");
//! # Ok(())
//! # }
//! ```
//!
//! - A [`Workspace`] is the folder. [`Workspace::recover`] finishes or drops commits that a crash
//!   interrupted.
//! - A [`View`] is the folder as one user sees it, through [`Directory`] and [`OpenFile`]. Paths
//!   can't leave the folder, and errors are the system's.
//! - Between [`View::begin`] and [`View::commit`] or [`View::abandon`], a view has a layer that
//!   takes all changes. [`View::changes`] returns them, and [`View::take_reads`] returns the files
//!   that were read.
//!
//! # Guarantees
//!
//! - **Before the commit**, nothing is written to the folder and no name is created in it. A file
//!   watcher sees only reads.
//! - **A commit is atomic.** It happens when its journal is synced under its final name. If the
//!   process stops earlier, the folder is unchanged. If it stops later, the next
//!   [`recover`](Workspace::recover) or commit finishes it, in any process.
//! - **Unseen changes are never overwritten.** Every object that the layer touched, or read and
//!   then changed, must still be in the state that the layer saw. Each rename is checked to have
//!   moved the planned object, also during recovery; otherwise the commit is rolled back. Changes
//!   that another program makes at the same time are reported as conflicts, and nothing is
//!   removed.
//! - **An id is committed once**, even if the caller loses its records.
//! - **Records in the folder are trusted only** if they were hashed with the user's key for this
//!   directory.
//!
//! # Limits
//!
//! - Files are put in place one by one, and other programs can see that. A file that moves, or
//!   that replaces a directory, has no name for at most an instant.
//! - A program that has a file open while a commit replaces it keeps writing to the old file.
//! - Writing to a file with several names (hard links) separates it from them: the other names
//!   keep the old contents. [`Change::side_effects`] reports this, and any owner, group and
//!   extended attributes (including ACLs) that this process can't keep. All others are kept.
//! - Timestamps set in a layer are not kept: committed files have the time of the commit. The
//!   permissions of directories can't be changed.
//! - On an overlay with `redirect_dir` off, as in containers, a directory of a lower layer can't
//!   be moved or removed. Such a commit fails with `EXDEV` and is rolled back.
//! - A mount inside the folder is read-only. Changing it fails with
//!   [`std::io::ErrorKind::CrossesDevices`] and an error that names the mount.
//! - Another user's workspace inside or around this one is not locked.
//! - Requires `openat2` (Linux 5.6) and a file system whose `renameat2` supports flags, such as
//!   ext4, xfs, btrfs or tmpfs. Whether an fsync survives a power loss depends on the disk and is
//!   not tested here.
//! - On other Unix systems, views and layers are compiled but were never run, and commits fail:
//!   see [`Workspace::check_system`]. Elsewhere, the crate compiles, and no folder can be opened.

mod answer;
#[cfg(unix)]
mod bounded;
mod bounds;
#[cfg(unix)]
mod change;
#[cfg(unix)]
mod commit;
#[cfg(unix)]
mod content;
#[cfg(unix)]
mod credentials;
#[cfg(unix)]
mod directory;
#[cfg_attr(not(unix), allow(dead_code))]
mod error;
mod facts;
#[cfg(unix)]
mod fault;
#[cfg(unix)]
mod file;
#[cfg(unix)]
pub mod held;
#[cfg(unix)]
mod kept;
#[cfg(unix)]
mod lock;
#[cfg(unix)]
mod lower;
#[cfg(unix)]
mod merge;
#[cfg(unix)]
mod metadata;
#[cfg(unix)]
mod mount;
mod needs;
#[cfg(not(unix))]
mod not_unix;
mod options;
#[cfg(unix)]
mod parents;
#[cfg(unix)]
mod part;
#[cfg_attr(not(unix), allow(dead_code))]
mod path;
#[cfg(unix)]
mod reads;
#[cfg(unix)]
mod restore;
#[cfg_attr(not(unix), allow(dead_code))]
mod stamp;
#[cfg(unix)]
mod system;
mod ticket;
#[cfg(unix)]
mod tree;
#[cfg(unix)]
mod view;
#[cfg(unix)]
mod walk;
#[cfg(unix)]
mod workspace;

#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, allow(dead_code, unused_imports))]
mod tests;

/// The fuzz targets.
#[cfg(fuzzing)]
#[doc(hidden)]
pub use tests::fuzz;

pub use answer::{Entry, Listing, Metadata, Opened, Read, ReadSet};
#[cfg(unix)]
pub use bounds::{Access, Bounds};
pub use directory::Directory;
pub use error::{CommitError, Conflict, ConflictKind, RecoverError, RestoreError};
pub use facts::{Change, Facts, OwnerChange, SideEffects};
#[cfg(unix)]
pub use file::OpenFile;
pub use needs::{Needs, Outline};
#[cfg(not(unix))]
pub use not_unix::*;
pub use options::{LayerOptions, OpenOptions};
pub use path::{PRIVATE, folded, is_private};
pub use stamp::{Identity, Kind, Stamp};
pub use ticket::{Committed, Originals, Outcome, Recovered, Restored, Retention, Ticket};
#[cfg(unix)]
pub use view::{Layer, RealFolder, View};
#[cfg(unix)]
pub use workspace::{Key, Workspace};
