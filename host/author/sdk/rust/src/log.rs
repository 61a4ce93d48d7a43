//! Lines for the host's log: `log::info(format_args!("{n} files"))`.
//!
//! The log is for whoever runs the host; what the caller should know belongs into the
//! [`Output`](crate::Output). Lines above the host's limit per call are counted and dropped. In
//! native tests they go to the standard error.

use std::fmt::Display;

use crate::wire::bindings::airlock::tool::host::Level;

/// For following the tool's every step.
pub fn trace(message: impl Display) {
    write(Level::Trace, &message.to_string());
}

/// For finding out why the tool did what it did.
pub fn debug(message: impl Display) {
    write(Level::Debug, &message.to_string());
}

/// For what is worth knowing although nothing is wrong.
pub fn info(message: impl Display) {
    write(Level::Info, &message.to_string());
}

/// For what may be wrong although the call goes on.
pub fn warn(message: impl Display) {
    write(Level::Warn, &message.to_string());
}

/// For what went wrong.
pub fn error(message: impl Display) {
    write(Level::Error, &message.to_string());
}

#[cfg(target_family = "wasm")]
fn write(level: Level, message: &str) {
    crate::wire::bindings::airlock::tool::host::log(level, message);
}

#[cfg(not(target_family = "wasm"))]
fn write(level: Level, message: &str) {
    eprintln!("{level:?}: {message}");
}
