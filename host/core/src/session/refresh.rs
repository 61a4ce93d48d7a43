//! Calling a tool once more, as it was called when it previewed something.

use airlock_model::actor::DecidedBy;
use airlock_model::content::CallOutcome;
use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::pending::{ActionId, PendingAction, Resolution};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::cancellable::{Cancellable, Work};
use crate::producer::Producer;

impl Session {
    /// Previews an action anew: calls the tool that pushed it with the params of then. What that
    /// pushes takes the place of whatever of the earlier call is still pending, which is discarded
    /// with the reason `refreshed as`, and the ids of the new ones. It is done by the very plugin
    /// that previewed it then, under the grants of then.
    ///
    /// # Errors
    /// As [`call`](Self::call); those of a [resolution](Self::resolve) where there is no such
    /// pending action, or it was previewed in another workspace; [`Error::PluginGone`] and
    /// [`Error::ProducerGone`]. Where the tool fails, everything stays as it was.
    pub fn refresh<'a>(
        &'a self,
        id: &'a ActionId,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, impl Work<'a, Output = Result<CallOutcome, Error>>> {
        let decided_by = decided_by.into();
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
        let (producer, index) = Box::pin(self.caller_of(action, &call.tool)).await?;
        let tool = &producer.tools()[index];
        let params = parsed(&call.params)?;
        let outcome = self
            .call_tool(&producer, tool, &call.tool, &params, cancel)
            .await?;
        let reason = match outcome.pushed.is_empty() {
            true => "refreshed, and nothing is proposed any more".to_owned(),
            false => {
                let ids = outcome.pushed.iter().map(|it| it.id.as_str());
                format!("refreshed as {}", ids.collect::<Vec<_>>().join(", "))
            }
        };
        let is_new = |id: &ActionId| outcome.pushed.iter().any(|it| it.id == *id);
        let listed = store.list(self.id()).await?;
        let replaced = listed.iter().map(|it| &it.action);
        let of_call = |it: &&std::sync::Arc<PendingAction>| it.call == action.call;
        for replaced in replaced.filter(of_call).filter(|it| !is_new(&it.id)) {
            let discard = Resolution::discard(&*reason).with_id(replaced.id.clone());
            let discarding = self.resolve_once(discard, decided_by.clone(), None);
            // Where somebody else was faster, or its tool failed to take note, it is gone too.
            if let Err(error @ Error::Store(_)) = Box::pin(discarding).await {
                return Err(error);
            }
        }
        Ok(outcome)
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
            None => Err(Error::UnknownTool {
                name: name.to_owned(),
                known: Vec::new(),
            }),
        }
    }
}

fn parsed(params: &Json) -> Result<Value, Error> {
    serde_json::from_str(params.as_str())
        .map_err(|error| Error::host("could not read the params that were kept", error))
}
