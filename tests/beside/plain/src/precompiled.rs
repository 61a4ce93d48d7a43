//! Code that was compiled before, as wasmtime loads it.

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::Component;

/// From a file that this program wrote.
pub fn from_file(engine: &Engine, compiled: &Path) -> wasmtime::Result<Component> {
    // SAFETY: it is below a temporary folder of the measuring program's, where nobody else writes.
    unsafe { Component::deserialize_file(engine, compiled) }
}
