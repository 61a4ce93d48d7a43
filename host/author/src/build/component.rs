//! From a core module of the WASI of old to a component.

use anyhow::Context;
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

use super::bindings::World;
use super::toolchain::failed;
use crate::error::Error;

/// Makes a component of a core module that says itself which world it has.
///
/// # Errors
/// If it doesn't have what the world asks for.
pub fn from_module(module: &[u8]) -> Result<Vec<u8>, Error> {
    encode(module).context(MISFIT).map_err(failed)
}

/// Makes a component of a core module that has the exports of `world`, and doesn't say so.
///
/// # Errors
/// As [`from_module`].
pub fn from_module_of(world: &World, mut module: Vec<u8>) -> Result<Vec<u8>, Error> {
    let (resolve, id) = (&world.resolve, world.id);
    embed_component_metadata(&mut module, resolve, id, StringEncoding::UTF8)
        .context(MISFIT)
        .map_err(failed)?;
    from_module(&module)
}

const MISFIT: &str = "the compiled module can't be made into a component";

fn encode(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    let encoder = ComponentEncoder::default().validate(true).module(module)?;
    let mut encoder = encoder.adapter(
        WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
        WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
    )?;
    encoder.encode()
}
