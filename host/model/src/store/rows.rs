//! What a row of a durable store means. Each store reads its own columns; what follows from them is
//! the same for all.

use std::path::Path;
use std::sync::Arc;

use super::{APPLY_INTERRUPTED, ActionRecord, DISCARD_INTERRUPTED, LeaseRecord, ResolvedRecord};
use crate::effects::EffectsSummary;
use crate::identity::host_name;
use crate::pending::{
    ActionState, Decision, Interruption, PendingAction, SessionId, StackedAction,
};

/// What becomes of an action whose claim ended without a word.
pub(super) fn lose_claim(
    decision: Decision,
    interruption: &mut Interruption,
    last_error: &mut Option<String>,
) {
    match decision {
        Decision::Apply => {
            // The workspace doesn't show the result of an earlier apply.
            *interruption = (*interruption).max(Interruption::InWorkspace);
            *last_error = Some(APPLY_INTERRUPTED.to_owned());
        }
        // An apply that was interrupted before still may have taken effect.
        Decision::Discard if interruption.is_some() => {}
        Decision::Discard => *last_error = Some(DISCARD_INTERRUPTED.to_owned()),
    }
}

/// The state that is written in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenState {
    /// On the stack, or interrupted, or lost: the rest of the row tells.
    Pending,
    /// Claimed.
    Resolving,
    /// Decided, and carried out.
    Resolved(Decision),
}

/// The columns that an action's state follows from, and whether the hosts that it depends on are
/// alive.
#[derive(Debug, Clone)]
pub struct StateColumns {
    /// What the host saw its rehearsal do.
    pub effects: Option<EffectsSummary>,
    /// The state.
    pub written: WrittenState,
    /// What its last claim was for.
    pub decision: Option<Decision>,
    /// Where to find out how its last apply ended, if that isn't recorded.
    pub interruption: Interruption,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// Its claim has run out, or its holder is gone.
    pub lease_over: bool,
    /// It is volatile, and its owner is gone.
    pub host_gone: bool,
}

impl StateColumns {
    /// Reads the state off the row: a claim that has run out is none, and what it was for decides
    /// what is known of the action, which the columns tell from then on.
    pub fn state(&mut self) -> ActionState {
        if matches!(self.written, WrittenState::Resolving) && self.lease_over {
            self.written = WrittenState::Pending;
            // A row that lacks its decision may have been applied as well.
            let decision = self.decision.unwrap_or(Decision::Apply);
            lose_claim(decision, &mut self.interruption, &mut self.last_error);
        }
        match self.written {
            WrittenState::Resolved(Decision::Apply) => ActionState::Applied,
            WrittenState::Resolved(Decision::Discard) => ActionState::Discarded,
            WrittenState::Resolving => ActionState::Resolving,
            WrittenState::Pending if self.host_gone => ActionState::Lost,
            WrittenState::Pending if self.interruption.is_some() => ActionState::Interrupted,
            WrittenState::Pending => ActionState::Pending,
        }
    }
}

/// An action, and its state as callers are told.
#[derive(Debug, Clone)]
pub struct StoredAction {
    /// The action.
    pub action: PendingAction,
    /// How many applies of it were begun.
    pub attempts: u32,
    /// Where it is between push and end.
    pub state: ActionState,
    /// Where to find out how its last apply ended, if that isn't recorded.
    pub interruption: Interruption,
    /// Why the last attempt failed, or that its end is not known.
    pub last_error: Option<String>,
    /// What the host saw its rehearsal do.
    pub effects: Option<EffectsSummary>,
}

impl StoredAction {
    /// One that such a row is about.
    pub fn new(action: PendingAction, attempts: u32, row: StateColumns) -> Self {
        let mut row = row;
        let state = row.state();
        Self {
            action,
            attempts,
            state,
            interruption: row.interruption,
            last_error: row.last_error,
            effects: row.effects,
        }
    }

    /// Whether it is on the stack, for anybody to claim.
    pub fn is_pending(&self) -> bool {
        self.state.is_pending()
    }

    /// As it is listed on its session's stack.
    pub fn stacked(self) -> StackedAction {
        StackedAction {
            action: Arc::new(self.action),
            attempts: self.attempts,
            last_error: self.last_error,
            state: self.state,
            interruption: self.interruption,
            effects: self.effects,
        }
    }

    /// As operators see it. `lease` is its last claim.
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
            effects: self.effects,
            lease: lease.filter(|_| tells_lease),
            resolved,
        }
    }
}

/// The bytes of a path, which on Unix need not be text.
pub fn bytes_of_path(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The path that [`bytes_of_path`] gave these bytes for.
#[cfg(unix)]
pub fn path_of_bytes(bytes: &[u8]) -> Arc<Path> {
    Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)).into()
}

/// The path that [`bytes_of_path`] gave these bytes for.
#[cfg(not(unix))]
pub fn path_of_bytes(bytes: &[u8]) -> Arc<Path> {
    Path::new(&*String::from_utf8_lossy(bytes)).into()
}

/// A name for this process that tells people where it runs: what a host is called unless told
/// otherwise.
pub fn process_name() -> String {
    format!("{}/{}", host_name(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_of_any_bytes_comes_back_as_it_was() {
        use std::os::unix::ffi::OsStrExt;
        for bytes in [&b"/work/photos"[..], "/work/größe".as_bytes(), b"/\xff\n"] {
            let path = Path::new(std::ffi::OsStr::from_bytes(bytes));
            assert_eq!(bytes_of_path(path), bytes);
            assert_eq!(&*path_of_bytes(bytes), path);
        }
    }

    #[test]
    fn a_process_is_named_by_its_machine_and_its_number() {
        let name = process_name();
        let (host, number) = name.rsplit_once('/').unwrap();
        assert!(!host.is_empty(), "{name}");
        assert_eq!(number, std::process::id().to_string());
    }
}
