//! Commits the changes of an apply to the workspace exactly once, even across crashes.
//!
//! The workspace records the commit under the action's id, together with the data for the store. If
//! the end of an apply was not recorded in the store, then either the workspace has the record, and
//! the store is updated now, or the apply never touched a file.

mod confirm;

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use airlock_model::content::ToolResult;
use airlock_model::effects::{Difference, Effects, EffectsRecord};
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
use crate::workspace::{changes_of, listed_changes};

/// The result of a commit.
pub(super) struct Seen {
    pub effects: Effects,
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
        let ticket = Ticket {
            id: self.held.action.id.as_str().to_owned(),
            note: encode(
                self.held.lease.token(),
                &self.asked.resolution,
                &self.asked.decided_by,
                result,
            )?,
            title: self.held.action.label.to_string(),
            originals: self.decisions.base.place.undo.map(|it| Retention {
                time: it.time,
                bytes: it.bytes,
            }),
        };
        let confirm = self.held.lease.confirm();
        let runtime = Handle::current();
        let reviewed = self.reviewed.map(|it| &it.effects);
        let (reviewed, recheck) = match reviewed.filter(|it| it.verified).cloned() {
            // `confirmed` asks about these changes just now, so no recheck is needed.
            None => (self.confirmed(&changes, &folder).await?, None),
            reviewed => (reviewed, self.recheck()),
        };
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
                if let Some(reviewed) = &reviewed
                    && !reviewed.is_same(&found)
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
                Err(NotCommitted::Different) => {
                    let before = folder.view();
                    let found = before.and_then(|before| changes_of(&changes, Some(&before)));
                    let found = found.map_err(|error| Error::workspace(folder.path(), error))?;
                    let now = Effects::verified(found);
                    let difference = Difference::new(reviewed.unwrap_or_default(), now, true);
                    Err(Error::Different {
                        action: Box::new(action),
                        difference: Box::new(difference),
                    })
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
        *self.lock() = Some(Seen { effects, kept });
        Ok(())
    }

    /// Takes the committed effects, if there are any.
    pub fn take_seen(&self) -> Option<Seen> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
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
