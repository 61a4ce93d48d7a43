//! Who waits for a session's stack to change is woken.

use std::time::Duration;

use airlock_model::pending::{Resolution, SessionId};
use airlock_model::store::{Claim, Completion, Lease, PendingStore};
use airlock_store_suite::{Backend, Tester};
use tokio::time::timeout;

use crate::actions::Spec;

/// Far longer than any store may take to notice.
const DEADLINE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Copy)]
enum Change {
    Push,
    Claim,
    Complete,
    Requeue,
    Release,
    Abandon,
}

impl Change {
    const ALL: [Change; 6] = [
        Change::Push,
        Change::Claim,
        Change::Complete,
        Change::Requeue,
        Change::Release,
        Change::Abandon,
    ];

    /// What must have happened before.
    async fn prepare(self, store: &PendingStore, session: &SessionId) -> Option<Lease> {
        if !matches!(self, Change::Push) {
            push(store, session).await;
        }
        match self {
            Change::Push | Change::Claim => None,
            _ => Some(claim(store, session).await),
        }
    }

    async fn make(self, store: &PendingStore, session: &SessionId, lease: Option<Lease>) {
        match (self, lease) {
            (Change::Push, _) => push(store, session).await,
            (Change::Claim, _) => drop(claim(store, session).await),
            (Change::Complete, Some(lease)) => {
                let outcome = airlock_store_suite::outcome("");
                let completion = Completion::Succeeded(&outcome);
                store.claims.complete(lease, completion).await.unwrap();
            }
            (Change::Requeue, Some(lease)) => store.claims.requeue(lease, "no").await.unwrap(),
            (Change::Release, Some(lease)) => store.claims.release(lease).await.unwrap(),
            (Change::Abandon, Some(lease)) => store.claims.abandon(lease),
            (_, None) => unreachable!("it was claimed"),
        }
    }
}

async fn push(store: &PendingStore, session: &SessionId) {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let pushed = Spec::plain().push(store, session, number, 100).await;
    pushed.unwrap();
}

async fn claim(store: &PendingStore, session: &SessionId) -> Lease {
    match store
        .claims
        .claim(session, &Resolution::apply(""), &Tester.into())
        .await
        .unwrap()
    {
        Claim::Claimed(claimed) => claimed.lease,
        other => panic!("{other:?}"),
    }
}

pub async fn wakes_for_every_change<B: Backend>() {
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    for change in Change::ALL {
        for (who, host) in hosts.iter().enumerate() {
            let session = SessionId::from(format!("{change:?} by {who}"));
            let lease = change.prepare(&host.store, &session).await;
            let mut watch = hosts[0].store.stacks.watch(&session);
            // Somebody waits already when it happens.
            let waiting = tokio::spawn(async move { watch.changed().await });
            tokio::task::yield_now().await;
            change.make(&host.store, &session, lease).await;
            let woken = timeout(DEADLINE, waiting).await;
            assert!(woken.is_ok(), "{change:?} by host {who} woke nobody");
        }
    }
}

pub async fn wakes_for_an_earlier_change<B: Backend>() {
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    for (who, host) in hosts.iter().enumerate() {
        let session = SessionId::from("early");
        let mut watch = hosts[0].store.stacks.watch(&session);
        push(&host.store, &session).await;
        let woken = timeout(DEADLINE, watch.changed()).await;
        assert!(woken.is_ok(), "a push by host {who} woke nobody");
    }
}
