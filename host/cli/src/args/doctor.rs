//! `airlock doctor`.

use std::ffi::OsString;
use std::path::PathBuf;

use airlock_desk::configuration::OperatorFiles;
use airlock_desk::store::StoreOptions;
use clap::{Args, ValueHint};

use super::StoreArgs;
use super::examples::DOCTOR_EXAMPLES;
use crate::commands::doctor::Request;

/// Check the configuration, the store, the cache, installed plugins, their registries, and a
/// workspace
///
/// Asks the registries of installed plugins whether a tag leads to another artifact. Changes
/// nothing.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub struct DoctorArgs {
    /// The workspace to check [default: the configuration's, or .]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub workspace: Option<PathBuf>,

    /// Ask no registry
    #[arg(long)]
    pub offline: bool,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl From<DoctorArgs> for Request {
    fn from(args: DoctorArgs) -> Self {
        let config: OperatorFiles = OperatorFiles::new(args.store.config);
        let store: Option<OsString> = args.store.store;
        Self {
            workspace: args.workspace,
            offline: args.offline,
            store: StoreOptions { store, config },
        }
    }
}
