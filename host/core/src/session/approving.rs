//! Approval of applies, and whose decision they are.

use std::path::Path;
use std::sync::Arc;

use airlock_model::actor::{Actor, DecidedBy};
use airlock_model::call_record::CallRecord;
use airlock_model::denial::{Denial, DeniedBy};
use airlock_model::effects::Effects;
use airlock_model::error::Error;
use airlock_model::pending::{
    ActionId, Decision, NamedAction, PendingAction, Resolution, SessionId, StackedAction,
};
use airlock_model::store::PendingStore;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::lease::{Asked, HeldLease};
use super::review::Review;
use super::{Session, resolve};
use crate::instance::unless_cancelled;

/// Approves applies, in particular those that a model wants. The embedder implements it to control
/// who decides.
///
/// It is not asked about a model's discard, which has no effect, or about decisions of a
/// [`StandingHandler`](super::StandingHandler), which is the embedder's own code.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Decides whether the action may be applied. Meanwhile the action stays on its stack,
    /// unclaimed, so that others can resolve it; in that case the model is informed. Cancelling the
    /// call drops the future.
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval;

    /// Decides whether to carry out an apply that was not decided by a model, based on this
    /// evidence. Embedders can ask for more evidence for some effects. Meanwhile the action stays
    /// on its stack, unclaimed.
    ///
    /// Default: allow.
    async fn admit(&self, _request: &ApprovalRequest<'_>, _decided_by: &DecidedBy) -> Approval {
        Approval::Allow
    }

    /// Decides whether to commit the changes of an apply. Called only if the host has not seen
    /// these effects before: the action is volatile or [not
    /// rehearsed](crate::policy::Rehearse::Never), or its rehearsal failed. It applies to every
    /// decision, including a person's. The tool has already run. Its changes to the workspace are
    /// not visible yet; effects elsewhere have happened.
    ///
    /// Default: commit.
    async fn confirm(&self, _request: &ConfirmRequest<'_>) -> Confirmation {
        Confirmation::Commit
    }

    /// Decides whether the changes may still be committed. Called before every commit, unless
    /// [`confirm`](Self::confirm) has just allowed it. The workspace is locked during the call.
    /// Other files may have changed since the decision. For example, a changed file may have a new
    /// link. Don't ask a person here, and return quickly.
    ///
    /// Default: commit.
    async fn recheck(&self, _request: &ConfirmRequest<'_>) -> Confirmation {
        Confirmation::Commit
    }
}

/// The changes of an apply that are about to be committed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConfirmRequest<'a> {
    /// The session that has the action on its stack.
    pub session: &'a SessionId,
    /// The workspace in which it is applied, as an absolute path without links.
    pub workspace: Option<&'a Path>,
    /// The action.
    pub action: &'a PendingAction,
    /// The decision.
    pub resolution: &'a Resolution,
    /// The decider, with evidence.
    pub decided_by: &'a DecidedBy,
    /// The changes, including file contents; not empty.
    pub effects: &'a Effects,
}

/// An [`Approver`]'s answer about the changes of an apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// Commits the changes to the workspace.
    Commit,
    /// Drops the changes: the workspace stays as it was, and the action is still pending. This is
    /// not a denial and is not recorded. Use it if the decision has to be made again, for example.
    Drop {
        /// The reason, as a clause for the decider.
        reason: String,
    },
    /// Drops the changes because a rule refuses them. The denial is
    /// [recorded](PendingStore::record_denial).
    Refuse {
        /// The rule, as a clause for the decider.
        reason: String,
    },
    /// Drops the changes because a person was asked and said no. The denial is
    /// [recorded](PendingStore::record_denial).
    Decline {
        /// The person.
        decided_by: DecidedBy,
        /// The reason, as a clause for the decider.
        reason: String,
    },
}

/// A request to apply an action.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The session that has the action on its stack.
    pub session: &'a SessionId,
    /// The workspace in which it would be applied, as an absolute path without links.
    pub workspace: Option<&'a Path>,
    /// The action.
    pub action: &'a StackedAction,
    /// The decision, with its reason and any extra data.
    pub resolution: &'a Resolution,
    /// The call that previewed the action, with the full preview. Show it to the person who is
    /// asked. `None` for an action of an older version.
    pub call: Option<&'a CallRecord>,
    /// The effects that the host saw in the [rehearsal](crate::policy::Rehearse), including file
    /// contents. `None` without a rehearsal: then only the tool's own preview is known.
    pub effects: Option<&'a Effects>,
}

/// An [`Approver`]'s answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// Lets the decider's own decision stand.
    Allow,
    /// Another actor made the decision, and it is recorded as theirs.
    AllowedBy(DecidedBy),
    /// Another actor made the decision and gave a reason. The tool and the record get this reason
    /// instead of the model's.
    AllowedWithReason {
        /// The decider.
        decided_by: DecidedBy,
        /// The reason.
        reason: String,
    },
    /// A rule of the embedder or the operator refuses it. The action stays as it was, the model
    /// gets the reason, and the denial is [recorded](PendingStore::record_denial).
    Refuse {
        /// The rule, as a clause for the model.
        reason: String,
    },
    /// A person was asked and said no. The action stays as it was, the model gets the reason, and
    /// the denial is [recorded](PendingStore::record_denial).
    Decline {
        /// The person.
        decided_by: DecidedBy,
        /// The reason, as a clause for the model.
        reason: String,
        /// More sentences for the model, which are not recorded. May be empty.
        advice: String,
    },
    /// Leaves the action as it was. This is not a denial and is not recorded. Use it if a decision
    /// about another action was made instead, for example.
    Drop {
        /// The reason, as a clause for the model.
        reason: String,
    },
    /// Returns from the call at once, without a claim.
    NeedsPerson {
        /// The person who must decide, and the way to do it, as sentences for the model.
        how: String,
    },
}

/// How often another session may interfere before the store counts as inconsistent.
const ROUNDS: usize = 16;

/// How to proceed with a decision.
pub(super) enum Approved {
    /// No approval is needed.
    GoOn,
    /// Carry it out, unless the number of attempts has changed since the approval.
    Shown {
        attempts: u32,
        /// Whether the approval was for exactly these effects.
        has_reviewed: bool,
    },
    /// Nothing was pending. Actions that were pushed since are not approved.
    NothingPending,
}

impl Approved {
    /// Returns whether the approval was for the action's current effects.
    pub fn has_reviewed(&self) -> bool {
        match self {
            Approved::Shown { has_reviewed, .. } => *has_reviewed,
            Approved::GoOn | Approved::NothingPending => false,
        }
    }
}

impl Session {
    /// Asks the approver, if one is needed. After that, the resolution names the action that was
    /// asked about.
    ///
    /// # Errors
    /// [`Error::Refused`] and [`Error::NeedsPerson`]; the errors of a claim if the action can't be
    /// resolved; [`Error::Cancelled`].
    pub(super) async fn ask_approver(
        &self,
        store: &Arc<dyn PendingStore>,
        resolution: &mut Resolution,
        decided_by: &mut DecidedBy,
        review: Option<&Review>,
        cancel: Option<&CancellationToken>,
    ) -> Result<Approved, Error> {
        let Some(approver) = &self.inner.approver else {
            return Ok(Approved::GoOn);
        };
        if resolution.decision != Decision::Apply {
            return Ok(Approved::GoOn);
        }
        let found = match &resolution.id {
            Some(id) => self.find(store, id, resolution, decided_by).await?,
            None => match store.peek(self.id()).await? {
                Some(top) => top,
                None => return Ok(Approved::NothingPending),
            },
        };
        let action = &found.action;
        let call = store.call_record(self.id(), &action.id).await?;
        resolution.id = Some(action.id.clone());
        let request = ApprovalRequest {
            session: self.id(),
            workspace: self.workspace(),
            action: &found,
            resolution,
            call: call.as_ref(),
            effects: review.and_then(|review| review.effects_of(action)),
        };
        let approval = match decided_by.actor {
            Actor::Model => approver.approve(&request),
            _ => approver.admit(&request, decided_by),
        };
        let approval = unless_cancelled(cancel, approval).await?;
        let named = || Box::new(NamedAction::from(&**action));
        let has_reviewed = matches!(
            approval,
            Approval::AllowedBy(_) | Approval::AllowedWithReason { .. }
        );
        match approval {
            Approval::Allow => {}
            Approval::AllowedBy(somebody) => *decided_by = somebody,
            Approval::AllowedWithReason {
                decided_by: somebody,
                reason,
            } => {
                resolve::check_reason(&reason, &self.inner.limits)?;
                *decided_by = somebody;
                resolution.reason = reason;
            }
            Approval::Refuse { reason } => {
                let asked_by = decided_by.clone();
                let denial = Denial::new(resolution, asked_by, DeniedBy::Rule, &reason);
                self.record_denial(action, denial).await;
                return Err(refused(named(), reason));
            }
            Approval::Decline {
                decided_by: person,
                reason,
                advice,
            } => {
                let (asked_by, person) = (decided_by.clone(), DeniedBy::Person(person));
                let denial = Denial::new(resolution, asked_by, person, &reason);
                self.record_denial(action, denial).await;
                let reason = if advice.is_empty() {
                    reason
                } else {
                    format!("{reason}. {advice}")
                };
                return Err(refused(named(), reason));
            }
            Approval::Drop { reason } => return Err(refused(named(), reason)),
            Approval::NeedsPerson { how } => {
                self.inner.turns.leave_to_a_person(&action.id);
                return Err(Error::NeedsPerson {
                    action: named(),
                    how,
                });
            }
        }
        Ok(Approved::Shown {
            attempts: found.attempts,
            has_reviewed,
        })
    }

    /// Returns the action with this id from the stack.
    pub(super) async fn find(
        &self,
        store: &Arc<dyn PendingStore>,
        id: &ActionId,
        resolution: &Resolution,
        decided_by: &DecidedBy,
    ) -> Result<StackedAction, Error> {
        for _ in 0..ROUNDS {
            if let Some(found) = self.stacked(&**store, Some(id)).await? {
                return Ok(found);
            }
            // Only a claim says why it is missing.
            let asked = Asked::now(store);
            let claim = store.claim(self.id(), resolution, decided_by).await?;
            let claimed = resolve::claimed(claim)?;
            // The action has come back, and it was not approved.
            HeldLease::new(store, claimed.lease, asked).release().await;
        }
        let problem = format!("the action {id} can be claimed, and is not on the stack");
        Err(Error::host("the store contradicts itself", problem))
    }
}

fn refused(action: Box<NamedAction>, reason: String) -> Error {
    Error::Refused { action, reason }
}
