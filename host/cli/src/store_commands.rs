//! `airlock store`: looking after the store itself.

mod backup;
mod check;
mod limit;
mod prune;
mod retention;
mod stats;

use crate::args::StoreCommand;
use crate::failure::{Exit, Failure};
use crate::output::Output;

pub async fn run(command: &StoreCommand, out: &mut Output) -> Result<Exit, Failure> {
    match command {
        StoreCommand::Backup(args) => backup::backup(args, out).await,
        StoreCommand::Restore(args) => backup::restore(args, out).await,
        StoreCommand::Check(args) => check::check(args, out).await,
        StoreCommand::Stats(args) => stats::show(args, out).await,
        StoreCommand::Prune(args) => prune::prune(args, out).await,
        StoreCommand::Retention(args) => retention::show_or_set(args, out).await,
        StoreCommand::Limit(args) => limit::show_or_set(args, out).await,
    }
}
