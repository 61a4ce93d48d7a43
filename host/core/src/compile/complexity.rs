//! The numbers by which a component is judged before it is compiled.

use super::CompileLimits;
use super::outline::{Unreadable, read};
use crate::load_error::LoadError;

/// Amounts of everything in a component that is expensive to compile, over all modules and
/// components inside it. They are compared with [`CompileLimits`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Complexity {
    /// The size of the largest function, in bytes.
    pub function_bytes: u64,
    /// The number of local variables of the function with the most.
    pub locals: u64,
    /// The number of functions.
    pub functions: u64,
    /// The size of all functions together, in bytes.
    pub code_bytes: u64,
    /// The nesting depth of components.
    pub depth: u64,
    /// The number of core modules and components.
    pub modules: u64,
    /// The number of core instances and instances of components.
    pub instances: u64,
    /// The number of types.
    pub types: u64,
    /// The number of imports, aliases and canonical functions.
    pub imports: u64,
    /// The number of exports.
    pub exports: u64,
    /// The number of tables and memories.
    pub tables: u64,
    /// The number of globals and tags.
    pub globals: u64,
    /// The number of segments of data and of table elements.
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
