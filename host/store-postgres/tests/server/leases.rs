//! Claims that end, and those that were lost.

use airlock_model::pending::{ActionId, ActionState, Decision, Resolution, SessionId};
use airlock_model::store::{
    APPLY_INTERRUPTED, Claim, Claims, Completion, DISCARD_INTERRUPTED, DurableStore, Lease, Stacks,
    StoreError,
};
use airlock_store_suite::Tester;

use crate::{
    SHORT_LEASE, claim, complete, connect, connect_with_lease, eventually, ids, push, server,
    session,
};

async fn state(store: &dyn DurableStore, id: &str) -> ActionState {
    store.find(&id.into()).await.unwrap().unwrap().state
}

fn same(lease: &Lease) -> Lease {
    Lease {
        session: lease.session.clone(),
        action: lease.action.clone(),
        token: lease.token,
    }
}

fn is_lost(result: Result<(), StoreError>) -> bool {
    matches!(result, Err(StoreError::LeaseLost(_)))
}

#[tokio::test]
async fn a_lease_that_is_not_renewed_runs_out_and_its_action_stays_in_its_place() {
    let url = server().database_url();
    let (one, other) = (
        connect_with_lease(&url, SHORT_LEASE).await,
        connect(&url).await,
    );
    let stack = session("expiring");
    for id in ["bottom", "middle", "top"] {
        push(&one, &stack, id).await;
    }
    let middle = Resolution::apply("").with_id("middle");
    let lost = claim(&one, &stack, middle.clone()).await;
    assert_eq!(lost.attempt, 1);
    assert_eq!(ids(&other, &stack).await, ["top", "bottom"]);
    let record = other.find(&"middle".into()).await.unwrap().unwrap();
    assert_eq!(record.state, ActionState::Resolving);
    assert_eq!(record.lease.unwrap().decision, Decision::Apply);

    eventually("the lease runs out", async || {
        ids(&other, &stack).await.len() == 3
    })
    .await;
    let listed = other.list(&stack).await.unwrap();
    assert_eq!(ids(&other, &stack).await, ["top", "middle", "bottom"]);
    assert_eq!(listed[1].state, ActionState::Interrupted);
    assert_eq!(listed[1].last_error.as_deref(), Some(APPLY_INTERRUPTED));
    assert_eq!(listed[1].attempts, 1);
    let record = other.find(&"middle".into()).await.unwrap().unwrap();
    assert_eq!(record.state, ActionState::Interrupted);
    assert!(record.lease.is_some());
    let stats = other.stats().await.unwrap();
    assert_eq!(
        (stats.pending, stats.interrupted, stats.resolving),
        (3, 1, 0)
    );
    assert!(is_lost(one.renew(&lost.lease).await));

    // Whoever claims it next fences the first holder off, in any way.
    let next = claim(&other, &stack, middle).await;
    assert_eq!(next.attempt, 2);
    assert!(next.lease.token > lost.lease.token);
    let outcome = airlock_store_suite::outcome("");
    let late = Completion::Succeeded(&outcome);
    assert!(is_lost(one.renew(&lost.lease).await));
    assert!(is_lost(one.requeue(same(&lost.lease), "late").await));
    assert!(is_lost(one.complete(same(&lost.lease), late).await));
    complete(&other, next).await;
    assert!(is_lost(one.complete(lost.lease, late).await));
    assert_eq!(state(&other, "middle").await, ActionState::Applied);
}

#[tokio::test]
async fn a_discard_that_was_interrupted_is_pending_unless_an_apply_was_before() {
    let url = server().database_url();
    let store = connect_with_lease(&url, SHORT_LEASE).await;
    let stack = session("discards");
    push(&store, &stack, "one").await;
    let waits = async || ids(&store, &stack).await == ["one"];
    claim(&store, &stack, Resolution::discard("")).await;
    eventually("the discard runs out", waits).await;
    let listed = store.peek(&stack).await.unwrap().unwrap();
    assert_eq!(listed.state, ActionState::Pending);
    assert_eq!(listed.last_error.as_deref(), Some(DISCARD_INTERRUPTED));
    assert_eq!(listed.attempts, 0);
    for resolution in [Resolution::apply(""), Resolution::discard("")] {
        claim(&store, &stack, resolution).await;
        eventually("the claim runs out", waits).await;
        let listed = store.peek(&stack).await.unwrap().unwrap();
        assert_eq!(listed.state, ActionState::Interrupted);
        assert_eq!(listed.last_error.as_deref(), Some(APPLY_INTERRUPTED));
        assert_eq!(listed.attempts, 1);
    }
}

#[tokio::test]
async fn a_lease_that_is_renewed_lasts() {
    let url = server().database_url();
    let (one, other) = (
        connect_with_lease(&url, SHORT_LEASE).await,
        connect(&url).await,
    );
    let stack = session("renewed");
    push(&one, &stack, "one").await;
    let claimed = claim(&one, &stack, Resolution::apply("")).await;
    let until = std::time::Instant::now() + SHORT_LEASE * 3;
    while std::time::Instant::now() < until {
        one.renew(&claimed.lease).await.unwrap();
        assert_eq!(ids(&other, &stack).await, Vec::<String>::new());
        tokio::time::sleep(SHORT_LEASE / 10).await;
    }
    complete(&one, claimed).await;
}

#[tokio::test]
async fn an_abandoned_claim_is_given_back_at_once_and_a_failed_one_goes_on_top() {
    let url = server().database_url();
    let store = connect(&url).await;
    let stack = session("given back");
    for id in ["bottom", "middle", "top"] {
        push(&store, &stack, id).await;
    }
    let resolution = Resolution::apply("").with_id("middle");
    let claimed = claim(&store, &stack, resolution.clone()).await;
    let lease = same(&claimed.lease);
    store.abandon(claimed.lease);
    eventually("it is given back", async || {
        ids(&store, &stack).await.len() == 3
    })
    .await;
    assert_eq!(ids(&store, &stack).await, ["top", "middle", "bottom"]);
    assert_eq!(state(&store, "middle").await, ActionState::Interrupted);
    assert!(is_lost(store.requeue(lease, "late").await));

    let claimed = claim(&store, &stack, resolution).await;
    assert_eq!(claimed.attempt, 2);
    store.requeue(claimed.lease, "it failed").await.unwrap();
    assert_eq!(ids(&store, &stack).await, ["middle", "top", "bottom"]);
    let listed = store.peek(&stack).await.unwrap().unwrap();
    assert_eq!(listed.state, ActionState::Pending);
    assert_eq!(listed.last_error.as_deref(), Some("it failed"));
    assert_eq!(listed.attempts, 2);
    let record = store.find(&"middle".into()).await.unwrap().unwrap();
    assert!(record.lease.is_none() && record.resolved.is_none());
}

#[tokio::test]
async fn a_named_action_is_answered_for_by_where_it_stands() {
    let url = server().database_url();
    let (one, other) = (connect(&url).await, connect(&url).await);
    let (stack, elsewhere) = (session("here"), session("elsewhere"));
    push(&one, &stack, "one").await;
    let answer = async |session: &SessionId, id: &str| {
        let resolution = Resolution::apply("").with_id(id);
        other
            .claim(session, &resolution, &Tester.into())
            .await
            .unwrap()
    };
    let one_id = ActionId::from("one");
    assert!(matches!(answer(&elsewhere, "one").await, Claim::Unknown(id) if id == one_id));
    assert!(matches!(answer(&stack, "two").await, Claim::Unknown(_)));
    assert!(matches!(answer(&stack, "nul\0").await, Claim::Unknown(_)));
    let claimed = claim(&one, &stack, Resolution::discard("")).await;
    assert!(matches!(answer(&stack, "one").await, Claim::InProgress(id) if id == one_id));
    let nothing = other
        .claim(&stack, &Resolution::apply(""), &Tester.into())
        .await
        .unwrap();
    assert!(matches!(nothing, Claim::NothingPending));
    complete(&one, claimed).await;
    let answered = answer(&stack, "one").await;
    assert!(matches!(answered, Claim::Resolved(id, Decision::Discard) if id == one_id));
    assert!(matches!(answer(&elsewhere, "one").await, Claim::Unknown(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_hundred_who_claim_one_action_on_two_hosts_one_wins() {
    let url = server().database_url();
    let stores = [connect(&url).await, connect(&url).await];
    for (round, named) in [(0, true), (1, false), (2, true)] {
        let stack = session(&format!("race {round}"));
        let id = format!("prize {round}");
        push(&stores[0], &stack, &id).await;
        let resolution = if named {
            Resolution::apply("").with_id(id.as_str())
        } else {
            Resolution::apply("")
        };
        let racers: Vec<_> = (0..100)
            .map(|number| {
                let (store, stack) = (stores[number % 2].clone(), stack.clone());
                let resolution = resolution.clone();
                tokio::spawn(async move {
                    store
                        .claim(&stack, &resolution, &Tester.into())
                        .await
                        .unwrap()
                })
            })
            .collect();
        let mut won = 0;
        for racer in racers {
            match racer.await.unwrap() {
                Claim::Claimed(_) => won += 1,
                Claim::InProgress(_) => assert!(named),
                Claim::NothingPending => assert!(!named),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(won, 1, "named: {named}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_push_and_claim_at_once_keep_to_the_capacity_and_to_one_order() {
    let url = server().database_url();
    let stores = [connect(&url).await, connect(&url).await];
    let stack = session("crowded");
    let pushers: Vec<_> = (0..140)
        .map(|number| {
            let (store, stack) = (stores[number % 2].clone(), stack.clone());
            let action = crate::action(&format!("{number:03}"));
            tokio::spawn(async move { crate::push_action(&store, &stack, action).await })
        })
        .collect();
    let mut full = 0;
    for pusher in pushers {
        match pusher.await.unwrap() {
            Ok(()) => {}
            Err(StoreError::Full { .. }) => full += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(full, 40);
    assert_eq!(ids(&stores[0], &stack).await, ids(&stores[1], &stack).await);
    assert_eq!(stores[0].check().await.unwrap(), Vec::<String>::new());
    let claimers: Vec<_> = (0..110)
        .map(|number| {
            let (store, stack) = (stores[number % 2].clone(), stack.clone());
            tokio::spawn(async move {
                store
                    .claim(&stack, &Resolution::apply(""), &Tester.into())
                    .await
                    .unwrap()
            })
        })
        .collect();
    let mut claimed = std::collections::HashSet::new();
    for claimer in claimers {
        if let Claim::Claimed(it) = claimer.await.unwrap() {
            assert!(claimed.insert(it.lease.action.to_string()), "claimed twice");
        }
    }
    // Whoever looks while the last ones are being claimed passes over them.
    eventually("the stack is shared out", async || {
        if let Claim::Claimed(it) = stores[0]
            .claim(&stack, &Resolution::apply(""), &Tester.into())
            .await
            .unwrap()
        {
            assert!(claimed.insert(it.lease.action.to_string()), "claimed twice");
        }
        claimed.len() == 100
    })
    .await;
}
