//! Loading installed plugins.

use std::io;

use airlock_host::digest::Digest;
use airlock_host::regular::read_regular_file;
use airlock_host::{Engine, Plugin};

use super::MAX_PLUGIN_BYTES;
use crate::Error;
use crate::lock::Installed;

/// Returns the component's bytes, if they are those that the lock pins.
///
/// # Errors
/// [`Error::NotFetched`] if they are not there, or others are. [`Error::NotSigned`] if the operator
/// requires another signer.
pub(super) fn bytes(installed: &Installed) -> Result<Vec<u8>, Error> {
    installed.check_signers()?;
    let failed = |state| Error::NotFetched {
        name: installed.entry.name.clone(),
        state,
        path: installed.component.clone(),
    };
    match read_regular_file(&installed.component, MAX_PLUGIN_BYTES) {
        Ok(bytes) if Digest::of(&bytes) == installed.entry.digest => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(failed("missing")),
        _ => Err(failed("damaged")),
    }
}

/// Loads the plugin, and compares it with the lock.
///
/// # Errors
/// [`Error::Differs`] if it differs, and otherwise those of [`bytes`] and of a load.
pub(super) async fn load(installed: &Installed, engine: &Engine) -> Result<Plugin, Error> {
    let name = installed.entry.name.as_str();
    let plugin = Plugin::from_bytes(engine, name, bytes(installed)?).await?;
    let differences = installed.entry.differences_to(&plugin);
    if differences.is_empty() {
        return Ok(plugin);
    }
    Err(Error::Differs {
        name: installed.entry.name.clone(),
        lock: installed.lock.clone(),
        differences,
    })
}
