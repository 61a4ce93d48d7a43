//! Settings from the command line and the configuration files.

use std::path::Path;

use airlock_desk::Error;
use airlock_desk::configuration::{Given, Operator, Settings};
use airlock_desk::session::SessionChoice;
use airlock_host::Limits;

use super::{CallArgs, SessionArgs};
use crate::bundled::CATALOG;
use crate::failure::Failure;

/// Reads the configuration files, with `config` in place of the user's. `given` overrides them.
///
/// # Errors
/// If the configuration is invalid.
pub fn settings(config: Option<&Path>, given: &Given) -> Result<Settings, Failure> {
    let settings = Settings::read(config, given, CATALOG);
    settings.map_err(|problems| Error::from(problems).into())
}

/// Returns the session that the command line means. If it names neither a session nor a workspace,
/// the workspace is the configuration's, as for `run`.
///
/// # Errors
/// If the configuration is invalid.
pub fn session(config: Option<&Path>, given: SessionArgs) -> Result<SessionChoice, Failure> {
    let mut choice = SessionChoice::from(given);
    if choice == SessionChoice::default() {
        let operator = Operator::read(config).map_err(Error::from)?;
        choice.workspace = operator.workspace();
    }
    Ok(choice)
}

/// Returns the [`session`] that the command line means, or `None` if it means all of them.
///
/// # Errors
/// Those of [`session`].
pub fn session_unless(
    all: bool,
    config: Option<&Path>,
    given: SessionArgs,
) -> Result<Option<SessionChoice>, Failure> {
    if all {
        Ok(None)
    } else {
        session(config, given).map(Some)
    }
}

/// Returns the limits of a tool that runs in its action's workspace: those of the command line, or
/// else of the operator's configuration.
///
/// # Errors
/// If the configuration is invalid.
pub fn limits(config: Option<&Path>, given: &CallArgs) -> Result<Limits, Failure> {
    let operator = Operator::read(config).map_err(Error::from)?;
    Ok(given.limits_over(operator.limits()))
}
