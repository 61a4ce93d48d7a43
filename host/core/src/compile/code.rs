//! Compiled code, which wasmtime runs as it is: it can't be told from bytes that do something else.
//!
//! So code is only made of bytes whose origin is known, by the functions here, and this is the only
//! module that may load it.

#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::frozen::Frozen;

/// Bytes that begin with what a compiler of ours made.
pub(super) struct Code(Frozen);

impl Code {
    /// What [`Engine::precompile_component`] returned: in this process, or over a private socket
    /// from a process of the embedder's own program, which is trusted as this one is.
    pub fn from_compiler(bytes: &[u8]) -> Self {
        Self(Frozen::of(bytes))
    }

    /// An entry of the compile cache whose keyed hash was checked: it came from a compiler of ours,
    /// in a host that knew the key, for an engine with the same compatibility hash.
    pub fn from_checked_entry(entry: Frozen) -> Self {
        Self(entry)
    }

    /// The component, ready to be linked.
    pub fn load(self, engine: &Engine) -> wasmtime::Result<Component> {
        match &self.0 {
            Frozen::Owned(bytes) => deserialize(engine, bytes),
            #[cfg(target_os = "linux")]
            frozen @ Frozen::Sealed { file, length } => {
                map(engine, file).or_else(|error| {
                    // Where nothing that is mapped from a file may run, or /proc is not there.
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
    // SAFETY: the bytes begin with what wasmtime's compiler made, as all ways to a `Code` promise.
    // They are borrowed, in our own memory, where nobody changes them between that promise and now.
    unsafe { Component::deserialize(engine, bytes) }
}

#[cfg(target_os = "linux")]
fn map(engine: &Engine, file: &File) -> wasmtime::Result<Component> {
    // The very file that is open, and not what lies at its path by now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: as above, and nobody changes the file while it is mapped: it is sealed.
    unsafe { Component::deserialize_file(engine, path) }
}
