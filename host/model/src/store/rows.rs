//! The meaning of a row in a durable store. Each store reads its own columns, and the conclusions
//! from them are the same for all.

use std::path::Path;
use std::sync::Arc;

use super::{APPLY_INTERRUPTED, ActionRecord, DISCARD_INTERRUPTED, LeaseRecord, ResolvedRecord};
use crate::effects::EffectsSummary;
use crate::identity::host_name;
use crate::pending::{
    ActionState, Decision, Interruption, PendingAction, SessionId, StackedAction,
};

/// Updates an action's columns after a claim on it ended without an outcome.
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
        // An earlier apply that was interrupted may still have taken effect.
        Decision::Discard if interruption.is_some() => {}
        Decision::Discard => *last_error = Some(DISCARD_INTERRUPTED.to_owned()),
    }
}

/// The columns that determine an action's state, and whether the hosts that it depends on are
/// alive.
#[derive(Debug, Clone)]
pub struct StateColumns {
    /// The effects that the host saw in the rehearsal.
    pub effects: Option<EffectsSummary>,
    /// The recorded state: pending, resolving, applied or discarded.
    pub written: ActionState,
    /// The decision of the last claim.
    pub decision: Option<Decision>,
    /// The place that records how the last apply ended, if the store doesn't.
    pub interruption: Interruption,
    /// The error of the last failed attempt.
    pub last_error: Option<String>,
    /// True if the claim has expired or its holder is gone.
    pub lease_over: bool,
    /// True if the action is volatile and its owner is gone.
    pub host_gone: bool,
}

impl StateColumns {
    /// Returns the action's state. If the claim has expired, first updates the columns as after a
    /// claim that ended without an outcome.
    pub fn state(&mut self) -> ActionState {
        if self.written == ActionState::Resolving && self.lease_over {
            self.written = ActionState::Pending;
            // If the row lacks the decision, it may have been an apply.
            let decision = self.decision.unwrap_or(Decision::Apply);
            lose_claim(decision, &mut self.interruption, &mut self.last_error);
        }
        match self.written {
            ActionState::Pending if self.host_gone => ActionState::Lost,
            ActionState::Pending if self.interruption.is_some() => ActionState::Interrupted,
            written => written,
        }
    }

    /// Returns the action with its current state.
    pub fn stacked(mut self, action: PendingAction, attempts: u32) -> StackedAction {
        StackedAction {
            action: Arc::new(action),
            attempts,
            state: self.state(),
            last_error: self.last_error,
            interruption: self.interruption,
            effects: self.effects,
        }
    }
}

/// Converts an action into a record for operators. `lease` is its last claim.
pub fn record(
    stacked: StackedAction,
    session: SessionId,
    lease: Option<LeaseRecord>,
    resolved: Option<ResolvedRecord>,
) -> ActionRecord {
    let tells_lease = matches!(
        stacked.state,
        ActionState::Resolving | ActionState::Interrupted
    );
    ActionRecord {
        session,
        action: Arc::unwrap_or_clone(stacked.action),
        state: stacked.state,
        attempts: stacked.attempts,
        last_error: stacked.last_error,
        effects: stacked.effects,
        lease: lease.filter(|_| tells_lease),
        resolved,
    }
}

/// Returns the bytes of a path, which need not be text on Unix.
pub fn bytes_of_path(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Returns the path that [`bytes_of_path`] turns into these bytes.
#[cfg(unix)]
pub fn path_of_bytes(bytes: &[u8]) -> Arc<Path> {
    Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)).into()
}

/// Returns the path that [`bytes_of_path`] turns into these bytes.
#[cfg(not(unix))]
pub fn path_of_bytes(bytes: &[u8]) -> Arc<Path> {
    Path::new(&*String::from_utf8_lossy(bytes)).into()
}

/// Returns a name for this process that tells people where it runs: `machine/process`. It is the
/// default name of a host.
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
