//! What a session may hold, counted in bytes.

use std::sync::Arc;

use airlock_model::pending::{Resolution, SessionId};
use airlock_model::store::{Claim, Completion, PendingStore, Push, StoreError};
use airlock_store_suite::Backend;

use crate::actions::{Spec, plugin};

async fn push(
    store: &dyn PendingStore,
    session: &SessionId,
    number: usize,
    limit: u64,
) -> Result<(), StoreError> {
    let spec = Spec::plain();
    let push = Push::new(session, Arc::new(spec.action(number)), plugin(spec.plugin))
        .with_guest_state(spec.guest_state)
        .with_capacity_bytes(limit);
    store.push(push).await
}

pub async fn is_filled_to_the_byte_and_given_back<B: Backend>() {
    let backend = B::new().await;
    let store = backend.host().await.store;
    let session = SessionId::from("bytes");
    let refused = push(&*store, &session, 0, 0).await;
    let Err(StoreError::SessionFull {
        limit: 0,
        held: 0,
        pushed: each,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    let limit = each * 2;
    push(&*store, &session, 1, limit).await.unwrap();
    let refused = push(&*store, &session, 2, limit - 1).await;
    assert!(
        matches!(refused, Err(StoreError::SessionFull { held, pushed, .. }) if (held, pushed) == (each, each)),
        "{refused:?}"
    );
    push(&*store, &session, 2, limit).await.unwrap();
    for number in 3..6 {
        let refused = push(&*store, &session, number, limit).await;
        assert!(matches!(refused, Err(StoreError::SessionFull { held, .. }) if held == limit));
        // Another session has room of its own.
        let other = SessionId::from(format!("another {number}"));
        push(&*store, &other, 100 + number, limit).await.unwrap();

        let discard = Resolution::discard("to make room");
        let Claim::Claimed(claimed) = store.claim(&session, &discard).await.unwrap() else {
            panic!("there is something on the stack");
        };
        let outcome = airlock_store_suite::outcome("");
        let completion = Completion::Succeeded(&outcome);
        store.complete(claimed.lease, completion).await.unwrap();
        push(&*store, &session, number, limit).await.unwrap();
    }
}
