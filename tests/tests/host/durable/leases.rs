//! Claims that last for a time, and are renewed.

use std::time::{Duration, Instant};

use airlock_host::pending::ActionState;
use airlock_host::store::{Claim, Completion, Lease, StoreError};
use airlock_host::{Error, Resolution};
use airlock_tests::{Backend, Host, Tester, durable, outcome};
use serde_json::{Value, json};

use super::conversation::{Conversation, DEADLINE, find, ledger, push, until};
use super::faulty::{Fault, with_fault};

/// Short enough to wait for, and long enough for a busy machine to renew it in time.
const LEASE_TIME: Duration = Duration::from_millis(1500);

pub async fn a_lease_is_renewed_while_the_guest_runs<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let host = conversation.backend.host_with_leases(LEASE_TIME).await;
    let other = conversation.backend.host_with_leases(LEASE_TIME).await;
    let session = conversation.session(&host).await;
    let longer = 2 * LEASE_TIME + LEASE_TIME / 2;
    let steps = json!([{"do": "block", "ms": longer.as_millis()}, ledger("applied")]);
    let id = push(&session, durable("Slow", steps)).await;
    let began = Instant::now();
    let resolving =
        tokio::spawn(async move { session.resolve(Resolution::apply(""), Tester).await });
    until("the apply has begun", async || {
        find(&other, &id).await.attempts == 1
    })
    .await;
    while !resolving.is_finished() {
        assert_ne!(find(&other, &id).await.state, ActionState::Interrupted);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    resolving.await.unwrap().unwrap();
    assert!(began.elapsed() >= longer);
    let found = find(&other, &id).await;
    assert_eq!((found.state, found.attempts), (ActionState::Applied, 1));
    assert_eq!(conversation.ledger(), "applied\n");
}

pub async fn a_lost_lease_stops_the_guest<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let host = conversation.backend.host_with_leases(LEASE_TIME).await;
    let silent = with_fault(&host, Fault::DeafToRenewals);
    let other = conversation.backend.host().await;
    let session = conversation.session(&silent).await;
    let hour = 60 * 60 * 1000;
    let steps = json!([{"do": "block", "ms": hour}, ledger("too late")]);
    let id = push(&session, durable("Stuck", steps)).await;
    let resolved =
        tokio::time::timeout(DEADLINE, session.resolve(Resolution::apply(""), Tester)).await;
    let error = resolved.expect("the guest was stopped").unwrap_err();
    match &error {
        Error::Store(StoreError::LeaseLost(lost)) => assert_eq!(*lost, id),
        other => panic!("{other:?}"),
    }
    until("the action is pending again", async || {
        find(&other, &id).await.state == ActionState::Interrupted
    })
    .await;
    assert_eq!(conversation.ledger(), "");
    // The session goes on, with a new instance.
    let steps = json!({"steps": [{"do": "text", "text": "on"}]});
    assert_eq!(session.call("puppet", &steps).await.unwrap().text(), "on");
}

pub async fn who_lost_a_lease_can_end_nothing<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let slow = conversation
        .backend
        .host_with_leases(Duration::from_millis(50))
        .await;
    let quick = conversation.backend.host().await;
    let session = conversation.session(&quick).await;
    let steps = json!([ledger("applied"), {"do": "resolution"}]);
    let id = push(&session, durable("Once", steps)).await;

    let lost = claim(&conversation, &slow).await;
    until("the lease runs out", async || {
        find(&quick, &id).await.state == ActionState::Interrupted
    })
    .await;
    // Somebody else has the action now, and then is done with it.
    let held = claim(&conversation, &quick).await;
    refused(&slow, &lost).await;
    quick.store.claims.requeue(held, "not yet").await.unwrap();
    refused(&slow, &lost).await;
    assert_eq!(conversation.only(&quick).await.attempts, 2);
    let told = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap()
        .text();
    let told: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(told["attempt"], 3);
    refused(&slow, &lost).await;
    assert_eq!(find(&quick, &id).await.state, ActionState::Applied);
    assert_eq!(conversation.ledger(), "applied\n");
}

async fn claim<B: Backend>(conversation: &Conversation<B>, host: &Host) -> Lease {
    let resolution = Resolution::apply("");
    let claim = host
        .store
        .claims
        .claim(&conversation.id(), &resolution, &Tester.into())
        .await;
    match claim.unwrap() {
        Claim::Claimed(claimed) => claimed.lease,
        other => panic!("{other:?}"),
    }
}

/// Whatever is done with the lease, nothing comes of it.
async fn refused(host: &Host, lease: &Lease) {
    let again = || Lease {
        session: lease.session.clone(),
        action: lease.action.clone(),
        token: lease.token,
    };
    let before = find(host, &lease.action).await;
    let outcome = outcome("");
    let store = &host.store;
    let answers = [
        store.claims.renew(lease).await,
        store.claims.requeue(again(), "lost").await,
        store
            .claims
            .complete(again(), Completion::Succeeded(&outcome))
            .await,
    ];
    for answer in answers {
        assert!(
            matches!(answer, Err(StoreError::LeaseLost(_))),
            "{answer:?}"
        );
    }
    store.claims.abandon(again());
    // What is abandoned takes effect in its own time, but in turn with what the same host writes.
    let answer = store.claims.requeue(again(), "lost").await;
    assert!(answer.is_err());
    assert_eq!(find(host, &lease.action).await, before);
}
