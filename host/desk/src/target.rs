//! The action that a decision is about, and where it was previewed.

use std::path::Path;
use std::sync::Arc;

use airlock_host::identity::WorkspaceIdentity;
use airlock_host::pending::{ActionState, Decision, SessionId, StackedAction};
use airlock_host::store::{APPLY_INTERRUPTED, ActionRecord, Scope};
use airlock_host::{Error as HostError, PendingAction};

use crate::Error;
use crate::session::{SessionChoice, real_path};
use crate::store::Store;

/// What somebody said of a decision.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is decided.
    pub decision: Decision,
    /// The action, of whichever session; else the session's topmost.
    pub id: Option<String>,
    /// Where it was previewed, as far as that is said.
    pub session: SessionChoice,
    /// Whether the workspace counts as the one that was previewed, though it was moved, copied or
    /// restored.
    pub same_workspace: bool,
}

/// The action that is meant.
#[derive(Debug)]
pub struct Target {
    /// Its session.
    pub session: SessionId,
    /// The action itself.
    pub action: Arc<PendingAction>,
}

impl Target {
    /// The named action, wherever it is, or the session's topmost one. From here on it is known by
    /// its id: what somebody pushes meanwhile is not what was meant.
    ///
    /// # Errors
    /// If there is none, if it is decided already, if it was previewed elsewhere than is said, if
    /// it can't be applied here, and if the store can't be used. Nothing counts as an attempt.
    pub async fn find(request: &Request, store: &Store) -> Result<Self, Error> {
        let (target, state) = match &request.id {
            Some(id) => named(request, store, id).await?,
            None => topmost(request, store).await?,
        };
        target.check_workspace(request)?;
        if request.decision == Decision::Apply && !target.action.durable {
            return Err(target.volatile(state, store));
        }
        Ok(target)
    }

    /// What names each action that is pending in the session, the topmost first.
    ///
    /// # Errors
    /// If there is none, if one of them may have been applied already, and if the store can't be
    /// used.
    pub async fn all(request: &Request, store: &Store) -> Result<Vec<Request>, Error> {
        let session = request.session.id(store);
        let pending = store.pending().list(&session).await?;
        if pending.is_empty() {
            return Err(nothing(request, &session, store).await);
        }
        let is_interrupted = |it: &&StackedAction| it.state == ActionState::Interrupted;
        if request.decision == Decision::Apply
            && let Some(one) = pending.iter().find(is_interrupted)
        {
            return Err(interrupted(one, store));
        }
        let named = pending.iter().map(|stacked| Request {
            id: Some(stacked.action.id.to_string()),
            ..request.clone()
        });
        Ok(named.collect())
    }

    /// The workspace to open the session in. One that is gone keeps nobody from discarding.
    pub fn workspace_to_open(&self, request: &Request) -> Option<Arc<Path>> {
        if let (true, Some(named)) = (request.same_workspace, &request.session.workspace) {
            return Some(real_path(named).into());
        }
        let workspace = self.action.workspace.clone()?;
        (request.decision == Decision::Apply || workspace.is_dir()).then_some(workspace)
    }

    /// Those of the session's actions that can be discarded as this one, the topmost first: nobody
    /// has tried to apply them, and they were previewed in the same workspace.
    ///
    /// # Errors
    /// If the store can't be used.
    pub async fn alike(
        &self,
        request: &Request,
        store: &Store,
    ) -> Result<Vec<StackedAction>, Error> {
        let mut alike = store.pending().list(&self.session).await?;
        alike.retain(|stacked| {
            stacked.attempts == 0
                && stacked.state != ActionState::Interrupted
                && stacked.action.workspace == self.action.workspace
                && is_named(request, &stacked.action)
        });
        Ok(alike)
    }

    /// How the workspace differs from the one that was previewed, if the decision would change it.
    pub fn difference(&self, request: &Request) -> Option<HostError> {
        if request.decision != Decision::Apply {
            return None;
        }
        let path = self.action.workspace.clone()?;
        let previewed = self.action.workspace_identity.as_deref();
        let difference = WorkspaceIdentity::difference_at(&path, previewed)?;
        Some(HostError::WorkspaceReplaced { path, difference })
    }

    /// What was named must be what was previewed.
    fn check_workspace(&self, request: &Request) -> Result<(), Error> {
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

    /// Refused before it counts as an attempt, which could not succeed.
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

/// Whether the action was previewed in the workspace that somebody named, if they named one.
fn is_named(request: &Request, action: &PendingAction) -> bool {
    match &request.session.workspace {
        Some(named) if !request.same_workspace => {
            action.workspace.as_deref() == Some(&real_path(named))
        }
        _ => true,
    }
}

async fn named(request: &Request, store: &Store, id: &str) -> Result<(Target, ActionState), Error> {
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
        let advice = tells_by_whom(store, id.short());
        return Err(advised(HostError::AlreadyResolved { id, decision }, advice));
    }
    Ok((Target::from(record), state))
}

async fn topmost(request: &Request, store: &Store) -> Result<(Target, ActionState), Error> {
    let session = request.session.id(store);
    let Some(top) = store.pending().peek(&session).await? else {
        return Err(nothing(request, &session, store).await);
    };
    if request.decision == Decision::Apply && top.state == ActionState::Interrupted {
        return Err(interrupted(&top, store));
    }
    let StackedAction { action, state, .. } = top;
    Ok((Target { session, action }, state))
}

async fn nothing(request: &Request, session: &SessionId, store: &Store) -> Error {
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

/// That other conversations in the workspace have something.
async fn elsewhere(request: &Request, session: &SessionId, store: &Store) -> Option<String> {
    let choice = &request.session;
    let others = choice.of_others(session, store).await.ok()?;
    let told = match others.len() {
        0 => return None,
        1 => "1 action is pending in another conversation in this workspace".to_owned(),
        count => format!("{count} actions are pending in other conversations in this workspace"),
    };
    let mut words = vec!["pending".to_owned()];
    words.extend(choice.words());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let list = store.command(&words);
    Some(format!(
        "{told}: `{list}` lists them, and `--id ID` names one"
    ))
}

async fn in_all_sessions(session: &SessionId, store: &Store) -> String {
    match store.durable().open_sessions(None, 1).await.as_deref() {
        // There is nothing that the list could show.
        Ok([]) => format!("this covers the session {session}; nothing is pending in any other"),
        _ => {
            let all = store.command(&["pending", "--all"]);
            format!("this covers the session {session}; `{all}` lists all sessions")
        }
    }
}

/// Applying twice what may have taken effect once is for somebody to decide who knows that it would
/// be.
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

/// Where to read how an action was resolved.
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
