//! Compiled code, which wasmtime executes as it is: malicious bytes can't be detected.
//!
//! So code is only created from bytes with a known origin, by the functions here, and this is the
//! only module that may load it.

#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::frozen::Frozen;

/// Bytes that begin with the output of our compiler.
pub(super) struct Code(Frozen);

impl Code {
    /// Wraps the output of [`Engine::precompile_component`] from this process, or received over a
    /// private socket from a process of the embedder's own program, which has the same trust.
    pub fn from_compiler(bytes: &[u8]) -> Self {
        Self(Frozen::of(bytes))
    }

    /// Wraps an entry of the compile cache whose keyed hash was checked: it came from our compiler,
    /// in a host that knew the key, for an engine with the same compatibility hash.
    pub fn from_checked_entry(entry: Frozen) -> Self {
        Self(entry)
    }

    /// Returns the component, ready to be linked.
    pub fn load(self, engine: &Engine) -> wasmtime::Result<Component> {
        match &self.0 {
            Frozen::Owned(bytes) => deserialize(engine, bytes),
            #[cfg(target_os = "linux")]
            frozen @ Frozen::Sealed { file, length } => {
                map(engine, file).or_else(|error| {
                    // If file mappings can't be executable, or /proc is missing.
                    tracing::debug!("sealed code could not be mapped: {error:#}");
                    let mut bytes = vec![0; usize::try_from(*length)?];
                    frozen.read_at(&mut bytes, 0)?;
                    deserialize(engine, &bytes)
                })
            }
        }
    }
}

fn deserialize(engine: &Engine, bytes: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the bytes begin with the output of wasmtime's compiler, as every constructor of
    // `Code` guarantees. They are borrowed from our own memory, and nothing changes them between
    // that check and now.
    unsafe { Component::deserialize(engine, bytes) }
}

#[cfg(target_os = "linux")]
fn map(engine: &Engine, file: &File) -> wasmtime::Result<Component> {
    // This is the open file, even if another file is at its path now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: as above, and the file can't change while it is mapped, because it is sealed.
    unsafe { Component::deserialize_file(engine, path) }
}
