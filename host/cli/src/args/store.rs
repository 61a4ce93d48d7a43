//! `airlock store …`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueHint};
use clap_complete::ArgValueCompleter;

use super::StoreArgs;
use super::completing::Ids;
use super::examples::{
    BACKUP_EXAMPLES, CHECK_EXAMPLES, FORGET_EXAMPLES, LIMIT_EXAMPLES, PRUNE_EXAMPLES,
    RESTORE_EXAMPLES, RETENTION_EXAMPLES, STATS_EXAMPLES,
};
use super::values::{ByteLimit, Retention, age, byte_limit, retention};
use crate::commands::store::{Request, Task};

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Check(CheckArgs),
    Stats(StatsArgs),
    Prune(PruneArgs),
    Forget(ForgetArgs),
    Retention(RetentionArgs),
    Limit(LimitArgs),
}

impl StoreCommand {
    pub fn json(&self) -> bool {
        match self {
            StoreCommand::Backup(args) => args.json,
            StoreCommand::Restore(args) => args.json,
            StoreCommand::Check(args) => args.json,
            StoreCommand::Stats(args) => args.json,
            StoreCommand::Prune(args) => args.json,
            StoreCommand::Forget(args) => args.json,
            StoreCommand::Retention(args) => args.json,
            StoreCommand::Limit(args) => args.json,
        }
    }
}

/// Copy the store into a file, while others go on using it
///
/// In the copy, all pending actions are marked as interrupted: they may be resolved after the copy
/// was made.
#[derive(Debug, Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub struct BackupArgs {
    /// The file to create; an existing one is not overwritten
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Restore the store from a backup; an existing store is not overwritten
#[derive(Debug, Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub struct RestoreArgs {
    /// A file that `airlock store backup` made
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Read the whole store, and list its problems
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Show how much the store keeps
#[derive(Debug, Args)]
#[command(after_help = STATS_EXAMPLES)]
pub struct StatsArgs {
    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Forget old decisions, and plugins that nothing pending needs
#[derive(Debug, Args)]
#[command(after_help = PRUNE_EXAMPLES)]
pub struct PruneArgs {
    /// Forget decisions of at least this age, such as 12h, 30d or 4w [default: the store's
    /// retention]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<Duration>,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Forget all that is kept of a decision: its action, the preview and the params
#[derive(Debug, Args)]
#[command(after_help = FORGET_EXAMPLES)]
pub struct ForgetArgs {
    /// The id of an action that was resolved, or at least 4 of its first or last characters
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    #[arg(add = ArgValueCompleter::new(Ids))]
    pub id: String,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Show or set how long decisions are kept
#[derive(Debug, Args)]
#[command(after_help = RETENTION_EXAMPLES)]
pub struct RetentionArgs {
    /// `forever`, or an age such as 12h, 30d or 4w
    #[arg(value_name = "AGE", value_parser = retention)]
    pub retention: Option<Retention>,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Show or set how much the store may hold
///
/// A store that has reached its limit accepts no more previews. Pending actions can always be
/// resolved.
#[derive(Debug, Args)]
#[command(after_help = LIMIT_EXAMPLES)]
pub struct LimitArgs {
    /// `none`, or a size such as 500MiB or 4GiB
    #[arg(value_name = "SIZE", value_parser = byte_limit)]
    pub limit: Option<ByteLimit>,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl From<StoreCommand> for Request {
    fn from(command: StoreCommand) -> Self {
        let (task, store) = match command {
            StoreCommand::Backup(args) => (Task::Backup(args.file), args.store),
            StoreCommand::Restore(args) => (Task::Restore(args.file), args.store),
            StoreCommand::Check(args) => (Task::Check, args.store),
            StoreCommand::Stats(args) => (Task::Stats, args.store),
            StoreCommand::Prune(args) => (Task::Prune(args.older_than), args.store),
            StoreCommand::Forget(args) => (Task::Forget(args.id), args.store),
            StoreCommand::Retention(args) => {
                let kept = args.retention.map(|retention| match retention {
                    Retention::Forever => None,
                    Retention::For(age) => Some(age),
                });
                (Task::Retention(kept), args.store)
            }
            StoreCommand::Limit(args) => {
                let limit = args.limit.map(|limit| match limit {
                    ByteLimit::None => None,
                    ByteLimit::Bytes(bytes) => Some(bytes),
                });
                (Task::Limit(limit), args.store)
            }
        };
        Self {
            task,
            store: store.into(),
        }
    }
}
