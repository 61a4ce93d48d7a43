//! What the author of a tool needs: new projects, building them into components, and how a
//! component differs from the world.
//!
//! | to | see |
//! | --- | --- |
//! | create a project from a template | [`new`] |
//! | build a project, again whenever it changes | [`build`] |
//! | compare a component's types with the world's | [`fit`] |
//!
//! Nothing here knows of a command line or a terminal: a [`build::Reporter`] receives a build's
//! progress, and what the language's own tools print. The advice of an [`Error`] names commands and
//! options of the program `airlock`, which authors use.

#![warn(missing_docs)]

pub mod build;
mod error;
pub mod fit;
pub mod new;

pub use error::{Error, ErrorKind};
