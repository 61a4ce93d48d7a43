//! A folder whose changes are transactions.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::lower::{Lower, open_directory};
use crate::system;
use crate::view::View;

/// A folder whose changes are transactions.
///
/// It stays the directory that was opened, even if its path later leads elsewhere. Clones refer to
/// the same folder.
#[derive(Clone)]
pub struct Workspace {
    pub(crate) inner: Arc<Opened>,
}

pub(crate) struct Opened {
    pub lower: Arc<Lower>,
    pub path: PathBuf,
    /// The key that hashes records in this folder.
    pub hash_key: [u8; 32],
}

/// A secret of the user, 32 bytes. Records in a workspace are trusted only if they were hashed
/// with it, because other users can put files there too.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Creates a key from random bytes. Store them where no other user can read them.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.inner.path).finish()
    }
}

impl Workspace {
    /// Opens a directory.
    ///
    /// # Errors
    /// If there is no such directory, or the system can't confine accesses to it.
    pub fn open(path: &Path, key: &Key) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Self::of(open_directory(&path)?, path, key)
    }

    /// Uses a directory that is already open, with its absolute path.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn of(directory: File, path: PathBuf, key: &Key) -> io::Result<Self> {
        let hash_key = hash_key(key, &directory)?;
        let lower = Arc::new(Lower::new(directory)?);
        Ok(Self {
            inner: Arc::new(Opened {
                lower,
                path,
                hash_key,
            }),
        })
    }

    /// Returns the absolute path that the folder had when it was opened.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Returns a view of the folder for one user, which reads and changes it without others
    /// noticing.
    ///
    /// `reads` is the maximum number of paths in the [read set](View::take_reads); 0 disables it.
    /// A layer tracks the same number of paths that were read in it: if one of them is then
    /// changed in the layer, it must still be as it was read at the commit.
    ///
    /// # Errors
    /// System errors.
    pub fn view(&self, reads: usize) -> io::Result<View> {
        View::new(Arc::clone(&self.inner.lower), reads)
    }
}

/// Derives a hash key from the user's key and this directory. It survives restarts and renames.
/// Records that were copied along with a folder are not valid in the copy.
fn hash_key(key: &Key, directory: &File) -> io::Result<[u8; 32]> {
    let (inode, created) = system::birth(directory)?;
    let mut hasher = blake3::Hasher::new_keyed(&key.0);
    hasher.update(b"airlock workspace 1\0");
    hasher.update(&inode.to_le_bytes());
    if let Some((seconds, nanoseconds)) = created {
        hasher.update(&seconds.to_le_bytes());
        hasher.update(&nanoseconds.to_le_bytes());
    }
    Ok(*hasher.finalize().as_bytes())
}
