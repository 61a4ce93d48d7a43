//! A conversation that outlives its hosts.

use std::path::Path;
use std::time::{Duration, Instant};

use airlock_host::event::Event;
use airlock_host::pending::{ActionId, SessionId, StackedAction};
use airlock_host::policy::Rehearse;
use airlock_host::store::ActionRecord;
use airlock_host::{Policy, Session, SessionBuilder};
use airlock_tests::{Backend, Host, engine, plugin};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Far longer than anything takes that a test waits for.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Sessions of one id, on one workspace and one storage.
pub struct Conversation<B> {
    pub backend: B,
    workspace: TempDir,
}

impl<B: Backend> Conversation<B> {
    pub async fn new() -> Self {
        let workspace = TempDir::new().unwrap();
        std::fs::write(workspace.path().join("ledger"), "").unwrap();
        Self {
            backend: B::new().await,
            workspace,
        }
    }

    pub fn id(&self) -> SessionId {
        "the conversation".into()
    }

    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// What applies have written with [`ledger`].
    pub fn ledger(&self) -> String {
        std::fs::read_to_string(self.workspace().join("ledger")).unwrap()
    }

    /// A session without plugins.
    pub fn bare(&self, host: &Host) -> SessionBuilder {
        Session::builder()
            .model_decides()
            .id(self.id())
            .workspace(self.workspace())
            .store(host.store.clone())
            // These tests count what is done.
            .rehearse(Rehearse::Never)
            .engine(engine())
    }

    /// A session with the puppet.
    pub async fn session(&self, host: &Host) -> Session {
        self.session_under(host, Policy::default()).await
    }

    pub async fn session_under(&self, host: &Host, policy: Policy) -> Session {
        let puppet = plugin("puppet").await;
        let session = self.bare(host).bind(puppet.under(policy));
        session.open().unwrap()
    }

    /// The same, with word of each [`begun`] step: what an apply writes can't be seen before it has
    /// ended.
    pub async fn session_that_tells(
        &self,
        host: &Host,
        workspace: &Path,
    ) -> (Session, UnboundedReceiver<()>) {
        let (tell, told) = unbounded_channel();
        let puppet = plugin("puppet").await;
        let session = self.bare(host).workspace(workspace).bind(&puppet);
        let session = session.observer(move |_, event| {
            if matches!(event, Event::Log { message, .. } if message == "begun") {
                let _ = tell.send(());
            }
        });
        (session.open().unwrap(), told)
    }

    /// A session with the puppet, in another workspace.
    pub async fn session_in(&self, host: &Host, workspace: &Path) -> Session {
        let puppet = plugin("puppet").await;
        let session = self.bare(host).workspace(workspace).bind(&puppet);
        session.open().unwrap()
    }

    /// The only pending action, as this host lists it.
    pub async fn only(&self, host: &Host) -> StackedAction {
        let mut pending = host.store.stacks.list(&self.id()).await.unwrap();
        assert_eq!(pending.len(), 1, "{pending:?}");
        pending.remove(0)
    }
}

/// Pushes one action, through the puppet.
pub async fn push(session: &Session, step: Value) -> ActionId {
    let params = json!({"steps": [step]});
    let outcome = session.call("puppet", &params).await.unwrap();
    assert_eq!(outcome.pushed.len(), 1, "{}", outcome.text());
    outcome.pushed[0].id.clone()
}

/// A step that appends a line to the file `ledger` of the workspace.
pub fn ledger(line: &str) -> Value {
    json!({"do": "fs", "op": "append", "path": "/workspace/ledger", "text": format!("{line}\n")})
}

/// A step of which a [`session_that_tells`](Conversation::session_that_tells) gives word.
pub fn begun() -> Value {
    json!({"do": "log", "message": "begun"})
}

pub async fn find(host: &Host, id: &ActionId) -> ActionRecord {
    let store = host.durable.as_ref().unwrap();
    store.find(id).await.unwrap().unwrap()
}

/// Waits until something is so.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so().await {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
