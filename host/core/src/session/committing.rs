//! Commits the changes of an apply to the workspace exactly once, even across crashes.
//!
//! The workspace records the commit under the action's id, together with the data for the store. If
//! the store never heard of the end of an apply, then either the workspace has the record, and the
//! store is updated now, or the apply never touched a file.

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

/// The record that a committed apply leaves in the workspace.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// Version of this record's format.
    version: u32,
    /// The claim of the apply.
    lease: u64,
    reason: String,
    extra: Option<Map<String, Value>>,
    /// Who decided: kind, name and evidence.
    decided_by: (String, Option<String>, String),
    content: Vec<Content>,
    details: Option<Json>,
}

const NOTE_VERSION: u32 = 1;

/// An apply that was committed earlier.
pub(super) struct AppliedBefore {
    /// `None` if the store knew of it and has since been restored from a backup.
    note: Option<Note>,
}

/// The result of a commit.
pub(super) struct Seen {
    pub effects: Effects,
    /// As in [`ResolutionOutcome::kept`].
    pub kept: Vec<String>,
}

/// The commit of one claimed action.
pub(super) struct Committing<'a> {
    pub session: &'a Session,
    pub held: &'a HeldLease<'a>,
    pub action: &'a Arc<PendingAction>,
    pub resolution: &'a Resolution,
    pub decided_by: &'a DecidedBy,
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
            // `confirmed` asks about these changes just now, so no recheck is needed.
            None => (self.confirmed(&changes, &folder).await?, None),
            reviewed => (reviewed, self.recheck()),
        };
        let action = NamedAction::from(&**self.action);
        // Checked before the guest ran, and again now that no other commit can run. The action's
        // own changes are compared anyway.
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
                // Asked under the workspace's lock: the current holder of the claim looks there
                // before it does anything, so one of the two sees the other.
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

    /// Takes the committed effects, if there are any.
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
    /// Returns the apply of this action that the workspace has committed without the store's
    /// knowledge, if there is one. Finishes a commit that a crash interrupted, and waits for
    /// running commits. Those either asked the store about their claim before this claim was made,
    /// or will find that they lost it.
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

    /// Returns the workspace in which an action was previewed, even if this session has none or
    /// another one. Returns `None` if that workspace is gone or on another machine.
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

    /// Records an apply that was committed earlier in the store, whatever the current decision.
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

    /// Deletes the workspace's record of a commit, because the store knows of it.
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

/// Runs blocking work, such as syncing files or waiting for other programs, on a thread that may
/// block.
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
