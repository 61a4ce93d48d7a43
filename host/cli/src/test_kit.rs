//! The author's test kit: what a tool must keep, tried out.
//!
//! All of it goes through the library's own sessions, each on a copy of a workspace. Nothing here knows of a terminal or of a
//! format: `test` prints what [`examine()`] reports.

mod case;
mod examine;
mod files;
mod forgetful;
mod generate;
mod notes;
mod observe;
mod property;
mod report;
mod schema;
mod shrink;
mod stage;

use std::io;

use airlock_host::{Error, LoadError, StoreError};

pub use case::Cases;
pub use examine::{Settings, examine};
pub use files::{Entry, Files};
pub use property::{Breach, short};
pub use report::{CaseReport, Example, Note, Outcome, PropertyReport, Report, ToolReport};

/// Why nothing can be said about a tool: the machine did not play along.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("can't make a workspace for a try: {0}")]
    Workspace(io::Error),
    #[error("can't look at a try's workspace: {0}")]
    Files(#[from] files::FolderError),
    #[error(transparent)]
    Host(#[from] Error),
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Trouble::Host(error.into())
    }
}
