//! `airlock store …`: maintains the store.

mod backup;
mod bounds;
mod state;

use std::path::PathBuf;
use std::time::Duration;

use airlock_desk::store::StoreOptions;

use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

/// The arguments of the command.
pub struct Request {
    pub task: Task,
    pub store: StoreOptions,
}

/// The task of the command.
pub enum Task {
    /// Backs up into this file.
    Backup(PathBuf),
    /// Restores from this file.
    Restore(PathBuf),
    Check,
    Stats,
    /// Removes decisions of at least this age, by default the store's retention.
    Prune(Option<Duration>),
    /// Removes a resolved action, by its id.
    Forget(String),
    /// Shows or sets the retention. `None` inside means forever.
    Retention(Option<Option<Duration>>),
    /// Shows or sets the limit in bytes. `None` inside means no limit.
    Limit(Option<Option<u64>>),
}

pub async fn run(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    let store = &request.store;
    match &request.task {
        Task::Backup(file) => backup::backup(file, store, out).await,
        Task::Restore(file) => backup::restore(file, store, out).await,
        Task::Check => state::check(store, out).await,
        Task::Stats => state::stats(store, out).await,
        Task::Prune(age) => bounds::prune(*age, store, out).await,
        Task::Forget(id) => bounds::forget(id, store, out).await,
        Task::Retention(kept) => bounds::retention(*kept, store, out).await,
        Task::Limit(limit) => bounds::limit(*limit, store, out).await,
    }
}
