//! The record that a committed apply leaves in the workspace until the store knows of it.

use airlock_model::actor::DecidedBy;
use airlock_model::content::{Content, ToolResult};
use airlock_model::effects::AppliedPart;
use airlock_model::error::{Error, HostError};
use airlock_model::json::Json;
use airlock_model::pending::{PendingAction, Resolution};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::opening::open;
use super::{Place, in_background};

/// The data that the store needs of a committed apply.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// Version of this record's format.
    version: u32,
    /// The claim of the apply.
    lease: u64,
    reason: String,
    extra: Option<Map<String, Value>>,
    /// The decider: kind, name and evidence.
    decided_by: (String, Option<String>, String),
    content: Vec<Content>,
    details: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<AppliedPart>,
}

const NOTE_VERSION: u32 = 1;

/// An apply that was committed earlier.
pub(in crate::session) enum Committed {
    /// The store has no record of its end.
    Unrecorded(Box<CommitRecord>),
    /// The store knew of it, and has since been restored from a backup.
    Forgotten,
}

/// The decision and result of a committed apply.
pub(in crate::session) struct CommitRecord {
    pub reason: String,
    pub extra: Option<Map<String, Value>>,
    pub decided_by: Option<DecidedBy>,
    pub result: ToolResult,
    /// The part of the changes that was applied; `None` for all of them.
    pub part: Option<AppliedPart>,
}

impl From<Note> for CommitRecord {
    fn from(note: Note) -> Self {
        let (kind, name, evidence) = note.decided_by;
        Self {
            reason: note.reason,
            extra: note.extra,
            decided_by: DecidedBy::from_columns(Some(&kind), name, Some(&evidence)).ok(),
            result: ToolResult {
                content: note.content,
                details: note.details,
            },
            part: note.part,
        }
    }
}

/// Returns the record of an apply, as the workspace keeps it.
///
/// # Errors
/// If the result can't be serialized.
pub(in crate::session) fn encode(
    lease: u64,
    resolution: &Resolution,
    by: &DecidedBy,
    result: &ToolResult,
    part: Option<AppliedPart>,
) -> Result<String, Error> {
    let note = Note {
        version: NOTE_VERSION,
        lease,
        reason: resolution.reason.clone(),
        extra: resolution.extra.clone(),
        decided_by: (
            by.actor.kind().to_owned(),
            by.actor.name().map(str::to_owned),
            by.evidence.as_str().to_owned(),
        ),
        content: result.content.clone(),
        details: result.details.clone(),
        part,
    };
    Ok(serde_json::to_string(&note).map_err(HostError::Result)?)
}

impl Place {
    /// Returns the apply of this action that the workspace has committed without the store's
    /// knowledge, if there is one. Finishes a commit that a crash interrupted, and waits for
    /// running commits. Those either asked the store about their claim before this claim was made,
    /// or will find that they lost it.
    pub async fn committed_before(
        &self,
        action: &PendingAction,
        same_workspace: bool,
    ) -> Result<Option<Committed>, Error> {
        let Some(folder) = self.folder_of(action, same_workspace) else {
            return Ok(None);
        };
        let id = action.id.as_str().to_owned();
        in_background(move || {
            let workspace = open(&folder)?;
            if !workspace.is_committed(&id).map_err(Error::not_committed)? {
                return Ok(None);
            }
            let outcomes = workspace.outcomes().map_err(Error::not_committed)?;
            let found = outcomes.into_iter().find(|outcome| outcome.id == id);
            let note = found.and_then(|outcome| serde_json::from_str::<Note>(&outcome.note).ok());
            let note = note.filter(|note| note.version == NOTE_VERSION);
            Ok(Some(match note {
                Some(note) => Committed::Unrecorded(Box::new(note.into())),
                None => Committed::Forgotten,
            }))
        })
        .await
    }

    /// Deletes the workspace's record of a commit, because the store knows of it.
    pub async fn forget_commit(&self, action: &PendingAction, same_workspace: bool) {
        let Some(folder) = self.folder_of(action, same_workspace) else {
            return;
        };
        let id = action.id.as_str().to_owned();
        let forgotten = in_background(move || {
            if folder
                .has_private()
                .map_err(|error| Error::workspace(folder.path(), error))?
            {
                open(&folder)?
                    .take_outcome(&id)
                    .map_err(Error::not_committed)?;
            }
            Ok(())
        });
        if let Err(error) = forgotten.await {
            tracing::warn!("could not remove a record from the workspace: {error}");
        }
    }
}
