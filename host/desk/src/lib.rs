//! What any front door needs, be it a command line or a server.
//!
//! | to | see |
//! | --- | --- |
//! | open the store at an address, or the user's own | [`store`] |
//! | know what the operator's files say | [`configuration`] |
//! | know which session a workspace has | [`session`] |
//! | find a plugin by its name or path, and load it | [`plugin`] |
//! | find the action that a decision is about | [`target`] |
//! | carry out a decision, and report how that ended | [`resolution`] |
//! | know who decides | [`decider`] |
//! | judge what is to be applied by the operator's rules | [`approval`] |
//! | discard what nobody is to decide about | [`discard`] |
//! | find out what became of applies that were cut off | [`recovering`] |
//! | say what an action is beside others that wait | [`marks`] |
//! | tell programs what a store keeps | [`record`] |
//! | advise people on an error | [`advice`], [`Error::advice`] |
//!
//! Nothing here reads arguments, writes to a stream or prompts. Advice is for users of the program
//! `airlock`: it names its commands and options, and the store that they are to use.

#![warn(missing_docs)]

pub mod advice;
pub mod approval;
pub mod configuration;
pub mod decider;
pub mod discard;
mod error;
pub mod marks;
pub mod plugin;
pub mod record;
pub mod recovering;
pub mod resolution;
pub mod session;
pub mod store;
pub mod target;

pub use error::Error;
