//! The locations of configuration files, and reading them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::{env, fs};

use airlock_host::regular::read_regular_file;
use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};
use schemars::JsonSchema;
use serde::Serialize;

use super::file::File;
use super::problem::Problem;
use super::reading;

/// The name of a configuration file.
pub const NAME: &str = "airlock-host.toml";

/// The environment variable that names another file in place of the system's, by an absolute path.
///
/// A user who can set it can also start any other program and name any other file, so it gives
/// nothing away. A workspace has no influence on it.
pub const SYSTEM_VARIABLE: &str = "AIRLOCK_SYSTEM_CONFIG";

#[cfg(unix)]
const SYSTEM: &str = "/etc/airlock/airlock-host.toml";
#[cfg(not(unix))]
const SYSTEM: &str = r"C:\ProgramData\airlock\airlock-host.toml";

/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The role of a configuration file, which determines its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The file that the operator named on the command line, in place of the user's.
    Named,
    /// The file in the user's configuration folder.
    User,
    /// The system's file.
    System,
    /// The file in the workspace, which anyone may have written.
    Workspace,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Named => "`--config`",
            Role::User => "the user's",
            Role::System => "the system's",
            Role::Workspace => "the workspace's",
        })
    }
}

/// Returns the path of the user's file, if the user has a configuration folder.
pub(super) fn user() -> Option<PathBuf> {
    let folders = choose_base_strategy().ok()?;
    Some(folders.config_dir().join("airlock").join(NAME))
}

pub(super) fn system() -> PathBuf {
    let named = env::var_os(SYSTEM_VARIABLE).filter(|path| !path.is_empty());
    named.map_or_else(|| PathBuf::from(SYSTEM), PathBuf::from)
}

/// Reads the file of this role. Returns `None` if there is none, except for a named file, for which
/// that is an error.
pub(super) fn read(role: Role, path: &Path) -> Result<Option<File>, Vec<Problem>> {
    let whole = |message: String| Err(vec![Problem::of_file(path, message)]);
    if role == Role::System && !path.is_absolute() {
        return whole(format!("{SYSTEM_VARIABLE} is no absolute path"));
    }
    // Without this check, a workspace's link could make errors quote lines of any file.
    if role == Role::Workspace {
        match fs::symlink_metadata(path) {
            Ok(it) if it.is_symlink() => {
                return whole("it is a link, which a file in the workspace can't be".to_owned());
            }
            Ok(_) => {}
            // Opening the workspace reports that problem.
            Err(_) => return Ok(None),
        }
    }
    let bytes = match read_regular_file(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound && role != Role::Named => {
            return Ok(None);
        }
        Err(error) => return whole(format!("it can't be read: {error}")),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|it| **it == b'\n');
            return whole(format!("line {} is not UTF-8", line.count() + 1));
        }
    };
    reading::read(path, &text, role == Role::Workspace).map(Some)
}

/// Returns the problem if an operator's file lies in the workspace, where tools could change it.
pub(super) fn inside(path: &Path, workspace: &Path) -> Option<Problem> {
    let workspace = workspace.canonicalize().ok()?;
    let path_there = absolute(path).ok()?;
    // Check both the place of the name, which may be a link's, and the place that it leads to.
    let folder = path_there.parent().and_then(|it| it.canonicalize().ok());
    let real = path_there.canonicalize().ok();
    let is_inside = [folder, real]
        .into_iter()
        .flatten()
        .any(|it| it.starts_with(&workspace));
    is_inside.then(|| {
        let message = format!(
            "it lies in the workspace {}, where tools can change it: the operator's configuration must be elsewhere",
            workspace.display()
        );
        Problem::of_file(path, message)
    })
}
