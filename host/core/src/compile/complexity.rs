//! The numbers by which a component is judged before it is compiled.

use super::CompileLimits;
use super::outline::{Unreadable, read};
use crate::load_error::LoadError;

/// Amounts of everything in a component that is expensive to compile, over all modules and
/// components inside it. They are compared with [`CompileLimits`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Complexity {
    /// Bytes of the largest function.
    pub function_bytes: u64,
    /// Local variables of the function with the most.
    pub locals: u64,
    /// Functions.
    pub functions: u64,
    /// Bytes of all functions.
    pub code_bytes: u64,
    /// Nesting depth of components.
    pub depth: u64,
    /// Core modules and components.
    pub modules: u64,
    /// Core instances and instances of components.
    pub instances: u64,
    /// Types.
    pub types: u64,
    /// Imports, aliases and canonical functions.
    pub imports: u64,
    /// Exports.
    pub exports: u64,
    /// Tables and memories.
    pub tables: u64,
    /// Globals and tags.
    pub globals: u64,
    /// Segments of data and of table elements.
    pub segments: u64,
}

impl Complexity {
    /// Reads the amounts from a component's bytes, without compiling anything.
    ///
    /// # Errors
    /// [`LoadError::NotAComponent`](crate::load::LoadError::NotAComponent), with this plugin name,
    /// if the bytes can't be read.
    pub fn of(name: &str, component: &[u8]) -> Result<Self, LoadError> {
        match read(component, &CompileLimits::nothing_is_too_much()) {
            Ok(outline) => Ok(outline.complexity),
            Err(Unreadable::Malformed(reason) | Unreadable::TooComplex(reason)) => {
                let plugin = name.to_owned();
                Err(LoadError::NotAComponent { plugin, reason })
            }
        }
    }
}
