//! Tools for plugin authors: create projects, build them into components, and compare a component
//! with the world.
//!
//! | to | see |
//! | --- | --- |
//! | create a project from a template | [`new`] |
//! | build a project, again whenever it changes | [`build`] |
//! | compare a component's types with the world's | [`fit`] |
//!
//! This crate knows nothing about command lines or terminals. A [`build::Reporter`] receives a
//! build's progress and the output of the language's own tools. The advice of an [`Error`] names
//! commands and options of the program `airlock`.

#![warn(missing_docs)]

pub mod build;
mod error;
pub mod fit;
pub mod new;

pub use error::{Error, ErrorKind};
