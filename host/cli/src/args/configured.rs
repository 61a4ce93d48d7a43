//! Settings from the command line and the configuration files.

use airlock_desk::Error;
use airlock_desk::configuration::{Given, OperatorFiles, Settings};
use airlock_desk::session::SessionChoice;
use airlock_host::Limits;

use super::{CallArgs, SessionArgs};
use crate::bundled::CATALOG;
use crate::failure::Failure;

/// Returns the settings of the configuration. `given` overrides it.
///
/// # Errors
/// If the configuration is invalid.
pub fn settings(config: &OperatorFiles, given: &Given) -> Result<Settings, Failure> {
    let settings = Settings::read(config, given, CATALOG);
    settings.map_err(|problems| Error::from(problems).into())
}

/// Returns the session that the command line means. If it names neither a session nor a workspace,
/// the workspace is the configuration's, as for `run`.
///
/// # Errors
/// If the configuration is invalid.
pub fn session(config: &OperatorFiles, given: SessionArgs) -> Result<SessionChoice, Failure> {
    let mut choice = SessionChoice::from(given);
    if choice == SessionChoice::default() {
        let operator = config.operator().map_err(Error::from)?;
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
    config: &OperatorFiles,
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
pub fn limits(config: &OperatorFiles, given: &CallArgs) -> Result<Limits, Failure> {
    let operator = config.operator().map_err(Error::from)?;
    Ok(given.limits_over(operator.limits()))
}
