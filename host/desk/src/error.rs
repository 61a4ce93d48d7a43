//! Why something that was asked for could not be done.

use std::borrow::Cow;

use airlock_host::load::LoadError;
use airlock_host::pending::ActionId;
use airlock_host::store::StoreError;

use crate::advice;

/// Why something that was asked for could not be done. It reads as a clause, and
/// [`advice`](Self::advice) says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call, a decision, a session or a store did not do its part.
    #[error(transparent)]
    Host(#[from] airlock_host::Error),
    /// The same, where more is known of it than the error says.
    #[error("{error}")]
    Advised {
        /// What it is.
        error: airlock_host::Error,
        /// What to do about it.
        advice: String,
    },
    /// A plugin can't be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A name is none of a bundled plugin, and no path either.
    #[error("there is no bundled plugin `{name}`, and no such file here")]
    UnknownPlugin {
        /// The name.
        name: String,
        /// Those that there are.
        bundled: String,
    },
    /// The address is that of something else.
    #[error("there is no store for {scheme}://")]
    UnknownStore {
        /// What it begins with.
        scheme: String,
    },
    /// The address is empty.
    #[error("the store's path is empty")]
    EmptyStorePath,
    /// This program can't open such a store.
    #[error("this airlock was built without stores {place} (its feature `{feature}`)")]
    LeftOut {
        /// Where such stores are, as in `in files`.
        place: &'static str,
        /// What it would have to be built with.
        feature: &'static str,
    },
    /// The user has no folder for the store that nobody has to name.
    #[error("there is no place for the pending store: {problem}")]
    NoPlace {
        /// Why.
        problem: String,
    },
    /// No action in the store has this id.
    #[error("there is no action {id} in the store {store}")]
    NoSuchAction {
        /// The id.
        id: ActionId,
        /// Which store it is.
        store: String,
        /// What to do about it.
        advice: String,
    },
    /// The action can't be applied here.
    #[error(
        "pending action {id} can't be applied{}",
        match is_lost {
            true => ": its tool kept the preview in memory only, and that is gone",
            false => " here: its preview is in the memory of the process that previewed it only",
        }
    )]
    Volatile {
        /// The action.
        id: ActionId,
        /// Whether it can't be applied anywhere.
        is_lost: bool,
        /// What to do about it.
        advice: String,
    },
    /// Nobody knows whether an earlier apply of the topmost action had its effect.
    #[error("the topmost action ({label}) is interrupted: {why}")]
    Interrupted {
        /// What the action is, in a few words of its tool's.
        label: String,
        /// How that came.
        why: String,
        /// What to do about it.
        advice: String,
    },
}

impl Error {
    /// For programs, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Host(error) | Error::Advised { error, .. } => error.kind(),
            Error::Load(error) => error.kind(),
            Error::UnknownPlugin { .. } => "unknown-plugin",
            Error::UnknownStore { .. } | Error::EmptyStorePath | Error::LeftOut { .. } => "usage",
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
            Error::NoPlace { .. } => "`--store PATH` or AIRLOCK_STORE names one",
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
            Error::Host(_) | Error::Advised { .. } | Error::Load(_) | Error::Interrupted { .. }
        )
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Error::Host(error.into())
    }
}
