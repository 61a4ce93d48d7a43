//! What the tests and benchmarks share: guests from source, sessions with them, scripts for the puppet, and stores to test.

mod backend;
pub mod bombs;
pub mod fuzz;
mod guests;
pub mod hostile;
mod memory;
mod old_stores;
mod outcome;
mod poll;
mod postgres;
mod puppet;
mod random;
pub mod wat;

pub use backend::{Backend, Host, MemoryBackend, PostgresBackend, SqliteBackend};
pub use guests::{component, engine, guests_folder, plugin};
pub use memory::{peak_memory, peak_memory_if_any, reset_peak_memory};
pub use old_stores::{postgres_version_2, sqlite_version_2};
pub use outcome::outcome;
pub use poll::poll_once;
pub use postgres::{PostgresServer, Sync};
pub use puppet::{Puppet, durable, push};
pub use random::Random;
