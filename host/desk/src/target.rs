//! The action that a decision is about, and the place of its preview.

use std::path::Path;
use std::sync::Arc;

use airlock_host::identity::WorkspaceIdentity;
use airlock_host::pending::{ActionState, Decision, SessionId, StackedAction};
use airlock_host::store::{APPLY_INTERRUPTED, ActionRecord, Scope};
use airlock_host::{Error as HostError, PendingAction};

use crate::Error;
use crate::session::{SessionChoice, real_path};
use crate::store::Store;

/// A request to decide about an action.
#[derive(Debug, Clone)]
pub struct ResolveRequest {
    /// The decision.
    pub decision: Decision,
    /// The action's id, in any session. If `None`, the session's topmost action.
    pub id: Option<String>,
    /// The place of the preview, if given.
    pub session: SessionChoice,
    /// True to treat the workspace as the previewed one even though it was moved, copied or
    /// restored.
    pub same_workspace: bool,
}

/// The action that a request refers to.
#[derive(Debug)]
pub struct Target {
    /// The action's session.
    pub session: SessionId,
    /// The action.
    pub action: Arc<PendingAction>,
}

impl Target {
    /// Finds the named action, wherever it is, or the session's topmost one. The result is fixed by
    /// its id, so later pushes don't change it.
    ///
    /// # Errors
    /// Fails if there is no such action, if it is resolved already, if it was previewed elsewhere
    /// than stated, if it can't be applied here, or if the store can't be used. A failure doesn't
    /// count as an attempt.
    pub async fn find(request: &ResolveRequest, store: &Store) -> Result<Self, Error> {
        let (target, state) = match &request.id {
            Some(id) => find_named(request, store, id).await?,
            None => topmost(request, store).await?,
        };
        target.check_workspace(request)?;
        if request.decision == Decision::Apply && !target.action.durable {
            return Err(target.volatile(state, store));
        }
        Ok(target)
    }

    /// Returns a request for each pending action of the session, topmost first.
    ///
    /// # Errors
    /// Fails if there is none, if one may have been applied already, or if the store can't be used.
    pub async fn all(
        request: &ResolveRequest,
        store: &Store,
    ) -> Result<Vec<ResolveRequest>, Error> {
        let session = request.session.id(store);
        let pending = store.durable().list(&session).await?;
        if pending.is_empty() {
            return Err(nothing(request, &session, store).await);
        }
        let is_interrupted = |it: &&StackedAction| it.state == ActionState::Interrupted;
        if request.decision == Decision::Apply
            && let Some(one) = pending.iter().find(is_interrupted)
        {
            return Err(interrupted(one, store));
        }
        let named = pending.iter().map(|stacked| ResolveRequest {
            id: Some(stacked.action.id.to_string()),
            ..request.clone()
        });
        Ok(named.collect())
    }

    /// Returns the workspace to open the session in. A missing workspace doesn't prevent a discard.
    pub fn workspace_to_open(&self, request: &ResolveRequest) -> Option<Arc<Path>> {
        if let (true, Some(named)) = (request.same_workspace, &request.session.workspace) {
            return Some(real_path(named).into());
        }
        let workspace = self.action.workspace.clone()?;
        (request.decision == Decision::Apply || workspace.is_dir()).then_some(workspace)
    }

    /// Returns the session's actions that can be discarded like this one, topmost first. They have
    /// no apply attempts and were previewed in the same workspace.
    ///
    /// # Errors
    /// Fails if the store can't be used.
    pub async fn alike(
        &self,
        request: &ResolveRequest,
        store: &Store,
    ) -> Result<Vec<StackedAction>, Error> {
        let mut alike = store.durable().list(&self.session).await?;
        alike.retain(|stacked| {
            stacked.attempts == 0
                && stacked.state != ActionState::Interrupted
                && stacked.action.workspace == self.action.workspace
                && is_named(request, &stacked.action)
        });
        Ok(alike)
    }

    /// Returns how the workspace differs from the previewed one, if the decision would change it.
    pub fn difference(&self, request: &ResolveRequest) -> Option<HostError> {
        if request.decision != Decision::Apply {
            return None;
        }
        let path = self.action.workspace.clone()?;
        let previewed = self.action.workspace_identity.as_deref();
        let difference = WorkspaceIdentity::difference_at(&path, previewed)?;
        Some(HostError::WorkspaceReplaced { path, difference })
    }

    /// Checks that the named workspace is the previewed one.
    fn check_workspace(&self, request: &ResolveRequest) -> Result<(), Error> {
        if is_named(request, &self.action) {
            return Ok(());
        }
        let session = request.session.workspace.as_deref().map(real_path);
        let error = HostError::OtherWorkspace {
            previewed: self.action.workspace.clone(),
            session: session.map(Into::into),
        };
        let advice = "without `--workspace`, the action's own is used; add `--same-workspace` if this is the same";
        Err(advised(error, advice))
    }

    /// Returns an error before a hopeless apply counts as an attempt.
    fn volatile(&self, state: ActionState, store: &Store) -> Error {
        let discard = store.command(&[
            "resolve",
            "discard",
            "--id",
            self.action.id.short(),
            "--reason",
            "its preview is lost",
        ]);
        Error::Volatile {
            id: self.action.id.clone(),
            is_lost: state == ActionState::Lost,
            advice: format!("preview again, and `{discard}`"),
        }
    }
}

/// Returns true if no workspace was named, or if the action was previewed in the named one.
fn is_named(request: &ResolveRequest, action: &PendingAction) -> bool {
    match &request.session.workspace {
        Some(named) if !request.same_workspace => {
            action.workspace.as_deref() == Some(&real_path(named))
        }
        _ => true,
    }
}

async fn find_named(
    request: &ResolveRequest,
    store: &Store,
    id: &str,
) -> Result<(Target, ActionState), Error> {
    let record = store.find(id).await?;
    if let Some(named) = &request.session.session
        && *named != *record.session.as_str()
    {
        let advice = format!("it is in the session {}", record.session);
        return Err(advised(HostError::UnknownAction(record.action.id), advice));
    }
    let state = record.state;
    if let (ActionState::Applied | ActionState::Discarded, Some(resolved)) =
        (state, &record.resolved)
    {
        let (id, decision) = (record.action.id.clone(), resolved.decision);
        let told = tells_by_whom(store, id.short());
        let advice = match resolved.reason.as_str() {
            "" => told,
            // For example, the reason has the id of the new preview.
            reason => format!("the reason was {reason:?}; {told}"),
        };
        return Err(advised(HostError::AlreadyResolved { id, decision }, advice));
    }
    Ok((Target::from(record), state))
}

async fn topmost(request: &ResolveRequest, store: &Store) -> Result<(Target, ActionState), Error> {
    let session = request.session.id(store);
    let Some(top) = store.durable().peek(&session).await? else {
        return Err(nothing(request, &session, store).await);
    };
    if request.decision == Decision::Apply && top.state == ActionState::Interrupted {
        return Err(interrupted(&top, store));
    }
    let StackedAction { action, state, .. } = top;
    Ok((Target { session, action }, state))
}

async fn nothing(request: &ResolveRequest, session: &SessionId, store: &Store) -> Error {
    let open = store.durable().open_actions(Scope::Session(session)).await;
    let advice = match open.as_deref() {
        Ok([resolving, ..]) => format!(
            "{} is being resolved elsewhere right now",
            resolving.action.id
        ),
        _ => match elsewhere(request, session, store).await {
            Some(advice) => advice,
            None => in_all_sessions(session, store).await,
        },
    };
    advised(HostError::NothingPending, advice)
}

/// Returns a hint that other conversations in the workspace have pending actions.
async fn elsewhere(request: &ResolveRequest, session: &SessionId, store: &Store) -> Option<String> {
    let choice = &request.session;
    let others = choice.of_others(session, store).await.ok()?;
    let message = match others.len() {
        0 => return None,
        1 => "1 action is pending in another conversation in this workspace".to_owned(),
        count => format!("{count} actions are pending in other conversations in this workspace"),
    };
    let mut words = vec!["pending".to_owned()];
    words.extend(choice.words());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let list = store.command(&words);
    Some(format!(
        "{message}: `{list}` lists them, and `--id ID` names one"
    ))
}

async fn in_all_sessions(session: &SessionId, store: &Store) -> String {
    match store.durable().open_sessions(None, 1).await.as_deref() {
        // The list would be empty.
        Ok([]) => format!("this covers the session {session}; nothing is pending in any other"),
        _ => {
            let all = store.command(&["pending", "--all"]);
            format!("this covers the session {session}; `{all}` lists all sessions")
        }
    }
}

/// Returns an error, since only the user can decide whether to apply again what may already have
/// taken effect.
fn interrupted(top: &StackedAction, store: &Store) -> Error {
    let id = top.action.id.short();
    let show = store.command(&["show", id]);
    Error::Interrupted {
        label: top.action.label.clone(),
        why: top
            .last_error
            .as_deref()
            .unwrap_or(APPLY_INTERRUPTED)
            .to_owned(),
        advice: format!(
            "`{show}` shows it; `--id {id}` applies it anyway, and `resolve discard` drops it"
        ),
    }
}

fn advised(error: HostError, advice: impl Into<String>) -> Error {
    Error::Advised {
        error,
        advice: advice.into(),
    }
}

/// Returns a hint to the command that shows how an action was resolved.
pub fn tells_by_whom(store: &Store, id: &str) -> String {
    format!("`{}` shows by whom, and why", store.command(&["show", id]))
}

impl From<ActionRecord> for Target {
    fn from(record: ActionRecord) -> Self {
        Self {
            session: record.session,
            action: Arc::new(record.action),
        }
    }
}
