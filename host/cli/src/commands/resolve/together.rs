//! Discards of many actions in one step.

use std::collections::HashSet;
use std::sync::Arc;

use airlock_desk::resolution::{Resolved, was_tried};
use airlock_desk::target::{self, Target};
use airlock_host::Error;

use super::Desk;
use crate::commands::context::CommandContext;
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

impl Desk<'_> {
    /// Discards the actions that can be discarded like the first one, and removes them from the
    /// targets. Returns the program's exit code if one of them failed.
    pub(super) async fn discard_alike(
        &mut self,
        targets: &mut Vec<target::ResolveRequest>,
        reports: &mut Vec<Resolved>,
        out: &mut Output,
    ) -> Result<Option<Exit>, Failure> {
        let Some(first) = targets.first() else {
            return Ok(None);
        };
        let (discarded, context) = self.discard_together(first, out).await?;
        let done: HashSet<_> = discarded
            .iter()
            .map(|it| it.action.id.to_string())
            .collect();
        targets.retain(|target| (target.id.as_ref()).is_none_or(|id| !done.contains(id)));
        let mut failed = None;
        for resolved in discarded {
            match &resolved.outcome {
                Err(_) if failed.is_none() => {
                    failed = Some(resolved);
                    continue;
                }
                // Actions that stay unchanged are only counted.
                Err(error) if !was_tried(error) || matches!(error, Error::Cancelled) => continue,
                _ => {}
            }
            out.gap();
            out.show(&resolved.block());
            reports.push(resolved);
        }
        match failed {
            Some(failed) => {
                let told = self.tell_failed(&failed, reports, &context, out).await;
                told.map(Some)
            }
            None => Ok(None),
        }
    }

    /// Discards the actions that can be discarded in the same way as the first one.
    async fn discard_together(
        &mut self,
        first: &target::ResolveRequest,
        out: &Output,
    ) -> Result<(Vec<Resolved>, Arc<CommandContext>), Failure> {
        let target = Target::find(first, self.store).await?;
        let alike = target.alike(first, self.store).await?;
        let context = self.context(&target, out)?;
        let reason = self.request.reason.as_deref().unwrap_or_default();
        match context.discard_all(&alike, reason).await {
            Ok(discarded) => Ok((discarded, context)),
            Err(Error::Cancelled) => Err(Failure::interrupted()),
            Err(error) => Err(Failure::from(error)),
        }
    }
}
