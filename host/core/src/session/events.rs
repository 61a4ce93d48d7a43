//! Events of a session's calls and decisions, for its observer and for `tracing`, with a span per
//! call.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use airlock_model::actor::DecidedBy;
use airlock_model::denial::Denial;
use airlock_model::error::Error;
use airlock_model::event::{self, Event, EventSource, Observer, ToolFunction};
use airlock_model::pending::{Decision, PendingAction, SessionId};
use tracing::{Instrument, Level};

use crate::instance::Call;
use crate::pushing::SessionContext;

/// Numbers the calls of a session and reports them.
pub(super) struct Events {
    context: Arc<SessionContext>,
    pub observer: Option<Observer>,
    calls: AtomicU64,
}

impl Events {
    pub fn new(context: Arc<SessionContext>, observer: Option<Observer>) -> Self {
        Self {
            context,
            observer,
            calls: AtomicU64::new(0),
        }
    }

    fn id(&self) -> &SessionId {
        &self.context.id
    }

    fn emit(&self, source: EventSource<'_>, event: &Event) {
        event::emit(self.observer.as_ref(), source, event);
    }

    /// Returns the number of the next call.
    pub fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reports the actions that the store has accepted.
    pub fn pushed(&self, call: &Call<'_>, plugin: &str, pushed: &[Arc<PendingAction>]) {
        let source = EventSource::new(Some(self.id()), plugin, call.tool).in_call(call.number);
        for action in pushed {
            let action = Arc::clone(action);
            self.emit(source, &Event::Pushed { action });
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
            let source = EventSource::new(Some(self.id()), plugin, tool).in_call(number);
            let decided = Event::Decided {
                action: action.id.clone(),
                decision,
                decided_by,
            };
            self.emit(source, &decided);
        }
    }

    /// Reports a denial.
    pub fn denied(&self, action: &PendingAction, denial: Denial) {
        let (plugin, tool) = (&action.plugin_name, &action.source_tool_name);
        let source = EventSource::new(Some(self.id()), plugin, tool);
        let action = action.id.clone();
        self.emit(source, &Event::Denied { action, denial });
    }

    /// Returns whether to report calls. Most sessions are not observed, and reporting a small call
    /// takes longer than the call itself.
    fn is_watched(&self) -> bool {
        self.observer.is_some() || tracing::enabled!(target: "airlock::call", Level::DEBUG)
    }

    /// Runs a call, and reports its start and end to the observer. The call is borrowed, because
    /// moving it would copy kilobytes.
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
        let source = EventSource::new(Some(self.id()), plugin, call.tool).in_call(call.number);
        self.emit(source, &Event::Began { function });
        let began = Instant::now();
        let span = tracing::debug_span!(
            target: "airlock::call",
            "call",
            %function,
            plugin,
            tool = call.tool,
            call = call.number,
            session = %self.id(),
        );
        let called = calling.instrument(span).await;
        let ended = Event::Ended {
            function,
            time: began.elapsed(),
            failure: called.as_ref().err().map(Error::kind),
        };
        self.emit(source, &ended);
        called
    }
}
