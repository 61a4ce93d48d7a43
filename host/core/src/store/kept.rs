//! What a row of a durable store means. Each store reads its own columns; what follows from them is the same for all.

use std::path::Path;
use std::sync::Arc;

use super::{ActionRecord, LeaseRecord, ResolvedRecord, lose_claim};
use crate::identity::host_name;
use crate::pending::{ActionState, Decision, PendingAction, SessionId, StackedAction};

/// What is written of where an action stands.
pub(super) enum Written {
    Pending,
    Resolving,
    Resolved(Decision),
}

/// That, and what has become of the hosts that it depends on.
pub(super) struct Standing {
    pub written: Written,
    /// What its last claim was for.
    pub decision: Option<Decision>,
    /// Some apply of it has no known end.
    pub interrupted: bool,
    pub last_error: Option<String>,
    /// Its claim has run out, or its holder is gone.
    pub lease_over: bool,
    /// It is volatile, and its owner is gone.
    pub host_gone: bool,
}

/// An action, and where it stands.
pub(super) struct Kept {
    pub action: PendingAction,
    pub attempts: u32,
    pub state: ActionState,
    #[cfg(feature = "sqlite")]
    pub interrupted: bool,
    pub last_error: Option<String>,
}

impl Kept {
    pub fn new(action: PendingAction, attempts: u32, standing: Standing) -> Self {
        let mut standing = standing;
        if matches!(standing.written, Written::Resolving) && standing.lease_over {
            standing.written = Written::Pending;
            // A row that lacks its decision may have been applied as well.
            let decision = standing.decision.unwrap_or(Decision::Apply);
            lose_claim(
                decision,
                &mut standing.interrupted,
                &mut standing.last_error,
            );
        }
        let state = match standing.written {
            Written::Resolved(Decision::Apply) => ActionState::Applied,
            Written::Resolved(Decision::Discard) => ActionState::Discarded,
            Written::Resolving => ActionState::Resolving,
            Written::Pending if standing.host_gone => ActionState::Lost,
            Written::Pending if standing.interrupted => ActionState::Interrupted,
            Written::Pending => ActionState::Pending,
        };
        Self {
            action,
            attempts,
            state,
            #[cfg(feature = "sqlite")]
            interrupted: standing.interrupted,
            last_error: standing.last_error,
        }
    }

    /// Whether it is on the stack, for anybody to claim.
    #[cfg(feature = "sqlite")]
    pub fn is_pending(&self) -> bool {
        use ActionState::{Interrupted, Lost, Pending};
        matches!(self.state, Pending | Interrupted | Lost)
    }

    pub fn stacked(self) -> StackedAction {
        StackedAction {
            action: Arc::new(self.action),
            attempts: self.attempts,
            last_error: self.last_error,
            state: self.state,
        }
    }

    /// `lease` is its last claim.
    pub fn record(
        self,
        session: SessionId,
        lease: Option<LeaseRecord>,
        resolved: Option<ResolvedRecord>,
    ) -> ActionRecord {
        let tells_lease = matches!(
            self.state,
            ActionState::Resolving | ActionState::Interrupted
        );
        ActionRecord {
            session,
            action: self.action,
            state: self.state,
            attempts: self.attempts,
            last_error: self.last_error,
            lease: lease.filter(|_| tells_lease),
            resolved,
        }
    }
}

/// The bytes of a path, which on Unix need not be text.
pub(super) fn bytes_of_path(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(unix)]
pub(super) fn path_of_bytes(bytes: &[u8]) -> Arc<Path> {
    Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)).into()
}

#[cfg(not(unix))]
pub(super) fn path_of_bytes(bytes: &[u8]) -> Arc<Path> {
    Path::new(&*String::from_utf8_lossy(bytes)).into()
}

/// A name for this process that tells people where it runs: what a host is called unless told otherwise.
pub(super) fn process_name() -> String {
    format!("{}/{}", host_name(), std::process::id())
}
