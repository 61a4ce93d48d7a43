//! The command for past decisions.

use std::time::SystemTime;

use airlock_desk::store::StoreOptions;
use airlock_rules::Pattern;
use clap::{Args, ValueEnum};

use super::actions::pattern;
use super::examples::LOG_EXAMPLES;
use super::values::moment;
use super::{SessionArgs, StoreArgs, configured};
use crate::commands::log;
use crate::failure::Failure;

/// Show past decisions, and refused and declined requests: the action, the person or program, the
/// time and the reason
///
/// A refused or declined action stays pending, so it may have several entries: it keeps the last
/// 10.
#[derive(Debug, Args)]
#[command(after_help = LOG_EXAMPLES)]
pub struct LogArgs {
    #[command(flatten)]
    pub session: SessionArgs,

    /// Show the decisions of all sessions
    #[arg(long, conflicts_with_all = ["session", "workspace"])]
    pub all: bool,

    /// How many to show at most, the latest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,

    /// Only from then on: an age such as 12h or 30d, a day such as 2026-11-20, or a moment such as
    /// 2026-11-20T09:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub since: Option<SystemTime>,

    /// Only before then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub until: Option<SystemTime>,

    /// Only entries with WHO as decider or asker: `model`, `person`, `program`, `unknown`, or a
    /// part of a name
    #[arg(long, value_name = "WHO")]
    pub by: Option<String>,

    /// Only what this tool previewed
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,

    /// Only what changed such a path: a name such as '*.md', a directory such as docs/, or a path
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub path: Option<Pattern>,

    /// Only entries of this kind
    #[arg(long, value_name = "STATE")]
    pub state: Option<LogState>,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The kinds of entries in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogState {
    /// Its changes were made
    Applied,
    /// They were dropped
    Discarded,
    /// A rule refused a request, and the action stayed pending
    Refused,
    /// A person declined a request, and the action stayed pending
    Declined,
}

impl From<LogState> for log::State {
    fn from(state: LogState) -> Self {
        match state {
            LogState::Applied => log::State::Applied,
            LogState::Discarded => log::State::Discarded,
            LogState::Refused => log::State::Refused,
            LogState::Declined => log::State::Declined,
        }
    }
}

impl LogArgs {
    /// Returns the request, with the defaults of the configuration.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn request(self) -> Result<log::Request, Failure> {
        let args = self;
        let store = StoreOptions::from(args.store);
        let session = configured::session_unless(args.all, &store.config, args.session)?;
        Ok(log::Request {
            session,
            limit: args.limit as usize,
            filter: log::Filter {
                since: args.since,
                until: args.until,
                by: args.by,
                tool: args.tool,
                path: args.path,
                state: args.state.map(Into::into),
            },
            store,
        })
    }
}
