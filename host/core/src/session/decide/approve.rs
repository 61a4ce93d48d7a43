//! Asks the approver about an apply.

use airlock_model::actor::{Actor, DecidedBy};
use airlock_model::denial::{Denial, DeniedBy};
use airlock_model::error::Error;
use airlock_model::pending::{Decision, NamedAction, PendingAction, Resolution, StackedAction};
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::params::check_reason;
use crate::instance::unless_cancelled;
use crate::session::approval::{Approval, ApprovalRequest, Approver};
use crate::session::review::Reviewed;

/// A decision and its decider.
pub(super) struct Asked {
    pub resolution: Resolution,
    pub decided_by: DecidedBy,
}

impl Asked {
    pub fn is_by_model(&self) -> bool {
        matches!(self.decided_by.actor, Actor::Model)
    }
}

impl Decisions {
    /// Asks the approver, if one is needed. After that, the resolution names the action that was
    /// asked about, and the attempts that the approver knew of. Returns true if the approval was
    /// for exactly the effects that the approver was shown.
    ///
    /// # Errors
    /// [`Error::Refused`] and [`Error::NeedsPerson`]; the errors of a claim if the action can't be
    /// resolved, such as [`Error::NothingPending`]; [`Error::Cancelled`].
    pub(super) async fn approve(
        &self,
        asked: &mut Asked,
        review: Option<&Reviewed>,
        cancel: Option<&CancellationToken>,
    ) -> Result<bool, Error> {
        let Some(approver) = &self.approver else {
            return Ok(false);
        };
        if asked.resolution.decision != Decision::Apply {
            return Ok(false);
        }
        let found = match &asked.resolution.id {
            Some(id) => self.find(id).await?,
            // Actions that are pushed from now on are not approved.
            None => {
                let top = self.base.stack.find(None).await?;
                top.ok_or(Error::NothingPending)?
            }
        };
        asked.resolution.id = Some(found.action.id.clone());
        // A decision about a review may know of fewer.
        asked.resolution.attempts.get_or_insert(found.attempts);
        let asking = self.ask(&**approver, &found, asked, review);
        let approval = unless_cancelled(cancel, asking).await??;
        let has_reviewed = matches!(
            approval,
            Approval::AllowedBy(_) | Approval::AllowedWithReason { .. }
        );
        self.accept(approval, &found.action, asked).await?;
        Ok(has_reviewed)
    }

    async fn ask(
        &self,
        approver: &dyn Approver,
        found: &StackedAction,
        asked: &Asked,
        review: Option<&Reviewed>,
    ) -> Result<Approval, Error> {
        let action = &found.action;
        let records = self.base.records()?;
        let call = records.call_record(self.base.id(), &action.id).await?;
        let effects = review.and_then(|review| review.effects_of(action));
        let selection = &asked.resolution.selection;
        let part = effects.filter(|_| !selection.is_everything());
        let part = part.map(|effects| selection.of(effects));
        let request = ApprovalRequest {
            session: self.base.id(),
            workspace: self.base.place.path(),
            action: found,
            resolution: &asked.resolution,
            call: call.as_ref(),
            effects: part.as_ref().or(effects),
        };
        Ok(if asked.is_by_model() {
            approver.approve(&request).await
        } else {
            approver.admit(&request, &asked.decided_by).await
        })
    }

    /// Makes the approved decision that of its decider.
    ///
    /// # Errors
    /// The approver's answer, if it doesn't approve. A denial is already recorded.
    async fn accept(
        &self,
        approval: Approval,
        action: &PendingAction,
        asked: &mut Asked,
    ) -> Result<(), Error> {
        let named = || Box::new(NamedAction::from(action));
        let refused = |reason| Error::Refused {
            action: named(),
            reason,
        };
        match approval {
            Approval::Allow => Ok(()),
            Approval::AllowedBy(somebody) => {
                asked.decided_by = somebody;
                Ok(())
            }
            Approval::AllowedWithReason { decided_by, reason } => {
                check_reason(&reason, self.base.limits())?;
                asked.decided_by = decided_by;
                asked.resolution.reason = reason;
                Ok(())
            }
            Approval::Refuse { reason } => {
                let denial = asked.denial(DeniedBy::Rule, &reason);
                self.base.record_denial(action, denial).await;
                Err(refused(reason))
            }
            Approval::Decline {
                decided_by,
                reason,
                advice,
            } => {
                let denial = asked.denial(DeniedBy::Person(decided_by), &reason);
                self.base.record_denial(action, denial).await;
                Err(refused(if advice.is_empty() {
                    reason
                } else {
                    format!("{reason}. {advice}")
                }))
            }
            Approval::Drop { reason } => Err(refused(reason)),
            Approval::NeedsPerson { how } => {
                self.turns.leave_to_a_person(&action.id);
                Err(Error::NeedsPerson {
                    action: named(),
                    how,
                })
            }
        }
    }
}

impl Asked {
    fn denial(&self, denied_by: DeniedBy, reason: &str) -> Denial {
        Denial::new(&self.resolution, self.decided_by.clone(), denied_by, reason)
    }
}
