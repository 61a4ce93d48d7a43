//! Write Airlock plugins in Rust: tools that show what they would do, and do it once somebody
//! decided.
//!
//! A tool is called with parameters and answers with a *preview*: what it found, and the actions
//! that it proposes. The host keeps each action until somebody applies or discards it, maybe in
//! another process and on another day, and only then hands the tool its own plan back. Meanwhile
//! the sandbox lets nothing of the workspace be written.
//!
//! # Example
//!
//! Two types and two functions make a tool; its JSON Schema comes from the types.
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
//! `Cargo.toml` needs `crate-type = ["cdylib"]` under `[lib]`, and beside this crate `serde` and
//! `schemars`, whose derives it uses; `airlock new NAME --lang rust` writes one. `airlock build`
//! then gives the component. The README beside this crate's `Cargo.toml` is a guide from an empty
//! folder.
//!
//! # Contents
//!
//! - What a plugin has: [`Tool`], collected in [`Tools`] and handed to [`export!`].
//! - What a tool is given: its parameters with a [`Call`], later its plan with a [`Resolution`].
//! - What it gives back: a [`Preview`] with [`Action`]s, an [`Output`] of [`Content`], or an
//!   [`Error`], to which [`Context`] adds what was being done.
//! - For what can't be written down: [`VolatileAction`], which is kept as closures.
//! - What else the host offers: [`log`], [`report_progress`], [`is_cancelled`] and [`session`].
//!
//! # Files
//!
//! `std::fs` works. Relative paths are the workspace's, with one exception: a first folder that is
//! named `workspace` or `scratch` is taken for the guest's own root of that name, so a tool that
//! takes paths from its caller joins them to [`Session::workspace`]. While a tool previews, or
//! rejects, every write to the workspace fails with a read-only error. `/scratch` is the plugin's
//! own, writable at any time and gone with the session. [`glob`] finds files by a pattern.
//!
//! # Panics
//!
//! A panic ends the instance, and the caller reads which tool panicked, where and why. Return an
//! [`Error`] for whatever can be expected.
//!
//! # Tests
//!
//! Everything builds for the native target too, where `preview` and `apply` are plain functions:
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

/// What [`export!`] expands to; no part of the API.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{Plugin, is_plugin};
    pub use crate::wire::bindings;
    pub use crate::wire::bindings::export_component;
}
