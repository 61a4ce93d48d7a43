//! Many at once, through two hosts.

use std::collections::HashSet;

use airlock_model::pending::{Decision, Resolution, SessionId};
use airlock_model::store::{Claim, Completion, Lease, StoreError};
use airlock_store_suite::{Backend, Host, Tester};
use tokio::task::JoinSet;

use crate::actions::{self, Spec};

const TASKS: usize = 50;

async fn two_hosts<B: Backend>() -> (B, [Host; 2], SessionId) {
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    (backend, hosts, "racing".into())
}

/// How a racer was answered.
enum RaceResult {
    TheAction,
    InProgress,
    Resolved,
}

pub async fn for_one_action<B: Backend>() {
    let (_backend, hosts, session) = two_hosts::<B>().await;
    for number in 0..5 {
        let store = &hosts[0].store;
        Spec::plain()
            .push(&**store, &session, number, 1)
            .await
            .unwrap();
        let mut racers = JoinSet::new();
        for task in 0..TASKS {
            let store = hosts[task % 2].store.clone();
            let session = session.clone();
            racers.spawn(async move {
                let resolution = Resolution::apply("mine").with_id(actions::id(number));
                match store
                    .claim(&session, &resolution, &Tester.into())
                    .await
                    .unwrap()
                {
                    Claim::Claimed(claimed) => {
                        let outcome = airlock_store_suite::outcome("");
                        let completion = Completion::Succeeded(&outcome);
                        store.complete(claimed.lease, completion).await.unwrap();
                        RaceResult::TheAction
                    }
                    Claim::InProgress(_) => RaceResult::InProgress,
                    Claim::Resolved(_, Decision::Apply) => RaceResult::Resolved,
                    other => panic!("{other:?}"),
                }
            });
        }
        let answers = racers.join_all().await;
        let won = answers
            .iter()
            .filter(|got| matches!(got, RaceResult::TheAction));
        assert_eq!(won.count(), 1);
    }
}

pub async fn for_the_topmost<B: Backend>() {
    let (_backend, hosts, session) = two_hosts::<B>().await;
    let pushed = TASKS * 2 / 3;
    for number in 0..pushed {
        let store = &hosts[number % 2].store;
        Spec::plain()
            .push(&**store, &session, number, pushed)
            .await
            .unwrap();
    }
    let mut racers = JoinSet::new();
    for task in 0..TASKS {
        let store = hosts[task % 2].store.clone();
        let session = session.clone();
        racers.spawn(async move {
            let claim = store
                .claim(&session, &Resolution::discard("next"), &Tester.into())
                .await;
            match claim.unwrap() {
                Claim::Claimed(claimed) => Some(claimed.lease.action),
                Claim::NothingPending => None,
                other => panic!("{other:?}"),
            }
        });
    }
    let claimed: Vec<_> = racers.join_all().await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), pushed);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), pushed);
}

pub async fn for_room<B: Backend>() {
    const CAPACITY: usize = 10;
    let (_backend, hosts, session) = two_hosts::<B>().await;
    let mut racers = JoinSet::new();
    for number in 0..TASKS {
        let store = hosts[number % 2].store.clone();
        let session = session.clone();
        racers.spawn(async move {
            let pushed = Spec::plain()
                .push(&*store, &session, number, CAPACITY)
                .await;
            match pushed {
                Ok(()) => true,
                Err(StoreError::Full { .. }) => false,
                Err(error) => panic!("{error}"),
            }
        });
    }
    let accepted = racers.join_all().await.into_iter().filter(|pushed| *pushed);
    assert_eq!(accepted.count(), CAPACITY);
    for host in &hosts {
        assert_eq!(host.store.list(&session).await.unwrap().len(), CAPACITY);
    }
}

/// Who was too slow must not end what somebody else is doing.
pub async fn with_a_lease_of_an_earlier_claim<B: Backend>() {
    let (_backend, [host, _], session) = two_hosts::<B>().await;
    let store = &host.store;
    Spec::plain().push(&**store, &session, 0, 1).await.unwrap();
    let claim = async || match store
        .claim(&session, &Resolution::apply("mine"), &Tester.into())
        .await
    {
        Ok(Claim::Claimed(claimed)) => claimed.lease,
        other => panic!("{other:?}"),
    };
    let first = claim().await;
    let earlier = || Lease {
        session: session.clone(),
        action: first.action.clone(),
        token: first.token,
    };
    store.release(earlier()).await.unwrap();
    let later = claim().await;
    let outcome = airlock_store_suite::outcome("");
    let completion = Completion::Succeeded(&outcome);
    for (used, how) in [
        (store.renew(&earlier()).await, "renew"),
        (store.requeue(earlier(), "too late").await, "requeue"),
        (store.release(earlier()).await, "release"),
        (store.complete(earlier(), completion).await, "complete"),
    ] {
        assert!(
            matches!(used, Err(StoreError::LeaseLost(_))),
            "{how}: {used:?}"
        );
    }
    store.renew(&later).await.unwrap();
    store.complete(later, completion).await.unwrap();
}
