//! The parts that every front end needs, such as a command line or a server.
//!
//! | to | see |
//! | --- | --- |
//! | open the store at an address, or the user's own | [`store`] |
//! | read the operator's files | [`configuration`] |
//! | find the session of a workspace | [`session`] |
//! | find a plugin by its name or path, and load it | [`plugin`] |
//! | list installed plugins, and change the list | [`lock`] |
//! | fetch the component that a reference leads to | [`fetching`] |
//! | verify who signed it, and whether that is enough | [`signing`] |
//! | find the action that a decision is about | [`target`] |
//! | carry out a decision, and report its outcome | [`resolution`] |
//! | find out who decides | [`decider`] |
//! | judge an apply by the operator's rules | [`approval`] |
//! | select a part of an action's effects | [`part`] |
//! | discard actions that need no decision | [`discard`] |
//! | determine the outcome of interrupted applies | [`recovering`] |
//! | remember the hunks that a person has reviewed | [`reviewed`] |
//! | describe an action next to other pending ones | [`marks`] |
//! | advise people on an error | [`advice`], [`Error::advice`] |
//!
//! Nothing here reads arguments, writes to a stream or prompts. Advice is for users of the program
//! `airlock`: it names its commands and options, and the store to use.

#![warn(missing_docs)]

pub mod advice;
pub mod approval;
pub mod configuration;
pub mod decider;
pub mod discard;
mod error;
pub mod fetching;
pub mod lock;
pub mod marks;
pub mod part;
pub mod plugin;
pub mod recovering;
pub mod resolution;
pub mod reviewed;
pub mod session;
pub mod signing;
pub mod store;
pub mod target;

pub use error::Error;
