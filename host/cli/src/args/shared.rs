//! Options that several commands have.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use airlock_desk::configuration::OperatorFiles;
use airlock_desk::session::SessionChoice;
use airlock_desk::store::StoreOptions;
use airlock_host::Limits;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use super::values::seconds;

/// Which store.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// The store: a file, or postgres://USER@HOST/DATABASE [default: AIRLOCK_STORE, the
    /// configuration's store, or airlock/pending.db in the user's state folder]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, display_order = 90)]
    pub store: Option<OsString>,

    /// The operator's configuration file, instead of the user's: see `airlock help config check`
    /// [default: airlock/airlock-host.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, display_order = 91)]
    pub config: Option<PathBuf>,
}

impl From<StoreArgs> for StoreOptions {
    fn from(args: StoreArgs) -> Self {
        Self {
            store: args.store,
            config: OperatorFiles::new(args.config),
        }
    }
}

/// Which session.
#[derive(Debug, Args)]
pub struct SessionArgs {
    /// The workspace: the directory that the tool may read, and change when applied [default: .]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub workspace: Option<PathBuf>,

    /// Keep pending actions under this name [default: one made from the workspace's path]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
}

impl From<SessionArgs> for SessionChoice {
    fn from(args: SessionArgs) -> Self {
        Self {
            workspace: args.workspace,
            session: args.session,
        }
    }
}

/// What a guest may use up.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// The time limit of a call [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// The memory limit of the tool [default: 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_memory: Option<u32>,
}

impl CallArgs {
    /// Overrides `limits` with those of the command line.
    pub fn limits_over(&self, mut limits: Limits) -> Limits {
        if let Some(timeout) = self.timeout {
            limits.call_time = timeout;
        }
        if let Some(bytes) = self.memory_bytes() {
            limits.memory = bytes;
        }
        limits
    }

    pub fn memory_bytes(&self) -> Option<usize> {
        self.max_memory.map(|mib| (mib as usize) << 20)
    }
}
