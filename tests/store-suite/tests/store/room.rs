//! What a session may hold, counted in bytes.

use std::sync::Arc;
use std::time::Duration;

use airlock_model::pending::{Resolution, SessionId};
use airlock_model::store::{Claim, Completion, PendingStore, Push, Room, StoreError};
use airlock_store_suite::{Backend, Tester, eventually};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::actions::{Spec, plugin};

async fn push(
    store: &PendingStore,
    session: &SessionId,
    number: usize,
    limit: u64,
) -> Result<(), StoreError> {
    let spec = Spec::plain();
    let push = Push::new(session, Arc::new(spec.action(number)), plugin(spec.plugin))
        .with_guest_state(spec.guest_state)
        .with_capacity_bytes(limit);
    store.stacks.push(push).await
}

pub async fn is_filled_to_the_byte_and_given_back<B: Backend>() {
    let backend = B::new().await;
    let store = backend.host().await.store;
    let session = SessionId::from("bytes");
    let refused = push(&store, &session, 0, 0).await;
    let Err(StoreError::SessionFull {
        limit: 0,
        held: 0,
        pushed: each,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    let limit = each * 2;
    push(&store, &session, 1, limit).await.unwrap();
    let refused = push(&store, &session, 2, limit - 1).await;
    assert!(
        matches!(refused, Err(StoreError::SessionFull { held, pushed, .. }) if (held, pushed) == (each, each)),
        "{refused:?}"
    );
    push(&store, &session, 2, limit).await.unwrap();
    let held = Room {
        actions: 2,
        bytes: limit,
    };
    assert_eq!(store.stacks.room(&session, 0).await.unwrap().held, held);
    for number in 3..6 {
        let refused = push(&store, &session, number, limit).await;
        assert!(matches!(refused, Err(StoreError::SessionFull { held, .. }) if held == limit));
        // Another session has room of its own.
        let other = SessionId::from(format!("another {number}"));
        push(&store, &other, 100 + number, limit).await.unwrap();

        let discard = Resolution::discard("to make room");
        let Claim::Claimed(claimed) = store
            .claims
            .claim(&session, &discard, &Tester.into())
            .await
            .unwrap()
        else {
            panic!("there is something on the stack");
        };
        let outcome = airlock_store_suite::outcome("");
        let completion = Completion::Succeeded(&outcome);
        store
            .claims
            .complete(claimed.lease, completion)
            .await
            .unwrap();
        push(&store, &session, number, limit).await.unwrap();
    }
}

/// Nobody heard of such a push: the call that made it was dropped.
pub async fn is_given_back_by_a_push_that_was_dropped<B: Backend>() {
    const BURST: usize = 6;
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    let session = SessionId::from("dropped");
    let pushed = |number: usize, count: usize| -> Vec<_> {
        let numbers = number..number + count;
        numbers
            .map(|number| Spec::plain().new_action(number))
            .collect()
    };
    let mut heard = 0;
    for round in 0..20 {
        let store = &hosts[round % 2].store;
        let number = round * 100;
        // Where many push at once, a store has them wait for each other, and who comes next too.
        let mut burst = JoinSet::new();
        for one in 0..BURST {
            let (store, session) = (store.clone(), session.clone());
            let actions = pushed(number + one, 1);
            burst.spawn(async move {
                let push = Push::of_call(&session, actions, plugin(0));
                store.stacks.push(push).await.unwrap();
            });
        }
        burst.join_all().await;
        heard += BURST;
        let push = Push::of_call(&session, pushed(number + BURST, 2), plugin(0));
        // Each round waits a little longer, so that some are dropped before they got there, and
        // others after.
        let patience = Duration::from_micros(100 * round as u64);
        if let Ok(pushed) = timeout(patience, store.stacks.push(push)).await {
            pushed.unwrap();
            heard += 2;
        }
    }
    for host in &hosts {
        let what = format!("there is what was heard of: {heard}");
        let stack = async || host.store.stacks.list(&session).await.unwrap().len() == heard;
        eventually(&what, stack).await;
    }
    let room = hosts[0].store.stacks.room(&session, 0).await.unwrap();
    assert_eq!(room.held.actions, heard);
}
