//! What holds, of the command line and the configuration's files.

use std::path::Path;

use airlock_desk::Error;
use airlock_desk::configuration::{Given, Operator, Settings};
use airlock_desk::session::SessionChoice;
use airlock_host::Limits;

use super::{CallArgs, SessionArgs};
use crate::bundled::CATALOG;
use crate::failure::Failure;

/// Reads the files, of which `config` is named in place of the user's.
///
/// # Errors
/// Where something is wrong in one of them.
pub fn settings(config: Option<&Path>, given: &Given) -> Result<Settings, Failure> {
    let settings = Settings::read(config, given, CATALOG);
    settings.map_err(|problems| Error::from(problems).into())
}

/// The session that the command line means. If it names neither a session nor a workspace, the
/// workspace is the configuration's, as for `run`.
///
/// # Errors
/// Where something is wrong in a file that says it.
pub fn session(config: Option<&Path>, given: SessionArgs) -> Result<SessionChoice, Failure> {
    let mut choice = SessionChoice::from(given);
    if choice == SessionChoice::default() {
        let operator = Operator::read(config).map_err(Error::from)?;
        choice.workspace = operator.workspace();
    }
    Ok(choice)
}

/// The same, or none for all sessions.
///
/// # Errors
/// As of [`session`].
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

/// What a tool may use up that is applied, where the workspace is its action's.
///
/// # Errors
/// Where something is wrong in a file that says it.
pub fn limits(config: Option<&Path>, given: &CallArgs) -> Result<Limits, Failure> {
    let operator = Operator::read(config).map_err(Error::from)?;
    Ok(given.limits_over(operator.limits()))
}
