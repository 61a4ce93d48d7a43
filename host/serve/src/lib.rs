//! A session's tools for clients of the Model Context Protocol (MCP).
//!
//! | to | see |
//! | --- | --- |
//! | make a server of a session | [`Server`] |
//! | say who decides about what is pending | [`Decide`] |
//!
//! A call of a tool previews, and no more: that is the sandbox's doing, and not a promise of the
//! tool, so each is listed as read-only, whatever its apply does. What it would do is pending then,
//! and the result says so before anything else. The tool `resolve` alone applies it, which needs
//! somebody's decision.
//!
//! Nothing here reads arguments, or prints: but for the protocol's own messages, which
//! [`Server::serve_stdio`] reads from standard input and writes to standard output.

#![warn(missing_docs)]

mod answer;
mod arguments;
mod asking;
mod changes;
mod deciding;
mod handler;
pub mod http;
mod instructions;
mod late;
mod listing;
mod metrics;
mod owners;
mod params;
mod progress;
mod question;
mod seal;
mod server;
mod shown;
mod stdio;
mod surrogates;
mod tasks;
mod waiting;

pub use airlock_desk::configuration::Decide;
pub use server::{ServeError, Server};
