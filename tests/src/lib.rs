//! What the tests and benchmarks share: guests from source, sessions with them, scripts for the
//! puppet, and stores to test.

mod asked;
pub mod bare;
pub mod bombs;
pub mod fuzz;
mod guests;
mod history;
pub mod hostile;
mod memory;
mod poll;
#[allow(
    unsafe_code,
    reason = "bare wasmtime takes compiled code without looking, and benchmarks measure that"
)]
pub mod precompiled;
mod puppet;
mod random;
pub mod recorded;
pub mod wat;

pub use airlock_store_suite::{
    Backend, DEADLINE, Host, MemoryBackend, PostgresBackend, PostgresServer, SqliteBackend, Sync,
    Tester, connect_with_lease, eventually, outcome, postgres_version_2, sqlite_version_2,
};
pub use asked::asked;
pub use guests::{component, engine, guests_folder, load_fresh, plugin, puppet_with_section};
pub use history::{History, WorkspaceText};
pub use memory::{peak_memory, peak_memory_if_any, reset_peak_memory};
pub use poll::{poll_once, ready};
pub use puppet::{Puppet, durable, is_of_guest, push};
pub use random::Random;
