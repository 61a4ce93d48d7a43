//! Applies actions on one layer, each on top of those before it, without a commit.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_model::content::ToolResult;
use airlock_model::effects::Seed;
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use airlock_model::pending::PendingAction;
use airlock_workspace::{Layer, View};
use tokio_util::sync::CancellationToken;

use super::Reviews;
use crate::instance::{Call, Conditions};
use crate::workspace::{LayerLimits, LayerStart};
use crate::world::DecidedAction;

/// An action to apply on top of others.
pub(in crate::session) struct Step<'a> {
    /// The reviews of its session.
    pub reviews: &'a Reviews,
    pub action: &'a PendingAction,
    pub seed: &'a Seed,
    pub reason: &'a str,
    /// Counts the attempts to apply the action, from 1.
    pub attempt: u32,
}

/// The changes of several actions, before a commit.
pub(in crate::session) struct Stacked {
    /// The layer with all changes is open. `None` without a workspace.
    pub changes: Option<View>,
    /// The result of each tool, with the number of its call.
    pub results: Vec<(ToolResult, u64)>,
}

impl Stacked {
    /// Applies the actions, all in one workspace. If one of them fails, returns its index and
    /// error.
    pub async fn of(
        steps: &[Step<'_>],
        function: ToolFunction,
        cancel: Option<&CancellationToken>,
    ) -> Result<Result<Self, (usize, Error)>, Error> {
        let mut above: Option<Arc<Layer>> = None;
        let mut results = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let running = step.run(above.clone(), function, cancel);
            match Box::pin(running).await {
                Ok((result, number, changes)) => {
                    results.push((result, number));
                    if let Some(layer) = changes.and_then(|changes| changes.take_layer()) {
                        above = Some(Arc::new(layer));
                    }
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => return Ok(Err((at, error))),
            }
        }
        let changes = match steps.first() {
            Some(first) => first.reviews.opened_above(above)?,
            None => None,
        };
        Ok(Ok(Self { changes, results }))
    }
}

impl Step<'_> {
    /// Returns the tool's result, the call's number, and the changes on an open layer.
    async fn run(
        &self,
        above: Option<Arc<Layer>>,
        function: ToolFunction,
        cancel: Option<&CancellationToken>,
    ) -> Result<(ToolResult, u64, Option<View>), Error> {
        let (action, base) = (self.action, &self.reviews.base);
        let producer = base.tools.producer_of(action).await?;
        let state = base.records()?.guest_state(base.id(), &action.id).await?;
        let call = Call {
            number: base.events.next_call(),
            tool: &action.source_tool_name,
            limits: base.limits(),
            cancel,
            spent: Duration::ZERO,
        };
        let decided = DecidedAction {
            state: state.as_deref(),
            ..DecidedAction::of(action, self.reason, self.attempt)
        };
        let mut conditions = Conditions::new(self.seed.clone(), action.pushed_at);
        conditions.files_moved = above.is_some();
        conditions.above = above;
        let running = pin!(producer.rehearse(&call, action, &decided, conditions));
        let watched = base
            .events
            .watched(&call, producer.name(), function, running);
        let applied = watched.await?;
        Ok((applied.result, call.number, applied.changes))
    }
}

impl Reviews {
    /// Returns a view of the workspace with an open layer on top of these changes.
    fn opened_above(&self, above: Option<Arc<Layer>>) -> Result<Option<View>, Error> {
        let Some(folder) = &self.base.place.workspace else {
            return Ok(None);
        };
        let limits = LayerLimits::of(self.base.limits());
        let start = LayerStart { time: None, above };
        let opened = folder.noted_view().and_then(|view| {
            limits.begin(&view, folder.spill()?, &start)?;
            Ok(Some(view))
        });
        opened.map_err(|error| Error::workspace(folder.path(), error))
    }
}
