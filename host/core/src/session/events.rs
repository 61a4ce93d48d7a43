//! Events of a session's calls and decisions, for its observer, its streams and `tracing`, with a
//! span per call.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use airlock_model::actor::DecidedBy;
use airlock_model::denial::Denial;
use airlock_model::error::Error;
use airlock_model::event::{Event, ToolFunction};
use airlock_model::pending::{Decision, PendingAction};
use tracing::{Instrument, Level};

use crate::instance::Call;
use crate::listeners::EventStream;
use crate::pushing::SessionContext;

/// Numbers the calls of a session and reports them.
pub(super) struct Events {
    context: Arc<SessionContext>,
    calls: AtomicU64,
}

impl Events {
    pub fn new(context: Arc<SessionContext>) -> Self {
        Self {
            context,
            calls: AtomicU64::new(0),
        }
    }

    /// Returns a stream of all events from now on.
    pub fn listen(&self) -> EventStream {
        self.context.listeners.listen()
    }

    /// Returns the number of the next call, which the caller's stream hears of.
    pub fn next_call(&self) -> u64 {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        self.context.listeners.listen_to(number);
        number
    }

    /// Reports the actions that the store has accepted.
    pub fn pushed(&self, call: &Call<'_>, plugin: &str, pushed: &[Arc<PendingAction>]) {
        for action in pushed {
            let action = Arc::clone(action);
            let event = Event::Pushed { action };
            self.context.emit(plugin, call.tool, call.number, &event);
        }
    }

    /// Reports a decision that this call carried out.
    pub fn decided(
        &self,
        action: &PendingAction,
        decision: Decision,
        decided_by: DecidedBy,
        number: u64,
    ) {
        if self.is_watched() {
            let (plugin, tool) = (&action.plugin_name, &action.source_tool_name);
            let decided = Event::Decided {
                action: action.id.clone(),
                decision,
                decided_by,
            };
            self.context.emit(plugin, tool, number, &decided);
        }
    }

    /// Reports a denial.
    pub fn denied(&self, action: &PendingAction, denial: Denial) {
        let (plugin, tool) = (&action.plugin_name, &action.source_tool_name);
        let action = action.id.clone();
        let event = Event::Denied { action, denial };
        self.context.emit(plugin, tool, 0, &event);
    }

    /// Returns whether to report calls. Most sessions are not observed, and reporting a small call
    /// takes longer than the call itself.
    fn is_watched(&self) -> bool {
        self.context.observer.is_some()
            || !self.context.listeners.is_empty()
            || tracing::enabled!(target: "airlock::call", Level::DEBUG)
    }

    /// Runs a call, and reports its start and end. The call is borrowed, because moving it would
    /// copy kilobytes.
    pub async fn watched<T>(
        &self,
        call: &Call<'_>,
        plugin: &str,
        function: ToolFunction,
        calling: Pin<&mut impl Future<Output = Result<T, Error>>>,
    ) -> Result<T, Error> {
        if !self.is_watched() {
            return calling.await;
        }
        let report = |event: &Event| self.context.emit(plugin, call.tool, call.number, event);
        report(&Event::Began { function });
        let began = Instant::now();
        let span = tracing::debug_span!(
            target: "airlock::call",
            "call",
            %function,
            plugin,
            tool = call.tool,
            call = call.number,
            session = %self.context.id,
        );
        let called = calling.instrument(span).await;
        report(&Event::Ended {
            function,
            time: began.elapsed(),
            failure: called.as_ref().err().map(Error::kind),
        });
        called
    }
}
