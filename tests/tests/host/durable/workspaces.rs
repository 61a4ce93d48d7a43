//! Which directory an action was previewed in, and on which machine: a path alone doesn't tell.

use std::fs;
use std::path::Path;

use airlock_host::identity::WorkspaceDifference;
use airlock_host::pending::{ActionId, ActionState};
use airlock_host::{Error, Resolution, Session, SessionBuilder};
use airlock_tests::{Backend, Host, Tester, durable, engine, push as volatile_or_durable};
use serde_json::json;
use tempfile::TempDir;

use super::conversation::{Conversation, begun, find, push};

/// A step that makes a file in the workspace.
fn step() -> serde_json::Value {
    let write = json!({"do": "fs", "op": "write", "path": "/workspace/done", "text": "yes"});
    durable("Write", json!([write]))
}

struct PendingWrite<B> {
    conversation: Conversation<B>,
    host: Host,
    folder: TempDir,
    action: ActionId,
}

impl<B: Backend> PendingWrite<B> {
    /// An action that was previewed in `w`.
    async fn new() -> Self {
        let (conversation, folder) = (Conversation::<B>::new().await, TempDir::new().unwrap());
        fs::create_dir(folder.path().join("w")).unwrap();
        let host = conversation.backend.host().await;
        let session = conversation
            .session_in(&host, &folder.path().join("w"))
            .await;
        let action = push(&session, step()).await;
        Self {
            conversation,
            host,
            folder,
            action,
        }
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().join("w")
    }

    /// A session of another process.
    fn later(&self, workspace: &Path) -> SessionBuilder {
        let session = Session::builder()
            .model_decides()
            .id(self.conversation.id());
        let session = session.engine(engine()).store(self.host.store.clone());
        session.workspace(workspace)
    }

    /// The apply is refused, and counts for nothing.
    async fn refused(&self, session: Session) -> WorkspaceDifference {
        let apply = Resolution::apply("").with_id(self.action.clone());
        let error = session.resolve(apply, Tester).await.unwrap_err();
        assert_eq!(error.kind(), "other-workspace", "{error}");
        let Error::WorkspaceReplaced { path, difference } = error else {
            panic!("{error:?}");
        };
        assert_eq!(
            *path,
            *self
                .workspace()
                .canonicalize()
                .unwrap_or_else(|_| self.workspace())
        );
        assert!(!self.workspace().join("done").exists());
        let record = find(&self.host, &self.action).await;
        assert_eq!((record.attempts, record.state), (0, ActionState::Pending));
        assert_eq!(record.last_error, None);
        difference
    }
}

pub async fn another_directory_at_the_same_path_is_refused_unless_it_is_said_to_be_the_same<
    B: Backend,
>() {
    let place = PendingWrite::<B>::new().await;
    fs::remove_dir(place.workspace()).unwrap();
    fs::create_dir(place.workspace()).unwrap();
    let session = || place.later(&place.workspace()).open().unwrap();
    let difference = place.refused(session()).await;
    assert_eq!(difference, WorkspaceDifference::Directory);
    let said = Resolution::apply("").in_same_workspace();
    session().resolve(said, Tester).await.unwrap();
    assert!(place.workspace().join("done").exists());
}

pub async fn a_rename_and_back_is_the_same_workspace_and_a_new_path_is_said_to_be<B: Backend>() {
    let place = PendingWrite::<B>::new().await;
    let aside = place.folder.path().join("aside");
    fs::rename(place.workspace(), &aside).unwrap();
    let moved = place.later(&aside).open().unwrap();
    let error = moved
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::OtherWorkspace { .. }), "{error:?}");
    fs::rename(&aside, place.workspace()).unwrap();
    let back = place.later(&place.workspace()).open().unwrap();
    back.resolve(Resolution::apply(""), Tester).await.unwrap();
    assert!(place.workspace().join("done").exists());

    let place = PendingWrite::<B>::new().await;
    let aside = place.folder.path().join("aside");
    fs::rename(place.workspace(), &aside).unwrap();
    let moved = place.later(&aside).open().unwrap();
    let said = Resolution::apply("").in_same_workspace();
    moved.resolve(said, Tester).await.unwrap();
    assert!(aside.join("done").exists());
}

pub async fn another_machine_may_show_and_discard_what_nobody_tried_and_not_apply<B: Backend>() {
    let place = PendingWrite::<B>::new().await;
    let elsewhere = || {
        let session = place.later(&place.workspace()).machine("elsewhere");
        session.open().unwrap()
    };
    let shown = elsewhere().pending().await.unwrap();
    let machine = &shown[0].action.workspace_identity.as_ref().unwrap().machine;
    assert!(machine.is_this() && !machine.name.is_empty());
    match place.refused(elsewhere()).await {
        WorkspaceDifference::Machine { previewed, here } => {
            assert_eq!(
                (previewed, here.as_str()),
                (machine.name.clone(), "elsewhere")
            );
        }
        other => panic!("{other:?}"),
    }
    elsewhere()
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap();

    // What was tried may have left something behind.
    let session = place
        .conversation
        .session_in(&place.host, &place.workspace())
        .await;
    let fails = durable("Fails", json!([{"do": "tool-error", "message": "no"}]));
    let id = push(&session, fails).await;
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    let error = elsewhere()
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), "other-workspace", "{error}");
    let record = find(&place.host, &id).await;
    assert_eq!((record.attempts, record.state), (1, ActionState::Pending));
    assert!(record.last_error.is_some());
    session
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap();
}

pub async fn a_discard_elsewhere_doesnt_call_the_guest<B: Backend>() {
    let place = PendingWrite::<B>::new().await;
    let session = place
        .conversation
        .session_in(&place.host, &place.workspace())
        .await;
    let rejects = json!({"apply": [], "reject": [{"do": "text", "text": "heard"}]});
    push(&session, volatile_or_durable("Hears", rejects.clone())).await;
    let elsewhere = place.later(&place.workspace()).machine("elsewhere");
    let told = elsewhere.open().unwrap();
    let told = told
        .resolve(Resolution::discard("no"), Tester)
        .await
        .unwrap();
    assert_eq!(told.text(), "Discarded: Hears. Reason: no");
    push(&session, volatile_or_durable("Hears", rejects)).await;
    let here = place.later(&place.workspace()).open().unwrap();
    let told = here
        .resolve(Resolution::discard("no"), Tester)
        .await
        .unwrap();
    assert_eq!(told.text(), "heard");
}

pub async fn a_refusal_leaves_an_interrupted_action_interrupted<B: Backend>() {
    let place = PendingWrite::<B>::new().await;
    // The future is dropped: nobody knows how it ended.
    let apply = Resolution::apply("");
    let (session, mut told) = place
        .conversation
        .session_that_tells(&place.host, &place.workspace())
        .await;
    let waits = durable("Waits", json!([begun(), {"do": "block"}]));
    let id = push(&session, waits).await;
    {
        let mut resolving = std::pin::pin!(session.resolve(apply, Tester).into_future());
        // Not as soon as the store lists it as claimed: the session may not have heard of that yet,
        // and then nothing was tried.
        tokio::select! {
            _ = &mut resolving => panic!("it waits"),
            begun = told.recv() => assert_eq!(begun, Some(())),
        }
    }
    let interrupted = async || find(&place.host, &id).await.state == ActionState::Interrupted;
    super::conversation::until("it is interrupted", interrupted).await;
    let elsewhere = place.later(&place.workspace()).machine("elsewhere");
    let elsewhere = elsewhere.open().unwrap();
    for decision in [Resolution::apply(""), Resolution::discard("")] {
        let error = elsewhere
            .resolve(decision.with_id(id.clone()), Tester)
            .await;
        assert_eq!(error.unwrap_err().kind(), "other-workspace");
        let record = find(&place.host, &id).await;
        assert_eq!(
            (record.attempts, record.state),
            (1, ActionState::Interrupted)
        );
    }
}
