//! `airlock policy …`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;

use super::completing::Ids;
use super::examples::POLICY_EXPLAIN_EXAMPLES;
use super::shared::StoreArgs;

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    Explain(PolicyExplainArgs),
}

/// Say which rules decide about a pending action or a file, and why
///
/// Nothing is decided by it, and nothing is counted.
#[derive(Debug, Args)]
#[command(after_help = POLICY_EXPLAIN_EXAMPLES)]
pub struct PolicyExplainArgs {
    /// The action's id, of any session (its beginning or its end will do where that is unique), or
    /// the path of a file
    #[arg(value_name = "ID|PATH", value_parser = NonEmptyStringValueParser::new(), add = ArgValueCompleter::new(Ids))]
    pub id: String,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
