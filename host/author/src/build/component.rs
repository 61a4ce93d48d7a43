//! Turns a core module for WASI preview 1 into a component.

use anyhow::Context;
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

use super::bindings::World;
use super::toolchain::failed;
use crate::error::Error;

/// Creates a component from a core module that identifies its world itself.
///
/// # Errors
/// If the module lacks something that the world requires.
pub fn from_module(module: &[u8]) -> Result<Vec<u8>, Error> {
    encode(module).context(MISFIT).map_err(failed)
}

/// Creates a component from a core module that has the exports of `world` without identifying it.
///
/// # Errors
/// See [`from_module`].
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
