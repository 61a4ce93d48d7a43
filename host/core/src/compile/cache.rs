//! Compiled plugins on disk.
//!
//! Loading compiled code executes it, so nothing from the disk is used before a keyed hash has
//! shown that this host wrote it, for this plugin and this engine. Any other entry is ignored and
//! overwritten.

mod eviction;
mod user;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use airlock_model::digest::Digest;
use airlock_model::regular::open_regular_file;
use wasmtime::Engine;

use super::code::Code;
use super::entry::{self, Entry, Facts, Key};
use super::frozen::Frozen;
use crate::secret::{SECRET_BYTES, make_private_folder, read_or_make_key};

/// Size of the keyed hash at the end of a file.
const HASH_BYTES: usize = blake3::OUT_LEN;

/// A folder of compiled plugins.
///
/// Entries are authenticated with a secret key (keyed BLAKE3) that lies outside the folder. Write
/// access to the folder alone is therefore not enough to make a host run arbitrary code. If an
/// entry is damaged or was not written by a host with the key, the plugin is silently compiled
/// again.
///
/// Adding an entry removes entries that were not loaded for 60 days. If all entries together exceed
/// [`max_bytes`](CompileCache::max_bytes), it also removes the least recently loaded ones.
#[derive(Debug, Clone)]
pub struct CompileCache {
    folder: PathBuf,
    key: [u8; SECRET_BYTES],
    max_bytes: u64,
}

impl CompileCache {
    /// Opens the cache in `folder`, with the key in the file `key`. If the folder or the file is
    /// missing, creates it, accessible only to the current user.
    ///
    /// # Errors
    /// If the folder or the key can't be created or read.
    pub fn open(folder: impl Into<PathBuf>, key: impl AsRef<Path>) -> io::Result<Self> {
        let folder = folder.into();
        make_private_folder(&folder)?;
        let key = read_or_make_key(key.as_ref())?;
        Ok(Self {
            folder,
            key,
            max_bytes: eviction::MAX_BYTES,
        })
    }

    /// Sets the maximum size of all entries, in bytes. Default: 1 GiB. A new entry is always kept,
    /// however large it is.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Returns the folder of the entries.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn get(&self, engine: &Engine, key: &Key) -> Option<Entry> {
        let file = open_regular_file(self.path(key)).ok()?;
        let metadata = file.metadata().ok()?;
        // Bounded, because others with write access to the folder could make the file endless.
        let copied = Frozen::copy_of(&file, metadata.len().min(key.max_bytes)).ok()?;
        match self.checked(engine, key, copied) {
            Some(entry) => {
                eviction::used(&file, &metadata);
                Some(entry)
            }
            None => {
                tracing::debug!(%key, "a compile cache entry is damaged or not ours");
                None
            }
        }
    }

    /// Adds an entry. A failure costs time but is not an error.
    pub(crate) fn put(&self, key: &Key, digest: Digest, code: &[u8], facts: &Facts) {
        let path = self.path(key);
        if let Err(error) = self.try_put(key, &path, digest, code, facts) {
            tracing::warn!(%key, "could not write to the compile cache: {error}");
        } else if let Err(error) = eviction::evict(&self.folder, &path, self.max_bytes) {
            tracing::warn!("could not make room in the compile cache: {error}");
        }
    }

    fn try_put(
        &self,
        key: &Key,
        path: &Path,
        digest: Digest,
        code: &[u8],
        facts: &Facts,
    ) -> io::Result<()> {
        let mut body = Vec::new();
        entry::write(&mut body, key, digest, code, facts)?;
        let hash = self.hasher().update(&body).finalize();

        // Replaced as a whole, because other processes may be reading an older entry.
        let mut file = tempfile::Builder::new()
            .suffix(eviction::PART)
            .tempfile_in(&self.folder)?;
        file.write_all(&body)?;
        file.write_all(hash.as_bytes())?;
        file.persist(path)?;
        Ok(())
    }

    /// Checks an entry. The copy is both hashed and executed, so it can't change in between.
    fn checked(&self, engine: &Engine, key: &Key, copy: Frozen) -> Option<Entry> {
        let length = copy.length().checked_sub(HASH_BYTES as u64)?;
        let mut hash = [0; HASH_BYTES];
        copy.read_at(&mut hash, length).ok()?;
        // Compares in constant time.
        if copy.hash(self.hasher(), length).ok()? != hash {
            return None;
        }
        let (digest, facts) = entry::read(key, &copy, length)?;
        let component = Code::from_checked_entry(copy).load(engine).ok()?;
        Some(Entry {
            digest,
            component,
            facts,
        })
    }

    fn hasher(&self) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&self.key)
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(key.file_name())
    }
}
