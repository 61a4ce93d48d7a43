//! Many at once, through two hosts.

use std::collections::HashSet;

use airlock_model::pending::{ActionId, Decision, Resolution, SessionId};
use airlock_model::store::{Claim, Completion, Lease, PendingStore, Push, Replacement, StoreError};
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
            .push(store, &session, number, 1)
            .await
            .unwrap();
        let mut racers = JoinSet::new();
        for task in 0..TASKS {
            let store = hosts[task % 2].store.clone();
            let session = session.clone();
            racers.spawn(async move {
                let resolution = Resolution::apply("mine").with_id(actions::id(number));
                match store
                    .claims
                    .claim(&session, &resolution, &Tester.into())
                    .await
                    .unwrap()
                {
                    Claim::Claimed(claimed) => {
                        let outcome = airlock_store_suite::outcome("");
                        let completion = Completion::Succeeded(&outcome);
                        store
                            .claims
                            .complete(claimed.lease, completion)
                            .await
                            .unwrap();
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
            .push(store, &session, number, pushed)
            .await
            .unwrap();
    }
    let mut racers = JoinSet::new();
    for task in 0..TASKS {
        let store = hosts[task % 2].store.clone();
        let session = session.clone();
        racers.spawn(async move {
            let claim = store
                .claims
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
            let pushed = Spec::plain().push(&store, &session, number, CAPACITY).await;
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
        assert_eq!(
            host.store.stacks.list(&session).await.unwrap().len(),
            CAPACITY
        );
    }
}

/// Of three actions the one in the middle is replaced again and again, while others push and apply.
pub async fn for_a_place<B: Backend>() {
    const ROUNDS: usize = 12;
    let (_backend, hosts, session) = two_hosts::<B>().await;
    let spec = Spec::plain();
    for number in 0..3 {
        let store = &hosts[0].store;
        let pushed = spec.push(store, &session, number, usize::MAX);
        pushed.await.unwrap();
    }
    let others = {
        let (store, session) = (hosts[1].store.clone(), session.clone());
        tokio::spawn(async move {
            let spec = Spec::plain();
            for number in 100..100 + 2 * ROUNDS {
                let pushed = spec.push(&store, &session, number, usize::MAX);
                pushed.await.unwrap();
                let resolution = Resolution::apply("").with_id(actions::id(number));
                let claim = store
                    .claims
                    .claim(&session, &resolution, &Tester.into())
                    .await;
                match claim.unwrap() {
                    // It comes back on top.
                    Claim::Claimed(claimed) => {
                        store.claims.requeue(claimed.lease, "").await.unwrap()
                    }
                    other => panic!("{other:?}"),
                }
            }
        })
    };
    let mut old = vec![1];
    for round in 0..ROUNDS {
        let new: Vec<usize> = (0..=round % 3).map(|it| 1000 + 10 * round + it).collect();
        let replaced = replace(&hosts[0].store, &session, &old, &new).await;
        assert_eq!(replaced.len(), old.len());
        old = new;
    }
    others.await.unwrap();
    let listed = hosts[0].store.stacks.list(&session).await.unwrap();
    let mut listed: Vec<_> = listed.into_iter().map(|it| it.action.id.clone()).collect();
    listed.reverse();
    let pushed = 100..100 + 2 * ROUNDS;
    let expected = [0].into_iter().chain(old).chain([2]).chain(pushed);
    assert_eq!(listed, expected.map(actions::id).collect::<Vec<_>>());
    if let Some(store) = &hosts[0].durable {
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    }
}

/// Either a claim gets the action, or a replacement.
pub async fn with_a_replacement<B: Backend>() {
    let (_backend, hosts, session) = two_hosts::<B>().await;
    for round in 0..20 {
        let (old, new) = (&[2 * round], &[2 * round + 1]);
        let spec = Spec::plain();
        let pushed = spec.push(&hosts[0].store, &session, old[0], usize::MAX);
        pushed.await.unwrap();
        let resolution = Resolution::apply("mine").with_id(actions::id(old[0]));
        let by = Tester.into();
        let (claim, replaced) = tokio::join!(
            hosts[1].store.claims.claim(&session, &resolution, &by),
            replace(&hosts[0].store, &session, old, new),
        );
        let listed = hosts[1].store.stacks.list(&session).await.unwrap();
        let is_listed = listed.iter().any(|it| it.action.id == actions::id(new[0]));
        match claim.unwrap() {
            Claim::Claimed(claimed) => {
                assert!(replaced.is_empty() && !is_listed);
                let outcome = airlock_store_suite::outcome("");
                let completion = Completion::Succeeded(&outcome);
                let completed = hosts[1].store.claims.complete(claimed.lease, completion);
                completed.await.unwrap();
            }
            Claim::Resolved(_, Decision::Discard) | Claim::InProgress(_) => {
                assert!(replaced == [actions::id(old[0])] && is_listed);
            }
            other => panic!("{other:?}"),
        }
    }
}

async fn replace(
    store: &PendingStore,
    session: &SessionId,
    old: &[usize],
    new: &[usize],
) -> Vec<ActionId> {
    let new = new.iter().map(|it| Spec::plain().new_action(*it)).collect();
    let push = Push::of_call(session, new, actions::plugin(0));
    let replacement = Replacement {
        action: actions::id(old[0]),
        others: old[1..].iter().map(|it| actions::id(*it)).collect(),
        reason: "refreshed".to_owned(),
        decided_by: Tester.into(),
    };
    store.stacks.replace(push, replacement).await.unwrap()
}

/// Who was too slow must not end what somebody else is doing.
pub async fn with_a_lease_of_an_earlier_claim<B: Backend>() {
    let (_backend, [host, _], session) = two_hosts::<B>().await;
    let store = &host.store;
    Spec::plain().push(store, &session, 0, 1).await.unwrap();
    let claim = async || match store
        .claims
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
    store.claims.release(earlier()).await.unwrap();
    let later = claim().await;
    let outcome = airlock_store_suite::outcome("");
    let completion = Completion::Succeeded(&outcome);
    for (used, how) in [
        (store.claims.renew(&earlier()).await, "renew"),
        (store.claims.requeue(earlier(), "too late").await, "requeue"),
        (store.claims.release(earlier()).await, "release"),
        (
            store.claims.complete(earlier(), completion).await,
            "complete",
        ),
    ] {
        assert!(
            matches!(used, Err(StoreError::LeaseLost(_))),
            "{how}: {used:?}"
        );
    }
    store.claims.renew(&later).await.unwrap();
    store.claims.complete(later, completion).await.unwrap();
}
