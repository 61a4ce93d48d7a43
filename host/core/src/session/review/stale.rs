//! Checks, before a guest runs, that an action still matches its preview.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use airlock_model::effects::{Difference, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::pending::{
    ActionId, ActionState, CallId, NamedAction, PendingAction, StackedAction,
};
use airlock_model::reads::StaleFile;
use airlock_model::store::{ActionBasis, BackendErrorKind, StoreError};
use tokio_util::sync::CancellationToken;

use super::Reviews;
use super::rehearsing::Keeping;
use super::siblings::Left;
use crate::instance::unless_cancelled;
use crate::session::place::in_background;
use crate::workspace::{Basis, FilesNow, WorkspaceFolder, has_changed};

/// Number of actions per store query.
const ASKED_AT_ONCE: usize = 128;

/// The result of comparing the workspace with the inputs of an action.
enum Freshness {
    AsItWas,
    /// An input of the rehearsal may have changed, but none of the action's own files.
    Moved,
    Stale(Vec<StaleFile>),
}

impl Reviews {
    /// Returns the files of a pending action that have changed since its preview.
    pub async fn stale_files(&self, id: &ActionId) -> Result<Vec<StaleFile>, Error> {
        let records = self.base.records()?;
        let found = self.base.stack.find(Some(id)).await?;
        let Some(found) = found else {
            return Ok(Vec::new());
        };
        let Some(folder) = self.base.place.workspace_of(&found.action, false) else {
            return Ok(Vec::new());
        };
        let mut known = records
            .bases(self.base.id(), std::slice::from_ref(id))
            .await?;
        let mut basis = Basis::from(known.pop().unwrap_or_default());
        let left = self.left_by_siblings(&found.action).await?;
        basis.left_by_others.extend(left);
        let time = self.base.limits().call_time;
        in_background(move || stale_files(&basis, &folder, time)).await
    }

    /// Returns the changed files of every pending action that was previewed in this workspace, by
    /// action. Compares each file once.
    pub async fn all_stale_files(&self) -> Result<BTreeMap<ActionId, Vec<StaleFile>>, Error> {
        let (records, Some(folder)) = (self.base.records()?, self.base.place.workspace.clone())
        else {
            return Ok(BTreeMap::new());
        };
        let mut pending = self.base.stack.list().await?;
        pending.retain(|it| {
            it.state == ActionState::Pending
                && self.base.place.other_workspace(&it.action).is_none()
        });
        let ids: Vec<_> = pending.iter().map(|it| it.action.id.clone()).collect();
        let mut bases = Vec::new();
        while let Some(left) = ids.get(bases.len()..).filter(|left| !left.is_empty()) {
            let asked = &left[..left.len().min(ASKED_AT_ONCE)];
            let known = records.bases(self.base.id(), asked).await?;
            if known.is_empty() {
                let problem = format!("returned nothing about {} actions", asked.len());
                let broken =
                    StoreError::backend(BackendErrorKind::Other, "of this session", problem);
                return Err(broken.into());
            }
            let known = asked.iter().zip(known);
            bases.extend(known.map(|(id, known)| (id.clone(), Basis::from(known))));
        }
        share_notes(&pending, &mut bases);
        bases.retain(|(_, basis)| !basis.has_no_files());
        let time = self.base.limits().call_time;
        in_background(move || {
            let view = folder.view();
            let view = view.map_err(|error| Error::workspace(folder.path(), error))?;
            let files = FilesNow::new(&view, time);
            let stale = bases.into_iter().map(|(id, basis)| {
                let stale = basis.stale(&files);
                let stale = stale.map_err(|error| Error::workspace(folder.path(), error))?;
                Ok((id, stale))
            });
            stale.collect()
        })
        .await
    }

    /// Returns the review of an action that is to be applied. Rehearses the action again if the
    /// result may differ now.
    ///
    /// # Errors
    /// [`Error::Stale`]; [`Error::Different`] if the new rehearsal has another result, which then
    /// becomes the review; the errors of the store and the workspace.
    pub(super) async fn current_review(
        &self,
        found: &StackedAction,
        review: Option<EffectsRecord>,
        same_workspace: bool,
        cancel: Option<&CancellationToken>,
    ) -> Result<Option<EffectsRecord>, Error> {
        let action = &found.action;
        let Some(folder) = self.base.place.workspace_of(action, same_workspace) else {
            return Ok(review);
        };
        // An earlier apply changed these files itself; the claim reports that.
        if found.attempts > 0
            && self
                .base
                .place
                .committed_before(action, same_workspace)
                .await?
                .is_some()
        {
            return Ok(review);
        }
        let basis = self.basis(action, review.as_ref()).await?;
        if basis.is_empty() {
            return Ok(review);
        }
        let is_verified = review.as_ref().is_some_and(|it| it.effects.verified);
        let time = self.base.limits().call_time;
        let standing = move || standing(&basis, &folder, time, is_verified);
        match in_background(standing).await? {
            Freshness::AsItWas => Ok(review),
            // Another caller has applied it in the meantime; the claim reports that.
            Freshness::Stale(_) if !self.base.stack.waits_as(found).await? => Ok(review),
            Freshness::Stale(files) => {
                let moving = self.moved(found, review.as_ref(), &files, cancel);
                match Box::pin(moving).await? {
                    Some(moved) => Ok(Some(moved)),
                    None => Err(Error::Stale {
                        action: Box::new(NamedAction::from(&**action)),
                        files,
                    }),
                }
            }
            Freshness::Moved => match review {
                Some(review) => {
                    let again = Box::pin(self.again(found, review.clone(), cancel)).await;
                    match again {
                        Err(Error::Different { .. })
                            if !self.base.stack.waits_as(found).await? =>
                        {
                            Ok(Some(review))
                        }
                        again => Ok(Some(again?)),
                    }
                }
                None => Ok(None),
            },
        }
    }

    pub async fn basis(
        &self,
        action: &PendingAction,
        review: Option<&EffectsRecord>,
    ) -> Result<Basis, Error> {
        let records = self.base.records()?;
        let call = records.call_record(self.base.id(), &action.id).await?;
        let read = call.map(|call| call.read).unwrap_or_default();
        let has_read = !read.files.is_empty();
        let mut basis = Basis::from(ActionBasis::new(Arc::new(read), review.cloned()));
        if has_read {
            let left = self.left_by_siblings(action).await?;
            basis.left_by_others.extend(left);
        }
        Ok(basis)
    }

    /// Rehearses the action again, if possible here.
    async fn again(
        &self,
        found: &StackedAction,
        review: EffectsRecord,
        cancel: Option<&CancellationToken>,
    ) -> Result<EffectsRecord, Error> {
        let Ok(producer) = self.base.tools.producer_of(&found.action).await else {
            // The claim reports the error.
            return Ok(review);
        };
        let Some(folder) = self.rehearsed_in(&found.action, &producer) else {
            // The effects are compared in the apply.
            return Ok(review);
        };
        let before = review.clone();
        let rehearsing = self.rehearse_again(found, producer, folder, before, Keeping::Review);
        let Some(now) = unless_cancelled(cancel, rehearsing).await?? else {
            return Ok(review);
        };
        if now.effects.is_same(&review.effects) {
            Ok(now)
        } else {
            Err(Error::Different {
                action: Box::new(NamedAction::from(&*found.action)),
                difference: Box::new(Difference::new(review.effects, now.effects, false)),
            })
        }
    }
}

/// Shares the notes of one action with all actions of its call.
fn share_notes(pending: &[StackedAction], bases: &mut [(ActionId, Basis)]) {
    let mut noted: HashMap<&CallId, Left> = HashMap::new();
    // The action that was pushed first has the notes.
    for (stacked, (_, basis)) in pending.iter().zip(&*bases).rev() {
        if let Some(call) = &stacked.action.call {
            let left = || basis.left_by_others.clone();
            noted.entry(call).or_insert_with(left);
        }
    }
    for (stacked, (_, basis)) in pending.iter().zip(bases) {
        let call = stacked.action.call.as_ref();
        if let Some(left) = call.and_then(|call| noted.get(call)) {
            basis.left_by_others.extend(left.clone());
        }
    }
}

/// Returns the action's files that have changed, or that can't be read in time.
pub(in crate::session) fn stale_files(
    basis: &Basis,
    folder: &WorkspaceFolder,
    time: Duration,
) -> Result<Vec<StaleFile>, Error> {
    let stale = folder
        .view()
        .and_then(|view| basis.stale(&FilesNow::new(&view, time)));
    stale.map_err(|error| Error::workspace(folder.path(), error))
}

fn standing(
    basis: &Basis,
    folder: &WorkspaceFolder,
    time: Duration,
    is_verified: bool,
) -> Result<Freshness, Error> {
    let stale = stale_files(basis, folder, time)?;
    if !stale.is_empty() {
        return Ok(Freshness::Stale(stale));
    }
    let moved = match &basis.looked_at {
        _ if !is_verified => false,
        None => true,
        Some(looked_at) => {
            let view = folder.view();
            let changed = view.and_then(|view| has_changed(&view, looked_at));
            changed.map_err(|error| Error::workspace(folder.path(), error))?
        }
    };
    Ok(if moved {
        Freshness::Moved
    } else {
        Freshness::AsItWas
    })
}
