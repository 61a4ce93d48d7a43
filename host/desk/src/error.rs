//! Why a request failed.

use std::borrow::Cow;

use airlock_host::load::LoadError;
use airlock_host::pending::ActionId;
use airlock_host::store::StoreError;

use crate::advice;
use crate::configuration::Problems;

/// Why a request failed. Displays as a clause; [`advice`](Self::advice) says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call, a decision, a session or a store failed.
    #[error(transparent)]
    Host(#[from] airlock_host::Error),
    /// The same, with advice that is specific to the situation.
    #[error("{error}")]
    Advised {
        /// The error.
        error: airlock_host::Error,
        /// What to do about it.
        advice: String,
    },
    /// A plugin can't be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A name is neither a bundled plugin's nor a path.
    #[error("there is no bundled plugin `{name}`, and no such file here")]
    UnknownPlugin {
        /// The name.
        name: String,
        /// The names of the bundled plugins.
        bundled: String,
    },
    /// The address has a scheme that no store has.
    #[error("there is no store for {scheme}://")]
    UnknownStore {
        /// The scheme.
        scheme: String,
    },
    /// The address is empty.
    #[error("the store's path is empty")]
    EmptyStorePath,
    /// This program was built without support for such a store.
    #[error("this airlock was built without stores {place} (its feature `{feature}`)")]
    LeftOut {
        /// The kind of store, as in `in files`.
        place: &'static str,
        /// The feature that it would have to be built with.
        feature: &'static str,
    },
    /// Something is wrong in the operator's configuration, or in the workspace's.
    #[error("{0}")]
    Configuration(Problems),
    /// There is no folder for the user's default store.
    #[error("there is no location for the pending store: {problem}")]
    NoPlace {
        /// Why.
        problem: String,
    },
    /// No action in the store has this id.
    #[error("there is no action {id} in the store {store}")]
    NoSuchAction {
        /// The id.
        id: ActionId,
        /// The store.
        store: String,
        /// What to do about it.
        advice: String,
    },
    /// Several actions have an id that begins or ends so.
    #[error(
        "several actions have an id that begins or ends with {part}: {}{}",
        .alike.iter().map(|(id, label)| format!("{id} ({label})")).collect::<Vec<_>>().join(", "),
        if *more { ", …" } else { "" }
    )]
    SeveralActions {
        /// What stands for the id.
        part: ActionId,
        /// The ids and labels of some of them, the newest first.
        alike: Vec<(ActionId, String)>,
        /// Whether there are others.
        more: bool,
    },
    /// The action can't be applied here.
    #[error(
        "pending action {id} can't be applied{}",
        match is_lost {
            true => ": its tool kept the preview only in memory, and it is lost",
            false => " here: its preview exists only in the memory of the process that made it",
        }
    )]
    Volatile {
        /// The action.
        id: ActionId,
        /// Whether it can't be applied anywhere, rather than only not here.
        is_lost: bool,
        /// What to do about it.
        advice: String,
    },
    /// It is unknown whether an earlier apply of the topmost action took effect.
    #[error("the topmost action ({label}) is interrupted: {why}")]
    Interrupted {
        /// The action's label.
        label: String,
        /// How it was interrupted.
        why: String,
        /// What to do about it.
        advice: String,
    },
}

impl Error {
    /// A short name for programs, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Host(error) | Error::Advised { error, .. } => error.kind(),
            Error::Load(error) => error.kind(),
            Error::UnknownPlugin { .. } => "unknown-plugin",
            Error::UnknownStore { .. }
            | Error::EmptyStorePath
            | Error::SeveralActions { .. }
            | Error::LeftOut { .. } => "usage",
            Error::Configuration(_) => "configuration",
            Error::NoPlace { .. } => "host",
            Error::NoSuchAction { id, .. } => airlock_host::Error::UnknownAction(id.clone()).kind(),
            Error::Volatile { .. } => "volatile",
            Error::Interrupted { .. } => "interrupted",
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<Cow<'_, str>> {
        let advice = match self {
            Error::Host(error) => advice::about(error)?,
            Error::Load(error) => advice::about_loading(error),
            Error::UnknownPlugin { bundled, .. } => {
                let advice = format!("bundled: {bundled}; a path to a plugin ends in .wasm");
                return Some(advice.into());
            }
            Error::UnknownStore { .. } => advice::ADDRESSES,
            Error::EmptyStorePath => return None,
            Error::LeftOut { feature, .. } => match *feature {
                "sqlite" => "name a server with `--store postgres://…`",
                _ => "name a file with `--store PATH`",
            },
            Error::Configuration(_) => "`airlock config check` shows the files and the settings",
            Error::NoPlace { .. } => "`--store PATH` or AIRLOCK_STORE names one",
            Error::SeveralActions { .. } => "give more of the id",
            Error::Advised { advice, .. }
            | Error::NoSuchAction { advice, .. }
            | Error::Volatile { advice, .. }
            | Error::Interrupted { advice, .. } => advice,
        };
        Some(advice.into())
    }

    /// Whether the text may hold what a tool or a file says, and not the host alone.
    pub fn is_quoting(&self) -> bool {
        matches!(
            self,
            Error::Host(_)
                | Error::Advised { .. }
                | Error::Load(_)
                | Error::Configuration(_)
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

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Error::Configuration(problems)
    }
}
