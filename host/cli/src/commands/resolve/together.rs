//! Decisions about many actions in one step.

use std::collections::HashSet;
use std::sync::Arc;

use airlock_desk::resolution::{Resolved, was_tried};
use airlock_desk::reviewed::ReviewedHunks;
use airlock_desk::target::{self, Target};
use airlock_host::Error;
use airlock_host::pending::{Decision, JointReview};

use super::scope::Scope;
use super::{Desk, tell_how_many_stay};
use crate::commands::context::CommandContext;
use crate::commands::together::{self, MarkedEffects};
use crate::documents::calls::ResolutionReports;
use crate::failure::{Exit, Failure};
use crate::terminal::output::{Output, show_on_stderr};
use crate::terminal::prompt::{self, AnswerForAll};

impl Desk<'_> {
    /// Returns whether these actions may be applied in one step, as far as the command line says.
    pub(super) fn may_apply_together(&self, targets: &[target::ResolveRequest]) -> bool {
        let request = self.request;
        request.target.decision == Decision::Apply
            && matches!(request.scope, Scope::Session | Scope::Workspace)
            && targets.len() > 1
            && request.review.is_none()
            && self.extra.is_none()
    }

    /// Applies all actions in one step, after one question. Returns `None` if they have to be
    /// decided one by one, and otherwise the program's exit code.
    pub(super) async fn apply_together(
        &mut self,
        targets: &[target::ResolveRequest],
        out: &mut Output,
    ) -> Result<Option<Exit>, Failure> {
        let mut found = Vec::new();
        for wanted in targets {
            let target = Target::find(wanted, self.store).await?;
            if target.difference(wanted).is_some() {
                return Ok(None);
            }
            found.push(target);
        }
        let Some(first) = found.first() else {
            return Ok(None);
        };
        let workspace = first.workspace_to_open(&self.request.target);
        let is_there = |it: &Target| it.workspace_to_open(&self.request.target) == workspace;
        if !found.iter().all(is_there) {
            return Ok(None);
        }
        let context = self.context(first, out)?;
        let mut sessions = Vec::new();
        for target in &found {
            sessions.push(self.context(target, out)?.session.clone());
        }
        let ids = found.iter().map(|it| &it.action.id);
        let named: Vec<_> = sessions.iter().zip(ids).collect();
        let Some(review) = together::review(&context, &named, out).await? else {
            return Ok(None);
        };
        let mut reason = self.request.reason.clone();
        if self.asks {
            match self.ask_about_all(&review, out).await {
                AnswerForAll::Yes(given) => reason = Some(given),
                AnswerForAll::OneByOne => return Ok(None),
                AnswerForAll::No => {
                    for target in &found {
                        self.record_no(target, reason.as_deref()).await;
                    }
                    tell_how_many_stay(found.len());
                    return Ok(Some(Exit::Done));
                }
                AnswerForAll::Quit | AnswerForAll::Review => {
                    tell_how_many_stay(found.len());
                    return Ok(Some(Exit::Done));
                }
            }
        }
        let reason = reason.unwrap_or_default();
        let by_whom = self.decided_by(&context);
        match together::apply(&context, &review, &reason, by_whom, out).await {
            Ok(applied) => {
                out.json(&ResolutionReports::new(&applied));
                Ok(Some(Exit::Done))
            }
            Err(_) if self.interrupt.happened() => Err(Failure::interrupted()),
            Err(error) => {
                let failure = Failure::from(&error);
                let none = format!("none of the {} actions was applied", found.len());
                Err(match error {
                    Error::NotRecorded { .. } => failure,
                    _ => failure.and_hint(&none),
                })
            }
        }
    }

    /// Shows the joint changes of the actions, and asks about all of them.
    async fn ask_about_all(&self, review: &JointReview, out: &mut Output) -> AnswerForAll {
        let workspace = review.actions.first();
        let workspace = workspace.and_then(|it| it.action.workspace.as_deref());
        let mut effects = MarkedEffects::new(&review.effects, workspace, ReviewedHunks::open());
        out.page(&together::block(review, &effects));
        loop {
            let show = async || show_on_stderr(&together::block(review, &effects));
            let (count, left) = (review.actions.len(), effects.left_count());
            let reason = self.request.reason.as_deref();
            let answer = prompt::ask_about_all((count, left), reason, show, &self.interrupt).await;
            match answer {
                AnswerForAll::Review => {
                    if effects.review(&self.interrupt).await.is_none() {
                        return AnswerForAll::Quit;
                    }
                }
                answer => return answer,
            }
        }
    }

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
