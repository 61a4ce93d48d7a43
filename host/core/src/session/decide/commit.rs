//! Commits the changes of an apply to the workspace exactly once, even across crashes.
//!
//! The workspace records the commit under the action's id, together with the data for the store. If
//! the end of an apply was not recorded in the store, then either the workspace has the record, and
//! the store is updated now, or the apply never touched a file.

mod confirm;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_model::content::ToolResult;
use airlock_model::effects::{AppliedPart, Difference, Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::NamedAction;
use airlock_model::reads::StaleFile;
use airlock_model::store::StoreError;
use airlock_workspace::{Change, CommitError, Committed, Retention, Ticket, View};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::approve::Asked;
use super::claim::HeldAction;
use crate::producer::CommitChanges;
use crate::session::place::{encode, in_background, open};
use crate::session::review::stale_files;
use crate::workspace::{
    Part, Step, WorkspaceFolder, changes_of, in_order, listed_changes, rest_of,
};

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
        let part = self.part(reviewed.as_ref(), &changes, &folder).await?;
        let (expected, part, rest) = match part {
            Some((part, rest)) => (Some(part.effects), Some(part.applied), rest),
            None => (reviewed, None, Vec::new()),
        };
        let ticket = self.ticket(result, part.clone())?;
        let is_part = part.is_some();
        let action = NamedAction::from(&*self.held.action);
        // Checked before the guest ran, and again now that no other commit can run. The action's
        // own changes are compared anyway.
        let reviews = &self.decisions.reviews;
        let mut basis = reviews.basis(&self.held.action, self.reviewed).await?;
        basis.changes.clear();
        let time = self.decisions.base.limits().call_time;
        let committed = in_background(move || {
            let workspace = open(&folder)?;
            let check = |found: &[Change]| {
                let found = Effects::verified(listed_changes(found));
                if let Some(expected) = &expected
                    && !expected.is_same(&found)
                {
                    return Err(NotCommitted::Different);
                }
                let stale = stale_files(&basis, &folder, time).map_err(NotCommitted::Unreadable)?;
                if !stale.is_empty() {
                    return Err(NotCommitted::Stale(stale));
                }
                if let Some(recheck) = &recheck {
                    let asking = recheck.ask(&found);
                    runtime.block_on(asking).map_err(NotCommitted::Refused)?;
                }
                // Asked under the workspace's lock: the current holder of the claim looks there
                // before it does anything, so one of the two sees the other.
                runtime.block_on(confirm).map_err(NotCommitted::Lost)
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
                Err(NotCommitted::Stale(files)) => Err(Error::Stale {
                    action: Box::new(action),
                    files,
                }),
                Err(NotCommitted::Refused(reason)) => Err(Error::Refused {
                    action: Box::new(action),
                    reason,
                }),
                Err(NotCommitted::Lost(error)) => Err(error.into()),
                Err(NotCommitted::Unreadable(error)) => Err(error),
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
    Lost(StoreError),
    /// The changes differ from the reviewed ones.
    Different,
    /// Inputs of the action have changed.
    Stale(Vec<StaleFile>),
    Unreadable(Error),
    /// The approver rejected it, with the reason.
    Refused(String),
    Commit(CommitError),
}

impl From<CommitError> for NotCommitted {
    fn from(error: CommitError) -> Self {
        NotCommitted::Commit(error)
    }
}
