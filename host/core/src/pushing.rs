//! Checks pending actions that producers push, and fills in defaults.

mod place;
mod staged;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::error::Error;
use airlock_model::event::{self, Event, EventSource, Observer};
use airlock_model::identity::WorkspaceIdentity;
use airlock_model::json::Json;
use airlock_model::limits::Limits;
use airlock_model::pending::{ActionId, DEFAULT_SOURCE_TOOL_NAME, PendingAction, SessionId};
use airlock_model::policy::Policy;
use airlock_model::store::{NewAction, PendingStore, PluginBytes, StoreError};

use crate::listeners::Listeners;
use crate::lost::LostActions;
use crate::tenant::Tenant;
pub(crate) use place::PlaceOfOthers;
pub(crate) use staged::{Called, Reserved, StagedActions};

/// The error text without a store. It is fixed by the contract: SDKs raise exactly this text.
pub(crate) const STORE_UNAVAILABLE: &str =
    "Pending action store unavailable for custom tools in this runtime.";

/// The error text for a push outside of `execute`. If it were allowed, a discarded action could
/// keep coming back without any request for it.
pub(crate) const ONLY_DURING_EXECUTE: &str =
    "an action can be pushed only during `execute`: what was decided can't come back by itself";

/// The part of a session that its producers can access.
pub(crate) struct SessionContext {
    pub id: SessionId,
    pub store: Option<PendingStore>,
    /// The workspace's absolute path.
    pub workspace: Option<Arc<Path>>,
    pub workspace_identity: Option<Arc<WorkspaceIdentity>>,
    /// The time after which actions of its tools expire.
    pub expires_after: Option<Duration>,
    pub lost: LostActions,
    /// Room that unfinished calls have reserved.
    pub reserved: Arc<Reserved>,
    pub tenant: Tenant,
    pub observer: Option<Observer>,
    pub listeners: Listeners,
}

impl SessionContext {
    /// # Errors
    /// [`Error::NoStore`].
    pub fn store(&self) -> Result<&PendingStore, Error> {
        self.store.as_ref().ok_or(Error::NoStore)
    }

    /// Sends an event to the observer, the streams and `tracing`. The number of a call is at least
    /// 1; 0 means none.
    pub fn emit(&self, plugin: &str, tool: &str, call: u64, event: &Event) {
        let source = EventSource::new(Some(&self.id), plugin, tool).in_call(call);
        self.listeners.send(&self.id, source, event);
        event::emit(self.observer.as_ref(), source, event);
    }

    /// Marks volatile actions as lost, because their instance has ended.
    pub fn lose(&self, actions: &[ActionId]) {
        self.lost.add(actions);
        if let Some(store) = &self.store {
            store.stacks.lose(&self.id, actions);
        }
    }
}

/// An action that a producer asks to push.
pub(crate) struct PushRequest {
    pub label: String,
    pub source_tool_name: Option<String>,
    pub details: Details,
    pub has_reject: bool,
    pub state: Option<Vec<u8>>,
}

/// An action's details, as its producer has them.
pub(crate) enum Details {
    None,
    /// Untrusted text from a guest.
    Text(String),
    Json(Json),
}

/// The reason why a push was refused.
#[derive(Debug)]
pub(crate) enum PushError {
    StoreUnavailable(String),
    LimitExceeded(String),
    Invalid(String),
}

/// The producer of a staged action, with its policy and limits.
pub(crate) struct PushContext<'a> {
    pub source: &'a PluginBytes,
    /// A function that returns whether the producer has a tool with this name.
    pub has_tool: &'a (dyn Fn(&str) -> bool + Sync),
    pub policy: &'a Policy,
    pub limits: &'a Limits,
    /// The time of the push.
    pub time: SystemTime,
}

impl PushContext<'_> {
    /// Gives the action its id and reserves room in the session until the call ends.
    pub async fn stage(
        &self,
        session: &SessionContext,
        staged: &mut StagedActions,
        pushed: PushRequest,
    ) -> Result<Arc<PendingAction>, PushError> {
        let Some(PendingStore { stacks, .. }) = &session.store else {
            return Err(PushError::StoreUnavailable(STORE_UNAVAILABLE.to_owned()));
        };
        let (mut action, guest_state) = self.accept(pushed, session)?;
        action.call = Some(staged.call().clone());
        let action = Arc::new(action);
        let new = NewAction {
            action: Arc::clone(&action),
            guest_state,
        };
        let bytes = staged.bytes().saturating_add(new.bytes());
        if bytes > self.limits.staged_bytes {
            let limit = self.limits.staged_bytes;
            return Err(PushError::LimitExceeded(format!(
                "this call's pending actions would hold {bytes} bytes; the limit is {limit}"
            )));
        }
        match staged.reserve(session, &**stacks, &new, self.limits).await {
            Ok(()) => {}
            Err(
                full @ (StoreError::Full { .. }
                | StoreError::SessionFull { .. }
                | StoreError::StoreFull { .. }),
            ) => {
                return Err(PushError::LimitExceeded(full.to_string()));
            }
            Err(error) => return Err(PushError::StoreUnavailable(error.to_string())),
        }
        staged.actions.push(new);
        Ok(action)
    }

    /// Checks a pushed action and fills in omitted values.
    fn accept(
        &self,
        pushed: PushRequest,
        session: &SessionContext,
    ) -> Result<(PendingAction, Option<Vec<u8>>), PushError> {
        let limits = self.limits;
        let source_tool_name = match pushed.source_tool_name {
            Some(name) => name,
            None => DEFAULT_SOURCE_TOOL_NAME.to_owned(),
        };
        check_line("label", &pushed.label)?;
        check_line("source tool name", &source_tool_name)?;
        check_size("label", pushed.label.len(), limits.label_bytes)?;
        check_size(
            "source tool name",
            source_tool_name.len(),
            limits.label_bytes,
        )?;
        if let Some(state) = &pushed.state {
            check_size("state", state.len(), limits.state_bytes)?;
        }
        let details = match pushed.details {
            Details::Text(details) => {
                check_size("details", details.len(), limits.details_bytes)?;
                Some(check_details(&details)?)
            }
            Details::Json(details) => {
                check_size("details", details.as_str().len(), limits.details_bytes)?;
                Some(details)
            }
            Details::None => None,
        };
        let now = self.time;
        let mut action = PendingAction::new(
            ActionId::generate(now),
            pushed.label,
            self.source.digest,
            Arc::clone(&self.source.name),
            self.policy.clone(),
            now,
        );
        action.source_is_own_tool = (self.has_tool)(&source_tool_name);
        action.source_tool_name = source_tool_name;
        action.details = details;
        action.has_reject = pushed.has_reject;
        action.durable = pushed.state.is_some();
        action.workspace = session.workspace.clone();
        action.workspace_identity = session.workspace_identity.clone();
        action.expires_at = session
            .expires_after
            .and_then(|after| now.checked_add(after));
        Ok((action, pushed.state))
    }
}

fn check_line(what: &str, text: &str) -> Result<(), PushError> {
    if text.trim().is_empty() {
        return Err(PushError::Invalid(format!("the {what} is empty")));
    }
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !is_plain && text.contains(is_line_end) {
        return Err(PushError::Invalid(format!(
            "the {what} has more than one line: the rest of it belongs in the action's details"
        )));
    }
    Ok(())
}

/// Returns whether a character is a line end of Unicode, at which a terminal or a browser may
/// break.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn check_size(what: &str, size: usize, limit: usize) -> Result<(), PushError> {
    if size > limit {
        let message = format!("the size of the {what} is {size} bytes; the limit is {limit}");
        return Err(PushError::LimitExceeded(message));
    }
    Ok(())
}

fn check_details(details: &str) -> Result<Json, PushError> {
    Json::checked(details)
        .map_err(|error| PushError::Invalid(format!("the details are not JSON: {error}")))
}
