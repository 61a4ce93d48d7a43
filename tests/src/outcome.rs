//! Results, for what completes a claim without a session.

use std::sync::Arc;

use airlock_host::{
    ActionId, Content, Digest, MemoryStore, PendingAction, PendingStore, PluginBytes, Policy, Push,
    Resolution, ResolutionOutcome, Session,
};
use tokio::sync::OnceCell;

/// A result with this text, such as a session would record.
pub async fn outcome(text: &str) -> ResolutionOutcome {
    static OUTCOME: OnceCell<ResolutionOutcome> = OnceCell::const_new();
    let mut outcome = OUTCOME.get_or_init(any_outcome).await.clone();
    let text = text.to_owned();
    outcome.content = vec![Content::Text { text }];
    outcome
}

/// Only a session makes results; one that discards needs no plugin for it.
async fn any_outcome() -> ResolutionOutcome {
    let store = Arc::new(MemoryStore::new());
    let session = Session::builder().store(store.clone()).open();
    let session = session.expect("a session");
    let digest = Digest::of(b"");
    let plugin = PluginBytes {
        digest,
        name: "none".into(),
        bytes: Vec::new().into(),
    };
    let action = PendingAction {
        id: ActionId::from("any"),
        label: "Any".to_owned(),
        source_tool_name: "none".to_owned(),
        source_is_own_tool: false,
        details: None,
        has_reject: false,
        durable: true,
        plugin: digest,
        plugin_name: "none".into(),
        grants: Policy::default(),
        workspace: None,
        workspace_identity: None,
        pushed_at: std::time::SystemTime::UNIX_EPOCH,
    };
    let push = Push {
        session: session.id(),
        action: Arc::new(action),
        guest_state: Some(Vec::new()),
        plugin: &plugin,
        capacity: 1,
        capacity_bytes: u64::MAX,
    };
    store.push(push).await.expect("it is empty");
    let discarded = session.resolve(Resolution::discard("")).await;
    discarded.expect("there is one")
}
