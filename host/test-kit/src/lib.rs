//! The test kit for plugin authors: properties that every tool must have, and cases that an author
//! writes.
//!
//! [`examine()`] calls a plugin's tools with written params ([`Cases`]) or with params generated
//! from their schemas, observes the effects, and shrinks a failing try. It uses only the public
//! sessions of `airlock-host`, each on a copy of a workspace. The report includes everything that
//! no try could check: [`Untried`]. This crate knows nothing about command lines, terminals or
//! output formats; callers format the [`Report`].
//!
//! ```no_run
//! use airlock_host::{Engine, Plugin};
//! use airlock_test_kit::{Settings, examine};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let plugin = Plugin::load(&Engine::new()?, "build/rename.wasm").await?;
//! let settings = Settings { cases: &[], tries: 64, seed: 1, tool: None, tell: &|_| {} };
//! let report = examine(&plugin, &settings).await?;
//! assert!(report.passed() && report.untried.is_empty(), "{report:?}");
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

mod case;
mod default_workspace;
mod examine;
mod fault_injection;
mod files;
mod generate;
mod harness;
mod notes;
mod observe;
mod property;
mod report;
mod schema;
mod shrink;
mod untried;

use std::io;

use airlock_host::Error;
use airlock_host::load::LoadError;
use airlock_host::store::StoreError;

pub use case::Cases;
pub use examine::{Settings, examine};
pub use files::{Entry, Files, FolderError};
pub use property::{Breach, short};
pub use report::{CaseReport, Counts, Example, Note, Outcome, PropertyReport, Report, ToolReport};
pub use untried::{Untried, UntriedKind};

/// The reason why a tool could not be tested: a fault of the host or the machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// Copying the workspace failed.
    #[error("can't make a workspace for a try: {0}")]
    Workspace(io::Error),
    /// The files that a tool left in its workspace can't be read.
    #[error("can't look at a try's workspace: {0}")]
    Files(#[from] FolderError),
    /// The host failed.
    #[error(transparent)]
    Host(#[from] Error),
    /// The plugin can't be asked for its tools again.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<StoreError> for HarnessError {
    fn from(error: StoreError) -> Self {
        HarnessError::Host(error.into())
    }
}
