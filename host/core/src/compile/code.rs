//! Compiled code, which wasmtime runs as it is: it can't be told from bytes that do something else.
//!
//! So code is only made of bytes whose origin is known, by the functions here, and this is the only
//! module that may load it.

use wasmtime::Engine;
use wasmtime::component::Component;

/// Bytes that a compiler of ours made.
pub(super) struct Code<'a>(&'a [u8]);

impl<'a> Code<'a> {
    /// What [`Engine::precompile_component`] returned: in this process, or over a pipe that nobody
    /// else has, from one of the embedder's own program, which is trusted as this one is.
    pub fn from_compiler(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What stands in an entry of the compile cache whose keyed hash was checked: it came from a
    /// compiler of ours, in a host that knew the key, for an engine with the same compatibility
    /// hash.
    pub fn from_checked_entry(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The component, ready to be linked.
    pub fn load(self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: the bytes are what wasmtime's compiler made, as both ways to a `Code` promise.
        // They are borrowed, in our own memory, where nobody changes them between that promise and
        // now.
        unsafe { Component::deserialize(engine, self.0) }
    }
}
