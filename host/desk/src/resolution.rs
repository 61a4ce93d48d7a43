//! Carrying out decisions, and their outcome for people.

use std::sync::Arc;

use airlock_host::cancel::CancellationToken;
use airlock_host::content::ResolutionOutcome;
use airlock_host::pending::{
    ActionState, DecidedBy, Decision, JointReview, NamedAction, StackedAction,
};
use airlock_host::{Error, PendingAction, Resolution, Session};
use airlock_render::{Block, Decided, Line, Role};

/// The state of an action whose apply failed.
pub const PENDING_AGAIN: &str = "the action is pending again";

/// The state of a volatile action whose instance has ended.
pub const LOST: &str =
    "its tool kept the preview only in memory, and it is lost: it can only be discarded";

/// A decision, and its outcome.
#[derive(Debug)]
pub struct Resolved {
    /// The action.
    pub action: Arc<PendingAction>,
    /// The decision.
    pub resolution: Resolution,
    /// The tool's answer, or the reason why the decision was not carried out.
    pub outcome: Result<ResolutionOutcome, Error>,
    /// True if the action still exists but can't be applied any more.
    pub is_lost: bool,
}

/// Carries out a decision about this specific action, until cancelled.
pub async fn resolve(
    session: &Session,
    action: &Arc<PendingAction>,
    resolution: Resolution,
    decided_by: DecidedBy,
    cancelled: &CancellationToken,
) -> Resolved {
    let resolution = resolution.with_id(action.id.clone());
    let outcome = session
        .resolve(resolution.clone(), decided_by)
        .cancelled_by(cancelled)
        .await;
    let is_lost = outcome.is_err() && !action.durable && lists_as_lost(session, action).await;
    Resolved {
        is_lost,
        action: Arc::clone(action),
        resolution,
        outcome,
    }
}

/// Discards these actions of the session, as far as possible, until cancelled.
///
/// # Errors
/// The errors of [`Session::discard_all`].
pub async fn discard_all(
    session: &Session,
    actions: &[StackedAction],
    reason: &str,
    decided_by: DecidedBy,
    cancelled: &CancellationToken,
) -> Result<Vec<Resolved>, Error> {
    let discarding = session.discard_all(actions, reason, decided_by);
    let discarded = discarding.cancelled_by(cancelled).await?.into_iter();
    let resolved = discarded.map(|(action, outcome)| Resolved {
        resolution: Resolution::discard(reason).with_id(action.id.clone()),
        outcome,
        is_lost: false,
        action,
    });
    Ok(resolved.collect())
}

/// Applies all actions of the review, or none, until cancelled.
///
/// # Errors
/// The errors of [`JointReview::apply`].
pub async fn apply_together(
    review: &JointReview,
    reason: &str,
    decided_by: DecidedBy,
    cancelled: &CancellationToken,
) -> Result<Vec<Resolved>, Error> {
    let applying = review.apply(reason, decided_by);
    let applied = applying.cancelled_by(cancelled).await?;
    let actions = review.actions.iter().map(|stacked| &stacked.action);
    let resolved = actions.zip(applied).map(|(action, outcome)| Resolved {
        action: Arc::clone(action),
        resolution: Resolution::apply(reason).with_id(action.id.clone()),
        outcome: Ok(outcome),
        is_lost: false,
    });
    Ok(resolved.collect())
}

/// Returns what became of the changes that were left out.
fn rest(kept: &Result<NamedAction, String>) -> Block {
    let line = match kept {
        Ok(rest) => Line::from("The rest stays pending as ")
            .with_role(Role::Plain, rest.id.short())
            .with("."),
        Err(problem) => Line::new()
            .with_role(Role::Note, "The rest could not be kept: ")
            .with_quoted(Role::Plain, problem),
    };
    Block::from(line.hanging(2))
}

/// Returns true if the session lists the action as lost. If the store can't be read, another place
/// reports that.
async fn lists_as_lost(session: &Session, action: &PendingAction) -> bool {
    let pending = session.pending().await.unwrap_or_default();
    let is_lost = |it: &StackedAction| it.state == ActionState::Lost && it.action.id == action.id;
    pending.iter().any(is_lost)
}

impl Resolved {
    /// Returns the state of the action if the decision could not be carried out.
    pub fn afterwards(&self) -> Option<&'static str> {
        let error = self.outcome.as_ref().err()?;
        Some(match self.resolution.decision {
            _ if !was_tried(error) => return None,
            _ if matches!(error, Error::NotRecorded { .. }) => {
                "the action will be listed as interrupted, though it was carried out"
            }
            Decision::Apply if self.is_lost => LOST,
            Decision::Apply => PENDING_AGAIN,
            Decision::Discard => "the action is discarded anyway",
        })
    }

    /// Returns the report for people.
    pub fn block(&self) -> Block {
        let action = Some(&*self.action);
        let block = Block::decision(&Decided::resolved(&self.resolution, action, &self.outcome));
        match &self.outcome {
            Ok(outcome) => {
                let part = outcome.details.part.as_ref();
                let block = block.block(part.map(Block::part).unwrap_or_default());
                let block = block.block(outcome.rest.as_ref().map(rest).unwrap_or_default());
                outcome.kept.iter().fold(block, |block, path| {
                    let line = Line::from(
                        "Another program wrote to a file while it was replaced; its version is in ",
                    );
                    block.line(line.with_quoted(Role::Plain, path).hanging(2))
                })
            }
            Err(Error::Different { difference, .. }) => block
                .line("Reviewed effects:")
                .block(Block::effects(&difference.reviewed.without_contents()).indented(2))
                .line("Effects now:")
                .block(Block::effects(&difference.now).indented(2))
                .block(Block::answer(&difference.now, &[]).indented(2)),
            Err(Error::NotReviewed { now, .. }) => block
                .line("Effects now:")
                .block(Block::effects(now).indented(2))
                .block(Block::answer(now, &[]).indented(2)),
            _ => block,
        }
    }
}

/// Returns true if this process was the one to resolve the action.
pub fn was_tried(error: &Error) -> bool {
    !matches!(
        error,
        Error::NothingPending
            | Error::AlreadyResolved { .. }
            | Error::ResolutionInProgress(_)
            | Error::UnknownAction(_)
            | Error::Refused { .. }
            | Error::NeedsPerson { .. }
            | Error::Busy { .. }
            | Error::NotReviewed { .. }
            | Error::Unverified { .. }
            | Error::Stale { .. }
            | Error::Unrecovered { .. }
            | Error::Expired(_)
            | Error::Store(_)
            | Error::OtherWorkspace { .. }
            | Error::WorkspaceReplaced { .. }
    )
}
