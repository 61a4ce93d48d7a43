//! What the author of a tool needs: a project to begin with, its build into a component, and how a
//! component differs from the world.
//!
//! | to | see |
//! | --- | --- |
//! | make a project from a template | [`new`] |
//! | build a project, again whenever it changes | [`build`] |
//! | compare a component's types with the world's | [`fit`] |
//!
//! Nothing here knows of a command line or a terminal. Whoever builds is a [`build::Reporter`],
//! which is told what is being done, and what the language's own tools say. What advice an
//! [`Error`] has names commands and options of the program `airlock`, which authors use.

#![warn(missing_docs)]

pub mod build;
mod error;
pub mod fit;
pub mod new;

pub use error::{Error, ErrorKind};
