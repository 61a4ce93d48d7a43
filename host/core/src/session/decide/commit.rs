//! Commits the changes of an apply to the workspace exactly once, even across crashes.
//!
//! The workspace records the commit under the action's id, together with the data for the store. If
//! the end of an apply was not recorded in the store, then either the workspace has the record, and
//! the store is updated now, or the apply never touched a file.

mod confirm;
mod last_check;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_model::content::ToolResult;
use airlock_model::effects::{Answer, AppliedPart, Difference, Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::{NamedAction, Resolution};
use airlock_model::store::StoreError;
use airlock_workspace::{Change, CommitError, Committed, Retention, Ticket, View};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::approve::Asked;
use super::claim::HeldAction;
use crate::producer::CommitChanges;
use crate::session::place::{encode, in_background, open};
use crate::workspace::{
    Part, Step, WorkspaceFolder, changes_of, in_order, listed_changes, rest_of,
};
pub(super) use last_check::LastCheck;

/// The result of a commit.
pub(super) struct Seen {
    pub effects: Effects,
    /// The part of the reviewed effects that this is; `None` for all of them.
    pub part: Option<AppliedPart>,
    /// The rest of the part, if it is to be kept.
    pub rest: Vec<Step>,
    /// The value of [`ResolutionOutcome::kept`].
    pub kept: Vec<String>,
}

/// The commit of one claimed action.
pub(super) struct Committing<'a> {
    pub decisions: &'a Decisions,
    pub held: &'a HeldAction<'a>,
    pub asked: &'a Asked,
    /// The effects that the decider saw, if the host rehearsed the action.
    pub reviewed: Option<&'a EffectsRecord>,
    /// The committed effects.
    pub seen: Mutex<Option<Seen>>,
    pub cancel: Option<&'a CancellationToken>,
}

impl CommitChanges for Committing<'_> {
    fn commit<'a>(
        &'a self,
        changes: View,
        result: &'a ToolResult,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>> {
        Box::pin(self.commit(changes, result))
    }
}

impl Committing<'_> {
    async fn commit(&self, changes: View, result: &ToolResult) -> Result<(), Error> {
        let Some(folder) = self.decisions.base.place.workspace.clone() else {
            return Ok(());
        };
        let confirm = self.held.lease.confirm();
        let runtime = Handle::current();
        let reviewed = self.reviewed.map(|it| &it.effects);
        let (reviewed, recheck) = match reviewed.filter(|it| it.verified).cloned() {
            // `confirmed` asks about these changes just now, so no recheck is needed.
            None => (self.confirmed(&changes, &folder).await?, None),
            reviewed => (reviewed, self.recheck()),
        };
        self.check_answer(result, &changes, &folder).await?;
        let part = self.part(reviewed.as_ref(), &changes, &folder).await?;
        let (expected, part, rest) = match part {
            Some((part, rest)) => (Some(part.effects), Some(part.applied), rest),
            None => (reviewed, None, Vec::new()),
        };
        let ticket = self.ticket(result, part.clone())?;
        let is_part = part.is_some();
        let action = NamedAction::from(&*self.held.action);
        let last_check = LastCheck::of(self, recheck).await?;
        let committed = in_background(move || {
            let workspace = open(&folder)?;
            let check = |found: &[Change]| {
                let found = Effects::verified(listed_changes(found));
                if let Some(expected) = &expected
                    && !expected.is_same(&found)
                {
                    return Err(NotCommitted::Different);
                }
                let checked = last_check.run(&folder, &found, &runtime);
                checked.map_err(NotCommitted::Failed)?;
                // Asked under the workspace's lock: the current holder of the claim looks there
                // before it does anything, so one of the two sees the other.
                runtime.block_on(confirm).map_err(NotCommitted::from)
            };
            match changes.commit_if(&workspace, &ticket, check) {
                Ok(committed) => Ok(committed),
                Err(NotCommitted::Different) if is_part => Err(Error::Refused {
                    action: Box::new(action),
                    reason: "this part of it can't be applied alone".to_owned(),
                }),
                Err(NotCommitted::Different) => {
                    let expected = expected.unwrap_or_default();
                    Err(different(action, expected, &changes, &folder))
                }
                Err(NotCommitted::Failed(error)) => Err(error),
                Err(NotCommitted::Commit(error)) => Err(Error::not_committed(error)),
            }
        });
        let Committed {
            changes,
            not_cleaned_up,
            kept,
            ..
        } = committed.await?;
        if let Some(error) = not_cleaned_up {
            tracing::warn!(
                "the changes are in place, and a commit is still to be cleaned up: {error}"
            );
        }
        let effects = Effects::verified(listed_changes(&changes));
        *self.lock() = Some(Seen {
            effects,
            part,
            rest,
            kept,
        });
        Ok(())
    }

    /// Checks that the tool gives the same answer as in the rehearsal. With extra data, which the
    /// rehearsal didn't have, it may give another one.
    async fn check_answer(
        &self,
        result: &ToolResult,
        changes: &View,
        folder: &Arc<WorkspaceFolder>,
    ) -> Result<(), Error> {
        let Some(reviewed) = self.reviewed.map(|it| &it.effects) else {
            return Ok(());
        };
        let Resolution { reason, extra, .. } = &self.asked.resolution;
        let mut answer = reviewed.answer.iter();
        if extra.is_some() || answer.all(|answer| answer.is_of(result, reason)) {
            return Ok(());
        }
        let (changes, folder) = (changes.clone(), Arc::clone(folder));
        let mut now = in_background(move || effects_of(&changes, &folder)).await?;
        now.answer = Some(Box::new(Answer::of(result)));
        Err(Error::Different {
            action: Box::new(NamedAction::from(&*self.held.action)),
            difference: Box::new(Difference::new(reviewed.clone(), now, true)),
        })
    }

    pub fn ticket(&self, result: &ToolResult, part: Option<AppliedPart>) -> Result<Ticket, Error> {
        let Asked {
            resolution,
            decided_by,
        } = self.asked;
        let action = &self.held.action;
        Ok(Ticket {
            id: action.id.as_str().to_owned(),
            note: encode(
                self.held.lease.token(),
                resolution,
                decided_by,
                result,
                part,
            )?,
            title: action.label.to_string(),
            others: Vec::new(),
            originals: self.decisions.base.place.undo.map(|it| Retention {
                time: it.time,
                bytes: it.bytes,
            }),
        })
    }

    /// Reduces the layer to the selected part of the reviewed effects. Returns `None` if everything
    /// is selected, and otherwise also the rest, if it is to be kept.
    async fn part(
        &self,
        reviewed: Option<&Effects>,
        changes: &View,
        folder: &Arc<WorkspaceFolder>,
    ) -> Result<Option<(Part, Vec<Step>)>, Error> {
        let selection = self.asked.resolution.selection.clone();
        if selection.is_everything() {
            return Ok(None);
        }
        let keeps_rest = self.asked.resolution.keep_rest;
        let reviewed = reviewed.cloned().unwrap_or_default();
        let (changes, folder) = (changes.clone(), Arc::clone(folder));
        let action = NamedAction::from(&*self.held.action);
        in_background(move || {
            let unreadable = |error| Error::workspace(folder.path(), error);
            let found = in_order(changes.changes().map_err(unreadable)?);
            if !reviewed.is_same(&Effects::verified(listed_changes(&found))) {
                return Err(different(action, reviewed, &changes, &folder));
            }
            let before = folder.view().map_err(unreadable)?;
            let part = Part::of(&selection, &reviewed, (&before, &changes));
            let rest = part.and_then(|part| {
                let rest = if keeps_rest {
                    rest_of(&selection, &reviewed, &changes)?
                } else {
                    Vec::new()
                };
                Ok((part, rest))
            });
            let (part, rest) = rest.map_err(|reason| Error::Refused {
                action: Box::new(action),
                reason,
            })?;
            part.keep_in(&changes, &found).map_err(unreadable)?;
            Ok(Some((part, rest)))
        })
        .await
    }

    /// Takes the committed effects, if there are any.
    pub fn take_seen(&self) -> Option<Seen> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the effects of a layer, with diffs.
fn effects_of(changes: &View, folder: &WorkspaceFolder) -> Result<Effects, Error> {
    let before = folder.view();
    let found = before.and_then(|before| changes_of(changes, &before));
    let found = found.map_err(|error| Error::workspace(folder.path(), error));
    found.map(Effects::verified)
}

/// Returns the error for an apply that differs from its review.
fn different(
    action: NamedAction,
    reviewed: Effects,
    changes: &View,
    folder: &WorkspaceFolder,
) -> Error {
    match effects_of(changes, folder) {
        Ok(now) => Error::Different {
            action: Box::new(action),
            difference: Box::new(Difference::new(reviewed, now, true)),
        },
        Err(error) => error,
    }
}

/// The reason why nothing was committed.
enum NotCommitted {
    /// The changes differ from the reviewed ones.
    Different,
    /// A check failed, or the claim is lost.
    Failed(Error),
    Commit(CommitError),
}

impl From<CommitError> for NotCommitted {
    fn from(error: CommitError) -> Self {
        NotCommitted::Commit(error)
    }
}

impl From<StoreError> for NotCommitted {
    fn from(error: StoreError) -> Self {
        NotCommitted::Failed(error.into())
    }
}
