//! Calling a tool once more, as it was called when it previewed something.

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

/// What of a call is still pending, and goes.
struct Old {
    stacked: StackedAction,
    /// For its tool, where that is told.
    guest_state: Option<Vec<u8>>,
}

impl Session {
    /// Previews an action anew: calls the tool that pushed it with the params of then. What that
    /// pushes takes the place of whatever of the earlier call is still pending, which is discarded
    /// with the reason `refreshed as`, and the ids of the new ones. Both happen in one step of the
    /// store. It is done by the very plugin that previewed it then, under the grants of then.
    ///
    /// The new ones lie together, in the order in which they were pushed, where the topmost of the
    /// old ones was: so the stack is resolved in the order that it had, also where the tool
    /// proposes more than before, or less, and no new action need be that which an old one was.
    ///
    /// What somebody else has claimed meanwhile is left alone. The tool hears of each discard
    /// afterwards, where it [takes note](PendingAction::has_reject) of them; that it fails to
    /// changes nothing.
    ///
    /// # Errors
    /// As [`call`](Self::call); those of a [resolution](Self::resolve) where there is no such
    /// pending action, or none any more when the tool has returned, or it was previewed in another
    /// workspace; [`Error::Unrecovered`] where an apply of it was cut off, and nobody here can tell
    /// what that has done; [`Error::PluginGone`] and [`Error::ProducerGone`]. Then everything stays
    /// as it was.
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

    /// What of the call that pushed an action is still pending. Where an apply was cut off, what
    /// became of it is found out first.
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
            let guest_state = match action.has_reject {
                true => store.guest_state(self.id(), &action.id).await?,
                false => None,
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

    /// Reports what was discarded, and has the tools hear of it which want to.
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

    /// What has the tool that was called when an action was pushed, and the tool's place there.
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

/// What nothing is pushed by.
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
