//! Programs for WASI preview 1: core modules, made into components for `wasi:cli/command`.

use std::io::{self, Read};
use std::path::Path;

use airlock_host::load::LoadError;
use airlock_host::regular::{open_regular_file, read_regular_file};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER,
};
use wit_component::ComponentEncoder;

/// The first bytes of a core module. A component has another version.
const CORE_MODULE: [u8; 8] = *b"\0asm\x01\0\0\0";

/// Returns the component for the core module in a file. `None` if the file has something else, or
/// can't be read; loading it reports the problem.
///
/// # Errors
/// [`LoadError::NotAComponent`] if the module is no program for WASI preview 1.
pub(super) fn component_of(path: &Path, most: u64) -> Result<Option<Vec<u8>>, LoadError> {
    if !is_core_module(path).unwrap_or(false) {
        return Ok(None);
    }
    let Ok(module) = read_regular_file(path, most) else {
        return Ok(None);
    };
    let component = encode(&module).map_err(|error| LoadError::NotAComponent {
        plugin: path.display().to_string(),
        reason: format!(
            "it is a core module, and can't be made a component for `wasi:cli/command`: {error:#}"
        ),
    })?;
    Ok(Some(component))
}

pub(super) fn is_core_module(path: &Path) -> io::Result<bool> {
    let mut beginning = [0; CORE_MODULE.len()];
    open_regular_file(path)?.read_exact(&mut beginning)?;
    Ok(beginning == CORE_MODULE)
}

fn encode(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    let encoder = ComponentEncoder::default().validate(true).module(module)?;
    let mut encoder = encoder.adapter(
        WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
        WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER,
    )?;
    encoder.encode()
}
