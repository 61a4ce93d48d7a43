//! What the tests and benchmarks share: guests from source, sessions with them, and scripts for the puppet.

mod guests;
mod postgres;
mod puppet;
pub mod wat;

pub use guests::{component, engine, plugin};
pub use postgres::{PostgresServer, Sync};
pub use puppet::{Puppet, durable, push};
