//! `airlock build`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::examples::BUILD_EXAMPLES;
use crate::commands::author::build::Request;

/// Build a tool's project into a component, and check that it can be loaded
#[derive(Debug, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub struct BuildArgs {
    /// The project's folder [default: .]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,

    /// Where the component goes [default: DIR/build/NAME.wasm]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Build again whenever a file of the project changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,

    /// Print one JSON object, with `--watch` one for each build
    #[arg(long)]
    pub json: bool,

    /// Arguments for the language's own build tool, for example `-- --locked` for cargo
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<OsString>,
}

impl From<BuildArgs> for Request {
    fn from(args: BuildArgs) -> Self {
        Self {
            folder: args.folder.unwrap_or_else(|| PathBuf::from(".")),
            output: args.output,
            options: args.options,
            watch: args.watch,
        }
    }
}
