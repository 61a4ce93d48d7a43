//! Runs a part of a program in a process of its own, with limits.
//!
//! Work that can't be interrupted, or may take any amount of memory, is done by the same program
//! started again, with an argument that says which [part](Part) it is. The host starts it as a
//! [`Worker`], which is killed when it is dropped. The process [holds itself](Bounds) to limits
//! before it reads anything that could be hostile, and ends when its host does. The two exchange
//! messages over a private socket. The host can stop waiting at any time, and checks how long
//! a message is before it takes memory for it.

#[cfg(unix)]
mod exit_reason;
#[cfg(unix)]
mod frames;
#[cfg(unix)]
mod host;
#[cfg(unix)]
#[allow(
    unsafe_code,
    reason = "a descriptor that no value of this process owns can only be closed by its number"
)]
mod inherited;
#[cfg(unix)]
mod part;
#[cfg(unix)]
mod pool;
#[cfg(unix)]
mod worker;

#[cfg(unix)]
pub use exit_reason::ExitReason;
#[cfg(unix)]
pub use frames::ReceiveError;
#[cfg(unix)]
pub use host::Host;
#[cfg(unix)]
pub use part::{Bounds, Part, serve_if_asked_for};
#[cfg(unix)]
pub use pool::{Permits, Pool, Pooled};
#[cfg(unix)]
pub use worker::Worker;
