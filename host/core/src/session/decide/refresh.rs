//! Re-runs the call that previewed an action.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_model::actor::DecidedBy;
use airlock_model::content::CallOutcome;
use airlock_model::error::{Error, HostError};
use airlock_model::event::ToolFunction;
use airlock_model::json::Json;
use airlock_model::pending::{
    ActionId, ActionState, Decision, PendingAction, Resolution, StackedAction,
};
use airlock_model::store::{PluginBytes, Push};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Decisions;
use crate::instance::Call;
use crate::params::Params;
use crate::pushing::PlaceOfOthers;
use crate::session::calling::ToolCall;
use crate::world::DecidedAction;

/// A pending action of the old call, to be replaced.
struct Old {
    stacked: StackedAction,
    /// The state for the tool, if it is notified of the discard.
    guest_state: Option<Vec<u8>>,
}

impl Decisions {
    /// Re-runs the call that produced `id`.
    pub async fn refresh(
        &self,
        id: &ActionId,
        decided_by: DecidedBy,
        cancel: Option<&CancellationToken>,
    ) -> Result<CallOutcome, Error> {
        let records = self.base.records()?;
        let found = self.find(id).await?;
        let action = &found.action;
        if let Some(elsewhere) = self.base.place.other_workspace(action) {
            return Err(elsewhere);
        }
        let Some(call) = records.call_record(self.base.id(), id).await? else {
            return Err(HostError::NoCallRecord.into());
        };
        let old = self.pending_of_call(action).await?;
        let Some(found) = old.iter().find(|it| it.stacked.action.id == *id) else {
            return Err(self.why_not_pending(id).await);
        };
        if found.stacked.state == ActionState::Interrupted {
            return Err(self.why_interrupted(action).await);
        }
        let others = old.iter().map(|it| it.stacked.action.id.clone());
        let others = others.filter(|other| other != id).collect();
        let place = PlaceOfOthers::new(id.clone(), others, decided_by);
        let (producer, index) = Box::pin(self.base.tools.caller_of(action, &call.tool)).await?;
        let params = Params::written(parsed(&call.params)?, &call.params);
        let calling = ToolCall {
            producer: &producer,
            definition: &producer.tools()[index],
            params: &params,
            place: Some(&place),
            cancel,
        };
        let called = calling.run(&self.base, &self.reviews);
        let outcome = match called.await {
            Ok(outcome) if outcome.pushed.is_empty() => {
                let nothing = Push::of_call(self.base.id(), Vec::new(), &nobody(action));
                let taken = place.take(self.base.stacks()?, nothing).await;
                taken.map(|()| outcome)
            }
            outcome => outcome,
        };
        match outcome {
            Ok(outcome) => {
                self.tell_tools(old, &place).await;
                Ok(outcome)
            }
            Err(Error::ResolutionInProgress(_)) => Err(self.why_not_pending(id).await),
            Err(error) => Err(error),
        }
    }

    /// Returns the pending actions of the call that pushed `action`. Recovers interrupted applies
    /// first.
    async fn pending_of_call(&self, action: &PendingAction) -> Result<Vec<Old>, Error> {
        let records = self.base.records()?;
        let of_call = |mut pending: Vec<StackedAction>| {
            pending.retain(|it| it.action.call == action.call);
            pending
        };
        let mut pending = of_call(self.base.stack.list().await?);
        if !self.recover_among(&pending).await?.is_empty() {
            pending = of_call(self.base.stack.list().await?);
        }
        let mut old = Vec::new();
        for stacked in pending {
            let action = &stacked.action;
            let guest_state = if action.has_reject {
                records.guest_state(self.base.id(), &action.id).await?
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

    async fn why_not_pending(&self, id: &ActionId) -> Error {
        match self.find(id).await {
            // It was claimed, and has come back.
            Ok(_) => Error::ResolutionInProgress(id.clone()),
            Err(error) => error,
        }
    }

    async fn why_interrupted(&self, action: &PendingAction) -> Error {
        let discard = Resolution::discard("refreshed").with_id(action.id.clone());
        match self.refuse_unrecovered(&discard).await {
            Err(error) => error,
            Ok(()) => HostError::Interrupted {
                label: action.label.clone(),
            }
            .into(),
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
            let number = self.base.events.next_call();
            if action.has_reject
                && let Err(error) = Box::pin(self.tell_tool(old, &gone.reason, number)).await
            {
                tracing::warn!("a tool took no note of a discard: {error}");
            }
            let by = place.decided_by.clone();
            self.base
                .events
                .decided(action, Decision::Discard, by, number);
            self.base.tools.release_volatile(action);
        }
    }

    async fn tell_tool(&self, old: &Old, reason: &str, number: u64) -> Result<(), Error> {
        let action = &old.stacked.action;
        let producer = self.base.tools.producer_of(action).await?;
        let call = Call {
            number,
            tool: &action.source_tool_name,
            limits: self.base.limits(),
            cancel: None,
            spent: Duration::ZERO,
        };
        let discarded = DecidedAction {
            state: old.guest_state.as_deref(),
            ..DecidedAction::of(action, reason, old.stacked.attempts + 1)
        };
        let rejecting = pin!(producer.reject(&call, action, &discarded));
        let function = ToolFunction::Reject;
        let watched = self
            .base
            .events
            .watched(&call, producer.name(), function, rejecting);
        watched.await.map(drop)
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
    Ok(serde_json::from_str(params.as_str()).map_err(HostError::KeptParams)?)
}
