//! Lines for the host's log: `log::info(format_args!("{n} files"))`.
//!
//! The log is for the operator of the host. Information for the caller belongs in the
//! [`Output`](crate::Output). Lines above the host's limit per call are counted and dropped. In
//! native tests, lines go to the standard error.

use std::fmt::Display;

use crate::wire::bindings::airlock::tool::host::Level;

/// Logs a step of the tool, for following its every step.
pub fn trace(message: impl Display) {
    write(Level::Trace, &message.to_string());
}

/// Logs a detail, for finding out why the tool did something.
pub fn debug(message: impl Display) {
    write(Level::Debug, &message.to_string());
}

/// Logs something worth knowing that is not a problem.
pub fn info(message: impl Display) {
    write(Level::Info, &message.to_string());
}

/// Logs a possible problem that doesn't stop the call.
pub fn warn(message: impl Display) {
    write(Level::Warn, &message.to_string());
}

/// Logs a failure.
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
