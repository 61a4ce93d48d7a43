//! The world's own imports: `pending-actions` and `host`.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::bindings::pending_actions::{
    Host as PendingActions, PendingAction as Pushed, PushError,
};
use super::bindings::{host, types};
use super::state::State;
use crate::event::{LogLevel, Refusal};
use crate::limits::Limits;
use crate::pending::{ActionId, DEFAULT_SOURCE_TOOL_NAME, PendingAction};
use crate::store::{Push, StoreError};

/// Fixed by the contract: SDKs raise exactly this text.
const STORE_UNAVAILABLE: &str =
    "Pending action store unavailable for custom tools in this runtime.";

impl types::Host for State {}

impl PendingActions for State {
    async fn push_pending_action(&mut self, pushed: Pushed) -> Result<String, PushError> {
        let Some(session) = self.home.session.clone() else {
            return Err(PushError::StoreUnavailable(STORE_UNAVAILABLE.to_owned()));
        };
        let Some(store) = &session.store else {
            return Err(PushError::StoreUnavailable(STORE_UNAVAILABLE.to_owned()));
        };
        let capacity = self.home.limits.pending_actions;
        let accepted = self.accept(pushed, session.workspace.clone());
        let (action, guest_state) = accepted.inspect_err(|error| self.tell_refused(error))?;
        let action = Arc::new(action);
        let push = Push {
            session: &session.id,
            action: Arc::clone(&action),
            guest_state,
            plugin: &self.home.plugin,
            capacity,
        };
        match store.push(push).await {
            Ok(()) => {}
            Err(full @ StoreError::Full { .. }) => {
                let error = PushError::LimitExceeded(full.to_string());
                self.tell_refused(&error);
                return Err(error);
            }
            Err(error) => return Err(PushError::StoreUnavailable(error.to_string())),
        }
        if !action.durable {
            self.home.volatile.insert(action.id.clone());
        }
        let id = action.id.to_string();
        self.log.pushed(&action);
        self.pushed.push(action);
        Ok(id)
    }
}

impl State {
    fn tell_refused(&self, error: &PushError) {
        let (PushError::LimitExceeded(reason)
        | PushError::Invalid(reason)
        | PushError::StoreUnavailable(reason)) = error;
        self.log.refused(Refusal::Push {
            reason: reason.clone(),
        });
    }

    /// Checks what the guest pushed, and fills in what it left out.
    fn accept(
        &self,
        pushed: Pushed,
        workspace: Option<Arc<Path>>,
    ) -> Result<(PendingAction, Option<Vec<u8>>), PushError> {
        let limits: &Limits = &self.home.limits;
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
            Some(details) => {
                check_size("details", details.len(), limits.details_bytes)?;
                Some(parse_details(&details)?)
            }
            None => None,
        };
        let now = SystemTime::now();
        let action = PendingAction {
            id: ActionId::generate(now),
            label: pushed.label,
            source_tool_name,
            details,
            has_reject: pushed.has_reject,
            durable: pushed.state.is_some(),
            plugin: self.home.plugin.digest,
            grants: self.home.policy.clone(),
            workspace,
            pushed_at: now,
        };
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
            "the {what} has more than one line"
        )));
    }
    Ok(())
}

/// The line ends of Unicode, which a terminal or a browser may break at.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn check_size(what: &str, size: usize, limit: usize) -> Result<(), PushError> {
    if size > limit {
        let message = format!("the {what} has {size} bytes, {limit} is the most");
        return Err(PushError::LimitExceeded(message));
    }
    Ok(())
}

fn parse_details(details: &str) -> Result<Value, PushError> {
    serde_json::from_str(details)
        .map_err(|error| PushError::Invalid(format!("the details are not JSON: {error}")))
}

impl host::Host for State {
    fn log(&mut self, level: host::Level, message: String) {
        let level = match level {
            host::Level::Trace => LogLevel::Trace,
            host::Level::Debug => LogLevel::Debug,
            host::Level::Info => LogLevel::Info,
            host::Level::Warn => LogLevel::Warn,
            host::Level::Error => LogLevel::Error,
        };
        self.log.line(level, message);
    }

    fn report_progress(&mut self, message: String, progress: Option<f64>, total: Option<f64>) {
        self.log.progress(message, progress, total);
    }

    fn is_cancelled(&mut self) -> bool {
        self.cancel
            .as_ref()
            .is_some_and(|cancel| cancel.is_cancelled())
    }

    fn session(&mut self) -> Option<host::SessionInfo> {
        let session = self.home.session.as_ref()?;
        Some(host::SessionInfo {
            id: session.id.to_string(),
            workspace: self
                .home
                .roots
                .workspace
                .as_ref()
                .map(|_| "/workspace".to_owned()),
            has_pending_store: session.store.is_some(),
        })
    }
}
