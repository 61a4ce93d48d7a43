//! Errors of requests.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use airlock_host::load::LoadError;
use airlock_host::pending::ActionId;
use airlock_host::store::StoreError;
use airlock_registry::Reference;
use etcetera::HomeDirError;

use crate::advice;
use crate::configuration::{Problem, Problems};
use crate::lock::{Difference, InstalledName};
use crate::signing::NotSigned;

/// An error of a request. Displays as a clause; [`advice`](Self::advice) says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call, a decision, a session or a store failed.
    #[error(transparent)]
    Host(#[from] airlock_host::Error),
    /// An error of the host, with advice that is specific to the situation.
    #[error("{error}")]
    Advised {
        /// The error.
        error: airlock_host::Error,
        /// The next step.
        advice: String,
    },
    /// A plugin can't be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A name is neither a bundled or installed plugin's nor a path.
    #[error("there is no bundled or installed plugin `{name}`, and no such file here")]
    UnknownPlugin {
        /// The name.
        name: String,
        /// The names of the bundled plugins.
        bundled: String,
        /// The names of the installed plugins.
        installed: String,
    },
    /// A reference to a registry or a web server was given in place of a plugin.
    #[error("{reference} is not installed under this name")]
    NotInstalled {
        /// The reference.
        reference: Reference,
    },
    /// An installed plugin's component is not there, or was damaged.
    #[error("the component of the installed plugin {name} is {state}: {}", .path.display())]
    NotFetched {
        /// The plugin.
        name: InstalledName,
        /// `missing` or `damaged`.
        state: &'static str,
        /// The component's file.
        path: PathBuf,
    },
    /// An installed plugin differs from its lock.
    #[error(
        "the installed plugin {name} differs from {}: {}",
        .lock.display(),
        .differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Differs {
        /// The plugin.
        name: InstalledName,
        /// The lock.
        lock: PathBuf,
        /// The differences.
        differences: Vec<Difference>,
    },
    /// A plugin lacks a signature that the operator requires.
    #[error("{0}")]
    NotSigned(Box<NotSigned>),
    /// A registry, a web server or a folder with components can't be used.
    #[error(transparent)]
    Registry(#[from] airlock_registry::Error),
    /// A folder has no component, or several.
    #[error("{} {problem}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The problem, after the folder's name.
        problem: String,
    },
    /// The lock can't be written.
    #[error("can't write {}: {source}", .path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The lock was changed by another process.
    #[error("the entry of {name} in the lock was changed by another process, so nothing was done")]
    LockChanged {
        /// The plugin.
        name: String,
    },
    /// A file that gives a program tools has an error.
    #[error("{0}")]
    ToolsFile(Problem),
    /// The address has a scheme that no store supports.
    #[error("there is no store for {scheme}://")]
    UnknownStore {
        /// The scheme.
        scheme: String,
    },
    /// The address is empty.
    #[error("the store's path is empty")]
    EmptyStorePath,
    /// The program was built without support for this kind of store.
    #[error("this airlock was built without stores {place} (its feature `{feature}`)")]
    LeftOut {
        /// The kind of store, as in `in files`.
        place: &'static str,
        /// The required feature.
        feature: &'static str,
    },
    /// The operator's or the workspace's configuration has errors.
    #[error("{0}")]
    Configuration(Problems),
    /// There is no folder for the user's default store.
    #[error("there is no location for the pending store: {0}")]
    NoPlace(#[source] HomeDirError),
    /// The store has no action with this id.
    #[error("there is no action {id} in the store {store}")]
    NoSuchAction {
        /// The id.
        id: ActionId,
        /// The store.
        store: String,
        /// The next step.
        advice: String,
    },
    /// Several actions have an id that begins or ends with the given part.
    #[error(
        "several actions have an id that begins or ends with {part}: {}{}",
        .alike.iter().map(|(id, label)| format!("{id} ({label})")).collect::<Vec<_>>().join(", "),
        if *more { ", …" } else { "" }
    )]
    SeveralActions {
        /// The given part of an id.
        part: ActionId,
        /// The ids and labels of some of them, the newest first.
        alike: Vec<(ActionId, String)>,
        /// True if there are others.
        more: bool,
    },
    /// The action can't be applied here.
    #[error(
        "pending action {id} can't be applied{}",
        if *is_lost {
            ": its tool kept the preview only in memory, and it is lost"
        } else {
            " here: its preview exists only in the memory of the process that made it"
        }
    )]
    Volatile {
        /// The action.
        id: ActionId,
        /// True if the action can't be applied anywhere, rather than only not here.
        is_lost: bool,
        /// The next step.
        advice: String,
    },
    /// The topmost action is interrupted: an earlier apply may have taken effect.
    #[error("the topmost action ({label}) is interrupted: {why}")]
    Interrupted {
        /// The action's label.
        label: String,
        /// The cause of the interruption.
        why: String,
        /// The next step.
        advice: String,
    },
}

impl Error {
    /// Returns a short name for programs, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Host(error) | Error::Advised { error, .. } => error.kind(),
            Error::Load(error) => error.kind(),
            Error::UnknownPlugin { .. } => "unknown-plugin",
            Error::NotInstalled { .. } => "not-installed",
            Error::NotFetched { .. } => "not-fetched",
            Error::Differs { .. } => "plugin-differs",
            Error::NotSigned(_) => "not-signed",
            Error::Registry(_) => "registry",
            Error::Folder { .. } => "no-component",
            Error::Lock { .. } => "host",
            Error::LockChanged { .. } => "lock-changed",
            Error::UnknownStore { .. }
            | Error::EmptyStorePath
            | Error::SeveralActions { .. }
            | Error::LeftOut { .. } => "usage",
            Error::Configuration(_) | Error::ToolsFile(_) => "configuration",
            Error::NoPlace(_) => "host",
            Error::NoSuchAction { id, .. } => airlock_host::Error::UnknownAction(id.clone()).kind(),
            Error::Volatile { .. } => "volatile",
            Error::Interrupted { .. } => "interrupted",
        }
    }

    /// Returns the next step.
    pub fn advice(&self) -> Option<Cow<'_, str>> {
        let advice = match self {
            Error::Host(error) => advice::about(error)?,
            Error::Load(error) => advice::about_loading(error),
            Error::UnknownPlugin {
                bundled, installed, ..
            } => {
                let installed = match &**installed {
                    "" => String::new(),
                    names => format!("installed: {names}; "),
                };
                let advice = format!(
                    "{installed}bundled: {bundled}; a path to a plugin ends in .wasm or .toml"
                );
                return Some(advice.into());
            }
            Error::NotInstalled { reference } => {
                let advice = format!("`airlock install {reference}` gives it a name");
                return Some(advice.into());
            }
            Error::NotFetched { .. } => "`airlock install` without a reference fetches it again",
            Error::Differs { name, .. } => {
                let advice = format!("`airlock update {name}` shows what changed, and asks you");
                return Some(advice.into());
            }
            Error::NotSigned(_) => {
                "`[[require]]` in the configuration asks for this. `airlock update` looks for newer signatures of installed plugins"
            }
            Error::Registry(error) => return error.hint().map(Cow::from),
            Error::Folder { .. } => "name the component's file",
            Error::LockChanged { .. } => "do it again: you will see the entry as it is now",
            Error::UnknownStore { .. } => advice::ADDRESSES,
            Error::EmptyStorePath | Error::ToolsFile(_) | Error::Lock { .. } => return None,
            Error::LeftOut { feature, .. } => match *feature {
                "sqlite" => "name a server with `--store postgres://…`",
                _ => "name a file with `--store PATH`",
            },
            Error::Configuration(_) => "`airlock config check` shows the files and the settings",
            Error::NoPlace(_) => "`--store PATH` or AIRLOCK_STORE names one",
            Error::SeveralActions { .. } => "give more of the id",
            Error::Advised { advice, .. }
            | Error::NoSuchAction { advice, .. }
            | Error::Volatile { advice, .. }
            | Error::Interrupted { advice, .. } => advice,
        };
        Some(advice.into())
    }

    /// Returns true if the text may quote a tool or a file.
    pub fn is_quoting(&self) -> bool {
        matches!(
            self,
            Error::Host(_)
                | Error::Advised { .. }
                | Error::Load(_)
                | Error::Configuration(_)
                | Error::ToolsFile(_)
                | Error::Differs { .. }
                | Error::NotSigned(_)
                | Error::Registry(_)
                | Error::SeveralActions { .. }
                | Error::Interrupted { .. }
        )
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Error::Host(error.into())
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error::Configuration(Problems(vec![problem]))
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Error::Configuration(problems)
    }
}
