//! Calls of tools other than `resolve`.

use std::sync::Arc;
use std::time::Instant;

use airlock_host::pending::Actor;
use airlock_host::{PendingAction, Resolution};
use rmcp::model::CallToolResponse;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::Server;
use crate::asking::Caller;
use crate::{answer, waiting};

impl Server {
    /// Calls a tool other than `resolve`. If the call is cancelled, its actions are discarded,
    /// because the client never learns of them.
    pub(crate) async fn call(
        &self,
        tool: &str,
        params: &Value,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let _under_way = self.calls.read().await;
        if self.skips_while_pending
            && let Some(skipped) = waiting::skipped(self, tool).await
        {
            return skipped.into();
        }
        let began = Instant::now();
        let call = self.session.call(tool, params);
        let call = call.cancelled_by(&context.ct).into_future();
        let token = context.meta.get_progress_token();
        let outcome = self
            .listeners
            .report_while(&context.peer, token, call)
            .await;
        self.meter.called(&outcome, began.elapsed());
        if let Ok(outcome) = &outcome
            && context.ct.is_cancelled()
        {
            self.discard_unheard_of(&outcome.pushed).await;
        }
        match outcome {
            Ok(outcome) => {
                let pushed = &outcome.pushed;
                let remembering = self.owners.remember(&self.session, pushed, &caller.client);
                remembering.await;
                answer::of_outcome(&outcome).into()
            }
            Err(error) => answer::of_error(&error).into(),
        }
    }

    async fn discard_unheard_of(&self, pushed: &[Arc<PendingAction>]) {
        for action in pushed {
            let reason = "the call that previewed it was cancelled";
            let discard = Resolution::discard(reason).with_id(action.id.clone());
            let discarding = self
                .session
                .resolve(discard, Actor::program("airlock serve"));
            if let Err(error) = discarding.await {
                tracing::warn!("the action {} stays pending: {error}", action.id);
            }
        }
    }
}
