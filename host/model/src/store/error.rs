//! Errors of stores.

use crate::error::Cause;
use crate::pending::ActionId;

/// An error of a store operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The session has the maximum number of pending actions.
    #[error(
        "this session already holds {capacity} pending actions, which is the limit; resolve some first"
    )]
    Full {
        /// The maximum number of pending actions of the session.
        capacity: usize,
    },
    /// The session's pending actions have the maximum total size.
    #[error(
        "this session's pending actions hold {held} bytes, and this one would add {pushed}; the limit is {limit}; resolve some first"
    )]
    SessionFull {
        /// The maximum total size of the session's pending actions, in bytes.
        limit: u64,
        /// The current total size, in bytes.
        held: u64,
        /// The number of bytes that were to be added.
        pushed: u64,
    },
    /// The store has reached its maximum size.
    #[error(
        "the pending store {store} holds {held} bytes, and this action would add {pushed}; the limit is {limit}; resolve pending actions, forget old decisions, or raise the limit"
    )]
    StoreFull {
        /// The store's path, or its address without the password.
        store: String,
        /// The maximum size of the store, in bytes.
        limit: u64,
        /// The current size of the store, in bytes.
        held: u64,
        /// The number of bytes that were to be added, including the plugin if the store doesn't
        /// have it yet.
        pushed: u64,
    },
    /// The claim has expired, and the action no longer belongs to its holder.
    #[error("the claim on pending action {0} was lost; it may have been resolved elsewhere")]
    LeaseLost(ActionId),
    /// The storage behind the store failed.
    #[error(transparent)]
    Backend(#[from] Box<BackendError>),
}

impl StoreError {
    /// Creates the error for a failure of the storage behind `store`.
    pub fn backend(
        kind: BackendErrorKind,
        store: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        StoreError::Backend(Box::new(BackendError {
            kind,
            store: store.into(),
            problem: problem.into(),
            source: None,
        }))
    }

    /// Adds the cause to a failure of the storage, whose problem already names it.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Cause>) -> Self {
        if let StoreError::Backend(error) = &mut self {
            error.source = Some(cause.into());
        }
        self
    }

    /// Returns the kind of the storage's failure, if it is one.
    pub fn backend_kind(&self) -> Option<BackendErrorKind> {
        match self {
            StoreError::Backend(error) => Some(error.kind),
            _ => None,
        }
    }
}

/// A failure of the storage behind a store. It doesn't affect earlier commits.
#[derive(Debug, thiserror::Error)]
#[error("the pending store {store} {problem}")]
#[non_exhaustive]
pub struct BackendError {
    /// The kind, for programs and for advice.
    pub kind: BackendErrorKind,
    /// The storage's path, or its address without the password.
    pub store: String,
    /// The problem, as a clause that follows the store's name: `is full: database or disk is full`.
    pub problem: String,
    /// The error of the system or of the database, if there is one.
    pub source: Option<Cause>,
}

/// A kind of failure of the storage behind a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackendErrorKind {
    /// The disk, or the database, has no room left.
    NoSpace,
    /// The storage can be read but not written.
    ReadOnly,
    /// The storage doesn't exist and was not to be created.
    Missing,
    /// The contents are damaged, or don't belong to a store.
    Damaged,
    /// The schema was changed by a newer version of this library.
    Newer,
    /// The server doesn't answer.
    Unreachable,
    /// The server, or the file system, denies access.
    Denied,
    /// Other processes hold the storage's lock.
    Busy,
    /// The address or the settings are invalid.
    Settings,
    /// Anything else.
    Other,
}

impl BackendErrorKind {
    /// Returns a short name for programs, in kebab case.
    pub fn as_str(self) -> &'static str {
        match self {
            BackendErrorKind::NoSpace => "store-full",
            BackendErrorKind::ReadOnly => "store-read-only",
            BackendErrorKind::Missing => "store-missing",
            BackendErrorKind::Damaged => "store-damaged",
            BackendErrorKind::Newer => "store-newer",
            BackendErrorKind::Unreachable => "store-unreachable",
            BackendErrorKind::Denied => "store-denied",
            BackendErrorKind::Busy => "store-busy",
            BackendErrorKind::Settings => "store-settings",
            BackendErrorKind::Other => "store",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::ActionId;

    #[test]
    fn a_failure_of_the_storage_names_its_kind_and_the_storage() {
        let full = StoreError::backend(BackendErrorKind::NoSpace, "pending.db", "is full");
        assert_eq!(full.backend_kind(), Some(BackendErrorKind::NoSpace));
        assert_eq!(full.to_string(), "the pending store pending.db is full");
        let lost = StoreError::LeaseLost(ActionId::from("one"));
        assert_eq!(lost.backend_kind(), None);
    }

    #[test]
    fn programs_tell_kinds_apart_by_their_names() {
        use BackendErrorKind::{
            Busy, Damaged, Denied, Missing, Newer, NoSpace, Other, ReadOnly, Settings, Unreachable,
        };
        let kinds = [
            NoSpace,
            ReadOnly,
            Missing,
            Damaged,
            Newer,
            Unreachable,
            Denied,
            Busy,
            Settings,
            Other,
        ];
        let mut names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
        assert!(
            names.iter().all(|name| name.starts_with("store")),
            "{names:?}"
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), kinds.len());
    }
}
