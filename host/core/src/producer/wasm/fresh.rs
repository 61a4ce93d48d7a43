//! Runs of durable actions, each in a fresh instance in which no guest code has run before. The
//! memory left by `execute` must not matter, because it may be gone.

use airlock_model::content::ToolResult;
use airlock_model::error::Error;

use super::Binding;
use super::roots::roots;
use crate::instance::{Call, Conditions, Instance, unless_cancelled};
use crate::producer::{CommitChanges, Rehearsed, committed};
use crate::world::{CommandLine, DecidedAction, World};

impl Binding {
    /// Applies an action on a layer that is never committed.
    ///
    /// # Errors
    /// The error of the apply.
    pub async fn rehearse(
        &self,
        call: &Call<'_>,
        resolution: &DecidedAction<'_>,
        conditions: Conditions,
    ) -> Result<Rehearsed, Error> {
        let _turn = unless_cancelled(call.cancel, self.fresh.lock()).await?;
        let instance = self.fresh_instance(call, resolution.state, conditions);
        let instance = Box::pin(instance).await?;
        let looked_at = instance.looked_at();
        let (instance, result) = instance.rehearse(call, resolution).await;
        let changes = instance.as_ref().and_then(|instance| instance.changes());
        Ok(Rehearsed {
            result: result?,
            changes,
            looked_at,
        })
    }

    /// Applies a durable action and commits its changes.
    pub(super) async fn apply_in_fresh_instance(
        &self,
        call: &Call<'_>,
        resolution: &DecidedAction<'_>,
        conditions: Conditions,
        commit: &dyn CommitChanges,
    ) -> Result<ToolResult, Error> {
        let _turn = unless_cancelled(call.cancel, self.fresh.lock()).await?;
        let instance = self.fresh_instance(call, resolution.state, conditions);
        let instance = Box::pin(instance).await?;
        let (instance, result) = instance.apply(call, resolution).await;
        let changes = instance.as_ref().and_then(|instance| instance.changes());
        committed(changes, result, commit).await
    }

    async fn fresh_instance(
        &self,
        call: &Call<'_>,
        state: Option<&[u8]>,
        conditions: Conditions,
    ) -> Result<Box<Instance>, Error> {
        let command = match self.plugin.world() {
            World::Command => Some(CommandLine::of_state(state)?),
            World::CustomTool { .. } => None,
        };
        let roots = roots(&self.plugin, &self.context)?;
        self.instance_with(call.cancel, roots.into(), Some(conditions), command)
            .await
    }
}
