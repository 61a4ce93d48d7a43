//! Records an apply that was committed earlier, without the store's knowledge.

use airlock_model::content::{Content, ResolutionOutcome, ToolResult};
use airlock_model::error::Error;
use airlock_model::pending::Decision;
use airlock_model::store::Completion;

use super::Decisions;
use super::approve::Asked;
use super::claim::HeldAction;
use super::outcome::{DecisionSummary, outcome};
use crate::session::place::{CommitRecord, Committed};

impl Decisions {
    /// Records the apply in the store, whatever the current decision.
    ///
    /// # Errors
    /// [`Error::AlreadyResolved`] if the action was to be discarded; [`Error::NotRecorded`].
    pub(super) async fn settle(
        &self,
        held: HeldAction<'_>,
        applied: Committed,
        asked: &Asked,
    ) -> Result<ResolutionOutcome, Error> {
        let action = &held.action;
        let CommitRecord {
            reason,
            extra,
            decided_by,
            result,
            part,
        } = match applied {
            Committed::Unrecorded(record) => *record,
            Committed::Forgotten => CommitRecord {
                reason: String::new(),
                extra: None,
                decided_by: None,
                result: ToolResult {
                    content: vec![Content::text(
                        "It was applied before. The tool's result was not kept.",
                    )],
                    details: None,
                },
                part: None,
            },
        };
        let summary = DecisionSummary {
            label: action.label.clone(),
            source_tool_name: Some(action.source_tool_name.clone()),
            reason,
        };
        let mut settled = outcome(Decision::Apply, extra, summary, Some(result));
        settled.details.part = part;
        settled.action = Some((&**action).into());
        let completion = Completion::AppliedBefore {
            outcome: &settled,
            decided_by: decided_by.as_ref(),
        };
        held.lease.complete(Decision::Apply, completion).await?;
        let same_workspace = asked.resolution.same_workspace;
        self.base.place.forget_commit(action, same_workspace).await;
        match asked.resolution.decision {
            Decision::Apply => Ok(settled),
            Decision::Discard => Err(Error::AlreadyResolved {
                id: action.id.clone(),
                decision: Decision::Apply,
            }),
        }
    }
}
