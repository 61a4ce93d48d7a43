//! Events of a session's calls, for its observer and for `tracing`, which has a span for each.

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
    /// Its number.
    pub(super) fn next_call(&self) -> u64 {
        self.inner.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reports what the store has taken.
    pub(super) fn tell_pushed(&self, call: &Call<'_>, plugin: &str, pushed: &[Arc<PendingAction>]) {
        let source = EventSource::new(Some(self.id()), plugin, call.tool).in_call(call.number);
        for action in pushed {
            let action = Arc::clone(action);
            let event = Event::Pushed { action };
            event::emit(self.inner.observer.as_ref(), source, &event);
        }
    }

    /// Reports a decision that was carried out in this call.
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

    /// Most sessions have nobody who watches, and a small call takes less time than telling it.
    fn is_watched(&self) -> bool {
        self.inner.observer.is_some() || tracing::enabled!(target: "airlock::call", Level::DEBUG)
    }

    /// Does a call, and reports its begin and end to the observer. It is lent, since moving it
    /// would copy its kilobytes.
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
