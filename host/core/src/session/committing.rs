//! Puts what an apply has changed into the workspace, once, whatever crashes meanwhile.
//!
//! The commit is known in the workspace by the action's id, with what the store is to be told of
//! it. So an apply whose end the store never heard of is either known there, and then the store is
//! told now, or it never touched a file.

mod confirming;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_model::actor::DecidedBy;
use airlock_model::content::{Content, ResolutionOutcome, ToolResult};
use airlock_model::effects::{Difference, Effects, EffectsRecord};
use airlock_model::error::Error;
use airlock_model::identity::Machine;
use airlock_model::json::Json;
use airlock_model::pending::{Decision, NamedAction, PendingAction, Resolution};
use airlock_model::reads::StaleFile;
use airlock_model::store::StoreError;
use airlock_workspace::{ChangeSet, CommitError, Committed, RecoverError, Ticket, View, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::lease::HeldLease;
use super::resolve::{DecisionSummary, outcome};
use super::stale::stale_files;
use crate::producer::CommitChanges;
use crate::secret::workspace_key;
use crate::workspace::{WorkspaceFolder, changes_of, told};

/// What is kept in the workspace of an apply that was committed.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// Of this record's format.
    version: u32,
    /// The claim under which it was applied.
    lease: u64,
    reason: String,
    extra: Option<Map<String, Value>>,
    /// Who decided: kind, name and evidence.
    decided_by: (String, Option<String>, String),
    content: Vec<Content>,
    details: Option<Json>,
}

const NOTE_VERSION: u32 = 1;

/// An apply that was committed before this one.
pub(super) struct AppliedBefore {
    /// None where the store was told of it, and has been restored from a backup since.
    note: Option<Note>,
}

/// What a commit did.
pub(super) struct Seen {
    pub effects: Effects,
    /// As of [`ResolutionOutcome::kept`].
    pub kept: Vec<String>,
}

/// The commit of one claimed action.
pub(super) struct Committing<'a> {
    pub session: &'a Session,
    pub held: &'a HeldLease<'a>,
    pub action: &'a Arc<PendingAction>,
    pub resolution: &'a Resolution,
    pub decided_by: &'a DecidedBy,
    /// What whoever decided has seen, where the host rehearsed it.
    pub reviewed: Option<&'a EffectsRecord>,
    /// What was committed.
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
        let Some(folder) = self.session.inner.workspace.clone() else {
            return Ok(());
        };
        let ticket = Ticket {
            id: self.action.id.as_str().to_owned(),
            note: self.note(result)?,
        };
        let confirm = self.held.confirm();
        let runtime = Handle::current();
        let reviewed = self.reviewed.map(|it| &it.effects);
        let (reviewed, recheck) = match reviewed.filter(|it| it.verified).cloned() {
            // Changes that are confirmed now are judged now.
            None => (self.confirmed(&changes, &folder).await?, None),
            reviewed => (reviewed, self.recheck()),
        };
        let action = NamedAction::from(&**self.action);
        // Asked before the guest ran, and once more now that nobody else commits. What it changes
        // itself is compared anyway.
        let store = self.session.store()?;
        let mut basis = self
            .session
            .basis(store, self.action, self.reviewed)
            .await?;
        basis.changes.clear();
        let time = self.session.inner.limits.call_time;
        let committed = in_background(move || {
            let workspace = open(&folder)?;
            let check = |found: &ChangeSet| {
                let found = Effects::verified(told(found));
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
                // Asked under the workspace's lock: who has the claim now looks there before it
                // does anything, so that one of both sees the other.
                runtime.block_on(confirm).map_err(NotCommitted::Lost)
            };
            match changes.commit_if(&workspace, &ticket, check) {
                Ok(committed) => Ok(committed),
                Err(NotCommitted::Different) => {
                    let before = folder.view();
                    let found = before.and_then(|before| changes_of(&changes, Some(&before)));
                    let found = found.map_err(|error| Error::workspace(folder.path(), &error))?;
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
                Err(error) => Err(Error::from(error)),
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
        let effects = Effects::verified(told(&changes));
        *self.seen() = Some(Seen { effects, kept });
        Ok(())
    }

    /// What was committed, if anything was.
    pub fn take_seen(&self) -> Option<Seen> {
        self.seen().take()
    }

    fn seen(&self) -> MutexGuard<'_, Option<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, result: &ToolResult) -> Result<String, Error> {
        let by = self.decided_by;
        let note = Note {
            version: NOTE_VERSION,
            lease: self.held.token(),
            reason: self.resolution.reason.clone(),
            extra: self.resolution.extra.clone(),
            decided_by: (
                by.actor.kind().to_owned(),
                by.actor.name().map(str::to_owned),
                by.evidence.as_str().to_owned(),
            ),
            content: result.content.clone(),
            details: result.details.clone(),
        };
        serde_json::to_string(&note)
            .map_err(|error| Error::host("could not write down the result", error))
    }
}

impl Session {
    /// Whether an apply of this action is in the workspace, though its store doesn't know. What a
    /// crash has cut off is finished first, and who is committing waited for: they asked the store
    /// for their claim before this one was ours, or will find that it is not theirs.
    pub(super) async fn committed_before(
        &self,
        action: &PendingAction,
        same_workspace: bool,
    ) -> Result<Option<AppliedBefore>, Error> {
        let Some(folder) = self.folder_of(action, same_workspace) else {
            return Ok(None);
        };
        let id = action.id.as_str().to_owned();
        in_background(move || {
            let workspace = open(&folder)?;
            if !workspace.is_committed(&id).map_err(unrecovered)? {
                return Ok(None);
            }
            let outcomes = workspace.outcomes().map_err(unrecovered)?;
            let found = outcomes.into_iter().find(|outcome| outcome.id == id);
            let note = found.and_then(|outcome| serde_json::from_str::<Note>(&outcome.note).ok());
            let note = note.filter(|note| note.version == NOTE_VERSION);
            Ok(Some(AppliedBefore { note }))
        })
        .await
    }

    /// Where an action was previewed, also where this session has no workspace, or another one.
    /// None where that is gone, or on another machine.
    pub(super) fn folder_of(
        &self,
        action: &PendingAction,
        same_workspace: bool,
    ) -> Option<Arc<WorkspaceFolder>> {
        if let Some(folder) = &self.inner.workspace
            && (same_workspace || self.other_workspace(action).is_none())
        {
            return Some(Arc::clone(folder));
        }
        let machine = self.inner.machine.as_ref();
        let machine = machine.unwrap_or_else(|| Machine::this()).clone();
        let folder = WorkspaceFolder::at(action.workspace.as_deref()?, machine).ok()?;
        let previewed = action.workspace_identity.as_deref();
        match folder.lasting().difference(previewed) {
            None => Some(Arc::new(folder)),
            Some(_) => None,
        }
    }

    /// Tells the store of an apply that was committed before, whatever was decided now.
    pub(super) async fn settle(
        &self,
        held: HeldLease<'_>,
        action: &PendingAction,
        applied: AppliedBefore,
        asked: &Resolution,
    ) -> Result<ResolutionOutcome, Error> {
        let (reason, extra, decided_by, result) = match applied.note {
            Some(note) => {
                let (kind, name, evidence) = note.decided_by;
                let by = DecidedBy::from_columns(Some(&kind), name, Some(&evidence)).ok();
                let result = ToolResult {
                    content: note.content,
                    details: note.details,
                };
                (note.reason, note.extra, by, result)
            }
            None => {
                let text = "It was applied before. The tool's result was not kept.".to_owned();
                let content = vec![Content::Text { text }];
                (
                    String::new(),
                    None,
                    None,
                    ToolResult {
                        content,
                        details: None,
                    },
                )
            }
        };
        let summary = DecisionSummary {
            label: action.label.clone(),
            source_tool_name: Some(action.source_tool_name.clone()),
            reason,
        };
        let mut settled = outcome(Decision::Apply, extra, summary, Some(result));
        settled.action = Some(action.into());
        held.complete_as_applied_before(&settled, decided_by.as_ref())
            .await?;
        self.forget_commit(action, asked.same_workspace).await;
        match asked.decision {
            Decision::Apply => Ok(settled),
            Decision::Discard => Err(Error::AlreadyResolved {
                id: action.id.clone(),
                decision: Decision::Apply,
            }),
        }
    }

    /// The store knows of it, so that the workspace needn't keep it any longer.
    pub(super) async fn forget_commit(&self, action: &PendingAction, same_workspace: bool) {
        let Some(folder) = self.folder_of(action, same_workspace) else {
            return;
        };
        let id = action.id.as_str().to_owned();
        let forgotten = in_background(move || {
            if folder
                .has_private()
                .map_err(|error| Error::workspace(folder.path(), &error))?
            {
                open(&folder)?.take_outcome(&id).map_err(unrecovered)?;
            }
            Ok(())
        });
        if let Err(error) = forgotten.await {
            tracing::warn!("could not remove a record from the workspace: {error}");
        }
    }
}

/// Why nothing was committed.
enum NotCommitted {
    Lost(StoreError),
    /// What would be committed is not what was reviewed.
    Different,
    /// What it was made from has changed.
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

impl From<NotCommitted> for Error {
    fn from(error: NotCommitted) -> Self {
        match error {
            NotCommitted::Lost(error) => Error::Store(error),
            NotCommitted::Different | NotCommitted::Stale(_) => Error::NotCommitted {
                reason: "it differs from the review".to_owned(),
            },
            NotCommitted::Unreadable(error) => error,
            NotCommitted::Refused(reason) => Error::NotCommitted { reason },
            NotCommitted::Commit(error) => Error::NotCommitted {
                reason: error.to_string(),
            },
        }
    }
}

pub(super) fn unrecovered(error: RecoverError) -> Error {
    Error::NotCommitted {
        reason: error.to_string(),
    }
}

pub(super) fn open(folder: &Arc<WorkspaceFolder>) -> Result<Workspace, Error> {
    let key = workspace_key().map_err(|error| Error::NotCommitted {
        reason: format!("there is no key to sign the record of it with: {error}"),
    })?;
    folder
        .open(&key)
        .map_err(|error| Error::workspace(folder.path(), &error))
}

/// Files are synced, and other programs waited for: on a thread that may block.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Error::host("could not commit", error)),
        },
    }
}
