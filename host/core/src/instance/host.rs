//! Host functions for guests: pushing actions, logging, and information about the call.

use std::time::SystemTime;

use airlock_model::event::{LogLevel, Refusal};
use airlock_model::pending::ActionId;
use airlock_model::tool::RESOLVE;

use super::state::{Export, State};
use crate::pushing::{ONLY_DURING_EXECUTE, PushContext, PushError, PushRequest, STORE_UNAVAILABLE};
use crate::reserved::is_reserved;
use crate::world::{CommandOutput, Host, SessionInfo};

impl Host for State {
    async fn push(&mut self, pushed: PushRequest) -> Result<ActionId, PushError> {
        let context = &self.context;
        let Some(session) = &context.session else {
            return Err(PushError::StoreUnavailable(STORE_UNAVAILABLE.to_owned()));
        };
        if self.running != Some(Export::Execute) {
            let refused = PushError::Invalid(ONLY_DURING_EXECUTE.to_owned());
            return Err(self.tell_refused(refused));
        }
        let names = context.names.as_deref();
        let has_tool = |name: &str| names.is_some_and(|names| names.has(name));
        let named = pushed.source_tool_name.as_deref();
        if named.is_some_and(|name| !has_tool(name) && is_reserved(name)) {
            let refused = PushError::Invalid(format!(
                "the source tool name looks like that of `{RESOLVE}`, which is the host's own"
            ));
            return Err(self.tell_refused(refused));
        }
        let pushing = PushContext {
            source: &context.plugin,
            has_tool: &has_tool,
            policy: &context.policy,
            limits: &context.limits,
            time: SystemTime::now(),
        };
        let staged = pushing.stage(session, &mut self.staged, pushed).await;
        let action = staged.map_err(|refused| self.tell_refused(refused))?;
        let id = action.id.clone();
        self.log.staged(action);
        Ok(id)
    }

    fn log(&mut self, level: LogLevel, message: String) {
        self.log.line(level, message);
    }

    fn report_progress(&mut self, message: String, progress: Option<f64>, total: Option<f64>) {
        self.log.progress(message, progress, total);
    }

    fn is_cancelled(&mut self) -> bool {
        let cancel = self.cancel.as_ref();
        cancel.is_some_and(|cancel| cancel.is_cancelled())
    }

    fn take_output(&mut self) -> CommandOutput {
        State::take_output(self)
    }

    fn session(&mut self) -> Option<SessionInfo> {
        let session = self.context.session.as_ref()?;
        let workspace = self.context.roots.workspace.as_ref();
        Some(SessionInfo {
            id: session.id.to_string(),
            workspace: workspace.map(|_| "/workspace".to_owned()),
            has_pending_store: session.store.is_some(),
        })
    }
}

impl State {
    /// Reports a refused push, unless the store failed, which is not the guest's fault.
    fn tell_refused(&self, refused: PushError) -> PushError {
        if let PushError::LimitExceeded(reason) | PushError::Invalid(reason) = &refused {
            self.log.refused(Refusal::Push {
                reason: reason.clone(),
            });
        }
        refused
    }
}
