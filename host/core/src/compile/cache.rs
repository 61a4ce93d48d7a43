//! Compiled plugins on disk.
//!
//! Loading compiled code runs whatever is in it, so nothing from the disk is used before a keyed
//! hash has shown that this host wrote it, for this plugin, with this engine. Anything else is as
//! good as absent, and is written anew.

mod eviction;
mod user;

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use airlock_model::digest::Digest;
use airlock_model::regular::open_regular_file;
use airlock_model::tool::{RejectedTool, ToolDefinition};
use serde::{Deserialize, Serialize};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::code::Code;
use crate::runtime::code_compatibility;
use crate::secret::{make_private_folder, read_or_make_key};

/// What loading finds out about a component, and the compile cache keeps.
#[derive(Serialize, Deserialize)]
pub(crate) struct Facts {
    pub world_version: String,
    pub imports: Vec<String>,
    pub tools: Vec<ToolDefinition>,
    pub rejected: Vec<RejectedTool>,
}

/// Changes with the layout of an entry and with the checks that its definitions have passed.
const MAGIC: &[u8; 16] = b"airlock-cache-2\n";

/// Of the keyed hash, and of its key.
const HASH_BYTES: usize = 32;

/// Of a plugin's digest.
const DIGEST_BYTES: usize = 32;

/// A folder of compiled plugins.
///
/// Entries are authenticated with a secret key (BLAKE3, keyed) that lies outside the folder, so
/// that whoever can write to the folder alone can't make a host run code of theirs. An entry that
/// is damaged, or comes from elsewhere, is compiled anew without a word.
///
/// Whoever adds an entry removes those that nobody has loaded for 60 days, and those that were
/// loaded longest ago where all take more than [`max_bytes`](CompileCache::max_bytes).
#[derive(Debug, Clone)]
pub struct CompileCache {
    folder: PathBuf,
    key: [u8; HASH_BYTES],
    max_bytes: u64,
}

impl CompileCache {
    /// Opens the cache in `folder`, with the key in the file `key`; what is missing is made,
    /// readable for the current user alone.
    ///
    /// # Errors
    /// Where the folder or the key can't be made or read.
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

    /// How many bytes all entries may take. Default: 1 GiB. The one that is added is kept, however
    /// large.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Where the entries are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn get(&self, engine: &Engine, key: &Key) -> Option<Entry> {
        let mut file = open_regular_file(self.path(key)).ok()?;
        let metadata = file.metadata().ok()?;
        // Whoever can write to the folder must not make us read without end.
        let length = metadata.len().min(key.max_bytes);
        // Room for all of it saves growing.
        let mut entry = Vec::new();
        entry
            .try_reserve_exact(usize::try_from(length).ok()?)
            .ok()?;
        (&mut file).take(length).read_to_end(&mut entry).ok()?;
        match self.decode(engine, key, &entry) {
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

    /// A cache that can't be written costs time, and is no error.
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
        let facts = serde_json::to_vec(facts)?;
        let mut body = Vec::with_capacity(DIGEST_BYTES + 8 + facts.len() + code.len());
        body.extend_from_slice(digest.as_bytes());
        body.extend_from_slice(&(facts.len() as u64).to_le_bytes());
        body.extend_from_slice(&facts);
        body.extend_from_slice(code);
        let hash = self.hash(key, &body);

        // Others may be reading an older entry: it is replaced as a whole.
        let mut file = tempfile::Builder::new()
            .suffix(eviction::PART)
            .tempfile_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(hash.as_bytes())?;
        file.write_all(&body)?;
        file.persist(path)?;
        Ok(())
    }

    fn decode(&self, engine: &Engine, key: &Key, entry: &[u8]) -> Option<Entry> {
        let (hash, body) = entry
            .strip_prefix(MAGIC)?
            .split_first_chunk::<HASH_BYTES>()?;
        // Compares in constant time.
        if self.hash(key, body) != *hash {
            return None;
        }
        let (digest, body) = body.split_first_chunk::<DIGEST_BYTES>()?;
        let (length, body) = body.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (facts, code) = body.split_at_checked(length)?;
        let facts = serde_json::from_slice(facts).ok()?;
        // These very bytes, in our memory, where nobody can change them between the check and the
        // use.
        let component = Code::from_checked_entry(code).load(engine).ok()?;
        Some(Entry {
            digest: Digest::from_bytes(*digest),
            component,
            facts,
        })
    }

    /// Binds an entry's contents to its plugin and engine, so that one can't be passed off as
    /// another.
    fn hash(&self, key: &Key, body: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(MAGIC);
        // What passed another version's checks has to pass this one's.
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(key.component.as_bytes());
        hasher.update(&key.engine.to_le_bytes());
        hasher.update(body);
        hasher.finalize()
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{key}{}", eviction::ENTRY))
    }
}

/// Which entry is for a component and an engine.
///
/// Not by the plugin's [`Digest`], though that would name it as well: an entry tells the digest,
/// and a component that was compiled before is hashed several times faster this way. Nobody can
/// make two components with the same hash by either function.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    component: blake3::Hash,
    engine: u64,
    /// How large its entry may be.
    max_bytes: u64,
}

/// How many times as large as its component an entry may be, and by how much more: two or three
/// times is usual.
const MAX_GROWTH: u64 = 16;
const MAX_OVERHEAD_BYTES: u64 = 1 << 20;

impl Key {
    pub fn new(engine: &Engine, component: &[u8]) -> Self {
        Self {
            component: blake3::hash(component),
            engine: code_compatibility(engine),
            max_bytes: component.len() as u64 * MAX_GROWTH + MAX_OVERHEAD_BYTES,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.component, self.engine)
    }
}

/// What the cache has of a component.
pub(crate) struct Entry {
    pub digest: Digest,
    pub component: Component,
    pub facts: Facts,
}
