//! The action that a decision is about, and where it was previewed.

use std::path::Path;
use std::sync::Arc;

use airlock_host::{
    APPLY_INTERRUPTED, ActionRecord, ActionState, Decision, Error, PendingAction, SessionId,
    StackedAction, WorkspaceIdentity,
};

use crate::args::ResolveArgs;
use crate::failure::{Exit, Failure};
use crate::session;
use crate::show;
use crate::store::Store;

pub struct Target {
    pub session: SessionId,
    pub action: Arc<PendingAction>,
}

impl Target {
    /// The named action, wherever it is, or the session's topmost one. From here on it is known by its id: what somebody
    /// pushes meanwhile is not what was meant.
    pub async fn find(args: &ResolveArgs, store: &Store) -> Result<Self, Failure> {
        let decision = Decision::from(args.action);
        let (target, state) = match &args.id {
            Some(id) => named(args, store, id).await?,
            None => topmost(args, store, decision).await?,
        };
        target.check_workspace(args)?;
        if decision == Decision::Apply && !target.action.durable {
            return Err(target.volatile(state, store));
        }
        Ok(target)
    }

    /// The workspace to open the session in. One that is gone keeps nobody from discarding.
    pub fn workspace_to_open(&self, args: &ResolveArgs) -> Option<Arc<Path>> {
        let decision = Decision::from(args.action);
        if let (true, Some(named)) = (args.same_workspace, &args.session.workspace) {
            return Some(session::real_path(named).into());
        }
        let workspace = self.action.workspace.clone()?;
        (decision == Decision::Apply || workspace.is_dir()).then_some(workspace)
    }

    /// In what the workspace differs from the one that was previewed, where it is to be changed.
    pub fn difference(&self, args: &ResolveArgs) -> Option<Error> {
        if Decision::from(args.action) != Decision::Apply {
            return None;
        }
        let path = self.action.workspace.clone()?;
        let previewed = self.action.workspace_identity.as_deref();
        let difference = WorkspaceIdentity::difference_at(&path, previewed)?;
        Some(Error::WorkspaceReplaced { path, difference })
    }

    /// What was named must be what was previewed.
    fn check_workspace(&self, args: &ResolveArgs) -> Result<(), Failure> {
        let Some(named) = &args.session.workspace else {
            return Ok(());
        };
        if args.same_workspace {
            return Ok(());
        }
        let path = session::real_path(named);
        if self.action.workspace.as_deref() == Some(&path) {
            return Ok(());
        }
        let error = Error::OtherWorkspace {
            previewed: self.action.workspace.clone(),
            session: Some(path.into()),
        };
        Err(Failure::from(error).with_hint(
            "without `--workspace`, the action's own is used; `--same-workspace` says that this is the same",
        ))
    }

    /// Refused before it counts as an attempt, which could not succeed.
    fn volatile(&self, state: ActionState, store: &Store) -> Failure {
        let why = match state {
            ActionState::Lost => ": its tool kept the preview in memory only, and that is gone",
            _ => " here: its preview is in the memory of the process that previewed it only",
        };
        let message = format!("pending action {} can't be applied{why}", self.action.id);
        let discard = [
            "resolve",
            "discard",
            "--id",
            self.action.id.as_str(),
            "--reason",
            "its preview is gone",
        ];
        let hint = format!("preview again, and `{}`", store.command(&discard));
        Failure::new(Exit::Failed, "volatile", message).with_hint(hint)
    }
}

async fn named(
    args: &ResolveArgs,
    store: &Store,
    id: &str,
) -> Result<(Target, ActionState), Failure> {
    let record = show::find(store, id).await?;
    if let Some(named) = &args.session.session
        && *named != *record.session.as_str()
    {
        let hint = format!("it is in the session {}", record.session);
        return Err(Failure::from(Error::UnknownAction(record.action.id)).with_hint(hint));
    }
    let state = record.state;
    if let (ActionState::Applied | ActionState::Discarded, Some(resolved)) =
        (state, &record.resolved)
    {
        let (id, decision) = (record.action.id.clone(), resolved.decision);
        let hint = super::tells_by_whom(store, id.as_str());
        return Err(Failure::from(Error::AlreadyResolved { id, decision }).with_hint(hint));
    }
    Ok((Target::from(record), state))
}

async fn topmost(
    args: &ResolveArgs,
    store: &Store,
    decision: Decision,
) -> Result<(Target, ActionState), Failure> {
    let session = session::id(&args.session, store);
    let Some(top) = store.pending().peek(&session).await? else {
        return Err(nothing(&session, store).await);
    };
    if decision == Decision::Apply && top.state == ActionState::Interrupted {
        return Err(interrupted(&top, store));
    }
    let StackedAction { action, state, .. } = top;
    Ok((Target { session, action }, state))
}

async fn nothing(session: &SessionId, store: &Store) -> Failure {
    let failure = Failure::from(Error::NothingPending);
    let open = store.durable().open_actions(Some(session)).await;
    match open.as_deref() {
        Ok([resolving, ..]) => failure.with_hint(format!(
            "somebody else is resolving {} right now",
            resolving.action.id
        )),
        _ => {
            let all = store.command(&["pending", "--all"]);
            failure.with_hint(format!(
                "this is about the session {session}; `{all}` lists those of all"
            ))
        }
    }
}

/// Applying twice what may have taken effect once is for somebody to decide who knows that it would be.
fn interrupted(top: &StackedAction, store: &Store) -> Failure {
    let id = top.action.id.as_str();
    let why = top.last_error.as_deref().unwrap_or(APPLY_INTERRUPTED);
    let message = format!(
        "the topmost action ({}) is interrupted: {why}",
        top.action.label
    );
    let show = store.command(&["show", id]);
    let hint = format!(
        "`{show}` tells what it is; with `--id {id}` it is applied all the same, and `resolve discard` drops it"
    );
    Failure::new(Exit::Failed, "interrupted", message)
        .quoting()
        .with_hint(hint)
}

impl From<ActionRecord> for Target {
    fn from(record: ActionRecord) -> Self {
        Self {
            session: record.session,
            action: Arc::new(record.action),
        }
    }
}
