//! The tools of a session, for clients of the Model Context Protocol (MCP).
//!
//! | to | see |
//! | --- | --- |
//! | serve a session | [`Server`] |
//! | choose who decides about pending actions | [`Decide`] |
//!
//! A tool call only previews changes. The sandbox guarantees that, so each tool is listed as
//! read-only, whatever its apply does. The change becomes a pending action, and the result starts
//! by saying so. Only the tool `resolve` applies it, and that requires a decision.
//!
//! The crate reads no command-line arguments and prints nothing. Only [`Server::serve_stdio`] reads
//! the protocol's messages from standard input and writes them to standard output.

#![warn(missing_docs)]

mod answer;
mod approving;
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
