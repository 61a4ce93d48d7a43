//! Components that were compiled before, as bare wasmtime loads them: for benchmarks, which compare
//! a host with that.

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::Component;

/// From a file that this process wrote, for an engine with the same settings.
pub fn from_file(engine: &Engine, compiled: &Path) -> Component {
    // SAFETY: nobody else writes to the folder, which is a temporary one or below the build's.
    unsafe { Component::deserialize_file(engine, compiled) }.unwrap()
}

/// From the bytes of such a file.
pub fn from_bytes(engine: &Engine, code: &[u8]) -> Component {
    // SAFETY: as above, and nobody changes them in between.
    unsafe { Component::deserialize(engine, code) }.unwrap()
}
