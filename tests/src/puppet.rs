//! A session with the guest `puppet`, which does what its params say.

use std::path::Path;

use airlock_host::content::{CallOutcome, ResolutionOutcome};
use airlock_host::event::Event;
use airlock_host::policy::Rehearse;
use airlock_host::{Error, Limits, Plugin, Policy, Resolution, Session, SessionBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Tester;
use crate::guests;

/// A session with the puppet, on a workspace of its own.
pub struct Puppet {
    /// The session.
    pub session: Session,
    workspace: TempDir,
}

impl Puppet {
    /// With the default limits and grants.
    pub async fn new() -> Self {
        Self::with(|session| session).await
    }

    /// With these limits.
    pub async fn limited(limits: Limits) -> Self {
        Self::with(|session| session.limits(limits)).await
    }

    /// With these grants.
    pub async fn granted(policy: Policy) -> Self {
        let plugin = guests::plugin("puppet").await;
        Self::open(|session| session.bind(plugin.under(policy)))
    }

    /// With a component that wants this, as JSON, under these grants.
    pub async fn wanting(wants: &str, policy: Policy) -> Self {
        let bytes = guests::puppet_with_section("airlock:wants", wants.as_bytes());
        let plugin = Plugin::from_bytes(guests::engine(), "puppet", bytes).await;
        let plugin = plugin.expect("the wants are valid");
        Self::open(|session| session.bind(plugin.under(policy)))
    }

    /// With further settings.
    pub async fn with(settings: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Self {
        let plugin = guests::plugin("puppet").await;
        Self::open(|session| settings(session).bind(&plugin))
    }

    fn open(settings: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Self {
        let workspace = TempDir::new().expect("a temporary directory");
        // A test that is not about rehearsals has its steps done once.
        let session = Session::builder()
            .model_decides()
            .workspace(workspace.path())
            .rehearse(Rehearse::Never);
        let session = settings(session).open().expect("a session");
        Self { session, workspace }
    }

    /// The workspace's path on the host.
    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// Calls the tool `puppet` with an array of steps.
    pub async fn call(&self, steps: Value) -> Result<CallOutcome, Error> {
        self.session.call("puppet", &json!({"steps": steps})).await
    }

    /// Calls it, and gives the text of the result.
    ///
    /// # Panics
    /// Where the call fails.
    pub async fn text(&self, steps: Value) -> String {
        self.call(steps).await.expect("the call succeeds").text()
    }

    /// Pushes one action, and gives its id.
    ///
    /// # Panics
    /// Where it is refused.
    pub async fn push(&self, push: Value) -> String {
        let outcome = self.call(json!([push])).await.expect("the call succeeds");
        assert_eq!(outcome.pushed.len(), 1, "{}", outcome.text());
        outcome.pushed[0].id.to_string()
    }

    /// Carries out a decision.
    ///
    /// # Errors
    /// As [`Session::resolve`].
    pub async fn resolve(&self, resolution: Resolution) -> Result<ResolutionOutcome, Error> {
        self.session.resolve(resolution, Tester).await
    }

    /// Pushes a durable action that does `steps` when applied, and applies it.
    ///
    /// # Errors
    /// As the apply.
    pub async fn apply(&self, steps: Value) -> Result<ResolutionOutcome, Error> {
        self.push(durable("Steps", steps)).await;
        self.resolve(Resolution::apply("a test says so")).await
    }

    /// The same with a volatile action, which is applied in the instance that pushed it.
    ///
    /// # Errors
    /// As the apply.
    pub async fn apply_in_live_instance(&self, steps: Value) -> Result<ResolutionOutcome, Error> {
        let fields = json!({"volatile": true, "apply": steps});
        self.push(push("Steps", fields)).await;
        self.resolve(Resolution::apply("a test says so")).await
    }

    /// The labels of what is pending, topmost first.
    pub async fn labels(&self) -> Vec<String> {
        let pending = self.session.pending().await.expect("the store can be read");
        pending
            .iter()
            .map(|stacked| stacked.action.label.clone())
            .collect()
    }
}

/// A step that pushes an action with further fields.
pub fn push(label: &str, fields: Value) -> Value {
    let mut step = json!({"do": "push", "label": label});
    for (key, value) in fields.as_object().expect("fields are an object") {
        step[key] = value.clone();
    }
    step
}

/// A step that pushes a durable action, which does `apply` when applied.
pub fn durable(label: &str, apply: Value) -> Value {
    push(label, json!({"apply": apply}))
}

/// Whether an event is what a guest said or did, and not that a call of it began or ended.
pub fn is_of_guest(event: &Event) -> bool {
    !matches!(event, Event::Began { .. } | Event::Ended { .. })
}
