//! `airlock store …`: looking after the store itself.

mod backup;
mod bounds;
mod state;

use std::path::PathBuf;
use std::time::Duration;

use airlock_desk::store::Named;

use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

/// The arguments of the command.
pub struct Request {
    pub task: Task,
    pub store: Named,
}

/// What is to be done.
pub enum Task {
    /// Into this file.
    Backup(PathBuf),
    /// From this file.
    Restore(PathBuf),
    Check,
    Stats,
    /// Decisions of at least this age; else of the store's retention.
    Prune(Option<Duration>),
    /// What was decided, by its id.
    Forget(String),
    /// Tells it, or sets it: none is for ever.
    Retention(Option<Option<Duration>>),
    /// Tells it in bytes, or sets it: none is as much as there is room for.
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
