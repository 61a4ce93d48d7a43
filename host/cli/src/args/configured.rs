//! What holds, of the command line and the configuration's files.

use std::path::Path;

use airlock_desk::configuration::{Given, Settings};

use crate::bundled::CATALOG;
use crate::failure::Failure;

/// Reads the files, of which `config` is named in place of the user's.
///
/// # Errors
/// Where something is wrong in one of them.
pub fn settings(config: Option<&Path>, given: &Given) -> Result<Settings, Failure> {
    let settings = Settings::read(config, given, CATALOG);
    settings.map_err(|problems| airlock_desk::Error::from(problems).into())
}
