//! How many bytes a session and a store may keep, and what is given back.

use std::time::Duration;

use airlock_host::store::{DurableStore, Records, Stacks, StoreError};
use airlock_host::{Limits, Resolution};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Tester, durable, plugin, push};
use serde_json::json;

use crate::{StoreFolder, sqlite};

const MIB: u64 = 1 << 20;

fn large() -> serde_json::Value {
    push("Large", json!({"stateBytes": 4 << 20}))
}

#[tokio::test]
async fn a_session_may_stage_so_many_bytes_and_the_next_push_is_told_the_figures() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    // 64 MiB, less what the labels count for.
    for _ in 0..15 {
        puppet.push(large()).await;
    }
    let said = puppet.text(json!([large()])).await;
    assert!(
        said.contains("limit-exceeded") && said.contains("67108864"),
        "{said}"
    );
    assert_eq!(puppet.labels().await.len(), 15);
    puppet.resolve(Resolution::discard("")).await.unwrap();
    puppet.push(large()).await;
    let pressed = Limits::default().with_pending_bytes(1);
    let (store, workspace) = (std::sync::Arc::new(store), place.workspace());
    let other = airlock_tests::Puppet::with(|session| {
        let session = session.id("two").store(store).workspace(workspace);
        session.limits(pressed)
    });
    let said = other.await.text(json!([durable("x", json!([]))])).await;
    assert!(said.contains("the limit is 1;"), "{said}");
}

#[tokio::test]
async fn a_store_takes_no_more_than_its_limit_and_ends_are_always_recorded() {
    let place = StoreFolder::new();
    let store = place.open().await;
    assert_eq!(store.byte_limit().await.unwrap(), Some(4 << 30));
    let puppet = place.puppet(&store).await;
    puppet.push(large()).await;
    store.set_byte_limit(Some(6 * MIB)).await.unwrap();
    // It holds for all hosts of the store.
    let other = place.open().await;
    assert_eq!(other.byte_limit().await.unwrap(), Some(6 * MIB));
    let said = place.puppet(&other).await.text(json!([large()])).await;
    assert!(
        said.contains("limit-exceeded") && said.contains("the limit is 6291456"),
        "{said}"
    );
    store.set_byte_limit(Some(1)).await.unwrap();
    puppet.resolve(Resolution::apply("")).await.unwrap();
    let said = puppet.text(json!([durable("Small", json!([]))])).await;
    assert!(said.contains("the limit is 1;"), "{said}");
    store.set_byte_limit(None).await.unwrap();
    puppet.push(large()).await;
    assert_eq!(store.check().await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn what_a_call_pushed_before_counts_where_the_store_is_nearly_full() {
    let place = StoreFolder::new();
    let store = place.open().await;
    store.set_byte_limit(Some(11 * MIB)).await.unwrap();
    let puppet = place.puppet(&store).await;
    let three = push(
        "Large",
        json!({"stateBytes": 4 << 20, "times": 3, "quiet": true}),
    );
    let said = puppet.text(json!([three])).await;
    assert!(
        said.contains("limit-exceeded") && said.contains("pushed 2"),
        "{said}"
    );
    assert_eq!(puppet.labels().await.len(), 2);
}

fn size(place: &StoreFolder) -> u64 {
    place.file().metadata().unwrap().len()
}

#[tokio::test]
async fn the_file_shrinks_once_what_it_held_is_resolved() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    for _ in 0..10 {
        puppet.push(large()).await;
    }
    for _ in 0..10 {
        puppet.resolve(Resolution::discard("")).await.unwrap();
    }
    drop((puppet, store));
    closed(&place).await;
    let left = size(&place);
    assert!(left < 2 * MIB, "{left} bytes");
}

/// Waits until no task of the store's has it open any more: its host has gone, and a log that is
/// large was written back.
async fn closed(place: &StoreFolder) {
    const LEFT: u64 = 1 << 20;
    let in_folder = |name: &str| place.folder.path().join(name);
    let is_closed = || {
        let log = in_folder("pending.db-wal").metadata();
        let hosts = std::fs::read_dir(in_folder("pending.db.hosts")).unwrap();
        let mut names = hosts.map(|host| host.unwrap().file_name());
        names.all(|name| name == "lock") && log.map_or(0, |log| log.len()) <= LEFT
    };
    let closing = async {
        while !is_closed() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), closing)
        .await
        .unwrap();
}

/// Files of older versions can't give pages back before they are written anew.
#[tokio::test]
async fn pruning_shrinks_a_file_of_an_older_version_too() {
    let place = StoreFolder::new();
    std::fs::copy(airlock_tests::sqlite_version_2(), place.file()).unwrap();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    for _ in 0..5 {
        puppet.push(large()).await;
        puppet.resolve(Resolution::discard("")).await.unwrap();
    }
    store.prune(Duration::from_secs(3600)).await.unwrap();
    drop((puppet, store));
    closed(&place).await;
    let left = size(&place);
    assert!(left < 2 * MIB, "{left} bytes");
}

#[tokio::test]
async fn a_plugin_goes_with_the_last_action_that_needs_it() {
    let place = StoreFolder::new();
    let digest = plugin("puppet").await.digest();
    {
        let store = place.open().await;
        let puppet = place.puppet(&store).await;
        puppet.push(durable("One", json!([]))).await;
        puppet.push(durable("Two", json!([]))).await;
    }
    // Who resolves is another process than who pushed.
    let store = place.open().await;
    let session = place.bare(&store);
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert!(store.plugin(digest).await.unwrap().is_some());
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert!(store.plugin(digest).await.unwrap().is_none());
}

/// As long as it is alive, also where nothing of the plugin's is pending.
#[tokio::test]
async fn a_host_that_pushes_keeps_its_plugin() {
    let place = StoreFolder::new();
    let digest = plugin("puppet").await.digest();
    let other = place.open().await;
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    puppet.push(durable("One", json!([]))).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    assert!(other.plugin(digest).await.unwrap().is_some());
}

#[tokio::test]
async fn details_go_after_thirty_days_and_the_decision_stays() {
    let place = StoreFolder::new();
    let ids = {
        let store = place.open().await;
        let puppet = place.puppet(&store).await;
        let mut ids = Vec::new();
        for length in [1, 5_000, 1] {
            let details = format!("{:?}", "d".repeat(length));
            ids.push(puppet.push(push("Done", json!({"details": details}))).await);
            puppet.resolve(Resolution::apply("kept")).await.unwrap();
        }
        ids
    };
    closed(&place).await;
    let month: i64 = 30 * 24 * 3600 * 1000;
    let age = "UPDATE actions SET resolved_at = resolved_at - ? WHERE resolved <= 2";
    sqlite(&place.file())
        .execute(age, [month + 60_000])
        .unwrap();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    puppet.push(durable("Next", json!([]))).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    let find = async |id: &String| store.find(&id.as_str().into()).await.unwrap().unwrap();
    let forgotten = async {
        while find(&ids[1]).await.action.details.is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), forgotten)
        .await
        .unwrap();
    assert!(find(&ids[0]).await.action.details.is_none());
    assert!(find(&ids[2]).await.action.details.is_some());
    for id in &ids {
        assert_eq!(find(id).await.resolved.unwrap().reason, "kept");
    }
    let large: u32 = sqlite(&place.file())
        .query_row("SELECT count(*) FROM large_details", [], |row| row.get(0))
        .unwrap();
    assert_eq!(large, 0);

    // The ends that come next get the numbers of those that are gone, and their turn as well.
    store.prune(Duration::ZERO).await.unwrap();
    let details = json!({"details": "[1]"});
    let id = puppet.push(push("Again", details)).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    drop((puppet, store));
    closed(&place).await;
    let age = "UPDATE actions SET resolved_at = resolved_at - ?";
    sqlite(&place.file())
        .execute(age, [month + 60_000])
        .unwrap();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    puppet.push(durable("Next", json!([]))).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    let of = puppet.session.id().clone();
    let action = id.as_str().into();
    let forgotten = async {
        while store
            .find(&action)
            .await
            .unwrap()
            .unwrap()
            .action
            .details
            .is_some()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), forgotten)
        .await
        .unwrap();
    assert_eq!(store.call_record(&of, &action).await.unwrap(), None);
}

#[tokio::test]
async fn a_push_beyond_the_limit_is_an_error_with_its_figures() {
    let place = StoreFolder::new();
    let store = SqliteStore::open(place.file()).await.unwrap();
    store.set_byte_limit(Some(1 << 20)).await.unwrap();
    let session = "one".into();
    let puppet = place.puppet(&store).await;
    let id = puppet.push(durable("Small", json!([]))).await;
    let found = store.find(&id.as_str().into()).await.unwrap();
    let mut action = found.unwrap().action;
    let plugin = store.plugin(action.plugin).await.unwrap().unwrap();
    action.id = "another".into();
    let push = airlock_host::store::Push::new(&session, action, &plugin)
        .with_guest_state(vec![0; 1 << 20])
        .with_capacity(10);
    match store.push(push.clone()).await.unwrap_err() {
        StoreError::StoreFull { limit, pushed, .. } => {
            assert_eq!((limit, pushed), (1 << 20, (1 << 20) + 5));
        }
        other => panic!("{other:?}"),
    }
    let push = push.with_capacity_bytes(1 << 20);
    match store.push(push).await.unwrap_err() {
        StoreError::SessionFull { limit, pushed, .. } => {
            assert_eq!((limit, pushed), (1 << 20, (1 << 20) + 5));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(puppet.labels().await, ["Small"]);
}
