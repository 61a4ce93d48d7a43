//! Carrying out decisions, and how that ended.

use std::borrow::Cow;
use std::sync::Arc;

use airlock_host::cancel::CancellationToken;
use airlock_host::content::{Content, ResolutionDetails, ResolutionOutcome};
use airlock_host::effects::{Difference, Effects};
use airlock_host::pending::{ActionState, DecidedBy, Decision, StackedAction};
use airlock_host::{Error, PendingAction, Resolution, Session};
use airlock_render::{Block, Decided, Line, Role};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::record::ActionSummary;

/// What became of an action that could not be applied.
pub const PENDING_AGAIN: &str = "the action is pending again";

/// What became of a volatile action whose instance has ended.
pub const LOST: &str =
    "its tool kept the preview only in memory, and it is lost: it can only be discarded";

/// A decision, and its outcome.
#[derive(Debug)]
pub struct Resolved {
    /// What it was about.
    pub action: Arc<PendingAction>,
    /// What was decided.
    pub resolution: Resolution,
    /// The tool's answer, or why the decision was not carried out.
    pub outcome: Result<ResolutionOutcome, Error>,
    /// Whether the action is still there, and can't be applied any more.
    pub is_lost: bool,
}

/// Carries out a decision about this very action, until it is cancelled.
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

/// Discards these actions of the session, as far as that goes, until it is cancelled.
///
/// # Errors
/// Those of [`Session::discard_all`].
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

/// Where the store can't be read, that is told elsewhere.
async fn lists_as_lost(session: &Session, action: &PendingAction) -> bool {
    let pending = session.pending().await.unwrap_or_default();
    let is_lost = |it: &StackedAction| it.state == ActionState::Lost && it.action.id == action.id;
    pending.iter().any(is_lost)
}

/// The object about it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    content: Cow<'a, [Content]>,
    details: Details<'a>,
    /// What was applied, as the host saw it; left out where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Cow<'a, Effects>>,
    /// Where the writes of other programs are kept that hit a file while it was replaced.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    kept: &'a [String],
    /// What it does now, and did when it was reviewed, where these are not the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<&'a Difference>,
    is_error: bool,
    /// What is pending in the session after the decision, topmost first; left out where a call's
    /// report has it, or where it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Vec<ActionSummary<'a>>>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Details<'a> {
    Done(&'a ResolutionDetails),
    /// The same, as far as there are any.
    Failed {
        action: Decision,
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        extra: &'a Option<Map<String, Value>>,
        source_tool_name: &'a str,
        label: &'a str,
    },
}

impl Resolved {
    /// What became of the action, where the decision could not be carried out.
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

    /// For people.
    pub fn block(&self) -> Block {
        let action = Some(&*self.action);
        let block = Block::decision(&Decided::resolved(&self.resolution, action, &self.outcome));
        match &self.outcome {
            Ok(outcome) => outcome.kept.iter().fold(block, |block, path| {
                let line = Line::from(
                    "Another program wrote to a file while it was replaced; its version is in ",
                );
                block.line(line.with_quoted(Role::Plain, path).hanging(2))
            }),
            Err(Error::Different { difference, .. }) => block
                .line("Reviewed effects:")
                .block(Block::effects(&difference.reviewed.without_contents()).indented(2))
                .line("Effects now:")
                .block(Block::effects(&difference.now).indented(2)),
            Err(Error::NotReviewed { now, .. }) => block
                .line("Effects now:")
                .block(Block::effects(now).indented(2)),
            _ => block,
        }
    }

    /// For programs.
    pub fn report(&self) -> Report<'_> {
        match &self.outcome {
            Ok(outcome) => Report {
                content: Cow::Borrowed(&outcome.content),
                details: Details::Done(&outcome.details),
                effects: (outcome.effects.as_ref()).map(|it| Cow::Borrowed(&it.effects)),
                kept: &outcome.kept,
                difference: None,
                is_error: false,
                pending: None,
            },
            Err(error) => Report {
                content: Cow::Owned(vec![Content::text(error.to_string())]),
                details: Details::Failed {
                    action: self.resolution.decision,
                    reason: &self.resolution.reason,
                    extra: &self.resolution.extra,
                    source_tool_name: &self.action.source_tool_name,
                    label: &self.action.label,
                },
                effects: None,
                kept: &[],
                difference: match error {
                    Error::Different { difference, .. } => Some(difference),
                    _ => None,
                },
                is_error: true,
                pending: None,
            },
        }
    }
}

impl<'a> Report<'a> {
    /// With what is pending in the session since.
    pub fn with_pending(mut self, pending: Option<&'a [StackedAction]>) -> Self {
        let pending = pending.map(|pending| pending.iter());
        self.pending = pending.map(|all| {
            all.map(|stacked| ActionSummary::new(&stacked.action))
                .collect()
        });
        self
    }
}

/// Whether the action was this process's to resolve.
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
