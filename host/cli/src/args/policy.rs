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
/// It decides nothing, and counts nothing towards a budget.
#[derive(Debug, Args)]
#[command(after_help = POLICY_EXPLAIN_EXAMPLES)]
pub struct PolicyExplainArgs {
    /// An action's id, in any session (or at least 4 of its first or last characters), or a file's
    /// path, with a slash or a dot in it: `./Makefile`
    #[arg(value_name = "ID|PATH", value_parser = NonEmptyStringValueParser::new(), add = ArgValueCompleter::new(Ids))]
    pub id: String,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
