//! Events of a session's calls, for its observer and for `tracing`, with a span per call.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use airlock_model::actor::DecidedBy;
use airlock_model::error::Error;
use airlock_model::event::{self, Event, EventSource, ToolFunction};
use airlock_model::pending::{Decision, PendingAction};
use tracing::{Instrument, Level};

use super::Session;
use crate::instance::Call;

impl Session {
    /// Returns the number of the next call.
    pub(super) fn next_call(&self) -> u64 {
        self.inner.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reports the actions that the store has accepted.
    pub(super) fn tell_pushed(&self, call: &Call<'_>, plugin: &str, pushed: &[Arc<PendingAction>]) {
        let source = EventSource::new(Some(self.id()), plugin, call.tool).in_call(call.number);
        for action in pushed {
            let action = Arc::clone(action);
            let event = Event::Pushed { action };
            event::emit(self.inner.observer.as_ref(), source, &event);
        }
    }

    /// Reports a decision that this call carried out.
    pub(super) fn tell_decided(
        &self,
        action: &PendingAction,
        decision: Decision,
        decided_by: DecidedBy,
        number: u64,
    ) {
        if self.is_watched() {
            let (plugin, tool) = (&action.plugin_name, &action.source_tool_name);
            let source = EventSource::new(Some(self.id()), plugin, tool).in_call(number);
            let action = action.id.clone();
            let decided = Event::Decided {
                action,
                decision,
                decided_by,
            };
            event::emit(self.inner.observer.as_ref(), source, &decided);
        }
    }

    /// Returns whether to report calls. Most sessions are not observed, and reporting a small call
    /// takes longer than the call itself.
    fn is_watched(&self) -> bool {
        self.inner.observer.is_some() || tracing::enabled!(target: "airlock::call", Level::DEBUG)
    }

    /// Runs a call, and reports its start and end to the observer. The call is borrowed, because
    /// moving it would copy kilobytes.
    pub(super) async fn watched<T>(
        &self,
        call: &Call<'_>,
        plugin: &str,
        function: ToolFunction,
        calling: Pin<&mut impl Future<Output = Result<T, Error>>>,
    ) -> Result<T, Error> {
        if !self.is_watched() {
            return calling.await;
        }
        let observer = self.inner.observer.as_ref();
        let source = EventSource::new(Some(self.id()), plugin, call.tool).in_call(call.number);
        event::emit(observer, source, &Event::Began { function });
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
        event::emit(observer, source, &ended);
        called
    }
}
