//! An entry of the compile cache: a file with one compiled component and its facts.
//!
//! The code is at the beginning, so that the file can be mapped as it is. The facts and the
//! identity of the component follow.

use std::fmt;
use std::io::{self, Write};

use airlock_model::digest::Digest;
use airlock_model::tool::{RejectedTool, ToolDefinition};
use airlock_model::wants::{About, Wants};
use serde::{Deserialize, Serialize};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::frozen::Frozen;
use crate::runtime::code_compatibility;

/// The facts about a component that loading finds and entries store.
#[derive(Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The version of the world of tools; `None` for a program.
    pub world_version: Option<String>,
    pub imports: Vec<String>,
    /// The tools of a program that has its own, as JSON.
    pub command_tools: Option<String>,
    pub about: About,
    pub wants: Option<Wants>,
    pub tools: Vec<ToolDefinition>,
    pub rejected: Vec<RejectedTool>,
}

/// The contents of an entry.
pub(crate) struct Entry {
    pub digest: Digest,
    pub component: Component,
    pub facts: Facts,
}

/// File name suffix of entries.
pub(super) const ENDING: &str = ".compiled";

/// Changes with the layout of an entry and with the checks that its definitions have passed.
const LAYOUT: &[u8; 16] = b"airlock-entry-6\n";

const DIGEST_BYTES: usize = 32;
const LABEL_BYTES: usize = blake3::OUT_LEN;
const LENGTH_BYTES: usize = size_of::<u64>();

/// Identifies the entry for a component, an engine and this version of the component checks.
///
/// It doesn't use the plugin's [`Digest`]. The entry contains the digest, and hashing a component
/// that was compiled before is several times faster this way. Both hash functions are collision
/// resistant.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Binds an entry to all three, so that one can't be passed off as another.
    label: blake3::Hash,
    /// Maximum size of its entry.
    pub(super) max_bytes: u64,
}

/// Maximum size of an entry, as a multiple of its component's size, plus a constant. Two or three
/// times is usual.
const MAX_GROWTH: u64 = 16;
const MAX_OVERHEAD_BYTES: u64 = 1 << 20;

impl Key {
    pub fn new(engine: &Engine, component: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(LAYOUT);
        // A component that passed another version's checks has to pass this version's.
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(blake3::hash(component).as_bytes());
        hasher.update(&code_compatibility(engine).to_le_bytes());
        Self {
            label: hasher.finalize(),
            max_bytes: component.len() as u64 * MAX_GROWTH + MAX_OVERHEAD_BYTES,
        }
    }

    /// Returns its file name.
    pub fn file_name(&self) -> String {
        format!("{self}{ENDING}")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.label, f)
    }
}

/// Writes an entry.
///
/// # Errors
/// Any error of the writer.
pub(super) fn write(
    mut to: impl Write,
    key: &Key,
    digest: Digest,
    code: &[u8],
    facts: &Facts,
) -> io::Result<()> {
    let facts = serde_json::to_vec(facts)?;
    to.write_all(code)?;
    to.write_all(&facts)?;
    to.write_all(&(facts.len() as u64).to_le_bytes())?;
    to.write_all(digest.as_bytes())?;
    to.write_all(key.label.as_bytes())
}

/// Reads the data behind the code in the first `length` bytes of a file. Returns `None` if the
/// entry can't be read, is damaged, or belongs to another key.
pub(super) fn read(key: &Key, file: &Frozen, length: u64) -> Option<(Digest, Facts)> {
    if length > key.max_bytes {
        return None;
    }
    let mut facts_bytes = [0; LENGTH_BYTES];
    let mut digest = [0; DIGEST_BYTES];
    let mut label = [0; LABEL_BYTES];
    let mut end = length;
    // Read backward from the end.
    let mut before = |buffer: &mut [u8]| {
        end = end.checked_sub(buffer.len() as u64)?;
        file.read_at(buffer, end).ok()
    };
    before(&mut label)?;
    if label != *key.label.as_bytes() {
        return None;
    }
    before(&mut digest)?;
    before(&mut facts_bytes)?;
    let facts_bytes = u64::from_le_bytes(facts_bytes);
    if facts_bytes > length {
        return None;
    }
    let mut facts = vec![0; usize::try_from(facts_bytes).ok()?];
    before(&mut facts)?;
    let facts = serde_json::from_slice(&facts).ok()?;
    Some((Digest::from_bytes(digest), facts))
}
