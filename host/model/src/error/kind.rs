//! Short names of errors.

use super::Error;
use crate::store::StoreError;

impl Error {
    /// Returns a short name of the root cause for programs, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self.root() {
            Error::Tool { .. } => "tool",
            Error::Failed { .. } => "failed",
            Error::Cancelled => "cancelled",
            Error::Trap { .. } => "trap",
            Error::Limit { .. } => "limit",
            Error::Busy { .. } => "busy",
            Error::InvalidParams { .. } => "invalid-params",
            Error::NoDecider => "no-decider",
            Error::UnknownTool { .. } => "unknown-tool",
            Error::NothingPending => "nothing-pending",
            Error::Expired(_) => "expired",
            Error::AlreadyResolved { .. } => "already-resolved",
            Error::ResolutionInProgress(_) => "resolution-in-progress",
            Error::UnknownAction(_) => "unknown-action",
            Error::Refused { .. } => "refused",
            Error::NeedsPerson { .. } => "needs-person",
            Error::ApplyFailed(_) => "apply-failed",
            Error::NotCommitted(_) => "not-committed",
            Error::Stale { .. } => "stale",
            Error::Different { difference, .. } if !difference.applied => "stale",
            Error::Different { .. } => "different",
            Error::NotReviewed { .. } => "not-reviewed",
            Error::Unverified { .. } => "unverified",
            Error::Unrecovered { .. } => "unrecovered",
            Error::InstanceGone => "instance-gone",
            Error::PluginGone(_) => "plugin-gone",
            Error::ProducerGone { .. } => "producer-gone",
            Error::OtherWorkspace { .. } | Error::WorkspaceReplaced { .. } => "other-workspace",
            Error::NotRecorded { .. } => "not-recorded",
            Error::Workspace { .. } => "workspace",
            Error::Store(StoreError::Backend(error)) => error.kind.as_str(),
            Error::Store(StoreError::LeaseLost(_)) => "lease-lost",
            Error::Store(StoreError::SessionFull { .. } | StoreError::StoreFull { .. }) => {
                "store-limit"
            }
            Error::Store(_) | Error::NoStore => "store",
            Error::Host(_) => "host",
        }
    }
}
