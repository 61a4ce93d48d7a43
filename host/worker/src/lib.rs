//! Runs a part of a program in a process of its own, with limits.
//!
//! What can't be interrupted, or may take any amount of memory, is done by the same program started
//! again with an argument that says which part it is. The host [starts](Process::start) it and can
//! [kill](Process::kill) it at any time; the process [bounds itself](Bounds::apply) before it works
//! on anything that could be hostile, and the two talk over a socket that nobody else has.

#[cfg(unix)]
mod exit_reason;
#[cfg(unix)]
#[allow(
    unsafe_code,
    reason = "a descriptor that no value of this process owns can only be closed by its number"
)]
mod inherited;
#[cfg(unix)]
mod part;
#[cfg(unix)]
mod process;

#[cfg(unix)]
pub use exit_reason::ExitReason;
#[cfg(unix)]
pub use part::{Bounds, serve_if_asked_for};
#[cfg(unix)]
pub use process::{Process, Started};
