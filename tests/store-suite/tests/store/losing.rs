//! Actions whose state was in a host's memory, and is gone.

use airlock_model::pending::{ActionState, SessionId};
use airlock_store_suite::{Backend, DEADLINE, eventually};
use tokio::time::timeout;

use crate::actions::{self, Spec};

pub async fn takes_what_is_volatile_and_named<B: Backend>() {
    let backend = B::new().await;
    let store = backend.host().await.store;
    let session = SessionId::from("losing");
    let volatile = Spec {
        guest_state: None,
        ..Spec::plain()
    };
    for (number, spec) in [&volatile, &volatile, &Spec::plain()].iter().enumerate() {
        spec.push(&store, &session, number, 100).await.unwrap();
    }
    let states = async || {
        let stack = store.stacks.list(&session).await.unwrap();
        stack.iter().map(|found| found.state).collect::<Vec<_>>()
    };
    assert_eq!(states().await, [ActionState::Pending; 3]);

    let mut watch = store.stacks.watch(&session);
    // The topmost is durable, and the one in the middle is not named.
    store
        .stacks
        .lose(&session, &[actions::id(0), actions::id(2)]);
    timeout(DEADLINE, watch.changed())
        .await
        .expect("whoever watches is woken");
    let expected = [
        ActionState::Pending,
        ActionState::Pending,
        ActionState::Lost,
    ];
    eventually("it is lost", async || states().await == expected).await;

    // What is lost stays lost, whatever is lost later.
    store.stacks.lose(&session, &[actions::id(1)]);
    let expected = [ActionState::Pending, ActionState::Lost, ActionState::Lost];
    eventually("both are", async || states().await == expected).await;
}
