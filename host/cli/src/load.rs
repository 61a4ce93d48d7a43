//! Loading plugins for commands.

use std::ffi::OsStr;

use airlock_desk::lock::Locks;
use airlock_desk::plugin::{self, Loaded, Source};
use airlock_host::{Engine, Error, Limits};

use crate::bundled::CATALOG;
use crate::failure::Failure;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::progress::Progress;

/// The most live instances. One session runs at a time, so a pool sized for a server would be a
/// waste. This leaves room for components with many memories.
const LIVE_INSTANCES: u32 = 32;

/// Finds a producer. A plugin is compiled and checked.
pub async fn load(
    plugin: &OsStr,
    locks: &Locks,
    limits: Limits,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Loaded, Failure> {
    let source = Source::find(CATALOG, locks, plugin)?;
    let what = format!("Compiling {}…", source.name());
    let loading = progress.during(what, source.load(|| engine(limits)));
    match interrupt.token().run_until_cancelled(loading).await {
        Some(loaded) => Ok(loaded?),
        None => Err(Failure::interrupted()),
    }
}

/// Returns the engine for many conversations of several principals. They share `memory` bytes, by
/// default as many as [`EngineBuilder`](airlock_host::EngineBuilder::guest_memory) determines. Its
/// pool has as many instances as fit into memory, and takes a while to create.
#[cfg(feature = "serve")]
pub fn engine_for_many(limits: Limits, memory: Option<usize>) -> Result<Engine, Error> {
    let engine = plugin::engine(limits);
    match memory {
        Some(bytes) => engine.guest_memory(bytes),
        None => engine,
    }
    .build()
}

/// Returns the engine for a single user.
pub fn engine(limits: Limits) -> Result<Engine, Error> {
    plugin::engine(limits)
        .live_instances(LIVE_INSTANCES)
        .guest_memory(usize::MAX)
        .build()
}
