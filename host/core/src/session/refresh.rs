//! Re-runs the call that previewed an action.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_model::actor::DecidedBy;
use airlock_model::content::CallOutcome;
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::json::Json;
use airlock_model::pending::{
    ActionId, ActionState, Decision, PendingAction, Resolution, StackedAction,
};
use airlock_model::store::{PendingStore, PluginBytes, Push};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::cancellable::Cancellable;
use crate::instance::Call;
use crate::params::Params;
use crate::producer::Producer;
use crate::pushing::PlaceOfOthers;
use crate::world::DecidedAction;

/// A pending action of the old call, to be replaced.
struct Old {
    stacked: StackedAction,
    /// State for the tool, if it hears of the discard.
    guest_state: Option<Vec<u8>>,
}

impl Session {
    /// Re-runs the call that produced `id` and atomically replaces its pending actions with the new
    /// ones. The old actions are discarded with the reason `refreshed as` and the ids of the new
    /// ones. The call is made by the same plugin, under the same grants as the original call.
    ///
    /// The new actions are placed together, in push order, at the position of the topmost old one.
    /// The order of the rest of the stack does not change, even if the tool now proposes more or
    /// fewer actions. A new action does not have to match an old one.
    ///
    /// Actions that another caller has claimed meanwhile are left alone. Afterwards the tool is
    /// notified of each discard if it [asked for that](PendingAction::has_reject); a failure of
    /// this notification changes nothing.
    ///
    /// # Errors
    /// - The errors of [`call`](Self::call).
    /// - The errors of a [resolution](Self::resolve) if there is no such pending action, if it is
    ///   no longer pending when the tool returns, or if it was previewed in another workspace.
    /// - [`Error::Unrecovered`] if an apply of the action was interrupted and its outcome can't be
    ///   determined here.
    /// - [`Error::PluginGone`] and [`Error::ProducerGone`].
    ///
    /// On error, everything stays as it was.
    pub fn refresh<'a>(
        &'a self,
        id: &'a ActionId,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<CallOutcome, Error>> {
        self.refreshing(id, decided_by.into())
    }

    fn refreshing<'a>(
        &'a self,
        id: &'a ActionId,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<CallOutcome, Error>> {
        Cancellable::new(move |cancel| self.refresh_until(id, decided_by, cancel))
    }

    async fn refresh_until(
        &self,
        id: &ActionId,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<CallOutcome, Error> {
        let store = self.store()?;
        let named = Resolution::discard("refreshed").with_id(id.clone());
        let found = self.find(store, id, &named, &decided_by).await?;
        let action = &found.action;
        if let Some(elsewhere) = self.other_workspace(action) {
            return Err(elsewhere);
        }
        let Some(call) = store.call_record(self.id(), id).await? else {
            let problem = "the call that previewed it is not kept";
            return Err(Error::host("could not preview it again", problem));
        };
        let old = self.pending_of_call(store, action).await?;
        let Some(found) = old.iter().find(|it| it.stacked.action.id == *id) else {
            return Err(self.why_not_pending(store, &named, &decided_by).await);
        };
        if found.stacked.state == ActionState::Interrupted {
            return Err(self.why_interrupted(store, &named, action).await);
        }
        let others = old.iter().map(|it| it.stacked.action.id.clone());
        let others = others.filter(|other| other != id).collect();
        let place = PlaceOfOthers::new(id.clone(), others, decided_by.clone());
        let (producer, index) = Box::pin(self.caller_of(action, &call.tool)).await?;
        let tool = &producer.tools()[index];
        let params = Params::written(parsed(&call.params)?, &call.params);
        let called = self.call_tool(&producer, tool, &call.tool, &params, Some(&place), cancel);
        let outcome = match called.await {
            Ok(outcome) if outcome.pushed.is_empty() => {
                let nothing = Push::of_call(self.id(), Vec::new(), &nobody(action));
                place.take(&**store, nothing).await.map(|()| outcome)
            }
            outcome => outcome,
        };
        match outcome {
            Ok(outcome) => {
                self.tell_tools(old, &place).await;
                Ok(outcome)
            }
            Err(Error::ResolutionInProgress(_)) => {
                Err(self.why_not_pending(store, &named, &decided_by).await)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the pending actions of the call that pushed `action`. Recovers interrupted applies
    /// first.
    async fn pending_of_call(
        &self,
        store: &Arc<dyn PendingStore>,
        action: &PendingAction,
    ) -> Result<Vec<Old>, Error> {
        let of_call = |mut pending: Vec<StackedAction>| {
            pending.retain(|it| it.action.call == action.call);
            pending
        };
        let mut pending = of_call(self.listed().await?);
        if !self.recover_among(store, &pending).await?.is_empty() {
            pending = of_call(self.listed().await?);
        }
        let mut old = Vec::new();
        for stacked in pending {
            let action = &stacked.action;
            let guest_state = if action.has_reject {
                store.guest_state(self.id(), &action.id).await?
            } else {
                None
            };
            old.push(Old {
                stacked,
                guest_state,
            });
        }
        Ok(old)
    }

    async fn why_not_pending(
        &self,
        store: &Arc<dyn PendingStore>,
        named: &Resolution,
        decided_by: &DecidedBy,
    ) -> Error {
        let Some(id) = &named.id else {
            return Error::NothingPending;
        };
        match self.find(store, id, named, decided_by).await {
            // It was claimed, and has come back.
            Ok(_) => Error::ResolutionInProgress(id.clone()),
            Err(error) => error,
        }
    }

    async fn why_interrupted(
        &self,
        store: &Arc<dyn PendingStore>,
        named: &Resolution,
        action: &PendingAction,
    ) -> Error {
        match self.refuse_unrecovered(&**store, named).await {
            Err(error) => error,
            Ok(()) => {
                let label = &action.label;
                let problem = format!(
                    "an apply of {label:?} was interrupted, with an unknown outcome: apply or discard it"
                );
                Error::host("could not preview it again", problem)
            }
        }
    }

    /// Reports the discards, and notifies the tools that asked for it.
    async fn tell_tools(&self, old: Vec<Old>, place: &PlaceOfOthers) {
        let Some(gone) = place.gone() else {
            return;
        };
        let old = old.iter().filter(|it| {
            let id = &it.stacked.action.id;
            gone.actions.contains(id)
        });
        for old in old {
            let action = &old.stacked.action;
            let number = self.next_call();
            if action.has_reject
                && let Err(error) = Box::pin(self.tell_tool(old, &gone.reason, number)).await
            {
                tracing::warn!("a tool took no note of a discard: {error}");
            }
            self.tell_decided(action, Decision::Discard, place.decided_by.clone(), number);
            if !action.durable
                && let Some(producer) =
                    self.read_bindings(|bindings| bindings.producer(action.plugin))
            {
                producer.release(&action.id);
            }
        }
    }

    async fn tell_tool(&self, old: &Old, reason: &str, number: u64) -> Result<(), Error> {
        let action = &old.stacked.action;
        let producer = self.producer_of(action).await?;
        let call = Call {
            number,
            tool: &action.source_tool_name,
            limits: &self.inner.limits,
            cancel: None,
            spent: Duration::ZERO,
        };
        let discarded = DecidedAction {
            action_id: action.id.as_str(),
            label: &action.label,
            source_tool_name: &action.source_tool_name,
            state: old.guest_state.as_deref(),
            reason,
            extra: None,
            attempt: old.stacked.attempts + 1,
        };
        let rejecting = pin!(producer.reject(&call, action, &discarded));
        let function = ToolFunction::Reject;
        let watched = self.watched(&call, producer.name(), function, rejecting);
        watched.await.map(drop)
    }

    /// Returns the producer whose tool was called when the action was pushed, and the tool's index.
    async fn caller_of(
        &self,
        action: &PendingAction,
        name: &str,
    ) -> Result<(Producer, usize), Error> {
        let bound = self.read_bindings(|bindings| bindings.producer(action.plugin));
        let producer = match bound {
            Some(_) if action.durable => self.producer_of(action).await?,
            Some(bound) => bound,
            None => self.producer_from_store(action).await?,
        };
        let mut tools = producer.tools().iter();
        match tools.position(|tool| tool.definition.name == name) {
            Some(index) => Ok((producer, index)),
            None => Err(Error::unknown_tool(name, [])),
        }
    }
}

/// Returns a placeholder with the plugin's name and digest and no bytes.
fn nobody(action: &PendingAction) -> PluginBytes {
    PluginBytes {
        digest: action.plugin,
        name: Arc::clone(&action.plugin_name),
        bytes: bytes::Bytes::new(),
    }
}

fn parsed(params: &Json) -> Result<Value, Error> {
    serde_json::from_str(params.as_str())
        .map_err(|error| Error::host("could not read the params that were kept", error))
}
