//! `airlock config …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::examples::{CONFIG_CHECK_EXAMPLES, CONFIG_SCHEMA_EXAMPLES};
use crate::commands::config::{Request, Task};

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    Check(ConfigCheckArgs),
    Schema(ConfigSchemaArgs),
}

/// Check the configuration files that apply here, and show the settings
#[derive(Debug, Args)]
#[command(after_help = CONFIG_CHECK_EXAMPLES)]
pub struct ConfigCheckArgs {
    /// A single file to check [default: the files that `run` and `serve` read here]
    #[arg(value_hint = ValueHint::FilePath, conflicts_with_all = ["workspace", "config"])]
    pub file: Option<PathBuf>,

    /// The workspace, whose own file is read too [default: .]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub workspace: Option<PathBuf>,

    /// The operator's configuration file, instead of the user's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Print the JSON Schema of airlock-host.toml, for editors
#[derive(Debug, Args)]
#[command(after_help = CONFIG_SCHEMA_EXAMPLES)]
pub struct ConfigSchemaArgs {}

impl ConfigCommand {
    pub fn json(&self) -> bool {
        match self {
            ConfigCommand::Check(args) => args.json,
            ConfigCommand::Schema(_) => false,
        }
    }
}

impl From<ConfigCommand> for Request {
    fn from(command: ConfigCommand) -> Self {
        match command {
            ConfigCommand::Schema(ConfigSchemaArgs {}) => Self {
                task: Task::Schema,
                workspace: None,
                config: None,
            },
            ConfigCommand::Check(args) => Self {
                task: args.file.map_or(Task::Check, Task::CheckFile),
                workspace: args.workspace,
                config: args.config,
            },
        }
    }
}
