//! The PostgreSQL store against a real server: what only it promises, beside what every store does.

mod capacity;
mod encrypted;
mod faults;
mod keeping;
mod leases;
mod newer;
mod restarts;
mod spending;
mod starting;
mod unreadable;
mod volatile;
mod watching;

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use airlock_model::digest::Digest;
use airlock_model::pending::{PendingAction, Resolution, SessionId};
use airlock_model::policy::Policy;
use airlock_model::store::{
    Claim, Claimed, Claims, Completion, PluginBytes, Push, Stacks, StoreError,
};
use airlock_store_postgres::PostgresStore;
use airlock_store_suite::{DEADLINE, PostgresServer, Tester, connect_with_lease, eventually};

const CAPACITY: usize = 100;

/// Long enough for a busy machine to renew in time, short enough to wait for.
const SHORT_LEASE: Duration = Duration::from_millis(600);

fn server() -> &'static PostgresServer {
    PostgresServer::shared()
}

async fn connect(url: &str) -> PostgresStore {
    PostgresStore::connect(url)
        .await
        .expect("the store connects")
}

fn session(name: &str) -> SessionId {
    SessionId::from(name)
}

fn plugin() -> &'static PluginBytes {
    static PLUGIN: LazyLock<PluginBytes> = LazyLock::new(|| {
        let bytes: Vec<u8> = (0..100_000_u32)
            .map(|number| (number % 251) as u8)
            .collect();
        PluginBytes {
            digest: Digest::of(&bytes),
            name: "a plugin".into(),
            bytes: bytes.into(),
        }
    });
    &PLUGIN
}

fn action(id: &str) -> PendingAction {
    let mut action = PendingAction::new(
        id,
        format!("the action {id}"),
        plugin().digest,
        plugin().name.clone(),
        Policy::default(),
        SystemTime::now(),
    );
    action.source_tool_name = "tool".to_owned();
    action.durable = true;
    action
}

/// Pushes an action; one that is not durable has no state.
async fn push_action(
    store: &dyn Stacks,
    session: &SessionId,
    action: PendingAction,
) -> Result<(), StoreError> {
    let guest_state = action.durable.then(|| b"state".to_vec());
    let push = Push::new(session, action, plugin())
        .with_guest_state(guest_state)
        .with_capacity(CAPACITY);
    store.push(push).await
}

async fn push(store: &dyn Stacks, session: &SessionId, id: &str) {
    let pushed = push_action(store, session, action(id)).await;
    pushed.expect("the push is taken");
}

async fn claim(store: &dyn Claims, session: &SessionId, resolution: Resolution) -> Claimed {
    match store
        .claim(session, &resolution, &Tester.into())
        .await
        .expect("an answer")
    {
        Claim::Claimed(claimed) => claimed,
        other => panic!("not claimed: {other:?}"),
    }
}

async fn ids(store: &dyn Stacks, session: &SessionId) -> Vec<String> {
    let listed = store.list(session).await.expect("the store can be read");
    listed
        .iter()
        .map(|stacked| stacked.action.id.to_string())
        .collect()
}

async fn complete(store: &dyn Claims, claimed: Claimed) {
    let outcome = airlock_store_suite::outcome("");
    let completion = Completion::Succeeded(&outcome);
    let completed = store.complete(claimed.lease, completion).await;
    completed.expect("the claim is completed");
}
