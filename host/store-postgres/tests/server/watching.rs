//! Waking whoever waits, across hosts.

use std::time::{Duration, Instant};

use airlock_model::pending::{Resolution, SessionId};
use airlock_model::store::{Claims, Stacks};
use airlock_store_postgres::PostgresStore;
use airlock_store_suite::{PostgresServer, Sync};
use tokio::time::timeout;

use crate::{DEADLINE, claim, complete, connect, eventually, push, server, session};

/// A watch of a store that surely listens: it has heard of a change that another host made.
async fn listening(store: &PostgresStore, other: &PostgresStore, stack: &SessionId) {
    let mut watch = store.watch(stack);
    let probes = session("probes");
    let mut heard = store.watch(&probes);
    let mut number = 0;
    // The first may come from the beginning to listen; a second one comes from the other host.
    eventually("the store listens", async || {
        number += 1;
        push(other, &probes, &format!("probe {number}-{stack}")).await;
        timeout(Duration::from_millis(200), heard.changed())
            .await
            .is_ok()
            && number > 3
    })
    .await;
    // What came before is of no interest.
    let _ = timeout(Duration::from_millis(1), watch.changed()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_wakes_for_what_another_host_does_long_before_anybody_would_poll() {
    let url = server().database_url();
    let (here, there) = (connect(&url).await, connect(&url).await);
    let stack = session("watched");
    listening(&here, &there, &stack).await;
    let mut watch = here.watch(&stack);
    let mut slowest = Duration::ZERO;
    let mut woken = async |what: &str, began: Instant| {
        let woken = timeout(DEADLINE, watch.changed()).await;
        woken.unwrap_or_else(|_| panic!("nobody woke for {what}"));
        slowest = slowest.max(began.elapsed());
    };
    for round in 0..5 {
        let began = Instant::now();
        push(&there, &stack, &format!("action {round}")).await;
        woken("a push", began).await;
        let began = Instant::now();
        let claimed = claim(&there, &stack, Resolution::apply("")).await;
        woken("a claim", began).await;
        let began = Instant::now();
        there.requeue(claimed.lease, "failed").await.unwrap();
        woken("a requeue", began).await;
        let claimed = claim(&there, &stack, Resolution::discard("")).await;
        woken("another claim", Instant::now()).await;
        let began = Instant::now();
        complete(&there, claimed).await;
        woken("a completion", began).await;
    }
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_began_before_the_store_listened_misses_nothing() {
    let url = server().database_url();
    let (here, there) = (connect(&url).await, connect(&url).await);
    let stack = session("early");
    for round in 0..20 {
        // A store that nobody has watched yet.
        let here = if round == 0 {
            here.clone()
        } else {
            connect(&url).await
        };
        let mut watch = here.watch(&stack);
        push(&there, &stack, &format!("action {round}")).await;
        let seen = async {
            while !crate::ids(&here, &stack)
                .await
                .contains(&format!("action {round}"))
            {
                watch.changed().await;
            }
        };
        timeout(DEADLINE, seen).await.expect("it is seen");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_hears_again_after_the_server_was_restarted() {
    let server = PostgresServer::new(Sync::Off);
    let url = server.database_url();
    let (here, there) = (connect(&url).await, connect(&url).await);
    let stack = session("watched");
    listening(&here, &there, &stack).await;
    for mode in ["fast", "immediate"] {
        let mut watch = here.watch(&stack);
        server.restart(mode);
        // It wakes once for all that it may have missed, and then for what comes.
        let woken = timeout(DEADLINE, watch.changed()).await;
        woken.expect("a watch wakes when the store listens again");
        push(&there, &stack, mode).await;
        let woken = timeout(DEADLINE, watch.changed()).await;
        woken.expect("a watch wakes after a restart");
    }
}
