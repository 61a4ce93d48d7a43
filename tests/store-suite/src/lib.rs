//! What the tests of stores share: each kind of store with a storage of its own, PostgreSQL's
//! server, and stores that earlier versions left.

mod backend;
mod old_stores;
mod postgres;
mod waiting;

use airlock_model::actor::{Actor, DecidedBy};
use airlock_model::content::{Content, ResolutionDetails, ResolutionOutcome};
use airlock_model::pending::Decision;

pub use backend::{Backend, Host, MemoryBackend, PostgresBackend, SqliteBackend};
pub use old_stores::{postgres_version_2, sqlite_version_2};
pub use postgres::{PostgresServer, SHARED_SERVER, Sync, connect_with_lease};
pub use waiting::{DEADLINE, eventually};

/// Whoever decides in a test that doesn't care.
#[derive(Debug, Clone, Copy)]
pub struct Tester;

impl From<Tester> for DecidedBy {
    fn from(_: Tester) -> Self {
        Actor::program("a test").into()
    }
}

/// A result with this text, such as a session would record: for what completes a claim without one.
pub fn outcome(text: &str) -> ResolutionOutcome {
    let mut details = ResolutionDetails::new(Decision::Discard, String::new());
    details.source_tool_name = Some("none".to_owned());
    details.label = Some("Any".to_owned());
    ResolutionOutcome::new(vec![Content::text(text)], details)
}
