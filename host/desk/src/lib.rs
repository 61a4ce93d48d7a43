//! What any front door needs, be it a command line or a server.
//!
//! | to | see |
//! | --- | --- |
//! | open the store at an address, or the user's own | [`store`] |
//! | know which session a workspace has | [`session`] |
//! | find a plugin by its name or path, and load it | [`plugin`] |
//! | find the action that a decision is about | [`target`] |
//! | carry a decision out, and tell how that ended | [`resolution`] |
//! | know who decides | [`decider`] |
//! | discard what nobody is to decide about | [`unheard`] |
//! | tell programs what a store keeps | [`record`] |
//! | tell people what to do about an error | [`advice`], [`Error::advice`] |
//!
//! Nothing here reads arguments, writes to a stream or asks anybody. Advice is for whoever has the
//! program `airlock` at hand: it names its commands and options, and says which store they are to
//! use.

#![warn(missing_docs)]

pub mod advice;
pub mod decider;
mod error;
pub mod plugin;
pub mod record;
pub mod resolution;
pub mod session;
pub mod store;
pub mod target;
pub mod unheard;

pub use error::Error;
