//! The author's test kit: properties that every tool must have, and the cases that an author
//! writes.
//!
//! [`examine()`] calls a plugin's tools with params that were written ([`Cases`]) or generated from
//! their schemas, watches what they do, and makes a try that breaks something small. All of it goes
//! through the public sessions of `airlock-host`, each on a copy of a workspace. What no try could
//! look at is part of what it found out: [`Untried`]. Nothing here knows
//! of a command line, a terminal or a format: what is printed is made of the [`Report`].
//!
//! ```no_run
//! use airlock_host::{Engine, Plugin};
//! use airlock_test_kit::{Settings, examine};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let plugin = Plugin::load(&Engine::new()?, "build/rename.wasm").await?;
//! let settings = Settings { cases: &[], tries: 64, seed: 1, tool: None, tell: &|_| {} };
//! let report = examine(&plugin, &settings).await?;
//! assert!(report.held() && report.untried.is_empty(), "{report:?}");
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

/// Why a tool could not be tested: the host or the machine is at fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// A copy of the workspace could not be made.
    #[error("can't make a workspace for a try: {0}")]
    Workspace(io::Error),
    /// What a tool left in its workspace can't be read.
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
