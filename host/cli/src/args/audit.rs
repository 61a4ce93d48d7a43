//! `airlock audit`.

use clap::Args;
use clap_complete::ArgValueCompleter;

use super::StoreArgs;
use super::completing::Installed;
use super::examples::AUDIT_EXAMPLES;
use crate::commands::audit::Request;

/// Show what plugins may do and have done, which are unused, and known advisories
///
/// Lists installed plugins with their permissions, and counts the actions of each in the store, by
/// decision and changed files. A plugin is identified by its name and the digest of its component.
/// The store doesn't record calls without an action, nor which files and variables a plugin has
/// read. Changed files are known for applied actions that Airlock verified, for 30 days. The
/// advisories about wasmtime are part of this program. Asks no network and changes nothing.
#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub struct AuditArgs {
    /// The plugins: installed or bundled ones, or others with actions in the store [default: all]
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(Installed))]
    pub names: Vec<String>,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl From<AuditArgs> for Request {
    fn from(args: AuditArgs) -> Self {
        Self {
            names: args.names,
            store: args.store.into(),
        }
    }
}
