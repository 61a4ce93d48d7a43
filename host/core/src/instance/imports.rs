//! The world's own imports: `pending-actions` and `host`.

use airlock_model::event::{LogLevel, Refusal};

use super::bindings::pending_actions::{
    Host as PendingActions, PendingAction as Pushed, PushError,
};
use super::bindings::{host, types};
use super::state::{Export, State};
use crate::pushing::{self, Details, NotPushed, ONLY_DURING_EXECUTE, Pusher, STORE_UNAVAILABLE};

impl types::Host for State {}

impl PendingActions for State {
    async fn push_pending_action(&mut self, pushed: Pushed) -> Result<String, PushError> {
        let home = &self.home;
        let Some(session) = &home.session else {
            return Err(PushError::StoreUnavailable(STORE_UNAVAILABLE.to_owned()));
        };
        if self.running != Some(Export::Execute) {
            let refused = NotPushed::Invalid(ONLY_DURING_EXECUTE.to_owned());
            self.tell_refused(&refused);
            return Err(refused.into());
        }
        let named = pushed.source_tool_name.as_deref();
        if let Some(tool) = named.and_then(|name| home.pretended_tool(name)) {
            let refused = NotPushed::Invalid(format!(
                "the source tool name looks like that of `{tool}`, which is no tool of this plugin"
            ));
            self.tell_refused(&refused);
            return Err(refused.into());
        }
        let has_tool = |name: &str| home.has_tool(name);
        let pusher = Pusher {
            source: &home.plugin,
            has_tool: &has_tool,
            policy: &home.policy,
            limits: &home.limits,
        };
        let pushed = pusher.push(session, pushed.into()).await;
        let action = pushed.inspect_err(|error| self.tell_refused(error))?;
        if !action.durable {
            self.home.volatile.insert(action.id.clone());
        }
        let id = action.id.as_str().to_owned();
        self.log.pushed(&action);
        self.pushed.push(action);
        Ok(id)
    }
}

impl State {
    /// Of a store that fails, the guest is not to blame.
    fn tell_refused(&self, error: &NotPushed) {
        if let NotPushed::LimitExceeded(reason) | NotPushed::Invalid(reason) = error {
            self.log.refused(Refusal::Push {
                reason: reason.clone(),
            });
        }
    }
}

impl From<Pushed> for pushing::Pushed {
    fn from(pushed: Pushed) -> Self {
        Self {
            label: pushed.label,
            source_tool_name: pushed.source_tool_name,
            details: pushed.details.map_or(Details::None, Details::Text),
            has_reject: pushed.has_reject,
            state: pushed.state,
        }
    }
}

impl From<NotPushed> for PushError {
    fn from(error: NotPushed) -> Self {
        match error {
            NotPushed::StoreUnavailable(message) => PushError::StoreUnavailable(message),
            NotPushed::LimitExceeded(message) => PushError::LimitExceeded(message),
            NotPushed::Invalid(message) => PushError::Invalid(message),
        }
    }
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
