//! A folder whose changes are transactions.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, StatxFlags};

use crate::lower::{Lower, open_directory};
use crate::view::View;

/// A folder whose changes are transactions.
///
/// It is the directory that was there when it was opened, whatever its path leads to later. A clone
/// is the same folder.
#[derive(Clone)]
pub struct Workspace {
    pub(crate) inner: Arc<Opened>,
}

pub(crate) struct Opened {
    pub lower: Arc<Lower>,
    pub path: PathBuf,
    /// What records in it are hashed with.
    pub hash_key: [u8; 32],
}

/// A secret of the user's own, 32 bytes: what lies in a workspace is believed only where it was
/// hashed with it, since others can put files there too.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// From random bytes that are kept where no one else can read them.
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
    /// Where there is none, or the system can't keep accesses inside of it.
    pub fn open(path: &Path, key: &Key) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Self::of(open_directory(&path)?, path, key)
    }

    /// A directory that is open already, and its absolute path.
    ///
    /// # Errors
    /// As [`open`](Self::open).
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

    /// Its absolute path when it was opened.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The folder as one user is to see it, who reads and changes it without others' noticing.
    ///
    /// `reads`: how many paths its [read set](View::take_reads) may have; 0 for none. As many are
    /// known in a layer of what was read in it: where that is changed, it must be as it was read.
    ///
    /// # Errors
    /// Those of the system.
    pub fn view(&self, reads: usize) -> io::Result<View> {
        View::new(Arc::clone(&self.inner.lower), reads)
    }
}

/// Of this user and this directory, also after a restart or a rename: a record that was copied
/// along with a folder is none of the copy's.
fn hash_key(key: &Key, directory: &File) -> io::Result<[u8; 32]> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    let found = rustix::fs::statx(directory, "", AtFlags::EMPTY_PATH, wanted)?;
    let mut hasher = blake3::Hasher::new_keyed(&key.0);
    hasher.update(b"airlock workspace 1\0");
    hasher.update(&found.stx_ino.to_le_bytes());
    if found.stx_mask & StatxFlags::BTIME.bits() != 0 {
        hasher.update(&found.stx_btime.tv_sec.to_le_bytes());
        hasher.update(&found.stx_btime.tv_nsec.to_le_bytes());
    }
    Ok(*hasher.finalize().as_bytes())
}
