//! Plugins, as commands load them.

use std::ffi::OsStr;

use airlock_desk::plugin::{self, Loaded, Source};
use airlock_host::{Engine, Error, Limits};

use crate::bundled::CATALOG;
use crate::failure::Failure;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::progress::Progress;

/// One session at a time runs here, so that a pool for a server's load would be a waste. Room for
/// components of many memories is left.
const LIVE_INSTANCES: u32 = 32;

/// Finds what is meant; a plugin is compiled and checked.
pub async fn load(
    plugin: &OsStr,
    limits: Limits,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Loaded, Failure> {
    let source = Source::find(CATALOG, plugin)?;
    let what = format!("Compiling {}…", source.name());
    let loading = progress.during(what, source.load(|| engine(limits)));
    match interrupt.token().run_until_cancelled(loading).await {
        Some(loaded) => Ok(loaded?),
        None => Err(Failure::interrupted()),
    }
}

/// The engine for many conversations of several principals, who share `memory` bytes, or else what
/// [`EngineBuilder`](airlock_host::EngineBuilder::guest_memory) finds. Its pool has as many
/// instances as memory has room for, and takes a while to make.
#[cfg(feature = "serve")]
pub fn engine_for_many(limits: Limits, memory: Option<usize>) -> Result<Engine, Error> {
    let engine = plugin::engine(limits);
    match memory {
        Some(bytes) => engine.guest_memory(bytes),
        None => engine,
    }
    .build()
}

/// The engine for one user, with whom nobody shares it.
pub fn engine(limits: Limits) -> Result<Engine, Error> {
    plugin::engine(limits)
        .live_instances(LIVE_INSTANCES)
        .guest_memory(usize::MAX)
        .build()
}
