//! The figures that a component is judged by before it is compiled.

use super::CompileLimits;
use super::outline::{Unreadable, read};
use crate::load_error::LoadError;

/// How much there is in a component of what makes compiling dear: what [`CompileLimits`] are
/// compared with, over all modules and components inside of it.
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
    /// How deep components are inside of each other.
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
    /// Reads it off a component's bytes, of which nothing is compiled.
    ///
    /// # Errors
    /// [`LoadError::NotAComponent`](crate::load::LoadError::NotAComponent) where they can't be
    /// read, for a plugin of this name.
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
