//! Runs a part of a program in a separate process, with limits.
//!
//! Work that can't be interrupted, or that may need any amount of memory, runs in a second process
//! of the same program, started with an argument that selects the [part](Part). The host starts it
//! as a [`Worker`] and kills it when the worker is dropped. The process applies its [`Bounds`]
//! before it reads untrusted input, and exits when its host does. The two exchange messages over a
//! private socket. The host can stop waiting at any time, and checks the length of a message before
//! it allocates memory for it.

#[allow(
    unsafe_code,
    reason = "only a function of C chooses how much memory the C library keeps"
)]
mod arenas;
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

pub use arenas::limit_arenas;
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
