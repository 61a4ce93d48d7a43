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

/// What plugins run on where there are many conversations: as many instances as memory has room
/// for. Such a pool takes a while to make.
#[cfg(feature = "serve")]
pub fn engine_for_many(limits: Limits) -> Result<Engine, Error> {
    plugin::engine(limits).build()
}

/// What plugins run on.
pub fn engine(limits: Limits) -> Result<Engine, Error> {
    let engine = plugin::engine(limits);
    engine.live_instances(LIVE_INSTANCES).build()
}
