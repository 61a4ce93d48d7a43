//! The server goes down and comes back while hosts work.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use airlock_model::pending::Resolution;
use airlock_model::store::{Claims, Completion, DurableStore, ResolvedQuery};
use airlock_store_postgres::PostgresStore;
use airlock_store_suite::{PostgresServer, Sync};

use crate::{connect, push, session};

/// Pushes and resolves until told to stop, and gives the ids of what it has resolved.
async fn work(store: PostgresStore, number: usize, stop: Arc<AtomicBool>) -> Vec<String> {
    let stack = session(&format!("session {}", number % 3));
    let outcome = airlock_store_suite::outcome("");
    let mut resolved = Vec::new();
    for round in 0.. {
        push(&store, &stack, &format!("{number}-{round}")).await;
        let claimed = crate::claim(&store, &stack, Resolution::apply("")).await;
        resolved.push(claimed.lease.action.to_string());
        let completion = Completion::Succeeded(&outcome);
        store
            .complete(claimed.lease, completion)
            .await
            .expect("it is completed");
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    resolved
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_under_load_loses_nothing_and_does_nothing_twice() {
    let server = PostgresServer::new(Sync::On);
    let url = server.database_url();
    let stores = [connect(&url).await, connect(&url).await];
    let stop = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..6)
        .map(|number| tokio::spawn(work(stores[number % 2].clone(), number, Arc::clone(&stop))))
        .collect();
    for mode in ["fast", "immediate", "fast", "immediate"] {
        tokio::time::sleep(Duration::from_millis(700)).await;
        tokio::task::block_in_place(|| server.restart(mode));
    }
    stop.store(true, Ordering::Relaxed);
    let mut resolved = HashSet::new();
    for worker in workers {
        for id in worker.await.expect("no call failed") {
            assert!(resolved.insert(id.clone()), "{id} was resolved twice");
        }
    }
    let query = ResolvedQuery {
        session: None,
        workspace: None,
        limit: usize::MAX,
    };
    let records = stores[0].resolved_actions(&query).await.unwrap();
    assert_eq!(records.len(), resolved.len());
    assert!(records.iter().all(|record| record.attempts == 1));
    assert_eq!(stores[0].stats().await.unwrap().pending, 0);
    assert_eq!(stores[0].check().await.unwrap(), Vec::<String>::new());
}
