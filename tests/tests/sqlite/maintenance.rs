//! Numbers, retention, and forgetting.

use std::time::Duration;

use airlock_host::Resolution;
use airlock_host::pending::ActionState;
use airlock_host::store::{DurableStore, Records, ResolvedQuery};
use airlock_tests::{durable, plugin, push};
use serde_json::json;

use crate::{StoreFolder, sqlite};

const ALL: ResolvedQuery = ResolvedQuery {
    session: None,
    workspace: None,
    limit: usize::MAX,
};

#[tokio::test]
async fn what_is_kept_is_counted() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    for label in ["Applied", "Discarded", "Pending"] {
        puppet.push(durable(label, json!([]))).await;
        match label {
            "Applied" => drop(puppet.resolve(Resolution::apply("")).await.unwrap()),
            "Discarded" => drop(puppet.resolve(Resolution::discard("")).await.unwrap()),
            _ => {}
        }
    }
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.applied, stats.discarded, stats.pending), (1, 1, 1));
    assert_eq!((stats.sessions, stats.resolving, stats.plugins), (1, 0, 1));
    let size = plugin("puppet").await.size() as u64;
    assert_eq!(stats.plugin_bytes, size);
    assert!(stats.bytes > size);
}

#[tokio::test]
async fn pruning_forgets_old_ends_and_plugins_that_nothing_needs() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    for _ in 0..3 {
        let details = format!("{:?}", "d".repeat(5_000));
        puppet.push(push("Done", json!({"details": details}))).await;
        puppet.resolve(Resolution::apply("")).await.unwrap();
    }
    let digest = plugin("puppet").await.digest();
    let pruned = store.prune(Duration::from_secs(60)).await.unwrap();
    // Nothing is old, but nothing open needs the plugin.
    assert_eq!((pruned.actions, pruned.plugins), (0, 1));
    assert!(store.plugin(digest).await.unwrap().is_none());

    let open = puppet.push(durable("Open", json!([]))).await;
    sqlite(&place.file())
        .execute(
            "UPDATE actions SET resolved_at = resolved_at - 61000 WHERE resolved <= 2",
            [],
        )
        .unwrap();
    let pruned = store.prune(Duration::from_secs(60)).await.unwrap();
    assert_eq!((pruned.actions, pruned.plugins), (2, 0));
    assert_eq!(store.resolved_actions(&ALL).await.unwrap().len(), 1);
    let left: u32 = sqlite(&place.file())
        .query_row("SELECT count(*) FROM large_details", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 1);
    let kept = store.plugin(digest).await.unwrap().unwrap();
    assert_eq!(kept.bytes, plugin("puppet").await.source().bytes);
    assert_eq!(
        store
            .find(&open.as_str().into())
            .await
            .unwrap()
            .unwrap()
            .state,
        ActionState::Pending
    );
}

#[tokio::test]
async fn a_retention_is_kept_for_all_hosts_and_enforced_after_the_next_end() {
    let place = StoreFolder::new();
    let store = place.open().await;
    assert_eq!(store.retention().await.unwrap(), None);
    let puppet = place.puppet(&store).await;
    puppet.push(durable("Old", json!([]))).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    sqlite(&place.file())
        .execute("UPDATE actions SET resolved_at = resolved_at - 3600000", [])
        .unwrap();
    store
        .set_retention(Some(Duration::from_secs(60)))
        .await
        .unwrap();
    let other = place.open().await;
    assert_eq!(
        other.retention().await.unwrap(),
        Some(Duration::from_secs(60))
    );

    puppet.push(durable("New", json!([]))).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    let forgotten = async {
        while store.resolved_actions(&ALL).await.unwrap().len() != 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), forgotten)
        .await
        .unwrap();
    other.set_retention(None).await.unwrap();
    assert_eq!(store.retention().await.unwrap(), None);
}

#[tokio::test]
async fn a_check_names_each_thing_that_is_wrong() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    let id = puppet.push(durable("Open", json!([]))).await;
    assert_eq!(store.check().await.unwrap(), [""; 0]);
    for (harm, found) in [
        (
            "UPDATE actions SET guest_state = NULL",
            format!("action {id} has lost the state that its plugin needs"),
        ),
        (
            "UPDATE plugins SET bytes = x'00'",
            "the bytes of the plugin puppet don't match the digest ".to_owned(),
        ),
        (
            "DELETE FROM plugins",
            format!("action {id} has lost the plugin that pushed it"),
        ),
        (
            "UPDATE actions SET state = 'resolving'",
            format!("action {id} is being resolved without a host"),
        ),
        (
            "UPDATE actions SET state = 'applied'",
            format!("action {id} is both open and resolved"),
        ),
        (
            "UPDATE actions SET grants = '{\"everything\":true}'",
            format!("action {id} can't be read: its grants can't be read"),
        ),
    ] {
        sqlite(&place.file()).execute_batch(harm).unwrap();
        let problems = store.check().await.unwrap();
        assert!(
            problems.iter().any(|it| it.starts_with(&found)),
            "{harm}: {problems:?}"
        );
    }
}
