//! Rows that this version can't read, and what somebody added to the schema.

use airlock_host::Resolution;
use airlock_host::store::{BackendErrorKind, DurableStore, Scope, Stacks};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::durable;
use serde_json::json;

use crate::{StoreFolder, sqlite};

#[tokio::test]
async fn a_row_that_cant_be_read_hides_no_other_and_is_reported() {
    for (column, value) in [
        ("grants", "'{\"of\": \"a newer version\"}'"),
        ("workspace_identity", "'?'"),
        ("plugin", "x'00'"),
        ("decision", "'defer'"),
        ("state", "'pending'"),
    ] {
        let place = StoreFolder::new();
        let store = place.open().await;
        let puppet = place.puppet(&store).await;
        puppet.push(durable("Below", json!([]))).await;
        let bad = puppet.push(durable("Unreadable", json!([]))).await;
        let change = format!("UPDATE actions SET {column} = {value} WHERE id = '{bad}'");
        sqlite(&place.file()).execute(&change, []).unwrap();
        if column == "state" {
            // Nothing was changed: the check below can fail.
            assert_eq!(store.unreadable_actions().await.unwrap(), []);
            continue;
        }
        assert_eq!(puppet.labels().await, ["Below"], "{column}");
        let open = store.open_actions(Scope::All).await.unwrap();
        assert_eq!(open.len(), 1, "{column}");
        let top = store.peek(&"one".into()).await.unwrap().unwrap();
        let briefly = store.list_briefly(&"one".into()).await.unwrap();
        assert_eq!(briefly[0].id(), &top.action.id, "{column}");
        let unreadable = store.peek_at(&"one".into(), &bad.as_str().into()).await;
        assert_eq!(unreadable.unwrap(), None);
        let reported = store.unreadable_actions().await.unwrap();
        assert_eq!(reported.len(), 1, "{column}");
        assert_eq!(
            (reported[0].id.as_str(), reported[0].session.as_str()),
            (&*bad, "one")
        );
        assert!(!reported[0].problem.is_empty());
        let problems = store.check().await.unwrap();
        assert!(
            problems.iter().any(|problem| problem.contains(&*bad)),
            "{problems:?}"
        );
        let error = store
            .find(&bad.as_str().into())
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(&*bad), "{error}");
        // Another push and the topmost that can be read go on as before.
        puppet.push(durable("Above", json!([]))).await;
        puppet.resolve(Resolution::apply("")).await.unwrap();
        puppet.resolve(Resolution::apply("")).await.unwrap();
        let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
        assert_eq!(error.kind(), "nothing-pending", "{error}");
    }
}

#[tokio::test]
async fn whatever_was_added_to_the_schema_is_refused_by_name() {
    for (change, named) in [
        (
            "CREATE TRIGGER relabel AFTER INSERT ON actions BEGIN
                UPDATE actions SET label = 'harmless' WHERE number = new.number; END",
            "it has the trigger `relabel`",
        ),
        (
            "CREATE VIEW seen AS SELECT * FROM actions",
            "it has the view `seen`",
        ),
        ("CREATE TABLE extra (x)", "it has the table `extra`"),
        (
            "CREATE INDEX extra ON actions (label)",
            "it has the index `extra`",
        ),
        (
            "ALTER TABLE actions ADD COLUMN twice TEXT AS (label || label)",
            "the table `actions` is not as it was made",
        ),
        (
            "DROP INDEX open_actions",
            "it lacks the index `open_actions`",
        ),
    ] {
        let place = StoreFolder::new();
        drop(place.open().await);
        sqlite(&place.file()).execute_batch(change).unwrap();
        let error = SqliteStore::open(place.file()).await.unwrap_err();
        assert_eq!(error.backend_kind(), Some(BackendErrorKind::Damaged));
        assert!(error.to_string().contains(named), "{error}");
    }
    // What SQLite keeps for itself is no change.
    let place = StoreFolder::new();
    drop(place.open().await);
    sqlite(&place.file()).execute_batch("ANALYZE").unwrap();
    place.open().await;
}

#[tokio::test]
async fn a_trigger_that_is_added_while_the_store_is_open_does_not_run() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    sqlite(&place.file())
        .execute_batch(
            "CREATE TRIGGER relabel AFTER INSERT ON actions BEGIN
                UPDATE actions SET label = 'harmless' WHERE number = new.number; END",
        )
        .unwrap();
    puppet.push(durable("Remove everything", json!([]))).await;
    assert_eq!(puppet.labels().await, ["Remove everything"]);
}
