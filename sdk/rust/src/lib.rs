//! Write Airlock plugins in Rust: tools that preview changes, and make them once they are approved.
//!
//! A tool is called with parameters and answers with a *preview*: what it found, and the actions
//! that it proposes. The host keeps each action until it is applied or discarded, maybe in another
//! process and on another day. Only then does the host give the tool its own plan back. Until then,
//! the sandbox lets the tool write nothing to the workspace.
//!
//! # Example
//!
//! A tool consists of two types and two functions. Its JSON Schema comes from the types.
//!
//! ```no_run
//! use airlock_tool::{Action, Call, Context, Error, Output, Preview, Resolution, Tool, Tools};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Params {
//!     /// The file to empty, relative to the workspace.
//!     path: String,
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Plan {
//!     path: String,
//! }
//!
//! fn preview(params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
//!     let Params { path } = params;
//!     let bytes = std::fs::metadata(&path).with_context(|| format!("looking at `{path}`"))?.len();
//!     if bytes == 0 {
//!         return Err(Error::tool(format!("`{path}` is empty already.")));
//!     }
//!     let action = Action::new(format!("Empty file: {path}"), Plan { path });
//!     Ok(Preview::new(format!("Would remove {bytes} bytes.")).stage(action))
//! }
//!
//! fn apply(plan: Plan, resolution: &Resolution) -> Result<Output, Error> {
//!     std::fs::write(&plan.path, "")?;
//!     Ok(Output::text(format!("Emptied {}: {}", plan.path, resolution.reason)))
//! }
//!
//! fn tools() -> Tools {
//!     Tools::new().with(
//!         Tool::new("empty_file", "Removes everything from a file, and keeps the file.")
//!             .preview(preview)
//!             .apply(apply)
//!             .destructive(),
//!     )
//! }
//!
//! airlock_tool::export!(tools);
//! # fn main() {}
//! ```
//!
//! `Cargo.toml` needs `crate-type = ["cdylib"]` under `[lib]`. Besides this crate, it needs `serde`
//! and `schemars` for their derives. `airlock new NAME --lang rust` writes such a file, and
//! `airlock build` builds the component. The README next to this crate's `Cargo.toml` is a guide
//! that starts with an empty folder.
//!
//! # Contents
//!
//! - The parts of a plugin: [`Tool`], collected in [`Tools`] and passed to [`export!`].
//! - The arguments of a tool: its parameters with a [`Call`], later its plan with a [`Resolution`].
//! - The results of a tool: a [`Preview`] with [`Action`]s, an [`Output`] of [`Content`], or an
//!   [`Error`], to which [`Context`] adds what the tool was doing.
//! - Actions that can't be serialized: [`VolatileAction`], which is kept as closures.
//! - Other functions of the host: [`log`], [`report_progress`], [`is_cancelled`] and [`session`].
//!
//! # Files
//!
//! `std::fs` works. Relative paths start in the workspace, with one exception: if the first folder
//! is named `workspace` or `scratch`, the path starts in the guest's own root of that name. A tool
//! that takes paths from its caller should therefore join them to [`Session::workspace`]. While a
//! tool previews or rejects, every write to the workspace fails with a read-only error. `/scratch`
//! belongs to the plugin: it is always writable, and removed with the session. [`glob`] finds files
//! by a pattern.
//!
//! # Panics
//!
//! A panic ends the instance. The caller reads which tool panicked, where and why. Return an
//! [`Error`] for everything that can be expected.
//!
//! # Tests
//!
//! Everything builds for the native target too. There, `preview` and `apply` are plain functions:
//! [`Call::new`] and [`Resolution::new`] make their arguments, and the functions of the host have
//! harmless stand-ins.

mod call;
mod content;
mod context;
mod details;
mod dispatch;
mod entry;
mod envelope;
mod error;
mod export;
mod glob;
mod host;
pub mod log;
mod output;
mod panic;
mod params;
mod preview;
mod resolution;
mod running;
mod schema;
mod staging;
mod tool;
mod tools;
mod volatile;
mod wire;

pub use call::Call;
pub use content::{Content, Link};
pub use context::Context;
pub use error::Error;
pub use glob::{glob, matches_glob};
pub use host::{
    Session, check_cancelled, is_cancelled, report_progress, report_progress_of, session,
};
pub use output::Output;
pub use preview::{Action, Preview};
pub use resolution::Resolution;
pub use schemars;
pub use serde;
pub use tool::{Answering, Complete, Named, Previewing, Staging, Tool, Volatile};
pub use tools::Tools;
pub use volatile::VolatileAction;

/// The expansion of [`export!`]. Not part of the API.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{Plugin, is_plugin};
    pub use crate::wire::bindings;
    pub use crate::wire::bindings::export_component;
}
