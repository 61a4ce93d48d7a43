//! Keeps the rest of an action pending after a part of it was applied.

use airlock_model::error::Error;
use airlock_model::pending::{NamedAction, PendingAction};

use super::Decisions;
use crate::params::Params;
use crate::producer::rest_params;
use crate::session::calling::ToolCall;
use crate::workspace::Step;

impl Decisions {
    /// Pushes an action with these steps, and returns it.
    ///
    /// # Errors
    /// The reason why it could not be pushed, for people.
    pub(super) async fn keep_rest(
        &self,
        action: &PendingAction,
        steps: Vec<Step>,
    ) -> Result<NamedAction, String> {
        let pushed = Box::pin(self.push_rest(&action.label, &steps)).await;
        pushed.map_err(|error| error.to_string())
    }

    async fn push_rest(&self, label: &str, steps: &[Step]) -> Result<NamedAction, Error> {
        let rest = self.base.tools.rest()?;
        let params = Params::from_value(rest_params(label, steps));
        let call = ToolCall {
            producer: &rest,
            definition: &rest.tools()[0],
            params: &params,
            place: None,
            cancel: None,
        };
        let outcome = call.run(&self.base, &self.reviews).await?;
        let pushed = outcome.pushed.first().ok_or(Error::NothingPending)?;
        Ok(NamedAction::from(&**pushed))
    }
}
